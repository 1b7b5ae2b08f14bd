/* For tests alone: networks, data and batches drawn at random, to compare engines on. All activations, tasks,
   integrators, starts and penalties come up among the seeds. After cmocka.h. */
#pragma once

#include "base/memory.h"
#include "engine/test_oracle.h"

static const uint64_t SEED = 0x9D2C5680F00DCAFE; /* both key words in use */

typedef struct fixture {
    oracle o;
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
    int64_t width[SN_MAX_LAYERS + 1];
    memset(f, 0, sizeof *f);
    for (int i = 0; i <= hidden; i++) width[i] = between(&random, 1, widest);
    const sn_task task = seed % 2 == 0 ? SN_CLASSIFICATION : SN_REGRESSION;
    const int64_t outputs = task == SN_REGRESSION ? between(&random, 1, 3) : between(&random, 2, 11);
    width[hidden + 1] = outputs;
    f->o = oracle_make(hidden + 1, width, (sn_activation)(seed / 2 % 4), task, n, seed);
    f->o.shape.spread = task == SN_REGRESSION && outputs == 2;
    f->o.shape.input_activation = seed % 5 == 4 ? (sn_activation)(seed % 4) : SN_IDENTITY;
    f->rows = test_zeros(n + count, sizeof *f->rows);

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
        const int64_t p = width[0];
        f->o.problem.groups = 1 + (p > 1);
        f->o.problem.group = f->group;
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
    oracle_free(&f->o);
    sn_free(f->rows);
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
    float *theta = test_zeros(f->o.shape.parameters, sizeof *theta);
    engine->ops->get_parameters(engine, theta);
    engine->ops->free(engine);
    return theta;
}

/* What the engine imputes in a layer; to be freed. The engine is freed. */
static inline float *imputed(sn_engine *engine, const fixture *f, int layer)
{
    float *out = test_zeros(f->iteration.rows.n * f->o.shape.width[layer], sizeof *out);
    assert_int_equal(engine->ops->impute(engine, &f->iteration, layer, out), STONET_OK);
    engine->ops->free(engine);
    return out;
}

/* What a pass by a new engine gives; to be freed. */
static inline float *passed(sn_engine *engine, const fixture *f, const sn_pass *pass)
{
    float *out = test_zeros(pass->rows.n * f->o.shape.width[pass->layer], sizeof *out);
    assert_int_equal(engine->ops->forward(engine, pass, out), STONET_OK);
    engine->ops->free(engine);
    return out;
}

/* A new engine with the parameters of a fixture. */
static inline sn_engine *started(const sn_engine_ops *ops, const fixture *f)
{
    sn_engine *engine = NULL;
    OK(ops->create(&f->o.shape, &f->o.problem, SEED, 1, &engine));
    ops->start(engine, f->o.theta);
    return engine;
}

/* Steps, passes and latents of the engines that `create` makes against those of ref. */
typedef sn_engine *creator(const fixture *f);
static inline void check_near_ref(const fixture *f, int steps, double tolerance, creator *create)
{
    double loss, loss_ref;
    const sn_engine_ops *right = &sn_engine_ref;
    SN_BLOCK float *ref = stepped(started(right, f), f, steps, &loss_ref),
                   *theta = stepped(create(f), f, steps, &loss);
    assert_near(theta, ref, f->o.shape.parameters, tolerance);
    assert_true(fabs(loss - loss_ref) <= 1e-4 * (1.0 + fabs(loss_ref)));
    for (int layer = 1; layer <= f->o.shape.layers; layer++) {
        const bool hidden = layer < f->o.shape.layers;
        const sn_pass pass = {.rows = f->iteration.rows,
                              .layer = layer,
                              .activated = hidden && layer % 2 == 0,
                              .s = layer > 2 ? f->dynamics.s : NULL,
                              .draw = 5};
        const int64_t size = pass.rows.n * f->o.shape.width[layer];
        SN_BLOCK float *expected = passed(started(right, f), f, &pass), *out = passed(create(f), f, &pass);
        assert_near(out, expected, size, tolerance);
        if (!hidden) break;
        SN_BLOCK float *latent_ref = imputed(started(right, f), f, layer),
                       *latent = imputed(create(f), f, layer);
        assert_near(latent, latent_ref, size, tolerance);
    }
}

/* Networks with hidden layers and without, and one that is quiet; batches of one row and of many. */
typedef void checker(const fixture *f, int steps, double tolerance);
static inline void check_drawn_networks(checker *check, uint32_t seeds, int64_t n)
{
    for (uint32_t seed = 0; seed < seeds; seed++) {
        SN_FREED_BY(drop) fixture f;
        make(&f, seed, 1 + (int)(seed / 16 % 4), seed % 7 == 0 ? 140 : 30, n, seed % 9 == 0 ? 1 : 0);
        check(&f, 2, 3e-4);
    }
    for (uint32_t seed = 0; seed < 4; seed++) {
        SN_FREED_BY(drop) fixture f;
        make(&f, seed, 0, 40, 90, 70);
        check(&f, 2, 1e-4);
    }
    SN_FREED_BY(drop) fixture quiet;
    make_quiet(&quiet);
    check(&quiet, 3, 1e-3);
}
