/* A network and kernel regression as one: what it gives, on held-out rows and in a fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "engine/oracle.h"
#include "stonet/blend.h"
#include "stonet/blend_point.h"
#include "stonet/front_kernel.h"
#include "stonet/linear.h"

enum { N = 90, P = 3, LANDMARKS = 12, SEED = 6, MOST_OUT = 3 };

/* What a network gives for all rows of a problem: mu n x outputs. */
static void outputs_of(const sn_shape *shape, const float *theta, const sn_problem *problem, float *mu)
{
    const sn_engine_ops *ops = sn_engine_find("ref");
    sn_engine *engine;
    assert_int_equal(ops->create(shape, problem, 0, 1, &engine), STONET_OK);
    ops->start(engine, theta);
    const sn_pass pass = {.rows = sn_rows_range(0, problem->n), .layer = shape->layers};
    assert_int_equal(ops->forward(engine, &pass, mu), STONET_OK);
    ops->free(engine);
}

typedef struct halves {
    oracle net;
    sn_shape linear_shape;
    float *coefficients;
    sn_front *kernel, *front; /* without, and with x among its features */
    sn_problem behind, seen;  /* both */
} halves;

/* A random network of some hidden layers and a random linear model on kernel features. */
static halves draw(int hidden, sn_activation activation, sn_task task, int64_t out, double share)
{
    const int64_t width[4][5] = {{0}, {P, 3, out}, {P, 6, 3, out}, {P, 5, 4, 3, out}};
    halves b = {.net = oracle_make(hidden + 1, width[hidden], activation, task, N, SEED)};
    const sn_rows all = sn_rows_range(0, N);
    const sn_kernel_setting setting = {1.5, share, LANDMARKS};
    assert_int_equal(sn_front_kernel_create(&b.net.problem, &all, &setting, SEED, &b.kernel), STONET_OK);
    assert_int_equal(sn_front_kernel_with_inputs(b.kernel, &b.net.problem, &all, &b.front), STONET_OK);
    if (b.kernel == NULL || b.front == NULL) abort();
    assert_int_equal(sn_front_problem(b.kernel, &b.net.problem, &b.behind), STONET_OK);
    assert_int_equal(sn_front_problem(b.front, &b.net.problem, &b.seen), STONET_OK);
    assert_int_equal(sn_linear_shape(&b.net.shape, b.kernel->outputs, out, &b.linear_shape), STONET_OK);
    assert_int_equal(SN_NEW(b.coefficients, b.linear_shape.parameters), STONET_OK);
    bool found;
    assert_int_equal(
        sn_linear_fit(&b.linear_shape, &b.behind, &all, (sn_ridge){.l2 = 1.0}, NULL, b.coefficients, &found),
        STONET_OK);
    assert_true(found);
    return b;
}

static void put_away(halves *b)
{
    sn_front_problem_free(&b->net.problem, &b->behind);
    sn_front_problem_free(&b->net.problem, &b->seen);
    sn_front_free(b->kernel);
    sn_front_free(b->front);
    sn_free(b->coefficients);
    oracle_free(&b->net);
}

/* The output less what all classes share. */
static double own(const float *mu, int64_t m, int64_t k, bool classes)
{
    double mean = 0.0;
    for (int64_t c = 0; c < m && classes; c++) mean += (double)mu[c] / (double)m;
    return (double)mu[k] - mean;
}

static void check_mean(const halves *b, double tolerance)
{
    const bool classes = b->net.shape.task == SN_CLASSIFICATION;
    const int64_t m = b->net.problem.outputs;
    const sn_blend blend = {.network = {&b->net.shape, b->net.theta},
                            .linear = {&b->linear_shape, b->coefficients},
                            .x = &b->net.problem,
                            .u = &b->seen,
                            .front = b->front,
                            .rows = sn_rows_range(0, N),
                            .engine = sn_engine_find("ref"),
                            .threads = 1};
    sn_shape shape;
    float *theta, mu[3][N * MOST_OUT];
    assert_true(sn_blend_fits(&b->net.shape));
    assert_int_equal(sn_blend_make(&blend, &shape, &theta), STONET_OK);
    assert_int_equal(shape.width[shape.layers - 1], b->net.shape.width[b->net.shape.layers - 1]);
    outputs_of(&b->net.shape, b->net.theta, &b->net.problem, mu[0]);
    outputs_of(&b->linear_shape, b->coefficients, &b->behind, mu[1]);
    outputs_of(&shape, theta, &b->seen, mu[2]);
    double spread = 0.0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < m; k++) {
            const double wanted =
                0.5 * (own(mu[0] + i * m, m, k, classes) + own(mu[1] + i * m, m, k, classes));
            spread = fmax(spread, fabs(wanted));
            const double got = own(mu[2] + i * m, m, k, classes);
            if (!(fabs(got - wanted) < tolerance)) fail_msg("row %d: %g is not %g", (int)i, got, wanted);
        }
    assert_true(spread > 50.0 * tolerance); /* or it would say nothing */
    sn_free(theta);
}

static void the_output_is_the_mean_of_both(void **state)
{
    (void)state;
    for (int hidden = 1; hidden <= 3; hidden++)
        for (int share = 0; share < 2; share++)
            for (int64_t out = 1; out <= MOST_OUT; out++)
                for (int relu = 0; relu < 2; relu++)
                    for (sn_task task = SN_REGRESSION; task <= SN_CLASSIFICATION; task++) {
                        if (task == SN_CLASSIFICATION && out == 1) continue;
                        halves b = draw(hidden, relu ? SN_RELU : SN_TANH, task, out, 0.5 * share);
                        check_mean(&b, relu ? 1e-4 : 1e-3);
                        put_away(&b);
                    }
}

/* The copy shows what the front does, and x behind it; u_j = factor x_j - mean_j. */
static void x_among_the_features(void **state)
{
    (void)state;
    for (int share = 0; share < 2; share++) {
        halves b = draw(1, SN_TANH, SN_REGRESSION, 1, 0.5 * share);
        const sn_kernel_inputs x = sn_front_kernel_inputs(b.front);
        assert_true(b.seen.p == x.first + P);
        assert_true(b.behind.p == (share ? b.seen.p : x.first));
        double mean[P] = {0};
        for (int64_t i = 0; i < N; i++) {
            for (int64_t j = 0; j < b.behind.p; j++)
                assert_true(b.seen.x[i * b.seen.p + j] == b.behind.x[i * b.behind.p + j]);
            for (int64_t j = 0; j < P; j++) {
                const double u = x.factor * (double)b.net.x[i * P + j] - x.mean[j];
                assert_true(fabs((double)b.seen.x[i * b.seen.p + x.first + j] - u) < 1e-6);
                mean[j] += x.factor * (double)b.net.x[i * P + j] / N;
            }
        }
        for (int64_t j = 0; j < P; j++) assert_true(fabs(mean[j] - x.mean[j]) < 1e-6);
        put_away(&b);
    }
}

/* Layers that cannot carry a value, or that are linear already, are left alone. */
static void which_networks_fit(void **state)
{
    (void)state;
    sn_shape shape = {.layers = 2, .width = {P, 2, 3}, .activation = SN_TANH, .task = SN_CLASSIFICATION};
    assert_true(sn_blend_fits(&shape));
    shape.width[1] = 1; /* three classes want two */
    assert_false(sn_blend_fits(&shape));
    shape.width[1] = 2;
    shape.activation = SN_SIGMOID;
    assert_false(sn_blend_fits(&shape));
    shape.activation = SN_RELU;
    shape.linear_layer = 1;
    assert_false(sn_blend_fits(&shape));
}

/* Held-out losses: each fold's network and kernel regression of its training rows, the mean of both. */
static void the_candidate_on_held_out_rows(void **state)
{
    (void)state;
    for (int share = 0; share < 2; share++) {
        halves b = draw(2, SN_RELU, SN_REGRESSION, 1, 0.5 * share);
        const sn_config config = {.engine = sn_engine_find("ref")};
        const sn_stage_job job = {.problem = &b.net.problem,
                                  .shape = &b.net.shape,
                                  .rows = sn_rows_range(0, N),
                                  .config = &config,
                                  .seed = SEED,
                                  .threads = 1};
        sn_holdout holdout;
        assert_int_equal(sn_holdout_make(&job, &holdout), STONET_OK);
        float *theta[SN_MAX_FOLDS], mu[2][N];
        for (int k = 0; k < holdout.folds; k++) theta[k] = b.net.theta;
        const sn_kernel_point kernel = {.front = b.kernel, .penalty = 0.01};
        sn_blend_point got;
        assert_int_equal(sn_blend_point_measure(&job, &holdout, theta, &kernel, &got), STONET_OK);
        outputs_of(&b.net.shape, b.net.theta, &b.net.problem, mu[0]);
        for (int k = 0; k < holdout.folds; k++) {
            const sn_fold *fold = &holdout.fold[k];
            const sn_ridge ridge = {.l2 = 0.01 * (double)fold->train.n};
            bool found;
            assert_int_equal(
                sn_linear_fit(&b.linear_shape, &b.behind, &fold->train, ridge, NULL, b.coefficients, &found),
                STONET_OK);
            outputs_of(&b.linear_shape, b.coefficients, &b.behind, mu[1]);
            for (int64_t i = 0; i < fold->test.n; i++) {
                const int64_t row = sn_rows_at(&fold->test, i);
                const double off = b.net.y[row] - 0.5 * ((double)mu[0][row] + (double)mu[1][row]);
                assert_true(fabs(got.cost.loss[fold->first + i] - 0.5 * off * off) < 1e-3);
            }
        }
        assert_int_equal(got.front->outputs, b.front->outputs);
        sn_blend_point_free(&got);
        sn_holdout_free(&holdout);
        put_away(&b);
    }
}

/* It is asked where neither is clearly better, by two standard errors. */
static void where_it_is_asked(void **state)
{
    (void)state;
    enum { ROWS = 4 };
    double of_network[ROWS] = {1.0, 2.0, 3.0, 4.0}, of_kernel[ROWS];
    const sn_shape shape = {.layers = 2, .width = {P, 2, 1}, .activation = SN_TANH};
    const sn_stage_job job = {.shape = &shape};
    const sn_holdout holdout = {.rows = ROWS};
    sn_front front = {0};
    const sn_held_out network = {.loss = of_network, .mean = 2.5};
    sn_kernel_point kernel = {.front = &front, .cost = {.loss = of_kernel}};
    for (int sign = -1; sign <= 1; sign += 2)
        for (int far = 0; far < 2; far++) { /* differences +-1 +-e, with standard error e / sqrt(3) */
            const double e = sqrt(3.0) / 2.0 * (far ? 0.99 : 1.01);
            for (int i = 0; i < ROWS; i++) of_kernel[i] = of_network[i] + sign * (1.0 + (i % 2 ? e : -e));
            kernel.cost.mean = network.mean + sign;
            assert_true(sn_blend_point_fits(&job, &holdout, &network, &kernel) == !far);
        }
    kernel.cost.mean = INFINITY;
    assert_false(sn_blend_point_fits(&job, &holdout, &network, &kernel));
    kernel.cost.mean = 2.0;
    kernel.front = NULL;
    assert_false(sn_blend_point_fits(&job, &holdout, &network, &kernel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_output_is_the_mean_of_both),
        cmocka_unit_test(x_among_the_features),
        cmocka_unit_test(which_networks_fit),
        cmocka_unit_test(the_candidate_on_held_out_rows),
        cmocka_unit_test(where_it_is_asked),
    };
    return cmocka_run_group_tests_name("stonet_blend", tests, NULL, NULL);
}
