#include "methods/kernel_response.h"

#include "base/memory.h"
#include "math/kernel.h"
#include "math/kernel_lowrank.h"

/* Gaussian kernels of a single target fall below 1e-12 within a few dozen directions; several targets need
   more, and past this many the rest no longer matters to a reduction. */
enum { MOST_RESPONSE_RANK = 2000 };
static const double response_tolerance = 1e-12;

stonet_status sn_classes_present(const sn_problem *problem, int64_t *count)
{
    SN_ZEROS(problem->outputs, bool, seen);
    *count = 0;
    for (int64_t i = 0; i < problem->n; i++) {
        *count += !seen[problem->label[i]];
        seen[problem->label[i]] = true;
    }
    if (*count < 2)
        return sn_fail(STONET_ERROR_DATA, "all rows are of one class, so there is nothing to tell apart");
    return STONET_OK;
}

stonet_status sn_response_factor(const sn_problem *problem, sn_distance_kind scale, uint64_t seed,
                                 sn_workspace *keep, double **factor, int64_t *rank)
{
    double s;
    const int64_t n = problem->n, m = problem->outputs;
    if (problem->task == SN_CLASSIFICATION) {
        int64_t present = 0;
        SN_TRY(sn_classes_present(problem, rank));
        SN_ARRAY(m, int64_t, column);
        SN_TRY(SN_TAKE_ZERO(keep, *factor, n * *rank));
        for (int64_t c = 0; c < m; c++) column[c] = -1;
        for (int64_t i = 0; i < n; i++) {
            int64_t *at = &column[problem->label[i]];
            if (*at < 0) *at = present++;
            (*factor)[i * *rank + *at] = 1.0;
        }
        return STONET_OK;
    }
    SN_TRY(scale == SN_MEDIAN_DISTANCE ? sn_typical_distance(n, m, problem->y, seed, &s)
                                       : sn_mean_distance(n, m, problem->y, seed, &s));
    if (!(s > 0.0))
        return sn_fail(STONET_ERROR_DATA, "the target is constant, so there is nothing to explain");
    const sn_gaussian_rows rows = {n, m, problem->y, 1.0 / (2.0 * s * s)};
    return sn_incomplete_cholesky(&rows, response_tolerance, MOST_RESPONSE_RANK, keep, factor, rank);
}
