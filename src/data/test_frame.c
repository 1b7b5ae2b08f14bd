#include "base/test_kit.h"
#include "data/frame.h"

TEST(test_wrap)
{
    const float x[] = {1, 2, 3, 4, 5, 6};
    SN_AUTO(stonet_data) *data = NULL;
    OK(stonet_data_wrap(x, 2, 3, &data));
    assert_ptr_equal(stonet_data_x(data), x);
    assert_int_equal(stonet_data_rows(data), 2);
    assert_int_equal(stonet_data_columns(data), 3);
    assert_string_equal(stonet_data_column_name(data, 2), "x3");
    assert_null(stonet_data_column_name(data, -1));
    int64_t count;
    assert_null(stonet_data_targets(data, &count));
    assert_int_equal(count, 0);
    assert_null(stonet_data_classes(data, &count));
    assert_null(stonet_data_truth(data, &count));
    assert_int_equal(count, 0);
    OK(stonet_data_set_names(data, (const char *[]){"a", "a", "a.2"}));
    assert_string_equal(stonet_data_column_name(data, 1), "a.3"); /* not the name that another one has */
    OK(stonet_data_set_names(data, (const char *[]){"a", "b", "c"}));
    assert_string_equal(stonet_data_column_name(data, 2), "c");
    assert_int_equal(stonet_data_set_names(data, (const char *[]){"a", NULL, "c"}), STONET_ERROR_ARGUMENT);
    stonet_data_free(NULL);
}

TEST(test_targets)
{
    const float x[] = {1, 2};
    SN_AUTO(stonet_data) *data = NULL;
    int64_t count;
    OK(stonet_data_wrap(x, 2, 1, &data));
    OK(stonet_data_set_targets(data, (double[]){1, 2, 3, 4}, 2));
    assert_true(stonet_data_targets(data, &count)[3] == 4);
    assert_int_equal(count, 2);
    assert_string_equal(data->target_name[1], "y2");
    /* The last one set counts. */
    OK(stonet_data_set_classes(data, (int32_t[]){1, 0}, (const char *[]){"no", "yes"}, 2));
    assert_null(stonet_data_targets(data, &count));
    assert_int_equal(stonet_data_classes(data, &count)[0], 1);
    assert_int_equal(count, 2);
    assert_string_equal(stonet_data_class_label(data, 1), "yes");
    assert_null(stonet_data_class_label(data, 2));
}

TEST(test_refusals)
{
    const float x[] = {1, 2, (float)NAN, 4, (float)INFINITY, 6};
    SN_AUTO(stonet_data) *data = NULL;
    assert_int_equal(stonet_data_wrap(x, 3, 2, &data), STONET_ERROR_DATA);
    assert_string_equal(stonet_last_error(), "row 3, column 1: the value is infinite");
    assert_null(data);
    OK(stonet_data_wrap(x, 1, 2, &data));
    assert_int_equal(stonet_data_set_classes(data, (int32_t[]){2}, (const char *[]){"a", "b"}, 2),
                     STONET_ERROR_ARGUMENT);
    assert_string_equal(stonet_last_error(), "row 1 has class code 2, and the codes go from 0 to 1");
    assert_int_equal(stonet_data_set_classes(data, (int32_t[]){0}, (const char *[]){"a", NULL}, 2),
                     STONET_ERROR_ARGUMENT);
}

RUN_TESTS(NULL, NULL)
