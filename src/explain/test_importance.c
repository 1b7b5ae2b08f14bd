/* Importance of variables: against what is known of models made by hand, sums that must hold, and calls that
   cannot be answered. */
#include "base/test_messages.h"
#include "data/partitions.h"
#include "data/test_tables.h"
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
    return wrapped(x, N, P, y);
}

static stonet_importance_result *measured(const stonet_model *model, const stonet_data *data,
                                          const stonet_importance_options *how, int threads)
{
    const stonet_run run = {.size = sizeof run, .seed = 1, .threads = threads, .on_message = sn_hear};
    stonet_importance_result *found = NULL;
    OK(stonet_importance(model, data, how, &run, &found));
    return found;
}

static stonet_importance_result *importance(const stonet_model *model, const stonet_data *data,
                                            stonet_importance_kind kind, int threads)
{
    return measured(model, data,
                    &(stonet_importance_options){.size = sizeof(stonet_importance_options), .kind = kind},
                    threads);
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
    static const char *const COLOURS[] = {"red", "green", "blue"};
    static char table[300 * 24] = "colour,noise,label\n";
    sn_random random = sn_random_from(4, SN_STREAM_TEST, 0);
    for (int i = 0; i < 300; i++) {
        const uint64_t colour = sn_random_below(&random, 3);
        snprintf(table + strlen(table), sizeof table - strlen(table), "%s,%.4f,%s\n", COLOURS[colour],
                 sn_random_normal(&random), colour == 1 ? "yes" : "no");
    }
    SN_AUTO(stonet_data) *data = table_with(table, "label");
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

/* Without x1, whose part of y is 4 var(x1) of 4 var(x1) + var(x2), a regression loses that part of the loss,
   without noise nothing; of two copies neither is missed. */
TEST(refits_miss_what_the_others_cannot_say)
{
    SN_AUTO(stonet_data) *data = linear_data();
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 4", data, NULL);
    stonet_importance_options how = {.size = sizeof how, .kind = STONET_IMPORTANCE_REFIT, .train = data};
    static const double expected[P] = {0.8, 0.2, 0.0, 0.0};
    sn_heard[0] = '\0';
    stonet_importance_result *found = measured(model, data, &how, 1), *again = measured(model, data, &how, 2);
    assert_int_equal(sn_times_heard("warning"), 0);
    for (int j = 0; j < P; j++) {
        if (fabs(row_of(found, j).importance - expected[j]) > 0.06)
            fail_msg("variable %d: %.4f", j + 1, row_of(found, j).importance);
        assert_int_equal(row_of(found, j).n_z, 0);
        assert_true(row_of(again, j).importance == row_of(found, j).importance);
    }
    assert_true(row_of(found, 0).se > 0.0);
    stonet_importance_free(found);
    stonet_importance_free(again);
    stonet_model_free(model);
    for (int i = 0; i < N; i++) x[i * P + 2] = x[i * P]; /* a copy of x1 */
    model = sn_testing_fit("pca 4", data, NULL);
    found = measured(model, data, &how, 1);
    assert_true(fabs(row_of(found, 0).importance) < 1e-3 && fabs(row_of(found, 2).importance) < 1e-3);
    assert_true(row_of(found, 1).importance > 0.1);
    stonet_importance_free(found);
    SN_AUTO(stonet_data) *few = wrapped(x, 20, P, y);
    how.train = few;
    stonet_importance_free(measured(model, data, &how, 1));
    assert_int_equal(sn_times_heard("warning"), 1);
}

/* Of four columns one is noted in each half (q = 1): x1, whatever the threads and the model. */
TEST(halves_agree_on_what_matters)
{
    sn_random random = sn_random_from(9, SN_STREAM_TEST, 0);
    SN_AUTO(stonet_data) *data = linear_data();
    for (int i = 0; i < N; i++) y[i] = (double)x[i * P] + 0.2 * sn_random_normal(&random);
    SN_AUTO(stonet_data) *few = wrapped(x, 80, P, y), *fewer = wrapped(x, 19, P, y);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 2", data, NULL);
    const stonet_importance_options how = {
        .size = sizeof how, .kind = STONET_IMPORTANCE_STABILITY, .repeats = 2};
    for (int threads = 1; threads <= 2; threads++) {
        SN_AUTO(stonet_importance_result) *found = measured(model, few, &how, threads);
        for (int j = 0; j < P; j++) {
            assert_true(row_of(found, j).importance == (j == 0));
            assert_true(row_of(found, j).se == 0.0);
            assert_int_equal(row_of(found, j).n_z, 0);
        }
    }
    stonet_importance_result *none = NULL;
    assert_int_equal(stonet_importance(model, fewer, &how, NULL, &none), STONET_ERROR_DATA);
}

/* Rows i % 3 times: by weights (some 0), or one after the other. */
static stonet_data *counted_data(bool repeated)
{
    static float many_x[N * P];
    static double many_y[N];
    double weight[N];
    int64_t rows = 0;
    stonet_data *data = linear_data();
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
    return wrapped(many_x, rows, P, many_y);
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
    const stonet_importance_options how = {.size = sizeof how, .kind = STONET_IMPORTANCE_STABILITY};
    stonet_importance_result *none = NULL;
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
    SN_AUTO(stonet_data) *data = wrapped(x, N, P, y);
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
        SN_AUTO(stonet_data) *data = wrapped(x, 100, P, y),
                             *other = wrapped(x, 100, P, y + 100); /* another response for the same x */
        SN_AUTO(stonet_model) *model = sn_testing_fit("none 4", data, NULL);
        SN_AUTO(stonet_importance_result) *found = importance(model, other, STONET_IMPORTANCE_CONDITIONAL, 1);
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
    SN_AUTO(stonet_data) *table = wrapped(x, N, P, y);
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
    for (int threads = 1; threads <= 3; threads += 2) {
        SN_AUTO(stonet_importance_result) *found = measured(model, data, &how, threads);
        for (int j = 0; j < P; j++) {
            double variance = pow(row_of(rows, j).se, 2);
            for (int b = 0; b < REFITS; b++) variance += pow(value[b][j] - mean[j], 2) / (REFITS - 1);
            assert_true(row_of(found, j).importance == row_of(rows, j).importance);
            assert_true(fabs(row_of(found, j).se / sqrt(variance) - 1.0) < 1e-9);
            assert_true(row_of(found, j).se > 1.1 * row_of(rows, j).se);
        }
    }
    SN_AUTO(stonet_data) *fewer = wrapped(x, 4, P, y);
    how.train = fewer;
    stonet_importance_result *none = NULL;
    assert_int_equal(stonet_importance(model, data, &how, &run, &none), STONET_ERROR_DATA);
}

RUN_TESTS(NULL, NULL)
