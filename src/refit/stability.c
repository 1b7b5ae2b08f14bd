/*
 * Whether Z comes back: the same fit by other seeds, which draw other starts, noise and folds. Column k of Z
 * has
 *
 *     r_k = the mean over the refits of |cor(z_k, the column of the refit that belongs to it)|
 *
 * on the training rows. Columns of a refit go to those of the model one by one, the largest correlation
 * first.
 */
#include <math.h>

#include "base/memory.h"
#include "base/take_options.h"
#include "math/linalg.h"
#include "refit/resample.h"

enum { REFITS = 2 };

/* Z of the rows with columns of mean 0 and length 1; one that is constant is 0. */
static stonet_status unit_columns(const stonet_model *model, const stonet_data *data, int threads, double *z)
{
    const int64_t n = stonet_data_rows(data), q = model->dim;
    SN_TRY(sn_model_wide_z(model, data, threads, z));
    for (int64_t k = 0; k < q; k++) {
        double mean = 0.0, square = 0.0;
        for (int64_t i = 0; i < n; i++) mean += z[i * q + k] / (double)n;
        for (int64_t i = 0; i < n; i++) {
            z[i * q + k] -= mean;
            square += z[i * q + k] * z[i * q + k];
        }
        for (int64_t i = 0; i < n; i++) z[i * q + k] *= square > 0.0 ? 1.0 / sqrt(square) : 0.0;
    }
    return STONET_OK;
}

/* Adds the correlations of matched columns, part of them each. cor (r x q) is destroyed. */
static void match(int64_t r, int64_t q, double *cor, double part, double *sum)
{
    for (int64_t step = 0; step < (r < q ? r : q); step++) {
        int64_t best = 0;
        for (int64_t k = 1; k < r * q; k++)
            if (fabs(cor[k]) > fabs(cor[best])) best = k;
        const int64_t row = best / q, column = best % q;
        sum[column] += part * fmin(fabs(cor[best]), 1.0);
        for (int64_t k = 0; k < r * q; k++)
            if (k / q == row || k % q == column) cor[k] = 0.0;
    }
}

static stonet_status add_refit(const stonet_spec *spec, const stonet_data *train, const stonet_run *run,
                               const double *z, int64_t q, double part, double *r)
{
    SN_AUTO(stonet_model) *refit = NULL;
    const int64_t n = stonet_data_rows(train);
    SN_TRY(stonet_fit(spec, train, run, &refit));
    if (refit->outcome != STONET_DONE)
        return sn_fail(STONET_ERROR_INTERRUPTED, "a fit by another seed did not reach its end");
    const int64_t dim = refit->dim;
    SN_ARRAY(n * dim, double, other);
    SN_ARRAY(dim * q, double, cor);
    SN_TRY(unit_columns(refit, train, run->threads, other));
    sn_multiply(sn_turned(other, n, dim), sn_as(z, n, q), cor);
    match(dim, q, cor, part, r);
    return STONET_OK;
}

stonet_status stonet_stability(const stonet_model *model, const stonet_data *train, int64_t refits,
                               const stonet_run *run, double *r)
{
    if (model == NULL || train == NULL || r == NULL || refits < 0)
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "stonet_stability needs a model, its training rows, refits from 0 on and room for the answer");
    SN_AUTO(stonet_data) *part = NULL;
    SN_TRY(sn_refit_same_rows(model, train, "stability needs", &part));
    if (part != NULL) train = part;
    const int64_t n = stonet_data_rows(train);
    stonet_run how;
    SN_AUTO(stonet_spec) *spec = NULL;
    const int64_t count = refits > 0 ? refits : REFITS, q = model->dim;
    SN_TRY(sn_take_run(run, &how));
    how.on_message = NULL; /* those of the fit itself were enough */
    SN_TRY(stonet_model_spec(model, &spec));
    /* Z does not depend on what is fitted on it. */
    if (model->learner != NULL) SN_TRY(stonet_spec_set(spec, "learner", "none"));
    SN_ARRAY(n * q, double, z);
    SN_TRY(unit_columns(model, train, how.threads, z));
    for (int64_t k = 0; k < q; k++) r[k] = 0.0;
    for (int64_t b = 1; b <= count; b++) {
        how.seed = model->seed + (uint64_t)b;
        SN_TRY(add_refit(spec, train, &how, z, q, 1.0 / (double)count, r));
    }
    return STONET_OK;
}
