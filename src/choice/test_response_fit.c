/* Fits to more than the mean of a response: its spread is seen, and told apart from its mean. */
#include "base/test_kit.h"
#include "choice/test_fit.h"
#include "math/noise.h"

enum { N = 1000, P = 3 };

/* y = x_1 + |x_2| e: the mean sees x_1 alone. */
static void spread_data(float *x, double *y)
{
    sn_random random = sn_random_from(8, SN_STREAM_TEST, 2);
    for (int64_t i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) x[i * P + j] = (float)sn_random_normal(&random);
        y[i] = 0.5 * (double)x[i * P] + (double)fabsf(x[i * P + 1]) * sn_random_normal(&random);
    }
}

static sn_stonet *fit(const sn_problem *problem, const char *response, int64_t q)
{
    return fit_with(problem, q, text_of("response %s epochs 60 weight_decay 0.001 activation tanh", response),
                    NULL, NULL);
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

TEST(the_spread_is_seen)
{
    float x[N * P], z[N * 2], drawn[N * 2];
    double y[N], spread[N], mean[N], column[N], predicted[N], best = 0.0;
    spread_data(x, y);
    const sn_problem problem = {.n = N, .p = P, .x = x, .task = SN_REGRESSION, .outputs = 1, .y = y};
    SN_AUTO(sn_stonet) *net = fit(&problem, "ensemble", 2);
    assert_int_equal(sn_stonet_dim(net), 2);
    OK(sn_stonet_reduce(net, &problem, false, 1, z));
    for (int64_t i = 0; i < N; i++) {
        spread[i] = (double)fabsf(x[i * P + 1]);
        mean[i] = (double)x[i * P];
    }
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < N; i++) column[i] = (double)z[i * 2 + k];
        best += pow(correlation(column, spread), 2);
    }
    assert_true(sqrt(best) > 0.7); /* the columns are uncorrelated: of both together */
    /* and the answer is the mean still */
    OK(sn_stonet_predict(net, &problem, 1, NULL, predicted));
    assert_true(correlation(predicted, mean) > 0.8);
    /* draws and imputation are in the coordinates of Z */
    OK(sn_stonet_draw(net, &problem, &(sn_draws){0, 1, N, false, 1}, 1, drawn));
    for (int64_t i = 0; i < 2L * N; i++) assert_true(fabsf(drawn[i] - z[i]) < 0.2F);
    OK(sn_stonet_impute(net, &problem, false, 1, 1, drawn));
    for (int64_t i = 0; i < N; i++) {
        column[i] = (double)z[i * 2];
        spread[i] = (double)drawn[i * 2];
    }
    assert_true(correlation(column, spread) > 0.5);
}

TEST(location_and_scale_are_told_apart)
{
    float x[N * P], z[N * 2];
    double y[N], spread[N], mean[N], predicted[N], root = 0.0;
    spread_data(x, y);
    const sn_problem problem = {.n = N, .p = P, .x = x, .task = SN_REGRESSION, .outputs = 1, .y = y};
    SN_AUTO(sn_stonet) *net = fit(&problem, "location-scale", 2);
    for (int64_t i = 0; i < N; i++) mean[i] = (double)x[i * P];
    OK(sn_stonet_predict(net, &problem, 1, NULL, predicted));
    assert_true(correlation(predicted, mean) > 0.8);
    OK(sn_stonet_spread(net, &problem, 1, spread));
    for (int64_t i = 0; i < N; i++) {
        mean[i] = (double)fabsf(x[i * P + 1]);
        root += (y[i] - predicted[i]) * (y[i] - predicted[i]) / (spread[i] * spread[i]) / N;
    }
    assert_true(correlation(spread, mean) > 0.8);
    assert_true(root > 0.6 && root < 1.6); /* residuals over the spread have variance 1 or so */
    OK(sn_stonet_reduce(net, &problem, false, 1, z));
    sn_stonet_free(net);
    net = fit(&problem, "mean", 1);
    assert_says(sn_stonet_spread(net, &problem, 1, spread), STONET_ERROR_UNSUPPORTED, "location-scale");
}

/* More columns than functions of the response: those beyond show what else the units see. */
TEST(more_columns_than_outputs)
{
    float x[N * P], z[N * 6];
    double y[N];
    spread_data(x, y);
    const sn_problem problem = {.n = N, .p = P, .x = x, .task = SN_REGRESSION, .outputs = 1, .y = y};
    SN_AUTO(sn_stonet) *net = fit(&problem, "ensemble", 6);
    assert_int_equal(sn_stonet_dim(net), 6);
    assert_true(net->axes.share[3] > 0.0 && net->axes.share[4] == 0.0 && net->axes.share[5] == 0.0);
    OK(sn_stonet_reduce(net, &problem, false, 1, z));
    for (int k = 0; k < 6; k++) assert_true(z[k] != z[6 + k]);
    /* the activated units of a wide layer are not the columns of Z */
    assert_says(sn_stonet_reduce(net, &problem, true, 1, z), STONET_ERROR_UNSUPPORTED, "activated");
}

RUN_TESTS(NULL, NULL)
