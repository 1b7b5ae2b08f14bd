#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/dictionary.h"
#include "data/imputer.h"
#include "data/moments.h"
#include "data/schema.h"
#include "data/schema_parts.h"

/* Marks the byte level of each value; false when a value is no level. unit: what a level is worth. */
static bool mark_levels(const float *x, int64_t count, double unit, bool *level)
{
    for (int64_t i = 0; i < count; i++) {
        if (isnan(x[i])) continue;
        double bytes = (double)x[i] / unit, whole = nearbyint(bytes);
        if (!(whole >= 0 && whole <= 255) || fabs(bytes - whole) > 1e-3) return false;
        level[(int)whole] = true;
    }
    return true;
}

/*
 * Whether the columns are the pixels of an image. There one common scale is right: a pixel at the edge that
 * is hardly ever on should stay small, and unit variance would blow its noise up. The signs, all of them:
 * 64 columns at least (8 x 8) and no text; every value a grey level, either a byte or a byte / 255; 16 levels
 * or more, which rules out flags and questionnaires; and three in four of the columns that vary at all span
 * half the overall range, which rules out tables of small counts in different units.
 */
static bool looks_like_images(const stonet_data *train, const sn_moments *columns)
{
    int64_t m = train->n_numeric;
    if (sn_frame_has_text(train) || m < 64) return false;
    double low = INFINITY, high = -INFINITY;
    for (int64_t j = 0; j < m; j++) {
        low = columns->low[j] < low ? columns->low[j] : low;
        high = columns->high[j] > high ? columns->high[j] : high;
    }
    if (low < 0 || high > 255) return false;
    bool level[256] = {false};
    const sn_cells *sparse = train->sparse;
    if (!mark_levels(sparse != NULL ? sparse->value : train->x,
                     sparse != NULL ? sparse->start[sparse->n] : train->n * m, high <= 1 ? 1.0 / 255 : 1.0,
                     level))
        return false;
    level[0] = level[0] || sparse != NULL;
    int levels = 0;
    for (int k = 0; k < 256; k++) levels += level[k];
    int64_t varying = 0, wide = 0;
    for (int64_t j = 0; j < m; j++) {
        const double span = columns->high[j] - columns->low[j];
        varying += span > 0;
        wide += span > 0 && span >= (high - low) / 2;
    }
    return levels >= 16 && 4 * wide >= 3 * varying;
}

static double weight_of(const stonet_data *data, int64_t row)
{
    return data->weight != NULL ? data->weight[row] : 1.0;
}

/* Which of its values a cell of column j has, -1: none. */
typedef int64_t (*value_of)(const stonet_data *train, const sn_input *input, int64_t j, int64_t row);

static int64_t level_of(const stonet_data *train, const sn_input *input, int64_t j, int64_t row)
{
    return sn_input_level(input, train->x[row * train->n_numeric + train->column[j].slot]);
}

static int64_t word_of(const stonet_data *train, const sn_input *input, int64_t j, int64_t row)
{
    (void)input;
    return train->text_code[train->column[j].slot][row];
}

static int64_t missing_of(const stonet_data *train, const sn_input *input, int64_t j, int64_t row)
{
    (void)input;
    return sn_frame_is_missing(train, row, j);
}

/* The share that each of `count` values has of the rows that have one of them. */
static void share_rows(const sn_schema *schema, const stonet_data *train, int64_t j, value_of value,
                       int64_t count, double *share)
{
    double total = 0.0;
    memset(share, 0, (size_t)count * sizeof *share);
    for (int64_t i = 0; i < train->n; i++) {
        const int64_t at = value(train, &schema->input[j], j, i);
        sn_frame_passed(train, i);
        if (at < 0) continue;
        share[at] += weight_of(train, i);
        total += weight_of(train, i);
    }
    for (int64_t c = 0; c < count && total > 0.0; c++) share[c] /= total;
}

/* The shares of the texts of column j; those that were too rare for a feature of their own share the last. */
static stonet_status share_texts(const sn_schema *schema, const stonet_data *train, int64_t j, double *mean)
{
    const sn_dictionary *words = &train->text_values[train->column[j].slot],
                        *known = &schema->input[j].categories;
    SN_FREED_BY(sn_interner_free) sn_interner categories = {0};
    SN_TRY(sn_interner_of(known, &categories));
    SN_ARRAY(words->count, double, share);
    share_rows(schema, train, j, word_of, words->count, share);
    for (int64_t c = 0; c < words->count; c++) {
        const int32_t at = sn_interner_find(&categories, words->text[c], strlen(words->text[c]));
        mean[at >= 0 ? at : known->count - 1] += share[c];
    }
    return STONET_OK;
}

/* Means and variances of sine and cosine of the time of the year. */
static void season_moments(const stonet_data *train, int64_t slot, double *mean, double *variance)
{
    double sum[2] = {0, 0}, squares[2] = {0, 0}, total = 0;
    for (int64_t i = 0; i < train->n; i++) {
        double part[2];
        sn_season(sn_frame_number(train, i, slot), part);
        if (isnan(part[0])) continue;
        total += weight_of(train, i);
        for (int k = 0; k < 2; k++) {
            sum[k] += weight_of(train, i) * part[k];
            squares[k] += weight_of(train, i) * (part[k] * part[k]);
        }
    }
    for (int k = 0; k < 2 && total > 0; k++) {
        mean[k] = sum[k] / total;
        variance[k] = fmax(squares[k] / total - mean[k] * mean[k], 0);
    }
}

/* The moments of columns that float is too coarse for, from what the table has of them in double. */
static stonet_status refine_moments(const stonet_data *train, sn_moments *columns)
{
    for (int64_t k = 0; train->exact != NULL && k < train->n_numeric; k++) {
        const double factor = 1 / sqrt(columns->variance[k]); /* infinite: all are the same as floats */
        if (train->exact[k].at == NULL || !sn_far_from_zero(columns->mean[k], factor)) continue;
        SN_FREED_BY(sn_moments_clear) sn_moments fine = {0};
        SN_ARRAY(train->n, double, values);
        for (int64_t i = 0; i < train->n; i++) values[i] = sn_frame_number(train, i, k);
        SN_TRY(sn_moments_of(&(sn_numbers){.doubles = values,
                                           .n = train->n,
                                           .m = 1,
                                           .gaps = train->missing > 0,
                                           .weight = train->weight},
                             &fine));
        columns->mean[k] = fine.mean[0];
        columns->variance[k] = fine.variance[0];
        columns->low[k] = fine.low[0];
        columns->high[k] = fine.high[0];
    }
    return STONET_OK;
}

/* Mean and variance of the rank, 1 .. count, of an ordered column. */
static void rank_moments(const stonet_data *train, const int32_t *code, double *mean, double *variance)
{
    double sum = 0, squares = 0, total = 0;
    for (int64_t i = 0; i < train->n; i++) {
        if (code[i] < 0) continue; /* missing */
        sum += weight_of(train, i) * (1 + code[i]);
        total += weight_of(train, i);
    }
    *mean = total > 0 ? sum / total : 0;
    for (int64_t i = 0; i < train->n; i++)
        if (code[i] >= 0) squares += weight_of(train, i) * (1 + code[i] - *mean) * (1 + code[i] - *mean);
    *variance = total > 0 ? squares / total : 0;
}

/* Whether feature c of an input is 0 or 1: a text, or that the cell is missing. */
static bool is_flag(const sn_input *input, int64_t c)
{
    return (input->kind == SN_COLUMN_TEXT && !input->categories.ordered) ||
           (input->indicator && c == input->features - 1);
}

static bool is_level(const sn_input *input, int64_t c)
{
    return c > 0 && c <= input->levels;
}

/* Mean and variance of every feature. */
static stonet_status feature_moments(sn_schema *schema, const stonet_data *train, const sn_moments *columns,
                                     double *variance)
{
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        const int64_t slot = train->column[j].slot, f = input->first_feature;
        double *mean = schema->mean + f, missing[2];
        if (input->features == 0 || input->curve != 0) continue;
        if (input->indicator) {
            share_rows(schema, train, j, missing_of, 2, missing);
            mean[input->features - 1] = missing[1];
        }
        if (input->kind == SN_COLUMN_NUMBER) {
            *mean = columns->mean[slot];
            variance[f] = columns->high[slot] > columns->low[slot] ? columns->variance[slot] : 0;
            if (input->levels > 0) share_rows(schema, train, j, level_of, input->levels, mean + 1);
            if (input->season) season_moments(train, slot, mean + 1, variance + f + 1);
        } else if (input->categories.ordered) {
            rank_moments(train, train->text_code[slot], mean, &variance[f]);
        } else {
            SN_TRY(share_texts(schema, train, j, mean));
        }
        for (int64_t c = 0; c < input->features; c++)
            if (is_flag(input, c) || is_level(input, c)) variance[f + c] = mean[c] * (1 - mean[c]);
    }
    return STONET_OK;
}

/* The variance of a block of indicators, all together, beside that of the column it belongs to: enough to be
   heard, and not so much that a column with many levels drowns the others. */
static const double LEVELS_VARIANCE = 0.5;

/* One factor for the indicators of a column, by which their variances sum to a part of the column's own. */
static void scale_levels(sn_schema *schema, const double *variance)
{
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        const int64_t own = input->first_feature;
        double total = 0;
        for (int64_t c = 1; c <= input->levels; c++) total += variance[own + c];
        for (int64_t c = 1; c <= input->levels; c++)
            schema->factor[own + c] =
                fabs(schema->factor[own]) * sqrt(LEVELS_VARIANCE * variance[own] / total);
    }
}

/* 1 / the root of the mean variance of the features, levels and indicators of missing cells left out. */
static double common_factor(const sn_schema *schema, const double *variance)
{
    double total = 0;
    int64_t count = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        const int64_t features = input->features - input->levels - (input->indicator ? 1 : 0);
        for (int64_t c = 0; c < features; c++) total += variance[input->first_feature + c];
        count += features;
    }
    return 1 / sqrt(total / (double)count);
}

/* The least variance that an indicator is divided by, that of one in nine rows. At variance 1 a text of two
   rows in a hundred would be at 7 where it is: no penalty keeps a fit from learning these two by heart. */
static const double RARE_VARIANCE = 0.1;

/* One factor for all channels of a curve: where they hardly vary, they say little, and less than noise. */
static void scale_curves(sn_schema *schema, const double *variance)
{
    for (int64_t curve = 1; curve <= schema->n_curves; curve++) {
        double total = 0.0, channels = 0.0;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t j = 0; j < schema->n_inputs; j++) {
                const int64_t f = schema->input[j].first_feature;
                if (schema->input[j].curve != curve) continue;
                total += pass == 0 ? variance[f] : 0.0;
                channels += pass == 0 ? 1.0 : 0.0;
                if (pass == 1 && variance[f] > 0.0) schema->factor[f] = sqrt(channels / total);
            }
    }
}

/* centre and factor from the means and variances. A constant feature tells nothing and gets the factor 0, so
   that it stays 0 in new data too. That a cell is missing is no pixel: it has a scale of its own where the
   columns share one. */
static void set_scaling(sn_schema *schema, const double *variance)
{
    const sn_scale scale = schema->scale;
    const double common = scale == SN_SCALE_COMMON ? common_factor(schema, variance) : 1.0;
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        for (int64_t c = 0; c < input->features; c++) {
            const int64_t f = input->first_feature + c;
            const bool own = scale == SN_SCALE_COLUMN ||
                             (scale == SN_SCALE_COMMON && input->indicator && c == input->features - 1);
            const double least = is_flag(input, c) ? RARE_VARIANCE : 0.0;
            schema->centre[f] = scale != SN_SCALE_NONE ? schema->mean[f] : 0.0;
            schema->factor[f] = own ? 1.0 / sqrt(fmax(variance[f], least)) : common;
            if (variance[f] == 0.0 && scale != SN_SCALE_NONE) schema->factor[f] = 0.0;
        }
    }
    scale_levels(schema, variance);
}

/* variance (p): of each feature. Constant features stay in the schema; only when all are constant is there
   nothing to fit. The note lists names up to 140 bytes. */
static stonet_status report_constants(const sn_schema *schema, const double *variance, const stonet_run *run)
{
    char names[160] = "";
    size_t used = 0;
    int64_t constant = 0;
    for (int64_t f = 0; f < schema->p; f++) {
        if (variance[f] > 0) continue;
        const char *name = schema->feature_name[f];
        if (used + strlen(name) + 3 < 140)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", name);
        constant++;
    }
    if (constant == schema->p)
        return sn_fail(STONET_ERROR_DATA, "no feature varies: %s",
                       schema->p == 0 ? "no usable column is left" : "every column is constant");
    if (constant > 0)
        sn_message(run, STONET_NOTE, "%lld constant feature%s without effect: %s%s", (long long)constant,
                   constant == 1 ? " is" : "s are", names, constant > 5 ? ", .." : "");
    return STONET_OK;
}

/* Mean, centre and factor of every feature. scale=auto is one common scale for images and one for each curve,
   else one a column. */
static stonet_status fit_scaling(sn_schema *schema, const stonet_data *train, sn_scale scale,
                                 const stonet_run *run)
{
    SN_TRY(SN_NEW(schema->mean, schema->p));
    SN_TRY(SN_NEW(schema->centre, schema->p));
    SN_TRY(SN_NEW(schema->factor, schema->p));
    if (train->sparse != NULL && train->weight != NULL)
        return sn_fail(
            STONET_ERROR_DATA,
            "%s: rows of a sparse table cannot be weighted; repeat rows, or write the table as .npy",
            sn_table_name(train));
    SN_FREED_BY(sn_moments_clear) sn_moments columns = {0};
    SN_ZEROS(schema->p, double, variance);
    const sn_numbers numbers = {.floats = train->x,
                                .n = train->n,
                                .m = train->n_numeric,
                                .gaps = train->missing > 0,
                                .weight = train->weight,
                                .team = run != NULL ? run->team : NULL,
                                .rest = sn_frame_rest,
                                .table = train};
    SN_TRY(train->sparse != NULL ? sn_cells_moments(train->sparse, &columns)
                                 : sn_moments_of(&numbers, &columns));
    SN_TRY(refine_moments(train, &columns));
    SN_TRY(feature_moments(schema, train, &columns, variance));
    SN_TRY(sn_schema_curve_moments(schema, train, variance));
    SN_TRY(report_constants(schema, variance, run));
    schema->scale = scale;
    if (scale == SN_SCALE_AUTO) {
        bool images = schema->curves.how == SN_CURVE_NONE && looks_like_images(train, &columns);
        schema->scale = images ? SN_SCALE_COMMON : SN_SCALE_COLUMN;
        if (images) sn_message(run, STONET_NOTE, "the columns look like pixels: all get one common scale");
    }
    set_scaling(schema, variance);
    if (scale == SN_SCALE_AUTO) scale_curves(schema, variance);
    return STONET_OK;
}

/* A target from a file of its own, and a column of that name beside the features: the response would be
   learnt from itself. New rows may keep such a column, since it is passed over there. */
static stonet_status check_no_leak(const stonet_data *train)
{
    if (!train->target_has_name || !train->has_header) return STONET_OK;
    for (int64_t k = 0; k < train->n_targets; k++) {
        for (int64_t j = 0; j < train->n_columns; j++) {
            if (strcmp(train->column[j].name, train->target_name[k]) == 0)
                return sn_fail(
                    STONET_ERROR_DATA,
                    "%s has a column '%s', which is also the name of the target in its own file. "
                    "Rename or remove the column, or name it as the target and leave the file out.",
                    sn_table_name(train), train->target_name[k]);
        }
    }
    return STONET_OK;
}

/* Names and categories go into the head of the model file, where there is room for a gigabyte: what would not
   fit is said before the fit, and not when it is to be saved. JSON may write a character with up to ten. */
static stonet_status check_names(const sn_schema *schema)
{
    const size_t most = (size_t)100 << 20;
    size_t bytes = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        bytes += strlen(input->name) + 16;
        for (int64_t c = 0; c < input->categories.count; c++) bytes += strlen(input->categories.text[c]) + 4;
    }
    for (int64_t c = 0; c < schema->classes.count; c++) bytes += strlen(schema->classes.text[c]) + 4;
    if (bytes <= most) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA,
                   "the names of the columns and their categories take %zu MB, and a model file holds %zu: "
                   "shorten the names or leave columns out",
                   bytes >> 20, most >> 20);
}

/* What can be said before any column is looked at. */
static stonet_status check_train(const stonet_data *train)
{
    if (train->n < 2) return sn_fail(STONET_ERROR_DATA, "one row is not enough to fit a model");
    SN_TRY(sn_frame_check(train));
    return check_no_leak(train);
}

stonet_status sn_schema_fit_response(const stonet_data *train, sn_task_wish task, sn_schema **out)
{
    *out = NULL;
    SN_TRY(check_train(train));
    SN_AUTO(sn_schema) *schema = NULL;
    SN_TRY(SN_NEW(schema, 1));
    SN_TRY(sn_schema_fit_targets(schema, train, task, NULL));
    return SN_GIVE(schema, out);
}

stonet_status sn_schema_fit(const stonet_data *train, const sn_encoding *wanted, const stonet_run *run,
                            sn_schema **out)
{
    *out = NULL;
    SN_TRY(check_train(train));
    SN_AUTO(sn_schema) *schema = NULL;
    SN_TRY(SN_NEW(schema, 1));
    schema->missing = wanted->missing;
    SN_TRY(sn_schema_fit_targets(schema, train, wanted->task, run));
    SN_TRY(sn_schema_fit_inputs(schema, train, wanted, run));
    if (schema->p == sn_image_size(&train->image) && schema->n_inputs == schema->p)
        schema->image = train->image; /* each feature is a column */
    SN_TRY(check_names(schema));
    SN_TRY(fit_scaling(schema, train, wanted->scale, run));
    if (schema->missing != SN_MISSING_ERROR && schema->missing != SN_MISSING_MEAN)
        SN_TRY(sn_imputer_fit(schema, train, NULL, true, &schema->imputer));
    SN_TRY(sn_schema_warn_of_leaks(schema, train, run));
    return SN_GIVE(schema, out);
}
