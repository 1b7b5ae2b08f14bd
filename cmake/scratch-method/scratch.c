/* A method for the test that a method is one file and one line: the first dim columns of x. */
#include "base/workspace.h"
#include "methods/linear_map.h"

static const sn_param params[] = {
    {"stretch", SN_REAL, "1", 0.1, 10, NULL, "factor of the columns"},
};

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    sn_linear_map map = {.p = problem->p};
    map.dim = sn_limit_dim(run, "scratch", dim, problem->p, "the columns of x");
    SN_TRY(SN_TAKE_ZERO(&scratch, map.centre, map.p));
    SN_TRY(SN_TAKE_ZERO(&scratch, map.direction, map.p * map.dim));
    for (int64_t k = 0; k < map.dim; k++) map.direction[k * map.dim + k] = sn_real(settings, "stretch");
    return sn_linear_map_result(&map, result);
}

extern const sn_method sn_method_scratch;
const sn_method sn_method_scratch = {
    .name = "scratch",
    .title = "The first columns",
    .python = "ScratchReduction",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .unsupervised = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .grid = {{"stretch=1,2", SN_TASK_BOTH}},
    .fit = fit,
    SN_LINEAR_MAP_STATE,
};
