#include "base/test_kit.h"
#include "math/exponential.h"

TEST(test_agrees_with_the_library)
{
    enum { COUNT = 4001 }; /* not a multiple of any vector's length */
    static double x[COUNT];
    for (int scale = -6; scale <= 2; scale++) {
        double largest = 7.0 * pow(10.0, scale);
        for (int i = 0; i < COUNT; i++) x[i] = -largest * i / (COUNT - 1);
        sn_exp_nonpositive(COUNT, x);
        for (int i = 0; i < COUNT; i++) {
            double expected = exp(-largest * i / (COUNT - 1));
            assert_true(fabs(x[i] - expected) <= 2.0 * DBL_EPSILON * expected);
        }
    }
}

TEST(test_ends)
{
    double x[] = {0.0, -0.0, 1e-30, 5.0, INFINITY, -708.5, -1e6, -INFINITY, NAN};
    sn_exp_nonpositive(sizeof x / sizeof *x, x);
    for (int i = 0; i < 5; i++) assert_true(x[i] == 1.0);
    for (int i = 5; i < 8; i++) assert_true(x[i] >= 0.0 && x[i] < 1e-307);
    assert_true(isnan(x[8]));
    sn_exp_nonpositive(0, NULL);
}

RUN_TESTS(NULL, NULL)
