/* On models with a known central subspace each method finds what its theory says, better with more rows. */
#include "methods/test_support.h"

enum { P = 8, SEEDS = 2 };

/* How y follows the directions: the spread of the last, not its mean. */
typedef enum link { RATIONAL, SQUARE, BENT, TWO_SQUARES, SPREAD } link;
typedef struct model {
    int64_t dim;
    link link;
} model;

static double response(link of, double a, double b, double noise)
{
    const double y[] = {[RATIONAL] = a / (0.5 + (b + 1.5) * (b + 1.5)) + 0.1 * noise,
                        [SQUARE] = a * a + 0.1 * noise,
                        [BENT] = a + exp(0.5 * a) + 0.3 * noise,
                        [TWO_SQUARES] = a * a - 0.5 * b * b + 0.1 * noise,
                        [SPREAD] = exp(a) * noise};
    return y[of];
}

static const double truth[P * 2] = {1, 0, 1, 0,  0, 1, 0, 0,
                                    0, 0, 0, -1, 0, 0, 0, 0}; /* (e0 + e1), (e2 - e5) */

static sample model_sample(model of, int64_t n, uint64_t seed)
{
    sample data = sample_normal(n, P, 1, seed);
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 1);
    for (int64_t i = 0; i < n; i++) {
        const float *x = data.x + i * P;
        double a = (x[0] + x[1]) / sqrt(2.0), b = (x[2] - x[5]) / sqrt(2.0);
        data.y[i] = response(of.link, a, b, sn_random_normal(&random));
    }
    sample_scale_y(&data);
    return data;
}

static void truth_of(model of, double *b)
{
    for (int64_t j = 0; j < P; j++)
        for (int64_t k = 0; k < of.dim; k++) b[j * of.dim + k] = truth[j * 2 + k];
}

static double mean_distance(const char *method, const char *options, model of, int64_t n)
{
    double b[P * 2], sum = 0.0;
    truth_of(of, b);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        SN_FREED_BY(sample_free) sample data = model_sample(of, n, seed);
        sum += recovery(method, &data.problem, of.dim, options, b) / SEEDS;
    }
    return sum;
}

/* From n = 200 to n = 1800 a root-n rate makes the distance a third. */
static void assert_found(const char *method, const char *options, model of, double within)
{
    double few = mean_distance(method, options, of, 200), many = mean_distance(method, options, of, 1800);
    print_message("%s %s: distance %.3f at n = 200, %.3f at n = 1800\n", method, options, few, many);
    assert_true(many < within);
    assert_true(many < 0.7 * few);
}

static const model monotone = {1, BENT}, two = {2, RATIONAL}, symmetric = {1, SQUARE},
                   saddle = {2, TWO_SQUARES}, variance = {1, SPREAD};

TEST(every_method_finds_what_its_theory_says)
{
    static const struct {
        const char *method, *options;
        const model *of;
        double within;
    } cases[] = {
        {"sir", "", &monotone, 0.05},
        {"save", "slices=5", &monotone, 0.2},
        {"dr", "", &monotone, 0.05},
        {"lasso-sir", "", &monotone, 0.05},
        {"opg", "", &monotone, 0.05},
        {"mave", "", &monotone, 0.05},
        {"scr", "", &monotone, 0.1},
        {"sir", "", &two, 0.15},
        {"dr", "", &two, 0.15},
        {"lasso-sir", "", &two, 0.15},
        {"opg", "", &two, 0.15},
        {"mave", "", &two, 0.15},
        {"save", "", &symmetric, 0.1},
        {"dr", "", &symmetric, 0.1},
        {"phd", "", &symmetric, 0.15},
        {"opg", "", &symmetric, 0.05},
        {"mave", "", &symmetric, 0.05},
        {"scr", "share=0.05", &symmetric, 0.2},
        {"phd", "response=raw", &saddle, 0.2},
        {"save", "", &saddle, 0.2},
        {"mave", "", &saddle, 0.1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_found(cases[k].method, cases[k].options, *cases[k].of, cases[k].within);
    assert_true(mean_distance("sir", "", symmetric, 1800) > 0.5);
    assert_true(mean_distance("lasso-sir", "", symmetric, 1800) > 0.5);
}

/* The mean subspace is empty here; the central one is not. */
TEST(a_spread_is_seen_by_the_central_subspace_only)
{
    assert_true(mean_distance("opg", "subspace=central", variance, 1000) < 0.25);
    assert_true(mean_distance("mave", "subspace=central", variance, 1000) < 0.25);
    assert_true(mean_distance("cve", "restarts=3 rows=300 subspace=central", variance, 400) < 0.4);
    assert_true(mean_distance("opg", "", variance, 1000) > 0.4);
}

TEST(contours_and_conditional_variances)
{
    assert_true(mean_distance("scr", "", two, 1800) < 0.35);
    assert_true(mean_distance("cve", "restarts=2 rows=300", monotone, 400) < 0.15);
    assert_true(mean_distance("cve", "restarts=4 rows=300", symmetric, 400) < 0.15);
    assert_true(mean_distance("cve", "restarts=2 rows=300", two, 400) < 0.35);
}

TEST(classes)
{
    double b[P * 2], cut[1] = {0.3};
    truth_of(monotone, b);
    SN_FREED_BY(sample_free) sample data = model_sample(monotone, 1500, 9);
    sample_cut_y(&data, 2, cut);
    const char *methods[] = {"sir", "save", "dr", "phd", "lasso-sir", "opg", "mave", "scr", "cve"};
    double within[] = {0.15, 0.4, 0.15, 1.0, 0.15, 0.15, 0.15, 0.15, 0.25};
    for (int m = 0; m < 9; m++) {
        double distance = recovery(methods[m], &data.problem, 1, m == 8 ? "restarts=1 rows=400" : "", b);
        print_message("%s for two classes: %.3f\n", methods[m], distance);
        assert_true(distance <= within[m]);
    }
}

RUN_TESTS(NULL, NULL)
