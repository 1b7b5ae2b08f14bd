/* For tests alone: networks, data and batches drawn at random, to compare engines on. All activations, tasks,
   integrators, starts and penalties come up among the seeds. After cmocka.h. */
#pragma once

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/engines.h"
#include "math/noise.h"

static const uint64_t SEED = 0x9D2C5680F00DCAFE; /* both key words in use */

typedef struct fixture {
    sn_shape shape;
    sn_problem problem;
    float *x, *theta;
    double *y;
    int32_t *label;
    int64_t *rows;
    int64_t group[3]; /* two columns of the table */
    sn_dynamics dynamics;
    sn_update update;
    sn_iteration iteration;
} fixture;

static inline int64_t between(sn_random *random, int64_t low, int64_t high)
{
    return low + (int64_t)sn_random_below(random, (uint64_t)(high - low + 1));
}

/* A network, data and a batch drawn by `seed`; widths up to `widest`, `count` rows of the batch (0: random).
 */
static inline void make(fixture *f, uint32_t seed, int hidden, int64_t widest, int64_t n, int64_t count)
{
    sn_random random = sn_random_from(77, SN_STREAM_TEST, seed);
    memset(f, 0, sizeof *f);
    f->shape.layers = hidden + 1;
    for (int i = 0; i <= hidden; i++) f->shape.width[i] = between(&random, 1, widest);
    f->shape.task = seed % 2 == 0 ? SN_CLASSIFICATION : SN_REGRESSION;
    const int64_t outputs = f->shape.task == SN_REGRESSION ? between(&random, 1, 3) : between(&random, 2, 11);
    f->shape.width[hidden + 1] = outputs;
    f->shape.spread = f->shape.task == SN_REGRESSION && outputs == 2;
    f->shape.activation = (sn_activation)(seed / 2 % 4);
    f->shape.input_activation = seed % 5 == 4 ? (sn_activation)(seed % 4) : SN_IDENTITY;
    assert_int_equal(sn_shape_layout(&f->shape), STONET_OK);

    const int64_t p = f->shape.width[0];
    f->x = test_zeros(n * p, sizeof *f->x);
    f->y = test_zeros(n * outputs, sizeof *f->y);
    f->label = test_zeros(n, sizeof *f->label);
    f->rows = test_zeros(n + count, sizeof *f->rows);
    f->theta = test_zeros(f->shape.parameters, sizeof *f->theta);
    for (int64_t k = 0; k < n * p; k++) f->x[k] = (float)sn_random_normal(&random);
    for (int64_t k = 0; k < n * outputs; k++) f->y[k] = sn_random_normal(&random);
    for (int64_t k = 0; k < n; k++) f->label[k] = (int32_t)between(&random, 0, outputs - 1);
    sn_shape_start(&f->shape, seed, f->theta);
    for (int64_t k = 0; k < f->shape.parameters; k++) f->theta[k] += 0.1F * (float)sn_random_normal(&random);
    f->problem = (sn_problem){.n = n, .p = p, .x = f->x, .task = f->shape.task, .outputs = outputs};
    if (f->shape.task == SN_REGRESSION)
        f->problem.y = f->y;
    else
        f->problem.label = f->label;

    f->dynamics.beta = seed % 3 == 0 ? 0.0 : 0.5;
    f->dynamics.spread = seed % 4 == 3 ? 0.3 : 1.0;
    f->dynamics.sweeps = (int)between(&random, 1, 6);
    f->dynamics.integrator = seed / 8 % 2 == 0 ? SN_SYMPLECTIC : SN_EULER;
    f->dynamics.start = seed / 3 % 2 == 0 ? SN_START_FORWARD : SN_START_MODE;
    for (int i = 0; i <= hidden; i++) {
        f->dynamics.s[i] = 0.05 + 0.5 * sn_random_uniform(&random);
        f->dynamics.epsilon[i] = 0.02 + 0.1 * sn_random_uniform(&random);
        f->dynamics.alpha[i] = 0.05 + 0.2 * sn_random_uniform(&random);
        f->update.rate[i] = 0.01 + 0.05 * sn_random_uniform(&random);
        f->update.scale[i] = f->dynamics.s[i];
    }
    f->update.momentum = 0.9;
    f->update.decay = seed % 3 == 0 ? 0.03 : 0.0;
    f->update.l1 = seed % 4 == 1 ? 0.02 : 0.0;
    f->update.group = seed % 5 == 2 ? 0.05 : 0.0;
    if (seed % 10 == 2) {
        f->problem.groups = 1 + (p > 1);
        f->problem.group = f->group;
        f->group[1] = p > 1 ? p / 2 : p;
        f->group[2] = p;
    }
    if (count == 0) count = between(&random, 1, n);
    for (int64_t k = 0; k < count; k++) f->rows[k] = between(&random, 0, n - 1);
    f->iteration = (sn_iteration){.rows = sn_rows_list(f->rows, count),
                                  .number = 3 + seed,
                                  .dynamics = &f->dynamics,
                                  .update = &f->update};
}

/* One with the default's noise levels: residuals are small differences of large numbers. */
static inline void make_quiet(fixture *f)
{
    const double s[] = {1e-6, 1e-5, 1e-4};
    make(f, 2, 2, 20, 100, 64);
    for (int i = 0; i < 3; i++) {
        f->dynamics.s[i] = s[i];
        f->dynamics.epsilon[i] = 0.1 * sqrt(s[i]);
        f->update.scale[i] = 1e-4;
    }
}

static inline void drop(fixture *f)
{
    sn_free(f->x);
    sn_free(f->y);
    sn_free(f->label);
    sn_free(f->rows);
    sn_free(f->theta);
}

static inline void assert_near(const float *a, const float *b, int64_t size, double tolerance)
{
    for (int64_t k = 0; k < size; k++)
        if (!(fabs((double)a[k] - (double)b[k]) <= tolerance * (1.0 + fabs((double)b[k]))))
            fail_msg("element %lld of %lld: %.9g against %.9g", (long long)k, (long long)size, (double)a[k],
                     (double)b[k]);
}

/* The parameters after some steps, and the loss of the last; to be freed. The engine is freed. */
static inline float *stepped(sn_engine *engine, const fixture *f, int steps, double *loss)
{
    sn_step_report report = {0};
    sn_iteration iteration = f->iteration;
    for (int k = 0; k < steps; k++, iteration.number++)
        if (engine->ops->step(engine, &iteration, &report) != STONET_OK) fail_msg("%s", stonet_last_error());
    assert_true(report.finite);
    *loss = report.loss;
    float *theta = test_zeros(f->shape.parameters, sizeof *theta);
    engine->ops->get_parameters(engine, theta);
    engine->ops->free(engine);
    return theta;
}

/* What the engine imputes in a layer; to be freed. The engine is freed. */
static inline float *imputed(sn_engine *engine, const fixture *f, int layer)
{
    float *out = test_zeros(f->iteration.rows.n * f->shape.width[layer], sizeof *out);
    assert_int_equal(engine->ops->impute(engine, &f->iteration, layer, out), STONET_OK);
    engine->ops->free(engine);
    return out;
}
