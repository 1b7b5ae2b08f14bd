#include "data/margin.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/smallest.h"
#include "stats/distributions.h"

/* A column as skewed or as heavy in the tails as this goes by its ranks. */
static const double MOST_SKEWNESS = 1.0, MOST_KURTOSIS = 6.0;

void sn_margin_free(sn_margin *margin)
{
    SN_FREE_ALL(margin->value, margin->score, margin->cut);
    *margin = (sn_margin){0};
}

static stonet_status room_for(int64_t count, sn_margin *margin)
{
    SN_TRY(SN_NEW(margin->value, count));
    SN_TRY(SN_NEW(margin->score, count));
    margin->count = count;
    return margin->kind == SN_MARGIN_LEVELS ? SN_NEW(margin->cut, count) : STONET_OK;
}

stonet_status sn_margin_plain(double centre, double scale, sn_margin *out)
{
    out->kind = SN_MARGIN_PLAIN;
    SN_TRY(room_for(2, out));
    out->value[0] = (float)centre;
    out->value[1] = (float)scale;
    return STONET_OK;
}

static double density(double z)
{
    return isinf(z) ? 0.0 : exp(-z * z / 2.0) / sqrt(2.0 * M_PI);
}

/* Levels from their shares of the rows. */
static void score_levels(const double *share, sn_margin *margin)
{
    double before = -(double)INFINITY, below = 0.0, square = 0.0;
    for (int64_t l = 0; l < margin->count; l++) {
        below += share[l];
        const bool last = l + 1 == margin->count;
        const double cut = last ? (double)INFINITY : sn_normal_quantile(below);
        margin->score[l] = (density(before) - density(cut)) / share[l];
        margin->cut[l] = last ? margin->cut[l > 0 ? l - 1 : 0] : cut; /* that of the last is not looked at */
        square += share[l] * margin->score[l] * margin->score[l];
        before = cut;
    }
    for (int64_t l = 0; l < margin->count; l++) margin->score[l] /= sqrt(square);
}

/* x sorted; `count` distinct values, those of `given` where there are some. */
static stonet_status fit_levels(const float *x, int64_t n, const float *given, int64_t count, sn_margin *out)
{
    out->kind = SN_MARGIN_LEVELS;
    SN_TRY(room_for(count, out));
    SN_ZEROS(count, double, share);
    int64_t l = -1;
    for (int64_t i = 0; i < n; i++) {
        if (given != NULL) {
            for (l = l < 0 ? 0 : l; l + 1 < count && x[i] > given[l]; l++) {
            }
        } else if (l < 0 || x[i] != out->value[l]) {
            out->value[++l] = x[i];
        }
        share[l] += 1.0;
    }
    double total = 0.0;
    for (l = 0; l < count; l++)
        total += share[l] = fmax(share[l], 0.5); /* a level of no row that was looked at */
    for (l = 0; l < count; l++) {
        share[l] /= total;
        if (given != NULL) out->value[l] = given[l];
    }
    score_levels(share, out);
    return STONET_OK;
}

/* Quantiles at equal steps and the two ends; of values that many rows share one. */
static stonet_status fit_scores(const float *x, int64_t n, sn_margin *out)
{
    out->kind = SN_MARGIN_SCORES;
    SN_TRY(room_for(SN_MARGIN_KNOTS, out));
    int64_t knots = 0;
    for (int64_t k = 0; k < SN_MARGIN_KNOTS; k++) {
        const int64_t at = k * (n - 1) / (SN_MARGIN_KNOTS - 1);
        if (knots > 0 && !(x[at] > out->value[knots - 1])) continue;
        out->value[knots] = x[at];
        out->score[knots++] = sn_normal_quantile(((double)at + 0.5) / (double)n);
    }
    out->count = knots;
    return STONET_OK;
}

/* Few distinct values: levels. Skewness and kurtosis near those of a normal law: mean and sd. Else normal
   scores. */
stonet_status sn_margin_fit(float *x, int64_t n, const float *given, int64_t n_given, sn_margin *out)
{
    qsort(x, (size_t)n, sizeof *x, sn_by_float);
    if (given != NULL) return fit_levels(x, n, given, n_given, out);
    int64_t distinct = 1;
    double mean = 0.0, m2 = 0.0, m3 = 0.0, m4 = 0.0;
    for (int64_t i = 0; i < n; i++) mean += (double)x[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double gap = (double)x[i] - mean, square = gap * gap;
        distinct += i > 0 && x[i] != x[i - 1];
        m2 += square / (double)n;
        m3 += square * gap / (double)n;
        m4 += square * square / (double)n;
    }
    if (distinct <= SN_MARGIN_LEVELS_MOST) return fit_levels(x, n, NULL, distinct, out);
    if (fabs(m3) <= MOST_SKEWNESS * m2 * sqrt(m2) && m4 <= MOST_KURTOSIS * m2 * m2)
        return sn_margin_plain(mean, sqrt(m2), out);
    return fit_scores(x, n, out);
}

/* ---- there and back ---------------------------------------------------------------------------- */

/* The last knot at or before x, at most the last but one: 0 .. count - 2. */
static int64_t knot_before(const sn_margin *margin, double x)
{
    int64_t low = 0, high = margin->count - 1;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if ((double)margin->value[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double sn_margin_score(const sn_margin *margin, float x)
{
    if (margin->kind == SN_MARGIN_PLAIN || margin->kind == SN_MARGIN_CATEGORY)
        return ((double)x - (double)margin->value[0]) / (double)margin->value[1];
    if (margin->count < 2) return margin->score[0];
    const int64_t k = knot_before(margin, (double)x);
    const double a = (double)margin->value[k], b = (double)margin->value[k + 1];
    const double part = fmin(fmax(((double)x - a) / (b - a), 0.0), 1.0);
    return margin->score[k] + part * (margin->score[k + 1] - margin->score[k]);
}

int64_t sn_margin_level(const sn_margin *margin, double z)
{
    int64_t l = 0;
    while (l + 1 < margin->count && z > margin->cut[l]) l++;
    return l;
}

double sn_margin_value(const sn_margin *margin, double z)
{
    if (margin->kind == SN_MARGIN_PLAIN || margin->kind == SN_MARGIN_CATEGORY)
        return (double)margin->value[0] + (double)margin->value[1] * z;
    if (margin->kind == SN_MARGIN_LEVELS) return (double)margin->value[sn_margin_level(margin, z)];
    int64_t k = 0;
    while (k + 2 < margin->count && margin->score[k + 1] <= z) k++;
    if (margin->count < 2) return (double)margin->value[0];
    const double part =
        fmin(fmax((z - margin->score[k]) / (margin->score[k + 1] - margin->score[k]), 0.0), 1.0);
    return (double)margin->value[k] + part * ((double)margin->value[k + 1] - (double)margin->value[k]);
}

double sn_margin_share(const sn_margin *margin, int64_t level, double mean, double variance)
{
    const double sd = sqrt(fmax(variance, 1e-12));
    const double below = level == 0 ? 0.0 : sn_normal_lower((margin->cut[level - 1] - mean) / sd);
    const double up_to = level + 1 == margin->count ? 1.0 : sn_normal_lower((margin->cut[level] - mean) / sd);
    return fmax(up_to - below, 0.0);
}

double sn_margin_expected(const sn_margin *margin, double mean, double variance)
{
    /* Gauss-Hermite, five points: nodes in standard deviations, and their weights. */
    static const double node[] = {0.0, 1.3556261799742659, 2.8569700138728056},
                        weight[] = {8.0 / 15.0, 0.22207592200561266, 0.011257411327720691};
    if (margin->kind == SN_MARGIN_LEVELS) {
        double sum = 0.0;
        for (int64_t l = 0; l < margin->count; l++)
            sum += (double)margin->value[l] * sn_margin_share(margin, l, mean, variance);
        return sum;
    }
    if (margin->kind != SN_MARGIN_SCORES) return sn_margin_value(margin, mean);
    const double sd = sqrt(fmax(variance, 0.0));
    double sum = weight[0] * sn_margin_value(margin, mean);
    for (int k = 1; k < 3; k++)
        sum += weight[k] *
               (sn_margin_value(margin, mean + sd * node[k]) + sn_margin_value(margin, mean - sd * node[k]));
    return sum;
}
