#include <math.h>
#include <string.h>

#include "data/partitions.h"
#include "explain/coef.h"
#include "math/linalg.h"
#include "methods/linear_map.h"

/* The directions of a fit on the problem, each with the sign that is nearer to that of `like`. */
static stonet_status fit_directions(const stonet_model *model, const sn_problem *problem,
                                    const stonet_run *run, const double *like, double *direction)
{
    const int64_t p = problem->p, q = model->dim;
    sn_fit_result fitted = {.dim = q};
    sn_quiet_run quiet;
    sn_quiet_run_init(&quiet, run);
    quiet.run.seed = model->seed;
    quiet.run.threads = run->threads;
    stonet_status status = sn_method_fit(model->method, problem, q, model->settings, &quiet.run, &fitted);
    if (status == STONET_OK && fitted.dim != q)
        status = sn_fail(
            STONET_ERROR_NUMERIC,
            "on half of the rows the method finds %lld directions, not %lld: so there are no standard errors",
            (long long)fitted.dim, (long long)q);
    if (status == STONET_OK) {
        const sn_linear_map *map = fitted.state;
        memcpy(direction, map->direction, (size_t)(p * q) * sizeof *direction);
        for (int64_t k = 0; k < q; k++) {
            double agreement = 0.0;
            for (int64_t j = 0; j < p; j++) agreement += direction[j * q + k] * like[j * q + k];
            for (int64_t j = 0; j < p && agreement < 0.0; j++) direction[j * q + k] *= -1.0;
        }
    }
    if (fitted.state != NULL) model->method->free(fitted.state);
    return status;
}

/* Fits on both halves of the rows of pair number `pair`: adds (b_1 - b_2)^2 to the sums, p x q. */
static stonet_status add_pair(const stonet_model *model, const sn_problem *all, int64_t pair,
                              const stonet_run *run, double *sum)
{
    const int64_t size = all->p * model->dim;
    const double *like = ((const sn_linear_map *)model->state)->direction;
    SN_ARRAY(all->n, int64_t, rows);
    SN_ARRAY(all->n, int32_t, half);
    SN_ARRAY(2 * size, double, direction);
    SN_TRY(sn_split_folds(all->n, all->label, all->outputs, all->kin, 2, run->seed + (uint64_t)pair, half));
    for (int side = 0; side < 2; side++) {
        int64_t count = 0;
        for (int64_t i = 0; i < all->n; i++)
            if (half[i] == side) rows[count++] = i;
        SN_FREED_BY(sn_problem_subset_free) sn_problem part = {0};
        SN_TRY(sn_problem_subset(all, rows, count, &part));
        SN_TRY(fit_directions(model, &part, run, like, direction + side * size));
    }
    for (int64_t e = 0; e < size; e++) sum[e] += pow(direction[e] - direction[size + e], 2);
    return STONET_OK;
}

stonet_status sn_coef_errors(const stonet_model *model, const stonet_data *data, int64_t pairs,
                             const stonet_run *run, double *se, double *differ)
{
    const double started = sn_seconds();
    SN_WORKSPACE(scratch);
    sn_problem all;
    SN_TRY(sn_schema_problem(model->schema, data, &scratch, &all));
    const int64_t size = all.p * model->dim;
    const double *own = ((const sn_linear_map *)model->state)->direction;
    SN_ARRAY(size, double, whole);
    SN_TRY(fit_directions(model, &all, run, own, whole));
    for (int64_t e = 0; e < size; e++) whole[e] -= own[e];
    *differ = sn_norm(size, whole) / sn_norm(size, own);
    memset(se, 0, (size_t)size * sizeof *se);
    for (int64_t pair = 0; pair < pairs; pair++) {
        if (sn_should_stop(run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the standard errors were finished");
        SN_TRY(add_pair(model, &all, pair, run, se));
        sn_progress_of(run, "standard errors", pair + 1, pairs, (double)NAN, started);
    }
    for (int64_t e = 0; e < size; e++) se[e] = sqrt(se[e] / (4.0 * (double)pairs));
    return STONET_OK;
}
