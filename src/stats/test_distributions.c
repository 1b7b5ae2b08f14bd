/* Golden values: golden/make_stats_golden.py. */
#include "base/test_kit.h"
#include "stats/distributions.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Upper tails at these shapes and multiples of them. */
static const double shapes[] = {0.05, 0.5, 1.0, 3.7, 25.0, 400.0, 1e4, 1e6};
static const double multiples[] = {1e-3, 0.3, 0.97, 1.0, 1.03, 2.5, 8.0};
static const double gamma_golden[][COUNT(multiples)] = {
    {0.3739491530677771, 0.16793439214214512, 0.11903753067923455, 0.11775643611433192, 0.11651321159171692,
     0.079559338450641018, 0.035717549852011601},
    {0.97477287936996038, 0.58388242077036501, 0.3246801788984216, 0.31731050786291115, 0.31015866767042299,
     0.11384629800665763, 0.0046777349810472758},
    {0.99900049983337502, 0.74081822068171799, 0.37908303810339888, 0.36787944117144245, 0.35700696056914755,
     0.0820849986238988, 0.00033546262790251191},
    {0.99999999993503552, 0.95943409210130404, 0.45366858110662689, 0.43082706475280486, 0.4086602132131264,
     0.012627611383758224, 3.445136410952026e-10},
    {1, 0.99999962502107498, 0.53372210396826025, 0.47339846855634937, 0.4148482032016142,
     2.3386279340359406e-08, 4.2491598410243067e-56},
    {1, 1, 0.7222026812635709, 0.49335087016109452, 0.27068941737581315, 5.2700239211269982e-104, 0},
    {1, 1, 0.99876582441553141, 0.49867019166004478, 0.0014704948963856813, 0, 0},
    {1, 1, 1, 0.49986701923912741, 3.2624301448769913e-194, 0, 0},
};

/* df, x, upper */
static const double chisq_golden[][3] = {
    {1.0, 3.841, 0.050013683763956804},
    {25.0, 25.0, 0.46237366292661375},
    {25.0, 80.0, 1.1410611727198733e-07},
    {0.7, 2.0, 0.10153176936195055},
};

/* df, t, two-sided */
static const double t_golden[][3] = {
    {1.0, 1e-08, 0.99999999363380221},     {1.0, 0.5, 0.70483276469913358},
    {1.0, 2.2, 0.27159949756018364},       {1.0, 12.0, 0.052929352119179741},
    {2.0, 1e-08, 0.99999999292893227},     {2.0, 0.5, 0.66666666666666674},
    {2.0, 2.2, 0.15880897580794015},       {2.0, 12.0, 0.0068729336771584599},
    {4.0, 1e-08, 0.99999999250000005},     {4.0, 0.5, 0.64332996318186331},
    {4.0, 2.2, 0.092652670179634591},      {4.0, 12.0, 0.00027642854850297303},
    {9.0, 1e-08, 0.9999999922393018},      {9.0, 0.5, 0.62907129982602639},
    {9.0, 2.2, 0.055340572798611598},      {9.0, 12.0, 7.6998862229856446e-07},
    {30.0, 1e-08, 0.99999999208735635},    {30.0, 0.5, 0.62072300488512733},
    {30.0, 2.2, 0.035648439996835778},     {30.0, 12.0, 5.5801854151992606e-13},
    {100000.0, 1e-08, 0.9999999920211744}, {100000.0, 0.5, 0.61707617765441802},
    {100000.0, 2.2, 0.027809173939060759}, {100000.0, 12.0, 3.7445058119564235e-33},
};

/* x, lower */
static const double normal_golden[][2] = {
    {-30.0, 4.906713927147908e-198}, {-8.0, 6.2209605742717405e-16},
    {-1.96, 0.024997895148220435},   {0.0, 0.5},
    {0.7, 0.75803634777692697},      {5.0, 0.99999971334842808},
};

/* Absolute 1e-12 always; relative 1e-9 in the tails (scipy's own error at shape 1e6 included). */
static void assert_probability(double got, double expected)
{
    assert_true(fabs(got - expected) <= 1e-12);
    if (expected > 1e-250) assert_true(fabs(got - expected) <= 1e-9 * expected);
}

TEST(test_gamma)
{
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t k = 0; k < COUNT(multiples); k++)
            assert_probability(sn_gamma_upper(shapes[i], shapes[i] * multiples[k]), gamma_golden[i][k]);
    for (size_t i = 0; i < COUNT(chisq_golden); i++) {
        const double *row = chisq_golden[i];
        assert_probability(sn_chisq_upper(row[0], row[1]), row[2]);
    }
}

TEST(test_t)
{
    for (size_t i = 0; i < COUNT(t_golden); i++) {
        const double *row = t_golden[i];
        assert_probability(sn_t_two_sided(row[0], row[1]), row[2]);
        assert_probability(sn_t_two_sided(row[0], -row[1]), row[2]);
    }
}

/* Closed forms for 1 and 2 degrees of freedom: tiny tails keep their digits. */
TEST(test_tails_of_t)
{
    for (double t = 1e-3; t < 1e60; t *= 7.0) {
        const double one = 2.0 / M_PI * atan(1.0 / t), root = sqrt(2.0 + t * t);
        const double two = 2.0 / (root * (root + t));
        assert_true(fabs(sn_t_two_sided(1.0, t) / one - 1.0) < 1e-11);
        assert_true(fabs(sn_t_two_sided(2.0, t) / two - 1.0) < 1e-11);
    }
}

TEST(test_normal)
{
    for (size_t i = 0; i < COUNT(normal_golden); i++)
        assert_probability(sn_normal_lower(normal_golden[i][0]), normal_golden[i][1]);
}

TEST(test_quantiles)
{
    const double p[] = {1e-300, 1e-12, 0.01, 0.3, 0.5, 0.9, 1.0 - 1e-10};
    for (size_t k = 0; k < sizeof p / sizeof *p; k++)
        assert_true(fabs(sn_normal_lower(sn_normal_quantile(p[k])) / p[k] - 1.0) < 1e-11);
    assert_true(fabs(sn_normal_quantile(0.975) - 1.959963984540054) < 1e-13);
    assert_true(sn_normal_quantile(0.0) == -INFINITY && sn_normal_quantile(1.0) == INFINITY);
    assert_true(isnan(sn_normal_quantile(-0.1)));
    /* One degree of freedom is the tangent, two have t = (2p - 1) / sqrt(2p (1 - p)). */
    assert_true(fabs(sn_t_quantile(1.0, 0.9) - tan(0.4 * acos(-1.0))) < 1e-12);
    assert_true(fabs(sn_t_quantile(2.0, 0.975) - 0.95 / sqrt(2.0 * 0.975 * 0.025)) < 1e-11);
    assert_true(fabs(sn_t_quantile(4.0, 0.025) + 2.776445105197793) < 1e-11);
    assert_true(fabs(sn_t_quantile(1e9, 0.975) - sn_normal_quantile(0.975)) < 1e-7);
    assert_true(fabs(sn_t_quantile(3.0, 0.5)) < 1e-12);
}

TEST(test_edges)
{
    assert_true(sn_gamma_upper(2.0, -1.0) == 1.0);
    assert_true(sn_gamma_upper(2.0, 0.0) == 1.0);
    assert_true(sn_gamma_upper(2.0, INFINITY) == 0.0);
    assert_true(isnan(sn_gamma_upper(2.0, NAN)) && isnan(sn_chisq_upper(NAN, 1.0)));
    assert_true(sn_t_two_sided(5.0, 0.0) == 1.0 && sn_t_two_sided(5.0, INFINITY) == 0.0);
    assert_true(sn_t_two_sided(5.0, 1e200) == 0.0); /* whose square is not finite */
}

RUN_TESTS(NULL, NULL)
