#include "math/gaussian.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/linalg.h"

/* A pivot that rounding, or a damaged model file, took to 0 or below. */
static const double LEAST_PIVOT = 1e-10;

void sn_gaussian_free(sn_gaussian *gaussian)
{
    SN_FREE_ALL(gaussian->mean, gaussian->precision, gaussian->loadings, gaussian->noise, gaussian->all);
    *gaussian = (sn_gaussian){0};
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
    SN_WORKSPACE(scratch);
    double *bb = NULL, *ba = NULL;
    SN_TRY(SN_TAKE(&scratch, bb, rest * rest));
    SN_TRY(SN_TAKE(&scratch, ba, rest * d));
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
    *out = (sn_gaussian){.d = d, .factors = g->factors};
    const bool full = g->precision != NULL;
    stonet_status status = SN_NEW(out->mean, d);
    if (status == STONET_OK) memcpy(out->mean, g->mean, (size_t)d * sizeof *out->mean);
    if (status == STONET_OK && full) status = SN_NEW(out->precision, d * d);
    if (status == STONET_OK && full) status = first_precision(g, d, out->precision);
    if (status == STONET_OK && !full) status = SN_NEW(out->loadings, d * g->factors);
    if (status == STONET_OK && !full) status = SN_NEW(out->noise, d);
    if (status == STONET_OK && !full) {
        memcpy(out->loadings, g->loadings, (size_t)(d * g->factors) * sizeof *out->loadings);
        memcpy(out->noise, g->noise, (size_t)d * sizeof *out->noise);
        status = sn_gaussian_ready(out);
    }
    if (status != STONET_OK) sn_gaussian_free(out);
    return status;
}

/* ---- any covariance ---------------------------------------------------------------------------- */

/* C C' = W_uu, packed by rows. */
static void factor_of(const sn_gaussian *g, sn_full_row *row)
{
    for (int64_t i = 0; i < row->count; i++) {
        double *c = row->factor + i * (i + 1) / 2;
        for (int64_t j = 0; j <= i; j++) {
            const double *other = row->factor + j * (j + 1) / 2;
            double sum = g->precision[row->at[i] * g->d + row->at[j]];
            for (int64_t k = 0; k < j; k++) sum -= c[k] * other[k];
            c[j] = j < i ? sum / other[j] : sqrt(fmax(sum, LEAST_PIVOT));
        }
    }
}

static void solve_forward(const sn_full_row *row, double *b)
{
    for (int64_t i = 0; i < row->count; i++) {
        const double *c = row->factor + i * (i + 1) / 2;
        for (int64_t k = 0; k < i; k++) b[i] -= c[k] * b[k];
        b[i] /= c[i];
    }
}

static void solve_backward(const sn_full_row *row, double *b)
{
    for (int64_t i = row->count - 1; i >= 0; i--) {
        const double *c = row->factor + i * (i + 1) / 2;
        b[i] /= c[i];
        for (int64_t k = 0; k < i; k++) b[k] -= c[k] * b[i];
    }
}

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
    }
    factor_of(g, row);
    solve_forward(row, row->mean);
    solve_backward(row, row->mean);
    for (int64_t i = 0; i < row->count; i++) row->mean[i] += g->mean[row->at[i]];
}

double sn_full_variance(const sn_full_row *row, int64_t i)
{
    double unit[SN_FULL_MOST] = {0}, sum = 0.0;
    unit[i] = 1.0;
    solve_forward(row, unit);
    for (int64_t k = i; k < row->count; k++) sum += unit[k] * unit[k];
    return sum;
}

void sn_full_draw(const sn_full_row *row, const double *normal, double *entry)
{
    if (entry != normal) memcpy(entry, normal, (size_t)row->count * sizeof *entry);
    solve_backward(row, entry);
    for (int64_t i = 0; i < row->count; i++) entry[i] += row->mean[i];
}

void sn_full_piece(const sn_full_row *row, int64_t from, int64_t to, const double *rest, const double *normal,
                   double *g)
{
    for (int64_t i = from; i < to; i++) g[i] = rest[i] + (normal != NULL ? normal[i] : 0.0);
    for (int64_t i = to - 1; i >= from; i--) {
        const double *c = row->factor + i * (i + 1) / 2;
        g[i] /= c[i];
        for (int64_t k = from; k < i; k++) g[k] -= c[k] * g[i];
    }
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
    memcpy(row->precision, g->all, (size_t)(g->factors * g->factors) * sizeof *g->all);
    for (int64_t a = 0; a < g->factors; a++) row->f[a] = 0.0;
}

void sn_factor_known(const sn_gaussian *g, int64_t entry, double z, sn_factor_row *row)
{
    const double *l = g->loadings + entry * g->factors;
    const double gap = (z - g->mean[entry]) / g->noise[entry];
    for (int64_t a = 0; a < g->factors; a++) row->f[a] += l[a] * gap;
}

void sn_factor_missing(const sn_gaussian *g, int64_t entry, sn_factor_row *row)
{
    const int64_t k = g->factors;
    const double *l = g->loadings + entry * k;
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = 0; b <= a; b++) row->precision[a * k + b] -= l[a] * l[b] / g->noise[entry];
}

/* C y = b, of the lower triangle. */
static void lower_solve(int64_t k, const double *c, double *b)
{
    for (int64_t i = 0; i < k; i++) {
        for (int64_t j = 0; j < i; j++) b[i] -= c[i * k + j] * b[j];
        b[i] /= c[i * k + i];
    }
}

/* C' y = b. */
static void upper_solve(int64_t k, const double *c, double *b)
{
    for (int64_t i = k - 1; i >= 0; i--) {
        b[i] /= c[i * k + i];
        for (int64_t j = 0; j < i; j++) b[j] -= c[i * k + j] * b[i];
    }
}

void sn_factor_solve(const sn_gaussian *g, sn_factor_row *row)
{
    const int64_t k = g->factors;
    double *c = row->precision;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = c[i * k + j];
            for (int64_t m = 0; m < j; m++) sum -= c[i * k + m] * c[j * k + m];
            c[i * k + j] = j < i ? sum / c[j * k + j] : sqrt(fmax(sum, LEAST_PIVOT));
        }
    lower_solve(k, c, row->f);
    upper_solve(k, c, row->f);
}

void sn_factor_draw(const sn_gaussian *g, const double *normal, sn_factor_row *row)
{
    double e[SN_FACTORS_MOST];
    memcpy(e, normal, (size_t)g->factors * sizeof *e);
    upper_solve(g->factors, row->precision, e);
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
    lower_solve(g->factors, row->precision, l);
    for (int64_t a = 0; a < g->factors; a++) sum += l[a] * l[a];
    return sum;
}
