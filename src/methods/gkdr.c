/*
 * Gradient-based kernel dimension reduction (Fukumizu and Leng 2014).
 *
 * With K_Y = F F' the kernel ridge regression of F on x is g(x) = T' k(x), T = (K_X + n epsilon I)^{-1} F,
 * and
 *
 *     M = (1/n) sum_i G_i G_i',   G_i = dg(x_i)/dx = 2 gamma sum_j k(x_i, c_j) (c_j - x_i) t_j'   (p x rank):
 *
 * its leading eigenvectors span the estimated central subspace. Gram matrices are not centred. With landmarks
 * g is the regression on their features and the sum runs over them. steps > 1 shrinks the dimension in that
 * many steps, each computed on the projection of the last ("gKDR-i"), with the bandwidth scaled by
 * sqrt(dimension / p).
 */
#include "methods/gkdr.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "methods/kernel_response.h"
#include "methods/linear_map.h"
#include "methods/row_columns.h"
#include "methods/row_sums.h"

static const sn_param params[] = {
    SN_PARAM_COMPLEXITY,
    {"bandwidth", SN_REAL, "auto", 1e-12, 1e12, "auto",
     "s, a distance between rows of scaled x; auto: the median over pairs (of 2000 rows at most)"},
    SN_PARAM_LANDMARKS,
    {"epsilon", SN_REAL, "1e-5", 1e-14, 1e3, NULL, "ridge of the kernel regression, per row"},
    {"steps", SN_INTEGER, "1", 1, 1000, NULL, "steps in which the dimension shrinks; more than 1 is gKDR-i"},
};

enum { BLOCK_ROWS = 512 };

typedef struct gradients {
    const sn_kernel_input *input;
    int64_t m, rank;
    double *centres; /* m x p */
    double *t;       /* m x rank */
    const stonet_run *run;
    double started;
} gradients;

/* Adds to the matrix (p x p), block by block of some rows, the products of the gradients of each component a:
   (gradient of component a)(same)'. */
static stonet_status add_rows(const void *user, int64_t first, int64_t count, double *matrix)
{
    const gradients *g = user;
    const int64_t p = g->input->p, m = g->m, end = first + count;
    const double scale = 2.0 * g->input->gamma;
    SN_ARRAY(BLOCK_ROWS * m, double, k);
    SN_ARRAY(BLOCK_ROWS * m, double, weight);
    SN_ARRAY(BLOCK_ROWS * p, double, gradient);
    for (; first < end; first += BLOCK_ROWS) {
        const int64_t rows = end - first < BLOCK_ROWS ? end - first : BLOCK_ROWS;
        const double *x = g->input->x + first * p;
        SN_TRY(sn_gaussian_gram(rows, m, p, x, g->centres, g->input->gamma, k));
        for (int64_t a = 0; a < g->rank; a++) {
#pragma omp parallel for
            for (int64_t i = 0; i < rows; i++) {
                double sum = 0.0;
                for (int64_t j = 0; j < m; j++) {
                    const double value = scale * k[i * m + j] * g->t[j * g->rank + a];
                    weight[i * m + j] = value;
                    sum += value;
                }
                for (int64_t j = 0; j < p; j++) gradient[i * p + j] = -sum * x[i * p + j];
            }
            sn_gemm(1.0, sn_as(weight, rows, m), sn_as(g->centres, m, p), 1.0, gradient);
            sn_syrk_tn(p, rows, 1.0 / (double)g->input->n, gradient, 1.0, matrix);
        }
        sn_progress_of(g->run, "gradients", first + rows, g->input->n, NAN, g->started);
        if (sn_should_stop(g->run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the gradients were computed");
    }
    return STONET_OK;
}

/* Exact: T (n x rank) at the rows themselves. Landmarks: T = L^{-T} (Phi'Phi + ridge)^{-1} Phi'F at them. */
stonet_status sn_gkdr_directions(const sn_gkdr *of, sn_workspace *keep, int64_t *dim, double **direction)
{
    SN_WORKSPACE(scratch);
    const sn_kernel_input *input = of->input;
    const int64_t n = input->n, p = input->p, count = *dim < p ? *dim : p;
    const double ridge = of->epsilon * (double)n;
    stonet_team *team = of->run != NULL ? of->run->team : NULL;
    gradients g = {.input = input, .m = n, .rank = of->rank, .run = of->run, .started = sn_seconds()};
    SN_TRY(SN_TAKE(&scratch, g.t, (input->exact ? n : input->m) * of->rank));
    if (input->exact) {
        SN_ARRAY(n * n, double, k);
        SN_TRY(SN_TAKE(&scratch, g.centres, n * p));
        memcpy(g.centres, input->x, (size_t)(n * p) * sizeof(double));
        memcpy(g.t, of->f, (size_t)(n * of->rank) * sizeof(double));
        SN_TRY(sn_gaussian_gram(n, n, p, input->x, input->x, input->gamma, k));
        sn_add_diagonal(n, ridge, k);
        SN_TRY(sn_solve_spd(n, k, of->rank, g.t));
    } else {
        sn_landmarks landmarks;
        SN_TRY(sn_landmarks_create(input->m, p, input->centres, input->gamma, &scratch, &landmarks));
        const sn_row_columns columns = sn_feature_columns(input, &landmarks, team);
        g.m = landmarks.rank;
        g.centres = landmarks.centres;
        SN_ARRAY(g.m * g.m, double, gram);
        SN_TRY(sn_row_columns_products(&columns, of->rank, of->f, NULL, gram, g.t));
        sn_add_diagonal(g.m, ridge, gram);
        SN_TRY(sn_solve_spd(g.m, gram, of->rank, g.t));
        sn_landmarks_coefficients(&landmarks, of->rank, g.t);
    }
    SN_ARRAY(p * p, double, matrix);
    SN_ARRAY(count, double, values);
    SN_ARRAY(p * count, double, v);
    SN_TRY(sn_row_sums(team, n, p * p, add_rows, &g, matrix));
    SN_TRY(sn_eigh_top(p, count, matrix, values, v));
    SN_TRY(sn_kernel_limit(of->run, "gkdr", *dim, count, values, "the gradients span no more", dim));
    SN_TRY(SN_TAKE(keep, *direction, p * *dim));
    sn_first_columns(p, count, v, *dim, *direction);
    return STONET_OK;
}

/* to (count x q) = from (count x p) direction (p x q). */
static stonet_status project(int64_t count, int64_t p, int64_t q, const double *from, const double *direction,
                             sn_workspace *keep, double **to)
{
    SN_TRY(SN_TAKE(keep, *to, count * q));
    sn_multiply(sn_as(from, count, p), sn_as(direction, p, q), *to);
    return STONET_OK;
}

/* A step of gKDR-i: direction (p x *q, orthonormal) <- direction times the gKDR directions of x direction. */
static stonet_status shrink(const sn_gkdr *of, int64_t target, sn_workspace *keep, int64_t *q,
                            double **direction)
{
    SN_WORKSPACE(scratch);
    const sn_kernel_input *input = of->input;
    sn_kernel_input inner = {.n = input->n, .p = *q, .m = input->m, .exact = input->exact};
    double *turn = NULL, *composed = NULL;
    int64_t dim = target;
    inner.gamma = input->gamma * (double)input->p / (double)*q;
    SN_TRY(project(input->n, input->p, *q, input->x, *direction, &scratch, &inner.x));
    inner.centres = inner.x;
    if (!input->exact)
        SN_TRY(project(input->m, input->p, *q, input->centres, *direction, &scratch, &inner.centres));
    sn_gkdr within = *of;
    within.input = &inner;
    SN_TRY(sn_gkdr_directions(&within, &scratch, &dim, &turn));
    SN_TRY(project(input->p, *q, dim, *direction, turn, keep, &composed));
    SN_TRY(sn_orthonormalise(input->p, dim, composed));
    *direction = composed;
    *q = dim;
    return STONET_OK;
}

/* The dimension falls by (p - dim) / steps a step, the remainder first. */
static stonet_status estimate(const sn_gkdr *of, int64_t steps, sn_workspace *keep, int64_t *dim,
                              double **direction)
{
    const int64_t p = of->input->p, wanted = *dim < p ? *dim : p, fall = (p - wanted) / steps;
    int64_t target = wanted + fall * (steps - 1), q = target;
    if (fall == 0) return sn_gkdr_directions(of, keep, dim, direction);
    SN_TRY(sn_gkdr_directions(of, keep, &q, direction));
    for (int64_t step = 1; step < steps && q > wanted; step++) {
        target -= fall;
        SN_TRY(shrink(of, target < q ? target : q, keep, &q, direction));
    }
    *dim = sn_limit_dim(of->run, "gkdr", *dim, q, "x has no more columns");
    return STONET_OK;
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    sn_kernel_input input;
    double *f = NULL, *direction = NULL;
    int64_t rank;
    SN_TRY(sn_kernel_memory(problem, settings, "gkdr", 1.1, 0.0));
    SN_TRY(sn_kernel_input_create(problem, settings, SN_MEDIAN_DISTANCE, run->seed, &scratch, &input));
    SN_TRY(sn_response_factor(problem, SN_MEDIAN_DISTANCE, run->seed, &scratch, &f, &rank));
    const sn_gkdr of = {&input, sn_real(settings, "epsilon"), rank, f, run};
    SN_TRY(estimate(&of, sn_int(settings, "steps"), &scratch, &dim, &direction));
    SN_ARRAY(input.p, double, mean);
    sn_column_means(input.n, input.p, input.x, mean);
    return sn_linear_map_result(
        &(sn_linear_map){.p = input.p, .dim = dim, .centre = mean, .direction = direction}, result);
}

const sn_method sn_method_gkdr = {
    .name = "gkdr",
    .title = "Gradient-based kernel dimension reduction (Fukumizu and Leng 2014)",
    .python = "GradientKDR",
    .shares_landmarks = true,
    SN_PARAMS_OF(params),
    .grid = {{"complexity=0.1,0.3,1,3", SN_TASK_BOTH}, {"epsilon=1e-6,1e-5,1e-3", SN_TASK_BOTH}},
    SN_LINEAR_METHOD,
};
