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
    sn_kernel_map *map = NULL;
    SN_TRY(SN_NEW(map, 1));
    *map = (sn_kernel_map){.m = m, .p = p, .d = d, .gamma = gamma};
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(map->centres, m * p), failed);
    SN_GOTO(status, SN_NEW_RAW(map->coefficients, m * d), failed);
    SN_GOTO(status, SN_NEW(map->offset, d), failed);
    *out = map;
    return STONET_OK;
failed:
    sn_kernel_map_free(map);
    return status;
}

stonet_status sn_kernel_map_create(int64_t m, int64_t p, const double *centres, double gamma, int64_t d,
                                   const double *a, const double *mean, int64_t n, const double *scores,
                                   sn_kernel_map **out)
{
    sn_kernel_map *map = NULL;
    SN_TRY(allocate(m, p, d, gamma, &map));
    memcpy(map->centres, centres, (size_t)(m * p) * sizeof *centres);
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
    *out = map;
    return STONET_OK;
}

/* The mean of k(x) is L times the mean of phi(x). */
stonet_status sn_features_map(const sn_features *features, int64_t d, double *a, int64_t n,
                              const double *scores, sn_kernel_map **out)
{
    const sn_landmarks *landmarks = &features->landmarks;
    double *mean = NULL;
    SN_TRY(SN_NEW_RAW(mean, landmarks->rank));
    sn_gemv(false, landmarks->rank, landmarks->rank, 1.0, landmarks->l, features->mean, 0.0, mean);
    sn_landmarks_coefficients(landmarks, d, a);
    stonet_status status = sn_kernel_map_create(landmarks->rank, landmarks->p, landmarks->centres,
                                                landmarks->gamma, d, a, mean, n, scores, out);
    sn_free(mean);
    return status;
}

/* z = K A - offset, a block of rows at a time so that the kernel block stays small. */
stonet_status sn_kernel_map_scores(const sn_kernel_map *map, int64_t n, const double *x, double *z)
{
    double *k = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(k, (n < TRANSFORM_ROWS ? n : TRANSFORM_ROWS) * map->m), done);
    for (int64_t i = 0; i < n; i += TRANSFORM_ROWS) {
        int64_t rows = n - i < TRANSFORM_ROWS ? n - i : TRANSFORM_ROWS;
        SN_GOTO(status, sn_gaussian_gram(rows, map->m, map->p, x + i * map->p, map->centres, map->gamma, k),
                done);
        sn_gemm(false, false, rows, map->d, map->m, 1.0, k, map->coefficients, 0.0, z + i * map->d);
    }
    sn_subtract_row(n, map->d, map->offset, z);
done:
    sn_free(k);
    return status;
}

stonet_status sn_kernel_map_transform(const void *state, const float *x, int64_t n,
                                      const sn_transform_request *request, float *z)
{
    (void)request;
    const sn_kernel_map *map = state;
    double *wide = NULL, *scores = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(wide, n * map->p), done);
    SN_GOTO(status, SN_NEW_RAW(scores, n * map->d), done);
    sn_widen(n * map->p, x, wide);
    SN_GOTO(status, sn_kernel_map_scores(map, n, wide, scores), done);
    for (int64_t i = 0; i < n * map->d; i++) z[i] = (float)scores[i];
done:
    sn_free(wide);
    sn_free(scores);
    return status;
}

/* The centres are rows of float data, so single precision keeps them exactly. */
stonet_status sn_kernel_map_save(const void *state, sn_store *store)
{
    const sn_kernel_map *map = state;
    float *centres = NULL;
    SN_TRY(SN_NEW_RAW(centres, map->m * map->p));
    for (int64_t i = 0; i < map->m * map->p; i++) centres[i] = (float)map->centres[i];
    stonet_status status = sn_store_put_matrix(store, "kernel.centres", SN_F32, map->m, map->p, centres);
    sn_free(centres);
    SN_TRY(status);
    SN_TRY(sn_store_put_matrix(store, "kernel.coefficients", SN_F64, map->m, map->d, map->coefficients));
    SN_TRY(sn_store_put_vector(store, "kernel.offset", SN_F64, map->d, map->offset));
    return sn_store_put_real(store, "kernel.gamma", map->gamma);
}

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
    sn_free(map->centres);
    sn_free(map->coefficients);
    sn_free(map->offset);
    sn_free(map);
}

sn_sizes sn_kernel_map_sizes(const void *state)
{
    const sn_kernel_map *map = state;
    return (sn_sizes){.inputs = map->p, .dim = map->d};
}
