#include "data/test_tables.h"

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
