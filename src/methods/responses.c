#include "methods/responses.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "math/smallest.h"

static stonet_status centre_columns(int64_t n, int64_t k, double *a)
{
    SN_ARRAY(k, double, mean);
    sn_column_means(n, k, a, mean);
    sn_subtract_row(n, k, mean, a);
    return STONET_OK;
}

stonet_status sn_leading_components(int64_t n, int64_t k, double scale, const double *a, sn_workspace *keep,
                                    int64_t *count, double **out)
{
    SN_ARRAY(k * k, double, gram);
    SN_ARRAY(k, double, value);
    SN_ARRAY(k * k, double, v);
    sn_syrk_tn(k, n, scale, a, 0.0, gram);
    double total = 0.0, held = 0.0;
    for (int64_t j = 0; j < k; j++) total += gram[j * k + j];
    SN_TRY(sn_eigh(k, gram, value, v));
    int64_t kept = 0;
    while (kept < k && held < 0.99 * total) held += value[kept++];
    if (kept == 0) kept = 1; /* a constant y */
    SN_ARRAY(k * kept, double, leading);
    SN_TRY(SN_TAKE(keep, *out, n * kept));
    sn_first_columns(k, k, v, kept, leading);
    sn_multiply(sn_as(a, n, k), sn_as(leading, k, kept), *out);
    *count = kept;
    return STONET_OK;
}

/* Of the centred indicators of y <= quantile: n x (levels * m), targets one after the other. */
static stonet_status distribution_responses(const sn_problem *problem, sn_workspace *keep, int64_t *count,
                                            double **out)
{
    const int64_t n = problem->n, m = problem->outputs,
                  levels = (int64_t)fmax(fmin(99.0, (double)n), floor(pow((double)n, 0.6))), k = levels * m;
    SN_TRY(sn_memory_require(8 * (uint64_t)n * (uint64_t)k, "the indicators of subspace=central",
                             "use subspace=mean or fewer rows"));
    SN_ARRAY(n * k, double, indicator);
    SN_ARRAY(n, double, sorted);
    for (int64_t t = 0; t < m; t++) {
        for (int64_t i = 0; i < n; i++) sorted[i] = problem->y[i * m + t];
        qsort(sorted, (size_t)n, sizeof *sorted, sn_by_double);
        for (int64_t i = 0; i < n; i++)
            for (int64_t l = 0; l < levels; l++)
                indicator[i * k + t * levels + l] =
                    problem->y[i * m + t] <= sorted[(l + 1) * n / (levels + 1)];
    }
    SN_TRY(centre_columns(n, k, indicator));
    return sn_leading_components(n, k, 1.0 / (double)n, indicator, keep, count, out);
}

stonet_status sn_responses(const sn_problem *problem, bool distribution, sn_workspace *keep, int64_t *count,
                           double **out)
{
    int64_t n = problem->n, k = problem->outputs;
    if (problem->task == SN_REGRESSION && distribution)
        return distribution_responses(problem, keep, count, out);
    bool classes = problem->task == SN_CLASSIFICATION;
    int64_t skip = classes && k == 2 ? 1 : 0; /* the indicator of class 0 says what that of class 1 says */
    double *y = NULL;
    k -= skip;
    SN_TRY(SN_TAKE(keep, y, n * k));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            y[i * k + j] = classes ? (double)(problem->label[i] == j + skip) : problem->y[i * k + j];
    *count = k;
    *out = y;
    return centre_columns(n, k, y);
}
