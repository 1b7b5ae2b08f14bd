/*
 * Kernel partial least squares (Rosipal and Trejo 2001): PLS between the functions of a Gaussian kernel's
 * space and the response. With features phi(x) of which phi(x)'phi(x') is the kernel (math/kernel_lowrank.h:
 * at all rows, or at landmarks), it is SIMPLS (simpls.h) of the centred features,
 *
 *     z(x) = R'(phi(x) - mean phi),
 *
 * and of the rows Phi'Phi and Phi'Y are enough. Classes are indicators.
 */
#include "base/memory.h"
#include "math/kernel_lowrank.h"
#include "math/linalg.h"
#include "methods/kernel_map.h"
#include "methods/linear_map.h"
#include "methods/responses.h"
#include "methods/simpls.h"

static const sn_param params[] = {SN_PARAMS_OF_KERNEL};

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    sn_kernel_input input;
    sn_landmarks landmarks;
    int64_t responses, found;
    double *y = NULL;
    SN_TRY(sn_kernel_memory(problem, settings, "kpls", 2.1, 0.0)); /* L and Phi'Phi */
    SN_TRY(sn_kernel_input_create(problem, settings, SN_MEAN_DISTANCE, run->seed, &scratch, &input));
    SN_TRY(sn_landmarks_create(input.m, input.p, input.centres, input.gamma, &scratch, &landmarks));
    const sn_row_columns columns = sn_feature_columns(&input, &landmarks, run->team);
    const int64_t n = columns.n, m = columns.m, most = dim < m ? dim : m;
    SN_TRY(sn_responses(problem, false, &scratch, &responses, &y));
    SN_ARRAY(m, double, mean);
    SN_ARRAY(m * m, double, gram);
    SN_ARRAY(m * responses, double, cross);
    SN_ARRAY(m * most, double, r);
    SN_ARRAY(most, double, explained);
    const double products = sn_gram_work(n, m, columns.p) + (double)n * (double)m * (double)m,
                 components = 2.0 * (double)most * (double)m * (double)m;
    sn_stages stages = sn_stages_of(run, products + components);
    SN_TRY(sn_stages_next(&stages, "kernel features and their products", products));
    SN_TRY(sn_row_columns_products(&columns, responses, y, mean, gram, cross));
    SN_TRY(sn_stages_next(&stages, "components", components));
    const sn_simpls_moments given = {.p = m, .m = responses, .gram = gram, .cross = cross};
    SN_TRY(sn_simpls(&given, most, r, explained, &found));
    if (found == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "kpls: no function of x varies with the response, so there is no component");
    dim = sn_limit_dim(run, "kpls", dim, found, "no more of the kernel varies with the response");
    sn_first_columns(m, most, r, dim, r);
    return sn_columns_map(&columns, mean, gram, dim, r, result);
}

const sn_method sn_method_kpls = {
    .name = "kpls",
    .title = "Kernel partial least squares (Rosipal and Trejo 2001)",
    .python = "KernelPLS",
    .tasks = SN_TASK_BOTH,
    .shares_landmarks = true,
    .grid = {{"complexity=0.1,0.3,1,3", SN_TASK_BOTH}},
    SN_KERNEL_METHOD,
};
