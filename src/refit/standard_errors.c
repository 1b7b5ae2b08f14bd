/*
 * Standard errors of Z. Z is determined up to a shift, a rotation and a unit at best. So the Z of a refit is
 * first aligned with that of the model on the training rows. With both centred there (A of the refit, B of
 * the model),
 *
 *     A <- (|B| / |A|) A U V',   A'B = U S V'
 *
 * The unit comes from the sizes alone. The unit of least squares would shrink a Z that has nothing to do with
 * that of the model to 0, and the standard error with it.
 */
#include <math.h>

#include "base/memory.h"
#include "base/take_options.h"
#include "base/workspace.h"
#include "math/linalg.h"
#include "refit/resample.h"

enum { REFITS = 50 };

typedef struct se_job {
    const stonet_model *model;
    const stonet_data *train, *data;
    const stonet_run *run;
    int64_t n, q, rows; /* training rows, columns of Z, rows of data */
    double *z0;         /* n x q: the model's own, centred; */
    double *mean;       /* where (q), */
    double *basis;      /* and its columns made orthonormal (n x q) */
    double *sum;        /* rows x q: of the refits' Z so far, and of */
    double *squares;    /* its deviations from the mean */
    double correlation; /* the mean canonical ones, summed over the refits */
} se_job;

static void centre(int64_t n, int64_t q, double *z, double *mean)
{
    for (int64_t k = 0; k < q; k++) {
        mean[k] = 0.0;
        for (int64_t i = 0; i < n; i++) mean[k] += z[i * q + k] / (double)n;
        for (int64_t i = 0; i < n; i++) z[i * q + k] -= mean[k];
    }
}

/* turn (r x q) = (|B| / |A|) U V' for A n x r, B n x q, both centred. */
static stonet_status procrustes(int64_t n, int64_t r, int64_t q, const double *a, const double *b,
                                double *turn)
{
    const int64_t least = r < q ? r : q;
    SN_ARRAY(r * q, double, product);
    SN_ARRAY(r * least, double, u);
    SN_ARRAY(least, double, s);
    SN_ARRAY(least * q, double, vt);
    sn_multiply(sn_turned(a, n, r), sn_as(b, n, q), product);
    SN_TRY(sn_svd(r, q, product, u, s, vt));
    const double size = sn_norm(n * r, a);
    sn_gemm(size > 0.0 ? sn_norm(n * q, b) / size : 0.0, sn_as(u, r, least), sn_as(vt, least, q), 0.0, turn);
    return STONET_OK;
}

/* Mean of the canonical correlations of A (n x r, destroyed) and an orthonormal basis (n x q). */
static stonet_status correlation(int64_t n, int64_t r, int64_t q, double *a, const double *basis,
                                 double *mean)
{
    const int64_t least = r < q ? r : q;
    SN_ARRAY(r * q, double, product);
    SN_ARRAY(least, double, s);
    SN_TRY(sn_orthonormalise(n, r, a));
    sn_multiply(sn_turned(a, n, r), sn_as(basis, n, q), product);
    SN_TRY(sn_svd(r, q, product, NULL, s, NULL));
    *mean = 0.0;
    for (int64_t k = 0; k < least; k++) *mean += s[k] / (double)q;
    return STONET_OK;
}

/* Adds what refit number b (from 0) says, by Welford's recursion. */
static stonet_status add_refit(void *of, const stonet_model *refit, int64_t b)
{
    se_job *job = of;
    const int64_t r = refit->dim, q = job->q;
    double found = 0.0;
    SN_ARRAY(job->n * r, double, a);
    SN_ARRAY(r, double, mean);
    SN_ARRAY(r * q, double, turn);
    SN_ARRAY(job->rows * r, double, z);
    SN_ARRAY(job->rows * q, double, turned);
    SN_TRY(sn_model_wide_z(refit, job->train, job->run->threads, a));
    centre(job->n, r, a, mean);
    SN_TRY(procrustes(job->n, r, q, a, job->z0, turn));
    SN_TRY(correlation(job->n, r, q, a, job->basis, &found));
    job->correlation += found;
    SN_TRY(sn_model_wide_z(refit, job->data, job->run->threads, z));
    for (int64_t i = 0; i < job->rows * r; i++) z[i] -= mean[i % r];
    sn_multiply(sn_as(z, job->rows, r), sn_as(turn, r, q), turned);
    for (int64_t i = 0; i < job->rows * q; i++) {
        const double step = turned[i] - job->sum[i];
        job->sum[i] += step / (double)(b + 1);
        job->squares[i] += step * (turned[i] - job->sum[i]);
    }
    return STONET_OK;
}

static stonet_status start(se_job *job, sn_workspace *keep)
{
    SN_TRY(SN_TAKE(keep, job->z0, job->n * job->q));
    SN_TRY(SN_TAKE(keep, job->basis, job->n * job->q));
    SN_TRY(SN_TAKE(keep, job->mean, job->q));
    SN_TRY(SN_TAKE_ZERO(keep, job->sum, job->rows * job->q));
    SN_TRY(SN_TAKE_ZERO(keep, job->squares, job->rows * job->q));
    SN_TRY(sn_model_wide_z(job->model, job->train, job->run->threads, job->z0));
    centre(job->n, job->q, job->z0, job->mean);
    for (int64_t i = 0; i < job->n * job->q; i++) job->basis[i] = job->z0[i];
    return sn_orthonormalise(job->n, job->q, job->basis);
}

/* se = sqrt(sum_b (Z_b - mean Z)^2 / (refits - 1)) for each cell of Z (rows x q), Z_b aligned as above.
   stability: the mean canonical correlation of Z_b with the Z of the model. */
static stonet_status spread(se_job *job, int64_t refits, double *se, double *stability)
{
    SN_WORKSPACE(scratch);
    SN_AUTO(stonet_spec) *spec = NULL;
    SN_TRY(start(job, &scratch));
    SN_TRY(stonet_model_spec(job->model, &spec));
    /* Z does not depend on what is fitted on it. */
    if (job->model->learner != NULL) SN_TRY(stonet_spec_set(spec, "learner", "none"));
    SN_TRY(sn_refit_halves(job->model, spec, job->train, refits, job->run, add_refit, job));
    for (int64_t i = 0; i < job->rows * job->q; i++) se[i] = sqrt(job->squares[i] / (double)(refits - 1));
    if (stability != NULL) *stability = job->correlation / (double)refits;
    return STONET_OK;
}

stonet_status stonet_transform_se(const stonet_model *model, const stonet_data *train,
                                  const stonet_data *data, int64_t refits, const stonet_run *run, double *se,
                                  double *stability)
{
    if (model == NULL || train == NULL || data == NULL || se == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_transform_se needs a model, its training rows, data and room for the errors");
    if (refits < 0 || refits == 1)
        return sn_fail(STONET_ERROR_ARGUMENT, "standard errors need 2 refits at least, 50 are usual");
    stonet_run running;
    SN_TRY(sn_take_run(run, &running));
    SN_AUTO(stonet_data) *part = NULL;
    SN_TRY(sn_refit_same_rows(model, train, "standard errors need", &part));
    se_job job = {.model = model,
                  .train = part != NULL ? part : train,
                  .data = data,
                  .run = &running,
                  .n = model->n_train,
                  .q = model->dim,
                  .rows = stonet_data_rows(data)};
    if (job.n / 2 <= job.q)
        return sn_fail(STONET_ERROR_DATA, "%lld training rows are too few for standard errors",
                       (long long)job.n);
    SN_THREADS(running.threads);
    return spread(&job, refits > 0 ? refits : REFITS, se, stability);
}
