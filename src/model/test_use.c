/* Using a model: Z, draws and what is imputed belong together, and options that make no sense are refused. */
#include "base/test_kit.h"
#include "model/test_table.h"

/* The network's noise is small (a standard deviation of .001 below an output of 3 classes): Z, its draws and
   what is imputed must be in the same coordinates, and the columns of Z uncorrelated. */
TEST(z_draws_and_imputation_have_the_same_axes)
{
    enum { N = 300 };
    SN_TABLE table = sn_table_classes(N, 6, 3, 4);
    SN_AUTO(stonet_model) *model = sn_testing_fit("stonet 2 epochs=1", table.data, NULL);
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

/* Activated units are handed out where they are the columns of Z: not where Z is made of them already, nor
   where units were added because weight decay had sent some to 0. */
TEST(activated_units_are_those_of_z_or_refused)
{
    enum { N = 100 };
    SN_TABLE table = sn_table_numbers(N, 3, 1, 6);
    static const char *const ways[] = {"stonet 2 hidden=3 epochs=300 activation=tanh weight_decay=0.001",
                                       "stonet 2 hidden=3 epochs=300 activation=tanh weight_decay=0.1"};
    float z[N * 2];
    const stonet_use_options how = {.size = sizeof how, .activated = 1};
    for (int k = 0; k < 2; k++) {
        SN_AUTO(stonet_model) *model = sn_testing_fit(ways[k], table.data, NULL);
        if (k == 0) {
            OK(stonet_transform(model, table.data, &how, z));
            for (int64_t i = 0; i < N * 2; i++) assert_true(fabs((double)z[i]) <= 1.0);
        } else {
            assert_says(stonet_transform(model, table.data, &how, z), STONET_ERROR_UNSUPPORTED, "made of");
        }
    }
    SN_AUTO(stonet_model) *model = sn_testing_fit("stonet 2 epochs=1", table.data, NULL);
    assert_says(stonet_transform(model, table.data, &how, z), STONET_ERROR_UNSUPPORTED, "already");
}

RUN_TESTS(NULL, NULL)
