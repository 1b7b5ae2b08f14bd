#include "front/front_kernel.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/kernel.h"
#include "math/kernel_sum.h"
#include "math/linalg.h"

enum { BLOCK_ROWS = 2048, LANDMARKS = 301, DISTANCES = 302 /* substreams of the seed */ };
/* Directions of K_mm below this part of the first eigenvalue are rounding. */
static const double SMALLEST = 1e-8;

typedef struct kernel_front {
    sn_front base;
    sn_front_recipe recipe;
    double gamma; /* c / (2 s^2) */
    int64_t m, rank;
    double *centres; /* the landmarks, m x p */
    double *map;     /* sqrt(1 - rho) V L^(-1/2): m x rank */
    double *mean;    /* outputs: of u before it is centred, over the training rows */
} kernel_front;

static void free_kernel(sn_front *base)
{
    kernel_front *front = (kernel_front *)base;
    SN_FREE_ALL(front->centres, front->map, front->mean, front);
}

static double linear_factor(const kernel_front *front)
{
    return sqrt(front->recipe.linear / (double)front->base.inputs);
}

/* u of at most BLOCK_ROWS rows; scratch: n x (p + m + rank) doubles. */
static stonet_status apply_block(const kernel_front *front, int64_t n, const float *x, double *scratch,
                                 float *u)
{
    const int64_t p = front->base.inputs, d = front->base.outputs, rank = front->rank;
    double *wide = scratch, *k = wide + n * p, *phi = k + n * front->m;
    const double factor = linear_factor(front);
    sn_widen(n * p, x, wide);
    SN_TRY(sn_gaussian_gram(n, front->m, p, wide, front->centres, front->gamma, k));
    sn_multiply(sn_as(k, n, front->m), sn_as(front->map, front->m, rank), phi);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < rank; j++) u[i * d + j] = (float)(phi[i * rank + j] - front->mean[j]);
        for (int64_t j = rank; j < d; j++)
            u[i * d + j] = (float)(factor * wide[i * p + j - rank] - front->mean[j]);
    }
    return STONET_OK;
}

static stonet_status apply_kernel(const sn_front *base, int64_t n, const float *x, float *u)
{
    const kernel_front *front = (const kernel_front *)base;
    const int64_t block = n < BLOCK_ROWS ? n : BLOCK_ROWS;
    SN_ARRAY(block * (base->inputs + front->m + front->rank), double, scratch);
    for (int64_t first = 0; first < n; first += BLOCK_ROWS) {
        const int64_t rows = n - first < BLOCK_ROWS ? n - first : BLOCK_ROWS;
        SN_TRY(apply_block(front, rows, x + first * base->inputs, scratch, u + first * base->outputs));
    }
    return STONET_OK;
}

/* w_1 u is a sum of kernels itself: where its numbers lie in the folded ones. */
static sn_kernel_sum sum_of(const kernel_front *front, int64_t units, const double *folded)
{
    const int64_t p = front->base.inputs, m = front->m;
    return (sn_kernel_sum){.p = p,
                           .m = m,
                           .w = units,
                           .gamma = front->gamma,
                           .centre = front->centres,
                           .weight = folded,
                           .slope = front->base.outputs > front->rank ? folded + m * units : NULL,
                           .constant = folded + (m + p) * units};
}

/* The weights of the kernels are the map times those of layer 1. */
static stonet_status fold_kernel(const sn_front *base, const sn_shape *shape, const float *theta,
                                 double **folded)
{
    const kernel_front *front = (const kernel_front *)base;
    const int64_t p = base->inputs, d = base->outputs, rank = front->rank, w = shape->width[1];
    SN_WORKSPACE(scratch);
    double *layer = NULL; /* w_1' */
    SN_TRY(SN_TAKE(&scratch, layer, d * w));
    SN_TRY(SN_NEW(*folded, (front->m + p + 1) * w));
    double *slope = *folded + front->m * w, *constant = slope + p * w;
    for (int64_t u = 0; u < w; u++) {
        const float *row = theta + shape->weight_at[0] + u * d;
        constant[u] = (double)theta[shape->bias_at[0] + u];
        for (int64_t j = 0; j < d; j++) {
            layer[j * w + u] = (double)row[j];
            constant[u] -= (double)row[j] * front->mean[j];
        }
    }
    sn_multiply(sn_as(front->map, front->m, rank), sn_as(layer, rank, w), *folded);
    for (int64_t k = 0; k < (d - rank) * w; k++) slope[k] = linear_factor(front) * layer[rank * w + k];
    return STONET_OK;
}

static stonet_status first_layer(const sn_front *base, const sn_shape *shape, const double *folded, int64_t n,
                                 const float *x, float *mu)
{
    const sn_kernel_sum sum = sum_of((const kernel_front *)base, shape->width[1], folded);
    return sn_kernel_sum_apply(&sum, n, x, mu);
}

/* ---- from rows ---------------------------------------------------------------------------------- */

/* `count` of the rows, or all when there are no more, keyed by the seed: a list in the workspace. */
static stonet_status choose(const sn_rows *rows, int64_t count, uint64_t seed, uint32_t use,
                            sn_workspace *keep, sn_rows *out)
{
    const int64_t n = count < rows->n ? count : rows->n;
    int64_t *list = NULL;
    SN_TRY(SN_TAKE(keep, list, n));
    SN_TRY(sn_choose_rows(rows->n, n, seed, use, list));
    for (int64_t i = 0; i < n; i++) list[i] = sn_rows_at(rows, list[i]);
    *out = sn_rows_list(list, n);
    return STONET_OK;
}

/* gamma = c / (2 s^2) with s the mean distance between rows (some of them, if there are many). */
static stonet_status set_bandwidth(kernel_front *front, const sn_problem *problem, const sn_rows *rows,
                                   uint64_t seed)
{
    SN_WORKSPACE(scratch);
    sn_rows some;
    double s;
    SN_TRY(choose(rows, SN_DISTANCE_ROWS, seed, DISTANCES, &scratch, &some));
    SN_ARRAY(some.n * problem->p, float, x);
    SN_ARRAY(some.n * problem->p, double, wide);
    SN_TRY(sn_batch_features(problem, &some, x));
    sn_widen(some.n * problem->p, x, wide);
    SN_TRY(sn_mean_distance(some.n, problem->p, wide, seed, &s));
    if (!(s > 0.0)) return sn_fail(STONET_ERROR_DATA, "front=kernel needs rows that differ");
    front->gamma = front->recipe.complexity / (2.0 * s * s);
    return STONET_OK;
}

/* map and rank from the kernel of the landmarks. */
static stonet_status set_map(kernel_front *front)
{
    const int64_t m = front->m;
    SN_ARRAY(m * m, double, gram);
    SN_ARRAY(m, double, value);
    SN_ARRAY(m * m, double, vector);
    SN_TRY(sn_gaussian_gram(m, m, front->base.inputs, front->centres, front->centres, front->gamma, gram));
    SN_TRY(sn_eigh(m, gram, value, vector));
    front->rank = 0;
    while (front->rank < m && value[front->rank] > SMALLEST * value[0]) front->rank++;
    SN_TRY(SN_NEW_RAW(front->map, m * front->rank));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < front->rank; j++)
            front->map[i * front->rank + j] =
                sqrt((1.0 - front->recipe.linear) / value[j]) * vector[i * m + j];
    return STONET_OK;
}

/* Adds up the kernels of a block's rows (sum_k, m) and their columns (sum_x, p); scratch: rows x (p + m)
   doubles. */
static stonet_status sum_block(const kernel_front *front, int64_t n, const float *x, double *scratch,
                               double *sum_k, double *sum_x)
{
    const int64_t p = front->base.inputs, m = front->m;
    double *wide = scratch, *k = wide + n * p;
    sn_widen(n * p, x, wide);
    SN_TRY(sn_gaussian_gram(n, m, p, wide, front->centres, front->gamma, k));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++) sum_k[j] += k[i * m + j];
        for (int64_t j = 0; j < p; j++) sum_x[j] += wide[i * p + j];
    }
    return STONET_OK;
}

/* The mean of u over the rows: that of their kernels, times the map, and that of their columns. */
static stonet_status set_mean(kernel_front *front, const sn_problem *problem, const sn_rows *rows)
{
    const int64_t d = front->base.outputs, p = problem->p, m = front->m, rank = front->rank;
    const int64_t block = rows->n < BLOCK_ROWS ? rows->n : BLOCK_ROWS;
    SN_TRY(SN_NEW(front->mean, d));
    SN_ARRAY(block * p, float, x);
    SN_ARRAY(block * (p + m), double, scratch);
    SN_ZEROS(m, double, sum_k);
    SN_ZEROS(p, double, sum_x);
    for (int64_t first = 0; first < rows->n; first += BLOCK_ROWS) {
        const int64_t left = rows->n - first;
        const sn_rows part = sn_rows_part(rows, first, left < BLOCK_ROWS ? left : BLOCK_ROWS);
        SN_TRY(sn_batch_features(problem, &part, x));
        SN_TRY(sum_block(front, part.n, x, scratch, sum_k, sum_x));
    }
    sn_gemv(1.0 / (double)rows->n, sn_turned(front->map, m, rank), sum_k, 0.0, front->mean);
    for (int64_t j = rank; j < d; j++)
        front->mean[j] = linear_factor(front) * sum_x[j - rank] / (double)rows->n;
    return STONET_OK;
}

static stonet_status build(kernel_front *front, const sn_problem *problem, const sn_rows *rows, uint64_t seed)
{
    SN_WORKSPACE(scratch);
    sn_rows landmarks;
    SN_TRY(choose(rows, front->recipe.size, seed, LANDMARKS, &scratch, &landmarks));
    front->m = landmarks.n;
    SN_ARRAY(front->m * problem->p, float, x);
    SN_TRY(sn_batch_features(problem, &landmarks, x));
    SN_TRY(SN_NEW_RAW(front->centres, front->m * problem->p));
    sn_widen(front->m * problem->p, x, front->centres);
    SN_TRY(set_bandwidth(front, problem, rows, seed));
    SN_TRY(set_map(front));
    front->base.outputs = front->rank + (front->recipe.linear > 0.0 ? problem->p : 0);
    return set_mean(front, problem, rows);
}

stonet_status sn_front_kernel_create(const sn_problem *problem, const sn_rows *rows,
                                     const sn_front_recipe *recipe, uint64_t seed, sn_front **out)
{
    kernel_front *front;
    SN_TRY(SN_NEW(front, 1));
    front->base = (sn_front){.ops = &sn_front_kernel, .inputs = problem->p};
    front->recipe = *recipe;
    return sn_front_hand_out(build(front, problem, rows, seed), &front->base, out);
}

/* ---- the model file ------------------------------------------------------------------------------ */

static stonet_status save_kernel(const sn_front *base, sn_store *store)
{
    const kernel_front *front = (const kernel_front *)base;
    SN_ARRAY(front->m * base->inputs, float, landmarks);
    for (int64_t k = 0; k < front->m * base->inputs; k++) landmarks[k] = (float)front->centres[k];
    SN_TRY(sn_store_put_real(store, "front_complexity", front->recipe.complexity));
    SN_TRY(sn_store_put_real(store, "front_linear", front->recipe.linear));
    SN_TRY(sn_store_put_real(store, "front_gamma", front->gamma));
    SN_TRY(sn_store_put_matrix(store, "front_landmarks", SN_F32, front->m, base->inputs, landmarks));
    SN_TRY(sn_store_put_matrix(store, "front_map", SN_F64, front->m, front->rank, front->map));
    return sn_store_put_vector(store, "front_mean", SN_F64, base->outputs, front->mean);
}

/* Shapes: landmarks m x inputs, map m x rank, mean outputs. A front with a linear part has `inputs` more
   outputs than its rank. The caller frees the front, also after a failure. */
static stonet_status load_into(const sn_store *store, kernel_front *front)
{
    const sn_tensor *landmarks, *map, *mean;
    SN_TRY(sn_store_get_real(store, "front_complexity", &front->recipe.complexity));
    SN_TRY(sn_store_get_real(store, "front_linear", &front->recipe.linear));
    SN_TRY(sn_store_get_real(store, "front_gamma", &front->gamma));
    if (!(front->gamma >= 0.0) || !(front->recipe.linear >= 0.0 && front->recipe.linear <= 1.0))
        return sn_fail(STONET_ERROR_FORMAT, "the model's front has numbers out of range");
    SN_TRY(sn_store_get_matrix(store, "front_landmarks", SN_F32, -1, -1, &landmarks));
    front->m = landmarks->shape[0];
    front->base.inputs = landmarks->shape[1];
    SN_TRY(sn_store_get_matrix(store, "front_map", SN_F64, front->m, -1, &map));
    front->rank = map->shape[1];
    front->base.outputs = front->rank + (front->recipe.linear > 0.0 ? front->base.inputs : 0);
    SN_TRY(sn_store_get_vector(store, "front_mean", SN_F64, front->base.outputs, &mean));
    SN_TRY(SN_NEW_RAW(front->centres, front->m * front->base.inputs));
    SN_TRY(SN_NEW_RAW(front->map, front->m * front->rank));
    SN_TRY(SN_NEW_RAW(front->mean, front->base.outputs));
    sn_widen(sn_tensor_count(landmarks), landmarks->data, front->centres);
    memcpy(front->map, map->data, (size_t)sn_tensor_count(map) * sizeof *front->map);
    memcpy(front->mean, mean->data, (size_t)sn_tensor_count(mean) * sizeof *front->mean);
    return STONET_OK;
}

static stonet_status load_kernel(const sn_store *store, sn_front **out)
{
    kernel_front *front;
    SN_TRY(SN_NEW(front, 1));
    front->base.ops = &sn_front_kernel;
    return sn_front_hand_out(load_into(store, front), &front->base, out);
}

const sn_front_ops sn_front_kernel = {
    .name = "kernel",
    .apply = apply_kernel,
    .fold = fold_kernel,
    .first_layer = first_layer,
    .save = save_kernel,
    .load = load_kernel,
    .free = free_kernel,
};
