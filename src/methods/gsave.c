/*
 * Generalised sliced average variance estimation (Lee, Li and Chiaromonte 2013).
 *
 * The response gives every row j weights c_j that estimate E[. | Y = y_j], the columns of a smoother P, and
 * with them the centred conditional variances Lambda_j = diag(c_j) - c_j c_j'. With Q = I - 11'/n,
 *
 *     M = S^{-1/2} B' Mid B S^{-1/2},   Mid = sum_j (Q/n - Q Lambda_j Q)^2,
 *     B = Q K_X,  S = B'B + ex lambda_max(B'B) I,
 *     z(x) = v' S^{-1/2} (k(x) - K_X 1/n)   for the leading eigenvectors v of M.
 *
 * S^{-1/2} may be any root: with S = L L' the eigenvectors of L^{-1} B' Mid B L^{-T} turn with it and z is
 * the same. Mid is never formed (methods/gsave_middle.c applies it to vectors), M neither: Lanczos asks for a
 * few products. New rows are centred by the training means.
 *
 * With landmarks K_X becomes Phi Phi', and by the QR Phi = U R the same holds with B = Q Phi R' of n x rank.
 */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/kernel_spectrum.h"
#include "math/linalg.h"
#include "math/serial_blas.h"
#include "methods/gsave_middle.h"
#include "methods/kernel_map.h"

static const sn_param params[] = {
    SN_PARAMS_OF_KERNEL,
    {"ex", SN_REAL, "0.1", 1e-12, 1e3, NULL,
     "ridge on the features' squared Gram matrix, as a share of its largest eigenvalue"},
    {"ey", SN_REAL, "0.1", 1e-12, 1e3, NULL, "the same for a numeric response; classes need none"},
};

typedef struct gsave {
    int64_t n, k; /* rows, columns of b */
    double ex;
    double *b;             /* n x k */
    double *l;             /* k x k */
    double *spare;         /* k x columns of a block */
    double *inner, *outer; /* n x columns of a block */
    sn_middle *middle;
    int64_t room;       /* columns that fit in spare, inner and outer */
    sn_workspace *keep; /* where all this lies */
} gsave;

/* out = L^{-1} B' Mid B L^{-T} in. */
static stonet_status apply(void *context, int64_t columns, const double *in, double *out)
{
    gsave *g = context;
    if (columns > g->room) {
        SN_TRY(SN_TAKE(g->keep, g->spare, g->k * columns));
        SN_TRY(SN_TAKE_EACH(g->keep, g->n * columns, &g->inner, &g->outer));
        g->room = columns;
    }
    memcpy(g->spare, in, (size_t)(g->k * columns) * sizeof *in);
    sn_triangular_solve(g->k, true, g->l, columns, g->spare);
    sn_multiply(sn_as(g->b, g->n, g->k), sn_as(g->spare, g->k, columns), g->inner);
    SN_TRY(sn_middle_apply(g->middle, columns, g->inner, g->outer));
    sn_multiply(sn_turned(g->b, g->n, g->k), sn_as(g->outer, g->n, columns), out);
    sn_triangular_solve(g->k, false, g->l, columns, out);
    return STONET_OK;
}

/* Of B'B and of its factor. */
static double products_work(const gsave *g)
{
    return (double)g->n * (double)g->k * (double)g->k;
}

static double cube_work(const gsave *g)
{
    return (double)g->k * (double)g->k * (double)g->k / 3.0;
}

/* L with L L' = B'B + ridge. */
static stonet_status factor(gsave *g, sn_stages *stages)
{
    double largest;
    SN_TRY(SN_TAKE(g->keep, g->l, g->k * g->k));
    SN_TRY(sn_stages_next(stages, "covariance", products_work(g)));
    sn_syrk_tn(g->k, g->n, 1.0, g->b, 0.0, g->l);
    SN_TRY(sn_largest_eigenvalue(g->k, g->l, &largest));
    sn_add_diagonal(g->k, g->ex * largest, g->l);
    SN_TRY(sn_stages_next(stages, "factorisation", cube_work(g)));
    return sn_cholesky(g->k, g->l);
}

/* a (k x *dim): L^{-T} v; scores (n x *dim): B a. */
static stonet_status solve(gsave *g, sn_stages *stages, int64_t *dim, double **a, double **scores)
{
    int64_t count = *dim < g->k ? *dim : g->k;
    SN_ARRAY(count, double, values);
    SN_ARRAY(g->k * count, double, v);
    const stonet_run *run = stages->run;
    SN_TRY(factor(g, stages));
    SN_TRY(sn_top_eigenpairs(&(sn_operator){g->k, apply, g}, count, 1e-10, run, values, v));
    SN_TRY(sn_kernel_limit(run, "gsave", *dim, count, values, "the kernel of the features has no more", dim));
    SN_TRY(SN_TAKE(g->keep, *a, g->k * *dim));
    SN_TRY(SN_TAKE(g->keep, *scores, g->n * *dim));
    sn_first_columns(g->k, count, v, *dim, *a);
    sn_triangular_solve(g->k, true, g->l, *dim, *a);
    sn_multiply(sn_as(g->b, g->n, g->k), sn_as(*a, g->k, *dim), *scores);
    return STONET_OK;
}

static stonet_status fit_exact(gsave *g, const sn_kernel_input *input, const stonet_run *run, int64_t dim,
                               sn_fit_result *result)
{
    int64_t n = input->n;
    double *a = NULL, *scores = NULL;
    g->k = n;
    SN_TRY(SN_TAKE(g->keep, g->b, n * n));
    SN_ARRAY(n, double, mean);
    const double gram = sn_gram_work(n, n, input->p);
    sn_stages stages = sn_stages_of(run, gram + products_work(g) + cube_work(g));
    SN_TRY(sn_stages_next(&stages, "kernel matrix", gram));
    SN_TRY(sn_gaussian_gram(n, n, input->p, input->x, input->x, input->gamma, g->b));
    sn_column_means(n, n, g->b, mean);
    sn_subtract_row(n, n, mean, g->b);
    SN_TRY(solve(g, &stages, &dim, &a, &scores));
    return sn_kernel_map_create(input, dim, a, mean, scores, result);
}

/* R (m x m, upper) with R'R = Phi'Phi for the features before centring, of which phi (n x m) and mean are
   what centring makes: the QR of the centred ones with a row sqrt(n) mean' more. Householder, because Phi'Phi
   itself may be singular to rounding. Row-major Phi is column-major Phi', whose LQ factor is R in our
   reading. */
static stonet_status second_moment_root(int64_t n, int64_t m, const double *phi, const double *mean,
                                        double *r)
{
    SN_ARRAY((n + 1) * m, double, rows);
    SN_ARRAY(m, double, tau);
    memcpy(rows, phi, (size_t)(n * m) * sizeof *phi);
    for (int64_t j = 0; j < m; j++) rows[n * m + j] = sqrt((double)n) * mean[j];
    SN_SERIAL_BLAS;
    lapack_int info = LAPACKE_dgelqf(LAPACK_COL_MAJOR, (int)m, (int)(n + 1), rows, (int)m, tau);
    SN_TRY(sn_lapack_status(info, "QR decomposition of gsave"));
    for (int64_t i = 0; i < m; i++) memcpy(r + i * m + i, rows + i * m + i, (size_t)(m - i) * sizeof *r);
    return STONET_OK;
}

/* z(x) = a'R (phi(x) - mean): the coefficients of the features are R'a, and the mean of k(x) is L times that
   of phi(x). */
static stonet_status fit_features(gsave *g, const sn_kernel_input *input, const stonet_run *run, int64_t dim,
                                  sn_fit_result *result)
{
    sn_landmarks landmarks;
    g->k = input->m; /* or fewer */
    const double gram = sn_gram_work(input->n, input->m, input->p);
    sn_stages stages = sn_stages_of(run, gram + 3.0 * products_work(g) + cube_work(g));
    SN_TRY(sn_stages_next(&stages, "landmark features", gram + 2.0 * products_work(g)));
    SN_TRY(sn_landmarks_create(input->m, input->p, input->centres, input->gamma, g->keep, &landmarks));
    const int64_t n = input->n, m = landmarks.rank;
    const sn_kernel_input kernels = {
        .n = n, .p = input->p, .m = m, .gamma = input->gamma, .centres = landmarks.centres};
    double *a = NULL, *scores = NULL;
    SN_ARRAY(n * m, double, phi);
    SN_ARRAY(m, double, mean);
    SN_ZEROS(m * m, double, r);
    SN_TRY(sn_landmarks_features(&landmarks, n, input->x, phi));
    sn_column_means(n, m, phi, mean);
    sn_subtract_row(n, m, mean, phi);
    SN_TRY(second_moment_root(n, m, phi, mean, r));
    g->k = m;
    SN_TRY(SN_TAKE(g->keep, g->b, n * m));
    sn_multiply(sn_as(phi, n, m), sn_turned(r, m, m), g->b);
    SN_TRY(solve(g, &stages, &dim, &a, &scores));
    SN_ARRAY(m * dim, double, turned);
    SN_ARRAY(m, double, of_kernels);
    sn_multiply(sn_turned(r, m, m), sn_as(a, m, dim), turned);
    sn_landmarks_coefficients(&landmarks, dim, turned);
    sn_gemv(1.0, sn_as(landmarks.l, m, m), mean, 0.0, of_kernels);
    return sn_kernel_map_create(&kernels, dim, turned, of_kernels, scores, result);
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    gsave g = {.n = problem->n, .ex = sn_real(settings, "ex"), .keep = &scratch};
    sn_kernel_input input;
    SN_TRY(sn_kernel_memory(problem, settings, "gsave", 3.1, 3.1));
    SN_TRY(sn_kernel_input_create(problem, settings, SN_MEAN_DISTANCE, run->seed, &scratch, &input));
    SN_TRY(sn_middle_create(problem, sn_real(settings, "ey"), run->seed, &scratch, &g.middle));
    return input.exact ? fit_exact(&g, &input, run, dim, result) : fit_features(&g, &input, run, dim, result);
}

const sn_method sn_method_gsave = {
    .name = "gsave",
    .title = "Generalised sliced average variance estimation (Lee, Li and Chiaromonte 2013)",
    .python = "GSAVE",
    .tasks = SN_TASK_BOTH,
    .grid = {{"complexity=0.1,0.3,1,3", SN_TASK_BOTH}, {"ex=1e-3,1e-2,1e-1", SN_TASK_BOTH}},
    SN_KERNEL_METHOD,
};
