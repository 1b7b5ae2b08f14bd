/* Fronts: the kernel's features, their way to a store and back, networks behind them, and the search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/testing.h"
#include "engine/oracle.h"
#include "front/front_kernel.h"
#include "net/regression.h"
#include "stonet/fitted.h"

enum { ROWS = 240, P = 3 };

static double squared(const float *a, const float *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t j = 0; j < n; j++) sum += pow((double)a[j] - (double)b[j], 2);
    return sum;
}

/* A hill around 0: its height, or two classes, on it and beside it. */
static oracle hill(sn_task task)
{
    const int64_t width[] = {P, 2, task == SN_CLASSIFICATION ? 2 : 1};
    oracle o = oracle_make(2, width, SN_TANH, task, ROWS, 5);
    for (int64_t r = 0; r < ROWS; r++) {
        const double noise = o.y[r * width[2]];
        const float zero[P] = {0};
        const double height = exp(-squared(o.x + P * r, zero, P) / 3.0) - 0.45;
        o.label[r] = height + 0.02 * noise > 0.0;
        o.y[r * width[2]] = 4.0 * height + 0.005 * noise;
    }
    return o;
}

static sn_front *kernel_of(const sn_problem *problem, double complexity, double linear, int64_t landmarks)
{
    const sn_rows all = sn_rows_range(0, problem->n);
    const sn_kernel_setting setting = {complexity, linear, landmarks};
    sn_front *front = NULL;
    if (sn_front_kernel_create(problem, &all, &setting, 3, &front) != STONET_OK)
        fail_msg("%s", stonet_last_error());
    return front;
}

/* With every row a landmark, distances between features are those of the kernel. */
static void features_have_the_distances_of_the_kernel(void **state)
{
    (void)state;
    oracle o = hill(SN_REGRESSION);
    sn_problem some = o.problem, seen;
    some.n = 60;
    for (int share = 0; share < 2; share++) {
        const double rho = 0.5 * share;
        sn_front *front = kernel_of(&some, 1.5, rho, 1000);
        assert_int_equal(front->inputs, P);
        assert_int_equal(sn_front_kernel_setting(front).landmarks, 60);
        assert_int_equal(sn_front_problem(front, &some, &seen), STONET_OK);
        assert_int_equal(seen.p, front->outputs);
        double s = 0.0, sum = 0.0;
        for (int i = 0; i < 60; i++)
            for (int j = 0; j < i; j++) s += sqrt(squared(o.x + P * i, o.x + P * j, P)) / (60.0 * 59.0 / 2.0);
        for (int i = 0; i < 60; i++) {
            for (int j = 0; j < i; j++) {
                const double d2 = squared(o.x + P * i, o.x + P * j, P);
                const double wanted =
                    (1.0 - rho) * 2.0 * (1.0 - exp(-1.5 * d2 / (2.0 * s * s))) + rho / P * d2;
                const double found = squared(seen.x + i * seen.p, seen.x + j * seen.p, seen.p);
                if (!(fabs(found - wanted) < 1e-4)) fail_msg("%d %d: %g is not %g", i, j, found, wanted);
            }
            sum += (double)seen.x[i * seen.p];
        }
        assert_true(fabs(sum) < 1e-4);
        sn_front_problem_free(&some, &seen);
        sn_front_free(front);
    }
    oracle_free(&o);
}

static void no_front_is_the_problem_itself(void **state)
{
    (void)state;
    oracle o = hill(SN_REGRESSION);
    sn_problem seen;
    assert_int_equal(sn_front_problem(NULL, &o.problem, &seen), STONET_OK);
    assert_ptr_equal(seen.x, o.problem.x);
    sn_front_problem_free(&o.problem, &seen);
    sn_store *store;
    sn_front *front = (sn_front *)&seen;
    assert_int_equal(sn_store_create(&store), STONET_OK);
    assert_int_equal(sn_front_put(NULL, store), STONET_OK);
    assert_int_equal(sn_front_get(store, &front), STONET_OK);
    assert_null(front);
    assert_int_equal(sn_store_put_text(store, "front", "lens"), STONET_OK);
    assert_says(sn_front_get(store, &front), STONET_ERROR_FORMAT, "front 'lens'");
    sn_store_free(store);
    sn_front_free(NULL);
    oracle_free(&o);
}

static void a_front_comes_back_from_a_store(void **state)
{
    (void)state;
    oracle o = hill(SN_REGRESSION);
    sn_front *front = kernel_of(&o.problem, 4.0, 0.5, 50), *back = NULL;
    sn_store *store;
    assert_int_equal(sn_store_create(&store), STONET_OK);
    assert_int_equal(sn_front_put(front, store), STONET_OK);
    assert_int_equal(sn_front_get(store, &back), STONET_OK);
    sn_problem seen[2];
    assert_int_equal(sn_front_problem(front, &o.problem, &seen[0]), STONET_OK);
    assert_int_equal(sn_front_problem(back, &o.problem, &seen[1]), STONET_OK);
    assert_memory_equal(seen[0].x, seen[1].x, (size_t)(ROWS * front->outputs) * sizeof(float));
    sn_front_problem_free(&o.problem, &seen[0]);
    sn_front_problem_free(&o.problem, &seen[1]);
    sn_front_free(back);
    sn_store_free(store);

    /* What does not belong together is named. */
    double mean[4] = {0};
    assert_int_equal(sn_store_create(&store), STONET_OK);
    assert_int_equal(sn_front_put(front, store), STONET_OK);
    sn_store *other;
    assert_int_equal(sn_store_create(&other), STONET_OK);
    for (size_t i = 0; i < sn_store_texts(store); i++) {
        const char *key, *value;
        sn_store_text(store, i, &key, &value);
        assert_int_equal(sn_store_put_text(other, key, value), STONET_OK);
    }
    for (size_t i = 0; i < sn_store_tensors(store); i++) {
        const sn_tensor *t = sn_store_tensor(store, i);
        if (strcmp(t->name, "front_mean") != 0)
            assert_int_equal(sn_store_put(other, t->name, t->dtype, t->rank, t->shape, t->data), STONET_OK);
    }
    assert_says(sn_front_get(other, &back), STONET_ERROR_FORMAT, "front_mean");
    assert_int_equal(sn_store_put_vector(other, "front_mean", SN_F64, 4, mean), STONET_OK);
    assert_says(sn_front_get(other, &back), STONET_ERROR_FORMAT, "front_mean");
    sn_store_free(other);
    sn_store_free(store);
    sn_front_free(front);
    oracle_free(&o);
}

static sn_stonet *fit(const sn_problem *problem, int64_t q, const char *const *pairs, stonet_run *run)
{
    sn_settings *settings = NULL;
    assert_int_equal(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings), STONET_OK);
    for (; pairs[0] != NULL; pairs += 2)
        assert_int_equal(sn_settings_set(settings, pairs[0], pairs[1]), STONET_OK);
    sn_stonet *net = NULL;
    stonet_outcome outcome;
    if (sn_stonet_fit(problem, q, settings, run, &net, &outcome) != STONET_OK)
        fail_msg("%s", stonet_last_error());
    assert_int_equal(outcome, STONET_DONE);
    sn_settings_free(settings);
    return net;
}

/*
 * A StoNet of one identity unit on kernel features, with little noise, is kernel logistic regression. Decay
 * lambda on both layers costs lambda |B|_F of B = V W, whose slope is that of l2 / n |b|^2 / 2 on the
 * difference b of the classes' coefficients, |b|^2 = 2 |B|_F^2, for l2 / n = lambda / (2 |B|_F).
 */
static void one_identity_unit_is_kernel_logistic_regression(void **state)
{
    (void)state;
    oracle o = hill(SN_CLASSIFICATION);
    const double lambda = 0.01;
    const char *const pairs[] = {"front",
                                 "kernel",
                                 "front_complexity",
                                 "4",
                                 "front_linear",
                                 "0.5",
                                 "front_landmarks",
                                 "80",
                                 "hidden",
                                 "none",
                                 "activation",
                                 "identity",
                                 "rho",
                                 "0.0001",
                                 "s_out",
                                 "1e-6",
                                 "weight_decay",
                                 "0.01",
                                 "epochs",
                                 "3000",
                                 "lr",
                                 "0.2",
                                 "batch",
                                 "240",
                                 "sdr_iterations",
                                 "0",
                                 NULL};
    stonet_run run = STONET_RUN_INIT;
    run.threads = 1;
    sn_stonet *net = fit(&o.problem, 1, pairs, &run);
    assert_non_null(net->front);
    const int64_t d = net->front->outputs;
    const sn_shape *shape = &net->network.shape;
    const float *w = net->network.theta + shape->weight_at[0], *v = net->network.theta + shape->weight_at[1];
    double norm = 0.0;
    for (int64_t j = 0; j < d; j++)
        for (int k = 0; k < 2; k++) norm += pow((double)v[k] * (double)w[j], 2);
    norm = sqrt(norm);
    sn_problem seen;
    assert_int_equal(sn_front_problem(net->front, &o.problem, &seen), STONET_OK);
    const sn_rows all = sn_rows_range(0, ROWS);
    const sn_regression ridge = {
        .problem = &seen, .rows = &all, .d = d, .x = seen.x, .l2 = ROWS * lambda / (2.0 * norm)};
    double *coef, intercept[2];
    bool found;
    assert_int_equal(SN_NEW(coef, 2 * d), STONET_OK);
    assert_int_equal(sn_regress(&ridge, NULL, coef, intercept, &found), STONET_OK);
    float mu[ROWS * 2];
    assert_int_equal(sn_stonet_forward(net, &o.problem, 2, false, 1, mu), STONET_OK);
    double worst = 0.0, least = 1.0;
    for (int64_t i = 0; i < ROWS; i++) {
        double eta = intercept[1] - intercept[0];
        for (int64_t j = 0; j < d; j++) eta += (coef[d + j] - coef[j]) * (double)seen.x[i * d + j];
        const double p = 1.0 / (1.0 + exp(-eta));
        const double ours = 1.0 / (1.0 + exp((double)mu[2 * i] - (double)mu[2 * i + 1]));
        worst = fmax(worst, fabs(p - ours));
        least = fmin(least, p);
    }
    if (!(worst < 1e-2)) fail_msg("probabilities differ by %g", worst);
    assert_true(least < 0.2); /* and they say something */
    sn_free(coef);
    sn_front_problem_free(&o.problem, &seen);
    sn_stonet_free(net);
    oracle_free(&o);
}

static char said[4096];

static void listen(stonet_level level, const char *text, void *user)
{
    (void)level;
    (void)user;
    strncat(said, text, sizeof said - strlen(said) - 1);
}

/* A smooth function that is nowhere flat: easier for a kernel than for a network. */
static void the_search_takes_the_kernel_where_it_is_better(void **state)
{
    (void)state;
    oracle o = hill(SN_REGRESSION);
    stonet_run run = STONET_RUN_INIT;
    run.threads = 1;
    run.on_message = listen;
    said[0] = '\0';
    sn_stonet *net = fit(&o.problem, 1, (const char *const[]){NULL}, &run);
    assert_non_null(net->front);
    assert_non_null(strstr(said, "kernel regression was better"));
    assert_int_equal(net->network.shape.width[0], net->front->outputs);
    float *mu;
    double residual = 0.0, variance = 0.0;
    assert_int_equal(SN_NEW(mu, ROWS), STONET_OK);
    assert_int_equal(sn_stonet_forward(net, &o.problem, 2, false, 1, mu), STONET_OK);
    for (int i = 0; i < ROWS; i++) {
        residual += pow((double)mu[i] - o.y[i], 2);
        variance += o.y[i] * o.y[i];
    }
    assert_true(residual < 0.3 * variance);
    sn_free(mu);
    sn_stonet_free(net);
    oracle_free(&o);
}

/* A wave over a slope, with noise: nothing for a network or a kernel in particular. */
static oracle wave(uint64_t seed)
{
    const int64_t width[] = {P, 2, 1};
    oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, ROWS, seed);
    for (int64_t r = 0; r < ROWS; r++) {
        const float *x = o.x + P * r;
        o.y[r] = tanh(2.0 * (double)x[0]) * (double)x[1] + 0.6 * o.y[r];
    }
    return o;
}

/* One network behind the front that is both. */
static void check_both(const oracle *o, const sn_stonet *net, float *mu)
{
    const sn_shape *shape = &net->network.shape;
    assert_non_null(net->front);
    assert_int_equal(shape->width[0], net->front->outputs);
    assert_int_equal(shape->width[shape->layers - 2], 3); /* two units of the network, one that carries */
    assert_int_equal(shape->width[shape->layers - 1], 2);
    assert_true(net->training_loss < net->held_out_constant.loss);
    assert_true(net->held_out.loss < 0.8 * net->held_out_linear.loss);
    assert_int_equal(sn_stonet_forward(net, &o->problem, shape->layers, false, 1, mu), STONET_OK);
    double loss = 0.0;
    for (int i = 0; i < ROWS; i++) loss += 0.5 * pow((double)mu[i] - o->y[i], 2) / ROWS;
    assert_true(fabs(loss - net->training_loss) < 1e-4);
}

/* Where neither is clearly better both are taken, whatever the number of threads. */
static void the_search_takes_both_where_neither_is_better(void **state)
{
    (void)state;
    bool both = false;
    for (uint64_t seed = 1; seed <= 8 && !both; seed++) {
        oracle o = wave(seed);
        float mu[2][ROWS];
        for (int k = 0; k < 2; k++) {
            stonet_run run = STONET_RUN_INIT;
            run.threads = 1 + 2 * k;
            run.on_message = listen;
            said[0] = '\0';
            sn_stonet *net = fit(&o.problem, 2, (const char *const[]){NULL}, &run);
            both = strstr(said, "than the mean of both, which is taken") != NULL;
            if (both) check_both(&o, net, mu[k]);
            sn_stonet_free(net);
            if (!both) break;
        }
        if (both) assert_memory_equal(mu[0], mu[1], sizeof mu[0]);
        oracle_free(&o);
    }
    assert_true(both);
}

/* The same bits for any number of threads. */
static void threads_do_not_show(void **state)
{
    (void)state;
    oracle o = hill(SN_CLASSIFICATION);
    const char *const pairs[] = {"front", "kernel", "epochs", "5", "weight_decay", "0.01", NULL};
    float z[2][ROWS];
    for (int k = 0; k < 2; k++) {
        stonet_run run = STONET_RUN_INIT;
        run.threads = 1 + 2 * k;
        sn_stonet *net = fit(&o.problem, 1, pairs, &run);
        assert_int_equal(sn_stonet_forward(net, &o.problem, 1, false, 1 + k, z[k]), STONET_OK);
        sn_stonet_free(net);
    }
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    oracle_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_have_the_distances_of_the_kernel),
        cmocka_unit_test(no_front_is_the_problem_itself),
        cmocka_unit_test(a_front_comes_back_from_a_store),
        cmocka_unit_test(one_identity_unit_is_kernel_logistic_regression),
        cmocka_unit_test(the_search_takes_the_kernel_where_it_is_better),
        cmocka_unit_test(the_search_takes_both_where_neither_is_better),
        cmocka_unit_test(threads_do_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
