/*
 * Directional regression: with S_h = E[ZZ'|h], E_h the slice means of the whitened x and G = sum_h p_h E_h
 * E_h', the candidate matrix is
 *
 *     M = 2 sum_h p_h S_h^2 + 2 G^2 + 2 tr(G) G - 2 I.
 */
#include "base/memory.h"
#include "math/linalg.h"
#include "methods/spectral.h"

static const sn_param params[] = {SN_PARAM_SLICES, SN_PARAM_RIDGE};

/* m += 2 G^2 + 2 tr(G) G - 2 I; g is scratch for rank x rank. */
static void add_means(const sn_sample *sample, double *g, double *m)
{
    int64_t rank = sample->whitening.rank;
    for (int64_t i = 0; i < rank * rank; i++) g[i] = 0.0;
    for (int64_t h = 0; h < sample->slices.count; h++)
        sn_syrk_tn(rank, 1, sample->weight[h], sample->mean + h * rank, 1.0, g);
    double trace = 0.0;
    for (int64_t i = 0; i < rank; i++) trace += g[i * rank + i];
    sn_syrk_tn(rank, rank, 2.0, g, 1.0, m);
    for (int64_t i = 0; i < rank * rank; i++) m[i] += 2.0 * trace * g[i];
    for (int64_t i = 0; i < rank; i++) m[i * rank + i] -= 2.0;
}

static stonet_status find_matrix(const sn_sample *sample, const sn_settings *settings, sn_workspace *keep,
                                 sn_matrix *out)
{
    (void)settings;
    int64_t rank = sample->whitening.rank;
    SN_ARRAY(rank * rank, double, a);
    SN_TRY(SN_TAKE_ZERO(keep, out->m, rank * rank));
    for (int64_t h = 0; h < sample->slices.count; h++) {
        SN_TRY(sn_sample_second(sample, h, a));
        sn_syrk_tn(rank, rank, 2.0 * sample->weight[h], a, 1.0, out->m);
    }
    add_means(sample, a, out->m);
    return STONET_OK;
}

static const sn_candidate candidate = {
    .sliced = true,
    .matrix = find_matrix,
};

const sn_method sn_method_dr = {
    .name = "dr",
    .title = "Directional regression (Li and Wang 2007)",
    .python = "DirectionalRegression",
    .grid = {{"slices=3,5,10", SN_TASK_REGRESSION}, {"ridge=0,0.01,0.1,1", SN_TASK_BOTH}},
    SN_SLICING_METHOD,
};
