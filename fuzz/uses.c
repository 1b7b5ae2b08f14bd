/*
 * What is done with a model file beside predictions: it is exported in every format, gives intervals or sets,
 * coefficients and its tensors, which make the same model again. Answers are finite, or there is a sentence.
 */
#include "fuzz/model_mutator.h"

enum { MOST = 512, ROWS = 3 };

static void check_status(stonet_status status)
{
    if (status != STONET_OK && stonet_last_error()[0] == '\0') abort();
}

static void export_all(const stonet_model *model)
{
    for (int format = STONET_EXPORT_ONNX; format <= STONET_EXPORT_JSON; format++) {
        unsigned char *bytes = NULL;
        size_t size = 0;
        const stonet_status status =
            stonet_model_export(model, (stonet_export_format)format, "model", &bytes, &size);
        check_status(status);
        if (status == STONET_OK && (bytes == NULL || size == 0)) abort();
        stonet_bytes_free(bytes);
    }
}

/* Intervals may be infinite, and an end is never missing or beyond the other one. */
static void ask_intervals(const stonet_model *model, const stonet_data *data)
{
    const int64_t outputs = stonet_model_outputs(model);
    const size_t count = (size_t)(ROWS * (outputs + 1));
    stonet_use_options how = {.size = sizeof how, .threads = 1, .level = 0.5};
    double *low = calloc(count, sizeof *low), *high = calloc(count, sizeof *high);
    unsigned char *inside = calloc(count, 1);
    if (low == NULL || high == NULL || inside == NULL) abort();
    stonet_status status = stonet_predict_interval(model, data, &how, low, high);
    check_status(status);
    for (int64_t i = 0; status == STONET_OK && i < ROWS * outputs; i++)
        if (!(low[i] <= high[i])) abort();
    status = stonet_predict_set(model, data, &how, inside);
    check_status(status);
    for (int64_t i = 0; status == STONET_OK && i < ROWS; i++)
        if (memchr(inside + i * outputs, 1, (size_t)outputs) == NULL) abort();
    free(low);
    free(high);
    free(inside);
}

static void ask_coefficients(const stonet_model *model, const stonet_data *data)
{
    const stonet_run run = {.size = sizeof run, .seed = 1, .threads = 1};
    stonet_coef_result *table = NULL;
    const stonet_status status = stonet_coef(model, data, NULL, &run, &table);
    check_status(status);
    for (int64_t i = 0; status == STONET_OK && i < stonet_coef_rows(table); i++)
        for (int64_t j = 0; j < stonet_coef_columns(table); j++)
            if (!isfinite(stonet_coef_value(table, i, j))) abort();
    stonet_coef_free(table);
}

/* Every tensor out and in again: the model is the same to the byte. */
static void turn_over(const stonet_model *model)
{
    stonet_tensors *tensors = NULL;
    stonet_model *again = NULL;
    unsigned char *bytes[2] = {NULL, NULL};
    size_t size[2] = {0, 0};
    if (stonet_model_tensors(model, &tensors) != STONET_OK) abort();
    for (int64_t k = 0; k < stonet_tensors_count(tensors); k++) {
        const char *name = stonet_tensors_name(tensors, k);
        int64_t shape[STONET_MAX_RANK], count = 1;
        int rank = 0;
        if (stonet_tensors_shape(tensors, name, shape, &rank) != STONET_OK) abort();
        for (int i = 0; i < rank; i++) count *= shape[i];
        double *values = calloc((size_t)count + 1, sizeof *values);
        if (values == NULL || stonet_tensors_get(tensors, name, values, count) != STONET_OK ||
            stonet_tensors_set(tensors, name, values, count) != STONET_OK)
            abort();
        free(values);
    }
    if (stonet_tensors_model(tensors, &again) != STONET_OK) abort();
    if (stonet_model_save_bytes(model, &bytes[0], &size[0]) != STONET_OK ||
        stonet_model_save_bytes(again, &bytes[1], &size[1]) != STONET_OK)
        abort();
    if (size[0] != size[1] || memcmp(bytes[0], bytes[1], size[0]) != 0) abort();
    for (int k = 0; k < 2; k++) stonet_bytes_free(bytes[k]);
    stonet_model_free(again);
    stonet_tensors_free(tensors);
}

static void use(const stonet_model *model)
{
    const int64_t p = stonet_model_inputs(model);
    if (p < 1 || p > MOST || stonet_model_features(model) > MOST || stonet_model_dim(model) > MOST ||
        stonet_model_outputs(model) > MOST)
        return;
    float *x = calloc((size_t)(ROWS * p), sizeof *x);
    stonet_data *data = NULL;
    if (x == NULL) abort();
    for (int64_t i = 0; i < ROWS * p; i++) x[i] = (float)(i % 5) - 1;
    if (stonet_data_wrap(x, ROWS, p, &data) != STONET_OK) abort();
    turn_over(model);
    export_all(model);
    ask_intervals(model, data);
    ask_coefficients(model, data);
    stonet_data_free(data);
    free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    stonet_model *model = NULL;
    if (stonet_model_load_bytes(bytes, size, &model) == STONET_OK) use(model);
    stonet_model_free(model);
    return 0;
}
