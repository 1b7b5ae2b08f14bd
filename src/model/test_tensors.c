/* A model's numbers by name: read, replaced, and made a model again. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/test_says.h"
#include "model/test_table.h"

enum { ROWS = 60, COLUMNS = 4, DIM = 2 };

static stonet_model *fit(const char *method, const sn_table *table)
{
    stonet_spec *spec = sn_testing_spec(method, "2");
    if (strcmp(method, "stonet") == 0) assert_int_equal(stonet_spec_set(spec, "epochs", "2"), STONET_OK);
    stonet_model *model = NULL;
    if (stonet_fit(spec, table->data, NULL, &model) != STONET_OK) fail_msg("%s", stonet_last_error());
    stonet_spec_free(spec);
    return model;
}

static void every_tensor_has_a_name_a_shape_and_values(void **state)
{
    (void)state;
    sn_table table = sn_table_classes(ROWS, COLUMNS, 3, 1);
    for (size_t m = 0; m < 2; m++) {
        stonet_model *model = fit(m == 0 ? "stonet" : "sir", &table);
        stonet_tensors *tensors = NULL;
        assert_int_equal(stonet_model_tensors(model, &tensors), STONET_OK);
        assert_true(stonet_tensors_count(tensors) > 3);
        for (int64_t i = 0; i < stonet_tensors_count(tensors); i++) {
            const char *name = stonet_tensors_name(tensors, i);
            int64_t shape[STONET_MAX_RANK];
            int rank = 0;
            assert_int_equal(stonet_tensors_shape(tensors, name, shape, &rank), STONET_OK);
            assert_in_range(rank, 1, STONET_MAX_RANK);
            int64_t count = shape[0] * shape[1] * shape[2] * shape[3];
            double *values = sn_calloc((size_t)count + 1, sizeof *values);
            assert_int_equal(stonet_tensors_get(tensors, name, values, count), STONET_OK);
            assert_says(stonet_tensors_get(tensors, name, values, count + 1), STONET_ERROR_ARGUMENT, name);
            assert_int_equal(stonet_tensors_set(tensors, name, values, count), STONET_OK);
            sn_free(values);
        }
        assert_null(stonet_tensors_name(tensors, stonet_tensors_count(tensors)));
        /* What was written back unchanged is the same model. */
        stonet_model *back = NULL;
        assert_int_equal(stonet_tensors_model(tensors, &back), STONET_OK);
        unsigned char *a = NULL, *b = NULL;
        size_t a_size = 0, b_size = 0;
        assert_int_equal(stonet_model_save_bytes(model, &a, &a_size), STONET_OK);
        assert_int_equal(stonet_model_save_bytes(back, &b, &b_size), STONET_OK);
        assert_int_equal(a_size, b_size);
        assert_memory_equal(a, b, a_size);
        stonet_bytes_free(a);
        stonet_bytes_free(b);
        stonet_model_free(back);
        stonet_model_free(model);
        stonet_tensors_free(tensors);
    }
    sn_table_free(&table);
}

static void a_replaced_tensor_changes_the_model(void **state)
{
    (void)state;
    sn_table table = sn_table_numbers(ROWS, COLUMNS, 1, 2);
    stonet_model *model = fit("sir", &table), *other = NULL;
    stonet_tensors *tensors = NULL;
    double direction[COLUMNS * DIM];
    float before[ROWS * DIM], after[ROWS * DIM];
    assert_int_equal(stonet_model_tensors(model, &tensors), STONET_OK);
    assert_int_equal(stonet_tensors_get(tensors, "method.direction", direction, COLUMNS * DIM), STONET_OK);
    for (int i = 0; i < COLUMNS * DIM; i++) direction[i] *= 2;
    assert_int_equal(stonet_tensors_set(tensors, "method.direction", direction, COLUMNS * DIM), STONET_OK);
    assert_int_equal(stonet_tensors_model(tensors, &other), STONET_OK);
    assert_int_equal(stonet_transform(model, table.data, NULL, before), STONET_OK);
    assert_int_equal(stonet_transform(other, table.data, NULL, after), STONET_OK);
    for (int i = 0; i < ROWS * DIM; i++)
        assert_true(fabsf(after[i] - 2 * before[i]) <= 1e-5F * (1 + fabsf(after[i])));
    stonet_tensors_free(tensors);
    stonet_model_free(other);
    stonet_model_free(model);
    sn_table_free(&table);
}

static void wrong_tensors_are_refused(void **state)
{
    (void)state;
    sn_table table = sn_table_classes(ROWS, COLUMNS, 3, 3);
    stonet_model *model = fit("stonet", &table), *other = NULL;
    stonet_tensors *tensors = NULL;
    double value[64] = {0};
    int64_t shape[STONET_MAX_RANK];
    int rank = 0;
    assert_int_equal(stonet_model_tensors(model, &tensors), STONET_OK);
    assert_says(stonet_tensors_shape(tensors, "method.variance", shape, &rank), STONET_ERROR_ARGUMENT,
                "method.variances");
    assert_int_equal(stonet_tensors_shape(tensors, "method.widths", shape, &rank), STONET_OK);
    int64_t layers = shape[0];
    value[0] = 1.5; /* a width is a whole number */
    assert_says(stonet_tensors_set(tensors, "method.widths", value, layers), STONET_ERROR_ARGUMENT, "1.5");
    value[0] = (double)NAN;
    assert_says(stonet_tensors_set(tensors, "method.variances", value, layers - 1), STONET_ERROR_ARGUMENT,
                "cannot hold");
    value[0] = 9; /* a network of other widths than its weights */
    assert_int_equal(stonet_tensors_set(tensors, "method.widths", value, layers), STONET_OK);
    assert_int_equal(stonet_tensors_model(tensors, &other), STONET_ERROR_FORMAT);
    assert_null(other);
    assert_int_equal(stonet_model_tensors(NULL, &tensors), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_tensors_get(NULL, "x", value, 1), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_tensors_count(NULL), 0);
    stonet_tensors_free(tensors);
    stonet_tensors_free(NULL);
    stonet_model_free(model);
    sn_table_free(&table);
}

/* Z = constant + x B in the units of the columns, whatever the scaling was. */
static void directions_give_z(void **state)
{
    (void)state;
    sn_table table = sn_table_numbers(ROWS, COLUMNS, 1, 4);
    for (int64_t i = 0; i < ROWS; i++) table.x[i * COLUMNS + 1] *= 100;
    stonet_model *model = fit("sir", &table);
    double b[COLUMNS * DIM];
    float z[ROWS * DIM];
    assert_int_equal(stonet_model_features(model), COLUMNS);
    assert_string_equal(stonet_model_feature_name(model, 1), "x2");
    assert_null(stonet_model_feature_name(model, COLUMNS));
    assert_int_equal(stonet_model_directions(model, b), STONET_OK);
    assert_int_equal(stonet_transform(model, table.data, NULL, z), STONET_OK);
    for (int64_t i = 1; i < ROWS; i++)
        for (int64_t k = 0; k < DIM; k++) {
            double moved = 0;
            for (int64_t j = 0; j < COLUMNS; j++)
                moved += ((double)table.x[i * COLUMNS + j] - (double)table.x[j]) * b[j * DIM + k];
            assert_true(fabs(moved - ((double)z[i * DIM + k] - (double)z[k])) < 1e-4);
        }
    stonet_model_free(model);
    model = fit("ksir", &table);
    assert_says(stonet_model_directions(model, b), STONET_ERROR_UNSUPPORTED, "ksir");
    stonet_model_free(model);
    assert_int_equal(stonet_model_directions(NULL, b), STONET_ERROR_ARGUMENT);
    sn_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tensor_has_a_name_a_shape_and_values),
        cmocka_unit_test(a_replaced_tensor_changes_the_model),
        cmocka_unit_test(wrong_tensors_are_refused),
        cmocka_unit_test(directions_give_z),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
