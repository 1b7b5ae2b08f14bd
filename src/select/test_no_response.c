/* Methods that do not look at the response do without one; everything that needs it says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/test_says.h"
#include "model/test_table.h"

enum { ROWS = 80, COLUMNS = 5, DIM = 2 };

static stonet_spec *quick_spec(const char *method)
{
    stonet_spec *spec = sn_testing_spec(method, "2");
    if (strcmp(method, "autoencoder") == 0) assert_int_equal(stonet_spec_set(spec, "epochs", "2"), STONET_OK);
    return spec;
}

/* Z is the same as with a response, and the model goes through a file. */
static void z_does_not_depend_on_the_response(void **state)
{
    (void)state;
    const char *const methods[] = {"pca", "autoencoder", "none"};
    sn_table with = sn_table_numbers(ROWS, COLUMNS, 1, 1), without = sn_table_features(ROWS, COLUMNS, 1);
    assert_memory_equal(with.x, without.x, ROWS * COLUMNS * sizeof *with.x);
    for (size_t m = 0; m < 3; m++) {
        stonet_spec *spec = quick_spec(methods[m]);
        stonet_model *one = NULL, *two = NULL, *back = NULL;
        assert_int_equal(stonet_spec_needs_response(spec), 0);
        assert_int_equal(stonet_fit(spec, with.data, NULL, &one), STONET_OK);
        if (stonet_fit(spec, without.data, NULL, &two) != STONET_OK) fail_msg("%s", stonet_last_error());
        unsigned char *bytes = NULL;
        size_t size = 0;
        assert_int_equal(stonet_model_save_bytes(two, &bytes, &size), STONET_OK);
        if (stonet_model_load_bytes(bytes, size, &back) != STONET_OK) fail_msg("%s", stonet_last_error());
        float a[ROWS * COLUMNS], b[ROWS * COLUMNS];
        assert_int_equal(stonet_transform(one, with.data, NULL, a), STONET_OK);
        assert_int_equal(stonet_transform(back, with.data, NULL, b), STONET_OK);
        assert_memory_equal(a, b, (size_t)(ROWS * stonet_model_dim(one)) * sizeof *a);
        assert_int_equal(stonet_model_outputs(back), 0);
        assert_int_equal(stonet_model_is_classifier(back), 0);
        char *about = stonet_model_json(back);
        assert_non_null(strstr(about, "\"task\": \"none\""));
        stonet_string_free(about);
        stonet_bytes_free(bytes);
        stonet_model_free(one);
        stonet_model_free(two);
        stonet_model_free(back);
        stonet_spec_free(spec);
    }
    sn_table_free(&with);
    sn_table_free(&without);
}

static void what_needs_a_response_says_so(void **state)
{
    (void)state;
    sn_table with = sn_table_numbers(ROWS, COLUMNS, 1, 1), without = sn_table_features(ROWS, COLUMNS, 1);
    stonet_model *model = NULL;
    stonet_spec *sir = quick_spec("sir"), *pca = quick_spec("pca");
    assert_int_equal(stonet_spec_needs_response(sir), 1);
    assert_says(stonet_fit(sir, without.data, NULL, &model), STONET_ERROR_DATA, "method 'sir' needs one");
    assert_int_equal(stonet_fit(pca, without.data, NULL, &model), STONET_OK);
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
    assert_int_equal(stonet_spec_set(pca, "learner", "linear"), STONET_OK);
    assert_int_equal(stonet_spec_needs_response(pca), 1);
    assert_says(stonet_fit(pca, without.data, NULL, &model), STONET_ERROR_DATA, "learner 'linear'");
    assert_int_equal(stonet_spec_set(pca, "learner", "auto"), STONET_OK);
    assert_int_equal(stonet_spec_set(pca, "task", "classification"), STONET_OK);
    assert_says(stonet_fit(pca, without.data, NULL, &model), STONET_ERROR_DATA, "task=classification");
    stonet_spec_free(sir);
    stonet_spec_free(pca);
    sn_table_free(&with);
    sn_table_free(&without);
}

/* The test of sufficiency takes the response of its own rows: classes of text, or numbers. */
static void sufficiency_is_tested_on_any_response(void **state)
{
    (void)state;
    sn_table classes = sn_table_classes(ROWS, COLUMNS, 3, 2), numbers = sn_table_numbers(ROWS, COLUMNS, 2, 3),
             without = sn_table_features(ROWS, COLUMNS, 4);
    stonet_spec *pca = quick_spec("pca");
    stonet_model *model = NULL;
    stonet_sufficiency_result result;
    assert_int_equal(stonet_fit(pca, without.data, NULL, &model), STONET_OK);
    assert_int_equal(stonet_sufficiency(model, classes.data, NULL, NULL, &result), STONET_OK);
    assert_true(result.p_value >= 0 && result.p_value <= 1);
    assert_int_equal(stonet_sufficiency(model, numbers.data, NULL, NULL, &result), STONET_OK);
    assert_says(stonet_sufficiency(model, without.data, NULL, NULL, &result), STONET_ERROR_DATA, "has none");
    stonet_model_free(model);
    stonet_spec_free(pca);
    sn_table_free(&classes);
    sn_table_free(&numbers);
    sn_table_free(&without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(z_does_not_depend_on_the_response),
        cmocka_unit_test(what_needs_a_response_says_so),
        cmocka_unit_test(sufficiency_is_tested_on_any_response),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
