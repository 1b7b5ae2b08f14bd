/* Importance of variables: against what is known of models made by hand, sums that must hold, and calls that
   cannot be answered. */
#include "base/test_kit.h"
#include "data/partitions.h"
#include "explain/importance.h"
#include "model/test_table.h"

enum { N = 400, P = 4 };

static float x[N * P];
static double y[N];

/* y = 2 x1 + x2, x3 and x4 are noise: linear regression on all components knows it exactly. */
static stonet_data *linear_data(void)
{
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) x[i * P + j] = (float)sn_random_normal(&random);
        y[i] = 2.0 * (double)x[i * P] + (double)x[i * P + 1];
    }
    stonet_data *data = NULL;
    OK(stonet_data_wrap(x, N, P, &data));
    OK(stonet_data_set_targets(data, y, 1));
    return data;
}

static stonet_importance_result *importance(const stonet_model *model, const stonet_data *data,
                                            stonet_importance_kind kind, int threads)
{
    stonet_importance_options how = STONET_IMPORTANCE_OPTIONS_INIT;
    stonet_run run = STONET_RUN_INIT;
    how.kind = kind;
    run.threads = threads;
    stonet_importance_result *found = NULL;
    OK(stonet_importance(model, data, &how, &run, &found));
    return found;
}

static stonet_importance_row_values row_of(const stonet_importance_result *found, int64_t j)
{
    stonet_importance_row_values row;
    OK(stonet_importance_row(found, j, &row));
    return row;
}

/* Sample variance and the variance of the difference to a random other row: 2 var x_j. With f = 2 x1 + x2
   known, permuting x_j adds b_j^2 2 var(x_j) / var(y) to the loss. */
TEST(a_linear_model_has_known_importances)
{
    static const double slope[P] = {2, 1, 0, 0};
    SN_AUTO(stonet_data) *data = linear_data();
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 4", data, NULL);
    double mean = 0, variance = 0, of[P] = {0};
    for (int i = 0; i < N; i++) mean += y[i] / N;
    for (int i = 0; i < N; i++) variance += pow(y[i] - mean, 2) / N;
    for (int j = 0; j < P; j++) {
        double centre = 0;
        for (int i = 0; i < N; i++) centre += (double)x[i * P + j] / N;
        for (int i = 0; i < N; i++) of[j] += pow((double)x[i * P + j] - centre, 2) / N;
    }
    SN_AUTO(stonet_importance_result) *found = importance(model, data, STONET_IMPORTANCE_PERMUTATION, 1);
    assert_int_equal(stonet_importance_rows(found), P);
    for (int j = 0; j < P; j++) {
        const double expected = slope[j] * slope[j] * 2.0 * of[j] / variance;
        assert_true(fabs(row_of(found, j).importance - expected) < 0.05 * expected + 1e-4);
        assert_true(row_of(found, j).se < 0.1 * expected + 1e-4);
        assert_int_equal(row_of(found, j).n_z, 4);
    }
    stonet_importance_free(found);

    found = importance(model, data, STONET_IMPORTANCE_GRADIENT, 1);
    for (int j = 0; j < P; j++) {
        const double expected = slope[j] * sqrt(of[j] / variance);
        assert_true(fabs(row_of(found, j).importance - expected) < 2e-3);
        assert_true(row_of(found, j).se < 2e-3); /* the slope is the same everywhere */
    }
    stonet_importance_free(found);

    /* Nothing known costs 2 var f / var y = 2, everything known 0; independent variables share it as they
       share the variance. */
    found = importance(model, data, STONET_IMPORTANCE_SHAPLEY, 1);
    double sum = 0.0;
    for (int j = 0; j < P; j++) {
        sum += row_of(found, j).importance;
        const double expected = 2.0 * slope[j] * slope[j] / 5.0;
        assert_true(fabs(row_of(found, j).importance - expected) < 0.15);
    }
    assert_true(fabs(sum - 2.0) < 0.2);
    assert_int_equal(row_of(found, 0).n_z, 0);
}

/* Text columns go as one variable; the numbers do not depend on the threads. */
TEST(classes_text_and_threads)
{
    char path[] = "/tmp/stonet_importance_XXXXXX.csv";
    const int file = mkstemps(path, 4);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    assert_non_null(out);
    sn_random random = sn_random_from(4, SN_STREAM_TEST, 0);
    fprintf(out, "colour,noise,label\n");
    for (int i = 0; i < 300; i++) {
        const uint64_t colour = sn_random_below(&random, 3);
        fprintf(out, "%s,%.4f,%s\n",
                colour == 0   ? "red"
                : colour == 1 ? "green"
                              : "blue",
                sn_random_normal(&random), colour == 1 ? "yes" : "no");
    }
    assert_int_equal(fclose(out), 0);
    stonet_read_options how = STONET_READ_OPTIONS_INIT;
    how.target = "label";
    SN_AUTO(stonet_data) *data = NULL;
    OK(stonet_data_read(path, &how, &data));
    remove(path);
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1", data, NULL);
    for (int kind = 0; kind < 3; kind++) {
        SN_AUTO(stonet_importance_result) *one = importance(model, data, (stonet_importance_kind)kind, 1);
        SN_AUTO(stonet_importance_result) *two = importance(model, data, (stonet_importance_kind)kind, 2);
        assert_int_equal(stonet_importance_rows(one), 2);
        assert_string_equal(row_of(one, 0).variable, "colour");
        assert_true(row_of(one, 0).importance > 10.0 * fabs(row_of(one, 1).importance));
        assert_true(row_of(one, 0).importance == row_of(two, 0).importance);
        if (kind == 0) assert_true(row_of(one, 0).z[0] > 0.5 && row_of(one, 1).z[0] < 0.1);
    }
    SN_AUTO(stonet_importance_result) *found = importance(model, data, STONET_IMPORTANCE_PERMUTATION, 0);
    SN_BLOCK char *text = stonet_importance_json(found);
    assert_non_null(strstr(text, "\"variable\": \"colour\""));
    assert_non_null(strstr(text, "\"z1\""));
}

TEST(what_cannot_be_answered_is_said)
{
    SN_AUTO(stonet_data) *data = linear_data();
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 2", data, NULL);
    stonet_importance_options how = STONET_IMPORTANCE_OPTIONS_INIT;
    stonet_importance_result *found = NULL;
    assert_says(stonet_importance_kind_find("gradients", &how.kind), STONET_ERROR_ARGUMENT,
                "choose permutation, gradient, shapley, refit, stability, conditional or vip");
    SN_AUTO(stonet_data) *without = NULL; /* no response to measure a loss with */
    OK(stonet_data_wrap(x, N, P, &without));
    assert_int_not_equal(stonet_importance(model, without, NULL, NULL, &found), STONET_OK);
}

static int warned;

static void count_warning(stonet_level level, const char *text, void *user)
{
    (void)text;
    (void)user;
    warned += level == STONET_WARNING;
}

/* Without x1, whose part of y is 4 var(x1) of 4 var(x1) + var(x2), a regression loses that part of the loss,
   without noise nothing; of two copies neither is missed. */
TEST(refits_miss_what_the_others_cannot_say)
{
    SN_AUTO(stonet_data) *data = linear_data();
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 4", data, NULL);
    stonet_importance_options how = {.size = sizeof how, .kind = STONET_IMPORTANCE_REFIT, .train = data};
    stonet_run run = STONET_RUN_INIT;
    run.on_message = count_warning;
    stonet_importance_result *found = NULL, *again = NULL;
    OK(stonet_importance(model, data, &how, &run, &found));
    assert_int_equal(warned, 0);
    static const double expected[P] = {0.8, 0.2, 0.0, 0.0};
    for (int j = 0; j < P; j++) {
        if (fabs(row_of(found, j).importance - expected[j]) > 0.06)
            fail_msg("variable %d: %.4f", j + 1, row_of(found, j).importance);
        assert_int_equal(row_of(found, j).n_z, 0);
    }
    assert_true(row_of(found, 0).se > 0.0);
    run.threads = 2;
    OK(stonet_importance(model, data, &how, &run, &again));
    for (int j = 0; j < P; j++) assert_true(row_of(again, j).importance == row_of(found, j).importance);
    stonet_importance_free(found);
    stonet_importance_free(again);
    how.train = NULL;
    assert_int_equal(stonet_importance(model, data, &how, &run, &found), STONET_ERROR_DATA);
    stonet_model_free(model);
    for (int i = 0; i < N; i++) x[i * P + 2] = x[i * P]; /* a copy of x1 */
    model = sn_testing_fit("pca 4", data, NULL);
    how.train = data;
    OK(stonet_importance(model, data, &how, &run, &found));
    assert_true(fabs(row_of(found, 0).importance) < 1e-3 && fabs(row_of(found, 2).importance) < 1e-3);
    assert_true(row_of(found, 1).importance > 0.1);
    stonet_importance_free(found);
    const int64_t half[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    SN_AUTO(stonet_data) *few = NULL;
    OK(stonet_data_subset(data, half, 20, &few));
    how.train = few;
    warned = 0;
    OK(stonet_importance(model, data, &how, &run, &found));
    assert_int_equal(warned, 1);
    stonet_importance_free(found);
}

/* Of four columns one is noted in each half (q = 1): x1, whatever the threads and the model. */
TEST(halves_agree_on_what_matters)
{
    sn_random random = sn_random_from(9, SN_STREAM_TEST, 0);
    SN_AUTO(stonet_data) *data = linear_data();
    for (int i = 0; i < N; i++) y[i] = (double)x[i * P] + 0.2 * sn_random_normal(&random);
    OK(stonet_data_set_targets(data, y, 1));
    int64_t some[80];
    for (int i = 0; i < 80; i++) some[i] = i;
    SN_AUTO(stonet_data) *few = NULL;
    OK(stonet_data_subset(data, some, 80, &few));
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 2", data, NULL);
    stonet_importance_options how = STONET_IMPORTANCE_OPTIONS_INIT;
    how.kind = STONET_IMPORTANCE_STABILITY;
    how.repeats = 2;
    for (int threads = 1; threads <= 2; threads++) {
        stonet_run run = STONET_RUN_INIT;
        run.threads = threads;
        SN_AUTO(stonet_importance_result) *found = NULL;
        OK(stonet_importance(model, few, &how, &run, &found));
        for (int j = 0; j < P; j++) {
            assert_true(row_of(found, j).importance == (j == 0));
            assert_true(row_of(found, j).se == 0.0);
            assert_int_equal(row_of(found, j).n_z, 0);
        }
    }
    stonet_data_free(few);
    OK(stonet_data_subset(data, some, 19, &few));
    stonet_importance_result *found = NULL;
    assert_int_equal(stonet_importance(model, few, &how, NULL, &found), STONET_ERROR_DATA);
}

/* Rows i % 3 times: by weights (some 0), or one after the other. */
static stonet_data *counted_data(bool repeated)
{
    static float many_x[N * P];
    static double many_y[N];
    double weight[N];
    int64_t rows = 0;
    stonet_data *data = linear_data(), *many = NULL;
    for (int i = 0; i < N; i++) {
        weight[i] = (double)(i % 3);
        if (i % 3 == 0) y[i] = 100.0; /* which does not count */
        for (int k = 0; k < i % 3 && rows < N; k++, rows++) {
            memcpy(many_x + rows * P, x + (int64_t)i * P, P * sizeof *x);
            many_y[rows] = y[i];
        }
    }
    if (!repeated) {
        OK(stonet_data_set_targets(data, y, 1));
        OK(stonet_data_set_weights(data, weight));
        return data;
    }
    stonet_data_free(data);
    OK(stonet_data_wrap(many_x, rows, P, &many));
    OK(stonet_data_set_targets(many, many_y, 1));
    return many;
}

/* Whole weights are rows that come so many times: to rounding where nothing is drawn, else nearly. */
TEST(weights_are_repeated_rows)
{
    static const stonet_importance_kind kinds[] = {STONET_IMPORTANCE_GRADIENT, STONET_IMPORTANCE_PERMUTATION,
                                                   STONET_IMPORTANCE_SHAPLEY};
    SN_AUTO(stonet_data) *weighted = counted_data(false);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 4", weighted, NULL);
    stonet_importance_result *one[3];
    for (int k = 0; k < 3; k++) one[k] = importance(model, weighted, kinds[k], 1);
    stonet_importance_options how = STONET_IMPORTANCE_OPTIONS_INIT;
    stonet_importance_result *none = NULL;
    how.kind = STONET_IMPORTANCE_STABILITY;
    assert_says(stonet_importance(model, weighted, &how, NULL, &none), STONET_ERROR_UNSUPPORTED,
                "no weighted form");
    SN_AUTO(stonet_data) *repeated = counted_data(true);
    for (int k = 0; k < 3; k++) {
        SN_AUTO(stonet_importance_result) *many = importance(model, repeated, kinds[k], 1);
        for (int64_t j = 0; j < 2; j++) {
            const double a = row_of(one[k], j).importance, b = row_of(many, j).importance;
            assert_true(fabs(a - b) < (k == 0 ? 1e-4 : 0.15) * fabs(b));
        }
        stonet_importance_free(one[k]);
    }
}

/* y = x1 + noise, x2 follows x1 by .95, x3 is noise: the linear model leans on x2 as well, permutation says
   so, and given x1 it says nothing. */
TEST(a_copy_is_not_needed_given_the_original)
{
    sn_random random = sn_random_from(11, SN_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) x[i * P + j] = (float)sn_random_normal(&random);
        x[i * P + 1] = 0.95F * x[i * P] + sqrtf(1.0F - 0.95F * 0.95F) * x[i * P + 1];
        y[i] = (double)x[i * P] + sn_random_normal(&random);
    }
    SN_AUTO(stonet_data) *data = NULL;
    OK(stonet_data_wrap(x, N, P, &data));
    OK(stonet_data_set_targets(data, y, 1));
    int64_t half[2][N / 2];
    for (int64_t i = 0; i < N; i++) half[i % 2][i / 2] = i;
    SN_AUTO(stonet_data) *train = NULL, *fresh = NULL;
    OK(stonet_data_subset(data, half[0], N / 2, &train));
    OK(stonet_data_subset(data, half[1], N / 2, &fresh));
    SN_AUTO(stonet_model) *model = sn_testing_fit("none 4", train, NULL);
    stonet_importance_result *found = importance(model, fresh, STONET_IMPORTANCE_CONDITIONAL, 1),
                             *again = importance(model, fresh, STONET_IMPORTANCE_CONDITIONAL, 3);
    assert_true(stonet_importance_q_value(found, 0) <= 0.05);
    for (int j = 0; j < P; j++) {
        const double p = stonet_importance_p_value(found, j), q = stonet_importance_q_value(found, j);
        assert_true(p > 0.0 && p <= q && q <= 1.0);
        assert_true(j == 0 || q > 0.1);
        assert_true(p == stonet_importance_p_value(again, j));
        assert_true(row_of(found, j).importance == row_of(again, j).importance);
    }
    SN_BLOCK char *text = stonet_importance_json(found);
    assert_non_null(strstr(text, "\"q_value\""));
    stonet_importance_free(again);
    stonet_importance_free(found);
    found = importance(model, fresh, STONET_IMPORTANCE_PERMUTATION, 1);
    assert_true(isnan(stonet_importance_p_value(found, 0)));
    stonet_importance_free(found);
}

/* Under independence p-values are uniform: below .1 in a tenth of the cases. */
TEST(p_values_of_noise_are_uniform)
{
    enum { SETS = 60 };
    int below = 0;
    for (uint32_t s = 0; s < SETS; s++) {
        sn_random random = sn_random_from(12, SN_STREAM_TEST, s);
        for (int i = 0; i < N * P; i++) x[i] = (float)sn_random_normal(&random);
        for (int i = 0; i < N; i++) y[i] = sn_random_normal(&random);
        SN_AUTO(stonet_data) *data = NULL;
        OK(stonet_data_wrap(x, 100, P, &data));
        OK(stonet_data_set_targets(data, y, 1));
        SN_AUTO(stonet_model) *model = sn_testing_fit("none 4", data, NULL);
        OK(stonet_data_set_targets(data, y + 100, 1)); /* another response for the same x */
        SN_AUTO(stonet_importance_result) *found = importance(model, data, STONET_IMPORTANCE_CONDITIONAL, 1);
        for (int j = 0; j < P; j++) below += stonet_importance_p_value(found, j) <= 0.1;
    }
    assert_true(below >= 10 && below <= 42); /* 24 of 240 expected, standard deviation 4.6 */
}

/* The weights of the textbook's algorithm, w_a from E'y with E deflated, are orthonormal; VIP is made of
 * them. */
TEST(vip_is_that_of_the_textbook)
{
    enum { K = 2 };
    SN_AUTO(stonet_data) *data = linear_data();
    static double e[N * P];
    double w[K][P], t[N], share[K], vip[P], total = 0.0, centre = 0.0;
    for (int i = 0; i < N; i++) centre += y[i] / N;
    for (int j = 0; j < P; j++) { /* the columns are correlated here, and scaled as by the model */
        double mean = 0.0, square = 0.0;
        for (int i = 0; i < N; i++) {
            if (j > 0) x[i * P + j] += x[i * P + j - 1];
            mean += (double)x[i * P + j] / N;
        }
        for (int i = 0; i < N; i++) square += pow((double)x[i * P + j] - mean, 2) / N;
        for (int i = 0; i < N; i++) e[i * P + j] = ((double)x[i * P + j] - mean) / sqrt(square);
    }
    for (int a = 0; a < K; a++) {
        double length = 0.0, squares = 0.0, along = 0.0;
        for (int j = 0; j < P; j++) {
            w[a][j] = 0.0;
            for (int i = 0; i < N; i++) w[a][j] += e[i * P + j] * (y[i] - centre);
            length += w[a][j] * w[a][j];
        }
        for (int j = 0; j < P; j++) w[a][j] /= sqrt(length);
        for (int i = 0; i < N; i++) {
            t[i] = 0.0;
            for (int j = 0; j < P; j++) t[i] += e[i * P + j] * w[a][j];
            squares += t[i] * t[i];
            along += t[i] * (y[i] - centre);
        }
        for (int j = 0; j < P; j++) {
            double load = 0.0;
            for (int i = 0; i < N; i++) load += e[i * P + j] * t[i] / squares;
            for (int i = 0; i < N; i++) e[i * P + j] -= t[i] * load;
        }
        total += share[a] = along * along / squares;
    }
    SN_AUTO(stonet_data) *table = NULL;
    OK(stonet_data_wrap(x, N, P, &table));
    OK(stonet_data_set_targets(table, y, 1));
    SN_AUTO(stonet_model) *model = sn_testing_fit("pls 2", table, NULL),
                          *other = sn_testing_fit("pca 2", table, NULL);
    stonet_importance_result *found = importance(model, table, STONET_IMPORTANCE_VIP, 1);
    for (int j = 0; j < P; j++) {
        vip[j] = 0.0;
        for (int a = 0; a < K; a++) vip[j] += P * share[a] * w[a][j] * w[a][j] / total;
        assert_true(fabs(row_of(found, j).importance - sqrt(vip[j])) < 1e-4);
        assert_true(row_of(found, j).se > 0.0 && row_of(found, j).se < 0.2);
    }
    stonet_importance_free(found);
    const stonet_importance_options how = {.size = sizeof how, .kind = STONET_IMPORTANCE_VIP};
    assert_says(stonet_importance(other, table, &how, NULL, &found), STONET_ERROR_UNSUPPORTED,
                "method 'pca'");
}

/* se^2 = that over the rows + the variance over 20 fits on halves of the training rows; values stay, and
   threads change nothing. */
TEST(errors_that_include_the_fit)
{
    enum { REFITS = 20 };
    SN_AUTO(stonet_data) *data = linear_data();
    for (int i = 0; i < N; i++) y[i] += (double)x[(i * 7 % N) * P + 3]; /* noise, or all fits would agree */
    OK(stonet_data_set_targets(data, y, 1));
    SN_AUTO(stonet_spec) *spec = NULL;
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 4", data, NULL);
    OK(stonet_model_spec(model, &spec));
    stonet_importance_options how = {.size = sizeof how, .kind = STONET_IMPORTANCE_GRADIENT};
    stonet_run run = STONET_RUN_INIT;
    double value[REFITS][P], mean[P] = {0};
    SN_AUTO(stonet_importance_result) *rows = importance(model, data, how.kind, 1);
    for (uint32_t b = 0; b < REFITS; b++) {
        int64_t order[N], half;
        sn_random random = sn_random_from(run.seed, SN_STREAM_PERMUTE, b);
        OK(sn_split_half(N, NULL, &random, order, &half));
        SN_AUTO(stonet_data) *part = NULL;
        SN_AUTO(stonet_model) *refit = NULL;
        OK(stonet_data_subset(data, order, half, &part));
        OK(stonet_fit(spec, part, &run, &refit));
        SN_AUTO(stonet_importance_result) *of = importance(refit, data, how.kind, 1);
        for (int j = 0; j < P; j++) mean[j] += (value[b][j] = row_of(of, j).importance) / REFITS;
    }
    how.train = data;
    for (run.threads = 1; run.threads <= 3; run.threads += 2) {
        SN_AUTO(stonet_importance_result) *found = NULL;
        OK(stonet_importance(model, data, &how, &run, &found));
        for (int j = 0; j < P; j++) {
            double variance = pow(row_of(rows, j).se, 2);
            for (int b = 0; b < REFITS; b++) variance += pow(value[b][j] - mean[j], 2) / (REFITS - 1);
            assert_true(row_of(found, j).importance == row_of(rows, j).importance);
            assert_true(fabs(row_of(found, j).se / sqrt(variance) - 1.0) < 1e-9);
            assert_true(row_of(found, j).se > 1.1 * row_of(rows, j).se);
        }
    }
    SN_AUTO(stonet_data) *fewer = NULL;
    const int64_t some[] = {0, 1, 2, 3};
    OK(stonet_data_subset(data, some, 4, &fewer));
    how.train = fewer;
    stonet_importance_result *none = NULL;
    assert_int_equal(stonet_importance(model, data, &how, &run, &none), STONET_ERROR_DATA);
}

RUN_TESTS(NULL, NULL)
