/* Distance correlation against the definition, its known values, and its permutation test. */
#include "base/run.h"
#include "base/test_kit.h"
#include "math/noise.h"
#include "stats/independence.h"

enum { MAX_N = 200, MAX_D = 3 };

static double textbook_distance(int64_t d, const double *v, int64_t i, int64_t j)
{
    double sum = 0.0;
    for (int64_t k = 0; k < d; k++) sum += (v[i * d + k] - v[j * d + k]) * (v[i * d + k] - v[j * d + k]);
    return sqrt(sum);
}

/* The double-centred distance matrix A_ij = a_ij - mean_i - mean_j + mean. */
static void centred(int64_t n, int64_t d, const double *v, double *a)
{
    double mean[MAX_N] = {0};
    double grand = 0.0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) mean[i] += textbook_distance(d, v, i, j) / (double)n;
        grand += mean[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            a[i * n + j] = textbook_distance(d, v, i, j) - mean[i] - mean[j] + grand;
        }
    }
}

static double textbook(int64_t n, int64_t dx, const double *x, int64_t dy, const double *y)
{
    static double a[MAX_N * MAX_N];
    static double b[MAX_N * MAX_N];
    centred(n, dx, x, a);
    centred(n, dy, y, b);
    double ab = 0.0;
    double aa = 0.0;
    double bb = 0.0;
    for (int64_t i = 0; i < n * n; i++) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return aa * bb > 0.0 ? sqrt(ab / sqrt(aa * bb)) : 0.0;
}

static double correlation(int64_t n, int64_t dx, const double *x, int64_t dy, const double *y)
{
    double value = -1.0, p;
    const stonet_sides sides = {.n = n, .dx = dx, .x = x, .dy = dy, .y = y};
    OK(sn_distance_correlation_test(&sides, 0, NULL, &value, &p));
    return value;
}

static void fill(uint32_t substream, int64_t count, double *v)
{
    sn_random random = sn_random_from(5, SN_STREAM_TEST, substream);
    for (int64_t i = 0; i < count; i++) v[i] = sn_random_normal(&random);
}

TEST(test_against_textbook)
{
    double x[MAX_N * MAX_D];
    double y[MAX_N * MAX_D];
    fill(1, (int64_t)MAX_N * MAX_D, x);
    fill(2, (int64_t)MAX_N * MAX_D, y);
    for (int64_t n = 2; n <= MAX_N; n = n * 2 + 1) {
        for (int64_t dx = 1; dx <= MAX_D; dx++) {
            for (int64_t dy = 1; dy <= MAX_D; dy++) {
                for (int64_t i = 0; i < n; i++) y[i * dy] += x[i * dx] * x[i * dx];
                assert_true(fabs(correlation(n, dx, x, dy, y) - textbook(n, dx, x, dy, y)) < 1e-12);
            }
        }
    }
}

TEST(test_ties_and_offsets)
{
    double x[MAX_N];
    double y[MAX_N];
    fill(3, MAX_N, x);
    fill(4, MAX_N, y);
    for (int64_t i = 0; i < MAX_N; i++) {
        x[i] = floor(2.0 * x[i]);
        y[i] = floor(y[i]) + x[i];
    }
    double expected = textbook(MAX_N, 1, x, 1, y);
    assert_true(fabs(correlation(MAX_N, 1, x, 1, y) - expected) < 1e-12);
    for (int64_t i = 0; i < MAX_N; i++) x[i] = 1e-3 * x[i] + 1e6; /* dCor does not see place and unit */
    assert_true(fabs(correlation(MAX_N, 1, x, 1, y) - expected) < 1e-6);
}

TEST(test_known_values)
{
    const double x[] = {0, 1, 2}, flat[] = {7.5, 7.5, 7.5};
    assert_true(correlation(3, 1, x, 1, flat) == 0.0);
    assert_true(correlation(1, 1, x, 1, x) == 0.0);
    assert_true(correlation(3, 1, x, 1, x) == 1.0);
    /* a full 2 x 2 grid is exactly independent */
    const double grid_x[] = {0, 0, 1, 1};
    const double grid_y[] = {0, 1, 0, 1};
    assert_true(correlation(4, 1, grid_x, 1, grid_y) < 1e-7);
}

static double p_value(int64_t n, int64_t dx, const double *x, int64_t dy, const double *y, uint64_t seed,
                      int threads)
{
    stonet_run run = STONET_RUN_INIT;
    run.seed = seed;
    run.threads = threads;
    double value = 0.0;
    double p = -1.0;
    OK(sn_distance_correlation_test(&(stonet_sides){.n = n, .dx = dx, .x = x, .dy = dy, .y = y}, 199, &run,
                                    &value, &p));
    return p;
}

TEST(test_permutation)
{
    double x[MAX_N];
    double y[MAX_N * 2];
    fill(7, MAX_N, x);
    fill(8, (int64_t)MAX_N * 2, y);
    assert_true(p_value(MAX_N, 1, x, 1, y, 1, 1) > 0.05);
    assert_true(p_value(MAX_N, 1, x, 1, y, 1, 1) == p_value(MAX_N, 1, x, 1, y, 1, 3));
    assert_true(p_value(100, 1, x, 2, y, 9, 1) == p_value(100, 1, x, 2, y, 9, 2));
    double square[MAX_N];
    for (int64_t i = 0; i < MAX_N; i++) square[i] = x[i] * x[i]; /* uncorrelated, but dependent */
    assert_true(p_value(MAX_N, 1, x, 1, square, 1, 0) == 1.0 / 200);
    for (int64_t i = 0; i < MAX_N; i++) y[2 * i] = fabs(x[i]);
    assert_true(p_value(MAX_N, 1, x, 2, y, 1, 0) == 1.0 / 200);
}

static int stop_now(void *user)
{
    (void)user;
    return 1;
}

TEST(test_stopping)
{
    const double x[] = {1, 2, 3, 4, 5};
    stonet_run run = {.size = sizeof run, .seed = 1, .threads = 1, .should_stop = stop_now};
    double value;
    double p;
    assert_int_equal(sn_distance_correlation_test(&(stonet_sides){.n = 5, .dx = 1, .x = x, .dy = 1, .y = x},
                                                  10, &run, &value, &p),
                     STONET_ERROR_INTERRUPTED);
}

RUN_TESTS(NULL, NULL)
