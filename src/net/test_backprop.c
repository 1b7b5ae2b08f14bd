/* The gradient against finite differences of a loss written out in double, and the trainer's promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "math/noise.h"
#include "net/activation.h"
#include "net/network.h"
#include "net/train.h"

#define assert_ok(call) assert_int_equal(call, STONET_OK)

enum { N = 70, WIDEST = 16 };

typedef struct fixture {
    float x[N * 5];
    double y[N * 3];
    int32_t label[N];
    int64_t rows[N];
    sn_scaling scaling;
} fixture;

static void make_fixture(fixture *f)
{
    sn_random random;
    sn_random_init(&random, 3, SN_STREAM_TEST, 0);
    memset(f, 0, sizeof *f);
    for (int i = 0; i < N * 5; i++) f->x[i] = (float)(2 + 3 * sn_random_normal(&random));
    for (int i = 0; i < N * 3; i++) f->y[i] = sn_random_normal(&random);
    for (int i = 0; i < N; i++) {
        f->label[i] = i % 3;
        f->rows[i] = (i * 31 + 5) % N;
    }
    assert_ok(sn_scaling_learn(&f->scaling, f->x, N, 5));
}

/* The loss by its definition, in double, one row and one unit at a time. */
static double plain_loss(const sn_backprop *b, const sn_examples *e, const int64_t *rows, int64_t count,
                         const double *theta, uint32_t iteration)
{
    const sn_shape *s = b->shape;
    double total = 0;
    for (int64_t r = 0; r < count; r++) {
        double a[WIDEST], mu[WIDEST], input[WIDEST];
        for (int64_t j = 0; j < s->width[0]; j++) {
            double x = (double)e->x[rows[r] * s->width[0] + j];
            input[j] = a[j] = e->scaling != NULL ? (x - e->scaling->mean[j]) * e->scaling->factor[j] : x;
        }
        for (int i = 1; i <= s->layers; i++) {
            sn_activation psi = i == s->layers || (i == 1 && b->linear_first) ? SN_IDENTITY : s->activation;
            for (int64_t k = 0; k < s->width[i]; k++) {
                mu[k] = theta[s->bias_at[i - 1] + k];
                for (int64_t j = 0; j < s->width[i - 1]; j++)
                    mu[k] += theta[s->weight_at[i - 1] + k * s->width[i - 1] + j] * a[j];
            }
            for (int64_t k = 0; k < s->width[i]; k++) {
                a[k] = sn_psi(psi, mu[k]);
                if (i == s->layers - 1 && b->dropout > 0)
                    a[k] *= sn_dropout_keeps(b->seed, b->dropout, rows[r], k, iteration)
                                ? 65536 / (65536 - round(65536 * b->dropout))
                                : 0;
            }
        }
        int64_t m = s->width[s->layers];
        if (e->label != NULL) {
            double sum = 0;
            for (int64_t k = 0; k < m; k++) sum += exp(a[k]);
            total += log(sum) - a[e->label[rows[r]]];
        } else {
            for (int64_t k = 0; k < m; k++) {
                double gap = a[k] - (e->y != NULL ? e->y[rows[r] * m + k] : input[k]);
                total += gap * gap / (double)m;
            }
        }
    }
    return total / (double)count;
}

/* Every entry of the gradient against a central difference. */
static void check_gradient(sn_backprop *b, const sn_examples *examples, const int64_t *rows, int64_t count)
{
    enum { MOST = 400 };
    float theta[MOST];
    double at[MOST] = {0};
    int64_t size = b->shape->parameters;
    assert_true(size <= MOST);
    sn_shape_start(b->shape, 11, theta);
    for (int64_t j = 0; j < size; j++) {
        theta[j] += 0.1F * (float)sin((double)j); /* biases off 0 */
        at[j] = (double)theta[j];
    }
    double loss = sn_backprop_gradient(b, examples, rows, count, theta, 9);
    double expected = plain_loss(b, examples, rows, count, at, 9);
    assert_true(fabs(loss - expected) <= 1e-5 * (1 + fabs(expected)));
    double largest = 0;
    for (int64_t j = 0; j < size; j++) largest = fmax(largest, fabs((double)b->gradient[j]));
    assert_true(largest > 0);
    for (int64_t j = 0; j < size; j++) {
        double step = 1e-6, keep = at[j];
        at[j] = keep + step;
        double above = plain_loss(b, examples, rows, count, at, 9);
        at[j] = keep - step;
        double below = plain_loss(b, examples, rows, count, at, 9);
        at[j] = keep;
        double slope = (above - below) / (2 * step);
        if (fabs(slope - (double)b->gradient[j]) > 2e-5 * largest)
            fail_msg("parameter %lld: %.8g, finite difference %.8g", (long long)j, (double)b->gradient[j],
                     slope);
    }
}

static void check(const sn_shape *like, const sn_examples *examples, bool linear_first, double dropout)
{
    sn_shape shape = *like;
    fixture f;
    make_fixture(&f);
    assert_ok(sn_shape_layout(&shape));
    sn_backprop b = {
        .shape = &shape, .linear_first = linear_first, .dropout = dropout, .seed = 4, .threads = 2};
    assert_ok(sn_backprop_create(&b, N));
    check_gradient(&b, examples, f.rows, N); /* three blocks of rows */
    check_gradient(&b, examples, f.rows, 1);
    sn_backprop_clear(&b);
    sn_scaling_clear(&f.scaling);
}

static void gradients_are_derivatives(void **unused)
{
    (void)unused;
    fixture f;
    make_fixture(&f);
    sn_examples classes = {N, f.x, &f.scaling, f.label, NULL}, numbers = {N, f.x, NULL, NULL, f.y};
    sn_examples itself = {N, f.x, &f.scaling, NULL, NULL};
    /* mlp */
    check(&(sn_shape){.layers = 2, .width = {5, 7, 3}, .activation = SN_TANH}, &classes, false, 0);
    check(&(sn_shape){.layers = 3, .width = {5, 7, 4, 3}, .activation = SN_SIGMOID}, &numbers, false, 0);
    check(&(sn_shape){.layers = 1, .width = {5, 3}, .activation = SN_TANH}, &classes, false, 0);
    /* nnsdr, first and second step */
    check(&(sn_shape){.layers = 2, .width = {5, 16, 3}, .activation = SN_RELU}, &numbers, false, 0.4);
    check(&(sn_shape){.layers = 3, .width = {5, 2, 16, 3}, .activation = SN_RELU}, &numbers, true, 0.4);
    check(&(sn_shape){.layers = 3, .width = {5, 2, 11, 3}, .activation = SN_RELU}, &classes, true, 0.4);
    check(&(sn_shape){.layers = 3, .width = {5, 2, 11, 3}, .activation = SN_TANH}, &classes, true, 0.4);
    /* autoencoder */
    check(&(sn_shape){.layers = 4, .width = {5, 4, 2, 4, 5}, .activation = SN_TANH}, &itself, false, 0);
    sn_scaling_clear(&f.scaling);
}

static void dropout_leaves_out_its_share(void **unused)
{
    (void)unused;
    int kept = 0, differ = 0;
    for (int row = 0; row < 200; row++)
        for (int unit = 0; unit < 100; unit++) {
            bool now = sn_dropout_keeps(1, 0.4, row, unit, 0);
            kept += now;
            differ += now != sn_dropout_keeps(1, 0.4, row, unit, 1);
        }
    assert_true(fabs(kept / 20000.0 - 0.6) < 0.02);    /* 6 sd */
    assert_true(fabs(differ / 20000.0 - 0.48) < 0.02); /* 2 x 0.6 x 0.4: the next iteration draws afresh */
}

static void train_once(const fixture *f, int threads, sn_rule rule, int64_t *done, float *theta)
{
    sn_shape shape = {.layers = 2, .width = {5, 16, 3}, .activation = SN_RELU};
    assert_ok(sn_shape_layout(&shape));
    sn_shape_start(&shape, 1, theta);
    sn_examples examples = {N, f->x, &f->scaling, f->label, NULL};
    sn_training training = {.stage = "test",
                            .rule = rule,
                            .rate = 0.01,
                            .momentum = 0.9,
                            .decay = 0.001,
                            .dropout = 0.25,
                            .batch = 64,
                            .epochs = 20};
    stonet_run run = STONET_RUN_INIT;
    run.threads = threads;
    double losses[20];
    stonet_outcome outcome;
    assert_ok(sn_train(&shape, &examples, &training, &run, theta, losses, done, &outcome));
    assert_int_equal(outcome, STONET_DONE);
    assert_true(losses[19] < losses[0]);
}

static void the_same_bits_for_any_number_of_threads(void **unused)
{
    (void)unused;
    fixture f;
    make_fixture(&f);
    for (int rule = SN_SGD; rule <= SN_ADAM; rule++) {
        float one[147], many[147];
        int64_t done;
        train_once(&f, 1, (sn_rule)rule, &done, one);
        assert_int_equal(done, 20);
        for (int threads = 2; threads <= 7; threads += 5) {
            train_once(&f, threads, (sn_rule)rule, &done, many);
            assert_memory_equal(one, many, sizeof one);
        }
    }
    sn_scaling_clear(&f.scaling);
}

/* Wide enough that BLAS would use threads of its own, and that updates are shared. */
static void the_same_bits_for_a_wide_network(void **unused)
{
    (void)unused;
    enum { ROWS = 300, P = 600, HIDDEN = 120 };
    sn_shape shape = {.layers = 2, .width = {P, HIDDEN, 4}, .activation = SN_TANH};
    assert_ok(sn_shape_layout(&shape));
    float *x, *theta[3];
    int32_t label[ROWS];
    sn_random random;
    sn_random_init(&random, 3, SN_STREAM_TEST, 0);
    assert_ok(SN_NEW(x, ROWS * P));
    for (int i = 0; i < ROWS * P; i++) x[i] = (float)sn_random_normal(&random);
    for (int i = 0; i < ROWS; i++) label[i] = i % 4;
    sn_examples examples = {ROWS, x, NULL, label, NULL};
    sn_training training = {
        .stage = "test", .rule = SN_SGD, .rate = 0.01, .momentum = 0.9, .batch = 150, .epochs = 2};
    const int threads[3] = {1, 2, 7};
    for (int i = 0; i < 3; i++) {
        stonet_run run = STONET_RUN_INIT;
        run.threads = threads[i];
        int64_t done;
        stonet_outcome outcome;
        assert_ok(SN_NEW(theta[i], shape.parameters));
        sn_shape_start(&shape, 1, theta[i]);
        assert_ok(sn_train(&shape, &examples, &training, &run, theta[i], NULL, &done, &outcome));
        assert_memory_equal(theta[0], theta[i], (size_t)shape.parameters * sizeof(float));
    }
    for (int i = 0; i < 3; i++) sn_free(theta[i]);
    sn_free(x);
}

static int stop_after_three(void *user)
{
    return ++*(int *)user > 3;
}

static void stops_when_asked_and_survives_divergence(void **unused)
{
    (void)unused;
    fixture f;
    make_fixture(&f);
    sn_shape shape = {.layers = 2, .width = {5, 8, 3}, .activation = SN_RELU};
    assert_ok(sn_shape_layout(&shape));
    float theta[96];
    double losses[50];
    int64_t done;
    stonet_outcome outcome;
    sn_examples examples = {N, f.x, NULL, NULL, f.y};
    sn_training training = {.stage = "test", .rule = SN_SGD, .rate = 0.01, .batch = 32, .epochs = 50};
    stonet_run run = STONET_RUN_INIT;
    int asked = 0;
    run.should_stop = stop_after_three;
    run.user = &asked;
    sn_shape_start(&shape, 1, theta);
    assert_ok(sn_train(&shape, &examples, &training, &run, theta, losses, &done, &outcome));
    assert_int_equal(outcome, STONET_STOPPED);
    assert_int_equal(done, 3);

    training.rate = 1e30;
    training.batch = N; /* one step an epoch: the first is finite still */
    sn_shape_start(&shape, 1, theta);
    assert_ok(sn_train(&shape, &examples, &training, NULL, theta, losses, &done, &outcome));
    assert_int_equal(outcome, STONET_DIVERGED);
    assert_int_equal(done, 1);
    for (int64_t j = 0; j < shape.parameters; j++) assert_true(isfinite(theta[j]));
    training.batch = 8;
    sn_shape_start(&shape, 1, theta);
    assert_int_equal(sn_train(&shape, &examples, &training, NULL, theta, losses, &done, &outcome),
                     STONET_ERROR_NUMERIC);
    sn_scaling_clear(&f.scaling);
}

static void a_network_comes_back_from_the_store(void **unused)
{
    (void)unused;
    fixture f;
    make_fixture(&f);
    sn_network net = {
        .shape = {.layers = 2, .width = {5, 8, 3}, .activation = SN_TANH, .task = SN_CLASSIFICATION}};
    sn_network copy = {0}, broken = {0};
    assert_ok(sn_network_start(&net, 5));
    net.scaling = f.scaling;
    sn_store *store;
    assert_ok(sn_store_create(&store));
    assert_ok(sn_network_save(&net, store));
    assert_ok(sn_network_load(store, &copy));
    double a[N * 3], b[N * 3];
    assert_ok(sn_network_predict(&net, f.x, N, a));
    assert_ok(sn_network_predict(&copy, f.x, N, b));
    assert_memory_equal(a, b, sizeof a);
    sn_store_free(store);

    assert_ok(sn_store_create(&store));
    assert_int_equal(sn_network_load(store, &broken), STONET_ERROR_FORMAT); /* nothing there */
    int64_t widths[3] = {5, -8, 3};
    assert_ok(sn_store_put_vector(store, "widths", SN_I64, 3, widths));
    assert_ok(sn_store_put_int(store, "activation", SN_TANH));
    assert_ok(sn_store_put_int(store, "task", SN_REGRESSION));
    assert_int_equal(sn_network_load(store, &broken), STONET_ERROR_FORMAT);
    sn_store_free(store);
    sn_network_clear(&broken);
    sn_network_clear(&copy);
    sn_network_clear(&net);
}

static void histories_are_csv(void **unused)
{
    (void)unused;
    char *history = NULL;
    double first[2] = {1.5, 0.5}, second[1] = {0.25};
    assert_ok(sn_history_add(&history, "a", first, 2));
    assert_ok(sn_history_add(&history, "b", second, 1));
    assert_string_equal(history, "epoch,stage,loss\n1,a,1.5\n2,a,0.5\n1,b,0.25\n");
    sn_free(history);
}

/* The float activations of arrays against the double ones, far out and at the ends too. */
static void test_arrays_are_activated(void **state)
{
    (void)state;
    const sn_activation all[] = {SN_IDENTITY, SN_TANH, SN_RELU, SN_SIGMOID};
    enum { COUNT = 4001 };
    float values[COUNT];
    for (int a = 0; a < 4; a++) {
        for (int i = 0; i < COUNT; i++) values[i] = (float)(i - COUNT / 2) * 0.01F;
        sn_activate(all[a], COUNT, values);
        for (int i = 0; i < COUNT; i++) {
            double exact = sn_psi(all[a], (double)((float)(i - COUNT / 2) * 0.01F));
            assert_true(fabs((double)values[i] - exact) < 6e-7);
        }
        float ends[] = {-INFINITY, INFINITY, NAN};
        sn_activate(all[a], 3, ends);
        assert_true(fabs(sn_psi(all[a], -INFINITY) - (double)ends[0]) < 6e-7 || all[a] == SN_IDENTITY);
        assert_true(all[a] == SN_RELU || isnan(ends[2]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_are_activated),
        cmocka_unit_test(gradients_are_derivatives),
        cmocka_unit_test(dropout_leaves_out_its_share),
        cmocka_unit_test(the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(the_same_bits_for_a_wide_network),
        cmocka_unit_test(stops_when_asked_and_survives_divergence),
        cmocka_unit_test(a_network_comes_back_from_the_store),
        cmocka_unit_test(histories_are_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
