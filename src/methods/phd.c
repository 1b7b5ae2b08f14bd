/*
 * Principal Hessian directions: with z the whitened x and r the response (or its residuals of a linear fit),
 * the eigenvectors of M = 1/n sum_i r_i z_i z_i' of largest |eigenvalue|. With several responses (targets, or
 * the class indicators less their means) they are the left singular vectors of [M_1 ... M_K], the same thing
 * for K = 1.
 */
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "methods/inverse.h"

static const sn_param params[] = {
    {"response", SN_CHOICE, "residual", 0, 0, "residual|raw",
     "take the Hessian of the residuals of a linear fit, or of the response itself"},
    SN_PARAM_RIDGE,
};

/* r (n x K): the targets, or class indicators, less their means. */
static void centred_responses(const sn_problem *problem, int64_t k, double *r)
{
    int64_t n = problem->n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            r[i * k + j] =
                problem->task == SN_CLASSIFICATION ? (double)(problem->label[i] == j) : problem->y[i * k + j];
    for (int64_t j = 0; j < k; j++) {
        double mean = 0.0;
        for (int64_t i = 0; i < n; i++) mean += r[i * k + j];
        for (int64_t i = 0; i < n; i++) r[i * k + j] -= mean / (double)n;
    }
}

/* Scratch for a block of whitened rows. */
typedef struct rows {
    int64_t block;
    double *centred, *z, *weighted;
} rows;

/* r -= Z (Z'r / n): the residuals of least squares on the whitened x (of ridge regression when it has a
 * ridge). */
static stonet_status take_residuals(const sn_problem *problem, const sn_whitening *whitening, rows *scratch,
                                    int64_t k, double *r)
{
    int64_t n = problem->n, rank = whitening->rank;
    double *slope = NULL;
    SN_TRY(SN_NEW(slope, rank * k));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t first = 0; first < n; first += scratch->block) {
            int64_t count = n - first < scratch->block ? n - first : scratch->block;
            sn_whiten_rows(whitening, problem->x, NULL, first, count, scratch->centred, scratch->z);
            if (pass == 0)
                sn_gemm(true, false, rank, k, count, 1.0 / (double)n, scratch->z, r + first * k, 1.0, slope);
            else
                sn_gemm(false, false, count, k, rank, -1.0, scratch->z, slope, 1.0, r + first * k);
        }
    }
    sn_free(slope);
    return STONET_OK;
}

/* hessian (K blocks of rank x rank, each symmetric): M_k = 1/n sum_i r_ik z_i z_i'. */
static void hessians(const sn_problem *problem, const sn_whitening *whitening, rows *scratch, int64_t k,
                     const double *r, double *hessian)
{
    int64_t n = problem->n, rank = whitening->rank;
    for (int64_t first = 0; first < n; first += scratch->block) {
        int64_t count = n - first < scratch->block ? n - first : scratch->block;
        sn_whiten_rows(whitening, problem->x, NULL, first, count, scratch->centred, scratch->z);
        for (int64_t j = 0; j < k; j++) {
            for (int64_t i = 0; i < count; i++)
                for (int64_t c = 0; c < rank; c++)
                    scratch->weighted[i * rank + c] = r[(first + i) * k + j] * scratch->z[i * rank + c];
            sn_gemm(true, false, rank, rank, count, 1.0 / (double)n, scratch->weighted, scratch->z, 1.0,
                    hessian + j * rank * rank);
        }
    }
}

/* T_k = n / (2 var r) sum_{j > k} lambda_j^2, chi-square with (rank - k)(rank - k + 1)/2 degrees of freedom
   for normal x and a response independent of it. */
static void find_tests(int64_t n, int64_t rank, const double *value, const double *r, sn_tests *tests)
{
    double tail = 0.0, variance = sn_dot(n, r, r) / (double)n;
    tests->count = rank < SN_MAX_TESTS ? rank : SN_MAX_TESTS;
    for (int64_t k = rank - 1; k >= 0; k--) {
        tail += value[k] * value[k];
        if (k >= tests->count) continue;
        tests->test[2 * k] = 0.5 * (double)n * tail / variance;
        tests->test[2 * k + 1] = 0.5 * (double)(rank - k) * (double)(rank - k + 1);
    }
}

static stonet_status solve(const sn_problem *problem, const sn_whitening *whitening, int64_t dim,
                           const sn_settings *settings, const stonet_run *run, sn_fit_result *result)
{
    int64_t n = problem->n, rank = whitening->rank, k = problem->outputs;
    rows scratch = {.block = sn_block_rows(n, problem->p)};
    double *r = NULL, *hessian = NULL, *value = NULL, *vt = NULL, *u = NULL;
    sn_tests tests = {0};
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(scratch.centred, scratch.block * problem->p), done);
    SN_GOTO(status, SN_NEW_RAW(scratch.z, scratch.block * rank), done);
    SN_GOTO(status, SN_NEW_RAW(scratch.weighted, scratch.block * rank), done);
    SN_GOTO(status, SN_NEW_RAW(r, n * k), done);
    SN_GOTO(status, SN_NEW(hessian, k * rank * rank), done);
    SN_GOTO(status, SN_NEW_RAW(value, rank), done);
    SN_GOTO(status, SN_NEW_RAW(vt, rank * rank), done);
    SN_GOTO(status, SN_NEW_RAW(u, rank * rank), done);

    centred_responses(problem, k, r);
    double before = sn_norm(n * k, r);
    if (sn_is(settings, "response", "residual"))
        SN_GOTO(status, take_residuals(problem, whitening, &scratch, k, r), done);
    if (sn_norm(n * k, r) <= 1e-9 * before) {
        status = sn_fail(STONET_ERROR_DATA,
                         "phd: a linear fit leaves no residuals (%lld columns of rank %lld, %lld "
                         "rows): set response=raw or a ridge",
                         (long long)problem->p, (long long)rank, (long long)n);
        goto done;
    }
    hessians(problem, whitening, &scratch, k, r, hessian);
    SN_GOTO(status, sn_svd(k * rank, rank, hessian, NULL, value, vt), done);
    sn_transpose(rank, rank, vt, u);
    dim = sn_limit_dim(run, "phd", dim, rank, "the rank of x");
    if (k == 1 && sn_real(settings, "ridge") == 0.0) find_tests(n, rank, value, r, &tests);
    status = sn_whitened_result(whitening, dim, rank, u, rank, value, &tests, result);
done:
    sn_free(scratch.centred);
    sn_free(scratch.z);
    sn_free(scratch.weighted);
    sn_free(r);
    sn_free(hessian);
    sn_free(value);
    sn_free(vt);
    sn_free(u);
    return status;
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    sn_whitening whitening;
    SN_TRY(sn_whiten_problem(problem, "phd", sn_real(settings, "ridge"), run, &whitening));
    stonet_status status = solve(problem, &whitening, dim, settings, run, result);
    sn_whitening_clear(&whitening);
    return status;
}

extern const sn_method sn_method_phd;
const sn_method sn_method_phd = {
    .name = "phd",
    .title = "Principal Hessian directions (Li 1992)",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .fit = fit,
    SN_LINEAR_MAP_STATE,
};
