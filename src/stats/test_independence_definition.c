/* The random-feature tests against their definition: features, regressions by elimination, covariance test.
 */
#include <stonet/stonet.h>

#include "base/workspace.h"
#include "math/noise.h"
#include "stats/covariance_test.h"
#include "stats/features.h"
#include "stats/independence.h"
#include "stats/test_textbook.h"

enum { N = 70, DX = 2, DY = 1, DZ = 3, M = 4, MZ = 6, WIDTH = 2 * M + MZ, SEED = 8, PERMUTATIONS = 150 };

static void draw(double x[N * DX], double y[N * DY], double z[N * DZ])
{
    sn_random random = sn_random_from(17, SN_STREAM_TEST, 2);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < DZ; j++) z[i * DZ + j] = 2.0 * sn_random_normal(&random) - 1.0;
        for (int j = 0; j < DX; j++) x[i * DX + j] = z[i * DZ + j] + sn_random_normal(&random);
        y[i] = z[i * DZ] + 0.4 * x[i * DX + 1] + sn_random_normal(&random);
    }
}

/* beta = (C + ridge I)^-1 right; used = tr C (C + ridge I)^-1. */
static void solve(const double c[MZ * MZ], const double right[MZ * WIDTH], double beta[MZ * WIDTH],
                  double *used)
{
    double left[MZ * MZ], inverse[MZ * MZ];
    for (int k = 0; k < MZ * MZ; k++) left[k] = c[k] + (k % (MZ + 1) == 0 ? 1e-10 : 0.0);
    invert(MZ, left, inverse);
    *used = 0.0;
    for (int a = 0; a < MZ; a++)
        for (int b = 0; b < MZ; b++) {
            *used += inverse[a * MZ + b] * c[b * MZ + a];
            for (int k = 0; k < WIDTH; k++) beta[a * WIDTH + k] += inverse[a * MZ + b] * right[b * WIDTH + k];
        }
}

/* One repeat of RIT (mz 0) or RCoT and RCIT, with the standardised columns of x, y and z given. */
static void once(const sn_standardised side[3], int mz, uint32_t repeat, stonet_null_law law,
                 double *statistic, double *p_value)
{
    const int me = 2 * M;
    double f[N * WIDTH] = {0}, e[N * 2 * M], c[MZ * MZ] = {0}, right[MZ * WIDTH] = {0},
                 beta[MZ * WIDTH] = {0}, used = 0.0;
    OK(sn_fourier_features(&side[0], M, (sn_drawing){SEED, 3 * repeat, 1}, WIDTH, 0, f));
    OK(sn_fourier_features(&side[1], M, (sn_drawing){SEED, 3 * repeat + 1, 1}, WIDTH, M, f));
    if (mz > 0) {
        OK(sn_fourier_features(&side[2], MZ, (sn_drawing){SEED, 3 * repeat + 2, 1}, WIDTH, me, f));
        for (int i = 0; i < N; i++) {
            const double *row = f + i * WIDTH;
            for (int a = 0; a < MZ; a++) {
                for (int b = 0; b < MZ; b++) c[a * MZ + b] += row[me + a] * row[me + b] / (N - 1);
                for (int k = 0; k < me; k++) right[a * WIDTH + k] += row[me + a] * row[k] / (N - 1);
            }
        }
        solve(c, right, beta, &used);
    }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < me; k++) {
            e[i * me + k] = f[i * WIDTH + k];
            for (int a = 0; a < mz; a++) e[i * me + k] -= f[i * WIDTH + me + a] * beta[a * WIDTH + k];
        }
    }
    sn_residuals r = {.n = N, .mx = M, .my = M, .e = e, .used = used};
    if (mz > 0) {
        r.dz = side[2].columns;
        r.z = side[2].values;
    }
    OK(sn_covariance_test(&r, law, PERMUTATIONS, (sn_drawing){SEED, PERMUTATIONS * repeat, 1}, statistic,
                          p_value));
}

static void check(stonet_test test, stonet_null_law law)
{
    SN_WORKSPACE(keep);
    enum { REPEATS = 3 };
    double x[N * DX], y[N * DY], z[N * DZ], p_value[REPEATS], statistic = 0.0;
    sn_standardised side[3];
    draw(x, y, z);
    OK(sn_standardise(N, (sn_side){DX, x}, (sn_side){0, NULL}, SEED, &keep, &side[0]));
    OK(sn_standardise(N, (sn_side){DY, y}, test == STONET_TEST_RCIT ? (sn_side){DZ, z} : (sn_side){0, NULL},
                      SEED, &keep, &side[1]));
    OK(sn_standardise(N, (sn_side){DZ, z}, (sn_side){0, NULL}, SEED, &keep, &side[2]));
    for (uint32_t r = 0; r < REPEATS; r++) {
        double found;
        once(side, test == STONET_TEST_RIT ? 0 : MZ, r, law, &found, &p_value[r]);
        statistic += found / REPEATS;
    }
    stonet_sides sides = {.n = N, .dx = DX, .dy = DY, .dz = DZ, .x = x, .y = y, .z = z};
    if (test == STONET_TEST_RIT) sides.z = NULL;
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    options.test = test;
    options.null_law = law;
    options.features = M;
    options.condition_features = MZ;
    options.repeats = REPEATS;
    options.permutations = PERMUTATIONS;
    stonet_run run = {.size = sizeof run, .seed = SEED, .threads = 2};
    stonet_independence_result got;
    OK(stonet_independence(&sides, &options, &run, &got));
    assert_true(got.test == test && got.n == N);
    assert_true(fabs(got.statistic - statistic) < 1e-6 * statistic);
    assert_true(fabs(got.p_value - sn_cauchy_combination(REPEATS, p_value)) < 1e-6);
}

TEST(test_definition)
{
    check(STONET_TEST_RIT, STONET_NULL_HBE);
    check(STONET_TEST_RCOT, STONET_NULL_HBE);
    check(STONET_TEST_RCIT, STONET_NULL_GAMMA);
    check(STONET_TEST_RCOT, STONET_NULL_PERMUTATION);
}

/* Without a wish there are 100 features of z, 50 a column where that is more, and a quarter of the rows at
   most. */
TEST(test_condition_features)
{
    enum { MOST = 700 };
    static double x[MOST], y[MOST], z[MOST * DZ];
    static const int64_t cases[][3] = {
        {500, 1, 100}, {700, 3, 150}, {203, 3, 50}}; /* rows, columns, features */
    sn_random random = sn_random_from(18, SN_STREAM_TEST, 3);
    for (int i = 0; i < MOST * DZ; i++) z[i] = sn_random_normal(&random);
    for (int i = 0; i < MOST; i++) x[i] = z[i] + sn_random_normal(&random);
    for (int i = 0; i < MOST; i++) y[i] = z[i] + sn_random_normal(&random);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const stonet_sides sides = {
            .n = cases[k][0], .dx = 1, .dy = 1, .dz = cases[k][1], .x = x, .y = y, .z = z};
        double p_value[3];
        for (int wish = -1; wish <= 1; wish++) { /* none, as many, one more */
            stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
            stonet_independence_result got;
            options.test = STONET_TEST_RCOT;
            options.condition_features = wish < 0 ? 0 : cases[k][2] + wish;
            OK(stonet_independence(&sides, &options, NULL, &got));
            p_value[wish + 1] = got.p_value;
        }
        assert_true(p_value[0] == p_value[1]);
        assert_int_equal(p_value[0] != p_value[2], cases[k][2] < cases[k][0] / 4);
    }
}

/* Each side that a test or a comparison cannot do without is asked for. */
TEST(test_sides)
{
    double x[N * DX], y[N * DY], z[N * DZ];
    draw(x, y, z);
    const stonet_sides whole = {.n = N, .dx = DX, .dy = DY, .dz = DZ, .x = x, .y = y, .z = z};
    stonet_independence_result result;
    stonet_prediction_gain gain;
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    OK(stonet_independence(&whole, NULL, NULL, &result));
    options.test = STONET_TEST_GCM; /* the last one there is */
    OK(stonet_independence(&whole, &options, NULL, &result));
    assert_int_equal(result.test, STONET_TEST_GCM);
    assert_int_equal(stonet_independence(&whole, NULL, NULL, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_independence(NULL, NULL, NULL, &result), STONET_ERROR_ARGUMENT);
    OK(stonet_prediction_compare(&whole, NULL, &gain));
    assert_int_equal(stonet_prediction_compare(&whole, NULL, NULL), STONET_ERROR_ARGUMENT);
    for (int k = 0; k < 7; k++) {
        stonet_sides sides = whole;
        if (k == 0) sides.x = NULL;
        if (k == 1) sides.y = NULL;
        if (k == 2) sides.n = 0;
        if (k == 3) sides.dx = 0;
        if (k == 4) sides.dy = 0;
        if (k == 5) sides.dz = 0;
        if (k == 6) sides.z = NULL; /* which a test of independence can do without */
        assert_int_equal(stonet_prediction_compare(&sides, NULL, &gain), STONET_ERROR_ARGUMENT);
        assert_int_equal(stonet_independence(&sides, NULL, NULL, &result),
                         k < 6 ? STONET_ERROR_ARGUMENT : STONET_OK);
    }
}

/* Every cell is looked at, also the last one of several columns, and every option at both of its ends. */
TEST(test_every_cell_and_option)
{
    enum { ROWS = 40 };
    double x[ROWS * 3], y[ROWS * 2], z[ROWS * 2];
    sn_random random = sn_random_from(2, SN_STREAM_TEST, 6);
    for (int i = 0; i < ROWS * 3; i++) x[i] = sn_random_normal(&random);
    for (int i = 0; i < ROWS * 2; i++) y[i] = sn_random_normal(&random);
    for (int i = 0; i < ROWS * 2; i++) z[i] = sn_random_normal(&random);
    const stonet_sides sides = {.n = ROWS, .dx = 3, .dy = 2, .dz = 2, .x = x, .y = y, .z = z};
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    options.test = STONET_TEST_RCOT;
    options.null_law = STONET_NULL_PERMUTATION;
    options.permutations = 9;
    stonet_independence_result result;
    double *const last[] = {&x[ROWS * 3 - 1], &y[ROWS * 2 - 1], &z[ROWS * 2 - 1]};
    const char *const place[] = {"row 40, column 3 of x", "row 40, column 2 of y", "row 40, column 2 of z"};
    for (int k = 0; k < 3; k++) {
        const double held = *last[k];
        *last[k] = INFINITY;
        assert_says(stonet_independence(&sides, &options, NULL, &result), STONET_ERROR_DATA, place[k]);
        *last[k] = held;
    }
    int64_t *const value[] = {&options.features, &options.condition_features, &options.repeats,
                              &options.permutations};
    const int64_t least[] = {1, 0, 1, 1}, most[] = {40, 1000, 1000, 1000000};
    for (int k = 0; k < 4; k++) {
        const int64_t held = *value[k], wrong[] = {least[k] - 1, most[k] + 1};
        for (int w = 0; w < 2; w++) {
            *value[k] = wrong[w];
            assert_int_equal(stonet_independence(&sides, &options, NULL, &result), STONET_ERROR_ARGUMENT);
        }
        *value[k] = least[k];
        OK(stonet_independence(&sides, &options, NULL, &result));
        *value[k] = held;
    }
    options.condition_features = 1000;
    OK(stonet_independence(&sides, &options, NULL, &result));
    static const int numbers[][2] = {
        {STONET_TEST_AUTO - 1, 0}, {STONET_TEST_GCM + 1, 0}, {STONET_TEST_RIT, 0}, /* does not condition */
        {STONET_TEST_DCOR, 0},     {STONET_TEST_RCOT, -1},   {STONET_TEST_RCOT, STONET_NULL_PERMUTATION + 1}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        options.test = (stonet_test)numbers[k][0];
        options.null_law = (stonet_null_law)numbers[k][1];
        assert_int_equal(stonet_independence(&sides, &options, NULL, &result), STONET_ERROR_ARGUMENT);
    }
    stonet_sides alone = sides;
    alone.z = NULL; /* and nothing to condition on */
    options = (stonet_independence_options)STONET_INDEPENDENCE_OPTIONS_INIT;
    options.test = STONET_TEST_RCIT;
    assert_int_equal(stonet_independence(&alone, &options, NULL, &result), STONET_ERROR_ARGUMENT);
}

/* Three rows leave nothing to test with, four do. */
TEST(test_few_rows)
{
    const double x[] = {1.0, 4.0, 2.0, 7.0}, y[] = {3.0, 1.0, 2.0, -1.0}, constant[] = {5.0, 5.0, 5.0, 5.0};
    stonet_independence_result result;
    for (int64_t n = 2; n <= 4; n++) {
        const stonet_sides sides = {.n = n, .dx = 1, .dy = 1, .x = x, .y = y};
        OK(stonet_independence(&sides, NULL, NULL, &result));
        assert_true((result.p_value < 1.0) == (n == 4) && result.n == n);
    }
    stonet_sides sides = {.n = 4, .dx = 1, .dy = 1, .x = x, .y = constant};
    OK(stonet_independence(&sides, NULL, NULL, &result));
    assert_true(result.p_value == 1.0 && result.statistic == 0.0);
}

RUN_TESTS(NULL, NULL)
