#include "methods/inverse.h"

#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"

stonet_status sn_whiten_problem(const sn_problem *problem, const char *method, double ridge,
                                const stonet_run *run, sn_whitening *out)
{
    stonet_status status = sn_whitening_fit(problem->x, problem->n, problem->p, ridge, 0, out);
    if (status != STONET_OK) return sn_fail_prefix(status, "%s", method);
    if (out->rank >= problem->n - 1 && ridge == 0.0)
        sn_message(
            run, STONET_WARNING,
            "%s: with %lld columns and %lld rows any response can be told from x exactly, so the directions "
            "will not hold for new rows: set ridge (try 1), or use lasso-sir, or fewer columns",
            method, (long long)problem->p, (long long)problem->n);
    return STONET_OK;
}

/* Calls for each block of slice h: whitens it and adds to the sums that are wanted (sum: rank, second:
 * rank^2). */
static stonet_status slice_sums(const sn_inverse *inverse, const float *x, int64_t h, double *sum,
                                double *second)
{
    const sn_whitening *whitening = &inverse->whitening;
    int64_t rank = whitening->rank, start = inverse->slices.start[h], end = inverse->slices.start[h + 1];
    int64_t block = sn_block_rows(end - start, whitening->p);
    double *centred = NULL, *z = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(centred, block * whitening->p), done);
    SN_GOTO(status, SN_NEW_RAW(z, block * rank), done);
    for (int64_t first = start; first < end; first += block) {
        int64_t count = end - first < block ? end - first : block;
        sn_whiten_rows(whitening, x, inverse->slices.row + first, 0, count, centred, z);
        if (second != NULL) sn_syrk_tn(rank, count, 1.0, z, 1.0, second);
        for (int64_t i = 0; sum != NULL && i < count; i++)
            for (int64_t k = 0; k < rank; k++) sum[k] += z[i * rank + k];
    }
done:
    sn_free(centred);
    sn_free(z);
    return status;
}

stonet_status sn_inverse_fit(const sn_problem *problem, const char *method, const sn_settings *settings,
                             const stonet_run *run, sn_inverse *out)
{
    *out = (sn_inverse){0};
    stonet_status status;
    SN_GOTO(status, sn_whiten_problem(problem, method, sn_real(settings, "ridge"), run, &out->whitening),
            failed);
    SN_GOTO(status, sn_slices_to_compare(problem, method, sn_int(settings, "slices"), &out->slices), failed);
    int64_t count = out->slices.count, rank = out->whitening.rank;
    SN_GOTO(status, SN_NEW(out->weight, count), failed);
    SN_GOTO(status, SN_NEW(out->mean, count * rank), failed);
    for (int64_t h = 0; h < count; h++) {
        double rows = (double)(out->slices.start[h + 1] - out->slices.start[h]);
        double *mean = out->mean + h * rank;
        SN_GOTO(status, slice_sums(out, problem->x, h, mean, NULL), failed);
        for (int64_t k = 0; k < rank; k++) mean[k] /= rows;
        out->weight[h] = rows / (double)problem->n;
    }
    return STONET_OK;
failed:
    sn_inverse_clear(out);
    return status;
}

void sn_inverse_clear(sn_inverse *inverse)
{
    sn_whitening_clear(&inverse->whitening);
    sn_slices_clear(&inverse->slices);
    sn_free(inverse->weight);
    sn_free(inverse->mean);
    *inverse = (sn_inverse){0};
}

stonet_status sn_inverse_second(const sn_inverse *inverse, const float *x, int64_t h, double *second)
{
    int64_t rank = inverse->whitening.rank;
    double rows = (double)(inverse->slices.start[h + 1] - inverse->slices.start[h]);
    memset(second, 0, (size_t)(rank * rank) * sizeof *second);
    SN_TRY(slice_sums(inverse, x, h, NULL, second));
    for (int64_t k = 0; k < rank * rank; k++) second[k] /= rows;
    return STONET_OK;
}
