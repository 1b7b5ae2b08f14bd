#include "stonet/spare_units.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/kernel.h"
#include "math/linalg.h"

enum { SAMPLE = 400 }; /* rows that directions are learned from */
/* A direction is alive when its variance is above this part of the largest (a hundredth of its deviation). It
   must also not be next to 0, for units that are about 1. */
static const double ALIVE = 1e-4, LEAST_VARIANCE = 1e-6;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool is_alive(const double *value, int64_t k, int64_t n)
{
    return value[k] > ALIVE * value[0] && value[k] > LEAST_VARIANCE * (double)n;
}

typedef struct sample {
    int64_t n, units, inputs;
    double *u; /* n x units, activated, centred */
    double *v; /* n x inputs: what the layer sees, centred */
    double *u_mean, *v_mean;
} sample;

static void centre(int64_t n, int64_t d, double *x, double *mean)
{
    sn_column_means(n, d, x, mean);
    sn_subtract_row(n, d, mean, x);
}

/* A layer's activated values, or for layer 0 the features, of the rows. */
static stonet_status look(const sn_stage_job *job, const float *theta, const sn_rows *rows, int layer,
                          float *room, double *out)
{
    const int64_t d = job->shape->width[layer];
    const sn_use use = sn_stage_use(job, theta);
    SN_TRY(layer == 0
               ? sn_batch_features(job->problem, rows, room)
               : sn_engine_forward(&use, &(sn_pass){.rows = *rows, .layer = layer, .activated = true}, room));
    sn_widen(rows->n * d, room, out);
    return STONET_OK;
}

/* u: activated values of the last hidden layer h; v: what that layer sees. Both are of up to SAMPLE rows,
   evenly from all, and centred. Everything lives in `keep`. */
static stonet_status take_sample(const sn_stage_job *job, const float *theta, sn_workspace *keep, sample *s)
{
    const int h = job->shape->layers - 1;
    float *room = NULL;
    int64_t *list = NULL;
    s->n = job->rows.n < SAMPLE ? job->rows.n : SAMPLE;
    s->units = job->shape->width[h];
    s->inputs = job->shape->width[h - 1];
    SN_TRY(SN_TAKE(keep, list, s->n));
    SN_TRY(SN_TAKE(keep, room, s->n * (s->units > s->inputs ? s->units : s->inputs)));
    SN_TRY(SN_TAKE(keep, s->u, s->n * s->units));
    SN_TRY(SN_TAKE(keep, s->v, s->n * s->inputs));
    SN_TRY(SN_TAKE(keep, s->u_mean, s->units));
    SN_TRY(SN_TAKE(keep, s->v_mean, s->inputs));
    const sn_rows rows = sn_rows_evenly(&job->rows, SAMPLE, list);
    SN_TRY(look(job, theta, &rows, h, room, s->u));
    SN_TRY(look(job, theta, &rows, h - 1, room, s->v));
    centre(s->n, s->units, s->u, s->u_mean);
    centre(s->n, s->inputs, s->v, s->v_mean);
    return STONET_OK;
}

/* Of rows v (n x d, centred): v v' = vector diag(value) vector', of as many columns as the smaller of n and
   d; where d < n they are v e diag(value)^-1/2 with v'v = e diag(value) e', those that are alive alone. */
static stonet_status find_directions(int64_t n, int64_t d, const double *v, sn_workspace *keep,
                                     double **value, double **vector, int64_t *alive)
{
    const bool wide = n <= d;
    const int64_t r = smaller(n, d);
    const sn_operand rows = sn_as(v, n, d), turned = sn_turned(v, n, d);
    double *e = NULL;
    SN_ARRAY(r * r, double, gram);
    SN_TRY(SN_TAKE(keep, *value, r));
    SN_TRY(SN_TAKE(keep, e, r * r));
    sn_multiply(wide ? rows : turned, wide ? turned : rows, gram);
    SN_TRY(sn_eigh(r, gram, *value, e));
    *alive = 0;
    while (*alive < r && is_alive(*value, *alive, n)) ++*alive;
    *vector = e;
    if (wide) return STONET_OK;
    SN_TRY(SN_TAKE(keep, *vector, n * r));
    sn_multiply(rows, sn_as(e, r, r), *vector);
    for (int64_t i = 0; i < n * r; i++)
        if (i % r < *alive) (*vector)[i] /= sqrt((*value)[i % r]);
    return STONET_OK;
}

/* Takes the live directions out of what the layer sees. */
static stonet_status take_out(const sample *s, const double *direction, int64_t live, sn_workspace *keep)
{
    double *part = NULL, *share = NULL;
    if (live == 0) return STONET_OK;
    SN_TRY(SN_TAKE(keep, part, s->n * live));
    SN_TRY(SN_TAKE(keep, share, live * s->inputs));
    sn_first_columns(s->n, smaller(s->n, s->units), direction, live, part);
    sn_multiply(sn_turned(part, s->n, live), sn_as(s->v, s->n, s->inputs), share);
    sn_gemm(-1.0, sn_as(part, s->n, live), sn_as(share, live, s->inputs), 1.0, s->v);
    return STONET_OK;
}

/* weights (count x inputs) of units of variance 1 on the leading axes of what is left; fewer where there are
   no more. */
static stonet_status find_axes(const sample *s, int64_t count, sn_workspace *keep, double *weights,
                               int64_t *found)
{
    double *value = NULL, *vector = NULL;
    const int64_t r = smaller(s->n, s->inputs);
    SN_TRY(find_directions(s->n, s->inputs, s->v, keep, &value, &vector, found));
    if (*found > count) *found = count;
    /* axis V'u / sqrt(l), whose scores have sum of squares l: over sqrt(l / n) they have variance 1. */
    for (int64_t k = 0; k < *found; k++)
        for (int64_t j = 0; j < s->inputs; j++) {
            double sum = 0.0;
            for (int64_t i = 0; i < s->n; i++) sum += s->v[i * s->inputs + j] * vector[i * r + k];
            weights[k * s->inputs + j] = sum * sqrt((double)s->n) / value[k];
        }
    return STONET_OK;
}

/* Widens the last hidden layer by `count` units. A bias of -w' mean(v) centres each new unit. Their weights
   to the output are 0, so predictions do not change. *theta is freed and replaced. */
static stonet_status add_units(const sample *s, int64_t count, const double *weights, sn_shape *shape,
                               float **theta)
{
    const int h = shape->layers - 1;
    const sn_shape from = *shape;
    const int64_t units = s->units, d = from.width[h + 1], wide = units + count;
    float *out;
    shape->width[h] = wide;
    SN_TRY(sn_shape_layout(shape));
    SN_TRY(SN_NEW(out, shape->parameters));
    for (int i = 0; i < h; i++) sn_shape_copy_layer(&from, *theta, i, shape, out);
    for (int64_t k = 0; k < count; k++) {
        double shift = 0.0;
        for (int64_t j = 0; j < s->inputs; j++) {
            const double weight = weights[k * s->inputs + j];
            out[shape->weight_at[h - 1] + (units + k) * s->inputs + j] = (float)weight;
            shift -= weight * s->v_mean[j];
        }
        out[shape->bias_at[h - 1] + units + k] = (float)shift;
    }
    for (int64_t o = 0; o < d; o++)
        memcpy(out + shape->weight_at[h] + o * wide, *theta + from.weight_at[h] + o * units,
               (size_t)units * sizeof *out);
    memcpy(out + shape->bias_at[h], *theta + from.bias_at[h], (size_t)d * sizeof *out);
    sn_free(*theta);
    *theta = out;
    return STONET_OK;
}

stonet_status sn_spare_units(const sn_stage_job *job, int64_t wanted, sn_shape *shape, float **theta)
{
    SN_WORKSPACE(scratch);
    sample s;
    double *value = NULL, *direction = NULL;
    int64_t live, found;
    SN_TRY(take_sample(job, *theta, &scratch, &s));
    SN_TRY(find_directions(s.n, s.units, s.u, &scratch, &value, &direction, &live));
    if (live >= wanted) return STONET_OK;
    SN_TRY(take_out(&s, direction, live, &scratch));
    SN_ARRAY((wanted - live) * s.inputs, double, weights);
    SN_TRY(find_axes(&s, wanted - live, &scratch, weights, &found));
    return found > 0 ? add_units(&s, found, weights, shape, theta) : STONET_OK;
}

stonet_status sn_feature_directions(const sn_problem *problem, int64_t *count)
{
    SN_WORKSPACE(scratch);
    const int64_t n = problem->n < SAMPLE ? problem->n : SAMPLE, p = problem->p;
    double *value = NULL, *vector = NULL;
    SN_ARRAY(n, int64_t, list);
    SN_ARRAY(n * p, float, room);
    SN_ARRAY(n * p, double, x);
    SN_ARRAY(p, double, mean);
    const sn_rows all = sn_rows_range(0, problem->n), rows = sn_rows_evenly(&all, SAMPLE, list);
    SN_TRY(sn_batch_features(problem, &rows, room));
    sn_widen(n * p, room, x);
    centre(n, p, x, mean);
    return find_directions(n, p, x, &scratch, &value, &vector, count);
}
