/*
 * Conditional variance estimation (Fertl and Bura 2021): the B (rank x d, orthonormal columns) in whitened x
 * for which the response varies least among rows that B brings together (methods/cve_objective.h). With
 * subspace=central several functions of the target are looked at together (the ensemble form, ECVE).
 *
 * Gradient steps on the Grassmann manifold, from random starts: B <- orthonormal basis of B - t G, where
 * G = (I - BB') dL/dB; t is halved until L falls and doubled after a success. The start with the smallest L
 * wins. Every step looks at all pairs of rows, so that of many rows some are drawn.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "methods/cve_objective.h"
#include "methods/responses.h"
#include "methods/whitening.h"

static const sn_param params[] = {
    {"restarts", SN_INTEGER, "5", 1, 1e4, NULL, "random starts; the best end is kept"},
    {"iterations", SN_INTEGER, "50", 1, 1e6, NULL, "steps a start, at the most"},
    {"bandwidth", SN_REAL, "1.2", 1e-3, 1e3, NULL, "factor of the bandwidth n^(-1/(dim+4))"},
    {"subspace", SN_CHOICE, "mean", 0, 0, "mean|central",
     "for numeric targets: look at their mean, or at their whole distribution given x"},
    {"rows", SN_INTEGER, "1000", 10, 1e6, NULL, "rows looked at; more are drawn from by the seed"},
    {"ridge", SN_REAL, "0", 0, 1e6, NULL, "added to the diagonal of the correlation matrix of x"},
};

/* The arrays of one descent, all rank x d but inner (d x d). */
typedef struct descent {
    double *b, *tried, *gradient, *inner;
    double value;
} descent;

/* Gradient descent over matrices with orthonormal columns. A step is halved until the value falls, and
   doubled for the next one. */
static stonet_status descend(sn_cve *cve, int64_t iterations, const stonet_run *run, descent *at)
{
    const int64_t size = cve->rank * cve->d;
    const double enough = 1e-3; /* the length of a step, as that of a turn of B */
    double step = 1.0;
    at->value = sn_cve_value(cve, at->b, at->gradient);
    for (int64_t k = 0; k < iterations && !sn_should_stop(run); k++) {
        sn_make_tangent(cve->rank, cve->d, at->b, at->inner, at->gradient);
        const double slope = sn_norm(size, at->gradient);
        if (!(slope > 0.0)) break;
        double value = INFINITY;
        for (; step * slope > 0.01 * enough; step *= 0.5) {
            for (int64_t i = 0; i < size; i++) at->tried[i] = at->b[i] - step * at->gradient[i];
            SN_TRY(sn_orthonormalise(cve->rank, cve->d, at->tried));
            value = sn_cve_value(cve, at->tried, NULL);
            if (value < at->value) break;
        }
        if (!(value < at->value)) break;
        const double moved = step * slope;
        memcpy(at->b, at->tried, (size_t)size * sizeof *at->b);
        at->value = sn_cve_value(cve, at->b, at->gradient);
        step *= 2.0;
        if (moved < enough) break;
    }
    return STONET_OK;
}

/* Whitens x, descends from several random starts, and keeps the B with the lowest value. */
static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    sn_whitening whitening;
    sn_cve cve = {.threads = sn_threads(run)};
    descent at = {0};
    double lowest = INFINITY;
    stonet_status status =
        sn_whitening_fit(problem, sn_real(settings, "ridge"), 0, NULL, &scratch, &whitening);
    if (status != STONET_OK) return sn_fail_prefix(status, "cve");
    const int64_t n = problem->n, wanted = sn_int(settings, "rows"), rank = whitening.rank;
    double *all = NULL;
    cve.n = wanted < n ? wanted : n;
    cve.rank = rank;
    SN_TRY(sn_responses(problem, sn_is(settings, "subspace", "central"), &scratch, &cve.responses, &all));
    SN_ARRAY(n, int64_t, row);
    SN_ARRAY(cve.n * rank, double, z);
    SN_ARRAY(cve.n * cve.responses, double, y);
    sn_random random = sn_random_from(run->seed, SN_STREAM_FEATURES, 0);
    sn_random_permutation(&random, n, row);
    SN_TRY(sn_whiten_rows(&whitening, problem->x, row, cve.n, z));
    sn_take_rows(cve.n, cve.responses, all, row, y);
    cve.z = z;
    cve.y = y;
    cve.d = dim = sn_limit_dim(run, "cve", dim, whitening.rank, "the rank of x");
    const double width = sn_real(settings, "bandwidth") * pow((double)cve.n, -1.0 / (double)(dim + 4));
    cve.h = 2.0 * width * width;
    SN_TRY(sn_cve_prepare(&cve, &scratch));
    const int64_t size = cve.rank * dim;
    SN_TRY(SN_TAKE_EACH(&scratch, size, &at.b, &at.tried, &at.gradient));
    SN_TRY(SN_TAKE(&scratch, at.inner, dim * dim));
    SN_ARRAY(size, double, best);
    for (int64_t start = 0; start < sn_int(settings, "restarts"); start++) {
        if (start > 0 && sn_should_stop(run)) break;
        SN_TRY(sn_random_directions(cve.rank, dim, run->seed, (uint32_t)start, at.b));
        SN_TRY(descend(&cve, sn_int(settings, "iterations"), run, &at));
        if (!(at.value < lowest)) continue;
        lowest = at.value;
        memcpy(best, at.b, (size_t)size * sizeof *best);
    }
    SN_TRY(sn_whitened_result(&whitening, &(sn_linear_map){.dim = dim, .n_values = 1, .value = &lowest}, dim,
                              best, result));
    if (sn_should_stop(run)) result->outcome = STONET_STOPPED;
    return STONET_OK;
}

const sn_method sn_method_cve = {
    .name = "cve",
    .title = "Conditional variance estimation (Fertl and Bura 2021)",
    .python = "ConditionalVarianceEstimation",
    .effort = 10.0,
    SN_PARAMS_OF(params),
    .grid = {{"bandwidth=0.6,1.2,2.4", SN_TASK_BOTH}, {"subspace=mean,central", SN_TASK_REGRESSION}},
    SN_LINEAR_METHOD,
};
