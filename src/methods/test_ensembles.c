/* benn and gmddnet: they see the spread that the mean does not show, classes, their settings, odd data. */
#include "methods/test_support.h"
#include "net/network.h"

enum { P = 4 };

static const char *const small_benn = "hidden=20 units=60 transforms=30 epochs=300 rate=0.005";
static const char *const small_gmddnet = "hidden=24,16 epochs=60 rate=0.003";

/* y = x1 e: x1 says nothing about the mean of y and all about its spread. */
static sample spread(int64_t n)
{
    sample data = sample_normal(n, P, 1, 5);
    sn_random random = sn_random_from(6, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < n; i++) data.y[i] = (double)data.x[i * P] * sn_random_normal(&random);
    sample_scale_y(&data);
    return data;
}

/* y = x1 + a little, cut into classes. */
static sample classes(int64_t n, int count)
{
    sample data = sample_normal(n, P, 1, 7);
    const double cut[] = {-0.5, 0.5};
    for (int64_t i = 0; i < n; i++) data.y[i] = (double)data.x[i * P] + 0.3 * (double)data.x[i * P + 1];
    sample_cut_y(&data, count, cut);
    return data;
}

/* Z of the fit (n x dim, to be freed). */
static float *z_of(const char *name, const sn_problem *problem, int64_t dim, const char *options)
{
    const sn_method *method = sn_method_find(name);
    sn_fit_result result;
    OK(fit_with(name, problem, dim, options, NULL, &result));
    assert_int_equal(result.dim, dim);
    assert_int_equal(result.outcome, STONET_DONE);
    float *z = test_zeros(problem->n * dim, sizeof *z);
    OK(method->transform(result.state, problem->x, problem->n, NULL, z));
    assert_non_null(strstr(method->history(result.state), name));
    method->free(result.state);
    return z;
}

TEST(the_spread_of_the_response_is_seen)
{
    SN_FREED_BY(sample_free) sample data = spread(1500);
    SN_BLOCK double *size = sn_malloc(1500, sizeof *size);
    for (int64_t i = 0; i < 1500; i++) size[i] = fabs((double)data.x[i * P]);
    SN_BLOCK float *benn = z_of("benn", &data.problem, 1, small_benn);
    /* a distance that does not grow: |y - y'| is mostly noise here */
    char options[128];
    snprintf(options, sizeof options, "%s distance=gaussian", small_gmddnet);
    SN_BLOCK float *gmddnet = z_of("gmddnet", &data.problem, 1, options);
    const double by_benn = fabs(correlation(1500, benn, 1, size)),
                 by_gmddnet = fabs(correlation(1500, gmddnet, 1, size));
    if (!(by_benn > 0.8)) fail_msg("benn: correlation with the spread %.3f", by_benn);
    if (!(by_gmddnet > 0.6)) fail_msg("gmddnet: correlation with the spread %.3f", by_gmddnet);
    /* the first power alone is the mean, which has nothing to show */
    SN_BLOCK float *mean = z_of("benn", &data.problem, 1,
                                "hidden=20 units=60 ensemble=powers transforms=1 epochs=30 rate=0.005");
    assert_true(fabs(correlation(1500, mean, 1, size)) < by_benn - 0.2);
}

/* The distance of the one direction of a network without hidden layers to another (P). */
static double distance_of_linear(const char *name, const sn_problem *problem, const char *options,
                                 const double *other)
{
    sn_fit_result result;
    OK(fit_with(name, problem, 1, options, NULL, &result));
    const sn_network *net = result.state;
    double b[P], distance;
    for (int j = 0; j < P; j++) b[j] = (double)net->theta[j];
    assert_int_equal(net->shape.layers, 1);
    OK(sn_subspace_distance(P, 1, b, other, &distance));
    sn_method_find(name)->free(result.state);
    return distance;
}

/* With rho = 1{y != y'} and a linear f the divergence is the between-class variance, and its optimum the
   direction of sir. */
TEST(gmddnet_without_hidden_layers_is_sir_for_classes)
{
    SN_FREED_BY(sample_free) sample data = classes(2000, 3);
    SN_AUTO(sn_linear_map) *sir = fit_map("sir", &data.problem, 1, "");
    assert_true(distance_of_linear("gmddnet", &data.problem,
                                   "hidden=none penalty=1 epochs=100 batch=500 rate=0.01",
                                   sir->direction) < 0.03);
}

TEST(directions_of_gmddnet_are_not_the_same)
{
    SN_FREED_BY(sample_free) sample data = classes(600, 3);
    SN_BLOCK float *z = z_of("gmddnet", &data.problem, 2, small_gmddnet);
    double first[600];
    for (int i = 0; i < 600; i++) first[i] = (double)z[2 * i];
    assert_true(fabs(correlation(600, z + 1, 2, first)) < 0.5);
}

TEST(benn_reduces_classes_and_by_a_linear_map)
{
    SN_FREED_BY(sample_free) sample data = classes(600, 2);
    const double truth[P] = {1, 0.3, 0, 0};
    assert_true(
        distance_of_linear("benn", &data.problem, "hidden=none units=60 epochs=300 rate=0.005", truth) < 0.1);
}

TEST(what_cannot_be_fitted_is_said)
{
    SN_FREED_BY(sample_free) sample data = sample_normal(3, P, 1, 9);
    sn_fit_result result;
    assert_int_equal(fit_with("gmddnet", &data.problem, 1, small_gmddnet, NULL, &result), STONET_ERROR_DATA);
    assert_int_equal(fit_with("benn", &data.problem, 1, "ensemble=powers", NULL, &result),
                     STONET_ERROR_DATA); /* y is 0 throughout */
    assert_int_equal(fit_with("benn", &data.problem, 1, "ensemble=powers transforms=11", NULL, &result),
                     STONET_ERROR_ARGUMENT);
    data.problem.n = 0;
    assert_int_equal(fit_with("benn", &data.problem, 1, small_benn, NULL, &result), STONET_ERROR_DATA);
}

RUN_TESTS(NULL, NULL)
