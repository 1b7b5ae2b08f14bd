/*
 * For tests alone: tiny networks with random parameters, and data whose rows can be copies of one another.
 * Noise is keyed by row, so n copies of a row are n independent chains on the same target.
 */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engines.h"
#include "math/noise.h"

/* The engine after this one (NULL: the first) that can be used here; NULL: there is none. */
static inline const sn_engine_ops *next_engine(const sn_engine_ops *ops)
{
    int at = 0;
    while (ops != NULL && sn_engine_at(at++) != ops) continue;
    while (sn_engine_at(at) != NULL && !sn_engine_usable(sn_engine_at(at))) at++;
    return sn_engine_at(at);
}

typedef struct oracle {
    sn_shape shape;
    sn_problem problem;
    float *x, *theta;
    double *y;
    int32_t *label;
} oracle;

/* widths d_0 .. d_layers; weights N(0, 1/d) and biases N(0, 0.25); x, y standard normal, labels uniform. */
static inline oracle oracle_make(int layers, const int64_t *width, sn_activation activation, sn_task task,
                                 int64_t n, uint64_t seed)
{
    oracle o = {.shape = {.layers = layers, .activation = activation, .task = task}};
    for (int i = 0; i <= layers; i++) o.shape.width[i] = width[i];
    if (sn_shape_layout(&o.shape) != STONET_OK) abort();
    const int64_t p = width[0], out = width[layers];
    o.x = malloc((size_t)(n * p) * sizeof *o.x);
    o.y = malloc((size_t)(n * out) * sizeof *o.y);
    o.label = malloc((size_t)n * sizeof *o.label);
    o.theta = malloc((size_t)o.shape.parameters * sizeof *o.theta);
    if (o.x == NULL || o.y == NULL || o.label == NULL || o.theta == NULL) abort();
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 0);
    sn_shape_start(&o.shape, seed, o.theta);
    for (int i = 0; i < layers; i++)
        for (int64_t a = 0; a < width[i + 1]; a++)
            o.theta[o.shape.bias_at[i] + a] = (float)(0.5 * sn_random_normal(&random));
    for (int64_t j = 0; j < n * p; j++) o.x[j] = (float)sn_random_normal(&random);
    for (int64_t j = 0; j < n * out; j++) o.y[j] = sn_random_normal(&random);
    for (int64_t j = 0; j < n; j++) o.label[j] = (int32_t)sn_random_below(&random, (uint64_t)out);
    o.problem = (sn_problem){.n = n, .p = p, .x = o.x, .task = task, .outputs = out};
    if (task == SN_REGRESSION)
        o.problem.y = o.y;
    else
        o.problem.label = o.label;
    return o;
}

/* Makes every row a copy of row 0. */
static inline void oracle_repeat_first_row(oracle *o)
{
    const int64_t p = o->problem.p, out = o->problem.outputs;
    for (int64_t r = 1; r < o->problem.n; r++) {
        memcpy(o->x + r * p, o->x, (size_t)p * sizeof *o->x);
        memcpy(o->y + r * out, o->y, (size_t)out * sizeof *o->y);
        o->label[r] = o->label[0];
    }
}

static inline void oracle_free(oracle *o)
{
    free(o->x);
    free(o->y);
    free(o->label);
    free(o->theta);
}

/* The same s in ratio rho per layer from s_out down, eps_i = tau sqrt(s_i). */
static inline sn_dynamics oracle_dynamics(const sn_shape *shape, double s_out, double rho, double tau,
                                          double alpha, int sweeps)
{
    sn_dynamics d = {.sweeps = sweeps, .spread = 1.0};
    for (int i = shape->layers - 1; i >= 0; i--) {
        d.s[i] = i == shape->layers - 1 ? s_out : rho * d.s[i + 1];
        d.epsilon[i] = tau * sqrt(d.s[i]);
        d.alpha[i] = alpha;
    }
    return d;
}
