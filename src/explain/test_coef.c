/* What the columns of Z are made of: directions against those of the model, standard errors against the
   spread over simulated data, derivatives against functions that are known, and calls that fail. */
#include "base/test_messages.h"
#include "data/test_tables.h"
#include "math/linalg.h"
#include "model/test_table.h"

enum { N = 300, P = 3 };

static float x[N * P];
static double y[N];

/* y = x1 + x2/2 + noise, the columns in units that differ; law: 0 mean in the first direction, 1 bent. */
static stonet_data *make_data(uint64_t seed, int bent)
{
    static const double unit[P] = {10.0, 1.0, 0.1};
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        double v[P];
        for (int j = 0; j < P; j++) {
            v[j] = sn_random_normal(&random);
            x[i * P + j] = (float)(unit[j] * v[j]);
        }
        const double index = v[0] + 0.5 * v[1];
        y[i] = (bent ? index * index : index) + 0.5 * sn_random_normal(&random);
    }
    return wrapped(x, N, P, y);
}

static stonet_coef_result *coef(const stonet_model *model, const stonet_data *data, int64_t pairs,
                                int threads)
{
    const stonet_coef_options how = {.size = sizeof how, .pairs = pairs};
    const stonet_run run = {.size = sizeof run, .seed = 1, .threads = threads, .on_message = sn_hear};
    stonet_coef_result *found = NULL;
    OK(stonet_coef(model, data, &how, &run, &found));
    return found;
}

TEST(directions_are_the_models)
{
    SN_AUTO(stonet_data) *data = make_data(1, 0);
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 2", data, NULL);
    double expected[P * 2];
    OK(stonet_model_directions(model, expected));
    SN_AUTO(stonet_coef_result) *plain = coef(model, NULL, 0, 1), *with_se = coef(model, data, 10, 1);
    assert_true(stonet_coef_is_linear(plain));
    assert_int_equal(stonet_coef_rows(plain), P);
    assert_int_equal(stonet_coef_columns(plain), 2);
    assert_int_equal(stonet_coef_columns(with_se), 4);
    assert_string_equal(stonet_coef_column_name(with_se, 3), "z2_se");
    for (int j = 0; j < P; j++)
        for (int k = 0; k < 2; k++) {
            assert_true(stonet_coef_value(plain, j, k) == expected[j * 2 + k]);
            assert_true(stonet_coef_value(with_se, j, 2 * k) == expected[j * 2 + k]);
            assert_true(stonet_coef_value(with_se, j, 2 * k + 1) > 0.0);
        }
}

/* Mean standard error over the spread of the estimates, for the first direction, entry j. */
static void check_errors(const char *words, int bent)
{
    enum { SETS = 40 };
    double value[P][SETS], error[P] = {0};
    for (int s = 0; s < SETS; s++) {
        SN_AUTO(stonet_data) *data = make_data(100 + (uint64_t)s, bent);
        SN_AUTO(stonet_model) *model = sn_testing_fit(words, data, NULL);
        SN_AUTO(stonet_coef_result) *found = coef(model, data, 10, 1);
        const double sign = stonet_coef_value(found, 0, 0) < 0.0 ? -1.0 : 1.0;
        for (int j = 0; j < P; j++) {
            value[j][s] = sign * stonet_coef_value(found, j, 0);
            error[j] += pow(stonet_coef_value(found, j, 1), 2) / SETS;
        }
    }
    for (int j = 0; j < P; j++) {
        double mean = 0.0, variance = 0.0;
        for (int s = 0; s < SETS; s++) mean += value[j][s] / SETS;
        for (int s = 0; s < SETS; s++) variance += pow(value[j][s] - mean, 2) / (SETS - 1);
        const double ratio = sqrt(error[j] / variance);
        if (ratio < 0.7 || ratio > 1.4) fail_msg("%s, entry %d: ratio %.3f", words, j + 1, ratio);
    }
}

/* A ratio from 40 data sets has a standard error of about an eighth. */
TEST(errors_are_the_spread_over_data_sets)
{
    check_errors("sir 1", 0);
    check_errors("save 1", 1);
    check_errors("phd 1", 1);
}

/* The errors of other rows are no errors of this model: that is said, and only then. */
TEST(other_rows_are_noticed)
{
    static const char words[] = "warning: these are not the rows the model was fitted on";
    SN_AUTO(stonet_data) *data = make_data(1, 0);
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1", data, NULL);
    sn_heard[0] = '\0';
    stonet_coef_free(coef(model, data, 10, 1));
    assert_int_equal(sn_times_heard(words), 0);
    SN_AUTO(stonet_data) *other = make_data(2, 0);
    stonet_coef_free(coef(model, other, 10, 1));
    assert_int_equal(sn_times_heard(words), 1);
}

/* Of a network with one column of Z the derivatives all point one way when y depends on one index: the
   leading direction is that of the index in units of x, and has nearly all. */
TEST(gradients_find_the_index)
{
    SN_AUTO(stonet_data) *data = make_data(5, 0);
    SN_AUTO(stonet_model) *model = sn_testing_fit("stonet 1", data, NULL);
    SN_AUTO(stonet_coef_result) *one = coef(model, data, 0, 1), *two = coef(model, data, 0, 2);
    assert_false(stonet_coef_is_linear(one));
    assert_int_equal(stonet_coef_columns(one), 2);
    assert_string_equal(stonet_coef_column_name(one, 1), "direction1");
    assert_true(stonet_coef_share(one, 1) > 0.95);
    assert_true(isnan(stonet_coef_share(one, 2)));
    static const double truth[P] = {0.1, 0.5, 0.0};
    for (int c = 0; c < 2; c++) {
        double found[P], agreement;
        for (int j = 0; j < P; j++) {
            found[j] = stonet_coef_value(one, j, c);
            assert_true(found[j] == stonet_coef_value(two, j, c));
        }
        /* In scaled units: entry times the deviation of its column. */
        const double scaled[P] = {10 * found[0], found[1], 0.1 * found[2]};
        const double wanted[P] = {10 * truth[0], truth[1], 0.1 * truth[2]};
        agreement = fabs(sn_dot(P, scaled, wanted)) / (sn_norm(P, scaled) * sn_norm(P, wanted));
        assert_true(agreement > 0.98);
    }
}

/* Z of method none is the scaled columns themselves. */
TEST(derivatives_of_the_columns_are_their_scales)
{
    SN_AUTO(stonet_data) *data = make_data(3, 0);
    SN_AUTO(stonet_model) *model = sn_testing_fit("none 3", data, NULL);
    SN_AUTO(stonet_coef_result) *found = coef(model, data, 0, 1);
    for (int j = 0; j < P; j++) {
        const double factor = model->schema->factor[j];
        for (int k = 0; k < P; k++)
            assert_near(stonet_coef_value(found, j, k), j == k ? factor : 0.0, 1e-3 * factor);
        assert_near(stonet_coef_share(found, j + 1), 1.0 / P, 1e-3);
    }
}

TEST(what_cannot_be_told_is_said)
{
    SN_AUTO(stonet_data) *data = make_data(1, 0);
    SN_AUTO(stonet_model) *sir = sn_testing_fit("sir 1", data, NULL),
                          *net = sn_testing_fit("stonet 1", data, NULL);
    stonet_coef_result *found = NULL;
    stonet_coef_options how = {.size = sizeof how, .pairs = 10};
    assert_int_equal(stonet_coef(net, NULL, NULL, NULL, &found), STONET_ERROR_DATA);
    assert_int_equal(stonet_coef(sir, NULL, &how, NULL, &found), STONET_ERROR_DATA);
    assert_int_equal(stonet_coef(net, data, &how, NULL, &found), STONET_ERROR_UNSUPPORTED);
    how.pairs = -1;
    assert_int_equal(stonet_coef(sir, data, &how, NULL, &found), STONET_ERROR_ARGUMENT);
    assert_null(found);
}

RUN_TESTS(NULL, NULL)
