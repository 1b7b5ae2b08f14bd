/* The margins and the Gaussian of incomplete rows, from the training rows or many of them. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "data/encoder.h"
#include "data/imputer.h"
#include "data/schema_parts.h"
#include "math/kernel.h"

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
} sample;

/* How many rows are looked at: the work of EM is n (d^2 + u d + u^3), u the missing cells of a row. */
static int64_t rows_wanted(const sn_schema *schema, const stonet_data *train)
{
    const double p = (double)schema->p, n = (double)train->n;
    const double u = (double)train->missing / n * p / (double)train->n_columns;
    double most = train->missing > 0 ? MOST_ROWS : COMPLETE_ROWS;
    most = fmin(most, MOST_FLOATS / p);
    if (schema->p <= SN_FULL_MOST) most = fmin(most, MOST_WORK / (p * p + u * p + u * u * u));
    most = fmax(most, FEWEST_ROWS);
    return most < n ? (int64_t)most : train->n;
}

static stonet_status take_sample(const sn_schema *schema, const stonet_data *train, sn_workspace *keep,
                                 sample *out)
{
    int64_t *list = NULL;
    *out = (sample){.n = rows_wanted(schema, train), .p = schema->p};
    SN_TRY(SN_TAKE(keep, list, out->n));
    SN_TRY(SN_TAKE(keep, out->x, out->n * out->p));
    if (out->n < train->n)
        SN_TRY(sn_choose_rows(train->n, out->n, 1, SUBSTREAM, list));
    else
        for (int64_t i = 0; i < out->n; i++) list[i] = i;
    sn_encoder *encoder;
    SN_TRY(sn_encoder_create(schema, train, &encoder));
    sn_encoder_leave_missing(encoder);
    for (int64_t first = 0; first < out->n; first += FEW_ROWS) {
        const sn_rows rows =
            sn_rows_list(list + first, out->n - first < FEW_ROWS ? out->n - first : FEW_ROWS);
        sn_encoder_source(encoder)->fetch(sn_encoder_source(encoder), &rows, 0, out->x + first * out->p,
                                          out->p);
        sn_frame_rest(train, rows.list[0], rows.list[rows.n - 1] - rows.list[0] + 1);
    }
    sn_encoder_free(encoder);
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
    float *values = NULL;
    SN_TRY(SN_TAKE(&scratch, values, s->n));
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
            sn_margin *margin = &m->margin[m->gaussian.d];
            SN_TRY(texts ? add_category(values, n, margin)
                         : sn_margin_fit(values, n, levels, input->levels, margin));
            margin->feature = f;
            m->gaussian.d++;
        }
    }
    return STONET_OK;
}

/* The Gaussian of the scores. */
static stonet_status fit_gaussian(const sample *s, bool shrink, sn_imputer *m)
{
    const int64_t d = m->gaussian.d;
    SN_WORKSPACE(scratch);
    float *z = NULL;
    SN_TRY(SN_TAKE(&scratch, z, s->n * d));
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = 0; k < d; k++) {
            const float value = s->x[i * s->p + m->margin[k].feature];
            z[i * d + k] = isnan(value) ? value : (float)sn_margin_score(&m->margin[k], value);
        }
    const sn_gaussian_fit fit = {.n = s->n, .d = d, .x = z, .prior = shrink ? (double)d : 1.0};
    if (d <= SN_FULL_MOST) return sn_gaussian_fit_full(&fit, NULL, &m->gaussian);
    return sn_gaussian_fit_factors(&fit, SN_FACTORS_MOST, &m->gaussian);
}

stonet_status sn_imputer_fit(const sn_schema *schema, const stonet_data *train, bool shrink, sn_imputer **out)
{
    SN_WORKSPACE(scratch);
    sample s;
    sn_imputer *m;
    *out = NULL;
    if (train->missing == 0 && schema->p > SN_FULL_MOST) return STONET_OK;
    SN_TRY(take_sample(schema, train, &scratch, &s));
    SN_TRY(SN_NEW(m, 1));
    stonet_status status = fit_margins(schema, &s, m);
    const int64_t d = m->gaussian.d;
    if (status == STONET_OK) status = sn_imputer_join(schema, m);
    if (status == STONET_OK && d > 0) status = fit_gaussian(&s, shrink, m);
    if (status != STONET_OK) {
        m->gaussian.d = d; /* the margins are there to be freed */
        sn_imputer_free(m);
        return status;
    }
    *out = m;
    return STONET_OK;
}
