#include "methods/whitening.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"

/* Means as deviations from the first row, so that a constant column has deviations of exactly 0. */
static void column_means(const float *x, int64_t n, int64_t p, double *mean)
{
    memset(mean, 0, (size_t)p * sizeof *mean);
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < p; j++) mean[j] += (double)x[i * p + j] - (double)x[j];
    for (int64_t j = 0; j < p; j++) mean[j] = (double)x[j] + mean[j] / (double)n;
}

static void column_deviations(const float *x, int64_t n, int64_t p, const double *mean, double *deviation)
{
    memset(deviation, 0, (size_t)p * sizeof *deviation);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < p; j++) {
            double d = (double)x[i * p + j] - mean[j];
            deviation[j] += d * d;
        }
    }
    for (int64_t j = 0; j < p; j++) deviation[j] = sqrt(deviation[j] / (double)n);
}

/*
 * The triangle R of the scaled centred data, R'R = X'X, taken block by block: new rows go below the R so far
 * and a QR decomposition folds them in. As accurate as a QR of all rows, with memory for a few times p x p
 * only. *rows is min(n, p), the rows of R in *out.
 */
static stonet_status data_triangle(const float *x, int64_t n, int64_t p, const double *mean,
                                   const double *scale, double **out, int64_t *rows)
{
    int64_t capacity = 5 * p < p + 256 ? p + 256 : 5 * p;
    if (capacity > n) capacity = n;
    int64_t order = n < p ? n : p;
    /* the rows themselves, the singular vectors, and about as much again inside the decompositions */
    double cells = (double)capacity * (double)p + 3.0 * (double)order * (double)p;
    SN_TRY(sn_memory_require((uint64_t)(8.0 * cells), "the singular value decomposition of x",
                             "use fewer columns or fewer rows"));
    double *r = NULL;
    SN_TRY(SN_NEW_RAW(r, capacity * p));
    int64_t filled = 0;
    for (int64_t first = 0; first < n;) {
        int64_t count = n - first < capacity - filled ? n - first : capacity - filled;
        double *block = r + filled * p;
        sn_centred_rows(x, p, mean, NULL, first, count, block);
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < p; j++)
                block[i * p + j] = scale[j] > 0.0 ? block[i * p + j] / scale[j] : 0.0;
        stonet_status status = sn_qr_triangle(filled + count, p, r);
        if (status != STONET_OK) {
            sn_free(r);
            return status;
        }
        filled = filled + count < p ? filled + count : p;
        first += count;
    }
    *out = r;
    *rows = filled;
    return STONET_OK;
}

/* Columns that depend on each other in exact arithmetic do so only up to float rounding in x; with columns of
   equal size that rounding is at most a few FLT_EPSILON of the largest singular value, and is not a
   direction. */
static double rank_tolerance(int64_t n, int64_t p, bool standardise)
{
    double tolerance = DBL_EPSILON * (double)(n > p ? n : p);
    return standardise ? fmax(tolerance, 4.0 * (double)FLT_EPSILON) : tolerance;
}

stonet_status sn_spectrum_fit(const float *x, int64_t n, int64_t p, bool standardise, sn_spectrum *out)
{
    *out = (sn_spectrum){.n = n, .p = p};
    double *r = NULL, *vt = NULL;
    int64_t rows = 0;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(out->mean, p), done);
    SN_GOTO(status, SN_NEW_RAW(out->scale, p), done);
    column_means(x, n, p, out->mean);
    if (standardise)
        column_deviations(x, n, p, out->mean, out->scale);
    else
        for (int64_t j = 0; j < p; j++) out->scale[j] = 1.0;

    SN_GOTO(status, data_triangle(x, n, p, out->mean, out->scale, &r, &rows), done);
    SN_GOTO(status, SN_NEW_RAW(vt, rows * p), done);
    SN_GOTO(status, SN_NEW_RAW(out->s, rows), done);
    SN_GOTO(status, sn_svd(rows, p, r, NULL, out->s, vt), done);
    double tolerance = rank_tolerance(n, p, standardise) * out->s[0];
    while (out->rank < rows && out->s[out->rank] > tolerance) out->rank++;
    SN_GOTO(status, SN_NEW_RAW(out->v, p * out->rank), done);
    for (int64_t j = 0; j < p; j++)
        for (int64_t k = 0; k < out->rank; k++) out->v[j * out->rank + k] = vt[k * p + j];
done:
    sn_free(r);
    sn_free(vt);
    if (status != STONET_OK) sn_spectrum_clear(out);
    return status;
}

void sn_spectrum_clear(sn_spectrum *spectrum)
{
    sn_free(spectrum->mean);
    sn_free(spectrum->scale);
    sn_free(spectrum->s);
    sn_free(spectrum->v);
    *spectrum = (sn_spectrum){0};
}

stonet_status sn_whitening_fit(const float *x, int64_t n, int64_t p, double ridge, int64_t most,
                               sn_whitening *out)
{
    *out = (sn_whitening){0};
    sn_spectrum spectrum;
    SN_TRY(sn_spectrum_fit(x, n, p, true, &spectrum));
    stonet_status status;
    int64_t rank = most > 0 && most < spectrum.rank ? most : spectrum.rank;
    if (rank == 0) {
        status = sn_fail(STONET_ERROR_DATA,
                         "every column of x is constant over the %lld row%s, so no direction can "
                         "be found; use more rows",
                         (long long)n, n == 1 ? "" : "s");
        goto done;
    }
    *out = (sn_whitening){.n = n, .p = p, .rank = rank};
    SN_GOTO(status, SN_NEW_RAW(out->back, p * rank), done);
    for (int64_t j = 0; j < p; j++) {
        for (int64_t k = 0; k < rank; k++) {
            double variance = spectrum.s[k] * spectrum.s[k] / (double)n;
            out->back[j * rank + k] =
                spectrum.scale[j] > 0.0
                    ? spectrum.v[j * spectrum.rank + k] / (spectrum.scale[j] * sqrt(variance + ridge))
                    : 0.0;
        }
    }
    out->mean = spectrum.mean;
    spectrum.mean = NULL;
done:
    sn_spectrum_clear(&spectrum);
    return status;
}

void sn_whitening_clear(sn_whitening *whitening)
{
    sn_free(whitening->mean);
    sn_free(whitening->back);
    *whitening = (sn_whitening){0};
}

void sn_whiten_rows(const sn_whitening *whitening, const float *x, const int64_t *row, int64_t first,
                    int64_t count, double *centred, double *z)
{
    sn_centred_rows(x, whitening->p, whitening->mean, row, first, count, centred);
    sn_gemm(false, false, count, whitening->rank, whitening->p, 1.0, centred, whitening->back, 0.0, z);
}

stonet_status sn_whitened_map(const sn_whitening *whitening, int64_t dim, int64_t columns, const double *v,
                              int64_t n_values, const double *value, sn_linear_map **out)
{
    int64_t p = whitening->p, rank = whitening->rank;
    double *leading = NULL, *direction = NULL;
    sn_linear_map *map = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(leading, rank * dim), done);
    SN_GOTO(status, SN_NEW_RAW(direction, p * dim), done);
    for (int64_t i = 0; i < rank; i++)
        for (int64_t k = 0; k < dim; k++) leading[i * dim + k] = v[i * columns + k];
    sn_gemm(false, false, p, dim, rank, 1.0, whitening->back, leading, 0.0, direction);
    sn_fix_signs(p, dim, direction);
    SN_GOTO(status, sn_linear_map_create(p, dim, whitening->mean, direction, &map), done);
    SN_GOTO(status, sn_linear_map_set_values(map, n_values, value), done);
    *out = map;
    map = NULL;
done:
    sn_linear_map_free(map);
    sn_free(leading);
    sn_free(direction);
    return status;
}
