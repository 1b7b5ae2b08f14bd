/*
 * Sliced inverse regression: with z the whitened x and zbar_h the mean of slice h (share p_h), the candidate
 * matrix is M = sum_h p_h zbar_h zbar_h' = A'A, with rows sqrt(p_h) zbar_h of A (slices x rank). The shares
 * weigh the means to 0, so M has rank at most slices - 1.
 */
#include <math.h>

#include "methods/spectral.h"

static const sn_param params[] = {SN_PARAM_SLICES, SN_PARAM_RIDGE};

static stonet_status find_matrix(const sn_sample *sample, const sn_settings *settings, sn_workspace *keep,
                                 sn_matrix *out)
{
    (void)settings;
    int64_t slices = sample->slices.count, rank = sample->whitening.rank;
    out->form = SN_FORM_ROOT;
    out->rows = slices;
    out->most = slices - 1;
    SN_TRY(SN_TAKE(keep, out->m, slices * rank));
    for (int64_t h = 0; h < slices; h++)
        for (int64_t k = 0; k < rank; k++)
            out->m[h * rank + k] = sqrt(sample->weight[h]) * sample->mean[h * rank + k];
    return STONET_OK;
}

/* T_k = n sum_{j > k} lambda_j, chi-square with (rank - k)(slices - k - 1) degrees of freedom for normal x.
 */
static stonet_status find_tests(const sn_sample *sample, const sn_matrix *matrix, const sn_eigen *eigen,
                                sn_tests *tests)
{
    (void)matrix;
    double tail = 0.0;
    tests->count = eigen->count < SN_MAX_TESTS ? eigen->count : SN_MAX_TESTS;
    for (int64_t k = eigen->count - 1; k >= 0; k--) {
        tail += eigen->value[k];
        if (k >= tests->count) continue;
        tests->test[2 * k] = (double)sample->problem->n * tail;
        tests->test[2 * k + 1] = (double)((sample->whitening.rank - k) * (sample->slices.count - k - 1));
    }
    return STONET_OK;
}

static const sn_candidate candidate = {
    .name = "sir",
    .sliced = true,
    .limit = "one fewer than the slices, or the rank of x",
    .matrix = find_matrix,
    .tests = find_tests,
};

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    return sn_spectral_fit(&candidate, problem, dim, settings, run, result);
}

extern const sn_method sn_method_sir;
const sn_method sn_method_sir = {
    .name = "sir",
    .title = "Sliced inverse regression (Li 1991)",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .fit = fit,
    .candidate = &candidate,
    SN_LINEAR_MAP_STATE,
};
