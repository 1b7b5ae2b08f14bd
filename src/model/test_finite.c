/* No answer that is not a number leaves without a word: rows far away, and models with NaN in them. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { ROWS = 40, COLUMNS = 3 };

static stonet_model *fitted(const sn_method *method, const sn_table *table)
{
    return sn_testing_fit(sn_testing_words("%s 1 hurry", method->name), table->data, NULL);
}

/* A call either fails and names the row, or all its numbers are finite. */
static void check_call(const char *method, stonet_status status, const double *values, int64_t count)
{
    if (status == STONET_OK) {
        for (int64_t i = 0; i < count; i++)
            if (!isfinite(values[i])) fail_msg("%s gives %g for a row far away", method, values[i]);
    } else if (strstr(stonet_last_error(), "row 2") == NULL) {
        fail_msg("%s: %s", method, stonet_last_error());
    }
}

TEST(rows_far_away_are_refused_or_answered)
{
    const float far[] = {3e38f, -3e38f, 1e30f, 1e20f};
    sn_table tables[] = {sn_table_numbers(ROWS, COLUMNS, 1, 1), sn_table_classes(ROWS, COLUMNS, 2, 1)};
    for (size_t k = 0; k < 2 * sn_method_count(); k++) {
        const sn_method *method = sn_method_at(k / 2);
        SN_AUTO(stonet_model) *model = fitted(method, &tables[k % 2]);
        for (size_t v = 0; v < sizeof far / sizeof *far; v++) {
            float x[2 * COLUMNS] = {3, 3, 3, far[v], 3, far[v]}, z[2 * COLUMNS] = {0};
            double wide[2 * COLUMNS] = {0}, out[4] = {0};
            SN_AUTO(stonet_data) *data = NULL;
            OK(stonet_data_wrap(x, 2, COLUMNS, &data));
            stonet_status status = stonet_transform(model, data, NULL, z);
            for (int i = 0; i < 2 * model->dim; i++) wide[i] = (double)z[i];
            check_call(method->name, status, wide, 2 * model->dim);
            check_call(method->name, stonet_predict(model, data, NULL, out), out,
                       2 * stonet_model_outputs(model));
        }
    }
    sn_table_free(&tables[0]);
    sn_table_free(&tables[1]);
}

TEST(a_model_with_nan_or_inf_is_refused)
{
    SN_TABLE table = sn_table_numbers(ROWS, COLUMNS, 1, 1);
    for (size_t k = 0; k < sn_method_count(); k++) {
        SN_AUTO(stonet_model) *model = fitted(sn_method_at(k), &table), *back = NULL;
        SN_AUTO(sn_store) *store = sn_testing_store(model);
        for (size_t t = 0; t < sn_store_tensors(store); t++) {
            const sn_tensor *tensor = sn_store_tensor(store, t);
            if (sn_tensor_count(tensor) == 0 || (tensor->dtype != SN_F32 && tensor->dtype != SN_F64))
                continue;
            const float not_single = (float)NAN;
            const double not_real = t % 2 == 0 ? (double)NAN : (double)INFINITY;
            size_t size = sn_dtype_size(tensor->dtype);
            unsigned char *last =
                (unsigned char *)tensor->data + size * (size_t)(sn_tensor_count(tensor) - 1);
            unsigned char held[8];
            memcpy(held, last, size);
            memcpy(last, size == 4 ? (const void *)&not_single : &not_real, size);
            assert_int_equal(sn_model_from_store(store, &back), STONET_ERROR_FORMAT);
            assert_non_null(strstr(stonet_last_error(), tensor->name));
            assert_non_null(strstr(stonet_last_error(), "finite number"));
            memcpy(last, held, size);
        }
        OK(sn_model_from_store(store, &back));
    }
}

RUN_TESTS(NULL, NULL)
