/*
 * Directional regression: with S_h = E[ZZ'|h], E_h the slice means of the whitened x and G = sum_h p_h E_h
 * E_h',
 *
 *     M = 2 sum_h p_h S_h^2 + 2 G^2 + 2 tr(G) G - 2 I.
 */
#include "base/memory.h"
#include "math/linalg.h"
#include "methods/inverse.h"

static const sn_param params[] = {SN_PARAM_SLICES, SN_PARAM_RIDGE};

/* m += 2 G^2 + 2 tr(G) G - 2 I; g is scratch for rank x rank. */
static void add_means(const sn_inverse *inverse, double *g, double *m)
{
    int64_t rank = inverse->whitening.rank;
    for (int64_t i = 0; i < rank * rank; i++) g[i] = 0.0;
    for (int64_t h = 0; h < inverse->slices.count; h++)
        sn_syrk_tn(rank, 1, inverse->weight[h], inverse->mean + h * rank, 1.0, g);
    double trace = 0.0;
    for (int64_t i = 0; i < rank; i++) trace += g[i * rank + i];
    sn_syrk_tn(rank, rank, 2.0, g, 1.0, m);
    for (int64_t i = 0; i < rank * rank; i++) m[i] += 2.0 * trace * g[i];
    for (int64_t i = 0; i < rank; i++) m[i * rank + i] -= 2.0;
}

static stonet_status solve(const sn_inverse *inverse, const float *x, int64_t dim, const stonet_run *run,
                           sn_fit_result *result)
{
    int64_t rank = inverse->whitening.rank;
    double *a = NULL, *m = NULL, *value = NULL, *u = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(a, rank * rank), done);
    SN_GOTO(status, SN_NEW(m, rank * rank), done);
    SN_GOTO(status, SN_NEW_RAW(value, rank), done);
    SN_GOTO(status, SN_NEW_RAW(u, rank * rank), done);
    for (int64_t h = 0; h < inverse->slices.count; h++) {
        SN_GOTO(status, sn_inverse_second(inverse, x, h, a), done);
        sn_syrk_tn(rank, rank, 2.0 * inverse->weight[h], a, 1.0, m);
    }
    add_means(inverse, a, m);
    SN_GOTO(status, sn_eigh(rank, m, value, u), done);
    dim = sn_limit_dim(run, "dr", dim, rank, "the rank of x");
    status = sn_whitened_result(&inverse->whitening, dim, rank, u, rank, value, NULL, result);
done:
    sn_free(a);
    sn_free(m);
    sn_free(value);
    sn_free(u);
    return status;
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    sn_inverse inverse;
    SN_TRY(sn_inverse_fit(problem, "dr", settings, run, &inverse));
    stonet_status status = solve(&inverse, problem->x, dim, run, result);
    sn_inverse_clear(&inverse);
    return status;
}

extern const sn_method sn_method_dr;
const sn_method sn_method_dr = {
    .name = "dr",
    .title = "Directional regression (Li and Wang 2007)",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .fit = fit,
    SN_LINEAR_MAP_STATE,
};
