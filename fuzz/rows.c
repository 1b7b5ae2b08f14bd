/*
 * New rows for a model of columns of all kinds: numbers with gaps, dates with their season, ordered words,
 * towns, a column that names the rows. The bytes are the table; the model has been fitted here, with a class
 * or a number for its response, as the first byte says. Answers are finite, or there is a sentence.
 */
#include "fuzz/common.h"

enum { TRAIN = 60, MOST_ROWS = 2000, KINDS = 2 };

static stonet_model *models[KINDS];

static stonet_data *training_rows(const char *target)
{
    static const char *const size[] = {"low", "mid", "high"}, *const town[] = {"Ulm", "Bonn", "Kiel", ""};
    static const char *const order[] = {"size=low,mid,high"};
    static char text[TRAIN * 80];
    size_t length = (size_t)snprintf(text, sizeof text, "key,a,b,day,size,town,y,label\n");
    for (int i = 0; i < TRAIN; i++) {
        const double a = i * 37 % 41 / 41.0, b = 1e6 + i * 17 % 43 / 43.0;
        char cell[32] = "";
        if (i % 7 != 3) snprintf(cell, sizeof cell, "%.4f", b);
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "k%d,%.4f,%s,2024-0%d-1%d,%s,%s,%.4f,%s\n", i, a, cell, 1 + i % 9, i % 10,
                                   size[i % 3], town[i % 4], a + b - 1e6, a > b - 1e6 ? "hi" : "lo");
    }
    stonet_read_options how = {.size = sizeof how,
                               .threads = 1,
                               .target = target,
                               .id = "key",
                               .season = "day",
                               .ordinal = order,
                               .n_ordinal = 1,
                               .drop = strcmp(target, "y") == 0 ? "label" : "y"};
    stonet_data *data = NULL;
    if (stonet_data_read(file_of((const uint8_t *)text, length), &how, &data) != STONET_OK) abort();
    return data;
}

static void fit_models(void)
{
    static const char *const targets[KINDS] = {"y", "label"};
    const stonet_run run = {.size = sizeof run, .seed = 1, .threads = 1};
    for (int k = 0; k < KINDS; k++) {
        stonet_data *data = training_rows(targets[k]);
        stonet_spec *spec = NULL;
        if (stonet_spec_create("sir", &spec) != STONET_OK || stonet_spec_set(spec, "dim", "1") != STONET_OK ||
            stonet_spec_set(spec, "missing_indicators", "on") != STONET_OK ||
            stonet_fit(spec, data, &run, &models[k]) != STONET_OK)
            abort();
        stonet_spec_free(spec);
        stonet_data_free(data);
    }
}

static void check_finite(stonet_status status, const double *values, int64_t count)
{
    if (status != STONET_OK && stonet_last_error()[0] == '\0') abort();
    for (int64_t i = 0; status == STONET_OK && i < count; i++)
        if (!isfinite(values[i])) abort();
}

static void send(const stonet_model *model, const stonet_data *data)
{
    const int64_t n = stonet_data_rows(data), outputs = stonet_model_outputs(model);
    const stonet_run run = {.size = sizeof run, .seed = 1, .threads = 1};
    const stonet_use_options how = {.size = sizeof how, .seed = 1, .threads = 1, .cell_draws = 2};
    if (n > MOST_ROWS) return;
    float *z = calloc((size_t)n, sizeof *z);
    double *answer = calloc((size_t)(n * outputs), sizeof *answer);
    if (z == NULL || answer == NULL) abort();
    const stonet_status status = stonet_transform(model, data, &how, z);
    for (int64_t i = 0; status == STONET_OK && i < n; i++)
        if (!isfinite(z[i])) abort();
    check_finite(status, NULL, 0);
    const int64_t answers = stonet_model_is_classifier(model) ? n : n * outputs;
    check_finite(stonet_predict(model, data, NULL, answer), answer, answers);
    check_finite(stonet_check_rows(model, data, &run), NULL, 0);
    free(z);
    free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (models[0] == NULL) fit_models();
    if (size < 1) return 0;
    const stonet_model *model = models[bytes[0] % KINDS];
    const stonet_read_options how = {
        .size = sizeof how, .threads = 1, .own_target = bytes[0] / KINDS % 2, .drop_missing_target = 1};
    stonet_data *data = NULL;
    if (stonet_data_read_for(model, file_of(bytes + 1, size - 1), &how, &data) == STONET_OK) {
        check_table(data);
        send(model, data);
    } else if (data != NULL || stonet_last_error()[0] == '\0') {
        abort();
    }
    stonet_data_free(data);
    return 0;
}
