/* The response as the network sees it: whitened functions of ranks, and the way back to E(Y|x). */
#include "base/memory.h"
#include "base/test_kit.h"
#include "math/noise.h"
#include "stonet/config.h"
#include "stonet/fitted.h"

enum { N = 1000 };

/* y (N x targets): normals, to the third power so that tails are long; the last a copy of the first with
   little noise, when there are two. */
static void fill(double *y, int64_t targets)
{
    sn_random random;
    sn_random_init(&random, 3, SN_STREAM_TEST, 7);
    for (int64_t i = 0; i < N; i++) {
        const double e = sn_random_normal(&random);
        y[i * targets] = e * e * e;
        if (targets > 1) y[i * targets + 1] = e + 1e-4 * sn_random_normal(&random);
    }
}

static sn_problem problem_of(const double *y, int64_t targets)
{
    return (sn_problem){.n = N, .p = 1, .task = SN_REGRESSION, .outputs = targets, .y = y};
}

static void assert_white(const sn_response *response, const double *y)
{
    const int64_t m = response->outputs;
    SN_BLOCK double *g = NULL;
    OK(SN_NEW(g, N * m));
    OK(sn_response_encode(response, N, y, g));
    for (int64_t a = 0; a < m; a++) {
        double mean = 0.0;
        for (int64_t i = 0; i < N; i++) mean += g[i * m + a] / N;
        assert_true(fabs(mean) < 1e-9);
        for (int64_t b = 0; b <= a; b++) {
            double sum = 0.0;
            for (int64_t i = 0; i < N; i++) sum += g[i * m + a] * g[i * m + b] / N;
            assert_true(fabs(sum - (a == b ? 1.0 : 0.0)) < 1e-6);
        }
    }
}

TEST(one_target_has_four_white_functions)
{
    double y[N];
    fill(y, 1);
    const sn_problem problem = problem_of(y, 1);
    SN_FREED_BY(sn_response_free) sn_response response = {0};
    OK(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &response));
    assert_int_equal(response.outputs, 4);
    assert_white(&response, y);
    /* The first goes up with y, the second is smallest in the middle; both end where the data do. */
    double at[] = {-1e6, -1.0, 0.0, 1.0, 1e6}, g[5 * 4];
    OK(sn_response_encode(&response, 5, at, g));
    for (int64_t k = 0; k < 4; k++) assert_true(g[k * 4] < g[(k + 1) * 4]);
    assert_true(g[9] < g[5] && g[9] < g[13]);
    assert_true(fabs(g[0] + sqrt(3.0)) < 0.05 && fabs(g[16] - sqrt(3.0)) < 0.05);
}

/* What a second target repeats of the first is not counted again. */
TEST(copies_add_nothing)
{
    double y[2 * N];
    fill(y, 2);
    const sn_problem problem = problem_of(y, 2);
    SN_FREED_BY(sn_response_free) sn_response response = {0};
    OK(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &response));
    assert_true(response.outputs >= 4 && response.outputs <= 5);
    assert_white(&response, y);
}

TEST(ties_are_ranked_in_their_middle)
{
    double y[N];
    for (int64_t i = 0; i < N; i++) y[i] = (double)(i % 3);
    const sn_problem problem = problem_of(y, 1);
    SN_FREED_BY(sn_response_free) sn_response response = {0};
    OK(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &response));
    assert_int_equal(response.outputs, 2); /* three values have two functions beside the constant */
    assert_white(&response, y);
}

TEST(what_has_no_law_to_see_is_refused)
{
    double y[N];
    const int32_t label[N] = {0};
    SN_FREED_BY(sn_response_free) sn_response response = {0};
    sn_problem problem = problem_of(y, 1);
    const sn_response_kind kinds[] = {SN_RESPONSE_ENSEMBLE, SN_RESPONSE_LOCATION_SCALE};
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < N; i++) y[i] = 0.0;
        assert_says(sn_response_learn(kinds[k], &problem, &response), STONET_ERROR_DATA, "constant");
        sn_response_free(&response);
        for (int64_t i = 0; i < N; i++) y[i] = i % 5 == 0 ? 1.0 : -0.2;
        assert_says(sn_response_learn(kinds[k], &problem, &response), STONET_ERROR_DATA, "two values");
        sn_response_free(&response);
    }
    problem = (sn_problem){.n = N, .p = 1, .task = SN_CLASSIFICATION, .outputs = 2, .label = label};
    assert_says(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &response), STONET_ERROR_ARGUMENT,
                "is for numbers");
}

RUN_TESTS(NULL, NULL)
