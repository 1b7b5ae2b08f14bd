/*
 * Sliced inverse regression: with z the whitened x and zbar_h the mean of slice h (share p_h), the directions
 * are the leading eigenvectors of M = sum_h p_h zbar_h zbar_h', found as the right singular vectors of the
 * slices x rank matrix with rows sqrt(p_h) zbar_h. M has rank at most slices - 1.
 */
#include <math.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "methods/inverse.h"

static const sn_param params[] = {SN_PARAM_SLICES, SN_PARAM_RIDGE};

/* Slice means of coordinates with variance 1: a singular value below this is rounding. */
static const double NOTHING = 1e-10;

/* T_k = n sum_{j > k} lambda_j, chi-square with (rank - k)(slices - k - 1) degrees of freedom for normal x.
 */
static void find_tests(const sn_inverse *inverse, int64_t count, const double *value, sn_tests *tests)
{
    double tail = 0.0;
    tests->count = count < SN_MAX_TESTS ? count : SN_MAX_TESTS;
    for (int64_t k = count - 1; k >= 0; k--) {
        tail += value[k];
        if (k >= tests->count) continue;
        tests->test[2 * k] = (double)inverse->whitening.n * tail;
        tests->test[2 * k + 1] = (double)((inverse->whitening.rank - k) * (inverse->slices.count - k - 1));
    }
}

static stonet_status solve(const sn_inverse *inverse, int64_t dim, bool with_tests, const stonet_run *run,
                           sn_fit_result *result)
{
    int64_t slices = inverse->slices.count, rank = inverse->whitening.rank;
    int64_t columns = slices < rank ? slices : rank, available = 0;
    double *a = NULL, *s = NULL, *vt = NULL, *v = NULL;
    sn_tests tests = {0};
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(a, slices * rank), done);
    SN_GOTO(status, SN_NEW_RAW(s, columns), done);
    SN_GOTO(status, SN_NEW_RAW(vt, columns * rank), done);
    SN_GOTO(status, SN_NEW_RAW(v, rank * columns), done);
    for (int64_t h = 0; h < slices; h++)
        for (int64_t k = 0; k < rank; k++)
            a[h * rank + k] = sqrt(inverse->weight[h]) * inverse->mean[h * rank + k];
    SN_GOTO(status, sn_svd(slices, rank, a, NULL, s, vt), done);
    while (available < columns && s[available] > NOTHING) available++;
    if (available == 0) {
        status = sn_fail(STONET_ERROR_DATA, "sir: the slices of the response have the same mean of x");
        goto done;
    }
    sn_transpose(columns, rank, vt, v);
    for (int64_t k = 0; k < columns; k++) s[k] *= s[k];
    dim = sn_limit_dim(run, "sir", dim, available, "one fewer than the slices, or the rank of x");
    int64_t count = columns < slices ? columns : slices - 1; /* the last of `slices` values is 0 */
    if (with_tests) find_tests(inverse, count, s, &tests);
    status = sn_whitened_result(&inverse->whitening, dim, columns, v, count, s, &tests, result);
done:
    sn_free(a);
    sn_free(s);
    sn_free(vt);
    sn_free(v);
    return status;
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    sn_inverse inverse;
    SN_TRY(sn_inverse_fit(problem, "sir", settings, run, &inverse));
    stonet_status status = solve(&inverse, dim, sn_real(settings, "ridge") == 0.0, run, result);
    sn_inverse_clear(&inverse);
    return status;
}

extern const sn_method sn_method_sir;
const sn_method sn_method_sir = {
    .name = "sir",
    .title = "Sliced inverse regression (Li 1991)",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .fit = fit,
    SN_LINEAR_MAP_STATE,
};
