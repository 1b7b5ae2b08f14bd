/* The cpu engine against ref on random networks, on every instruction set this machine has, and the promise
   that threads, blocks, batch order and neighbours never change a bit of a row. */
#include <omp.h>

#include "base/test_kit.h"
#include "engine/cpu.h"
#include "engine/test_drawn.h"

static sn_engine *engine_of(const fixture *f, const sn_cpu_kernels *kernels, int threads)
{
    sn_engine *engine = NULL;
    OK(sn_cpu_create(&f->o.shape, &f->o.problem, SEED, threads, kernels, &engine));
    sn_cpu_hold_threads(engine);
    engine->ops->start(engine, f->o.theta);
    return engine;
}

/* The instruction set whose turn it is. */
static int isa_now;

static sn_engine *create(const fixture *f)
{
    return engine_of(f, sn_cpu_supported(isa_now), 1);
}

static void check_against_ref(const fixture *f, int steps, double tolerance)
{
    for (isa_now = 0; sn_cpu_supported(isa_now) != NULL; isa_now++)
        check_near_ref(f, steps, tolerance, create);
}

TEST(test_random_networks)
{
    check_drawn_networks(check_against_ref, 96, 150);
}

/* All rows at once, over several chunks and many chains of the sum, read in place and with an activation. */
TEST(test_full_batch)
{
    for (uint32_t seed = 0; seed < 6; seed++) {
        SN_FREED_BY(drop) fixture f;
        make(&f, seed, 2, 9, 9001, 1);
        f.iteration.rows = sn_rows_range(0, 9001);
        check_against_ref(&f, 1, 3e-4);
    }
}

/* An input wider than one depth step and a layer of several panels of each width; inputs that are whole
   pieces of the update, and that are not. */
TEST(test_wide)
{
    const int64_t inputs[] = {1100, 23 * SN_UPDATE_INPUTS, 1100, SN_UPDATE_INPUTS},
                  units[] = {113, 177, 5 * SN_UPDATE_INPUTS, 305};
    for (uint32_t seed = 0; seed < 4; seed++) {
        const int64_t p = inputs[seed];
        SN_FREED_BY(drop) fixture f;
        make(&f, seed, 1, 4, 40, 33);
        f.o.shape.width[0] = p;
        f.o.shape.width[1] = units[seed];
        OK(sn_shape_layout(&f.o.shape));
        sn_free(f.o.x);
        sn_free(f.o.theta);
        f.o.x = test_zeros(40 * p, sizeof *f.o.x);
        f.o.theta = test_zeros(f.o.shape.parameters, sizeof *f.o.theta);
        sn_random random = sn_random_from(5, SN_STREAM_TEST, seed);
        for (int64_t k = 0; k < 40 * p; k++) f.o.x[k] = (float)sn_random_normal(&random);
        sn_shape_start(&f.o.shape, 1, f.o.theta);
        f.o.problem.x = f.o.x;
        f.o.problem.p = p;
        f.o.problem.group = NULL;
        check_against_ref(&f, 2, 5e-4);
    }
}

TEST(test_same_bits_for_any_threads)
{
    const int threads[] = {2, 7};
    for (uint32_t seed = 20; seed < 28; seed++) {
        SN_FREED_BY(drop) fixture f;
        make(&f, seed, 1 + (int)(seed % 3), 90, 6000, seed == 20 ? 5000 : 300);
        for (int isa = 0; sn_cpu_supported(isa) != NULL; isa++) {
            double loss_one, loss;
            SN_BLOCK float *one = stepped(engine_of(&f, sn_cpu_supported(isa), 1), &f, 3, &loss_one);
            SN_BLOCK float *latent_one = imputed(engine_of(&f, sn_cpu_supported(isa), 1), &f, 1);
            for (int k = 0; k < 2; k++) {
                SN_BLOCK float *theta =
                    stepped(engine_of(&f, sn_cpu_supported(isa), threads[k]), &f, 3, &loss);
                SN_BLOCK float *latent = imputed(engine_of(&f, sn_cpu_supported(isa), threads[k]), &f, 1);
                assert_memory_equal(theta, one, (size_t)f.o.shape.parameters * sizeof *theta);
                assert_memory_equal(latent, latent_one,
                                    (size_t)(f.iteration.rows.n * f.o.shape.width[1]) * sizeof *latent);
                assert_true(loss == loss_one);
            }
        }
    }
}

/* In a parallel region the threads that have nothing to do help; an engine with scratch for fewer threads
   than that goes on alone. */
TEST(test_same_bits_with_help)
{
    enum { REGION = 4 };
    const int threads[] = {REGION, REGION - 1};
    SN_FREED_BY(drop) fixture f;
    make(&f, 21, 2, 90, 6000, 300);
    for (int isa = 0; sn_cpu_supported(isa) != NULL; isa++) {
        double loss_one, loss = 0.0;
        SN_BLOCK float *one = stepped(engine_of(&f, sn_cpu_supported(isa), 1), &f, 3, &loss_one);
        for (int k = 0; k < 2; k++) {
            SN_BLOCK float *theta = NULL;
#pragma omp parallel num_threads(REGION)
            if (omp_get_thread_num() == 0)
                theta = stepped(engine_of(&f, sn_cpu_supported(isa), threads[k]), &f, 3, &loss);
            assert_memory_equal(theta, one, (size_t)f.o.shape.parameters * sizeof *theta);
            assert_true(loss == loss_one);
        }
    }
}

/* A row's latents depend on nothing but the row: alone, repeated, in another order, in another batch. */
TEST(test_rows_do_not_see_each_other)
{
    for (uint32_t seed = 30; seed < 34; seed++) {
        SN_FREED_BY(drop) fixture f;
        make(&f, seed, 2, 40, 200, 130);
        const int64_t d = f.o.shape.width[2];
        for (int isa = 0; sn_cpu_supported(isa) != NULL; isa++) {
            const sn_cpu_kernels *kernels = sn_cpu_supported(isa);
            SN_BLOCK float *batch = imputed(engine_of(&f, kernels, 1), &f, 2);
            fixture other = f;
            int64_t reversed[130], single;
            for (int k = 0; k < 130; k++) reversed[k] = f.rows[129 - k];
            other.iteration.rows = sn_rows_list(reversed, 130);
            SN_BLOCK float *turned = imputed(engine_of(&other, kernels, 1), &other, 2);
            for (int k = 0; k < 130; k++)
                assert_memory_equal(turned + k * d, batch + (129 - k) * d, (size_t)d * sizeof *batch);
            for (int k = 0; k < 130; k += 43) {
                single = f.rows[k];
                other.iteration.rows = sn_rows_list(&single, 1);
                SN_BLOCK float *alone = imputed(engine_of(&other, kernels, 1), &other, 2);
                assert_memory_equal(alone, batch + k * d, (size_t)d * sizeof *batch);
            }
        }
    }
}

/* A step size far beyond stability is reported, on every activation, within a few steps. */
TEST(test_divergence_is_seen)
{
    for (uint32_t seed = 0; seed < 8; seed++) {
        SN_FREED_BY(drop) fixture f;
        make(&f, seed, 2, 20, 100, 100);
        for (int i = 0; i < 3; i++) {
            f.dynamics.s[i] = 1e-6;
            f.dynamics.epsilon[i] = 10.0;
        }
        f.dynamics.sweeps = 10;
        for (int isa = 0; sn_cpu_supported(isa) != NULL; isa++) {
            SN_AUTO(sn_engine) *engine = engine_of(&f, sn_cpu_supported(isa), 2);
            sn_step_report report = {.finite = 1};
            for (int k = 0; k < 20 && report.finite; k++)
                OK(engine->ops->step(engine, &f.iteration, &report));
            assert_false(report.finite);
        }
    }
}

/* Whichever layer leaves the numbers first, it is said in the step in which it does. */
TEST(test_infinite_parameters_are_seen)
{
    int seen[3] = {0};
    for (int k = 0; sn_cpu_supported(k / 2) != NULL; k++)
        for (int layer = 0; layer < 3; layer++) {
            SN_FREED_BY(drop) fixture f;
            make(&f, 2, 2, 20, 600, 500);
            f.update.rate[layer] = 1e38;
            SN_AUTO(sn_engine) *engine = engine_of(&f, sn_cpu_supported(k / 2), 1 + k % 2);
            SN_BLOCK float *theta = test_zeros(f.o.shape.parameters, sizeof *theta);
            bool finite = true;
            for (int step = 0; step < 4 && finite; step++) {
                sn_step_report report;
                OK(engine->ops->step(engine, &f.iteration, &report));
                engine->ops->get_parameters(engine, theta);
                for (int64_t j = 0; j < f.o.shape.parameters; j++) finite = finite && isfinite(theta[j]);
                if (!isfinite(report.loss)) break;
                assert_true(finite || !report.finite); /* the momentum may have left before */
                seen[layer] += !finite;
            }
        }
    assert_true(seen[0] + seen[1] + seen[2] > 0);
}

/* What is wrong with a network or its rows is in test_check.c. */
TEST(test_no_rows)
{
    SN_FREED_BY(drop) fixture f;
    make(&f, 1, 1, 5, 10, 10);
    SN_AUTO(sn_engine) *engine = engine_of(&f, sn_cpu_supported(0), 1);
    f.iteration.rows.n = 0;
    sn_step_report report;
    assert_int_equal(engine->ops->step(engine, &f.iteration, &report), STONET_ERROR_ARGUMENT);
    sn_engine_cpu.free(NULL);
}

RUN_TESTS(NULL, NULL)
