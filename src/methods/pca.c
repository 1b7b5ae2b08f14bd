/*
 * Principal components: Z = (x - mean) V_d with V_d the leading right singular vectors of the centred data,
 * orthonormal, not rescaled. The response is not looked at.
 */
#include "math/linalg.h"
#include "methods/linear_map.h"
#include "methods/whitening.h"

#include "base/memory.h"

static stonet_status build(const sn_spectrum *spectrum, int64_t dim, sn_linear_map **out)
{
    int64_t p = spectrum->p, rank = spectrum->rank;
    double *direction = NULL, *variance = NULL;
    sn_linear_map *map = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(direction, p * dim), done);
    SN_GOTO(status, SN_NEW_RAW(variance, rank), done);
    for (int64_t j = 0; j < p; j++)
        for (int64_t k = 0; k < dim; k++) direction[j * dim + k] = spectrum->v[j * rank + k];
    sn_fix_signs(p, dim, direction);
    for (int64_t k = 0; k < rank; k++) variance[k] = spectrum->s[k] * spectrum->s[k] / (double)spectrum->n;
    SN_GOTO(status, sn_linear_map_create(p, dim, spectrum->mean, direction, &map), done);
    SN_GOTO(status, sn_linear_map_set_values(map, rank, variance), done);
    *out = map;
    map = NULL;
done:
    sn_linear_map_free(map);
    sn_free(direction);
    sn_free(variance);
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
        sn_linear_map *map = NULL;
        dim = sn_limit_dim(run, "pca", dim, spectrum.rank, "the rank of the centred data");
        status = build(&spectrum, dim, &map);
        if (status == STONET_OK) sn_linear_map_finish(map, result);
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
    .transform = sn_linear_map_transform,
    .save = sn_linear_map_save,
    .load = sn_linear_map_load,
    .free = sn_linear_map_free,
    .sizes = sn_linear_map_sizes,
};
