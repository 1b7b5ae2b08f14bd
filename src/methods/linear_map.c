#include "methods/linear_map.h"

#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "math/noise.h"

static stonet_status copy_of(int64_t count, const double *from, double **out)
{
    SN_TRY(SN_NEW(*out, count));
    if (count > 0) memcpy(*out, from, (size_t)count * sizeof **out);
    return STONET_OK;
}

/* A deep copy. */
static stonet_status copy_map(const sn_linear_map *from, sn_linear_map **out)
{
    SN_AUTO(sn_linear_map) *map = NULL;
    SN_TRY(SN_NEW(map, 1));
    map->p = from->p;
    map->dim = from->dim;
    map->n_values = from->n_values;
    map->n_tests = from->n_tests;
    SN_TRY(copy_of(map->p, from->centre, &map->centre));
    SN_TRY(copy_of(map->p * map->dim, from->direction, &map->direction));
    SN_TRY(copy_of(map->n_values, from->value, &map->value));
    SN_TRY(copy_of(2 * map->n_tests, from->test, &map->test));
    return SN_GIVE(map, out);
}

stonet_status sn_linear_map_result(const sn_linear_map *map, sn_fit_result *result)
{
    sn_linear_map *copy = NULL;
    SN_TRY(copy_map(map, &copy));
    sn_fix_signs(copy->p, copy->dim, copy->direction);
    *result = (sn_fit_result){.state = copy, .dim = copy->dim, .outcome = STONET_DONE};
    return STONET_OK;
}

void sn_linear_map_free(void *state)
{
    sn_linear_map *map = state;
    if (map == NULL) return;
    SN_FREE_ALL(map->centre, map->direction, map->value, map->test, map);
}

sn_sizes sn_linear_map_sizes(const void *state)
{
    const sn_linear_map *map = state;
    return (sn_sizes){.inputs = map->p, .dim = map->dim};
}

stonet_status sn_random_directions(int64_t p, int64_t d, uint64_t seed, uint32_t restart, double *b)
{
    sn_random random = sn_random_from(seed, SN_STREAM_START, restart);
    for (int64_t i = 0; i < p * d; i++) b[i] = sn_random_normal(&random);
    return sn_orthonormalise(p, d, b);
}

void sn_make_tangent(int64_t p, int64_t d, const double *b, double *inner, double *gradient)
{
    sn_multiply(sn_turned(b, p, d), sn_as(gradient, p, d), inner);
    sn_gemm(-1.0, sn_as(b, p, d), sn_as(inner, d, d), 1.0, gradient);
}

/* no test: rows at a time, for memory and speed. */
int64_t sn_block_rows(int64_t n, int64_t p)
{
    int64_t rows = ((int64_t)1 << 19) / (p > 0 ? p : 1);
    if (rows < 64) rows = 64;
    if (rows > 8192) rows = 8192;
    return rows < n ? rows : n;
}

void sn_centred_rows(const float *x, int64_t p, const double *centre, const int64_t *row, int64_t first,
                     int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        const float *from = x + (row != NULL ? row[i] : first + i) * p;
        double *to = out + i * p;
        for (int64_t j = 0; j < p; j++) to[j] = (double)from[j] - centre[j];
    }
}

stonet_status sn_blocks_open(sn_blocks *blocks, int64_t first, int64_t count, sn_workspace *keep)
{
    blocks->at = first;
    blocks->count = 0;
    blocks->most = sn_block_rows(count, blocks->p);
    blocks->end = first + count;
    SN_TRY(SN_TAKE(keep, blocks->z, blocks->most * blocks->dim));
    return SN_TAKE(keep, blocks->centred, blocks->most * blocks->p);
}

bool sn_blocks_next(sn_blocks *blocks)
{
    const int64_t p = blocks->p, at = blocks->at + blocks->count, left = blocks->end - at;
    blocks->at = at;
    blocks->count = left < blocks->most ? left : blocks->most;
    if (blocks->count == 0) return false;
    sn_centred_rows(blocks->x, p, blocks->centre, blocks->row != NULL ? blocks->row + at : NULL, at,
                    blocks->count, blocks->centred);
    sn_multiply(sn_as(blocks->centred, blocks->count, p), sn_as(blocks->map, p, blocks->dim), blocks->z);
    return true;
}

stonet_status sn_linear_map_transform(const void *state, const float *x, int64_t n,
                                      const sn_transform_request *request, float *z)
{
    (void)request;
    const sn_linear_map *map = state;
    SN_WORKSPACE(scratch);
    sn_blocks rows = {.x = x, .centre = map->centre, .map = map->direction, .p = map->p, .dim = map->dim};
    SN_TRY(sn_blocks_open(&rows, 0, n, &scratch));
    while (sn_blocks_next(&rows))
        for (int64_t i = 0; i < rows.count * rows.dim; i++) z[rows.at * rows.dim + i] = (float)rows.z[i];
    return STONET_OK;
}

stonet_status sn_linear_map_save(const void *state, sn_store *store)
{
    const sn_linear_map *map = state;
    SN_TRY(sn_store_put_vector(store, "centre", SN_F64, map->p, map->centre));
    SN_TRY(sn_store_put_matrix(store, "direction", SN_F64, map->p, map->dim, map->direction));
    if (map->n_values > 0)
        SN_TRY(sn_store_put_vector(store, "eigenvalues", SN_F64, map->n_values, map->value));
    if (map->n_tests > 0) SN_TRY(sn_store_put_matrix(store, "tests", SN_F64, map->n_tests, 2, map->test));
    return STONET_OK;
}

/* `stored` points into the store, and copy_map makes the state its own. Eigenvalues and tests are optional:
   not every linear method has them. */
stonet_status sn_linear_map_load(const sn_store *store, void **state)
{
    const sn_tensor *centre, *direction, *extra;
    SN_TRY(sn_store_get_vector(store, "centre", SN_F64, -1, &centre));
    SN_TRY(sn_store_get_matrix(store, "direction", SN_F64, centre->shape[0], -1, &direction));
    SN_TRY(sn_tensor_check_finite(centre));
    SN_TRY(sn_tensor_check_finite(direction));
    sn_linear_map stored = {.p = centre->shape[0],
                            .dim = direction->shape[1],
                            .centre = centre->data,
                            .direction = direction->data};
    if (sn_store_find(store, "eigenvalues") != NULL) {
        SN_TRY(sn_store_get_vector(store, "eigenvalues", SN_F64, -1, &extra));
        stored.n_values = extra->shape[0];
        stored.value = extra->data;
    }
    if (sn_store_find(store, "tests") != NULL) {
        SN_TRY(sn_store_get_matrix(store, "tests", SN_F64, -1, 2, &extra));
        stored.n_tests = extra->shape[0];
        stored.test = extra->data;
    }
    sn_linear_map *map = NULL;
    SN_TRY(copy_map(&stored, &map));
    *state = map;
    return STONET_OK;
}

int64_t sn_limit_dim(const stonet_run *run, const char *method, int64_t wanted, int64_t available,
                     const char *why)
{
    if (wanted <= available) return wanted;
    const char *plural = available == 1 ? "" : "s";
    sn_message(run, STONET_WARNING,
               "%s: %lld direction%s exist%s (%s), so Z has %lld column%s instead of %lld", method,
               (long long)available, plural, available == 1 ? "s" : "", why, (long long)available, plural,
               (long long)wanted);
    return available;
}
