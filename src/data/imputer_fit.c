/* The margins and the Gaussian of incomplete rows: learned from training rows, saved and loaded. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "data/encoder.h"
#include "data/imputer.h"
#include "math/kernel.h"

#define PREFIX "schema.cells."

enum {
    MOST_ROWS = 20000,    /* looked at */
    COMPLETE_ROWS = 5000, /* where no cell is missing, and the model is for rows to come */
    FEWEST_ROWS = 200,
    FEW_ROWS = 32,         /* at a time: those of a table on disk may lie far apart */
    MOST_FLOATS = 8 << 20, /* rows x features looked at */
    SUBSTREAM = 78         /* of the choice of rows */
};
static const double MOST_WORK = 4e8; /* of an iteration of EM */

/* Rows of the table, encoded, with NaN where cells are missing. */
typedef struct sample {
    int64_t n, p;
    float *x;
    int64_t *row; /* which of the table's */
} sample;

/* How many rows are looked at: the work of EM is n (d^2 + u d + u^3), u the missing cells of a row. */
static int64_t rows_wanted(const sn_schema *schema, const stonet_data *train, int64_t rows)
{
    const double p = (double)schema->p, n = (double)rows;
    const double u = (double)train->missing / (double)train->n * p / (double)train->n_columns;
    double most = train->missing > 0 ? MOST_ROWS : COMPLETE_ROWS;
    most = fmin(most, MOST_FLOATS / p);
    if (schema->p <= SN_FULL_MOST) most = fmin(most, MOST_WORK / (p * p + u * p + u * u * u));
    most = fmax(most, FEWEST_ROWS);
    return most < n ? (int64_t)most : rows;
}

/* The rows that EM sees, encoded, with NaN for missing cells. The choice of rows has a fixed seed, so that
   the same table always gives the same law. Arrays belong to `keep`. */
static stonet_status take_sample(const sn_schema *schema, const stonet_data *train, const sn_rows *of,
                                 sn_workspace *keep, sample *out)
{
    *out = (sample){.n = rows_wanted(schema, train, of->n), .p = schema->p};
    SN_TRY(SN_TAKE(keep, out->row, out->n));
    int64_t *list = out->row;
    SN_TRY(SN_TAKE(keep, out->x, out->n * out->p));
    if (out->n < of->n)
        SN_TRY(sn_choose_rows(of->n, out->n, 1, SUBSTREAM, list));
    else
        for (int64_t i = 0; i < out->n; i++) list[i] = i;
    for (int64_t i = 0; i < out->n; i++) list[i] = sn_rows_at(of, list[i]);
    SN_AUTO(sn_encoder) *encoder = NULL;
    SN_TRY(sn_encoder_create(schema, train, &encoder));
    sn_encoder_leave_missing(encoder);
    for (int64_t first = 0; first < out->n; first += FEW_ROWS) {
        const sn_rows rows =
            sn_rows_list(list + first, out->n - first < FEW_ROWS ? out->n - first : FEW_ROWS);
        sn_encoder_source(encoder)->fetch(sn_encoder_source(encoder), &rows, 0, out->x + first * out->p,
                                          out->p);
        sn_frame_rest(train, rows.list[0], rows.list[rows.n - 1] - rows.list[0] + 1);
    }
    return STONET_OK;
}

/* The values of a feature that are there; *varies: not all the same. */
static int64_t gather(const sample *s, int64_t feature, float *values, bool *varies)
{
    int64_t count = 0;
    *varies = false;
    for (int64_t i = 0; i < s->n; i++) {
        const float value = s->x[i * s->p + feature];
        if (isnan(value)) continue;
        values[count++] = value;
        *varies = *varies || value != values[0];
    }
    return count;
}

/* The levels of a number as they are scaled. */
static stonet_status scaled_levels(const sn_schema *schema, const sn_input *input, sn_workspace *keep,
                                   float **out)
{
    const int64_t f = input->first_feature;
    *out = NULL;
    if (input->levels == 0) return STONET_OK;
    SN_TRY(SN_TAKE(keep, *out, input->levels));
    for (int64_t l = 0; l < input->levels; l++)
        (*out)[l] = (float)(((double)input->level[l] - schema->centre[f]) * schema->factor[f]);
    return STONET_OK;
}

static stonet_status add_category(const float *values, int64_t n, sn_margin *out)
{
    double mean = 0.0, square = 0.0;
    for (int64_t i = 0; i < n; i++) mean += (double)values[i] / (double)n;
    for (int64_t i = 0; i < n; i++) square += ((double)values[i] - mean) * ((double)values[i] - mean);
    SN_TRY(sn_margin_plain(mean, sqrt(square / (double)n), out));
    out->kind = SN_MARGIN_CATEGORY;
    return STONET_OK;
}

/* The margin of each feature that varies; levels of numbers have none of their own. A column of texts has all
   or none: one text that no row looked at has would have no scale. */
static stonet_status fit_margins(const sn_schema *schema, const sample *s, sn_imputer *m)
{
    SN_WORKSPACE(scratch);
    SN_ARRAY(s->n, float, values);
    SN_TRY(SN_NEW(m->margin, s->p));
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        const bool texts = input->kind == SN_COLUMN_TEXT && !input->categories.ordered;
        float *levels;
        SN_TRY(scaled_levels(schema, input, &scratch, &levels));
        for (int64_t c = 0; c < (texts ? input->categories.count : input->features > 0 ? 1 : 0); c++) {
            bool varies;
            const int64_t f = input->first_feature + c, n = gather(s, f, values, &varies);
            if (!varies) continue;
            sn_margin *margin = &m->margin[m->gaussian.d++]; /* from here on it is freed with the others */
            margin->feature = f;
            SN_TRY(texts ? add_category(values, n, margin)
                         : sn_margin_fit(values, n, levels, input->levels, margin));
        }
    }
    return STONET_OK;
}

/* The normal scores of n numbers at `stride`, into `out` at `step`. */
static stonet_status score_numbers(const double *y, int64_t n, int64_t stride, float *out, int64_t step)
{
    double mean = 0.0, square = 0.0;
    SN_ARRAY(n, float, sorted);
    for (int64_t i = 0; i < n; i++) mean += y[i * stride] / (double)n;
    for (int64_t i = 0; i < n; i++) square += (y[i * stride] - mean) * (y[i * stride] - mean);
    const double sd = sqrt(square / (double)n);
    bool varies = false;
    for (int64_t i = 0; i < n; i++) {
        sorted[i] = isfinite(sd) && sd > 0.0 ? (float)((y[i * stride] - mean) / sd) : 0.0F;
        out[i * step] = sorted[i];
        varies = varies || sorted[i] != sorted[0];
    }
    if (!varies) return STONET_OK;
    SN_FREED_BY(sn_margin_free) sn_margin margin = {0};
    SN_TRY(sn_margin_fit(sorted, n, NULL, 0, &margin));
    for (int64_t i = 0; i < n; i++) out[i * step] = (float)sn_margin_score(&margin, out[i * step]);
    return STONET_OK;
}

/* The indicator of a class, to variance 1. */
static void score_class(const int32_t *label, int64_t n, int32_t class, float *out, int64_t step)
{
    double share = 0.0;
    for (int64_t i = 0; i < n; i++) share += label[i] == class ? 1.0 / (double)n : 0.0;
    const double sd = sqrt(share * (1.0 - share));
    for (int64_t i = 0; i < n; i++)
        out[i * step] = sd > 0.0 ? (float)(((label[i] == class ? 1.0 : 0.0) - share) / sd) : 0.0F;
}

/* Scores of the response of all rows: a target each, a class but the last each; none where there are no gaps,
   or too many classes for a full covariance. */
static stonet_status score_response(const stonet_data *train, sn_imputer *m, int64_t *count)
{
    const int64_t n = train->n, scores = train->label != NULL ? train->labels.count - 1 : train->n_targets;
    *count = 0;
    if (train->missing == 0 || scores < 1 ||
        (m->gaussian.d <= SN_FULL_MOST && m->gaussian.d + scores > SN_FULL_MOST))
        return STONET_OK;
    SN_TRY(SN_NEW_RAW(m->response, n * scores));
    for (int64_t k = 0; k < scores; k++) {
        if (train->label != NULL)
            score_class(train->label, n, (int32_t)k, m->response + k, scores);
        else
            SN_TRY(score_numbers(train->y + k, n, train->n_targets, m->response + k, scores));
    }
    *count = scores;
    return STONET_OK;
}

/* The Gaussian of the scores, learned with those of the response beside them. */
static stonet_status fit_gaussian(const sample *s, int64_t responses, bool shrink, sn_imputer *m)
{
    const int64_t d = m->gaussian.d, all = d + responses;
    SN_ARRAY(s->n * all, float, z);
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t k = 0; k < d; k++) {
            const float value = s->x[i * s->p + m->margin[k].feature];
            z[i * all + k] = isnan(value) ? value : (float)sn_margin_score(&m->margin[k], value);
        }
        for (int64_t k = d; k < all; k++) z[i * all + k] = m->response[s->row[i] * responses + k - d];
    }
    const sn_gaussian_fit fit = {.n = s->n, .d = all, .x = z, .prior = shrink ? (double)all : 1.0};
    sn_gaussian found;
    SN_TRY(all <= SN_FULL_MOST ? sn_gaussian_fit_full(&fit, NULL, &found)
                               : sn_gaussian_fit_factors(&fit, SN_FACTORS_MOST, &found));
    if (responses == 0) {
        m->gaussian = found;
        return STONET_OK;
    }
    m->with_response = found;
    return sn_gaussian_first(&m->with_response, d, &m->gaussian);
}

static stonet_status damaged(const char *what)
{
    return sn_fail(STONET_ERROR_FORMAT, "the model's entry " PREFIX "%s is damaged", what);
}

/* Finds out which margins have indicators of levels beside them, and what plain ones come to; fails when
   margins and schema do not belong together. */
static stonet_status join(const sn_schema *schema, sn_imputer *m)
{
    int64_t k = 0;
    SN_TRY(SN_NEW(m->centre, m->gaussian.d));
    SN_TRY(SN_NEW(m->inverse, m->gaussian.d));
    for (int64_t j = 0; j < m->gaussian.d; j++) {
        const sn_margin *margin = &m->margin[j];
        if (margin->kind != SN_MARGIN_PLAIN && margin->kind != SN_MARGIN_CATEGORY) continue;
        m->centre[j] = (double)margin->value[0];
        m->inverse[j] = 1.0 / (double)margin->value[1];
    }
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        const int64_t end = input->first_feature + input->features;
        const bool texts = input->kind == SN_COLUMN_TEXT && !input->categories.ordered;
        for (; k < m->gaussian.d && m->margin[k].feature < end; k++) {
            sn_margin *margin = &m->margin[k];
            const int64_t scores = texts ? input->categories.count : 1;
            if ((margin->kind == SN_MARGIN_CATEGORY) != texts ||
                margin->feature >= input->first_feature + scores)
                return damaged("feature");
            if (input->levels > 0 && (margin->kind != SN_MARGIN_LEVELS || margin->count != input->levels))
                return damaged("margin");
            margin->indicators = input->levels > 0;
        }
    }
    return STONET_OK;
}

stonet_status sn_imputer_fit(const sn_schema *schema, const stonet_data *train, const sn_rows *rows,
                             bool shrink, sn_imputer **out)
{
    const sn_rows all = sn_rows_range(0, train->n);
    SN_WORKSPACE(scratch);
    sample s;
    SN_AUTO(sn_imputer) *m = NULL;
    int64_t responses = 0;
    *out = NULL;
    if (train->missing == 0 && schema->p > SN_FULL_MOST) return STONET_OK;
    SN_TRY(take_sample(schema, train, rows != NULL ? rows : &all, &scratch, &s));
    SN_TRY(SN_NEW(m, 1));
    SN_TRY(fit_margins(schema, &s, m));
    SN_TRY(join(schema, m));
    const int64_t d = m->gaussian.d;
    if (d > 0) SN_TRY(score_response(train, m, &responses));
    const stonet_status status = d > 0 ? fit_gaussian(&s, responses, shrink, m) : STONET_OK;
    m->gaussian.d = d; /* also after a failure: the margins are there to be freed */
    SN_TRY(status);
    return SN_GIVE(m, out);
}

/* ---- the model file ------------------------------------------------------------------------------- */

/* The margins have tables of different lengths. The file holds these tables one after the other in three
   vectors, and their lengths in `count`. Margins without cuts save 0. */
static const char *const NUMBERS[] = {PREFIX "feature", PREFIX "margin", PREFIX "count"};
static const char *const TABLES[] = {PREFIX "value", PREFIX "score", PREFIX "cut"};

static stonet_status save_margins(const sn_imputer *m, sn_store *store)
{
    SN_WORKSPACE(scratch);
    const int64_t d = m->gaussian.d;
    int64_t total = 0, *number[3];
    double *table[3];
    for (int64_t k = 0; k < d; k++) total += m->margin[k].count;
    for (int k = 0; k < 3; k++) {
        SN_TRY(SN_TAKE(&scratch, number[k], d));
        SN_TRY(SN_TAKE(&scratch, table[k], total));
    }
    total = 0;
    for (int64_t k = 0; k < d; k++) {
        const sn_margin *margin = &m->margin[k];
        number[0][k] = margin->feature;
        number[1][k] = (int64_t)margin->kind;
        number[2][k] = margin->count;
        for (int64_t i = 0; i < margin->count; i++, total++) {
            table[0][total] = (double)margin->value[i];
            table[1][total] = margin->score[i];
            table[2][total] = margin->cut != NULL ? margin->cut[i] : 0.0;
        }
    }
    for (int k = 0; k < 3; k++) SN_TRY(sn_store_put_vector(store, NUMBERS[k], SN_I64, d, number[k]));
    for (int k = 0; k < 3; k++) SN_TRY(sn_store_put_vector(store, TABLES[k], SN_F64, total, table[k]));
    return STONET_OK;
}

stonet_status sn_imputer_save(const sn_imputer *m, sn_store *store)
{
    if (m == NULL || m->gaussian.d == 0) return STONET_OK;
    const sn_gaussian *g = &m->gaussian;
    SN_TRY(save_margins(m, store));
    SN_TRY(sn_store_put_vector(store, PREFIX "mean", SN_F64, g->d, g->mean));
    if (g->precision != NULL)
        return sn_store_put_matrix(store, PREFIX "precision", SN_F64, g->d, g->d, g->precision);
    SN_TRY(sn_store_put_matrix(store, PREFIX "loadings", SN_F64, g->d, g->factors, g->loadings));
    return sn_store_put_vector(store, PREFIX "noise", SN_F64, g->d, g->noise);
}

/* ---- load: every number may be anything --------------------------------------------------------- */

static stonet_status copy(const sn_store *store, const char *name, int64_t rows, int64_t columns,
                          double **out)
{
    const sn_tensor *tensor;
    SN_TRY(columns < 0 ? sn_store_get_vector(store, name, SN_F64, rows, &tensor)
                       : sn_store_get_matrix(store, name, SN_F64, rows, columns, &tensor));
    SN_TRY(sn_tensor_check_finite(tensor));
    const int64_t count = sn_tensor_count(tensor);
    SN_TRY(SN_NEW_RAW(*out, count));
    memcpy(*out, tensor->data, (size_t)count * sizeof **out);
    return STONET_OK;
}

/* A full Gaussian is stored as its precision matrix (d x d), a factor model as loadings (d x factors) and
   noise (d). g->d is set before. Later code divides by the diagonal and the noise: both must be above 0. */
static stonet_status load_gaussian(const sn_store *store, sn_gaussian *g)
{
    SN_TRY(copy(store, PREFIX "mean", g->d, -1, &g->mean));
    if (sn_store_find(store, PREFIX "precision") != NULL) {
        if (g->d > SN_FULL_MOST) return damaged("precision");
        SN_TRY(copy(store, PREFIX "precision", g->d, g->d, &g->precision));
        for (int64_t k = 0; k < g->d; k++)
            if (!(g->precision[k * g->d + k] > 0.0)) return damaged("precision");
        return STONET_OK;
    }
    const sn_tensor *loadings;
    SN_TRY(sn_store_get_matrix(store, PREFIX "loadings", SN_F64, g->d, -1, &loadings));
    g->factors = loadings->shape[1];
    if (g->factors > SN_FACTORS_MOST) return damaged("loadings");
    SN_TRY(copy(store, PREFIX "loadings", g->d, g->factors, &g->loadings));
    SN_TRY(copy(store, PREFIX "noise", g->d, -1, &g->noise));
    for (int64_t k = 0; k < g->d; k++)
        if (!(g->noise[k] > 0.0)) return damaged("noise");
    return sn_gaussian_ready(g);
}

/* Whether a margin with these numbers can be gone through both ways. */
static bool is_sound(const sn_margin *margin)
{
    if (margin->kind == SN_MARGIN_PLAIN || margin->kind == SN_MARGIN_CATEGORY)
        return margin->count == 2 && margin->value[1] > 0.0F;
    if (margin->count < 1) return false;
    for (int64_t i = 1; i < margin->count; i++)
        if (!(margin->value[i] > margin->value[i - 1]) || !(margin->score[i] > margin->score[i - 1]))
            return false;
    return true;
}

static stonet_status load_margin(const double *value, const double *score, const double *cut, sn_margin *out)
{
    SN_TRY(SN_NEW(out->value, out->count));
    SN_TRY(SN_NEW(out->score, out->count));
    if (out->kind == SN_MARGIN_LEVELS) SN_TRY(SN_NEW(out->cut, out->count));
    for (int64_t i = 0; i < out->count; i++) {
        out->value[i] = (float)value[i]; /* which a double may be too large for */
        if (!isfinite(out->value[i])) return damaged("value");
        out->score[i] = score[i];
        if (out->cut != NULL) out->cut[i] = cut[i];
    }
    return is_sound(out) ? STONET_OK : damaged("value");
}

/* The reverse of save_margins. A file may be damaged: features must rise, kinds must be known, and the
   lengths must add up to the size of the vectors. */
static stonet_status load_margins(const sn_store *store, const sn_schema *schema, sn_imputer *m)
{
    const int64_t d = m->gaussian.d;
    const sn_tensor *number[3], *part[3];
    for (int k = 0; k < 3; k++) SN_TRY(sn_store_get_vector(store, NUMBERS[k], SN_I64, d, &number[k]));
    for (int k = 0; k < 3; k++) {
        SN_TRY(sn_store_get_vector(store, TABLES[k], SN_F64, -1, &part[k]));
        SN_TRY(sn_tensor_check_finite(part[k]));
    }
    const int64_t *f = number[0]->data, *word = number[1]->data, *n = number[2]->data;
    const double *value = part[0]->data, *score = part[1]->data, *cut = part[2]->data;
    const int64_t total = sn_tensor_count(part[0]);
    if (sn_tensor_count(part[1]) != total || sn_tensor_count(part[2]) != total) return damaged("score");
    int64_t at = 0;
    for (int64_t k = 0; k < d; k++) {
        if (f[k] < 0 || f[k] >= schema->p || (k > 0 && f[k] <= f[k - 1])) return damaged("feature");
        if (word[k] < 0 || word[k] > SN_MARGIN_CATEGORY) return damaged("margin");
        if (n[k] < 0 || n[k] > total - at) return damaged("count");
        m->margin[k] = (sn_margin){.kind = (sn_margin_kind)word[k], .feature = f[k], .count = n[k]};
        SN_TRY(load_margin(value + at, score + at, cut + at, &m->margin[k]));
        at += n[k];
    }
    return at == total ? join(schema, m) : damaged("count");
}

stonet_status sn_imputer_load(const sn_store *store, const sn_schema *schema, sn_imputer **out)
{
    *out = NULL;
    const sn_tensor *feature = sn_store_find(store, PREFIX "feature");
    if (feature == NULL) return STONET_OK;
    if (feature->rank != 1 || feature->shape[0] < 1 || feature->shape[0] > schema->p)
        return damaged("feature");
    SN_AUTO(sn_imputer) *m = NULL;
    SN_TRY(SN_NEW(m, 1));
    m->gaussian.d = feature->shape[0];
    SN_TRY(SN_NEW(m->margin, m->gaussian.d));
    SN_TRY(load_margins(store, schema, m));
    SN_TRY(load_gaussian(store, &m->gaussian));
    return SN_GIVE(m, out);
}
