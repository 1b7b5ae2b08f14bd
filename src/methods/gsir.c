/*
 * Generalised sliced inverse regression (Lee, Li and Chiaromonte 2013).
 *
 * With Q = I - 11'/n, G_X = Q K_X Q, rho = ex lambda_max(G_X) and R = (G_X + rho I)^{-1}, the candidate
 * matrix is
 *
 *     M = (R G_X) a2 (R G_X)',    a2 = G_Y, or G_Y (G_Y + ey lambda_max(G_Y) I)^{-1} ("gyinv"),
 *
 * and z_k(x) = v_k' R Q k(x) for the leading eigenvectors v_k of M. The response kernel is K_Y = F F' with
 * few columns (class indicators, or an incomplete Cholesky), so M = T T' with T = R G_X F = F - rho R F: one
 * factorisation of an n x n matrix, and the SVD of an n x rank one, in place of several eigendecompositions.
 * For classes the inverse in gyinv is the Moore-Penrose one: a2 projects on the centred indicators.
 *
 * With landmarks K_X is replaced by Phi Phi' (math/kernel_lowrank.h) and everything happens in feature space.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/kernel_spectrum.h"
#include "math/linalg.h"
#include "methods/kernel_map.h"
#include "methods/kernel_response.h"

static const sn_param params[] = {
    SN_PARAMS_OF_KERNEL,
    {"ex", SN_REAL, "auto", 1e-12, 1e3, "auto",
     "ridge on the features' Gram matrix, as a share of its largest eigenvalue; auto: by the error "
     "of rows left out"},
    {"ey", SN_REAL, "0.1", 1e-12, 1e3, NULL, "the same for the response (regression with atype=gyinv)"},
    {"atype", SN_CHOICE, "identity", 0, 0, "identity|gyinv",
     "weight of the response: its Gram matrix, or that times its inverse"},
};

typedef struct gsir {
    const sn_problem *problem;
    const stonet_run *run;
    sn_kernel_input input;
    double ex;
    int64_t rank; /* columns of f */
    double *f;    /* n x rank: a2 = f f' */
    int64_t dim;
} gsir;

/* The dimension that r singular values of T allow. */
static stonet_status limit(gsir *g, int64_t r, const double *singular)
{
    const char *why = g->problem->task == SN_CLASSIFICATION ? "C classes have at most C - 1"
                                                            : "the response kernel has no more";
    return sn_kernel_limit(g->run, "gsir", g->dim, r, singular, why, &g->dim);
}

/* Exact: T = F - rho R F, A = R V, scores G_X R V = V - rho A. */
static stonet_status fit_exact(gsir *g, sn_fit_result *result)
{
    const int64_t n = g->input.n, r = n < g->rank ? n : g->rank;
    double largest;
    SN_ARRAY(n * n, double, k);
    SN_ARRAY(n, double, mean);
    SN_ARRAY(n * g->rank, double, t);
    SN_ARRAY(n * r, double, u);
    SN_ARRAY(r, double, s);
    const double gram = sn_gram_work(n, n, g->input.p), cube = (double)n * (double)n * (double)n / 3.0,
                 solves = 2.0 * (double)n * (double)n * (double)g->rank;
    sn_stages stages = sn_stages_of(g->run, gram + cube + solves);
    SN_TRY(sn_stages_next(&stages, "kernel matrix", gram));
    SN_TRY(sn_gaussian_gram(n, n, g->input.p, g->input.x, g->input.x, g->input.gamma, k));
    sn_centre_gram(n, k, mean);
    SN_TRY(sn_largest_eigenvalue(n, k, &largest));
    double rho = g->ex * largest;
    SN_TRY(sn_stages_next(&stages, "factorisation", cube));
    sn_add_diagonal(n, rho, k);
    SN_TRY(sn_cholesky(n, k));
    SN_TRY(sn_stages_next(&stages, "directions", solves));
    memcpy(t, g->f, (size_t)(n * g->rank) * sizeof *t);
    SN_TRY(sn_cholesky_solve(n, k, g->rank, t));
    for (int64_t i = 0; i < n * g->rank; i++) t[i] = g->f[i] - rho * t[i];
    SN_TRY(sn_svd(n, g->rank, t, u, s, NULL));
    SN_TRY(limit(g, r, s));
    SN_ARRAY(n * g->dim, double, v);
    SN_ARRAY(n * g->dim, double, a);
    sn_first_columns(n, r, u, g->dim, v);
    memcpy(a, v, (size_t)(n * g->dim) * sizeof *a);
    SN_TRY(sn_cholesky_solve(n, k, g->dim, a));
    for (int64_t i = 0; i < n * g->dim; i++) v[i] -= rho * a[i];
    return sn_kernel_map_create(&g->input, g->dim, a, mean, v, result);
}

/* The eigenvectors w (rank x rank) of T'T = C'S0 C and the roots of its eigenvalues; what is rounding becomes
 * 0. */
static stonet_status right_vectors(int64_t m, int64_t rank, const double *s0, const double *c,
                                   double *singular, double *w)
{
    const double rounding = 1e-14;
    SN_ARRAY(m * rank, double, product);
    SN_ARRAY(rank * rank, double, inner);
    sn_multiply(sn_as(s0, m, m), sn_as(c, m, rank), product);
    sn_multiply(sn_turned(c, m, rank), sn_as(product, m, rank), inner);
    SN_TRY(sn_eigh(rank, inner, singular, w));
    const double least = rounding * singular[0];
    for (int64_t j = 0; j < rank; j++) singular[j] = singular[j] > least ? sqrt(singular[j]) : 0.0;
    return STONET_OK;
}

/*
 * Landmarks: with the centred features S0 = Phi'Phi, S = S0 + rho and C = S^{-1} Phi'F, T = Phi C = U s W'
 * has T'T = C'S0 C, and A = S^{-1} Phi'U = (C - rho S^{-1} C) W s^{-1}: of the rows nothing is needed but
 * Phi'Phi and Phi'F, sums that ranks can share out.
 */
static stonet_status fit_features(gsir *g, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    sn_landmarks landmarks;
    const sn_kernel_input *input = &g->input;
    const double work = sn_gram_work(input->n, input->m, input->p) +
                        2.0 * (double)input->n * (double)input->m * (double)input->m,
                 cube = (double)input->m * (double)input->m * (double)input->m / 3.0;
    sn_stages stages = sn_stages_of(g->run, work + cube);
    SN_TRY(sn_stages_next(&stages, "landmark features", work));
    SN_TRY(sn_landmarks_create(input->m, input->p, input->centres, input->gamma, &scratch, &landmarks));
    const sn_row_columns columns = sn_feature_columns(input, &landmarks, g->run->team);
    const int64_t m = columns.m, rank = g->rank;
    double largest;
    SN_ARRAY(m, double, mean);
    SN_ARRAY(m * m, double, s0);
    SN_ARRAY(m * m, double, s);
    SN_ARRAY(m * rank, double, c);
    SN_ARRAY(m * rank, double, t);
    SN_ARRAY(rank * rank, double, w);
    SN_ARRAY(rank, double, singular);
    SN_TRY(sn_row_columns_products(&columns, rank, g->f, mean, s0, c));
    SN_TRY(sn_stages_next(&stages, "directions", cube));
    SN_TRY(sn_largest_eigenvalue(m, s0, &largest));
    const double rho = g->ex * largest;
    memcpy(s, s0, (size_t)(m * m) * sizeof *s);
    sn_add_diagonal(m, rho, s);
    SN_TRY(sn_cholesky(m, s));
    SN_TRY(sn_cholesky_solve(m, s, rank, c));
    SN_TRY(right_vectors(m, rank, s0, c, singular, w));
    SN_TRY(limit(g, m < rank ? m : rank, singular));
    memcpy(t, c, (size_t)(m * rank) * sizeof *t);
    SN_TRY(sn_cholesky_solve(m, s, rank, t));
    for (int64_t i = 0; i < m * rank; i++) t[i] = c[i] - rho * t[i];
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < g->dim; j++) w[i * g->dim + j] = w[i * rank + j] / singular[j];
    SN_ARRAY(m * g->dim, double, a);
    sn_multiply(sn_as(t, m, rank), sn_as(w, rank, g->dim), a);
    return sn_columns_map(&columns, mean, s0, g->dim, a, result);
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    gsir g = {.problem = problem, .run = run, .dim = dim};
    SN_TRY(sn_kernel_memory(problem, settings, "gsir", 1.1, 0.0));
    SN_TRY(sn_kernel_input_create(problem, settings, SN_MEAN_DISTANCE, run->seed, &scratch, &g.input));
    SN_TRY(sn_response_factor(problem, SN_MEAN_DISTANCE, run->seed, &scratch, &g.f, &g.rank));
    SN_ARRAY(g.rank, double, mean);
    sn_column_means(problem->n, g.rank, g.f, mean);
    sn_subtract_row(problem->n, g.rank, mean, g.f);
    /* For gyinv too a2 is to be F F': with F'F = V D V' that is F V (D + ridge)^{-1/2}. Centring makes the
       indicators dependent: Moore-Penrose leaves that direction out. */
    if (!sn_is(settings, "atype", "identity"))
        SN_TRY(sn_whiten_columns(1.0, sn_as(g.f, problem->n, g.rank),
                                 problem->task == SN_REGRESSION ? sn_real(settings, "ey") : 0.0, 1e-9,
                                 &scratch, &g.rank, &g.f));
    if (sn_is(settings, "ex", "auto")) {
        SN_TRY(sn_kernel_ridge_choose(&g.input, g.rank, g.f, run, &g.ex));
        sn_message(run, STONET_NOTE, "gsir: leave-one-out chose ex=%.3g", g.ex);
    } else {
        g.ex = sn_real(settings, "ex");
    }
    return g.input.exact ? fit_exact(&g, result) : fit_features(&g, result);
}

const sn_method sn_method_gsir = {
    .name = "gsir",
    .title = "Generalised sliced inverse regression (Lee, Li and Chiaromonte 2013)",
    .python = "GSIR",
    .tasks = SN_TASK_BOTH,
    .shares_landmarks = true,
    .grid = {{"complexity=0.1,0.3,1,3", SN_TASK_BOTH}}, /* a fit chooses ex by itself */
    SN_KERNEL_METHOD,
};
