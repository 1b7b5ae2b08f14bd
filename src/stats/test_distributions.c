/* Golden values: golden/make_stats_golden.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "stats/distributions.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* shape, x, lower, upper */
static const double gamma_golden[][4] = {
    {0.05, 5e-05, 0.6260508469322229, 0.3739491530677771},
    {0.05, 0.015, 0.83206560785785455, 0.16793439214214512},
    {0.05, 0.0485, 0.88096246932076527, 0.11903753067923455},
    {0.05, 0.05, 0.88224356388566816, 0.11775643611433192},
    {0.05, 0.051500000000000004, 0.88348678840828321, 0.11651321159171692},
    {0.05, 0.125, 0.92044066154935877, 0.079559338450641018},
    {0.05, 0.4, 0.96428245014798819, 0.035717549852011601},
    {0.5, 0.0005, 0.025227120630039609, 0.97477287936996038},
    {0.5, 0.15, 0.41611757922963499, 0.58388242077036501},
    {0.5, 0.485, 0.6753198211015754, 0.3246801788984216},
    {0.5, 0.5, 0.68268949213708585, 0.31731050786291115},
    {0.5, 0.515, 0.68984133232957401, 0.31015866767042299},
    {0.5, 1.25, 0.88615370199334231, 0.11384629800665763},
    {0.5, 4.0, 0.99532226501895271, 0.0046777349810472758},
    {1.0, 0.001, 0.00099950016662500823, 0.99900049983337502},
    {1.0, 0.3, 0.25918177931828207, 0.74081822068171799},
    {1.0, 0.97, 0.62091696189660106, 0.37908303810339888},
    {1.0, 1.0, 0.63212055882855767, 0.36787944117144245},
    {1.0, 1.03, 0.64299303943085251, 0.35700696056914755},
    {1.0, 2.5, 0.91791500137610116, 0.0820849986238988},
    {1.0, 8.0, 0.99966453737209748, 0.00033546262790251191},
    {3.7, 0.0037, 6.4964457023369257e-11, 0.99999999993503552},
    {3.7, 1.11, 0.040565907898695942, 0.95943409210130404},
    {3.7, 3.589, 0.54633141889337311, 0.45366858110662689},
    {3.7, 3.7, 0.56917293524719592, 0.43082706475280486},
    {3.7, 3.8110000000000004, 0.5913397867868736, 0.4086602132131264},
    {3.7, 9.25, 0.98737238861624177, 0.012627611383758224},
    {3.7, 29.6, 0.99999999965548636, 3.445136410952026e-10},
    {25.0, 0.025, 5.5900404792551548e-66, 1},
    {25.0, 7.5, 3.7497892503813936e-07, 0.99999962502107498},
    {25.0, 24.25, 0.46627789603173964, 0.53372210396826025},
    {25.0, 25.0, 0.52660153144365063, 0.47339846855634937},
    {25.0, 25.75, 0.58515179679838591, 0.4148482032016142},
    {25.0, 62.5, 0.99999997661372064, 2.3386279340359406e-08},
    {25.0, 200.0, 1, 4.2491598410243067e-56},
    {400.0, 0.4, 0, 1},
    {400.0, 120.0, 8.0350483571322564e-90, 1},
    {400.0, 388.0, 0.27779731873642904, 0.7222026812635709},
    {400.0, 400.0, 0.50664912983890542, 0.49335087016109452},
    {400.0, 412.0, 0.7293105826241868, 0.27068941737581315},
    {400.0, 1000.0, 1, 5.2700239211269982e-104},
    {400.0, 3200.0, 1, 0},
    {10000.0, 10.0, 0, 1},
    {10000.0, 3000.0, 0, 1},
    {10000.0, 9700.0, 0.0012341755844684902, 0.99876582441553141},
    {10000.0, 10000.0, 0.50132980833995522, 0.49867019166004478},
    {10000.0, 10300.0, 0.99852950510361427, 0.0014704948963856813},
    {10000.0, 25000.0, 1, 0},
    {10000.0, 80000.0, 1, 0},
    {1000000.0, 1000.0, 0, 1},
    {1000000.0, 300000.0, 0, 1},
    {1000000.0, 970000.0, 4.9209087785909066e-202, 1},
    {1000000.0, 1000000.0, 0.50013298076087254, 0.49986701923912741},
    {1000000.0, 1030000.0, 1, 3.2624301448769913e-194},
    {1000000.0, 2500000.0, 1, 0},
    {1000000.0, 8000000.0, 1, 0},
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

static void test_gamma(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(gamma_golden); i++) {
        const double *row = gamma_golden[i];
        assert_probability(sn_gamma_upper(row[0], row[1]), row[3]);
    }
    for (size_t i = 0; i < COUNT(chisq_golden); i++) {
        const double *row = chisq_golden[i];
        assert_probability(sn_chisq_upper(row[0], row[1]), row[2]);
    }
}

static void test_t(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(t_golden); i++) {
        const double *row = t_golden[i];
        assert_probability(sn_t_two_sided(row[0], row[1]), row[2]);
        assert_probability(sn_t_two_sided(row[0], -row[1]), row[2]);
        assert_probability(sn_t_lower(row[0], row[1]), 1.0 - 0.5 * row[2]);
        assert_probability(sn_t_lower(row[0], -row[1]), 0.5 * row[2]);
    }
}

/* Closed forms for 1 and 2 degrees of freedom: tiny tails keep their digits. */
static void test_tails_of_t(void **state)
{
    (void)state;
    for (double t = 1e-3; t < 1e60; t *= 7.0) {
        const double one = 2.0 / M_PI * atan(1.0 / t), root = sqrt(2.0 + t * t);
        const double two = 2.0 / (root * (root + t));
        assert_true(fabs(sn_t_two_sided(1.0, t) / one - 1.0) < 1e-11);
        assert_true(fabs(sn_t_two_sided(2.0, t) / two - 1.0) < 1e-11);
    }
}

static void test_normal(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(normal_golden); i++) {
        assert_probability(sn_normal_lower(normal_golden[i][0]), normal_golden[i][1]);
    }
}

static void test_quantiles(void **state)
{
    (void)state;
    const double p[] = {1e-300, 1e-12, 0.01, 0.3, 0.5, 0.9, 1.0 - 1e-10};
    for (size_t k = 0; k < sizeof p / sizeof *p; k++)
        assert_true(fabs(sn_normal_lower(sn_normal_quantile(p[k])) / p[k] - 1.0) < 1e-11);
    assert_true(fabs(sn_normal_quantile(0.975) - 1.959963984540054) < 1e-13);
    assert_true(sn_normal_quantile(0.0) == -INFINITY && sn_normal_quantile(1.0) == INFINITY);
    assert_true(isnan(sn_normal_quantile(-0.1)));
}

static void test_edges(void **state)
{
    (void)state;
    assert_true(sn_gamma_upper(2.0, -1.0) == 1.0);
    assert_true(sn_gamma_upper(2.0, 0.0) == 1.0);
    assert_true(sn_gamma_upper(2.0, INFINITY) == 0.0);
    assert_true(isnan(sn_gamma_upper(2.0, NAN)) && isnan(sn_chisq_upper(NAN, 1.0)));
    assert_true(sn_t_two_sided(5.0, 0.0) == 1.0 && sn_t_two_sided(5.0, INFINITY) == 0.0);
    assert_true(sn_t_two_sided(5.0, 1e200) == 0.0 &&
                sn_t_lower(5.0, -1e200) == 0.0); /* whose square is not finite */
    assert_true(sn_t_lower(5.0, 0.0) == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gamma),  cmocka_unit_test(test_t),         cmocka_unit_test(test_tails_of_t),
        cmocka_unit_test(test_normal), cmocka_unit_test(test_quantiles), cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
