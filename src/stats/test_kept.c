/*
 * What the tests of independence and the look by prediction give for tables of many shapes, and distributions
 * and measures of predictions over many arguments, beside what they gave when their definitions were last
 * checked (golden/test_kept_stats.h): a result must not change unless that is meant.
 *
 * After a change that is meant: STONET_KEEP=1 build/tests/test_stats_kept >
 * src/stats/golden/test_kept_stats.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <stonet/stonet.h>

#include "math/noise.h"
#include "stats/chisq_mixture.h"
#include "stats/distributions.h"
#include "stats/golden/test_kept_stats.h"
#include "stats/metrics.h"

enum { PREDICTION = -1 };                     /* in the place of a test */
enum { NORMAL, STEPS, TWO_VALUES, CONSTANT }; /* what y is; STEPS: z too */

typedef struct kept_case {
    int test, law, y;
    int64_t n, dx, dy, dz, features, condition, repeats, permutations;
} kept_case;

static const kept_case cases[] = {
#include "stats/golden/test_kept_stats_cases.h"
};

enum { COUNT = sizeof cases / sizeof *cases, EACH = 5 };

static double *columns(int64_t n, int64_t d)
{
    double *out = calloc((size_t)(n * d) + 1, sizeof *out);
    assert_non_null(out);
    return out;
}

/* z normal; x leans on z, y on z and on x; the columns of x have means and spreads of their own. */
static stonet_sides make_sides(const kept_case *c, double *data[3])
{
    const int64_t n = c->n, dx = c->dx, dy = c->dy, dz = c->dz;
    double *x = data[0] = columns(n, dx), *y = data[1] = columns(n, dy), *z = data[2] = columns(n, dz);
    sn_random random;
    sn_random_init(&random, 31, SN_STREAM_TEST, 9);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < dz; j++) {
            z[i * dz + j] = sn_random_normal(&random);
            if (c->y == STEPS && j == 0) z[i * dz] = floor(2.0 * z[i * dz]);
        }
        for (int64_t j = 0; j < dx; j++)
            x[i * dx + j] = 0.5 * (double)j + (1.0 + 0.1 * (double)j) * sn_random_normal(&random) +
                            (dz > 0 ? 0.4 * z[i * dz + j % dz] : 0.0);
        for (int64_t j = 0; j < dy; j++) {
            const double lean = (dz > 0 ? z[i * dz + j % dz] : 0.0) + 0.2 * x[i * dx + j % dx];
            const double value = lean + sn_random_normal(&random);
            y[i * dy + j] = c->y == STEPS        ? floor(value)
                            : c->y == TWO_VALUES ? 3.0 * (value > 0.3)
                            : c->y == CONSTANT   ? 2.0
                                                 : value;
        }
    }
    return (stonet_sides){.n = n, .dx = dx, .dy = dy, .dz = dz, .x = x, .y = y, .z = dz > 0 ? z : NULL};
}

static void result_of(const kept_case *c, double value[EACH])
{
    double *data[3];
    const stonet_sides sides = make_sides(c, data);
    stonet_run run = STONET_RUN_INIT;
    run.seed = 4;
    run.threads = 1;
    if (c->test == PREDICTION) {
        stonet_prediction_gain gain;
        assert_int_equal(stonet_prediction_compare(&sides, &run, &gain), STONET_OK);
        const double all[EACH] = {(double)gain.n, gain.p_value, gain.explained_z, gain.explained_zx, 0.0};
        for (int k = 0; k < EACH; k++) value[k] = all[k];
    } else {
        stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
        options.test = (stonet_test)c->test;
        options.null_law = (stonet_null_law)c->law;
        options.features = c->features;
        options.condition_features = c->condition;
        options.repeats = c->repeats;
        options.permutations = c->permutations;
        stonet_independence_result result;
        if (stonet_independence(&sides, &options, &run, &result) != STONET_OK)
            fail_msg("%s", stonet_last_error());
        const double all[EACH] = {(double)result.n, (double)result.test, result.statistic, result.p_value, 0};
        for (int k = 0; k < EACH; k++) value[k] = all[k];
    }
    for (int k = 0; k < 3; k++) free(data[k]);
}

enum { SUMS = 12, ROWS = 57, OUTPUTS = 3 };

/* A weight of the k-th number of a sum, so that numbers do not change places unnoticed. */
static double factor(int k)
{
    return 1.0 + 0.618 * (double)(k % 7);
}

/* Tails over shapes and places, in logarithms. */
static void distributions_of(double sum[SUMS])
{
    const double shape[] = {0.05, 0.5, 1.0, 2.5, 7.0, 15.9, 16.0, 40.0, 300.0, 2e4};
    const double lambda[] = {2.0, 1.5, 1.0, 0.7, 0.7, 0.3, 0.0, -0.1, 0.05},
                 equal[] = {2.0, 2.0, 2.0, 2.0, 2.0};
    for (int a = 0; a < 10; a++)
        for (int k = 0; k < 24; k++) {
            const double x = fmax(0.01 * shape[a], shape[a] + (0.5 * k - 5.0) * sqrt(shape[a])),
                         t = 0.4 * k - 3.0;
            sum[0] += factor(a + k) * log(sn_gamma_upper(shape[a], x));
            sum[1] += factor(a + k) * log(sn_t_lower(shape[a], t));
            sum[2] += factor(a + k) * log(sn_t_two_sided(shape[a], t));
            sum[3] += factor(a + k) * (sn_normal_lower(t) + log(sn_chisq_upper(shape[a], x)));
        }
    for (int k = 1; k < 60; k++) sum[4] += factor(k) * sn_normal_quantile(k < 30 ? pow(0.5, k) : k / 61.0);
    for (int64_t count = 1; count <= 9; count++)
        for (int k = 0; k < 12; k++) {
            double p = NAN;
            const double t = 0.2 + 1.3 * k;
            sum[5] += factor(k) * log(sn_mixture_sw(count, lambda, t));
            sum[6] += factor(k) * log(sn_mixture_hbe(count, lambda, t));
            assert_int_equal(sn_mixture_lpb4(count, lambda, t, &p), STONET_OK);
            sum[7] += factor(k) * log(p);
            assert_int_equal(sn_mixture_lpb4(count < 5 ? count : 5, equal, t, &p), STONET_OK);
            sum[8] += factor(k) * log(p);
        }
}

/* All measures of predictions, with weights and without; a pair of probabilities is equal now and then. */
static void measures_of(double sum[SUMS])
{
    double p[ROWS * OUTPUTS], y[ROWS * OUTPUTS], weight[ROWS];
    int32_t label[ROWS];
    int64_t order[ROWS], table[OUTPUTS * OUTPUTS];
    sn_random random;
    sn_random_init(&random, 8, SN_STREAM_TEST, 2);
    for (int i = 0; i < ROWS; i++) {
        double all = 0.0;
        for (int c = 0; c < OUTPUTS; c++) {
            all += p[i * OUTPUTS + c] = 0.1 + floor(5.0 * sn_random_uniform(&random));
            y[i * OUTPUTS + c] = sn_random_normal(&random);
        }
        for (int c = 0; c < OUTPUTS; c++) p[i * OUTPUTS + c] /= all;
        weight[i] = 0.5 + i % 4;
        label[i] = (int32_t)(OUTPUTS * sn_random_uniform(&random));
    }
    for (int w = 0; w < 2; w++) {
        const double *of = w ? weight : NULL, f = factor(w);
        sum[0] += f * sn_error_rate(ROWS, OUTPUTS, p, label, of);
        sum[1] += f * sn_log_loss(ROWS, OUTPUTS, p, label, of);
        sum[2] += f * sn_brier(ROWS, OUTPUTS, p, label, of);
        sum[3] += f * sn_calibration_error(ROWS, OUTPUTS, p, label, of);
        sum[4] += f * sn_balanced_accuracy(ROWS, OUTPUTS, p, label, of);
        for (int c = 0; c < OUTPUTS; c++)
            sum[5] += f * factor(c) * sn_auc(ROWS, OUTPUTS, c, p, label, of, order);
        sum[6] += f * sn_mse(ROWS, OUTPUTS, p, y, of);
        sum[7] += f * sn_r2(ROWS, OUTPUTS, p, y, of);
        sum[8] += f * sn_correlation(ROWS, OUTPUTS, p, y, of);
    }
    sn_confusion(ROWS, OUTPUTS, p, label, table);
    for (int k = 0; k < OUTPUTS * OUTPUTS; k++) sum[9] += factor(k) * (double)table[k];
    sum[10] = sn_paired_t_test(ROWS, p, y) + sn_paired_t_test(2, p, y) + sn_standard_error(ROWS, y);
    sum[11] =
        sn_fold_t_test(2, 5, p, y) + sn_fold_t_test(9, 10, p, y) + sn_accuracy(ROWS, OUTPUTS, p, label, NULL);
}

static void test_sums_are_kept(void **state)
{
    (void)state;
    int wrong = 0;
    double now[2][SUMS] = {{0}};
    distributions_of(now[0]);
    measures_of(now[1]);
    for (int what = 0; what < 2; what++)
        for (int k = 0; k < SUMS; k++)
            if (!(fabs(now[what][k] - kept_sums[what][k]) <= 1e-10 * fmax(1.0, fabs(now[what][k])))) {
                print_message("sum %d %d: %.17g, was %.17g\n", what, k, now[what][k], kept_sums[what][k]);
                wrong++;
            }
    assert_int_equal(wrong, 0);
}

static void test_results_are_kept(void **state)
{
    (void)state;
    int wrong = 0;
    const int have = (int)(sizeof kept / sizeof *kept / EACH);
    for (int i = 0; i < COUNT && i < have; i++) {
        double now[EACH];
        result_of(&cases[i], now);
        for (int k = 0; k < EACH; k++)
            if (!(fabs(now[k] - kept[i * EACH + k]) <= 1e-5 * fmax(1e-3, fabs(now[k])))) {
                print_message("case %d, number %d: %.12g, was %.12g\n", i, k, now[k], kept[i * EACH + k]);
                wrong++;
            }
    }
    assert_int_equal(have, COUNT);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_results_are_kept),
                                       cmocka_unit_test(test_sums_are_kept)};
    if (getenv("STONET_KEEP") == NULL) return cmocka_run_group_tests_name("stats_kept", tests, NULL, NULL);
    puts("/* Made by STONET_KEEP=1 test_stats_kept: do not edit. Five numbers a case. */\n"
         "static const double kept[] = {");
    for (int i = 0; i < COUNT; i++) {
        double now[EACH];
        result_of(&cases[i], now);
        for (int k = 0; k < EACH; k++) printf("%.12g,%c", now[k], k == EACH - 1 ? '\n' : ' ');
    }
    puts("};\nstatic const double kept_sums[2][12] = {");
    double sums[2][SUMS] = {{0}};
    distributions_of(sums[0]);
    measures_of(sums[1]);
    for (int what = 0; what < 2; what++)
        for (int k = 0; k < SUMS; k++)
            printf("%s%.15g%s", k ? ", " : "{", sums[what][k], k < SUMS - 1 ? "" : "},\n");
    puts("};");
    return 0;
}
