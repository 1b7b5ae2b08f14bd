/* Public calls with arguments that make no sense: an error or nothing, never a crash. */
#include "base/test_kit.h"
#include "model/test_table.h"

TEST(no_handle_is_no_crash)
{
    int64_t count = 7;
    double value;
    assert_int_equal(stonet_data_rows(NULL), 0);
    assert_int_equal(stonet_data_columns(NULL), 0);
    assert_null(stonet_data_column_name(NULL, 0));
    assert_null(stonet_data_x(NULL));
    assert_null(stonet_data_targets(NULL, &count));
    assert_int_equal(count, 0);
    assert_null(stonet_data_classes(NULL, NULL));
    assert_null(stonet_data_class_label(NULL, 0));
    assert_null(stonet_data_truth(NULL, NULL));
    assert_null(stonet_data_column_codes(NULL, 0, NULL));
    assert_null(stonet_data_column_text(NULL, 0, 0));
    assert_int_equal(stonet_data_column_numbers(NULL, 0, &value), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_data_set_names(NULL, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_data_set_classes(NULL, NULL, NULL, 1), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_data_set_targets(NULL, &value, 1), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_data_wrap(NULL, 1, 1, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_data_read(NULL, NULL, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_data_write(NULL, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_data_subset(NULL, NULL, 1, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_generate(NULL, 1, 1, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_matrix_write(NULL, &value, 1, 1, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_bytes_write(NULL, NULL, 1), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_path_check(NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_spec_parse(NULL, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_spec_read(NULL, NULL), STONET_ERROR_ARGUMENT);
    assert_null(stonet_spec_json(NULL));
    assert_int_equal(stonet_fit(NULL, NULL, NULL, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_fit_more(NULL, NULL, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_model_dim(NULL) + stonet_model_outputs(NULL) + stonet_model_inputs(NULL), 0);
    assert_int_equal(stonet_model_is_classifier(NULL), 0);
    assert_int_equal(stonet_model_outcome(NULL), STONET_DONE);
    assert_null(stonet_model_class_label(NULL, 0));
    assert_null(stonet_model_input_name(NULL, 0));
    assert_null(stonet_model_target_name(NULL, 0));
    assert_int_equal(stonet_model_targets(NULL), 0);
    assert_null(stonet_data_id_name(NULL));
    assert_null(stonet_data_id(NULL, 0));
    assert_int_equal(stonet_check_rows(NULL, NULL, NULL), STONET_ERROR_ARGUMENT);
    assert_null(stonet_model_feature_name(NULL, 0));
    assert_null(stonet_model_json(NULL));
    assert_null(stonet_model_history_csv(NULL));
    assert_int_equal(stonet_results_rows(NULL), 0);
    assert_int_equal(stonet_results_best(NULL), -1);
    assert_int_equal(stonet_results_simplest(NULL, 1), -1);
    assert_null(stonet_results_json(NULL));
    assert_null(stonet_results_csv(NULL));
    assert_null(stonet_results_criterion(NULL));
    assert_null(stonet_nearest(NULL, NULL, 3));
    assert_int_equal(stonet_permutation(1, 1, 3, NULL), STONET_ERROR_ARGUMENT);
}

/* Sizes whose product is no number: no loop may start on them. */
TEST(sizes_beyond_memory_are_told)
{
    float x[4] = {1, 2, 3, 4};
    double y[4] = {1, 2, 3, 4};
    stonet_data *data = NULL;
    assert_says(stonet_data_wrap(x, (int64_t)1 << 62, 1, &data), STONET_ERROR_ARGUMENT, "no memory holds");
    assert_says(stonet_data_wrap(x, (int64_t)1 << 32, (int64_t)1 << 32, &data), STONET_ERROR_ARGUMENT,
                "no memory holds");
    assert_null(data);
    OK(stonet_data_wrap(x, 2, 2, &data));
    assert_says(stonet_data_set_targets(data, y, (int64_t)1 << 62), STONET_ERROR_ARGUMENT, "no memory holds");
    stonet_data_free(data);
    assert_int_not_equal(stonet_generate("waveform", (int64_t)1 << 62, 1, &data), STONET_OK);
    assert_says(stonet_matrix_write("never.npy", y, (int64_t)1 << 62, 4, NULL), STONET_ERROR_ARGUMENT,
                "no memory holds");
    stonet_independence_result result;
    const stonet_sides sides = {.n = (int64_t)1 << 62, .dx = 4, .dy = 4, .x = y, .y = y};
    assert_int_not_equal(stonet_independence(&sides, NULL, NULL, &result), STONET_OK);
    assert_int_not_equal(stonet_independence(NULL, NULL, NULL, &result), STONET_OK);
}

TEST(labels_are_all_different)
{
    float x[4] = {1, 2, 3, 4};
    const int32_t codes[4] = {0, 1, 2, 0};
    const char *const labels[] = {"a", "b", "a"};
    SN_AUTO(stonet_data) *data = NULL;
    OK(stonet_data_wrap(x, 4, 1, &data));
    assert_says(stonet_data_set_classes(data, codes, labels, 3), STONET_ERROR_ARGUMENT, "same label 'a'");
    assert_null(stonet_data_classes(data, NULL));
}

/* A loop over stonet_data_columns and stonet_data_x stays inside, and each column can be had by itself. */
TEST(columns_of_both_kinds)
{
    SN_AUTO(stonet_data) *data = sn_testing_read("a,word,b\n1,red,2.5\n3,blue,4\n5,red,6\n", NULL);
    assert_int_equal(stonet_data_columns(data), 3);
    assert_null(stonet_data_x(data));
    double values[3];
    OK(stonet_data_column_numbers(data, 2, values));
    assert_true(values[0] == 2.5 && values[1] == 4 && values[2] == 6);
    assert_says(stonet_data_column_numbers(data, 1, values), STONET_ERROR_DATA, "word");
    assert_says(stonet_data_column_numbers(data, 3, values), STONET_ERROR_ARGUMENT, "no column");
    int64_t n_texts = -1;
    const int32_t *code = stonet_data_column_codes(data, 1, &n_texts);
    assert_non_null(code);
    assert_int_equal(n_texts, 2);
    assert_string_equal(stonet_data_column_text(data, 1, code[1]), "blue");
    assert_string_equal(stonet_data_column_text(data, 1, code[2]), "red");
    assert_null(stonet_data_column_text(data, 1, 2));
    assert_null(stonet_data_column_codes(data, 0, &n_texts));
    assert_int_equal(n_texts, 0);
}

TEST(words_and_numbers_for_programs)
{
    const char *const words[] = {"fit", "transform", "predict"};
    assert_string_equal(stonet_nearest("transfrom", words, 3), "transform");
    assert_null(stonet_nearest("zzz", words, 3));
    char text[STONET_NUMBER_SIZE];
    assert_int_equal(stonet_number_text(0.1, text), 3);
    assert_string_equal(text, "0.1");
    int64_t order[5], again[5], seen = 0;
    OK(stonet_permutation(3, 4, 5, order));
    OK(stonet_permutation(3, 4, 5, again));
    assert_memory_equal(order, again, sizeof order);
    for (int i = 0; i < 5; i++) seen |= (int64_t)1 << order[i];
    assert_int_equal(seen, 31);
    double a[3], b[3];
    OK(stonet_normals(1, 2, 3, a));
    OK(stonet_normals(1, 3, 3, b));
    assert_true(a[0] != b[0]);
    assert_says(stonet_normals(1, UINT64_MAX, 3, b), STONET_ERROR_ARGUMENT, "stream");
    assert_says(stonet_fail(STONET_ERROR_DATA, "100% mine"), STONET_ERROR_DATA, "100% mine");
    assert_true(stonet_paired_t_test(1, a, b) == 1.0);
}

RUN_TESTS(NULL, NULL)
