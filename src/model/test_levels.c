/* levels=auto is taken where codes are no quantities, and for every method when asked. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { ROWS = 240 };

/* Two columns: codes 1 .. 5 and noise. y by the code: a quantity, or of no order. */
static sn_table codes(uint32_t seed)
{
    static const double worth[] = {2.0, -2.0, 1.0, 3.0, -3.0};
    sn_table table = sn_table_features(ROWS, 2, seed);
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 3);
    double y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        const int code = (int)(sn_random_uniform(&random) * 5.0);
        table.x[2 * i] = (float)(code + 1);
        y[i] = worth[code] + sn_random_normal(&random);
    }
    OK(stonet_data_set_targets(table.data, y, 1));
    return table;
}

static int64_t features_of(const char *words, const stonet_data *data)
{
    SN_AUTO(stonet_model) *model = sn_testing_fit(words, data, NULL);
    return stonet_model_features(model);
}

TEST(codes_without_order_become_categories)
{
    SN_TABLE table = codes(1);
    assert_int_equal(features_of("sir 1 levels=auto", table.data), 7);
    assert_int_equal(features_of("stonet 1 epochs=5 weight_decay=0.01", table.data), 7);
    assert_int_equal(features_of("sir 1", table.data), 2);
    assert_int_equal(features_of("stonet 1 levels=none epochs=5 weight_decay=0.01", table.data), 2);
    assert_int_equal(features_of("pca 1 levels=5", table.data), 7);
    assert_int_equal(features_of("pca 1 levels=4", table.data), 2);
}

/* An unseen code goes through a saved model, and a shuffled code is one variable. */
TEST(a_model_with_levels_is_used_like_any_other)
{
    SN_TABLE table = codes(2);
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1 levels=auto", table.data, NULL),
                          *back = sn_testing_again(model);
    const float fresh[4] = {9.0F, 1.0F, 2.0F, 1.0F};
    SN_AUTO(stonet_data) *rows = sn_testing_data(fresh, 2, 2, NULL);
    double out[2][2];
    OK(stonet_predict(model, rows, NULL, out[0]));
    OK(stonet_predict(back, rows, NULL, out[1]));
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_true(isfinite(out[0][0]) && fabs(out[0][1] + 2.0) < 1.0);
    SN_AUTO(stonet_importance_result) *importance = NULL;
    OK(stonet_importance(model, table.data, NULL, NULL, &importance));
    assert_int_equal(stonet_importance_rows(importance), 2);
}

RUN_TESTS(NULL, NULL)
