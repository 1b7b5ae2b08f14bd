/* Rows that a model was fitted on are known again, and no others. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { N = 50, P = 3 };

static int met(const stonet_model *model, const stonet_data *data)
{
    int answer = 9;
    OK(stonet_model_met(model, data, &answer));
    return answer;
}

/* By the means of what is centred: of features that are left as they are, only a numeric response tells. */
TEST(own_rows_are_known)
{
    static const char *const ways[] = {"pca 1 scale=column", "pca 1 scale=common", "pca 1 scale=centre",
                                       "pca 1 scale=none"};
    for (int classes = 0; classes < 2; classes++) {
        SN_TABLE own = classes ? sn_table_classes(N, P, 2, 1) : sn_table_numbers(N, P, 2, 1);
        SN_TABLE other = classes ? sn_table_classes(N, P, 2, 2) : sn_table_numbers(N, P, 2, 2);
        SN_TABLE fewer = classes ? sn_table_classes(N - 2, P, 2, 1) : sn_table_numbers(N - 2, P, 2, 1);
        for (int k = 0; k < 4; k++) {
            SN_AUTO(stonet_model) *model = sn_testing_fit(ways[k], own.data, NULL);
            assert_int_equal(met(model, own.data), k < 3 || !classes);
            assert_int_equal(met(model, other.data), 0);
            assert_int_equal(met(model, fewer.data), 0);
        }
    }
}

/* Gaps in the first row of a table, from the column `first` on. */
static void make_gaps(sn_table *table, int first)
{
    for (int j = first; j < P; j++) table->x[j] = NAN;
    stonet_data_free(table->data);
    table->data = sn_testing_data(table->x, N, P, NULL);
}

/* One cell that differs is enough; columns with gaps, which have no mean of their own, are not looked at. */
TEST(a_change_is_noticed)
{
    SN_TABLE table = sn_table_features(N, P, 1);
    make_gaps(&table, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 1 scale=column", table.data, NULL);
    assert_int_equal(met(model, table.data), 1);
    table.x[P] += 0.01F;
    assert_int_equal(met(model, table.data), 0);
    stonet_model_free(model);
    make_gaps(&table, 0);
    model = sn_testing_fit("pca 1 scale=column", table.data, NULL);
    assert_int_equal(met(model, table.data), 0); /* nothing is left to tell by */
}

/* A model that was fitted without a response does not look at one. */
TEST(no_response_is_no_difference)
{
    SN_TABLE none = sn_table_features(N, P, 1), one = sn_table_numbers(N, P, 1, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 1 scale=column", none.data, NULL);
    assert_int_equal(met(model, one.data), 1);
}

TEST(refusals)
{
    int answer;
    SN_TABLE table = sn_table_features(N, P, 1), narrow = sn_table_features(N, P - 1, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 1 scale=column", table.data, NULL);
    assert_int_equal(stonet_model_met(NULL, table.data, &answer), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_model_met(model, NULL, &answer), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_model_met(model, table.data, NULL), STONET_ERROR_ARGUMENT);
    assert_int_not_equal(stonet_model_met(model, narrow.data, &answer), STONET_OK);
}

RUN_TESTS(NULL, NULL)
