/*
 * Gradient importance: mean_i |df/dx_j| sd_j, with f the prediction in units of the standard deviation of y
 * (times and counts: of its logarithm; classes: each log probability less their mean over the classes; the
 * mean over the outputs), and the same for each column of Z. Derivatives are central differences of a
 * hundredth of the feature's standard deviation, so that any method will do; a variable of several features
 * has the sum over them. The standard error is that of the mean over the rows.
 */
#include <math.h>
#include <string.h>

#include "explain/importance.h"

static const double STEP = 0.01; /* of a standard deviation: small beside bends, large beside rounding */
static const double SMALLEST_PROBABILITY = 1e-7;

/* What f (n x outputs) and Z are at x. */
static stonet_status answers(const sn_asked *asked, const float *x, float *z, double *f)
{
    SN_TRY(sn_model_predict(asked->model, x, asked->n, z, f));
    const int64_t m = asked->outputs;
    for (int64_t i = 0; i < asked->n; i++) {
        double *row = f + i * m, mean = 0.0;
        if (asked->label == NULL) {
            for (int64_t k = 0; k < m; k++)
                row[k] = (asked->seen != NULL ? log(row[k]) : row[k]) /
                         sn_schema_target_sd(asked->model->schema, k);
            continue;
        }
        for (int64_t k = 0; k < m; k++) {
            row[k] = log(fmax(row[k], SMALLEST_PROBABILITY));
            mean += row[k] / (double)m;
        }
        for (int64_t k = 0; k < m; k++) row[k] -= mean;
    }
    return STONET_OK;
}

typedef struct slopes {
    float *x, *z[2]; /* n x p, n x dim */
    double *f[2];    /* n x outputs */
    double *row;     /* n: summed over the features of a variable */
} slopes;

/* x with one feature moved by a step from its value in asked->x. */
static void move(const sn_asked *asked, int64_t feature, double step, float *x)
{
    for (int64_t i = 0; i < asked->n; i++)
        x[i * asked->p + feature] = (float)((double)asked->x[i * asked->p + feature] + step);
}

/* Adds sum_k |f_k(x + h sd) - f_k(x - h sd)| / (2 h outputs) of each row to at->row. z (dim) gets the same of
   each column of Z, averaged over the rows. The step is h sd, so a factor sd stays: |df/dx| sd. */
static stonet_status add_feature(const sn_asked *asked, int64_t feature, slopes *at, double *z)
{
    const double sd = sqrt(sn_asked_variance(asked, asked->x + feature, asked->p)), n = (double)asked->n;
    if (sd == 0.0) return STONET_OK; /* the rows do not say what a change of it would be */
    for (int side = 0; side < 2; side++) {
        move(asked, feature, side == 0 ? -STEP * sd : STEP * sd, at->x);
        SN_TRY(answers(asked, at->x, at->z[side], at->f[side]));
    }
    move(asked, feature, 0.0, at->x);
    for (int64_t i = 0; i < asked->n; i++) {
        double sum = 0.0;
        for (int64_t k = 0; k < asked->outputs; k++)
            sum += fabs(at->f[1][i * asked->outputs + k] - at->f[0][i * asked->outputs + k]);
        at->row[i] += sum / (2.0 * STEP * (double)asked->outputs);
        for (int64_t k = 0; k < asked->dim; k++)
            z[k] += sn_asked_weight(asked, i) *
                    fabs((double)at->z[1][i * asked->dim + k] - (double)at->z[0][i * asked->dim + k]) /
                    (2.0 * STEP * n);
    }
    return STONET_OK;
}

/* at.x is a copy of the rows in which one feature at a time is moved and put back. */
stonet_status sn_importance_gradient(const sn_asked *asked, stonet_importance_result *result)
{
    const double started = sn_seconds();
    SN_WORKSPACE(scratch);
    slopes at;
    SN_TRY(SN_TAKE(&scratch, at.x, asked->n * asked->p));
    SN_TRY(SN_TAKE(&scratch, at.row, asked->n));
    for (int side = 0; side < 2; side++) {
        SN_TRY(SN_TAKE(&scratch, at.z[side], asked->n * asked->dim));
        SN_TRY(SN_TAKE(&scratch, at.f[side], asked->n * asked->outputs));
    }
    memcpy(at.x, asked->x, (size_t)(asked->n * asked->p) * sizeof *at.x);
    for (int64_t j = 0; j < asked->variables; j++) {
        if (sn_should_stop(asked->run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all variables were looked at");
        memset(at.row, 0, (size_t)asked->n * sizeof *at.row);
        const sn_input *variable = asked->variable[j];
        for (int64_t f = 0; f < variable->features; f++)
            SN_TRY(add_feature(asked, variable->first_feature + f, &at, result->z + j * asked->dim));
        sn_asked_mean(asked, at.row, &result->value[j], &result->error[j]);
        sn_progress_of(asked->run, "gradients", j + 1, asked->variables, (double)NAN, started);
    }
    return STONET_OK;
}
