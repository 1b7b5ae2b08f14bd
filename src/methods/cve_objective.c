#include "methods/cve_objective.h"

#include <string.h>

#include "base/clones.h"
#include "math/exponential.h"
#include "math/linalg.h"

enum { BLOCK = 256 }; /* rows whose kernels are computed at once: exponentials are most of the work */

stonet_status sn_cve_prepare(sn_cve *cve, sn_workspace *keep)
{
    SN_TRY(SN_TAKE_EACH(keep, cve->n * cve->d, &cve->u, &cve->column, &cve->m));
    SN_TRY(SN_TAKE_EACH(keep, cve->n * cve->responses, &cve->mean, &cve->target));
    SN_TRY(SN_TAKE_EACH(keep, cve->n, &cve->each, &cve->share));
    SN_TRY(SN_TAKE_ZERO(keep, cve->square, cve->n));
    sn_transpose(cve->n, cve->responses, cve->y, cve->target);
    for (int64_t k = 0; k < cve->responses; k++)
        for (int64_t i = 0; i < cve->n; i++)
            cve->square[i] += cve->y[i * cve->responses + k] * cve->y[i * cve->responses + k];
    return STONET_OK;
}

/* d_ij and -(d_ij / h)^2 / 2 of row i and rows first .. first + count - 1. */
SN_CLONES
static void measure(const sn_cve *cve, int64_t i, int64_t first, int64_t count, double *distance,
                    double *kernel)
{
    const double factor = -0.5 / (cve->h * cve->h);
    memset(distance, 0, (size_t)count * sizeof *distance);
    for (int64_t k = 0; k < cve->d; k++) {
        const double own = cve->u[i * cve->d + k], *other = cve->column + k * cve->n + first;
        for (int64_t j = 0; j < count; j++) distance[j] += (own - other[j]) * (own - other[j]);
    }
    for (int64_t j = 0; j < count; j++) kernel[j] = factor * distance[j] * distance[j];
}

/* m_i, L_i and 1 / sum_j K_ij of one row. */
static void look_around(sn_cve *cve, int64_t i)
{
    const int64_t r = cve->responses, n = cve->n;
    double *mean = cve->mean + i, total = 0.0, square = 0.0;
    for (int64_t k = 0; k < r; k++) mean[k * n] = 0.0;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t count = n - first < BLOCK ? n - first : BLOCK;
        double distance[BLOCK], weight[BLOCK];
        measure(cve, i, first, count, distance, weight);
        sn_exp_nonpositive(count, weight);
        for (int64_t j = 0; j < count; j++) total += weight[j];
        for (int64_t k = 0; k < r; k++) mean[k * n] += sn_dot(count, weight, cve->target + k * n + first);
        square += sn_dot(count, weight, cve->square + first);
    }
    cve->share[i] = 1.0 / total; /* which is at least K_ii = 1 */
    cve->each[i] = square / total;
    for (int64_t k = 0; k < r; k++) {
        mean[k * n] /= total;
        cve->each[i] -= mean[k * n] * mean[k * n];
    }
}

/* both_j = K_ij d_ij ((L_i - |y_j - m_i|^2) / sum_l K_il + (L_j - |y_i - m_j|^2) / sum_l K_jl) = S_ij + S_ji
   of rows j = first .. first + count - 1: how a pair of rows moves the objective by its distance. */
SN_CLONES
static void pull(const sn_cve *cve, int64_t i, int64_t first, int64_t count, const double *distance,
                 const double *kernel, double *both)
{
    const int64_t n = cve->n;
    double there[BLOCK], back[BLOCK];
    for (int64_t j = 0; j < count; j++) {
        there[j] = cve->each[i];
        back[j] = cve->each[first + j];
    }
    for (int64_t k = 0; k < cve->responses; k++) {
        const double *y = cve->target + k * n, *mean = cve->mean + k * n;
        for (int64_t j = 0; j < count; j++) {
            const double off = y[first + j] - mean[i], other = y[i] - mean[first + j];
            there[j] -= off * off;
            back[j] -= other * other;
        }
    }
    for (int64_t j = 0; j < count; j++)
        both[j] = distance[j] * kernel[j] * (there[j] * cve->share[i] + back[j] * cve->share[first + j]);
}

/* M_i = sum_j (S_ij + S_ji)(u_i - u_j). */
static void sum_pulls(sn_cve *cve, int64_t i)
{
    const int64_t d = cve->d, n = cve->n;
    double *m = cve->m + i * d, all = 0.0;
    memset(m, 0, (size_t)d * sizeof *m);
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t count = n - first < BLOCK ? n - first : BLOCK;
        double distance[BLOCK], kernel[BLOCK], both[BLOCK];
        measure(cve, i, first, count, distance, kernel);
        sn_exp_nonpositive(count, kernel);
        pull(cve, i, first, count, distance, kernel, both);
        for (int64_t j = 0; j < count; j++) all += both[j];
        for (int64_t k = 0; k < d; k++) m[k] -= sn_dot(count, both, cve->column + k * n + first);
    }
    for (int64_t k = 0; k < d; k++) m[k] += all * cve->u[i * d + k];
}

double sn_cve_value(sn_cve *cve, const double *b, double *gradient)
{
    const int64_t n = cve->n;
    sn_multiply(sn_as(cve->z, n, cve->rank), sn_as(b, cve->rank, cve->d), cve->u);
    sn_transpose(n, cve->d, cve->u, cve->column);
#pragma omp parallel for num_threads(cve->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) look_around(cve, i);
    double value = 0.0;
    for (int64_t i = 0; i < n; i++) value += cve->each[i] / (double)n;
    if (gradient == NULL) return value;
#pragma omp parallel for num_threads(cve->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) sum_pulls(cve, i);
    sn_gemm(2.0 / ((double)n * cve->h * cve->h), sn_turned(cve->z, n, cve->rank), sn_as(cve->m, n, cve->d),
            0.0, gradient);
    return value;
}
