/* The functions of the response against their definition: ranks counted, polynomials written out. What is
   learned comes back from a store, and nothing that cannot be. */
#include "base/test_kit.h"
#include "math/noise.h"
#include "stonet/response.h"

enum { N = 45, MOST = 40 };

static void assert_near(double got, double expected)
{
    assert_true(fabs(got - expected) <= 1e-8 * fmax(1.0, fabs(expected)));
}

/* Targets of other laws; the second has ties, the third next to nothing that the first has not, and every one
   after it a little of the first. */
static void draw(int64_t targets, double *y)
{
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 1);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t t = 0; t < targets; t++) {
            const double e = sn_random_normal(&random);
            y[i * targets + t] = t == 0   ? e * e * e
                                 : t == 1 ? floor(2.0 * e)
                                 : t == 2 ? 1e-4 * e + y[i * targets]
                                          : e + y[i * targets];
        }
    }
}

/* The share of the rows below, and half of those that are equal. */
static double rank(int64_t targets, const double *y, int64_t t, double value)
{
    double below = 0.0;
    for (int64_t i = 0; i < N; i++)
        below += y[i * targets + t] < value ? 1.0 : y[i * targets + t] == value ? 0.5 : 0.0;
    return below / N;
}

/* Legendre polynomials of 2u - 1 with variance 1. */
static void polynomials(double u, double out[4])
{
    const double x = 2.0 * u - 1.0;
    out[0] = sqrt(3.0) * x;
    out[1] = sqrt(5.0) * (3.0 * x * x - 1.0) / 2.0;
    out[2] = sqrt(7.0) * (5.0 * x * x * x - 3.0 * x) / 2.0;
    out[3] = sqrt(9.0) * (35.0 * pow(x, 4) - 30.0 * x * x + 3.0) / 8.0;
}

/* All features of the rows in columns, orthogonal to those before, with variance 1; returns how many. */
static int64_t white_features(int64_t targets, const double *y, double out[MOST][N])
{
    static double feature[MOST][N];
    int64_t features = 0, kept = 0;
    for (int64_t t = 0; t < targets; t++, features += 4) {
        for (int64_t i = 0; i < N; i++) {
            double of[4];
            polynomials(rank(targets, y, t, y[i * targets + t]), of);
            for (int k = 0; k < 4; k++) feature[features + k][i] = of[k];
        }
    }
    for (int64_t a = 1; a < targets && targets <= 8; a++)
        for (int64_t b = 0; b < a; b++, features++)
            for (int64_t i = 0; i < N; i++) feature[features][i] = feature[4 * a][i] * feature[4 * b][i];
    for (int64_t j = 0; j < features; j++) {
        double mean = 0.0, variance = 0.0, *to = out[kept];
        for (int64_t i = 0; i < N; i++) mean += feature[j][i] / N;
        for (int64_t i = 0; i < N; i++) to[i] = feature[j][i] - mean;
        for (int64_t k = 0; k < kept; k++) {
            double share = 0.0;
            for (int64_t i = 0; i < N; i++) share += (feature[j][i] - mean) * out[k][i] / N;
            for (int64_t i = 0; i < N; i++) to[i] -= share * out[k][i];
        }
        for (int64_t i = 0; i < N; i++) variance += to[i] * to[i] / N;
        if (variance <= 0.01) continue;
        for (int64_t i = 0; i < N; i++) to[i] /= sqrt(variance);
        kept++;
    }
    return kept;
}

TEST(functions_are_white_polynomials_of_ranks)
{
    static double right[MOST][N];
    static const int64_t targets[] = {1, 2, 3, 9};
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
        const int64_t t = targets[k];
        double y[N * 9], *got;
        draw(t, y);
        const sn_problem problem = {.n = N, .task = SN_REGRESSION, .outputs = t, .y = y};
        SN_FREED_BY(sn_response_free) sn_response response = {0};
        OK(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &response));
        assert_int_equal(response.features, 4 * t + (t <= 8 ? t * (t - 1) / 2 : 0));
        const int64_t m = white_features(t, y, right);
        assert_int_equal(response.outputs, m);
        assert_true((m < response.features) == (t > 2)); /* what a copy repeats is not counted again */
        got = test_zeros(N * m, sizeof *got);
        OK(sn_response_encode(&response, N, y, got));
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < m; j++) assert_near(got[i * m + j], right[j][i]);
        free(got);
    }
}

/* The rank behind the first function of one target, at values between, on and beyond those of the data. */
static double rank_behind(const sn_response *response, double value)
{
    double g[4], low[4], high[4];
    const double ends[2] = {response->knot[0], response->knot[SN_RESPONSE_KNOTS - 1]};
    const double from = response->level[0], to = response->level[SN_RESPONSE_KNOTS - 1];
    OK(sn_response_encode(response, 1, &value, g));
    OK(sn_response_encode(response, 1, &ends[0], low));
    OK(sn_response_encode(response, 1, &ends[1], high));
    return from + (to - from) * (g[0] - low[0]) / (high[0] - low[0]); /* the first is linear in the rank */
}

TEST(ranks_are_linear_between_values)
{
    double y[N];
    for (int64_t i = 0; i < N; i++) y[i] = pow((double)((7 * i) % N), 2); /* 0, 1, 4, .. in some order */
    const sn_problem problem = {.n = N, .task = SN_REGRESSION, .outputs = 1, .y = y};
    SN_FREED_BY(sn_response_free) sn_response response = {0};
    OK(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &response));
    for (int64_t k = 0; k + 1 < N; k++) {
        const double a = pow((double)k, 2), b = pow((double)k + 1.0, 2);
        assert_near(rank_behind(&response, a), ((double)k + 0.5) / N);
        assert_near(rank_behind(&response, a + 0.25 * (b - a)), ((double)k + 0.75) / N);
    }
    assert_near(rank_behind(&response, -50.0), 0.5 / N);
    assert_near(rank_behind(&response, 1e9), (N - 0.5) / N);
}

/* More rows than knots: these are evenly spaced, from the least to the largest. */
TEST(knots_of_many_rows)
{
    enum { MANY = 1021 };
    static double y[MANY];
    for (int64_t i = 0; i < MANY; i++) y[i] = exp(0.01 * (double)((400 * i) % MANY));
    const sn_problem problem = {.n = MANY, .task = SN_REGRESSION, .outputs = 1, .y = y};
    SN_FREED_BY(sn_response_free) sn_response response = {0};
    OK(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &response));
    for (int64_t k = 0; k < SN_RESPONSE_KNOTS; k++) {
        const int64_t at = 4 * k; /* 1020 / 255 */
        assert_near(response.knot[k], exp(0.01 * (double)at));
        assert_near(response.level[k], ((double)at + 0.5) / MANY);
    }
}

/* Three values are the least, in whatever order they come. */
TEST(three_values_are_enough)
{
    double y[N] = {0};
    y[0] = 1.0;
    y[N - 1] = -1.0;
    const sn_problem problem = {.n = N, .task = SN_REGRESSION, .outputs = 1, .y = y};
    SN_FREED_BY(sn_response_free) sn_response response = {0};
    OK(sn_response_learn(SN_RESPONSE_LOCATION_SCALE, &problem, &response));
    sn_response_free(&response);
    y[0] = 0.0;
    assert_int_equal(sn_response_learn(SN_RESPONSE_LOCATION_SCALE, &problem, &response), STONET_ERROR_DATA);
}

TEST(means_and_spreads)
{
    double y[N * 2], got[N * 4];
    draw(2, y);
    const sn_problem problem = {.n = N, .task = SN_REGRESSION, .outputs = 2, .y = y};
    SN_FREED_BY(sn_response_free) sn_response response = {0};
    OK(sn_response_learn(SN_RESPONSE_MEAN, &problem, &response));
    assert_true(response.outputs == 2 && response.targets == 2);
    OK(sn_response_encode(&response, N, y, got));
    assert_memory_equal(got, y, sizeof y);
    sn_response_free(&response);
    OK(sn_response_learn(SN_RESPONSE_LOCATION_SCALE, &problem, &response));
    assert_true(response.outputs == 4 && response.targets == 2);
    OK(sn_response_encode(&response, N, y, got));
    for (int64_t i = 0; i < N; i++)
        assert_true(got[4 * i] == y[2 * i] && got[4 * i + 1] == y[2 * i + 1] && got[4 * i + 2] == 0.0 &&
                    got[4 * i + 3] == 0.0);
}

enum { UNITS = 3, T = 2 };

/* The functions of two targets with their head, in a store too. */
typedef struct fixture {
    double y[N * T];
    float psi[N * UNITS];
    sn_problem problem;
    sn_response response;
    sn_store *store;
} fixture;

static void make(fixture *f)
{
    const sn_rows rows = sn_rows_range(0, N);
    sn_random random = sn_random_from(6, SN_STREAM_TEST, 3);
    draw(T, f->y);
    for (int k = 0; k < N * UNITS; k++)
        f->psi[k] = (float)(1.0 + (k % UNITS + 1.0) * sn_random_normal(&random));
    f->problem = (sn_problem){.n = N, .p = 1, .task = SN_REGRESSION, .outputs = T, .y = f->y};
    OK(sn_response_learn(SN_RESPONSE_ENSEMBLE, &f->problem, &f->response));
    OK(sn_response_fit_head(&f->response, &f->problem, &rows, UNITS, f->psi));
    OK(sn_store_create(&f->store));
    OK(sn_response_put(&f->response, f->store));
}

static void drop(fixture *f)
{
    sn_response_free(&f->response);
    assert_null(f->response.coef);
    sn_store_free(f->store);
}

/* The head is the ridge regression of penalty 0.1: its gradient is 0. */
TEST(the_head)
{
    SN_FREED_BY(drop) fixture f = {.response = {0}};
    double predicted[N * T];
    make(&f);
    const sn_response *response = &f.response;
    sn_response_predict(response, N, f.psi, predicted);
    for (int t = 0; t < T; t++) {
        double by_intercept = 0.0;
        for (int i = 0; i < N; i++) {
            double sum = response->intercept[t];
            for (int k = 0; k < UNITS; k++)
                sum += response->coef[t * UNITS + k] * (double)f.psi[i * UNITS + k];
            assert_near(predicted[i * T + t], sum);
            by_intercept += sum - f.y[i * T + t];
        }
        assert_true(fabs(by_intercept) < 1e-6);
        for (int k = 0; k < UNITS; k++) {
            double by_coef = 0.1 * response->coef[t * UNITS + k];
            for (int i = 0; i < N; i++)
                by_coef += (predicted[i * T + t] - f.y[i * T + t]) * (double)f.psi[i * UNITS + k];
            assert_true(fabs(by_coef) < 1e-5);
        }
    }
}

TEST(an_ensemble_comes_back)
{
    SN_FREED_BY(drop) fixture f = {.response = {0}};
    make(&f);
    sn_response back;
    const int64_t outputs = f.response.outputs;
    OK(sn_response_get(f.store, outputs, UNITS, &back));
    assert_int_equal(back.kind, SN_RESPONSE_ENSEMBLE);
    assert_int_equal(back.targets, T);
    assert_int_equal(back.outputs, outputs);
    assert_int_equal(back.features, f.response.features);
    SN_BLOCK double *one = test_zeros(N * outputs, sizeof *one), *two = test_zeros(N * outputs, sizeof *two);
    OK(sn_response_encode(&f.response, N, f.y, one));
    OK(sn_response_encode(&back, N, f.y, two));
    assert_memory_equal(one, two, (size_t)(N * outputs) * sizeof *one);
    sn_response_predict(&f.response, N, f.psi, one);
    sn_response_predict(&back, N, f.psi, two);
    assert_memory_equal(one, two, (size_t)N * T * sizeof *one);
    sn_response_free(&back);
    /* not of a network of other outputs or units */
    assert_int_equal(sn_response_get(f.store, outputs + 1, UNITS, &back), STONET_ERROR_FORMAT);
    sn_response_free(&back);
    assert_int_equal(sn_response_get(f.store, outputs, UNITS + 1, &back), STONET_ERROR_FORMAT);
    sn_response_free(&back);
}

/* The same store, but for one number of a tensor. */
static void assert_wrong(const fixture *f, const char *name, int64_t at, double value, const char *words)
{
    sn_response back;
    for (size_t i = 0; i < sn_store_tensors(f->store); i++) {
        const sn_tensor *t = sn_store_tensor(f->store, i);
        if (strcmp(t->name, name) != 0) continue;
        double *numbers = (double *)t->data, right = numbers[at];
        numbers[at] = value;
        assert_says(sn_response_get(f->store, f->response.outputs, UNITS, &back), STONET_ERROR_FORMAT, words);
        sn_response_free(&back);
        numbers[at] = right;
        return;
    }
    fail_msg("no %s", name);
}

TEST(what_cannot_be_is_refused)
{
    SN_FREED_BY(drop) fixture f = {.response = {0}};
    make(&f);
    const double knot = f.response.knot[4];
    assert_wrong(&f, "response_knots", 5, knot - 1.0, "ascending");
    assert_wrong(&f, "response_knots", 2 * SN_RESPONSE_KNOTS - 1, -1e9, "ascending");
    assert_wrong(&f, "response_knots", 3, (double)NAN, "response_knots");
    assert_wrong(&f, "response_levels", 3, (double)INFINITY, "response_levels");
    assert_wrong(&f, "response_mean", 1, (double)NAN, "response_mean");
    assert_wrong(&f, "response_map", 1, (double)NAN, "response_map");
    assert_wrong(&f, "head_coef", 1, (double)NAN, "head_coef");
    assert_wrong(&f, "head_intercept", 1, (double)NAN, "head_intercept");
}

TEST(other_kinds)
{
    sn_response back;
    SN_AUTO(sn_store) *store = NULL;
    OK(sn_store_create(&store)); /* files before 0.2 */
    OK(sn_response_get(store, 3, UNITS, &back));
    assert_true(back.kind == SN_RESPONSE_MEAN && back.targets == 3 && back.outputs == 3);
    const sn_response spread = {.kind = SN_RESPONSE_LOCATION_SCALE, .targets = 2, .outputs = 4};
    OK(sn_response_put(&spread, store));
    OK(sn_response_get(store, 4, UNITS, &back));
    assert_true(back.kind == SN_RESPONSE_LOCATION_SCALE && back.targets == 2 && back.outputs == 4);
    assert_says(sn_response_get(store, 3, UNITS, &back), STONET_ERROR_FORMAT, "means and spreads");
}

TEST(what_has_no_law_to_see_is_refused)
{
    double y[N];
    const int32_t label[N] = {0};
    SN_FREED_BY(sn_response_free) sn_response response = {0};
    sn_problem problem = {.n = N, .p = 1, .task = SN_REGRESSION, .outputs = 1, .y = y};
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
