/* Methods that do not look at the response do without one; everything that needs it says so. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { ROWS = 80, COLUMNS = 5, DIM = 2 };

/* Z is the same as with a response, and the model goes through a file. */
TEST(z_does_not_depend_on_the_response)
{
    static const char *const methods[] = {"pca 2", "autoencoder 2 epochs=2", "none 2"};
    SN_FREED_BY(sn_table_free)
    sn_table with = sn_table_numbers(ROWS, COLUMNS, 1, 1), without = sn_table_features(ROWS, COLUMNS, 1);
    assert_memory_equal(with.x, without.x, ROWS * COLUMNS * sizeof *with.x);
    for (size_t m = 0; m < 3; m++) {
        SN_AUTO(stonet_spec) *spec = sn_testing_spec_of(methods[m]);
        SN_AUTO(stonet_model) *one = sn_testing_fit(methods[m], with.data, NULL),
                              *two = sn_testing_fit(methods[m], without.data, NULL),
                              *back = sn_testing_again(two);
        assert_int_equal(stonet_spec_needs_response(spec), 0);
        float a[ROWS * COLUMNS], b[ROWS * COLUMNS];
        OK(stonet_transform(one, with.data, NULL, a));
        OK(stonet_transform(back, with.data, NULL, b));
        assert_memory_equal(a, b, (size_t)(ROWS * stonet_model_dim(one)) * sizeof *a);
        assert_int_equal(stonet_model_outputs(back), 0);
        assert_int_equal(stonet_model_is_classifier(back), 0);
        SN_BLOCK char *about = stonet_model_json(back);
        assert_non_null(strstr(about, "\"task\": \"none\""));
    }
}

TEST(what_needs_a_response_says_so)
{
    SN_FREED_BY(sn_table_free)
    sn_table with = sn_table_numbers(ROWS, COLUMNS, 1, 1), without = sn_table_features(ROWS, COLUMNS, 1);
    stonet_model *model = NULL;
    SN_AUTO(stonet_spec) *sir = sn_testing_spec("sir", "2"), *pca = sn_testing_spec("pca", "2");
    assert_int_equal(stonet_spec_needs_response(sir), 1);
    assert_says(stonet_fit(sir, without.data, NULL, &model), STONET_ERROR_DATA, "method 'sir' needs one");
    OK(stonet_fit(pca, without.data, NULL, &model));
    double out[ROWS];
    stonet_scores scores = STONET_SCORES_INIT;
    assert_says(stonet_predict(model, with.data, NULL, out), STONET_ERROR_UNSUPPORTED, "without a response");
    assert_says(stonet_score(model, with.data, NULL, &scores), STONET_ERROR_UNSUPPORTED,
                "without a response");
    stonet_model_free(model);
    model = NULL;
    stonet_results *results = NULL;
    assert_says(stonet_tune(pca, without.data, NULL, NULL, &results), STONET_ERROR_DATA, "no target");
    assert_says(stonet_compare((const stonet_spec *const *)&pca, 1, without.data, NULL, NULL, &results),
                STONET_ERROR_DATA, "no target");
    OK(stonet_spec_set(pca, "learner", "linear"));
    assert_int_equal(stonet_spec_needs_response(pca), 1);
    assert_says(stonet_fit(pca, without.data, NULL, &model), STONET_ERROR_DATA, "learner 'linear'");
    OK(stonet_spec_set(pca, "learner", "auto"));
    OK(stonet_spec_set(pca, "task", "classification"));
    assert_says(stonet_fit(pca, without.data, NULL, &model), STONET_ERROR_DATA, "task=classification");
}

/* The test of sufficiency takes the response of its own rows: classes of text, or numbers. */
TEST(sufficiency_is_tested_on_any_response)
{
    SN_FREED_BY(sn_table_free)
    sn_table classes = sn_table_classes(ROWS, COLUMNS, 3, 2), numbers = sn_table_numbers(ROWS, COLUMNS, 2, 3),
             without = sn_table_features(ROWS, COLUMNS, 4);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 2", without.data, NULL);
    stonet_sufficiency_result result;
    OK(stonet_sufficiency(model, classes.data, NULL, NULL, &result));
    assert_true(result.p_value >= 0 && result.p_value <= 1);
    OK(stonet_sufficiency(model, numbers.data, NULL, NULL, &result));
    assert_says(stonet_sufficiency(model, without.data, NULL, NULL, &result), STONET_ERROR_DATA, "has none");
}

RUN_TESTS(NULL, NULL)
