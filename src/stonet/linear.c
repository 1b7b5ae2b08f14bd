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

/* All rows or, of more than are enough, an even part, whose list the workspace keeps. */
static stonet_status take_rows(int64_t p, const sn_rows *all, sn_workspace *scratch, sn_rows *part)
{
    const int64_t enough = enough_rows(p);
    *part = *all;
    if (all->n <= enough) return STONET_OK;
    int64_t *list = NULL;
    SN_TRY(SN_TAKE(scratch, list, enough));
    for (int64_t i = 0; i < enough; i++)
        list[i] = sn_rows_at(all, (int64_t)((double)i / (double)enough * (double)all->n));
    *part = sn_rows_list(list, enough);
    return STONET_OK;
}

/* The features of the rows, x n x p. */
static stonet_status look(const sn_problem *problem, const sn_rows *rows, int64_t p, float *x)
{
    SN_TRY(sn_batch_prepare(problem, rows));
    sn_batch batch = {.n = rows->n, .x = x, .x_stride = p};
    sn_batch_look(problem, rows, &batch);
    return STONET_OK;
}

stonet_status sn_linear_fit(const sn_shape *shape, const sn_problem *problem, const sn_rows *all,
                            sn_ridge ridge, const stonet_run *run, float *theta, bool *found)
{
    const int64_t p = shape->width[0], m = shape->width[2];
    SN_WORKSPACE(scratch);
    float *x = NULL;
    double *coef = NULL, *intercept = NULL;
    stonet_status status;
    sn_rows rows;
    SN_TRY(take_rows(p, all, &scratch, &rows));
    ridge.l2 *= (double)rows.n / (double)all->n;
    SN_GOTO(status, SN_NEW(coef, m * p), done);
    SN_GOTO(status, SN_NEW(intercept, m), done);
    SN_GOTO(status, SN_NEW_RAW(x, rows.n * p), done);
    SN_GOTO(status, look(problem, &rows, p, x), done);
    const sn_regression regression = {
        .problem = problem, .rows = &rows, .d = p, .x = x, .l2 = ridge.l2, .enough = ridge.enough};
    SN_GOTO(status, sn_regress(&regression, run, coef, intercept, found), done);
    if (*found) status = put(shape, coef, intercept, theta);
done:
    sn_free(x);
    sn_free(coef);
    sn_free(intercept);
    return status;
}

/* ---- inside another network -------------------------------------------------------------------- */

bool sn_linear_fits(const sn_shape *shape)
{
    for (int i = 1; i < shape->layers; i++)
        if (shape->width[i] < sn_linear_rank(shape)) return false;
    return shape->input_activation == SN_IDENTITY && !shape->spread;
}

stonet_status sn_linear_reach(const sn_shape *linear, const float *theta, const sn_problem *problem,
                              const sn_rows *all, double *reach)
{
    const int64_t p = linear->width[0], q = linear->width[1];
    SN_WORKSPACE(scratch);
    float *x = NULL;
    sn_rows rows;
    SN_TRY(take_rows(p, all, &scratch, &rows));
    SN_TRY(SN_TAKE(&scratch, x, rows.n * p));
    SN_TRY(look(problem, &rows, p, x));
    for (int64_t k = 0; k < q; k++) {
        const float *w = theta + linear->weight_at[0] + k * p;
        reach[k] = 0.0;
        for (int64_t i = 0; i < rows.n; i++) {
            double z = 0.0;
            for (int64_t j = 0; j < p; j++) z += (double)w[j] * (double)x[i * p + j];
            reach[k] = fmax(reach[k], fabs(z));
        }
    }
    return STONET_OK;
}

/* Where units stay within this of 0, tanh and the logistic function are straight: a part of 1e-4 is lost. */
static const double STRAIGHT = 0.02;

sn_passage sn_passage_of(const sn_shape *shape, double reach)
{
    const bool bent = shape->activation == SN_TANH || shape->activation == SN_SIGMOID;
    return (sn_passage){.scale = bent && reach > 0.0 ? STRAIGHT / reach : 1.0,
                        .shift = shape->activation == SN_RELU ? 2.0 * reach : 0.0};
}

void sn_linear_inside(const sn_shape *linear, const float *theta, const double *reach, const sn_shape *shape,
                      float *out)
{
    const int64_t p = linear->width[0], q = linear->width[1], m = linear->width[2];
    const int last = shape->layers - 1;
    const int64_t rank = sn_linear_rank(shape), units = rank < q ? rank : q;
    memset(out, 0, (size_t)shape->parameters * sizeof *out);
    for (int64_t k = 0; k < m; k++) out[shape->bias_at[last] + k] = theta[linear->bias_at[1] + k];
    for (int64_t a = 0; a < units; a++) {
        const sn_passage way = sn_passage_of(shape, reach[a]);
        for (int64_t j = 0; j < p; j++)
            out[shape->weight_at[0] + a * p + j] =
                (float)(way.scale * (double)theta[linear->weight_at[0] + a * p + j]);
        out[shape->bias_at[0] + a] = (float)way.shift;
        double slope = 1.0, height = 0.0;
        for (int i = 1; i <= last; i++) {
            const bool logistic = sn_shape_activation(shape, i) == SN_SIGMOID;
            slope = logistic ? 0.25 : 1.0;
            height = logistic ? 0.5 : 0.0;
            if (i == last) break;
            out[shape->weight_at[i] + a * shape->width[i] + a] = (float)(1.0 / slope);
            out[shape->bias_at[i] + a] = (float)(-height / slope);
        }
        for (int64_t k = 0; k < m; k++) {
            const double v = (double)theta[linear->weight_at[1] + k * q + a] / way.scale;
            out[shape->weight_at[last] + k * shape->width[last] + a] = (float)(v / slope);
            out[shape->bias_at[last] + k] -= (float)(v * (way.shift + height / slope));
        }
    }
}
