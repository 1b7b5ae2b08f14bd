/*
 * Least-squares mutual information estimation for dimension reduction (Suzuki and Sugiyama 2010, 2013):
 * maximises S(X B) (methods/lsmi.h) over B (p x d) with orthonormal columns.
 *
 * Ascents (methods/lsmie_ascent.h) from several starts, gKDR directions from a small kernel regression, then
 * random ones; the smallest cross-validated loss wins. All starts climb on a few thousand rows with a few
 * hundred basis functions at most, which is enough to tell them apart and to come near the top; the winner
 * alone climbs on with all rows and basis functions. Ascents end early, at gains of a thousandth of S: what
 * lies beyond costs most of the time and is about a hundredth of S.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/partitions.h"
#include "math/linalg.h"
#include "methods/gkdr.h"
#include "methods/kernel_response.h"
#include "methods/linear_map.h"
#include "methods/lsmie_ascent.h"

static const sn_param params[] = {
    {"landmarks", SN_INTEGER, "200", 2, 1e6, NULL, "basis functions, at rows chosen by the seed"},
    {"bandwidths", SN_REALS, "0.1,0.178,0.316,0.562,1,1.78,3.16,5.62,10", 1e-6, 1e6, NULL,
     "bandwidths to choose from, in median distances of z and y; one: no choice"},
    {"lambdas", SN_REALS, "0.001,0.00316,0.01,0.0316,0.1,0.316,1,3.16,10", 1e-12, 1e6, NULL,
     "ridges to choose from"},
    {"iterations", SN_INTEGER, "100", 1, 1e6, NULL, "gradient steps a start"},
    {"tune_every", SN_INTEGER, "5", 1, 1e6, NULL, "steps between two choices of bandwidth and ridge"},
    {"restarts", SN_INTEGER, "5", 1, 1e4, NULL, "starts: gKDR, then random directions"},
};

enum { SEARCH_ROWS = 5000, SEARCH_CENTRES = 200, START_LANDMARKS = 500 };
static const double start_epsilon = 1e-4, tolerance = 1e-3;

static stonet_status random_start(sn_lsmie_ascent *ascent, uint32_t restart)
{
    return sn_random_directions(ascent->p, ascent->d, ascent->seed, restart, ascent->b);
}

/* gKDR on a few landmarks, completed by random directions where its gradients span fewer than d. */
static stonet_status informed_start(sn_lsmie_ascent *ascent)
{
    SN_WORKSPACE(scratch);
    sn_kernel_input input;
    double *f = NULL, *found = NULL, distance;
    int64_t rank, d = ascent->d, dim = d;
    const sn_problem *problem = ascent->problem;
    SN_TRY(random_start(ascent, 0));
    SN_TRY(sn_kernel_rows(problem, START_LANDMARKS, ascent->seed, &scratch, &input));
    SN_TRY(sn_kernel_distance(&input, SN_MEAN_DISTANCE, ascent->seed, &distance));
    input.gamma = 1.0 / (2.0 * distance * distance);
    SN_TRY(sn_response_factor(problem, SN_MEDIAN_DISTANCE, ascent->seed, &scratch, &f, &rank));
    SN_TRY(sn_gkdr_directions(&(sn_gkdr){&input, start_epsilon, rank, f, NULL}, &scratch, &dim, &found));
    for (int64_t i = 0; i < ascent->p; i++)
        for (int64_t j = 0; j < dim; j++) ascent->b[i * d + j] = found[i * dim + j];
    return sn_orthonormalise(ascent->p, d, ascent->b);
}

/* An ascent that has yet to be created. */
static sn_lsmie_ascent configure(const sn_problem *problem, const sn_settings *settings, int64_t d,
                                 uint64_t seed)
{
    sn_lsmie_ascent ascent = {.problem = problem, .d = d, .seed = seed, .tolerance = tolerance};
    size_t n_s, n_lambda;
    ascent.iterations = sn_int(settings, "iterations");
    ascent.tune_every = sn_int(settings, "tune_every");
    ascent.grid = (sn_lsmi_grid){.s = sn_list(settings, "bandwidths", &n_s),
                                 .lambda = sn_list(settings, "lambdas", &n_lambda),
                                 .at_s = -1};
    ascent.grid.n_s = (int64_t)n_s;
    ascent.grid.n_lambda = (int64_t)n_lambda;
    return ascent;
}

/* Climbs from all starts on a part of the rows and basis functions; `whole` receives the end of the smallest
   cross-validated loss and its settings: the S of different ends, each with a bandwidth and a ridge of its
   own, do not compare. */
static stonet_status search(sn_lsmie_ascent *whole, const sn_settings *settings, sn_lsmie_report *report)
{
    SN_WORKSPACE(scratch);
    SN_FREED_BY(sn_problem_subset_free) sn_problem part = {0};
    const int64_t centres = sn_int(settings, "landmarks"), restarts = sn_int(settings, "restarts");
    double lowest = INFINITY;
    SN_TRY(sn_problem_sample(whole->problem, SEARCH_ROWS, whole->seed, &part));
    sn_lsmie_ascent ascent = configure(&part, settings, whole->d, whole->seed);
    SN_TRY(sn_lsmie_ascent_create(centres < SEARCH_CENTRES ? centres : SEARCH_CENTRES, &scratch, &ascent));
    for (int64_t restart = 0; restart < restarts && !report->stopped; restart++) {
        SN_TRY(restart == 0 ? informed_start(&ascent) : random_start(&ascent, (uint32_t)restart));
        ascent.grid.at_s = -1;
        SN_TRY(sn_lsmie_climb(&ascent, report));
        if (!(ascent.loss < lowest)) continue;
        lowest = ascent.loss;
        whole->grid = ascent.grid;
        memcpy(whole->b, ascent.b, (size_t)(ascent.p * ascent.d) * sizeof(double));
    }
    return STONET_OK;
}

/* The ascent with all rows and basis functions is created first: what does not fit in memory is refused
   before the search. */
static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    const int64_t n = problem->n, p = problem->p;
    int64_t classes;
    if (n < 2)
        return sn_fail(STONET_ERROR_DATA, "lsmie needs at least two rows, and there are %lld", (long long)n);
    if (problem->task == SN_CLASSIFICATION) SN_TRY(sn_classes_present(problem, &classes));
    sn_lsmie_report report = {.run = run, .started = sn_seconds()};
    dim = sn_limit_dim(run, "lsmie", dim, p, "x has no more columns");
    SN_WORKSPACE(scratch);
    sn_lsmie_ascent ascent = configure(problem, settings, dim, run->seed);
    SN_TRY(sn_lsmie_ascent_create(sn_int(settings, "landmarks"), &scratch, &ascent));
    report.total = (sn_int(settings, "restarts") + 1) * ascent.iterations;
    SN_TRY(search(&ascent, settings, &report));
    if (!report.stopped) SN_TRY(sn_lsmie_climb(&ascent, &report));
    SN_ZEROS(p, double, mean);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++) mean[j] += (double)problem->x[i * p + j] / (double)n;
    SN_TRY(sn_linear_map_result(&(sn_linear_map){.p = p, .dim = dim, .centre = mean, .direction = ascent.b},
                                result));
    if (report.stopped) result->outcome = STONET_STOPPED;
    return STONET_OK;
}

const sn_method sn_method_lsmie = {
    .name = "lsmie",
    .title = "Least-squares mutual information estimation (Suzuki and Sugiyama 2013)",
    .python = "LeastSquaresMutualInformation",
    .effort = 3.0,
    SN_PARAMS_OF(params),
    SN_LINEAR_METHOD,
};
