/* Tables of arrays, and some rows of a table as a table of their own. */
#include "data/test_tables.h"

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

TEST(rows_come_with_all_their_cells)
{
    stonet_data *data =
        table_with("a,colour,b,kind\n1,red,10,x\n2,green,20,y\n3,red,30,x\n4,blue,40,z\n", "kind");
    SN_AUTO(stonet_data) *subset = NULL;
    const int64_t rows[] = {3, 0, 3};
    OK(stonet_data_subset(data, rows, 3, &subset));
    assert_int_equal(stonet_data_rows(subset), 3);
    assert_int_equal(stonet_data_columns(subset), 3);
    assert_string_equal(stonet_data_column_name(subset, 1), "colour");
    const float *x = subset->x;
    assert_true(x[0] == 4.0f && x[1] == 40.0f && x[2] == 1.0f && x[3] == 10.0f && x[4] == 4.0f);
    int64_t n_classes;
    const int32_t *code = stonet_data_classes(subset, &n_classes);
    assert_int_equal(n_classes, 2); /* y has no row here */
    assert_string_equal(stonet_data_class_label(subset, code[0]), "z");
    assert_string_equal(stonet_data_class_label(subset, code[1]), "x");
    assert_int_equal(code[0], code[2]);
    assert_int_equal(subset->text_values[0].count, 2);
    assert_string_equal(subset->text_values[0].text[subset->text_code[0][0]], "blue");
    assert_string_equal(subset->text_values[0].text[subset->text_code[0][1]], "red");
    stonet_data_free(data); /* the subset stands alone */
    assert_true(subset->x[0] == 4.0f);
}

TEST(numbers_and_truth_are_kept)
{
    SN_AUTO(stonet_data) *data = NULL, *subset = NULL;
    const float x[] = {1, 2, 3, 4};
    const double y[] = {10, 11, 20, 21, 30, 31, 40, 41};
    OK(stonet_data_wrap(x, 4, 1, &data));
    OK(stonet_data_set_targets(data, y, 2));
    const int64_t rows[] = {2, 1};
    OK(stonet_data_subset(data, rows, 2, &subset));
    int64_t m;
    const double *of_subset = stonet_data_targets(subset, &m);
    assert_int_equal(m, 2);
    assert_true(of_subset[0] == 30 && of_subset[1] == 31 && of_subset[2] == 20 && of_subset[3] == 21);
}

RUN_TESTS(NULL, NULL)
