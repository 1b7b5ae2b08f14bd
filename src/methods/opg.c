/*
 * Outer product of gradients: the leading eigenvectors of the second moment of the local slopes of y on x.
 * The weights start in the space of all directions, where neighbours are far, and move into the space of the
 * best directions found so far as it shrinks to dim.
 */
#include "methods/local.h"

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    sn_local local;
    SN_TRY(sn_local_opg(problem, "opg", settings, run, &scratch, &local, &dim));
    const sn_linear_map found = {.dim = dim, .n_values = local.rank, .value = local.value};
    return sn_whitened_result(&local.whitening, &found, local.rank, local.vector, result);
}

const sn_method sn_method_opg = {
    .name = "opg",
    .title = "Outer product of gradients (Xia, Tong, Li and Zhu 2002)",
    .python = "OuterProductOfGradients",
    SN_LOCAL_METHOD,
};
