/*
 * Principal components: Z = (x - mean) V_d with V_d the leading right singular vectors of the centred data,
 * orthonormal, not rescaled. The response is not looked at.
 */
#include "math/linalg.h"
#include "methods/linear_map.h"
#include "methods/whitening.h"

#include "base/memory.h"

static stonet_status hand_over(const sn_spectrum *spectrum, int64_t dim, sn_fit_result *result)
{
    int64_t p = spectrum->p, rank = spectrum->rank;
    sn_linear_map map = {.p = p, .dim = dim, .centre = spectrum->mean, .n_values = rank};
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(map.direction, p * dim), done);
    SN_GOTO(status, SN_NEW_RAW(map.value, rank), done);
    sn_first_columns(p, rank, spectrum->v, dim, map.direction);
    for (int64_t k = 0; k < rank; k++) map.value[k] = spectrum->s[k] * spectrum->s[k] / (double)spectrum->n;
    status = sn_linear_map_result(&map, result);
done:
    sn_free(map.direction);
    sn_free(map.value);
    return status;
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    (void)settings;
    sn_spectrum spectrum;
    SN_TRY(sn_spectrum_fit(problem->x, problem->n, problem->p, false, &spectrum));
    stonet_status status;
    if (spectrum.rank == 0) {
        status = sn_fail(STONET_ERROR_DATA, "pca: every column of x is constant, so there is no component");
    } else {
        dim = sn_limit_dim(run, "pca", dim, spectrum.rank, "the rank of the centred data");
        status = hand_over(&spectrum, dim, result);
    }
    sn_spectrum_clear(&spectrum);
    return status;
}

extern const sn_method sn_method_pca;
const sn_method sn_method_pca = {
    .name = "pca",
    .title = "Principal component analysis",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .fit = fit,
    SN_LINEAR_MAP_STATE,
};
