/*
 * Model files: what loads must also describe itself, save itself and load again, and let rows through, one
 * with missing cells, with finite answers or none.
 */
#include "fuzz/model_mutator.h"

static void check_finite(stonet_status status, const double *values, int64_t count)
{
    for (int64_t i = 0; status == STONET_OK && i < count; i++)
        if (!isfinite(values[i])) abort();
}

static void send_rows(const stonet_model *model)
{
    enum { MOST = 4096, ROWS = 2 };
    int64_t p = stonet_model_inputs(model), q = stonet_model_dim(model),
            outputs = stonet_model_outputs(model);
    if (p < 1 || p > MOST || q > MOST || outputs > MOST) return;
    float *x = calloc((size_t)(ROWS * p), sizeof *x), *z = calloc((size_t)(ROWS * q), sizeof *z);
    double *out = calloc((size_t)(ROWS * (outputs + 1)), sizeof *out);
    double *wide = calloc((size_t)(ROWS * q), sizeof *wide);
    stonet_data *data = NULL;
    if (x == NULL || z == NULL || out == NULL || wide == NULL) abort();
    for (int64_t j = 0; j < p; j++) {
        x[j] = (float)(j % 3) - 1;
        x[p + j] = j % 3 == 1 ? NAN : 2;
    }
    if (stonet_data_wrap(x, ROWS, p, &data) == STONET_OK) {
        stonet_status status = stonet_transform(model, data, NULL, z);
        for (int64_t k = 0; k < ROWS * q; k++) wide[k] = (double)z[k];
        check_finite(status, wide, ROWS * q);
        check_finite(stonet_predict(model, data, NULL, out), out, ROWS * outputs);
    }
    stonet_data_free(data);
    free(x);
    free(z);
    free(out);
    free(wide);
}

static void use(const stonet_model *model)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    stonet_model *again = NULL;
    char *text = stonet_model_json(model);
    if (text == NULL) abort();
    stonet_string_free(text);
    if (stonet_model_save_bytes(model, &bytes, &size) != STONET_OK) abort();
    if (stonet_model_load_bytes(bytes, size, &again) != STONET_OK) abort();
    stonet_model_free(again);
    stonet_bytes_free(bytes);
    send_rows(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    stonet_model *model = NULL;
    if (stonet_model_load_bytes(bytes, size, &model) == STONET_OK)
        use(model);
    else if (model != NULL || stonet_last_error()[0] == '\0')
        abort();
    stonet_model_free(model);
    return 0;
}
