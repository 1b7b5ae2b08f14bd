#include "stonet/blend_point.h"

#include <math.h>

#include "base/memory.h"
#include "stonet/blend.h"
#include "stonet/front_kernel.h"
#include "stonet/linear.h"

/* Standard errors that one may be behind the other. */
static const double LEVEL_ERRORS = 2.0;
static const double ROUGHLY = 1e-3; /* of the loss, when a penalty is judged */

bool sn_blend_point_fits(const sn_stage_job *job, const sn_holdout *holdout, const sn_held_out *network,
                         const sn_kernel_point *kernel)
{
    if (kernel->front == NULL || kernel->cost.loss == NULL || !isfinite(kernel->cost.mean) ||
        network->loss == NULL || !isfinite(network->mean) || !sn_blend_fits(job->shape))
        return false;
    const sn_difference lag = sn_held_out_difference(network, &kernel->cost, 0, holdout->rows);
    return fabs(lag.mean) < LEVEL_ERRORS * lag.se;
}

/* Of the features of u the first, which kernel regression is given: those of all rows of u. */
static stonet_status first_features(const sn_problem *u, int64_t visible, sn_problem *out, float **x)
{
    *out = *u;
    *x = NULL;
    if (visible == u->p) return STONET_OK;
    SN_TRY(SN_NEW_RAW(*x, u->n * visible));
    for (int64_t i = 0; i < u->n; i++)
        for (int64_t j = 0; j < visible; j++) (*x)[i * visible + j] = u->x[i * u->p + j];
    out->p = visible;
    out->x = *x;
    return STONET_OK;
}

stonet_status sn_blend_fit_make(const sn_blend_fit *fit, sn_shape *shape, float **theta, bool *found)
{
    const sn_stage_job *job = fit->job;
    sn_shape linear;
    sn_problem some;
    float *x, *coefficients = NULL;
    stonet_status status;
    *theta = NULL;
    SN_GOTO(status, first_features(fit->u, fit->visible, &some, &x), done);
    SN_GOTO(status, sn_linear_shape(job->shape, fit->visible, job->problem->outputs, &linear), done);
    SN_GOTO(status, SN_NEW(coefficients, linear.parameters), done);
    const sn_ridge ridge = {.l2 = fit->penalty * (double)fit->rows.n, .enough = fit->enough};
    SN_GOTO(status, sn_linear_fit(&linear, &some, &fit->rows, ridge, job->run, coefficients, found), done);
    if (!*found) goto done;
    const sn_blend blend = {.network = {job->shape, fit->theta},
                            .linear = {&linear, coefficients},
                            .x = job->problem,
                            .u = fit->u,
                            .front = fit->front,
                            .rows = fit->rows,
                            .engine = job->config->engine,
                            .threads = job->threads};
    status = sn_blend_make(&blend, shape, theta);
done:
    sn_free(x);
    sn_free(coefficients);
    return status;
}

/* One fold. */
static stonet_status measure_fold(sn_blend_fit *fit, const sn_holdout *holdout, int k, double *loss,
                                  double *wrong, bool *found)
{
    sn_shape shape;
    float *theta;
    fit->rows = holdout->fold[k].train;
    SN_TRY(sn_blend_fit_make(fit, &shape, &theta, found));
    if (!*found) return STONET_OK;
    stonet_status status = sn_held_out_measure(holdout, k, fit->job->config->engine, &shape, theta,
                                               fit->job->threads, loss, wrong);
    sn_free(theta);
    return status;
}

static stonet_status measure_folds(sn_blend_fit *fit, const sn_holdout *holdout, float *const *theta,
                                   sn_blend_point *out)
{
    double errors = 0.0;
    bool found = true;
    SN_TRY(SN_NEW(out->cost.loss, holdout->rows));
    for (int k = 0; k < holdout->folds && found; k++) {
        double wrong = 0.0;
        fit->theta = theta[k];
        SN_TRY(measure_fold(fit, holdout, k, out->cost.loss, &wrong, &found));
        errors += wrong;
    }
    out->cost.mean = (double)INFINITY;
    if (found) sn_held_out_finish(&out->cost, holdout, fit->job->problem, errors);
    return STONET_OK;
}

stonet_status sn_blend_point_measure(const sn_stage_job *job, const sn_holdout *holdout, float *const *theta,
                                     const sn_kernel_point *kernel, sn_blend_point *out)
{
    *out = (sn_blend_point){0};
    SN_TRY(sn_front_kernel_with_inputs(kernel->front, job->problem, &job->rows, &out->front));
    sn_problem seen;
    sn_holdout own = *holdout; /* the same rows, seen otherwise */
    stonet_status status = sn_front_problem(out->front, job->problem, &seen);
    for (int k = 0; k < own.folds; k++) own.fold[k].problem = &seen;
    sn_blend_fit fit = {.job = job,
                        .front = out->front,
                        .u = &seen,
                        .penalty = kernel->penalty,
                        .enough = ROUGHLY,
                        .visible = kernel->front->outputs};
    if (status == STONET_OK) status = measure_folds(&fit, &own, theta, out);
    sn_front_problem_free(job->problem, &seen);
    return status;
}

void sn_blend_point_free(sn_blend_point *point)
{
    sn_front_free(point->front);
    sn_free(point->cost.loss);
    *point = (sn_blend_point){0};
}
