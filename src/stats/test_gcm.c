#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "math/linalg.h"
#include "math/noise.h"
#include "stats/distributions.h"
#include "stats/features.h"
#include "stats/gcm.h"
#include "stats/smoother.h"

static void quantiles(void **state)
{
    (void)state;
    const double p[] = {1e-300, 1e-12, 0.01, 0.3, 0.5, 0.9, 1.0 - 1e-10};
    for (size_t k = 0; k < sizeof p / sizeof *p; k++)
        assert_true(fabs(sn_normal_lower(sn_normal_quantile(p[k])) / p[k] - 1.0) < 1e-11);
    assert_true(fabs(sn_normal_quantile(0.975) - 1.959963984540054) < 1e-13);
    assert_true(sn_normal_quantile(0.0) == -INFINITY && sn_normal_quantile(1.0) == INFINITY);
    assert_true(isnan(sn_normal_quantile(-0.1)));
}

/* Ranks with their mean among equals; a constant column is left out; any increasing map gives the same. */
static void scores(void **state)
{
    (void)state;
    const double v[] = {3.0, 7.0, -1.0, 1e9, 7.0, -1e-9, 3.0, 7.0, 0.0, 5.0, 7.0, 2.0};
    sn_scores found;
    assert_int_equal(sn_scores_create(6, 2, v, &found), STONET_OK);
    assert_int_equal(found.columns, 2);
    assert_true(fabs(found.values[0] - sn_normal_quantile(3.0 / 6)) < 1e-14);
    assert_true(found.values[0] == found.values[6]);
    assert_true(fabs(found.values[2] - sn_normal_quantile(0.5 / 6)) < 1e-14);
    assert_true(fabs(found.values[3] - sn_normal_quantile(5.5 / 6)) < 1e-14);
    sn_scores_free(&found);
    const double constant[] = {1.0, 5.0, 2.0, 5.0, 3.0, 5.0};
    assert_int_equal(sn_scores_create(3, 2, constant, &found), STONET_OK);
    assert_int_equal(found.columns, 1);
    sn_scores_free(&found);
}

/* The residuals and the trace against the smoother written out. */
static void smoother(void **state)
{
    (void)state;
    enum { N = 12, M = 3 };
    double f[N * M], a[N], residual[N], s[N * N] = {0}, system[M * M], solved[M * N];
    sn_random random;
    sn_random_init(&random, 1, SN_STREAM_TEST, 0);
    for (int i = 0; i < N * M; i++) f[i] = sn_random_normal(&random);
    for (int i = 0; i < N; i++) a[i] = sn_random_normal(&random);
    for (int j = 0; j <= M; j++) { /* all with mean 0 */
        double mean = 0;
        for (int i = 0; i < N; i++) mean += (j < M ? f[i * M + j] : a[i]) / N;
        for (int i = 0; i < N; i++) *(j < M ? &f[i * M + j] : &a[i]) -= mean;
    }
    const double penalty = 2.5;
    sn_smoother built;
    assert_int_equal(sn_smoother_create(N, M, f, &built), STONET_OK);
    memcpy(residual, a, sizeof a);
    assert_int_equal(sn_smoother_residuals(&built, 1, &penalty, residual), STONET_OK);
    sn_syrk_tn(M, N, 1.0, f, 0.0, system);
    for (int j = 0; j < M; j++) system[j * M + j] += penalty;
    sn_transpose(N, M, f, solved);
    assert_int_equal(sn_solve_spd(M, system, N, solved), STONET_OK);
    sn_gemm(false, false, N, N, M, 1.0, f, solved, 0.0, s);
    double trace = 0;
    for (int i = 0; i < N; i++) {
        double expected = a[i];
        for (int k = 0; k < N; k++) {
            expected -= s[i * N + k] * a[k];
            double left = (i == k) - s[i * N + k] - 1.0 / N;
            trace += left * left;
        }
        assert_true(fabs(expected - residual[i]) < 1e-12);
    }
    assert_true(fabs(trace - sn_smoother_left(&built, penalty)) < 1e-11);
    double chosen;
    for (int i = 0; i < N; i++) a[i] = f[i * M]; /* a feature itself: no penalty */
    assert_int_equal(sn_smoother_choose(&built, 1, a, false, &chosen), STONET_OK);
    assert_true(chosen < 1e-6 * built.value[0]);
    sn_smoother_free(&built);
}

enum { ROWS = 200, MOST = 6 };

typedef struct table {
    double x[ROWS * MOST], y[ROWS], z[ROWS * MOST];
} table;

static double test_of(const table *t, int64_t dx, int64_t dz, uint64_t seed)
{
    stonet_sides sides = {.n = ROWS, .dx = dx, .dy = 1, .dz = dz, .x = t->x, .y = t->y, .z = t->z};
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    stonet_run run = STONET_RUN_INIT;
    run.seed = seed;
    run.threads = 1;
    double statistic, p_value;
    assert_int_equal(sn_gcm_test(&sides, &options, &run, &statistic, &p_value), STONET_OK);
    return p_value;
}

/* y = 3 sin(2 x1) x2 + e / 2 (times e^{x3 / 2} with spread): a mean that regressions on six columns miss part
 * of. */
static void draw(uint64_t seed, table *t)
{
    sn_random random;
    sn_random_init(&random, seed, SN_STREAM_TEST, 1);
    for (int i = 0; i < ROWS * MOST; i++) t->x[i] = sn_random_normal(&random);
    for (int i = 0; i < ROWS; i++)
        t->y[i] = 3 * sin(2 * t->x[i * MOST]) * t->x[i * MOST + 1] + 0.5 * sn_random_normal(&random);
}

/* z = x, an invertible map of x, and the mean itself with long tails: about one in twenty is rejected; of 60
   more than 9 would be by chance in one of a thousand studies. */
static void holds_its_level(void **state)
{
    (void)state;
    enum { SETS = 60 };
    int rejected[3] = {0};
    for (uint64_t seed = 1; seed <= SETS; seed++) {
        table t;
        draw(seed, &t);
        memcpy(t.z, t.x, sizeof t.x);
        rejected[0] += test_of(&t, MOST, MOST, seed) < 0.05;
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < MOST; j++)
                t.z[i * MOST + j] = t.x[i * MOST + j] + (j > 0 ? 3 * t.x[i * MOST + j - 1] : 0.0);
        }
        rejected[1] += test_of(&t, MOST, MOST, seed) < 0.05;
        for (int i = 0; i < ROWS; i++) t.z[i] = sinh(2 * sin(2 * t.x[i * MOST]) * t.x[i * MOST + 1]);
        rejected[2] += test_of(&t, MOST, 1, seed) < 0.05;
    }
    for (int k = 0; k < 3; k++) {
        if (rejected[k] > 9) fail_msg("case %d: %d of %d", k, rejected[k], SETS);
    }
    assert_true(rejected[0] + rejected[1] + rejected[2] > 0);
}

/* z without x2; and z = x1 where x2 moves the spread alone. */
static void finds_what_is_missing(void **state)
{
    (void)state;
    int found[2] = {0};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        table t;
        draw(seed, &t);
        for (int i = 0; i < ROWS; i++) t.z[i] = t.x[i * MOST];
        found[0] += test_of(&t, MOST, 1, seed) < 0.05;
        sn_random random;
        sn_random_init(&random, seed, SN_STREAM_TEST, 2);
        for (int i = 0; i < ROWS; i++)
            t.y[i] = t.x[i * MOST] + exp(t.x[i * MOST + 1]) * sn_random_normal(&random);
        found[1] += test_of(&t, MOST, 1, seed) < 0.05;
    }
    assert_true(found[0] >= 18);
    assert_true(found[1] >= 18);
}

static void refuses_and_edges(void **state)
{
    (void)state;
    table t;
    draw(1, &t);
    memcpy(t.z, t.x, sizeof t.x);
    stonet_sides sides = {.n = 99, .dx = MOST, .dy = 1, .dz = MOST, .x = t.x, .y = t.y, .z = t.z};
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    stonet_run run = STONET_RUN_INIT;
    double statistic, p_value;
    assert_int_equal(sn_gcm_test(&sides, &options, &run, &statistic, &p_value), STONET_ERROR_DATA);
    assert_non_null(strstr(stonet_last_error(), "at least 100"));
    for (int i = 0; i < ROWS; i++) t.y[i] = 4.0; /* nothing to be dependent */
    assert_true(test_of(&t, MOST, 2, 1) == 1.0);
    draw(1, &t);
    for (int i = 0; i < ROWS * MOST; i++) t.x[i] = 1.0;
    assert_true(test_of(&t, MOST, 2, 1) == 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles),
        cmocka_unit_test(scores),
        cmocka_unit_test(smoother),
        cmocka_unit_test(holds_its_level),
        cmocka_unit_test(finds_what_is_missing),
        cmocka_unit_test(refuses_and_edges),
    };
    return cmocka_run_group_tests_name("stats_gcm", tests, NULL, NULL);
}
