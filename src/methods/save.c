/*
 * Sliced average variance estimation: the leading eigenvectors of M = sum_h p_h (I - V_h)^2, with V_h the
 * covariance (divisor n_h) of the whitened x in slice h.
 */
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "methods/inverse.h"

static const sn_param params[] = {SN_PARAM_SLICES, SN_PARAM_RIDGE};

/* a (rank x rank) = I - V_h = I - E[ZZ'|h] + zbar_h zbar_h'. */
static stonet_status departure(const sn_inverse *inverse, const float *x, int64_t h, double *a)
{
    int64_t rank = inverse->whitening.rank;
    const double *mean = inverse->mean + h * rank;
    SN_TRY(sn_inverse_second(inverse, x, h, a));
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < rank; j++)
            a[i * rank + j] = (i == j ? 1.0 : 0.0) - a[i * rank + j] + mean[i] * mean[j];
    return STONET_OK;
}

/*
 * T_k = n/2 sum_h p_h |theta'(I - V_h) theta|_F^2, theta the eigenvectors after the first k; chi-square with
 * (slices - 1)(rank - k)(rank - k + 1)/2 degrees of freedom for normal x.
 */
static stonet_status find_tests(const sn_inverse *inverse, const float *x, const double *u, sn_tests *tests)
{
    int64_t rank = inverse->whitening.rank, count = rank < SN_MAX_TESTS ? rank : SN_MAX_TESTS;
    double *a = NULL, *au = NULL, *q = NULL, *test = tests->test;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(a, rank * rank), done);
    SN_GOTO(status, SN_NEW_RAW(au, rank * rank), done);
    SN_GOTO(status, SN_NEW_RAW(q, rank * rank), done);
    for (int64_t h = 0; h < inverse->slices.count; h++) {
        SN_GOTO(status, departure(inverse, x, h, a), done);
        sn_gemm(false, false, rank, rank, rank, 1.0, a, u, 0.0, au);
        sn_gemm(true, false, rank, rank, rank, 1.0, u, au, 0.0, q);
        double tail = 0.0;
        for (int64_t k = rank - 1; k >= 0; k--) { /* the block of q from row and column k on */
            const double *row = q + k * rank;
            tail += 2.0 * sn_dot(rank - k, row + k, row + k) - row[k] * row[k];
            if (k < count) test[2 * k] += 0.5 * (double)inverse->whitening.n * inverse->weight[h] * tail;
        }
    }
    for (int64_t k = 0; k < count; k++)
        test[2 * k + 1] =
            0.5 * (double)(inverse->slices.count - 1) * (double)(rank - k) * (double)(rank - k + 1);
    tests->count = count;
done:
    sn_free(a);
    sn_free(au);
    sn_free(q);
    return status;
}

static stonet_status solve(const sn_inverse *inverse, const float *x, int64_t dim, bool with_tests,
                           const stonet_run *run, sn_fit_result *result)
{
    int64_t rank = inverse->whitening.rank;
    double *a = NULL, *m = NULL, *value = NULL, *u = NULL;
    sn_tests tests = {0};
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(a, rank * rank), done);
    SN_GOTO(status, SN_NEW(m, rank * rank), done);
    SN_GOTO(status, SN_NEW_RAW(value, rank), done);
    SN_GOTO(status, SN_NEW_RAW(u, rank * rank), done);
    for (int64_t h = 0; h < inverse->slices.count; h++) {
        SN_GOTO(status, departure(inverse, x, h, a), done);
        sn_syrk_tn(rank, rank, inverse->weight[h], a, 1.0, m);
    }
    SN_GOTO(status, sn_eigh(rank, m, value, u), done);
    dim = sn_limit_dim(run, "save", dim, rank, "the rank of x");
    if (with_tests) SN_GOTO(status, find_tests(inverse, x, u, &tests), done);
    status = sn_whitened_result(&inverse->whitening, dim, rank, u, rank, value, &tests, result);
done:
    sn_free(a);
    sn_free(m);
    sn_free(value);
    sn_free(u);
    return status;
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    sn_inverse inverse;
    SN_TRY(sn_inverse_fit(problem, "save", settings, run, &inverse));
    stonet_status status = solve(&inverse, problem->x, dim, sn_real(settings, "ridge") == 0.0, run, result);
    sn_inverse_clear(&inverse);
    return status;
}

extern const sn_method sn_method_save;
const sn_method sn_method_save = {
    .name = "save",
    .title = "Sliced average variance estimation (Cook and Weisberg 1991)",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .fit = fit,
    SN_LINEAR_MAP_STATE,
};
