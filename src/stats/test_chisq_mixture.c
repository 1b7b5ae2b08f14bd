/* Published values of the three approximations, and exact special cases. */
#include "math/noise.h"
#include "stats/chisq_mixture.h"
#include "stats/distributions.h"
#include "stats/test_textbook.h"

static double lpb4(int64_t count, const double *lambda, double t)
{
    double p_value = -1.0;
    OK(sn_mixture_lpb4(count, lambda, t, &p_value));
    return p_value;
}

TEST(test_golden)
{
    const double pairs[] = {1.5, 1.5, 0.5, 0.5};
    assert_near(1.0 - sn_mixture_sw(4, pairs, 10.203), 0.95008182, 1e-8);
    assert_near(1.0 - sn_mixture_hbe(4, pairs, 10.203), 0.94908243, 1e-8);
    assert_near(1.0 - lpb4(4, pairs, 10.203), 0.95000919, 1e-7);
    assert_near(1.0 - sn_mixture_sw(4, pairs, 0.627), 0.06570206, 1e-8);
    assert_near(1.0 - sn_mixture_hbe(4, pairs, 0.627), 0.02856998, 1e-8);
    assert_near(1.0 - lpb4(4, pairs, 0.627), 0.05001144, 1e-7);
    const double halves[] = {2, 1, 0.5, 0.25, 0.125};
    assert_near(1.0 - sn_mixture_sw(5, halves, 9.0), 0.92301487, 1e-8);
    assert_near(1.0 - sn_mixture_hbe(5, halves, 9.0), 0.92375444, 1e-8);
    assert_near(1.0 - lpb4(5, halves, 9.0), 0.92671150, 1e-7);
}

/* Equal coefficients make Q a scaled chi-square: all three are exact there, also when only nearly equal. */
TEST(test_equal_coefficients)
{
    const double nudge[] = {0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-5};
    for (size_t e = 0; e < sizeof nudge / sizeof nudge[0]; e++) {
        for (int64_t count = 1; count <= 25; count += 4) {
            double lambda[25];
            for (int64_t k = 0; k < count; k++) lambda[k] = 0.3 * (1.0 + nudge[e] * (double)(k % 3));
            double t = 0.3 * (double)count * 1.3;
            double exact = sn_chisq_upper((double)count, t / 0.3);
            assert_near(sn_mixture_sw(count, lambda, t), exact, 2e-5);
            assert_near(sn_mixture_hbe(count, lambda, t), exact, 2e-5);
            assert_near(lpb4(count, lambda, t), exact, 2e-5);
            if (nudge[e] < 1e-10) assert_near(lpb4(count, lambda, t), exact, 1e-9);
        }
    }
}

TEST(test_few_or_odd_coefficients)
{
    const double three[] = {3, 1, 0.2};
    assert_true(lpb4(3, three, 5.0) == sn_mixture_hbe(3, three, 5.0));
    const double padded[] = {0.0, 2, 1, -1e-17, 0.5, 0.25, 0.125, 0.0};
    const double plain[] = {2, 1, 0.5, 0.25, 0.125};
    assert_near(lpb4(8, padded, 4.0), lpb4(5, plain, 4.0), 1e-13);
    const double none[] = {0.0, -1.0};
    assert_true(lpb4(2, none, 0.0) == 1.0 && sn_mixture_sw(0, none, 0.0) == 1.0);
    assert_true(lpb4(5, plain, 0.0) == 1.0 && sn_mixture_hbe(5, plain, 0.0) == 1.0);
    /* a wide spread: 20 orders of magnitude */
    double wide[21];
    for (int k = 0; k < 21; k++) wide[k] = pow(10.0, -k);
    double p = lpb4(21, wide, 3.0);
    assert_true(p > 0.0 && p < 1.0);
    /* the unit of lambda does not matter */
    for (int k = 0; k < 21; k++) wide[k] *= 1e-200;
    assert_near(lpb4(21, wide, 3e-200), p, 1e-12);
}

/* A tail of many random sets of coefficients: a probability, falling in t, close to HBE in the middle. */
TEST(test_random_coefficients)
{
    sn_random random = sn_random_from(11, SN_STREAM_TEST, 0);
    for (int trial = 0; trial < 500; trial++) {
        double lambda[30];
        int64_t count = 1 + (int64_t)sn_random_below(&random, 30);
        double mean = 0.0;
        for (int64_t k = 0; k < count; k++) {
            lambda[k] = exp(3.0 * sn_random_normal(&random));
            mean += lambda[k];
        }
        double last = 1.0;
        for (int step = 0; step < 13; step++) {
            double p = lpb4(count, lambda, 0.05 * pow(1.5, step) * mean);
            assert_true(p >= 0.0 && p <= last + 1e-12);
            last = p;
        }
        assert_near(lpb4(count, lambda, 2.0 * mean), sn_mixture_hbe(count, lambda, 2.0 * mean), 0.02);
    }
}

RUN_TESTS(NULL, NULL)
