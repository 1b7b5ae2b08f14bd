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
    SN_PARAM_COMPLEXITY,
    SN_PARAM_BANDWIDTH,
    SN_PARAM_LANDMARKS,
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
    int64_t room; /* columns that fit in spare, inner and outer */
} gsave;

static void release(gsave *g)
{
    sn_free(g->b);
    sn_free(g->l);
    sn_free(g->spare);
    sn_free(g->inner);
    sn_free(g->outer);
    sn_middle_free(g->middle);
}

static stonet_status make_room(gsave *g, int64_t columns)
{
    if (columns <= g->room) return STONET_OK;
    sn_free(g->spare);
    sn_free(g->inner);
    sn_free(g->outer);
    g->spare = g->inner = g->outer = NULL;
    SN_TRY(SN_NEW_RAW(g->spare, g->k * columns));
    SN_TRY(SN_NEW_RAW(g->inner, g->n * columns));
    SN_TRY(SN_NEW_RAW(g->outer, g->n * columns));
    g->room = columns;
    return STONET_OK;
}

/* out = L^{-1} B' Mid B L^{-T} in. */
static stonet_status apply(void *context, int64_t columns, const double *in, double *out)
{
    gsave *g = context;
    SN_TRY(make_room(g, columns));
    memcpy(g->spare, in, (size_t)(g->k * columns) * sizeof *in);
    sn_triangular_solve(g->k, true, g->l, columns, g->spare);
    sn_gemm(false, false, g->n, columns, g->k, 1.0, g->b, g->spare, 0.0, g->inner);
    SN_TRY(sn_middle_apply(g->middle, columns, g->inner, g->outer));
    sn_gemm(true, false, g->k, columns, g->n, 1.0, g->b, g->outer, 0.0, out);
    sn_triangular_solve(g->k, false, g->l, columns, out);
    return STONET_OK;
}

/* L with L L' = B'B + ridge. */
static stonet_status factor(gsave *g, const stonet_run *run)
{
    double largest;
    SN_TRY(SN_NEW_RAW(g->l, g->k * g->k));
    SN_TRY(sn_kernel_stage(run, "covariance", 1, 3));
    sn_syrk_tn(g->k, g->n, 1.0, g->b, 0.0, g->l);
    SN_TRY(sn_largest_eigenvalue(g->k, g->l, &largest));
    sn_add_diagonal(g->k, g->ex * largest, g->l);
    SN_TRY(sn_kernel_stage(run, "factorisation", 2, 3));
    return sn_cholesky(g->k, g->l);
}

/* a (k x *dim, allocated): L^{-T} v; scores (n x *dim, allocated): B a. */
static stonet_status solve(gsave *g, const stonet_run *run, int64_t *dim, double **a, double **scores)
{
    int64_t count = *dim < g->k ? *dim : g->k;
    double *values = NULL, *v = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(values, count), done);
    SN_GOTO(status, SN_NEW_RAW(v, g->k * count), done);
    SN_GOTO(status, factor(g, run), done);
    SN_GOTO(status, sn_top_eigenpairs(g->k, count, apply, g, 1e-10, run, values, v), done);
    SN_GOTO(status,
            sn_kernel_limit(run, "gsave", *dim, count, values, "the kernel of the features has no more", dim),
            done);
    SN_GOTO(status, SN_NEW_RAW(*a, g->k * *dim), done);
    SN_GOTO(status, SN_NEW_RAW(*scores, g->n * *dim), done);
    sn_first_columns(g->k, count, v, *dim, *a);
    sn_triangular_solve(g->k, true, g->l, *dim, *a);
    sn_gemm(false, false, g->n, *dim, g->k, 1.0, g->b, *a, 0.0, *scores);
done:
    sn_free(values);
    sn_free(v);
    return status;
}

static stonet_status fit_exact(gsave *g, const sn_kernel_input *input, const stonet_run *run, int64_t *dim,
                               sn_kernel_map **map)
{
    int64_t n = input->n;
    double *mean = NULL, *a = NULL, *scores = NULL;
    stonet_status status;
    g->k = n;
    SN_GOTO(status, SN_NEW_RAW(g->b, n * n), done);
    SN_GOTO(status, SN_NEW_RAW(mean, n), done);
    SN_GOTO(status, sn_kernel_stage(run, "kernel matrix", 0, 3), done);
    SN_GOTO(status, sn_gaussian_gram(n, n, input->p, input->x, input->x, input->gamma, g->b), done);
    sn_column_means(n, n, g->b, mean);
    sn_subtract_row(n, n, mean, g->b);
    SN_GOTO(status, solve(g, run, dim, &a, &scores), done);
    status = sn_kernel_map_create(n, input->p, input->x, input->gamma, *dim, a, mean, n, scores, map);
done:
    sn_free(mean);
    sn_free(a);
    sn_free(scores);
    return status;
}

/* R (m x m, upper) with R'R = Phi'Phi for the features before centring: the QR of the centred ones with a row
   sqrt(n) mean' more. Householder, because Phi'Phi itself may be singular to rounding. Row-major Phi is
   column-major Phi', whose LQ factor is R in our reading. */
static stonet_status second_moment_root(int64_t n, const sn_features *features, double **r)
{
    int64_t m = features->landmarks.rank;
    double *phi = NULL, *tau = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(phi, (n + 1) * m), done);
    SN_GOTO(status, SN_NEW_RAW(tau, m), done);
    SN_GOTO(status, SN_NEW(*r, m * m), done);
    memcpy(phi, features->phi, (size_t)(n * m) * sizeof *phi);
    for (int64_t j = 0; j < m; j++) phi[n * m + j] = sqrt((double)n) * features->mean[j];
    int threads = sn_serial_blas_begin();
    lapack_int info = LAPACKE_dgelqf(LAPACK_COL_MAJOR, (int)m, (int)(n + 1), phi, (int)m, tau);
    sn_serial_blas_end(threads);
    SN_GOTO(status, sn_lapack_status(info, "QR decomposition of gsave"), done);
    for (int64_t i = 0; i < m; i++) memcpy(*r + i * m + i, phi + i * m + i, (size_t)(m - i) * sizeof *phi);
done:
    sn_free(phi);
    sn_free(tau);
    return status;
}

/* z(x) = a'R (phi(x) - mean): the coefficients of the features are R'a. */
static stonet_status fit_features(gsave *g, const sn_kernel_input *input, const stonet_run *run, int64_t *dim,
                                  sn_kernel_map **map)
{
    sn_features features;
    SN_TRY(sn_kernel_stage(run, "landmark features", 0, 3));
    SN_TRY(sn_features_create(input, &features));
    int64_t n = input->n, m = features.landmarks.rank;
    double *r = NULL, *a = NULL, *scores = NULL, *turned = NULL;
    stonet_status status;
    g->k = m;
    SN_GOTO(status, second_moment_root(n, &features, &r), done);
    SN_GOTO(status, SN_NEW_RAW(g->b, n * m), done);
    sn_gemm(false, true, n, m, m, 1.0, features.phi, r, 0.0, g->b);
    SN_GOTO(status, solve(g, run, dim, &a, &scores), done);
    SN_GOTO(status, SN_NEW_RAW(turned, m * *dim), done);
    sn_gemm(true, false, m, *dim, m, 1.0, r, a, 0.0, turned);
    status = sn_features_map(&features, *dim, turned, n, scores, map);
done:
    sn_free(r);
    sn_free(a);
    sn_free(scores);
    sn_free(turned);
    sn_features_free(&features);
    return status;
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    gsave g = {.n = problem->n, .ex = sn_real(settings, "ex")};
    sn_kernel_input input = {0};
    sn_kernel_map *map = NULL;
    SN_TRY(sn_kernel_memory(problem, settings, "gsave", 3.1));
    stonet_status status;
    SN_GOTO(status, sn_kernel_input_create(problem, settings, run, &input), done);
    SN_GOTO(status, sn_middle_create(problem, sn_real(settings, "ey"), run, &g.middle), done);
    status = input.exact ? fit_exact(&g, &input, run, &dim, &map) : fit_features(&g, &input, run, &dim, &map);
    if (status != STONET_OK) goto done;
    *result = (sn_fit_result){.state = map, .dim = dim, .outcome = STONET_DONE};
done:
    release(&g);
    sn_kernel_input_free(&input);
    return status;
}

extern const sn_method sn_method_gsave;
const sn_method sn_method_gsave = {
    .name = "gsave",
    .title = "Generalised sliced average variance estimation (Lee, Li and Chiaromonte 2013)",
    .python = "GSAVE",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .grid = {{"complexity=0.1,0.3,1,3", SN_TASK_BOTH}, {"ex=1e-3,1e-2,1e-1", SN_TASK_BOTH}},
    .fit = fit,
    SN_KERNEL_MAP_STATE,
};
