/*
 * What the tests of independence and the look by prediction give for tables of many shapes, beside what they
 * gave when their definitions were last checked (golden/test_kept_stats.h): a result must not change unless
 * that is meant.
 *
 * After a change that is meant: STONET_KEEP=1 build/tests/test_stats_kept >
 * src/stats/golden/test_kept_stats.h
 */
#include <stonet/stonet.h>

#include "base/test_kit.h"
#include "math/noise.h"
#include "stats/golden/test_kept_stats.h"

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
    return test_zeros(n * d + 1, sizeof(double));
}

/* z normal; x leans on z, y on z and on x; the columns of x have means and spreads of their own. */
static stonet_sides make_sides(const kept_case *c, double *data[3])
{
    const int64_t n = c->n, dx = c->dx, dy = c->dy, dz = c->dz;
    double *x = data[0] = columns(n, dx), *y = data[1] = columns(n, dy), *z = data[2] = columns(n, dz);
    sn_random random = sn_random_from(31, SN_STREAM_TEST, 9);
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
        OK(stonet_prediction_compare(&sides, &run, &gain));
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
        OK(stonet_independence(&sides, &options, &run, &result));
        const double all[EACH] = {(double)result.n, (double)result.test, result.statistic, result.p_value, 0};
        for (int k = 0; k < EACH; k++) value[k] = all[k];
    }
    for (int k = 0; k < 3; k++) free(data[k]);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_results_are_kept)};
    if (getenv("STONET_KEEP") == NULL) return cmocka_run_group_tests_name("stats_kept", tests, NULL, NULL);
    puts("/* Made by STONET_KEEP=1 test_stats_kept: do not edit. Five numbers a case. */\n"
         "static const double kept[] = {");
    for (int i = 0; i < COUNT; i++) {
        double now[EACH];
        result_of(&cases[i], now);
        for (int k = 0; k < EACH; k++) printf("%.12g,%c", now[k], k == EACH - 1 ? '\n' : ' ');
    }
    puts("};");
    return 0;
}
