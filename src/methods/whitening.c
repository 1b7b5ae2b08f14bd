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

/* Rows first.. of x, centred and divided by the scale; constant columns become 0. */
static void scaled_rows(const float *x, int64_t p, const double *mean, const double *scale, int64_t first,
                        int64_t count, double *out)
{
    sn_centred_rows(x, p, mean, NULL, first, count, out);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < p; j++) out[i * p + j] = scale[j] > 0.0 ? out[i * p + j] / scale[j] : 0.0;
}

/* n >= p: the eigenvectors of X'X (p x p), summed over blocks of rows. s p, v p x p. */
static stonet_status tall_spectrum(const float *x, const sn_spectrum *of, double *s, double *v)
{
    int64_t n = of->n, p = of->p, block = sn_block_rows(n, p);
    double *gram = NULL, *rows = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW(gram, p * p), done);
    SN_GOTO(status, SN_NEW_RAW(rows, block * p), done);
    for (int64_t first = 0; first < n; first += block) {
        int64_t count = n - first < block ? n - first : block;
        scaled_rows(x, p, of->mean, of->scale, first, count, rows);
        sn_syrk_tn(p, count, 1.0, rows, 1.0, gram);
    }
    SN_GOTO(status, sn_eigh(p, gram, s, v), done);
    for (int64_t k = 0; k < p; k++) s[k] = s[k] > 0.0 ? sqrt(s[k]) : 0.0;
done:
    sn_free(gram);
    sn_free(rows);
    return status;
}

/* n < p: the thin SVD of the rows. s n, v p x n. */
static stonet_status wide_spectrum(const float *x, const sn_spectrum *of, double *s, double *v)
{
    int64_t n = of->n, p = of->p;
    double *rows = NULL, *vt = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(rows, n * p), done);
    SN_GOTO(status, SN_NEW_RAW(vt, n * p), done);
    scaled_rows(x, p, of->mean, of->scale, 0, n, rows);
    SN_GOTO(status, sn_svd(n, p, rows, NULL, s, vt), done);
    sn_transpose(n, p, vt, v);
done:
    sn_free(rows);
    sn_free(vt);
    return status;
}

/* Columns that depend on each other in exact arithmetic do so only up to float rounding in x, which is at
   most a few FLT_EPSILON of the largest singular value when the columns are of one size; and eigenvalues of
   X'X are known to DBL_EPSILON p of the largest. What is smaller is not a direction. */
static double rank_tolerance(int64_t p)
{
    return fmax(4.0 * (double)FLT_EPSILON, sqrt(DBL_EPSILON * (double)p));
}

stonet_status sn_spectrum_fit(const float *x, int64_t n, int64_t p, bool standardise, sn_spectrum *out)
{
    *out = (sn_spectrum){.n = n, .p = p};
    int64_t count = n < p ? n : p;
    /* X'X or the rows, the vectors, and about twice as much inside the decomposition */
    SN_TRY(sn_memory_require((uint64_t)(32.0 * (double)count * (double)p),
                             "the singular value decomposition of x", "use fewer columns or fewer rows"));
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(out->mean, p), failed);
    SN_GOTO(status, SN_NEW_RAW(out->scale, p), failed);
    SN_GOTO(status, SN_NEW_RAW(out->s, count), failed);
    SN_GOTO(status, SN_NEW_RAW(out->v, p * count), failed);
    column_means(x, n, p, out->mean);
    if (standardise)
        column_deviations(x, n, p, out->mean, out->scale);
    else
        for (int64_t j = 0; j < p; j++) out->scale[j] = 1.0;

    SN_GOTO(status, n < p ? wide_spectrum(x, out, out->s, out->v) : tall_spectrum(x, out, out->s, out->v),
            failed);
    while (out->rank < count && out->s[out->rank] > rank_tolerance(p) * out->s[0]) out->rank++;
    sn_first_columns(p, count, out->v, out->rank, out->v);
    return STONET_OK;
failed:
    sn_spectrum_clear(out);
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

stonet_status sn_whitened_result(const sn_whitening *whitening, int64_t dim, int64_t columns, const double *v,
                                 int64_t n_values, double *value, sn_tests *tests, sn_fit_result *result)
{
    int64_t p = whitening->p, rank = whitening->rank;
    sn_linear_map map = {.p = p, .dim = dim, .centre = whitening->mean, .n_values = n_values, .value = value};
    if (tests != NULL) {
        map.n_tests = tests->count;
        map.test = tests->test;
    }
    double *leading = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(leading, rank * dim), done);
    SN_GOTO(status, SN_NEW_RAW(map.direction, p * dim), done);
    sn_first_columns(rank, columns, v, dim, leading);
    sn_gemm(false, false, p, dim, rank, 1.0, whitening->back, leading, 0.0, map.direction);
    status = sn_linear_map_result(&map, result);
done:
    sn_free(leading);
    sn_free(map.direction);
    return status;
}
