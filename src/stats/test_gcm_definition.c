/* The generalised covariance measure against its definition (independence.h), one function and one sum at a
 * time. */
#include "base/memory.h"
#include "base/workspace.h"
#include "math/noise.h"
#include "stats/covariance_test.h"
#include "stats/distributions.h"
#include "stats/features.h"
#include "stats/independence.h"
#include "stats/smoother.h"
#include "stats/test_textbook.h"

enum { N = 75, DX = 3, DZ = 2, WAVES = 20, CONTROLS = 100, STREAMS = 7, SHUFFLES = 9999, SEED = 21 };

/* One function of x, z or y: what it is, and what its regression on z leaves. */
typedef struct function {
    double value[N], residual[N];
    double twice; /* |(I - S_y) residual|^2 */
} function;

static double product(const double a[N], const double b[N])
{
    double sum = 0.0;
    for (int64_t i = 0; i < N; i++) sum += a[i] * b[i];
    return sum;
}

/* Waves of the white columns from one stream. */
static void take_waves(const sn_scores *scores, int64_t count, uint32_t substream, function *to)
{
    SN_WORKSPACE(keep);
    sn_standardised white = {.n = N};
    SN_BLOCK double *f = test_zeros(N * count, sizeof *f);
    OK(sn_scores_whiten(scores, &keep, &white.columns, &white.values));
    white.bandwidth = sqrt(2.0 * (double)white.columns);
    OK(sn_fourier_features(&white, count, (sn_drawing){SEED, substream, 1}, count, 0, f));
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < N; i++) to[k].value[i] = f[i * count + k];
}

/* Residuals of one function with a penalty of its own (0), or with the given one. */
static void regress(const sn_smoother *smoother, double penalty, double a[N])
{
    if (penalty == 0.0) OK(sn_smoother_choose(smoother, 1, a, false, &penalty));
    OK(sn_smoother_residuals(smoother, 1, &penalty, a));
}

/* The covariance test of those of `count` functions that z does not determine; e is room for it. */
static sn_residuals beside_y(const function *f, int64_t count, const function *y, int64_t my, double left,
                             double *e)
{
    int64_t kept[CONTROLS], mx = 0;
    double once = 0.0, twice = 0.0;
    for (int64_t k = 0; k < count; k++) {
        if (product(f[k].residual, f[k].residual) <= 1e-3 * product(f[k].value, f[k].value)) continue;
        kept[mx++] = k;
        once += product(f[k].residual, f[k].residual);
        twice += f[k].twice;
    }
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < mx; k++) e[i * (mx + my) + k] = f[kept[k]].residual[i];
        for (int64_t k = 0; k < my; k++) e[i * (mx + my) + mx + k] = y[k].residual[i];
    }
    return (sn_residuals){
        .n = N, .mx = mx, .my = my, .e = e, .used = mx > 0 ? N - 1.0 - left * once / twice : 0};
}

/* Squared covariances with y, of waves of x first, then of z. */
static double shuffled(const function *waves, const function *y, int64_t my, uint32_t substream)
{
    double value[WAVES + CONTROLS], observed = 0.0;
    for (int64_t k = 0; k < WAVES + CONTROLS; k++) {
        value[k] = 0.0;
        for (int64_t c = 0; c < my; c++) value[k] += pow(product(waves[k].residual, y[c].residual), 2);
        if (k < WAVES) observed += value[k];
    }
    sn_random random = sn_random_from(SEED, SN_STREAM_PERMUTE, substream);
    int64_t above = 0;
    for (int64_t b = 0; b < SHUFFLES; b++) {
        double sum = 0.0;
        for (int64_t k = 0; k < WAVES; k++) {
            const int64_t other = k + (int64_t)sn_random_below(&random, (uint64_t)(WAVES + CONTROLS - k));
            const double held = value[k];
            value[k] = value[other];
            value[other] = held;
            sum += value[k];
        }
        above += sum >= observed * (1.0 - 1e-9);
    }
    return (double)(above + 1) / (SHUFFLES + 1);
}

static bool look_alike(const function *waves)
{
    double x = 0.0, square = 0.0, z = 0.0;
    for (int64_t k = 0; k < WAVES + CONTROLS; k++) {
        const double left = product(waves[k].residual, waves[k].residual);
        x += k < WAVES ? left / WAVES : 0.0;
        square += k < WAVES ? left * left / WAVES : 0.0;
        z += k < WAVES ? 0.0 : left / CONTROLS;
    }
    return x < 1.1 * z + 3.0 * sqrt((square - x * x) / WAVES);
}

/* p_value: of the largest of the single covariances of columns (q of them) with the first function of y, and
   of all others with their squares; -1: z determines all. */
static void largest_single(const function *f, int64_t q, const function *y, int64_t my, double left,
                           double excess, double p_value[2])
{
    double smallest[2] = {1.0, 1.0};
    int count[2] = {0, 0};
    for (int64_t a = 0; a < 2 * q; a++) {
        if (product(f[a].residual, f[a].residual) <= 0.3 * product(f[a].value, f[a].value)) continue;
        for (int64_t k = 0; k < my; k++) {
            const double of_a = product(f[a].residual, f[a].residual);
            const double variances = of_a / N * product(y[k].residual, y[k].residual) / N;
            const double slope = product(f[a].residual, y[k].residual) / of_a;
            double squares = 0.0, u[N];
            for (int64_t i = 0; i < N; i++) {
                u[i] = y[k].residual[i] - slope * f[a].residual[i];
                squares += pow(f[a].residual[i] * u[i], 2) / (1.0 - pow(f[a].residual[i], 2) / of_a);
            }
            const double freedom = left * of_a / f[a].twice - 1.0;
            const double t2 = pow(slope * of_a, 2) / fmax(squares, of_a * product(u, u) / N) * freedom / N /
                              (1.0 + excess / (double)my / variances);
            const int part = a < q && k == 0 ? 0 : 1;
            count[part]++;
            smallest[part] = fmin(smallest[part], sn_t_two_sided(freedom, sqrt(t2)));
        }
    }
    for (int part = 0; part < 2; part++)
        p_value[part] = count[part] > 0 ? 1.0 - pow(1.0 - smallest[part], count[part]) : -1.0;
}

/* One set of random features: the p-values of three sums, those of the largest single covariances, and the
   sum of the statistics. */
static double once(const sn_scores *x, const sn_scores *z, int64_t my, const double *y, uint32_t repeat,
                   double p_value[5], bool *alike)
{
    SN_WORKSPACE(keep);
    const int64_t q = x->columns, all = 2 * q + WAVES + CONTROLS;
    function *f = test_zeros(all + my, sizeof *f), *of_y = f + all;
    SN_BLOCK double *e = test_zeros(N * (CONTROLS + my), sizeof *e);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < q; j++) {
            f[j].value[i] = x->plain[i * q + j];
            f[q + j].value[i] = pow(x->plain[i * q + j], 2) / sqrt(2.0);
        }
        for (int64_t k = 0; k < my; k++) of_y[k].value[i] = y[i * my + k];
    }
    for (int64_t j = 0; j < q; j++) centre_columns(N, 1, f[q + j].value);
    take_waves(x, WAVES, STREAMS * repeat + 2, f + 2 * q);
    take_waves(z, CONTROLS, STREAMS * repeat + 3, f + 2 * q + WAVES);

    const int64_t random = z->columns > 1 ? N / 3 : 0;
    const int64_t m = sn_regression_width(N, z->columns, SN_FEATURES_RICH, random);
    double *features = test_zeros(N * m, sizeof *features), penalty[9], left;
    sn_smoother smoother;
    sn_scores white = *z; /* linear and quadratic functions are those of the white columns */
    int64_t rank;
    OK(sn_scores_whiten(z, &keep, &rank, &white.plain));
    OK(sn_regression_features(&white, SN_FEATURES_RICH, random, (sn_drawing){SEED, STREAMS * repeat + 4, 1},
                              m, 0, features));
    OK(sn_smoother_create(N, m, features, &keep, &smoother));
    OK(sn_smoother_choose(&smoother, my, y, true, penalty));
    left = sn_smoother_left(&smoother, penalty[0]);
    for (int64_t k = 0; k < all + my; k++) {
        double again[N];
        for (int64_t i = 0; i < N; i++) f[k].residual[i] = f[k].value[i];
        regress(&smoother, k < all ? 0.0 : penalty[0], f[k].residual);
        for (int64_t i = 0; i < N; i++) again[i] = f[k].residual[i];
        regress(&smoother, penalty[0], again);
        f[k].twice = product(again, again);
    }

    sn_residuals r = beside_y(f + 2 * q + WAVES, CONTROLS, of_y, my, left, e);
    const double excess = fmax(sn_covariance_statistic(&r) - sn_covariance_mean(&r), 0.0) / CONTROLS;
    const int64_t first[] = {0, q, 2 * q}, count[] = {q, q, WAVES};
    double statistic = 0.0, found;
    for (int block = 0; block < 3; block++) {
        r = beside_y(f + first[block], count[block], of_y, my, left, e);
        p_value[block] = -1.0; /* nothing to test */
        if (r.mx == 0) continue;
        r.excess = excess * (double)r.mx / sn_covariance_mean(&r);
        r.dz = z->columns;
        r.z = white.plain;
        OK(sn_covariance_test(&r, STONET_NULL_PERMUTATION, 200, (sn_drawing){SEED, (uint32_t)first[block], 1},
                              &found, &p_value[block]));
        statistic += found;
    }
    largest_single(f, q, of_y, my, left, excess, p_value + 3);
    *alike = look_alike(f + 2 * q);
    if (*alike && p_value[2] >= 0.0) p_value[2] = shuffled(f + 2 * q, of_y, my, (uint32_t)(2 * q));
    free(features);
    free(f);
    return statistic;
}

/* x with something that z has not, x that is z (turned), and x of which z determines a part. */
typedef enum kind { MORE, TURNED, PART } kind;

static void draw(kind what, double x[N * DX], double y[N * 2], double z[N * DZ])
{
    sn_random random = sn_random_from(31, SN_STREAM_TEST, (uint32_t)what);
    for (int64_t i = 0; i < N; i++) {
        double *xi = x + i * DX, *zi = z + i * DZ;
        for (int64_t j = 0; j < DZ; j++) zi[j] = sn_random_normal(&random);
        for (int64_t j = 0; j < DX; j++) xi[j] = sn_random_normal(&random) + (j < DZ ? zi[j] : 0.0);
        if (what == TURNED) {
            xi[0] = zi[0] + zi[1];
            xi[1] = zi[0] - 2.0 * zi[1];
            xi[2] = 4.0; /* constant */
        }
        if (what == PART) xi[0] = 2.0 * zi[0] - zi[1];
        y[i * 2] = zi[0] + 0.5 * xi[1] + sn_random_normal(&random);
        y[i * 2 + 1] = zi[1] + sn_random_normal(&random) > 0.0 ? 3.0 : -1.0; /* two values */
    }
}

static void check(kind what, bool alike_expected)
{
    SN_WORKSPACE(keep);
    enum { REPEATS = 2 };
    double x[N * DX], y[N * 2], z[N * DZ], *functions = NULL, p_value[8 * REPEATS], statistic = 0.0, of[5];
    stonet_independence_result got;
    int64_t my = 0, count = 0;
    draw(what, x, y, z);
    const stonet_sides sides = {.n = N, .dx = DX, .dy = 2, .dz = DZ, .x = x, .y = y, .z = z};
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    options.repeats = REPEATS;
    options.null_law = STONET_NULL_PERMUTATION;
    options.permutations = 200;
    const stonet_run run = {.size = sizeof run, .seed = SEED, .threads = 2};
    OK(sn_gcm_test(&sides, &options, &run, &got));
    sn_scores sx, sz;
    OK(sn_scores_create(N, DX, x, &keep, &sx));
    OK(sn_scores_create(N, DZ, z, &keep, &sz));
    OK(sn_response_functions(N, 2, y, &keep, &my, &functions));
    for (uint32_t r = 0; r < REPEATS; r++) {
        bool alike;
        statistic += once(&sx, &sz, my, functions, r, of, &alike) / REPEATS;
        assert_int_equal(alike, alike_expected);
        int64_t others = 0;
        const double all[] = {of[0], of[1], of[2], of[4]};
        for (int k = 0; k < 4; k++)
            if (all[k] >= 0.0) {
                p_value[count++] = all[k];
                others++;
            }
        for (int64_t k = 0; of[3] >= 0.0 && k < others; k++)
            p_value[count++] = of[3]; /* half of the weight */
    }
    assert_near(got.statistic, statistic, 1e-8);
    assert_near(got.p_value, sn_cauchy_combination(count, p_value), 1e-8);
}

TEST(test_definition)
{
    check(MORE, false);
    check(TURNED, true);
    check(PART, false);
}

/* Legendre polynomials of the ranks, an indicator for two values, 0 for one. */
TEST(test_response_functions)
{
    SN_WORKSPACE(keep);
    enum { ROWS = 6, MANY = 11 };
    const double y[ROWS * 3] = {3, 5, 0, 1, 5, 0, 2, 5, 1, 9, 5, 0, 2, 5, 1, 4, 5, 0};
    const double rank[ROWS] = {3, 0, 1.5, 5, 1.5, 4}; /* from 0, the mean among equals */
    double right[ROWS][7] = {0}, *values = NULL;
    int64_t columns = 0;
    for (int i = 0; i < ROWS; i++) {
        const double v = 2.0 * (rank[i] + 0.5) / ROWS - 1.0;
        right[i][0] = sqrt(3.0) * v;
        right[i][1] = sqrt(5.0) * (1.5 * v * v - 0.5);
        right[i][2] = sqrt(7.0) * (2.5 * v * v * v - 1.5 * v);
        right[i][6] = y[i * 3 + 2] == y[2] ? 2.0 : 0.0;
    }
    OK(sn_response_functions(ROWS, 3, y, &keep, &columns, &values));
    assert_int_equal(columns, 7);
    centre_columns(ROWS, 7, right[0]);
    for (int k = 0; k < ROWS * 7; k++) assert_near(values[k], right[k / 7][k % 7], 1e-8);
    double many[ROWS * MANY];
    for (int k = 0; k < ROWS * MANY; k++) many[k] = y[k / MANY * 3];
    OK(sn_response_functions(ROWS, MANY, many, &keep, &columns, &values));
    assert_int_equal(columns, 2 * MANY); /* the third is left out */
    OK(sn_response_functions(ROWS, MANY - 1, many, &keep, &columns, &values));
    assert_int_equal(columns, 3 * (MANY - 1));
}

/* More functions of y than rows. */
TEST(test_many_targets)
{
    enum { MANY = 40 };
    static double x[N], y[N * MANY], z[N];
    stonet_independence_result result;
    sn_random random = sn_random_from(33, SN_STREAM_TEST, 5);
    for (int i = 0; i < N; i++) {
        z[i] = sn_random_normal(&random);
        x[i] = sn_random_normal(&random);
        for (int j = 0; j < MANY; j++) y[i * MANY + j] = x[i] + sn_random_normal(&random);
    }
    const stonet_sides sides = {.n = N, .dx = 1, .dy = MANY, .dz = 1, .x = x, .y = y, .z = z};
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    options.null_law = STONET_NULL_GAMMA;
    const stonet_run run = {.size = sizeof run, .seed = SEED, .threads = 1};
    OK(sn_gcm_test(&sides, &options, &run, &result));
    assert_true(result.statistic > 0.0 && result.p_value < 0.01);
}

TEST(test_rows_needed)
{
    OK(sn_check_rows_for(70, 3));
    assert_int_equal(sn_check_rows_for(69, 3), STONET_ERROR_DATA);
}

RUN_TESTS(NULL, NULL)
