#include "front/front_wide.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"

/* ---- columns ------------------------------------------------------------------------------------ */

typedef struct columns_front {
    sn_front base;
    int64_t *column; /* outputs of them */
} columns_front;

static void free_columns(sn_front *base)
{
    sn_free(((columns_front *)base)->column);
    sn_free(base);
}

static stonet_status apply_columns(const sn_front *base, int64_t n, const float *x, float *u)
{
    const columns_front *front = (const columns_front *)base;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < base->outputs; k++)
            u[i * base->outputs + k] = x[i * base->inputs + front->column[k]];
    return STONET_OK;
}

stonet_status sn_front_columns_create(int64_t p, const int64_t *columns, int64_t count, sn_front **out)
{
    columns_front *front;
    SN_TRY(SN_NEW(front, 1));
    front->base = (sn_front){.ops = &sn_front_columns, .inputs = p, .outputs = count};
    const stonet_status status = SN_NEW_RAW(front->column, count);
    if (status == STONET_OK) memcpy(front->column, columns, (size_t)count * sizeof *columns);
    return sn_front_hand_out(status, &front->base, out);
}

const int64_t *sn_front_columns_list(const sn_front *front)
{
    return ((const columns_front *)front)->column;
}

static stonet_status save_columns(const sn_front *base, sn_store *store)
{
    const columns_front *front = (const columns_front *)base;
    SN_TRY(sn_store_put_int(store, "front_inputs", base->inputs));
    return sn_store_put_vector(store, "front_columns", SN_I64, base->outputs, front->column);
}

static stonet_status load_columns(const sn_store *store, sn_front **out)
{
    int64_t p;
    const sn_tensor *columns;
    SN_TRY(sn_store_get_int(store, "front_inputs", 1, INT64_MAX, &p));
    SN_TRY(sn_store_get_vector(store, "front_columns", SN_I64, -1, &columns));
    const int64_t *list = columns->data;
    for (int64_t k = 0; k < columns->shape[0]; k++)
        if (list[k] < 0 || list[k] >= p)
            return sn_fail(STONET_ERROR_FORMAT, "the model's front_columns names a column that is not there");
    return sn_front_columns_create(p, list, columns->shape[0], out);
}

const sn_front_ops sn_front_columns = {
    .name = "columns",
    .apply = apply_columns,
    .save = save_columns,
    .load = load_columns,
    .free = free_columns,
};

/* ---- components --------------------------------------------------------------------------------- */

enum { MOST_ROWS = 500, ROWS = 304 /* substream of the seed */, BLOCK_ROWS = 256 };

typedef struct components_front {
    sn_front base;
    double *mean; /* p */
    double *map;  /* p x r */
} components_front;

static void free_components(sn_front *base)
{
    components_front *front = (components_front *)base;
    SN_FREE_ALL(front->mean, front->map, front);
}

static void subtract(int64_t n, int64_t p, const float *x, const double *mean, double *out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++) out[i * p + j] = (double)x[i * p + j] - mean[j];
}

static stonet_status apply_components(const sn_front *base, int64_t n, const float *x, float *u)
{
    const components_front *front = (const components_front *)base;
    const int64_t p = base->inputs, r = base->outputs, block = n < BLOCK_ROWS ? n : BLOCK_ROWS;
    SN_ARRAY(block * p, double, centred);
    SN_ARRAY(block * r, double, scores);
    for (int64_t first = 0; first < n; first += BLOCK_ROWS) {
        const int64_t rows = n - first < BLOCK_ROWS ? n - first : BLOCK_ROWS;
        subtract(rows, p, x + first * p, front->mean, centred);
        sn_multiply(sn_as(centred, rows, p), sn_as(front->map, p, r), scores);
        for (int64_t k = 0; k < rows * r; k++) u[first * r + k] = (float)scores[k];
    }
    return STONET_OK;
}

/* map from centred rows C (n x p): C C' = U L U', V = C' U L^(-1/2), and n / l_1 makes the first score's
   variance 1. */
static stonet_status set_map(components_front *front, int64_t n, const double *centred)
{
    const int64_t p = front->base.inputs, r = front->base.outputs;
    SN_ARRAY(n * n, double, gram);
    SN_ARRAY(n, double, value);
    SN_ARRAY(n * n, double, vector);
    SN_ZEROS(n * r, double, weight);
    sn_multiply(sn_as(centred, n, p), sn_turned(centred, n, p), gram);
    SN_TRY(sn_eigh(n, gram, value, vector));
    if (!(value[0] > 0.0)) return sn_fail(STONET_ERROR_DATA, "front=components needs rows that differ");
    for (int64_t k = 0; k < r && k < n; k++) {
        if (value[k] <= 1e-10 * value[0]) break;
        for (int64_t i = 0; i < n; i++)
            weight[i * r + k] = vector[i * n + k] * sqrt((double)n / (value[k] * value[0]));
    }
    sn_multiply(sn_turned(centred, n, p), sn_as(weight, n, r), front->map);
    return STONET_OK;
}

static stonet_status build_components(components_front *front, const sn_problem *problem, const sn_rows *rows,
                                      uint64_t seed)
{
    const int64_t p = front->base.inputs, n = rows->n < MOST_ROWS ? rows->n : MOST_ROWS;
    SN_TRY(SN_NEW(front->mean, p));
    SN_TRY(SN_NEW_RAW(front->map, p * front->base.outputs));
    SN_ARRAY(n, int64_t, list);
    SN_ARRAY(n * p, float, x);
    SN_ARRAY(n * p, double, centred);
    SN_TRY(sn_choose_rows(rows->n, n, seed, ROWS, list));
    for (int64_t i = 0; i < n; i++) list[i] = sn_rows_at(rows, list[i]);
    const sn_rows some = sn_rows_list(list, n);
    SN_TRY(sn_batch_features(problem, &some, x));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++) front->mean[j] += (double)x[i * p + j] / (double)n;
    subtract(n, p, x, front->mean, centred);
    return set_map(front, n, centred);
}

stonet_status sn_front_components_create(const sn_problem *problem, const sn_rows *rows, int64_t r,
                                         uint64_t seed, sn_front **out)
{
    components_front *front;
    SN_TRY(SN_NEW(front, 1));
    front->base = (sn_front){.ops = &sn_front_components, .inputs = problem->p, .outputs = r};
    return sn_front_hand_out(build_components(front, problem, rows, seed), &front->base, out);
}

static stonet_status save_components(const sn_front *base, sn_store *store)
{
    const components_front *front = (const components_front *)base;
    SN_TRY(sn_store_put_vector(store, "front_mean", SN_F64, base->inputs, front->mean));
    return sn_store_put_matrix(store, "front_map", SN_F64, base->inputs, base->outputs, front->map);
}

static stonet_status load_components(const sn_store *store, sn_front **out)
{
    const sn_tensor *mean, *map;
    SN_TRY(sn_store_get_vector(store, "front_mean", SN_F64, -1, &mean));
    SN_TRY(sn_store_get_matrix(store, "front_map", SN_F64, mean->shape[0], -1, &map));
    components_front *front;
    SN_TRY(SN_NEW(front, 1));
    front->base = (sn_front){.ops = &sn_front_components, .inputs = mean->shape[0], .outputs = map->shape[1]};
    stonet_status status = SN_NEW_RAW(front->mean, front->base.inputs);
    if (status == STONET_OK) status = SN_NEW_RAW(front->map, front->base.inputs * front->base.outputs);
    if (status == STONET_OK) {
        memcpy(front->mean, mean->data, (size_t)sn_tensor_count(mean) * sizeof *front->mean);
        memcpy(front->map, map->data, (size_t)sn_tensor_count(map) * sizeof *front->map);
    }
    return sn_front_hand_out(status, &front->base, out);
}

const sn_front_ops sn_front_components = {
    .name = "components",
    .apply = apply_components,
    .save = save_components,
    .load = load_components,
    .free = free_components,
};
