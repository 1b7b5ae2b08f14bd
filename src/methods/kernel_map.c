#include "methods/kernel_map.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"

enum { TRANSFORM_ROWS = 1024 };

/* A map with its arrays, the offset 0 and nothing else filled in. */
static stonet_status allocate(int64_t m, int64_t p, int64_t d, double gamma, sn_kernel_map **out)
{
    SN_AUTO(sn_kernel_map) *map = NULL;
    SN_TRY(SN_NEW(map, 1));
    *map = (sn_kernel_map){.m = m, .p = p, .d = d, .gamma = gamma};
    SN_TRY(SN_NEW_RAW(map->centres, m * p));
    SN_TRY(SN_NEW_RAW(map->coefficients, m * d));
    SN_TRY(SN_NEW(map->offset, d));
    return SN_GIVE(map, out);
}

stonet_status sn_kernel_map_create(const sn_kernel_input *input, int64_t d, const double *a,
                                   const double *mean, const double *scores, sn_fit_result *result)
{
    const int64_t n = input->n, m = input->m;
    sn_kernel_map *map = NULL;
    SN_TRY(allocate(m, input->p, d, input->gamma, &map));
    memcpy(map->centres, input->centres, (size_t)(m * input->p) * sizeof *input->centres);
    for (int64_t j = 0; j < d; j++) {
        double squares = 0.0, largest = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double score = scores[i * d + j];
            squares += score * score;
            if (fabs(score) > fabs(largest)) largest = score;
        }
        double scale = (largest < 0.0 ? -1.0 : 1.0) / sqrt(squares / (double)n);
        for (int64_t i = 0; i < m; i++) {
            map->coefficients[i * d + j] = scale * a[i * d + j];
            map->offset[j] += map->coefficients[i * d + j] * mean[i];
        }
    }
    *result = (sn_fit_result){.state = map, .dim = d, .outcome = STONET_DONE};
    return STONET_OK;
}

/* a'(L^{-1} k(x) - mean) = (L^{-T} a)'k(x) - a'mean; the mean square of column j is a_j'gram a_j / n. */
stonet_status sn_columns_map(const sn_row_columns *columns, const double *mean, const double *gram, int64_t d,
                             double *a, sn_fit_result *result)
{
    const int64_t m = columns->m, p = columns->p;
    SN_AUTO(sn_kernel_map) *map = NULL;
    SN_ARRAY(m * d, double, product);
    SN_ARRAY(m * d, double, z);
    SN_ZEROS(d, double, square);
    sn_multiply(sn_as(gram, m, m), sn_as(a, m, d), product);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < d; j++) square[j] += a[i * d + j] * product[i * d + j] / (double)columns->n;
    SN_TRY(allocate(m, p, d, columns->gamma, &map));
    sn_gemv(1.0, sn_turned(a, m, d), mean, 0.0, map->offset);
    if (columns->landmarks != NULL) sn_landmarks_coefficients(columns->landmarks, d, a);
    memcpy(map->centres, columns->centres, (size_t)(m * p) * sizeof *map->centres);
    memcpy(map->coefficients, a, (size_t)(m * d) * sizeof *a);
    SN_TRY(sn_kernel_map_scores(map, m, map->centres, z));
    for (int64_t j = 0; j < d; j++) {
        double largest = 0.0; /* of the scores at the centres, whose sign becomes positive */
        for (int64_t i = 0; i < m; i++)
            if (fabs(z[i * d + j]) > fabs(largest)) largest = z[i * d + j];
        const double scale = (largest < 0.0 ? -1.0 : 1.0) / sqrt(square[j]);
        for (int64_t i = 0; i < m; i++) map->coefficients[i * d + j] *= scale;
        map->offset[j] *= scale;
    }
    *result = (sn_fit_result){.dim = d, .outcome = STONET_DONE};
    return SN_GIVE(map, &result->state);
}

/* z = K A - offset, a block of rows at a time so that the kernel block stays small. */
stonet_status sn_kernel_map_scores(const sn_kernel_map *map, int64_t n, const double *x, double *z)
{
    SN_ARRAY((n < TRANSFORM_ROWS ? n : TRANSFORM_ROWS) * map->m, double, k);
    for (int64_t i = 0; i < n; i += TRANSFORM_ROWS) {
        int64_t rows = n - i < TRANSFORM_ROWS ? n - i : TRANSFORM_ROWS;
        SN_TRY(sn_gaussian_gram(rows, map->m, map->p, x + i * map->p, map->centres, map->gamma, k));
        sn_multiply(sn_as(k, rows, map->m), sn_as(map->coefficients, map->m, map->d), z + i * map->d);
    }
    sn_subtract_row(n, map->d, map->offset, z);
    return STONET_OK;
}

stonet_status sn_kernel_map_transform(const void *state, const float *x, int64_t n,
                                      const sn_transform_request *request, float *z)
{
    (void)request;
    const sn_kernel_map *map = state;
    SN_ARRAY(n * map->p, double, wide);
    SN_ARRAY(n * map->d, double, scores);
    sn_widen(n * map->p, x, wide);
    SN_TRY(sn_kernel_map_scores(map, n, wide, scores));
    for (int64_t i = 0; i < n * map->d; i++) z[i] = (float)scores[i];
    return STONET_OK;
}

/* The centres are rows of float data, so single precision keeps them exactly. */
stonet_status sn_kernel_map_save(const void *state, sn_store *store)
{
    const sn_kernel_map *map = state;
    SN_ARRAY(map->m * map->p, float, centres);
    for (int64_t i = 0; i < map->m * map->p; i++) centres[i] = (float)map->centres[i];
    SN_TRY(sn_store_put_matrix(store, "kernel.centres", SN_F32, map->m, map->p, centres));
    SN_TRY(sn_store_put_matrix(store, "kernel.coefficients", SN_F64, map->m, map->d, map->coefficients));
    SN_TRY(sn_store_put_vector(store, "kernel.offset", SN_F64, map->d, map->offset));
    return sn_store_put_real(store, "kernel.gamma", map->gamma);
}

/* Sizes are checked against each other before memory is reserved: centres m x p, coefficients m x d, offset
   d. The state does not point into the store. */
stonet_status sn_kernel_map_load(const sn_store *store, void **state)
{
    const sn_tensor *centres, *coefficients, *offset;
    double gamma;
    SN_TRY(sn_store_get_matrix(store, "kernel.centres", SN_F32, -1, -1, &centres));
    int64_t m = centres->shape[0], p = centres->shape[1];
    SN_TRY(sn_store_get_matrix(store, "kernel.coefficients", SN_F64, m, -1, &coefficients));
    int64_t d = coefficients->shape[1];
    SN_TRY(sn_store_get_vector(store, "kernel.offset", SN_F64, d, &offset));
    SN_TRY(sn_store_get_real(store, "kernel.gamma", &gamma));
    SN_TRY(sn_tensor_check_finite(centres));
    SN_TRY(sn_tensor_check_finite(coefficients));
    SN_TRY(sn_tensor_check_finite(offset));
    if (m < 1 || p < 1 || d < 1 || !(gamma > 0.0))
        return sn_fail(STONET_ERROR_FORMAT,
                       "the model's kernel has no centres, no columns or a bandwidth below 0");

    sn_kernel_map *map = NULL;
    SN_TRY(allocate(m, p, d, gamma, &map));
    sn_widen(m * p, centres->data, map->centres);
    memcpy(map->coefficients, coefficients->data, (size_t)(m * d) * sizeof(double));
    memcpy(map->offset, offset->data, (size_t)d * sizeof(double));
    *state = map;
    return STONET_OK;
}

void sn_kernel_map_free(void *state)
{
    sn_kernel_map *map = state;
    if (map == NULL) return;
    SN_FREE_ALL(map->centres, map->coefficients, map->offset, map);
}

sn_sizes sn_kernel_map_sizes(const void *state)
{
    const sn_kernel_map *map = state;
    return (sn_sizes){.inputs = map->p, .dim = map->d};
}
