#include "math/gaussian.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"

/* A pivot that rounding, or a damaged model file, took to 0 or below. */
static const double LEAST_PIVOT = 1e-10;

void sn_gaussian_free(sn_gaussian *gaussian)
{
    SN_FREE_ALL(gaussian->mean, gaussian->precision, gaussian->loadings, gaussian->noise, gaussian->all);
    *gaussian = (sn_gaussian){0};
}

stonet_status sn_gaussian_give(sn_gaussian *made, sn_gaussian *out)
{
    *out = *made;
    *made = (sn_gaussian){0};
    return STONET_OK;
}

stonet_status sn_gaussian_ready(sn_gaussian *g)
{
    if (g->precision != NULL) return STONET_OK;
    const int64_t k = g->factors;
    SN_TRY(SN_NEW(g->all, k * k));
    for (int64_t a = 0; a < k; a++) g->all[a * k + a] = 1.0;
    for (int64_t j = 0; j < g->d; j++)
        for (int64_t a = 0; a < k; a++)
            for (int64_t b = 0; b < k; b++)
                g->all[a * k + b] += g->loadings[j * k + a] * g->loadings[j * k + b] / g->noise[j];
    return STONET_OK;
}

/* Of the precision, a the first entries and b the others: W_aa - W_ab W_bb^-1 W_ba. */
static stonet_status first_precision(const sn_gaussian *g, int64_t d, double *out)
{
    const int64_t rest = g->d - d;
    SN_ARRAY(rest * rest, double, bb);
    SN_ARRAY(rest * d, double, ba);
    for (int64_t i = 0; i < rest; i++) {
        memcpy(bb + i * rest, g->precision + (d + i) * g->d + d, (size_t)rest * sizeof *bb);
        memcpy(ba + i * d, g->precision + (d + i) * g->d, (size_t)d * sizeof *ba);
    }
    SN_TRY(sn_solve_spd(rest, bb, d, ba));
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) {
            double sum = g->precision[i * g->d + j];
            for (int64_t k = 0; k < rest; k++) sum -= g->precision[i * g->d + d + k] * ba[k * d + j];
            out[i * d + j] = sum;
        }
    return STONET_OK;
}

stonet_status sn_gaussian_first(const sn_gaussian *g, int64_t d, sn_gaussian *out)
{
    SN_FREED_BY(sn_gaussian_free) sn_gaussian first = {.d = d, .factors = g->factors};
    SN_TRY(SN_NEW(first.mean, d));
    memcpy(first.mean, g->mean, (size_t)d * sizeof *first.mean);
    if (g->precision != NULL) {
        SN_TRY(SN_NEW(first.precision, d * d));
        SN_TRY(first_precision(g, d, first.precision));
    } else {
        SN_TRY(SN_NEW(first.loadings, d * g->factors));
        SN_TRY(SN_NEW(first.noise, d));
        memcpy(first.loadings, g->loadings, (size_t)(d * g->factors) * sizeof *first.loadings);
        memcpy(first.noise, g->noise, (size_t)d * sizeof *first.noise);
        SN_TRY(sn_gaussian_ready(&first));
    }
    return sn_gaussian_give(&first, out);
}

/* ---- packed triangles -------------------------------------------------------------------------- */

/* From the lower triangle of W (n x n) to C with C C' = W. */
static void factor(int64_t n, double *c)
{
    for (int64_t i = 0; i < n; i++) {
        double *row = c + i * (i + 1) / 2;
        for (int64_t j = 0; j <= i; j++) {
            const double *other = c + j * (j + 1) / 2;
            for (int64_t k = 0; k < j; k++) row[j] -= row[k] * other[k];
            row[j] = j < i ? row[j] / other[j] : sqrt(fmax(row[j], LEAST_PIVOT));
        }
    }
}

void sn_packed_forward(int64_t from, int64_t to, const double *c, double *b)
{
    for (int64_t i = from; i < to; i++) {
        const double *row = c + i * (i + 1) / 2;
        for (int64_t k = from; k < i; k++) b[i] -= row[k] * b[k];
        b[i] /= row[i];
    }
}

void sn_packed_backward(int64_t from, int64_t to, const double *c, double *b)
{
    for (int64_t i = to - 1; i >= from; i--) {
        const double *row = c + i * (i + 1) / 2;
        b[i] /= row[i];
        for (int64_t k = from; k < i; k++) b[k] -= row[k] * b[i];
    }
}

/* ---- any covariance ---------------------------------------------------------------------------- */

static void find_missing(const sn_gaussian *g, const double *z, const bool *early, sn_full_row *row)
{
    row->count = 0;
    for (int64_t j = 0; j < g->d; j++)
        if (isnan(z[j]) && !(early != NULL && early[j])) row->at[row->count++] = j;
    for (int64_t j = g->d - 1; j >= 0 && early != NULL; j--)
        if (isnan(z[j]) && early[j]) row->at[row->count++] = j;
}

void sn_full_condition(const sn_gaussian *g, const double *z, const bool *early, sn_full_row *row)
{
    double gap[SN_FULL_MOST];
    find_missing(g, z, early, row);
    for (int64_t j = 0; j < g->d; j++) gap[j] = isnan(z[j]) ? 0.0 : z[j] - g->mean[j];
    for (int64_t i = 0; i < row->count; i++) {
        const double *w = g->precision + row->at[i] * g->d;
        double sum = 0.0;
        for (int64_t j = 0; j < g->d; j++) sum -= w[j] * gap[j];
        row->mean[i] = sum;
        for (int64_t k = 0; k <= i; k++) row->factor[i * (i + 1) / 2 + k] = w[row->at[k]];
    }
    factor(row->count, row->factor);
    sn_packed_forward(0, row->count, row->factor, row->mean);
    sn_packed_backward(0, row->count, row->factor, row->mean);
    for (int64_t i = 0; i < row->count; i++) row->mean[i] += g->mean[row->at[i]];
}

double sn_full_variance(const sn_full_row *row, int64_t i)
{
    double unit[SN_FULL_MOST] = {0}, sum = 0.0;
    unit[i] = 1.0;
    sn_packed_forward(i, row->count, row->factor, unit);
    for (int64_t k = i; k < row->count; k++) sum += unit[k] * unit[k];
    return sum;
}

void sn_full_piece(const sn_full_row *row, int64_t from, int64_t to, const double *rest, const double *normal,
                   double *g)
{
    for (int64_t i = from; i < to; i++) g[i] = rest[i] + (normal != NULL ? normal[i] : 0.0);
    sn_packed_backward(from, to, row->factor, g);
}

void sn_full_settle(const sn_full_row *row, int64_t from, int64_t to, const double *g, double *rest)
{
    for (int64_t i = from; i < to; i++) {
        const double *c = row->factor + i * (i + 1) / 2;
        for (int64_t k = 0; k < from; k++) rest[k] -= c[k] * g[i];
    }
}

/* ---- factors ----------------------------------------------------------------------------------- */

void sn_factor_start(const sn_gaussian *g, sn_factor_row *row)
{
    for (int64_t a = 0, at = 0; a < g->factors; a++) {
        row->f[a] = 0.0;
        for (int64_t b = 0; b <= a; b++) row->precision[at++] = g->all[a * g->factors + b];
    }
}

void sn_factor_known(const sn_gaussian *g, int64_t entry, double z, sn_factor_row *row)
{
    const double *l = g->loadings + entry * g->factors;
    const double gap = (z - g->mean[entry]) / g->noise[entry];
    for (int64_t a = 0; a < g->factors; a++) row->f[a] += l[a] * gap;
}

void sn_factor_missing(const sn_gaussian *g, int64_t entry, sn_factor_row *row)
{
    const double *l = g->loadings + entry * g->factors;
    for (int64_t a = 0, at = 0; a < g->factors; a++)
        for (int64_t b = 0; b <= a; b++) row->precision[at++] -= l[a] * l[b] / g->noise[entry];
}

void sn_factor_solve(const sn_gaussian *g, sn_factor_row *row)
{
    factor(g->factors, row->precision);
    sn_packed_forward(0, g->factors, row->precision, row->f);
    sn_packed_backward(0, g->factors, row->precision, row->f);
}

void sn_factor_draw(const sn_gaussian *g, const double *normal, sn_factor_row *row)
{
    double e[SN_FACTORS_MOST];
    memcpy(e, normal, (size_t)g->factors * sizeof *e);
    sn_packed_backward(0, g->factors, row->precision, e);
    for (int64_t a = 0; a < g->factors; a++) row->f[a] += e[a];
}

double sn_factor_mean(const sn_gaussian *g, int64_t entry, const sn_factor_row *row)
{
    double sum = g->mean[entry];
    for (int64_t a = 0; a < g->factors; a++) sum += g->loadings[entry * g->factors + a] * row->f[a];
    return sum;
}

double sn_factor_variance(const sn_gaussian *g, int64_t entry, const sn_factor_row *row)
{
    double l[SN_FACTORS_MOST], sum = g->noise[entry];
    memcpy(l, g->loadings + entry * g->factors, (size_t)g->factors * sizeof *l);
    sn_packed_forward(0, g->factors, row->precision, l);
    for (int64_t a = 0; a < g->factors; a++) sum += l[a] * l[a];
    return sum;
}
