/* Using a model: Z, draws and what is imputed belong together, and options that make no sense are refused. */
#include "base/test_kit.h"
#include "model/test_table.h"

static stonet_model *fit_one(const stonet_data *data)
{
    SN_AUTO(stonet_spec) *spec = sn_testing_spec("stonet", "2");
    OK(stonet_spec_set(spec, "epochs", "1"));
    stonet_model *model = NULL;
    OK(stonet_fit(spec, data, NULL, &model));
    return model;
}

/* The network's noise is small (a standard deviation of .001 below an output of 3 classes): Z, its draws and
   what is imputed must be in the same coordinates, and the columns of Z uncorrelated. */
TEST(z_draws_and_imputation_have_the_same_axes)
{
    enum { N = 300 };
    SN_FREED_BY(sn_table_free) sn_table table = sn_table_classes(N, 6, 3, 4);
    SN_AUTO(stonet_model) *model = fit_one(table.data);
    float z[N * 2], other[N * 2];
    OK(stonet_transform(model, table.data, NULL, z));
    double sum[5] = {0}; /* of z1, z2, z1 z2, z1^2, z2^2 */
    for (int64_t i = 0; i < N; i++) {
        const double a = (double)z[2 * i], b = (double)z[2 * i + 1];
        const double of[5] = {a, b, a * b, a * a, b * b};
        for (int k = 0; k < 5; k++) sum[k] += of[k] / N;
    }
    assert_true(sum[3] > sum[4] && sum[4] > 0.0);
    assert_true(fabs(sum[0]) < 1e-4 * sqrt(sum[3]) && fabs(sum[1]) < 1e-4 * sqrt(sum[4]));
    assert_true(fabs(sum[2]) < 1e-4 * sqrt(sum[3] * sum[4]));
    stonet_use_options how = {.size = sizeof how, .draws = 1};
    for (int way = 0; way < 2; way++) {
        OK(stonet_transform(model, table.data, &how, other));
        for (int64_t k = 0; k < N * 2; k++) assert_true(fabs((double)(other[k] - z[k])) < 0.2 * sqrt(sum[3]));
        how = (stonet_use_options){.size = sizeof how, .impute = 1};
    }
}

TEST(what_is_for_transform_is_refused_elsewhere)
{
    SN_FREED_BY(sn_table_free) sn_table table = sn_table_classes(100, 5, 2, 1);
    SN_AUTO(stonet_model) *model = fit_one(table.data);
    double out[200];
    stonet_scores scores = STONET_SCORES_INIT;
    stonet_use_options how = {.size = sizeof how, .draws = 2};
    assert_says(stonet_predict(model, table.data, &how, out), STONET_ERROR_ARGUMENT, "stonet_predict");
    how = (stonet_use_options){.size = sizeof how, .impute = 1};
    assert_says(stonet_score(model, table.data, &how, &scores), STONET_ERROR_ARGUMENT, "stonet_score");
    how = (stonet_use_options){0};
    assert_says(stonet_predict(model, table.data, &how, out), STONET_ERROR_ARGUMENT, "size");
}

/* Activated units are handed out where they are the columns of Z: not where Z is made of them already, nor
   where units were added because weight decay had sent some to 0. */
TEST(activated_units_are_those_of_z_or_refused)
{
    enum { N = 100 };
    SN_FREED_BY(sn_table_free) sn_table table = sn_table_numbers(N, 3, 1, 6);
    const char *const decay[] = {"0.001", "0.1"};
    float z[N * 2];
    const stonet_use_options how = {.size = sizeof how, .activated = 1};
    for (int k = 0; k < 2; k++) {
        SN_AUTO(stonet_spec) *spec = sn_testing_spec("stonet", "2");
        SN_AUTO(stonet_model) *model = NULL;
        OK(stonet_spec_set(spec, "hidden", "3"));
        OK(stonet_spec_set(spec, "epochs", "300"));
        OK(stonet_spec_set(spec, "weight_decay", decay[k]));
        OK(stonet_spec_set(spec, "activation", "tanh"));
        OK(stonet_fit(spec, table.data, NULL, &model));
        if (k == 0) {
            OK(stonet_transform(model, table.data, &how, z));
            for (int64_t i = 0; i < N * 2; i++) assert_true(fabs((double)z[i]) <= 1.0);
        } else {
            assert_says(stonet_transform(model, table.data, &how, z), STONET_ERROR_UNSUPPORTED, "made of");
        }
    }
    SN_AUTO(stonet_model) *model = fit_one(table.data);
    assert_says(stonet_transform(model, table.data, &how, z), STONET_ERROR_UNSUPPORTED, "already");
}

RUN_TESTS(NULL, NULL)
