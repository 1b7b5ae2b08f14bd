/* The statistic of the random-feature tests and its laws, written out for a few numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "math/noise.h"
#include "stats/covariance_test.h"
#include "stats/distributions.h"

enum { N = 40, PERMUTATIONS = 199, SEED = 5, SUBSTREAM = 1000 };

/* Two columns with mean 0, weakly related. */
static void draw(double *e)
{
    sn_random random;
    sn_random_init(&random, 4, SN_STREAM_TEST, 0);
    double mean[2] = {0};
    for (int i = 0; i < N; i++) {
        e[2 * i] = sn_random_normal(&random);
        e[2 * i + 1] = 0.15 * e[2 * i] + sn_random_normal(&random);
    }
    for (int i = 0; i < 2 * N; i++) mean[i % 2] += e[i] / N;
    for (int i = 0; i < 2 * N; i++) e[i] -= mean[i % 2];
}

static double p_value(const double *e, double used, stonet_null_law law, double *statistic)
{
    const sn_residuals residuals = {.n = N, .mx = 1, .my = 1, .e = e, .used = used};
    double p;
    assert_int_equal(sn_covariance_test(&residuals, law, PERMUTATIONS, SEED, SUBSTREAM, 1, statistic, &p),
                     STONET_OK);
    return p;
}

/* T = n c^2 for one feature a side; lambda, the one eigenvalue, is the mean of (e_x e_y)^2 times
   n^3 / ((n - 1)^2 (n - 1 - used)), and T / lambda a chi-square with one degree of freedom under every law.
 */
static void one_feature_a_side(void **state)
{
    (void)state;
    double e[2 * N], c = 0.0, mean_square = 0.0;
    draw(e);
    for (int i = 0; i < N; i++) c += e[2 * i] * e[2 * i + 1] / (N - 1);
    for (int i = 0; i < N; i++) mean_square += pow(e[2 * i] * e[2 * i + 1], 2) / N;
    const stonet_null_law laws[] = {STONET_NULL_LPB4, STONET_NULL_HBE, STONET_NULL_GAMMA, STONET_NULL_CHI2};
    for (double used = 0.0; used < 25.0; used += 8.0) {
        double lambda = mean_square * pow(N, 3) / (pow(N - 1, 2) * (N - 1 - used));
        double expected = sn_chisq_upper(1.0, N * c * c / lambda);
        for (int l = 0; l < 4; l++) {
            double statistic, p = p_value(e, used, laws[l], &statistic);
            assert_true(fabs(statistic - N * c * c) < 1e-12);
            if (!(fabs(p - expected) < 1e-6)) fail_msg("law %d: %.9g, not %.9g", l, p, expected);
        }
    }
}

/* The share of permuted statistics, times (n - 1) / (n - 1 - used), that reach T. */
static void permutations(void **state)
{
    (void)state;
    double e[2 * N], c = 0.0, last = 0.0;
    draw(e);
    for (int i = 0; i < N; i++) c += e[2 * i] * e[2 * i + 1];
    for (double used = 0.0; used < 25.0; used += 8.0) {
        int above = 0;
        for (uint32_t b = 0; b < PERMUTATIONS; b++) {
            sn_random random;
            int64_t order[N];
            double permuted = 0.0;
            sn_random_init(&random, SEED, SN_STREAM_PERMUTE, SUBSTREAM + b);
            sn_random_permutation(&random, N, order);
            for (int i = 0; i < N; i++) permuted += e[2 * order[i]] * e[2 * i + 1];
            above += permuted * permuted * (N - 1) / (N - 1 - used) >= c * c;
        }
        double statistic, p = p_value(e, used, STONET_NULL_PERMUTATION, &statistic);
        assert_true(fabs(p - (above + 1.0) / (PERMUTATIONS + 1.0)) < 1e-12);
        assert_true(p > last); /* the fewer degrees of freedom are left, the less a covariance says */
        last = p;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_feature_a_side),
        cmocka_unit_test(permutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
