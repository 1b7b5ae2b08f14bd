/*
 * Completed copies of a table: multiple imputation by EM with bootstrapping.
 *
 * For every draw the law of the cells (data/imputer.h) is learned from rows drawn with replacement. So the
 * copies also differ by how uncertain the law is. Then all missing cells of the table are drawn from the law
 * at once. Every column takes part, the response among them: Rubin's rules need cells drawn given all that
 * will be analysed. Observed cells stay as they are.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/take_options.h"
#include "data/encoder.h"
#include "data/imputer.h"
#include "math/noise.h"

enum { SUBSTREAM = 79 << 24, MOST_VALUES = SN_MARGIN_LEVELS_MOST };

/* What a drawn number is rounded to: one of few values that the column has, or a whole number where all are.
 */
typedef struct grid {
    int64_t count; /* of value; 0: there are more */
    double value[MOST_VALUES];
    bool whole;
} grid;

static void find_grid(const stonet_data *data, int64_t slot, grid *out)
{
    bool many = false;
    *out = (grid){.whole = true};
    for (int64_t i = 0; i < data->n; i++) {
        const double value = sn_frame_number(data, i, slot);
        if (isnan(value)) continue;
        out->whole = out->whole && value == rint(value);
        int64_t k = 0;
        while (k < out->count && out->value[k] != value) k++;
        if (k < out->count || many) continue;
        many = out->count == MOST_VALUES;
        if (!many) out->value[out->count++] = value;
    }
    if (many) out->count = 0;
}

static double on_grid(const grid *g, double value)
{
    double best = g->whole ? rint(value) : value;
    for (int64_t k = 0; k < g->count; k++)
        if (k == 0 || fabs(g->value[k] - value) < fabs(best - value)) best = g->value[k];
    return best;
}

/* The text of a drawn row: the category whose indicator is the largest, or the rank of one that is ordered.
 */
static const char *text_of(const sn_schema *schema, const sn_input *input, const float *x)
{
    const sn_dictionary *words = &input->categories;
    const int64_t f = input->first_feature;
    int64_t best = 0;
    double most = -(double)INFINITY;
    for (int64_t c = 0; c < words->count; c++) {
        const int64_t at = words->ordered ? f : f + c;
        const double factor = schema->factor[at] > 0.0 ? schema->factor[at] : 1.0;
        const double raw = (double)x[at] / factor + schema->centre[at];
        const double score = words->ordered ? -fabs(raw - (double)(1 + c)) : raw;
        if (!(score > most)) continue;
        most = score;
        best = c;
    }
    return words->text[best];
}

static int32_t code_of(const sn_dictionary *words, const char *text)
{
    for (int64_t c = 0; c < words->count; c++)
        if (strcmp(words->text[c], text) == 0) return (int32_t)c;
    return -1;
}

/* A column of the copy, and what it is for the schema. */
typedef struct column {
    const sn_input *input;
    grid grid;
    float *x; /* numbers: its cells, n_numeric apart */
    double *exact;
    int32_t *code;
    const sn_dictionary *words;
} column;

static void put(const column *to, const sn_schema *schema, const float *x, int64_t row, int64_t step)
{
    if (to->code != NULL) to->code[row] = code_of(to->words, text_of(schema, to->input, x));
    if (to->x == NULL) return;
    const int64_t f = to->input->first_feature;
    const double factor = schema->factor[f] > 0.0 ? schema->factor[f] : 1.0;
    const double value = on_grid(&to->grid, (double)x[f] / factor + schema->centre[f]);
    to->x[row * step] = (float)value;
    if (to->exact != NULL) to->exact[row] = value;
}

/* Which columns have cells to fill in; one that the schema leaves out (names of rows, no value at all) keeps
   its gaps. */
static int64_t find_columns(const sn_schema *schema, stonet_data *copy, const stonet_run *run, column *out)
{
    int64_t count = 0;
    for (int64_t j = 0; j < copy->n_columns; j++) {
        const sn_column *about = &copy->column[j];
        const sn_input *input = &schema->input[j];
        const bool text = about->kind == SN_COLUMN_TEXT;
        if (input->missing == 0) continue;
        if (input->left_out || input->missing == copy->n || (text && input->categories.count == 0)) {
            sn_message(run, STONET_WARNING,
                       "column '%s' keeps its %lld missing cells: it has nothing to draw from", about->name,
                       (long long)input->missing);
            continue;
        }
        column *c = &out[count++];
        *c = (column){.input = input};
        if (text) {
            c->code = copy->text_code[about->slot];
            c->words = &copy->text_values[about->slot];
            continue;
        }
        find_grid(copy, about->slot, &c->grid);
        c->x = (float *)copy->owned_x + about->slot;
        if (copy->exact != NULL) c->exact = copy->exact[about->slot].owned;
    }
    return count;
}

/* schema: without an imputer. */
static stonet_status fill(sn_schema *schema, const stonet_data *data, int64_t draw, const stonet_run *run,
                          stonet_data *copy)
{
    sn_random random = sn_random_from(run->seed, SN_STREAM_SPLIT, (uint32_t)(SUBSTREAM + draw));
    SN_ARRAY(data->n, int64_t, list);
    SN_ARRAY(schema->p, float, x);
    SN_ZEROS(data->n_columns, column, columns);
    for (int64_t i = 0; i < data->n; i++) list[i] = (int64_t)sn_random_below(&random, (uint64_t)data->n);
    const sn_rows rows = sn_rows_list(list, data->n);
    SN_TRY(sn_imputer_fit(schema, data, &rows, false, &schema->imputer));
    const int64_t count = find_columns(schema, copy, draw == 1 ? run : NULL, columns);
    SN_AUTO(sn_encoder) *encoder = NULL;
    SN_TRY(sn_encoder_create(schema, data, &encoder));
    sn_encoder_key(encoder, run->seed, false);
    const sn_row_source *source = sn_encoder_source(encoder);
    for (int64_t i = 0; i < data->n; i++) {
        if (sn_frame_row_is_complete(data, i)) continue;
        const sn_rows one = sn_rows_range(i, 1);
        source->fetch(source, &one, (uint32_t)draw, x, schema->p);
        for (int64_t k = 0; k < count; k++)
            if (sn_frame_is_missing(data, i, columns[k].input - schema->input))
                put(&columns[k], schema, x, i, data->n_numeric);
    }
    copy->missing = sn_frame_count_missing(copy, -1);
    return STONET_OK;
}

stonet_status stonet_data_impute(const stonet_data *data, int64_t draw, const stonet_run *run,
                                 stonet_data **out)
{
    if (data == NULL || out == NULL || draw < 1 || draw > STONET_MOST_IMPUTED)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_data_impute needs data, a draw from 1 to %d and a place to go",
                       STONET_MOST_IMPUTED);
    *out = NULL;
    stonet_run how;
    SN_TRY(sn_take_run(run, &how));
    if (data->n_targets > 0)
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "cells are drawn given all columns: read the table without a target, as one more column");
    SN_TRY(sn_frame_check(data));
    SN_AUTO(sn_schema) *schema = NULL;
    SN_AUTO(stonet_data) *copy = NULL;
    SN_ARRAY(data->n, int64_t, all);
    for (int64_t i = 0; i < data->n; i++) all[i] = i;
    SN_TRY(stonet_data_subset(data, all, data->n, &copy));
    if (data->missing > 0) {
        /* missing=mean has no law of its own: that of this draw takes its place. */
        const sn_encoding wanted = {
            .task = SN_TASK_WISH_NONE, .scale = SN_SCALE_COLUMN, .missing = SN_MISSING_MEAN};
        SN_TRY(sn_schema_fit(data, &wanted, NULL, &schema));
        SN_TRY(fill(schema, data, draw, &how, copy));
    }
    return SN_GIVE(copy, out);
}
