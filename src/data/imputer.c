#include "data/imputer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema_parts.h"
#include "math/noise.h"
#include "stats/distributions.h"

/* Layers of the noise of a row: one number a score, one a factor, one a column of texts. */
enum { OF_SCORE, OF_FACTOR, OF_TEXT };
/* The least that a text counts when its conditional mean is nothing, or less. */
static const double LEAST_SHARE = 1e-3;

void sn_imputer_free(sn_imputer *imputer)
{
    if (imputer == NULL) return;
    for (int64_t k = 0; imputer->margin != NULL && k < imputer->gaussian.d; k++)
        sn_margin_free(&imputer->margin[k]);
    sn_free(imputer->margin);
    sn_free(imputer->centre);
    sn_free(imputer->inverse);
    sn_gaussian_free(&imputer->gaussian);
    sn_free(imputer);
}

bool sn_imputer_is_plain(const sn_imputer *imputer, int64_t feature)
{
    for (int64_t k = 0; k < imputer->gaussian.d; k++)
        if (imputer->margin[k].feature == feature) return imputer->margin[k].kind == SN_MARGIN_PLAIN;
    return true; /* it does not vary, and has one value for all */
}

/* A row given what is known of it. */
typedef struct conditional {
    sn_full_row full;
    sn_factor_row factor;
} conditional;

/* NaN of NaN. */
static double score_of(const sn_imputer *m, int64_t k, float value)
{
    if (m->inverse[k] > 0.0) return ((double)value - m->centre[k]) * m->inverse[k];
    return isnan(value) ? (double)NAN : sn_margin_score(&m->margin[k], value);
}

static void condition(const sn_imputer *m, const float *x, conditional *row)
{
    const sn_gaussian *g = &m->gaussian;
    if (g->precision != NULL) {
        double z[SN_FULL_MOST];
        for (int64_t k = 0; k < g->d; k++) z[k] = score_of(m, k, x[m->margin[k].feature]);
        sn_full_condition(g, z, &row->full);
        return;
    }
    sn_factor_start(g, &row->factor);
    for (int64_t k = 0; k < g->d; k++) {
        const float value = x[m->margin[k].feature];
        if (isnan(value))
            sn_factor_missing(g, k, &row->factor);
        else
            sn_factor_known(g, k, score_of(m, k, value), &row->factor);
    }
    sn_factor_solve(g, &row->factor);
}

/* Conditional mean (and variance, where it is wanted) of missing score k, the i-th of the row. */
static double mean_of(const sn_imputer *m, const conditional *row, int64_t k, int64_t i, double *variance)
{
    const sn_gaussian *g = &m->gaussian;
    const bool full = g->precision != NULL;
    if (variance != NULL && (m->margin[k].kind == SN_MARGIN_LEVELS || m->margin[k].kind == SN_MARGIN_SCORES))
        *variance = full ? sn_full_variance(&row->full, i) : sn_factor_variance(g, k, &row->factor);
    return full ? row->full.mean[i] : sn_factor_mean(g, k, &row->factor);
}

/* The indicators of the levels of a number, beside its feature: of one level, or the shares that are expected
   (level -1). */
static void set_levels(const sn_schema *schema, const sn_margin *margin, int64_t level, double mean,
                       double variance, float *x)
{
    for (int64_t c = 0; margin->indicators && c < margin->count; c++) {
        const int64_t f = margin->feature + 1 + c;
        const double raw = level < 0 ? sn_margin_share(margin, c, mean, variance) : c == level ? 1.0 : 0.0;
        x[f] = (float)((raw - schema->centre[f]) * schema->factor[f]);
    }
}

/* Everything at what is expected of it. */
static void fill_expected(const sn_imputer *m, const sn_schema *schema, float *x)
{
    conditional row;
    condition(m, x, &row);
    int64_t i = 0;
    for (int64_t k = 0; k < m->gaussian.d; k++) {
        const sn_margin *margin = &m->margin[k];
        if (!isnan(x[margin->feature])) continue;
        double variance = 0.0;
        const double mean = mean_of(m, &row, k, i++, &variance);
        x[margin->feature] = (float)sn_margin_expected(margin, mean, variance);
        if (margin->kind == SN_MARGIN_LEVELS) set_levels(schema, margin, -1, mean, variance, x);
    }
}

/* The next missing column of texts from score k on: its first score, and *end; d: there is none. Scores of a
   column are neighbours, and all missing or all there. */
static int64_t next_texts(const sn_imputer *m, const sn_schema *schema, const float *x, int64_t k,
                          int64_t *end)
{
    const int64_t d = m->gaussian.d;
    while (k < d && (m->margin[k].kind != SN_MARGIN_CATEGORY || !isnan(x[m->margin[k].feature]))) k++;
    *end = k;
    if (k == d) return k;
    int64_t input = 0;
    while (schema->input[input].first_feature + schema->input[input].features <= m->margin[k].feature)
        input++;
    const int64_t stop = schema->input[input].first_feature + schema->input[input].features;
    while (*end < d && m->margin[*end].feature < stop) ++*end;
    return k;
}

/* Draws one of the texts of a column, scores from .. end - 1, by their conditional means. */
static void draw_text(const sn_imputer *m, const sn_schema *schema, const sn_cell_draw *which, int64_t from,
                      int64_t end, float *x)
{
    conditional row;
    condition(m, x, &row);
    int64_t first = 0;
    for (int64_t k = 0; k < from; k++) first += isnan(x[m->margin[k].feature]);
    const double u = sn_normal_lower(
        sn_noise_normal(which->seed, SN_STREAM_CELLS, which->row, OF_TEXT, (uint32_t)from, which->draw, 0));
    double total = 0.0, sum = 0.0;
    int64_t chosen = end - 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = from; k < end; k++) {
            const int64_t f = m->margin[k].feature;
            const double scaled = sn_margin_value(&m->margin[k], mean_of(m, &row, k, first + k - from, NULL));
            const double share = fmax(scaled / schema->factor[f] + schema->centre[f], LEAST_SHARE);
            if (pass == 0) {
                total += share;
                continue;
            }
            sum += share;
            if (sum >= u * total) {
                chosen = k;
                break;
            }
        }
    }
    for (int64_t k = from; k < end; k++) {
        const int64_t f = m->margin[k].feature;
        x[f] = (float)(((k == chosen ? 1.0 : 0.0) - schema->centre[f]) * schema->factor[f]);
    }
}

/* A number from its score, with the indicators of its levels. */
static void put_score(const sn_imputer *m, const sn_schema *schema, int64_t k, double z, float *x)
{
    const sn_margin *margin = &m->margin[k];
    x[margin->feature] = (float)sn_margin_value(margin, z);
    if (margin->kind == SN_MARGIN_LEVELS) set_levels(schema, margin, sn_margin_level(margin, z), 0.0, 0.0, x);
}

/* The numbers, all together. */
static void draw_numbers(const sn_imputer *m, const sn_schema *schema, const sn_cell_draw *which, float *x)
{
    const sn_gaussian *g = &m->gaussian;
    const bool full = g->precision != NULL;
    conditional row;
    double drawn[SN_FULL_MOST] = {0};
    condition(m, x, &row);
    if (full) {
        for (int64_t i = 0; i < row.full.count; i++)
            drawn[i] = sn_noise_normal(which->seed, SN_STREAM_CELLS, which->row, OF_SCORE,
                                       (uint32_t)row.full.at[i], which->draw, 0);
        sn_full_draw(&row.full, drawn, drawn);
    } else {
        double e[SN_FACTORS_MOST];
        for (int64_t a = 0; a < g->factors; a++)
            e[a] = sn_noise_normal(which->seed, SN_STREAM_CELLS, which->row, OF_FACTOR, (uint32_t)a,
                                   which->draw, 0);
        sn_factor_draw(g, e, &row.factor);
    }
    if (full) {
        for (int64_t i = 0; i < row.full.count; i++) put_score(m, schema, row.full.at[i], drawn[i], x);
        return;
    }
    for (int64_t k = 0; k < g->d; k++) {
        if (!isnan(x[m->margin[k].feature])) continue;
        const double e =
            sn_noise_normal(which->seed, SN_STREAM_CELLS, which->row, OF_SCORE, (uint32_t)k, which->draw, 0);
        put_score(m, schema, k, sn_factor_mean(g, k, &row.factor) + sqrt(g->noise[k]) * e, x);
    }
}

static bool misses(const sn_imputer *m, const float *x)
{
    for (int64_t k = 0; k < m->gaussian.d; k++)
        if (isnan(x[m->margin[k].feature])) return true;
    return false;
}

void sn_imputer_fill(const sn_imputer *m, const sn_schema *schema, const sn_cell_draw *which, float *x)
{
    if (!misses(m, x)) return;
    if (which->draw == 0) {
        fill_expected(m, schema, x);
        return;
    }
    int64_t end, k = next_texts(m, schema, x, 0, &end);
    for (; k < m->gaussian.d; k = next_texts(m, schema, x, end, &end)) draw_text(m, schema, which, k, end, x);
    if (misses(m, x)) draw_numbers(m, schema, which, x);
}
