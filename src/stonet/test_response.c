/* The response as the network sees it: whitened functions of ranks, and the way back to E(Y|x). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/testing.h"
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
    double *g;
    assert_int_equal(SN_NEW(g, N * m), STONET_OK);
    assert_int_equal(sn_response_encode(response, N, y, g), STONET_OK);
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
    sn_free(g);
}

static void one_target_has_four_white_functions(void **state)
{
    (void)state;
    double y[N];
    fill(y, 1);
    const sn_problem problem = problem_of(y, 1);
    sn_response response;
    assert_int_equal(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &response), STONET_OK);
    assert_int_equal(response.outputs, 4);
    assert_white(&response, y);
    /* The first goes up with y, the second is smallest in the middle; both end where the data do. */
    double at[] = {-1e6, -1.0, 0.0, 1.0, 1e6}, g[5 * 4];
    assert_int_equal(sn_response_encode(&response, 5, at, g), STONET_OK);
    for (int64_t k = 0; k < 4; k++) assert_true(g[k * 4] < g[(k + 1) * 4]);
    assert_true(g[9] < g[5] && g[9] < g[13]);
    assert_true(fabs(g[0] + sqrt(3.0)) < 0.05 && fabs(g[16] - sqrt(3.0)) < 0.05);
    sn_response_free(&response);
}

/* What a second target repeats of the first is not counted again. */
static void copies_add_nothing(void **state)
{
    (void)state;
    double y[2 * N];
    fill(y, 2);
    const sn_problem problem = problem_of(y, 2);
    sn_response response;
    assert_int_equal(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &response), STONET_OK);
    assert_true(response.outputs >= 4 && response.outputs <= 5);
    assert_white(&response, y);
    sn_response_free(&response);
}

static void ties_are_ranked_in_their_middle(void **state)
{
    (void)state;
    double y[N];
    for (int64_t i = 0; i < N; i++) y[i] = (double)(i % 3);
    const sn_problem problem = problem_of(y, 1);
    sn_response response;
    assert_int_equal(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &response), STONET_OK);
    assert_int_equal(response.outputs, 2); /* three values have two functions beside the constant */
    assert_white(&response, y);
    sn_response_free(&response);
}

static void what_has_no_law_to_see_is_refused(void **state)
{
    (void)state;
    double y[N];
    const int32_t label[N] = {0};
    sn_response response;
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
    sn_response_free(&response);
}

/* ---- in a fit ---------------------------------------------------------------------------------------- */

enum { P = 3 };

/* y = x_1 + |x_2| e: the mean sees x_1 alone. */
static void spread_data(float *x, double *y)
{
    sn_random random;
    sn_random_init(&random, 8, SN_STREAM_TEST, 2);
    for (int64_t i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) x[i * P + j] = (float)sn_random_normal(&random);
        y[i] = 0.5 * (double)x[i * P] + (double)fabsf(x[i * P + 1]) * sn_random_normal(&random);
    }
}

static stonet_status fit(const sn_problem *problem, const char *response, int64_t q, sn_stonet **net)
{
    sn_settings *settings;
    assert_int_equal(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings), STONET_OK);
    const char *const set[][2] = {
        {"response", response}, {"epochs", "60"}, {"weight_decay", "0.01"}, {"activation", "tanh"}};
    for (size_t k = 0; k < sizeof set / sizeof *set; k++)
        assert_int_equal(sn_settings_set(settings, set[k][0], set[k][1]), STONET_OK);
    stonet_outcome outcome;
    const stonet_run run = {.size = sizeof run, .seed = 1, .threads = 1};
    stonet_status status = sn_stonet_fit(problem, q, settings, &run, net, &outcome);
    sn_settings_free(settings);
    return status;
}

static double correlation(const double *a, const double *b)
{
    double ma = 0.0, mb = 0.0, ab = 0.0, aa = 0.0, bb = 0.0;
    for (int64_t i = 0; i < N; i++) {
        ma += a[i] / N;
        mb += b[i] / N;
    }
    for (int64_t i = 0; i < N; i++) {
        ab += (a[i] - ma) * (b[i] - mb);
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
    }
    return ab / sqrt(aa * bb);
}

static void the_spread_is_seen(void **state)
{
    (void)state;
    float x[N * P], z[N * 2], drawn[N * 2];
    double y[N], spread[N], mean[N], column[N], predicted[N], best = 0.0;
    spread_data(x, y);
    const sn_problem problem = {.n = N, .p = P, .x = x, .task = SN_REGRESSION, .outputs = 1, .y = y};
    sn_stonet *net = NULL;
    if (fit(&problem, "ensemble", 2, &net) != STONET_OK) fail_msg("%s", stonet_last_error());
    assert_int_equal(sn_stonet_dim(net), 2);
    assert_int_equal(sn_stonet_reduce(net, &problem, false, 1, z), STONET_OK);
    for (int64_t i = 0; i < N; i++) {
        spread[i] = (double)fabsf(x[i * P + 1]);
        mean[i] = (double)x[i * P];
    }
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < N; i++) column[i] = (double)z[i * 2 + k];
        best = fmax(best, fabs(correlation(column, spread)));
    }
    assert_true(best > 0.7);
    /* and the answer is the mean still */
    assert_int_equal(sn_stonet_predict(net, &problem, 1, predicted), STONET_OK);
    assert_true(correlation(predicted, mean) > 0.85);
    /* draws and imputation are in the coordinates of Z */
    assert_int_equal(sn_stonet_draw(net, &problem, 0, 1, false, 1, 1, N, drawn), STONET_OK);
    for (int64_t i = 0; i < 2L * N; i++) assert_true(fabsf(drawn[i] - z[i]) < 0.2F);
    assert_int_equal(sn_stonet_impute(net, &problem, false, 1, 1, drawn), STONET_OK);
    for (int64_t i = 0; i < N; i++) {
        column[i] = (double)z[i * 2];
        spread[i] = (double)drawn[i * 2];
    }
    assert_true(correlation(column, spread) > 0.5);
    assert_says(sn_stonet_reduce(net, &problem, true, 1, z), STONET_ERROR_UNSUPPORTED, "activated");
    sn_stonet_free(net);
}

static void location_and_scale_are_told_apart(void **state)
{
    (void)state;
    float x[N * P], z[N * 2];
    double y[N], spread[N], mean[N], predicted[N], root = 0.0;
    spread_data(x, y);
    const sn_problem problem = {.n = N, .p = P, .x = x, .task = SN_REGRESSION, .outputs = 1, .y = y};
    sn_stonet *net = NULL;
    if (fit(&problem, "location-scale", 2, &net) != STONET_OK) fail_msg("%s", stonet_last_error());
    for (int64_t i = 0; i < N; i++) mean[i] = (double)x[i * P];
    assert_int_equal(sn_stonet_predict(net, &problem, 1, predicted), STONET_OK);
    assert_true(correlation(predicted, mean) > 0.85);
    assert_int_equal(sn_stonet_spread(net, &problem, 1, spread), STONET_OK);
    for (int64_t i = 0; i < N; i++) {
        mean[i] = (double)fabsf(x[i * P + 1]);
        root += (y[i] - predicted[i]) * (y[i] - predicted[i]) / (spread[i] * spread[i]) / N;
    }
    assert_true(correlation(spread, mean) > 0.8);
    assert_true(root > 0.6 && root < 1.6); /* residuals over the spread have variance 1 or so */
    assert_int_equal(sn_stonet_reduce(net, &problem, false, 1, z), STONET_OK);
    sn_stonet_free(net);
    if (fit(&problem, "mean", 1, &net) != STONET_OK) fail_msg("%s", stonet_last_error());
    assert_says(sn_stonet_spread(net, &problem, 1, spread), STONET_ERROR_UNSUPPORTED, "location-scale");
    sn_stonet_free(net);
}

static void more_columns_than_outputs_are_refused(void **state)
{
    (void)state;
    float x[N * P];
    double y[N];
    spread_data(x, y);
    const sn_problem problem = {.n = N, .p = P, .x = x, .task = SN_REGRESSION, .outputs = 1, .y = y};
    sn_stonet *net = NULL;
    assert_says(fit(&problem, "ensemble", 5, &net), STONET_ERROR_ARGUMENT, "4 at most");
    assert_says(fit(&problem, "location-scale", 3, &net), STONET_ERROR_ARGUMENT, "2 at most");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_target_has_four_white_functions),
        cmocka_unit_test(copies_add_nothing),
        cmocka_unit_test(ties_are_ranked_in_their_middle),
        cmocka_unit_test(what_has_no_law_to_see_is_refused),
        cmocka_unit_test(the_spread_is_seen),
        cmocka_unit_test(location_and_scale_are_told_apart),
        cmocka_unit_test(more_columns_than_outputs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
