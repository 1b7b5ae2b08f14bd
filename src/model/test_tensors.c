/* A model's numbers by name: read, replaced, and made a model again. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { ROWS = 60, COLUMNS = 4, DIM = 2 };

TEST(every_tensor_has_a_name_a_shape_and_values)
{
    SN_TABLE table = sn_table_classes(ROWS, COLUMNS, 3, 1);
    for (size_t m = 0; m < 2; m++) {
        SN_AUTO(stonet_model) *model =
            sn_testing_fit(m == 0 ? "stonet 2 epochs=2" : "sir 2", table.data, NULL);
        SN_AUTO(stonet_tensors) *tensors = NULL;
        OK(stonet_model_tensors(model, &tensors));
        assert_true(stonet_tensors_count(tensors) > 3);
        for (int64_t i = 0; i < stonet_tensors_count(tensors); i++) {
            const char *name = stonet_tensors_name(tensors, i);
            int64_t shape[STONET_MAX_RANK];
            int rank = 0;
            OK(stonet_tensors_shape(tensors, name, shape, &rank));
            assert_in_range(rank, 1, STONET_MAX_RANK);
            int64_t count = shape[0] * shape[1] * shape[2] * shape[3];
            SN_BLOCK double *values = sn_calloc((size_t)count + 1, sizeof *values);
            OK(stonet_tensors_get(tensors, name, values, count));
            assert_says(stonet_tensors_get(tensors, name, values, count + 1), STONET_ERROR_ARGUMENT, name);
            OK(stonet_tensors_set(tensors, name, values, count));
        }
        assert_null(stonet_tensors_name(tensors, stonet_tensors_count(tensors)));
        /* What was written back unchanged is the same model. */
        SN_AUTO(stonet_model) *back = NULL;
        OK(stonet_tensors_model(tensors, &back));
        assert_same_model(model, back);
    }
}

TEST(a_replaced_tensor_changes_the_model)
{
    SN_TABLE table = sn_table_numbers(ROWS, COLUMNS, 1, 2);
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 2", table.data, NULL), *other = NULL;
    SN_AUTO(stonet_tensors) *tensors = NULL;
    double direction[COLUMNS * DIM];
    float before[ROWS * DIM], after[ROWS * DIM];
    OK(stonet_model_tensors(model, &tensors));
    OK(stonet_tensors_get(tensors, "method.direction", direction, COLUMNS * DIM));
    for (int i = 0; i < COLUMNS * DIM; i++) direction[i] *= 2;
    OK(stonet_tensors_set(tensors, "method.direction", direction, COLUMNS * DIM));
    OK(stonet_tensors_model(tensors, &other));
    OK(stonet_transform(model, table.data, NULL, before));
    OK(stonet_transform(other, table.data, NULL, after));
    for (int i = 0; i < ROWS * DIM; i++)
        assert_true(fabsf(after[i] - 2 * before[i]) <= 1e-5F * (1 + fabsf(after[i])));
}

TEST(wrong_tensors_are_refused)
{
    SN_TABLE table = sn_table_classes(ROWS, COLUMNS, 3, 3);
    SN_AUTO(stonet_model) *model = sn_testing_fit("stonet 2 epochs=2", table.data, NULL), *other = NULL;
    SN_AUTO(stonet_tensors) *tensors = NULL;
    double value[64] = {0};
    int64_t shape[STONET_MAX_RANK];
    int rank = 0;
    OK(stonet_model_tensors(model, &tensors));
    assert_says(stonet_tensors_shape(tensors, "method.variance", shape, &rank), STONET_ERROR_ARGUMENT,
                "method.variances");
    OK(stonet_tensors_shape(tensors, "method.widths", shape, &rank));
    int64_t layers = shape[0];
    value[0] = 1.5; /* a width is a whole number */
    assert_says(stonet_tensors_set(tensors, "method.widths", value, layers), STONET_ERROR_ARGUMENT, "1.5");
    value[0] = (double)NAN;
    assert_says(stonet_tensors_set(tensors, "method.variances", value, layers - 1), STONET_ERROR_ARGUMENT,
                "cannot hold");
    value[0] = 9; /* a network of other widths than its weights */
    OK(stonet_tensors_set(tensors, "method.widths", value, layers));
    assert_int_equal(stonet_tensors_model(tensors, &other), STONET_ERROR_FORMAT);
    assert_null(other);
}

/* Z = constant + x B in the units of the columns, whatever the scaling was. */
TEST(directions_give_z)
{
    SN_TABLE table = sn_table_numbers(ROWS, COLUMNS, 1, 4);
    for (int64_t i = 0; i < ROWS; i++) table.x[i * COLUMNS + 1] *= 100;
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 2", table.data, NULL);
    double b[COLUMNS * DIM];
    float z[ROWS * DIM];
    assert_int_equal(stonet_model_features(model), COLUMNS);
    assert_string_equal(stonet_model_feature_name(model, 1), "x2");
    assert_null(stonet_model_feature_name(model, COLUMNS));
    OK(stonet_model_directions(model, b));
    OK(stonet_transform(model, table.data, NULL, z));
    for (int64_t i = 1; i < ROWS; i++)
        for (int64_t k = 0; k < DIM; k++) {
            double moved = 0;
            for (int64_t j = 0; j < COLUMNS; j++)
                moved += ((double)table.x[i * COLUMNS + j] - (double)table.x[j]) * b[j * DIM + k];
            assert_true(fabs(moved - ((double)z[i * DIM + k] - (double)z[k])) < 1e-4);
        }
    stonet_model_free(model);
    model = sn_testing_fit("ksir 2", table.data, NULL);
    assert_says(stonet_model_directions(model, b), STONET_ERROR_UNSUPPORTED, "ksir");
}

RUN_TESTS(NULL, NULL)
