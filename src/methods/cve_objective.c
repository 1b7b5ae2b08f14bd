#include "methods/cve_objective.h"

#include <math.h>
#include <string.h>

#include "math/linalg.h"

stonet_status sn_cve_prepare(sn_cve *cve, sn_workspace *keep)
{
    SN_TRY(SN_TAKE(keep, cve->u, cve->n * cve->d));
    SN_TRY(SN_TAKE(keep, cve->mean, cve->n * cve->responses));
    SN_TRY(SN_TAKE(keep, cve->each, cve->n));
    SN_TRY(SN_TAKE(keep, cve->total, cve->n));
    SN_TRY(SN_TAKE(keep, cve->m, cve->n * cve->d));
    return STONET_OK;
}

static double square_distance(int64_t d, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t k = 0; k < d; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

static double kernel(const sn_cve *cve, double distance)
{
    const double ratio = distance / cve->h;
    return exp(-0.5 * ratio * ratio);
}

/* m_i, L_i and sum_j K_ij of one row. */
static void look_around(sn_cve *cve, int64_t i)
{
    const int64_t r = cve->responses;
    double *mean = cve->mean + i * r;
    double total = 0.0, square = 0.0;
    memset(mean, 0, (size_t)r * sizeof *mean);
    for (int64_t j = 0; j < cve->n; j++) {
        const double weight = kernel(cve, square_distance(cve->d, cve->u + i * cve->d, cve->u + j * cve->d));
        total += weight;
        for (int64_t k = 0; k < r; k++) {
            mean[k] += weight * cve->y[j * r + k];
            square += weight * cve->y[j * r + k] * cve->y[j * r + k];
        }
    }
    cve->total[i] = total; /* at least K_ii = 1 */
    cve->each[i] = square / total;
    for (int64_t k = 0; k < r; k++) {
        mean[k] /= total;
        cve->each[i] -= mean[k] * mean[k];
    }
}

/* (L_i - |y_j - m_i|^2) / sum_l K_il: S_ij without d_ij K_ij. */
static double pull(const sn_cve *cve, int64_t i, int64_t j)
{
    const int64_t r = cve->responses;
    return (cve->each[i] - square_distance(r, cve->y + j * r, cve->mean + i * r)) / cve->total[i];
}

/* M_i. */
static void sum_pulls(sn_cve *cve, int64_t i)
{
    const int64_t d = cve->d;
    const double *ui = cve->u + i * d;
    double *m = cve->m + i * d;
    memset(m, 0, (size_t)d * sizeof *m);
    for (int64_t j = 0; j < cve->n; j++) {
        const double *uj = cve->u + j * d;
        const double distance = square_distance(d, ui, uj);
        const double weight = distance * kernel(cve, distance);
        if (weight < 1e-300) continue;
        const double both = weight * (pull(cve, i, j) + pull(cve, j, i));
        for (int64_t k = 0; k < d; k++) m[k] += both * (ui[k] - uj[k]);
    }
}

double sn_cve_value(sn_cve *cve, const double *b, double *gradient)
{
    const int64_t n = cve->n;
    sn_gemm(false, false, n, cve->d, cve->rank, 1.0, cve->z, b, 0.0, cve->u);
#pragma omp parallel for num_threads(cve->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) look_around(cve, i);
    double value = 0.0;
    for (int64_t i = 0; i < n; i++) value += cve->each[i] / (double)n;
    if (gradient == NULL) return value;
#pragma omp parallel for num_threads(cve->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) sum_pulls(cve, i);
    sn_gemm(true, false, cve->rank, cve->d, n, 2.0 / ((double)n * cve->h * cve->h), cve->z, cve->m, 0.0,
            gradient);
    return value;
}
