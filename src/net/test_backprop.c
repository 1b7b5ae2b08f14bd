/* The gradient against finite differences of a loss written out in double, and the trainer's promises. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "math/noise.h"
#include "net/activation.h"
#include "net/backprop.h"
#include "net/plain_train.h"

enum { N = 70, WIDEST = 16 };

typedef struct fixture {
    float x[N * 5];
    double y[N * 3];
    int32_t label[N];
    int64_t rows[N];
    sn_scaling scaling;
} fixture;

static void drop_fixture(fixture *f)
{
    sn_scaling_clear(&f->scaling);
}

static void make_fixture(fixture *f)
{
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 0);
    memset(f, 0, sizeof *f);
    for (int i = 0; i < N * 5; i++) f->x[i] = (float)(2 + 3 * sn_random_normal(&random));
    for (int i = 0; i < N * 3; i++) f->y[i] = sn_random_normal(&random);
    for (int i = 0; i < N; i++) {
        f->label[i] = i % 3;
        f->rows[i] = (i * 31 + 5) % N;
    }
    OK(sn_scaling_learn(&f->scaling, f->x, N, 5));
}

/* Whether dropout keeps this unit of the last hidden layer for this row: one Philox call decides for eight
   units, 16 bits each. */
static bool dropout_keeps(uint64_t seed, double dropout, int64_t row, int64_t unit, uint32_t iteration)
{
    uint32_t words[4];
    sn_noise_words(
        &(sn_address){seed, SN_STREAM_DROPOUT, (uint32_t)row, 0, (uint32_t)(unit / 8), iteration, 0}, words);
    return (words[unit / 2 % 4] >> (unit % 2 * 16) & 0xFFFF) >= (uint32_t)lround(dropout * 65536);
}

/* The loss by its definition, in double, one row and one unit at a time. */
static double plain_loss(const sn_backprop *b, const sn_problem *e, const int64_t *rows, int64_t count,
                         const double *theta, uint32_t iteration)
{
    const sn_shape *s = b->shape;
    double total = 0;
    for (int64_t r = 0; r < count; r++) {
        double a[WIDEST], mu[WIDEST], input[WIDEST];
        for (int64_t j = 0; j < s->width[0]; j++) {
            double x = (double)e->x[rows[r] * s->width[0] + j];
            if (b->scaling != NULL) x = (x - b->scaling->mean[j]) * b->scaling->factor[j];
            input[j] = a[j] = sn_psi(s->input_activation, x);
        }
        for (int i = 1; i <= s->layers; i++) {
            sn_activation psi = i == s->layers || i == s->linear_layer ? SN_IDENTITY : s->activation;
            for (int64_t k = 0; k < s->width[i]; k++) {
                mu[k] = theta[s->bias_at[i - 1] + k];
                for (int64_t j = 0; j < s->width[i - 1]; j++)
                    mu[k] += theta[s->weight_at[i - 1] + k * s->width[i - 1] + j] * a[j];
            }
            for (int64_t k = 0; k < s->width[i]; k++) {
                a[k] = sn_psi(psi, mu[k]);
                if (i == s->layers - 1 && b->dropout > 0)
                    a[k] *= dropout_keeps(b->seed, b->dropout, rows[r], k, iteration)
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
                total += gap * gap / 2;
            }
        }
    }
    return total / (double)count;
}

/* Every entry of the gradient against a central difference. */
static void check_gradient(sn_backprop *b, const sn_problem *examples, const int64_t *rows, int64_t count)
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
        double slope = b->gain * (above - below) / (2 * step);
        if (fabs(slope - (double)b->gradient[j]) > 2e-5 * largest)
            fail_msg("parameter %lld: %.8g, finite difference %.8g", (long long)j, (double)b->gradient[j],
                     slope);
    }
}

static void check(const sn_shape *like, const sn_problem *examples, bool scaled, double dropout)
{
    sn_shape shape = *like;
    SN_FREED_BY(drop_fixture) fixture f;
    make_fixture(&f);
    OK(sn_shape_layout(&shape));
    sn_backprop b = {.shape = &shape,
                     .scaling = scaled ? &f.scaling : NULL,
                     .gain = 1.7,
                     .dropout = dropout,
                     .seed = 4,
                     .threads = 2};
    OK(sn_backprop_create(&b, N));
    check_gradient(&b, examples, f.rows, N); /* three blocks of rows */
    check_gradient(&b, examples, f.rows, 1);
    sn_backprop_clear(&b);
}

TEST(gradients_are_derivatives)
{
    SN_FREED_BY(drop_fixture) fixture f;
    make_fixture(&f);
    sn_problem classes = {.n = N, .p = 5, .x = f.x, .label = f.label};
    sn_problem numbers = {.n = N, .p = 5, .x = f.x, .y = f.y}, itself = {.n = N, .p = 5, .x = f.x};
    /* mlp */
    check(&(sn_shape){.layers = 2, .width = {5, 7, 3}, .activation = SN_TANH}, &classes, true, 0);
    check(&(sn_shape){.layers = 3, .width = {5, 7, 4, 3}, .activation = SN_SIGMOID}, &numbers, false, 0);
    check(&(sn_shape){.layers = 1, .width = {5, 3}, .activation = SN_TANH}, &classes, true, 0);
    /* nnsdr, first and second step */
    check(&(sn_shape){.layers = 2, .width = {5, 16, 3}, .activation = SN_RELU}, &numbers, false, 0.4);
    sn_shape second = {.layers = 3, .width = {5, 2, 16, 3}, .activation = SN_RELU, .linear_layer = 1};
    check(&second, &numbers, false, 0.4);
    second.width[2] = 11;
    check(&second, &classes, true, 0.4);
    second.activation = SN_TANH;
    check(&second, &classes, true, 0.4);
    /* benn: a linear belt between two parts */
    check(&(sn_shape){.layers = 4, .width = {5, 6, 2, 7, 3}, .activation = SN_RELU, .linear_layer = 2},
          &numbers, false, 0);
    /* autoencoder */
    check(&(sn_shape){.layers = 4, .width = {5, 4, 2, 4, 5}, .activation = SN_TANH}, &itself, true, 0);
    /* inputs through an activation of their own */
    check(&(sn_shape){.layers = 2, .width = {5, 7, 3}, .activation = SN_RELU, .input_activation = SN_TANH},
          &classes, true, 0);
}

TEST(dropout_leaves_out_its_share)
{
    int kept = 0, differ = 0;
    for (int row = 0; row < 200; row++)
        for (int unit = 0; unit < 100; unit++) {
            bool now = dropout_keeps(1, 0.4, row, unit, 0);
            kept += now;
            differ += now != dropout_keeps(1, 0.4, row, unit, 1);
        }
    assert_true(fabs(kept / 20000.0 - 0.6) < 0.02);    /* 6 sd */
    assert_true(fabs(differ / 20000.0 - 0.48) < 0.02); /* 2 x 0.6 x 0.4: the next iteration draws afresh */
}

/* Rows of a history below its header; asserts the header. */
static int64_t epochs_of(const sn_network *net)
{
    const char *text = net->history.text;
    if (text == NULL) return 0;
    assert_int_equal(strncmp(text, "stage,epoch,loss,lr\n", 20), 0);
    int64_t lines = 0;
    for (const char *c = text; *c != '\0'; c++) lines += *c == '\n';
    return lines - 1;
}

static double loss_of_epoch(const sn_network *net, int64_t epoch)
{
    const char *line = net->history.text;
    for (int64_t i = 0; i < epoch; i++) line = strchr(line, '\n') + 1;
    char stage[64];
    long long number;
    double loss, lr;
    assert_int_equal(sscanf(line, "%63[^,],%lld,%lf,%lf", stage, &number, &loss, &lr), 4);
    assert_int_equal(number, epoch);
    return loss;
}

/* Wide enough that BLAS would use threads of its own, and that updates are shared; dropout too. */
TEST(the_same_bits_for_any_number_of_threads)
{
    enum { ROWS = 300, P = 600, HIDDEN = 120 };
    SN_BLOCK float *x = NULL;
    int32_t label[ROWS];
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 0);
    OK(SN_NEW(x, ROWS * P));
    for (int i = 0; i < ROWS * P; i++) x[i] = (float)sn_random_normal(&random);
    for (int i = 0; i < ROWS; i++) label[i] = i % 4;
    const sn_problem problem = {.n = ROWS, .p = P, .x = x, .label = label};
    const int threads[3] = {1, 2, 7};
    for (int rule = SN_SGD; rule <= SN_ADAM; rule++) {
        const sn_training training = {.stage = "test",
                                      .rule = (sn_rule)rule,
                                      .rate = 0.001,
                                      .momentum = 0.9,
                                      .decay = 0.001,
                                      .dropout = 0.25,
                                      .batch = 150,
                                      .epochs = 3};
        sn_network net[3];
        for (int i = 0; i < 3; i++) {
            stonet_run run = STONET_RUN_INIT;
            run.threads = threads[i];
            stonet_outcome outcome;
            net[i] = (sn_network){.shape = {.layers = 2, .width = {P, HIDDEN, 4}, .activation = SN_TANH}};
            OK(sn_network_start(&net[i], 1));
            OK(sn_scaling_learn(&net[i].scaling, x, ROWS, P));
            OK(sn_network_train(&net[i], &problem, &training, &run, &outcome));
            assert_int_equal(outcome, STONET_DONE);
            assert_int_equal(epochs_of(&net[i]), 3);
            assert_true(loss_of_epoch(&net[i], 3) < loss_of_epoch(&net[i], 1));
            assert_memory_equal(net[0].theta, net[i].theta, (size_t)net[0].shape.parameters * sizeof(float));
            assert_string_equal(net[0].history.text, net[i].history.text);
        }
        for (int i = 0; i < 3; i++) sn_network_clear(&net[i]);
    }
}

/*
 * The step of a squared loss is that of the mean square, whatever the number of outputs: without hidden
 * layers and from 0, one step of rate r gives b = r 2 / m mean(y), where the loss of net/loss.h alone has r
 * mean(y).
 */
TEST(the_step_is_that_of_the_mean_square)
{
    SN_FREED_BY(drop_fixture) fixture f;
    make_fixture(&f);
    SN_FREED_BY(sn_network_clear) sn_network net = {.shape = {.layers = 1, .width = {5, 3}}};
    OK(sn_network_start(&net, 1));
    memset(net.theta, 0, (size_t)net.shape.parameters * sizeof *net.theta);
    sn_problem problem = {.n = N, .p = 5, .x = f.x, .y = f.y};
    sn_training training = {.stage = "test", .rule = SN_SGD, .rate = 0.25, .batch = N, .epochs = 1};
    stonet_outcome outcome;
    OK(sn_network_train(&net, &problem, &training, NULL, &outcome));
    double half_squares = 0;
    for (int k = 0; k < 3; k++) {
        double mean = 0;
        for (int i = 0; i < N; i++) {
            mean += f.y[i * 3 + k] / N;
            half_squares += f.y[i * 3 + k] * f.y[i * 3 + k] / 2 / N;
        }
        assert_true(fabs((double)net.theta[net.shape.bias_at[0] + k] - 0.25 * 2 / 3 * mean) < 1e-6);
    }
    assert_true(fabs(loss_of_epoch(&net, 1) - half_squares) < 1e-6 * half_squares);
}

static int stop_after_three(void *user)
{
    return ++*(int *)user > 3;
}

/* A fresh network trained on numbers; the caller clears it. */
static stonet_status train_numbers(const fixture *f, const sn_training *training, const stonet_run *run,
                                   sn_network *net, stonet_outcome *outcome)
{
    sn_problem problem = {.n = N, .p = 5, .x = f->x, .y = f->y};
    *net = (sn_network){.shape = {.layers = 2, .width = {5, 8, 3}, .activation = SN_RELU}};
    OK(sn_network_start(net, 1));
    return sn_network_train(net, &problem, training, run, outcome);
}

TEST(stops_when_asked_and_survives_divergence)
{
    SN_FREED_BY(drop_fixture) fixture f;
    make_fixture(&f);
    sn_network net;
    stonet_outcome outcome;
    sn_training training = {.stage = "test", .rule = SN_SGD, .rate = 0.01, .batch = 32, .epochs = 50};
    stonet_run run = STONET_RUN_INIT;
    int asked = 0;
    run.should_stop = stop_after_three;
    run.user = &asked;
    OK(train_numbers(&f, &training, &run, &net, &outcome));
    assert_int_equal(outcome, STONET_STOPPED);
    assert_int_equal(epochs_of(&net), 3);
    sn_network_clear(&net);

    training.rate = 1e30;
    training.batch = N; /* one step an epoch: the first is finite still */
    OK(train_numbers(&f, &training, NULL, &net, &outcome));
    assert_int_equal(outcome, STONET_DIVERGED);
    assert_int_equal(epochs_of(&net), 1);
    for (int64_t j = 0; j < net.shape.parameters; j++) assert_true(isfinite(net.theta[j]));
    sn_network_clear(&net);
    training.batch = 8;
    assert_int_equal(train_numbers(&f, &training, NULL, &net, &outcome), STONET_ERROR_NUMERIC);
    sn_network_clear(&net);
}

/* The float activations of arrays against the double ones, far out and at the ends too. */
TEST(test_arrays_are_activated)
{
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

RUN_TESTS(NULL, NULL)
