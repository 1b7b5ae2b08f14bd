#include "stonet/linear.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/linalg.h"
#include "stonet/regression.h"

stonet_status sn_linear_shape(const sn_shape *like, int64_t inputs, int64_t q, sn_shape *out)
{
    *out = (sn_shape){.layers = 2,
                      .activation = SN_IDENTITY,
                      .input_activation = like->input_activation,
                      .task = like->task};
    out->width[0] = inputs;
    out->width[1] = q;
    out->width[2] = like->width[like->layers];
    return sn_shape_layout(out);
}

int64_t sn_linear_rank(const sn_shape *shape)
{
    const int64_t outputs = shape->width[shape->layers];
    return shape->task == SN_CLASSIFICATION ? outputs - 1 : outputs;
}

/* theta of the shape from B = coef (outputs x p, destroyed) and the intercepts. */
static stonet_status put(const sn_shape *shape, double *coef, const double *intercept, float *theta)
{
    const int64_t p = shape->width[0], q = shape->width[1], m = shape->width[2];
    const int64_t r = p < m ? p : m, kept = q < r ? q : r;
    double *u = NULL, *s = NULL, *vt = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW(u, m * r), done);
    SN_GOTO(status, SN_NEW(s, r), done);
    SN_GOTO(status, SN_NEW(vt, r * p), done);
    SN_GOTO(status, sn_svd(m, p, coef, u, s, vt), done);
    memset(theta, 0, (size_t)shape->parameters * sizeof *theta);
    for (int64_t a = 0; a < kept; a++) {
        const double root = sqrt(s[a]);
        for (int64_t j = 0; j < p; j++)
            theta[shape->weight_at[0] + a * p + j] = (float)(root * vt[a * p + j]);
        for (int64_t k = 0; k < m; k++) theta[shape->weight_at[1] + k * q + a] = (float)(root * u[k * r + a]);
    }
    for (int64_t k = 0; k < m; k++) theta[shape->bias_at[1] + k] = (float)intercept[k];
done:
    sn_free(u);
    sn_free(s);
    sn_free(vt);
    return status;
}

/* Rows that are enough for a linear model of p features: what more would teach is less than p / rows of the
   noise, and would take a copy of them all. */
static int64_t enough_rows(int64_t p)
{
    const int64_t numbers = 4000000, for_each = 200;
    return numbers / p > for_each * p ? numbers / p : for_each * p;
}

stonet_status sn_linear_fit(const sn_shape *shape, const sn_problem *problem, const sn_rows *all,
                            sn_ridge ridge, const stonet_run *run, float *theta, bool *found)
{
    const int64_t p = shape->width[0], m = shape->width[2], enough = enough_rows(p);
    SN_WORKSPACE(scratch);
    float *x = NULL;
    double *coef = NULL, *intercept = NULL;
    stonet_status status;
    sn_rows part = *all;
    if (all->n > enough) { /* evenly */
        int64_t *list = NULL;
        SN_TRY(SN_TAKE(&scratch, list, enough));
        for (int64_t i = 0; i < enough; i++)
            list[i] = sn_rows_at(all, (int64_t)((double)i / (double)enough * (double)all->n));
        part = sn_rows_list(list, enough);
        ridge.l2 *= (double)enough / (double)all->n;
    }
    const sn_rows *rows = &part;
    SN_GOTO(status, SN_NEW(coef, m * p), done);
    SN_GOTO(status, SN_NEW(intercept, m), done);
    SN_GOTO(status, SN_NEW_RAW(x, rows->n * p), done);
    SN_GOTO(status, sn_batch_prepare(problem, rows), done);
    sn_batch batch = {.n = rows->n, .x = x, .x_stride = p};
    sn_batch_look(problem, rows, &batch);
    const sn_regression regression = {
        .problem = problem, .rows = rows, .d = p, .x = x, .l2 = ridge.l2, .enough = ridge.enough};
    SN_GOTO(status, sn_regress(&regression, run, coef, intercept, found), done);
    if (*found) status = put(shape, coef, intercept, theta);
done:
    sn_free(x);
    sn_free(coef);
    sn_free(intercept);
    return status;
}
