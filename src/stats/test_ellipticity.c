/* Laws that are elliptical are not called otherwise, and those that are not are. */
#include "base/test_kit.h"
#include "math/noise.h"
#include "stats/ellipticity.h"

enum { N = 300, P = 6, SETS = 200 };

typedef enum law { NORMAL, CORRELATED, STUDENT, EXPONENTIAL, UNIFORM } law;

static double p_value_of(law of, uint32_t set)
{
    static double x[N * P];
    double p_value = 0.0;
    sn_random random = sn_random_from(77, SN_STREAM_TEST, set);
    for (int64_t i = 0; i < N; i++) {
        double chi = 0.0;
        for (int k = 0; k < 4; k++) chi += pow(sn_random_normal(&random), 2) / 4.0;
        for (int64_t j = 0; j < P; j++) {
            const double z = sn_random_normal(&random);
            double *at = &x[i * P + j];
            *at = z;
            if (of == CORRELATED && j > 0) *at = 0.9 * at[-1] + 0.4 * z;
            if (of == STUDENT) *at = z / sqrt(chi);
            if (of == EXPONENTIAL) *at = -log(0.5 * erfc(z / sqrt(2.0)));
            if (of == UNIFORM) *at = 0.5 * erfc(z / sqrt(2.0));
        }
    }
    OK(sn_ellipticity(N, P, x, &p_value));
    return p_value;
}

/* Shares below .05: of 200 sets .0965 is three standard errors above .05. */
static double rejected(law of)
{
    int count = 0;
    for (uint32_t set = 0; set < SETS; set++) count += p_value_of(of, set) < 0.05;
    return (double)count / SETS;
}

TEST(elliptical_laws_pass)
{
    assert_true(rejected(NORMAL) < 0.0965);
    assert_true(rejected(CORRELATED) < 0.0965);
    assert_true(rejected(STUDENT) < 0.0965);
}

TEST(other_laws_are_seen)
{
    assert_true(rejected(EXPONENTIAL) > 0.95);
    assert_true(rejected(UNIFORM) > 0.95);
}

/* A column that is another one, a single column and few rows have nothing to say. */
TEST(what_cannot_be_told)
{
    static double x[N * 2];
    double p_value = 0.0;
    for (int64_t i = 0; i < N; i++) x[2 * i] = x[2 * i + 1] = (double)(i % 17);
    OK(sn_ellipticity(N, 2, x, &p_value));
    assert_true(p_value == 1.0);
    OK(sn_ellipticity(N, 1, x, &p_value));
    assert_true(p_value == 1.0);
    OK(sn_ellipticity(19, 2, x, &p_value));
    assert_true(p_value == 1.0);
}

RUN_TESTS(NULL, NULL)
