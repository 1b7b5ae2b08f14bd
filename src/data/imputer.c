#include "data/imputer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
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
    SN_FREE_ALL(imputer->margin, imputer->centre, imputer->inverse);
    sn_gaussian_free(&imputer->gaussian);
    sn_imputer_forget_response(imputer);
    sn_free(imputer);
}

const float *sn_imputer_response(const sn_imputer *imputer, int64_t row)
{
    const int64_t scores = imputer->with_response.d - imputer->gaussian.d;
    return imputer->response != NULL ? imputer->response + row * scores : NULL;
}

void sn_imputer_forget_response(sn_imputer *imputer)
{
    if (imputer == NULL) return;
    sn_gaussian_free(&imputer->with_response);
    SN_FREE(imputer->response);
}

bool sn_imputer_is_plain(const sn_imputer *imputer, int64_t feature)
{
    for (int64_t k = 0; k < imputer->gaussian.d; k++)
        if (imputer->margin[k].feature == feature) return imputer->margin[k].kind == SN_MARGIN_PLAIN;
    return true; /* it does not vary, and has one value for all */
}

/* By which law: that of the features, or with the response of the row behind them. */
typedef struct law {
    const sn_imputer *m;
    const sn_gaussian *g;
    const float *response;
} law;

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

/* The score of entry k of a row: of a feature, NaN where it is missing, or of the response. */
static double entry_of(const law *by, int64_t k, const float *x)
{
    const int64_t d = by->m->gaussian.d;
    return k < d ? score_of(by->m, k, x[by->m->margin[k].feature]) : (double)by->response[k - d];
}

/* early: as for sn_full_condition. */
static void condition_full(const law *by, const float *x, const bool *early, sn_full_row *row)
{
    double z[SN_FULL_MOST];
    for (int64_t k = 0; k < by->g->d; k++) z[k] = entry_of(by, k, x);
    sn_full_condition(by->g, z, early, row);
}

static void condition_factors(const law *by, const float *x, sn_factor_row *row)
{
    const sn_gaussian *g = by->g;
    sn_factor_start(g, row);
    for (int64_t k = 0; k < g->d; k++) {
        const double z = entry_of(by, k, x);
        if (isnan(z))
            sn_factor_missing(g, k, row);
        else
            sn_factor_known(g, k, z, row);
    }
    sn_factor_solve(g, row);
}

/* Conditional mean (and variance, where it counts) of missing score k, the i-th of the row. */
static double mean_of(const law *by, const conditional *row, int64_t k, int64_t i, double *variance)
{
    const sn_gaussian *g = by->g;
    const bool full = g->precision != NULL;
    const sn_margin_kind kind = by->m->margin[k].kind;
    if (kind == SN_MARGIN_LEVELS || kind == SN_MARGIN_SCORES)
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
static void fill_expected(const law *by, const sn_schema *schema, float *x)
{
    const sn_imputer *m = by->m;
    conditional row;
    if (by->g->precision != NULL)
        condition_full(by, x, NULL, &row.full);
    else
        condition_factors(by, x, &row.factor);
    int64_t i = 0;
    for (int64_t k = 0; k < m->gaussian.d; k++) {
        const sn_margin *margin = &m->margin[k];
        if (!isnan(x[margin->feature])) continue;
        double variance = 0.0;
        const double mean = mean_of(by, &row, k, i++, &variance);
        x[margin->feature] = (float)sn_margin_expected(margin, mean, variance);
        if (margin->kind == SN_MARGIN_LEVELS) set_levels(schema, margin, -1, mean, variance, x);
    }
}

/* Where the scores of the column of texts end that score k belongs to. Those of a column are neighbours, and
   all missing or all there. */
static int64_t end_of_texts(const sn_imputer *m, const sn_schema *schema, int64_t k)
{
    int64_t input = 0, end = k;
    while (schema->input[input].first_feature + schema->input[input].features <= m->margin[k].feature)
        input++;
    const int64_t stop = schema->input[input].first_feature + schema->input[input].features;
    while (end < m->gaussian.d && m->margin[end].feature < stop) end++;
    return end;
}

/* The texts of a column, scores from .. end - 1, and their conditional means: `mean` (end - from), or of the
   factors where that is NULL. */
typedef struct texts {
    int64_t from, end;
    const double *mean;
    const sn_factor_row *factors;
} texts;

/* Draws one of them. */
static void draw_text(const law *by, const sn_schema *schema, const sn_cell_draw *which, texts of, float *x)
{
    const sn_imputer *m = by->m;
    const int64_t from = of.from, end = of.end;
    const double u = sn_normal_lower(
        sn_noise_normal(which->seed, SN_STREAM_CELLS, which->row, OF_TEXT, (uint32_t)from, which->draw, 0));
    double total = 0.0, sum = 0.0;
    int64_t chosen = end - 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = from; k < end; k++) {
            const int64_t f = m->margin[k].feature;
            const double score = of.mean != NULL ? of.mean[k - from] : sn_factor_mean(by->g, k, of.factors);
            const double scaled = sn_margin_value(&m->margin[k], score);
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

/* The entries of a row that are the texts of one column, the last of those before `to`: the first of them.
   They are in descending order. */
static int64_t texts_before(const sn_imputer *m, const sn_schema *schema, const sn_full_row *row, int64_t to)
{
    const int64_t first = row->at[to - 1], end = end_of_texts(m, schema, first);
    int64_t from = to;
    while (from > 0 && row->at[from - 1] == first + to - from && row->at[from - 1] < end) from--;
    return from;
}

/* Texts from the first column to the last, then the numbers all together: the pieces of the row from its last
   entry to its first. One factor serves them all. */
static void draw_full(const law *by, const sn_schema *schema, const sn_cell_draw *which, float *x)
{
    const sn_imputer *m = by->m;
    bool early[SN_FULL_MOST] = {false};
    double rest[SN_FULL_MOST] = {0}, gap[SN_FULL_MOST] = {0}, piece[SN_FULL_MOST] = {0};
    sn_full_row row;
    for (int64_t k = 0; k < m->gaussian.d; k++) early[k] = m->margin[k].kind == SN_MARGIN_CATEGORY;
    condition_full(by, x, early, &row);
    int64_t to = row.count;
    for (int64_t from; to > 0 && early[row.at[to - 1]]; to = from) {
        from = texts_before(m, schema, &row, to);
        sn_full_piece(&row, from, to, rest, NULL, gap);
        for (int64_t i = from; i < to; i++) piece[to - 1 - i] = row.mean[i] + gap[i];
        draw_text(by, schema, which, (texts){row.at[to - 1], row.at[from] + 1, piece, NULL}, x);
        for (int64_t i = from; i < to; i++)
            gap[i] = score_of(m, row.at[i], x[m->margin[row.at[i]].feature]) - row.mean[i];
        sn_full_settle(&row, from, to, gap, rest);
    }
    for (int64_t i = 0; i < to; i++)
        piece[i] = sn_noise_normal(which->seed, SN_STREAM_CELLS, which->row, OF_SCORE, (uint32_t)row.at[i],
                                   which->draw, 0);
    sn_full_piece(&row, 0, to, rest, piece, gap);
    for (int64_t i = 0; i < to; i++) put_score(m, schema, row.at[i], row.mean[i] + gap[i], x);
}

/* The same by factors, which are solved for anew after every column of texts. */
static void draw_factors(const law *by, const sn_schema *schema, const sn_cell_draw *which, float *x)
{
    const sn_imputer *m = by->m;
    const sn_gaussian *g = by->g;
    sn_factor_row row;
    double e[SN_FACTORS_MOST];
    for (int64_t k = 0, end; k < m->gaussian.d; k = end) {
        end = k + 1;
        if (m->margin[k].kind != SN_MARGIN_CATEGORY || !isnan(x[m->margin[k].feature])) continue;
        end = end_of_texts(m, schema, k);
        condition_factors(by, x, &row);
        draw_text(by, schema, which, (texts){k, end, NULL, &row}, x);
    }
    condition_factors(by, x, &row);
    for (int64_t a = 0; a < g->factors; a++)
        e[a] =
            sn_noise_normal(which->seed, SN_STREAM_CELLS, which->row, OF_FACTOR, (uint32_t)a, which->draw, 0);
    sn_factor_draw(g, e, &row);
    for (int64_t k = 0; k < m->gaussian.d; k++) {
        if (!isnan(x[m->margin[k].feature])) continue;
        const double noise =
            sn_noise_normal(which->seed, SN_STREAM_CELLS, which->row, OF_SCORE, (uint32_t)k, which->draw, 0);
        put_score(m, schema, k, sn_factor_mean(g, k, &row) + sqrt(g->noise[k]) * noise, x);
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
    const bool given = which->response != NULL;
    const law by = {m, given ? &m->with_response : &m->gaussian, which->response};
    if (which->draw == 0)
        fill_expected(&by, schema, x);
    else if (by.g->precision != NULL)
        draw_full(&by, schema, which, x);
    else
        draw_factors(&by, schema, which, x);
}
