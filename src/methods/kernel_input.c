#include "methods/kernel_input.h"

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "methods/linear_map.h"

int64_t sn_landmarks_setting(const sn_settings *settings)
{
    return sn_is(settings, "landmarks", "none") ? 0 : sn_int(settings, "landmarks");
}

/* Kernel functions of a fit with this setting. */
static int64_t centre_count(int64_t n, int64_t landmarks)
{
    return landmarks == 0 || landmarks > n ? n : landmarks;
}

stonet_status sn_kernel_distance(const sn_kernel_input *input, sn_distance_kind kind, uint64_t seed,
                                 double *distance)
{
    SN_TRY(kind == SN_MEDIAN_DISTANCE ? sn_typical_distance(input->n, input->p, input->x, seed, distance)
                                      : sn_mean_distance(input->n, input->p, input->x, seed, distance));
    if (*distance > 0.0) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "all rows have the same features, so there is nothing to reduce");
}

stonet_status sn_kernel_thin(sn_kernel_input *input, int64_t count, uint64_t seed, uint32_t substream,
                             sn_workspace *keep)
{
    double *few = NULL;
    SN_ARRAY(count, int64_t, rows);
    SN_TRY(SN_TAKE(keep, few, count * input->p));
    SN_TRY(sn_choose_rows(input->m, count, seed, substream, rows));
    sn_take_rows(count, input->p, input->centres, rows, few);
    input->centres = few;
    input->m = count;
    return STONET_OK;
}

stonet_status sn_kernel_rows(const sn_problem *problem, int64_t landmarks, uint64_t seed, sn_workspace *keep,
                             sn_kernel_input *input)
{
    if (problem->n < 2)
        return sn_fail(STONET_ERROR_DATA, "kernel methods need at least two rows, and there are %lld",
                       (long long)problem->n);
    *input = (sn_kernel_input){.n = problem->n, .p = problem->p, .m = problem->n, .exact = landmarks == 0};
    SN_TRY(SN_TAKE(keep, input->x, input->n * input->p));
    sn_widen(input->n * input->p, problem->x, input->x);
    input->centres = input->x;
    if (input->exact) return STONET_OK;
    return sn_kernel_thin(input, centre_count(problem->n, landmarks), seed, 0, keep);
}

stonet_status sn_kernel_input_create(const sn_problem *problem, const sn_settings *settings,
                                     sn_distance_kind kind, uint64_t seed, sn_workspace *keep,
                                     sn_kernel_input *input)
{
    double s;
    SN_TRY(sn_kernel_rows(problem, sn_landmarks_setting(settings), seed, keep, input));
    if (sn_is(settings, "bandwidth", "auto"))
        SN_TRY(sn_kernel_distance(input, kind, seed, &s));
    else
        s = sn_real(settings, "bandwidth");
    input->gamma = sn_real(settings, "complexity") / (2.0 * s * s);
    return STONET_OK;
}

stonet_status sn_kernel_memory(const sn_problem *problem, const sn_settings *settings, const char *method,
                               double exact, double landmarks)
{
    double n = (double)problem->n, p = (double)problem->p,
           m = (double)centre_count(problem->n, sn_landmarks_setting(settings));
    double bytes =
        8.0 * (n * m * (m < n ? landmarks : exact) + 3.0 * m * m * (m < n ? 1.0 : 0.0) + n * p + m * p);
    const char *advice = m < n ? "set fewer landmarks (landmarks=500)" : "set landmarks=2000";
    return sn_memory_require((uint64_t)bytes, method, advice);
}

stonet_status sn_kernel_limit(const stonet_run *run, const char *method, int64_t dim, int64_t count,
                              const double *singular, const char *why, int64_t *allowed)
{
    int64_t rank = 0;
    while (rank < count && singular[rank] > 1e-10 * singular[0]) rank++;
    if (rank == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "%s finds no direction: nothing in the features varies with the response", method);
    *allowed = sn_limit_dim(run, method, dim, rank, why);
    return STONET_OK;
}
