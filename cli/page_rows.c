/* The rows of a page: Z, predictions and responses of all, and the few that are shown one by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page.h"
#include "cli/plot_z.h"
#include "cli/say.h"

void page_rows_free(page_rows *rows)
{
    free(rows->z);
    free(rows->predicted);
    free(rows->own_label);
    *rows = (page_rows){0};
}

int page_rows_make(const page_subject *about, page_rows *rows)
{
    const stonet_use_options how = {.size = sizeof how, .threads = about->run->threads, .seed = 1};
    *rows = (page_rows){.n = stonet_data_rows(about->data),
                        .dim = stonet_model_dim(about->model),
                        .outputs = stonet_model_outputs(about->model),
                        .is_classifier = stonet_model_is_classifier(about->model) != 0};
    rows->z = malloc((size_t)(rows->n * rows->dim + 1) * sizeof *rows->z);
    rows->predicted = malloc((size_t)(rows->n * rows->outputs + 1) * sizeof *rows->predicted);
    if (rows->z == NULL || rows->predicted == NULL) {
        say_error(about->command, "memory ran out");
        return EXIT_FAILED;
    }
    stonet_status status = stonet_transform(about->model, about->data, &how, rows->z);
    if (status != STONET_OK) return say_failure(about->command, status);
    if (rows->outputs > 0) status = stonet_predict(about->model, about->data, &how, rows->predicted);
    if (rows->outputs == 0 || status == STONET_ERROR_UNSUPPORTED) { /* Z alone */
        free(rows->predicted);
        rows->predicted = NULL;
    } else if (status != STONET_OK) {
        return say_failure(about->command, status);
    }
    if (!rows->is_classifier) rows->response = stonet_data_targets(about->data, NULL);
    const bool has_labels =
        stonet_data_classes(about->data, NULL) != NULL || stonet_data_targets(about->data, NULL) != NULL;
    if (!rows->is_classifier || !has_labels) return EXIT_DONE;
    rows->own_label = model_labels(about->model, about->data);
    rows->label = rows->own_label;
    if (rows->label != NULL) return EXIT_DONE;
    say_error(about->command, "memory ran out");
    return EXIT_FAILED;
}

/* ---- the rows that are shown ------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* `most` of n rows, drawn by the seed, in their order. */
static int64_t *draw_rows(uint64_t seed, int64_t n, int64_t most, int64_t *count)
{
    enum { STREAM = 14 };
    int64_t *order = malloc((size_t)(n + 1) * sizeof *order);
    if (order == NULL || stonet_permutation(seed, STREAM, n, order) != STONET_OK) {
        free(order);
        return NULL;
    }
    *count = n < most ? n : most;
    qsort(order, (size_t)*count, sizeof *order, compare_rows);
    return order;
}

/* One number of each drawn row: values[row * stride + offset]. */
static json_t *column_json(const double *values, int64_t stride, int64_t offset, const int64_t *row,
                           int64_t count)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++) list = page_add(list, json_number(values[row[i] * stride + offset]));
    return list;
}

/* Several such columns; NULL when one of them failed. */
static json_t *columns_json(const double *values, int64_t columns, const int64_t *row, int64_t count)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < columns; k++) list = page_add(list, column_json(values, columns, k, row, count));
    return list;
}

static json_t *z_json(const page_rows *rows, const int64_t *row, int64_t count)
{
    double *z = malloc((size_t)(rows->n * rows->dim + 1) * sizeof *z);
    if (z == NULL) return NULL;
    for (int64_t i = 0; i < rows->n * rows->dim; i++) z[i] = (double)rows->z[i];
    json_t *list = columns_json(z, rows->dim, row, count);
    free(z);
    return list;
}

int64_t page_best_class(const page_rows *rows, int64_t i)
{
    const double *at = rows->predicted + i * rows->outputs;
    int64_t best = 0;
    for (int64_t k = 1; k < rows->outputs; k++)
        if (at[k] > at[best]) best = k;
    return best;
}

/* Classes: one list of codes in a list, and the probability of the predicted one. */
static bool put_classes(json_t *points, const page_rows *rows, const int64_t *row, int64_t count)
{
    json_t *truth = json_array(), *guess = json_array(), *probability = json_array();
    bool whole = truth != NULL && guess != NULL && probability != NULL;
    for (int64_t i = 0; whole && i < count; i++) {
        const int32_t label = rows->label != NULL ? rows->label[row[i]] : -1;
        whole = json_array_append_new(truth, label >= 0 ? json_integer(label) : json_null()) == 0;
        if (!whole || rows->predicted == NULL) continue;
        const int64_t best = page_best_class(rows, row[i]);
        whole = json_array_append_new(guess, json_integer(best)) == 0 &&
                json_array_append_new(probability,
                                      json_number(rows->predicted[row[i] * rows->outputs + best])) == 0;
    }
    if (whole && rows->label != NULL) whole = page_put(points, "y", json_pack("[O]", truth));
    if (whole && rows->predicted != NULL)
        whole = page_put(points, "predicted", json_pack("[O]", guess)) &&
                page_put(points, "probability", json_incref(probability));
    json_decref(truth);
    json_decref(guess);
    json_decref(probability);
    return whole;
}

static bool put_response(json_t *points, const page_rows *rows, const int64_t *row, int64_t count)
{
    if (rows->is_classifier) return put_classes(points, rows, row, count);
    bool whole = true;
    if (rows->response != NULL)
        whole = page_put(points, "y", columns_json(rows->response, rows->outputs, row, count));
    if (whole && rows->predicted != NULL)
        whole = page_put(points, "predicted", columns_json(rows->predicted, rows->outputs, row, count));
    return whole;
}

/* ---- their variables --------------------------------------------------------------------------- */

static json_t *cells_json(const stonet_data *data, int64_t column, const int64_t *row, int64_t count)
{
    int64_t n_texts = 0;
    const int32_t *code = stonet_data_column_codes(data, column, &n_texts);
    if (code == NULL) {
        double *values = malloc((size_t)(stonet_data_rows(data) + 1) * sizeof *values);
        json_t *list = values != NULL && stonet_data_column_numbers(data, column, values) == STONET_OK
                           ? column_json(values, 1, 0, row, count)
                           : NULL;
        free(values);
        return list;
    }
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++)
        list =
            page_add(list, code[row[i]] < 0 ? json_null()
                                            : page_text(stonet_data_column_text(data, column, code[row[i]])));
    return list;
}

static int64_t find_column(const stonet_data *data, const char *name)
{
    for (int64_t j = 0; j < stonet_data_columns(data); j++)
        if (strcmp(stonet_data_column_name(data, j), name) == 0) return j;
    return -1;
}

static json_t *variables_json(const stonet_data *data, const json_t *columns, const int64_t *row,
                              int64_t count)
{
    json_t *list = json_array();
    for (size_t k = 0; k < json_array_size(columns); k++) {
        const char *name = json_string_value(json_array_get(columns, k));
        const int64_t column = find_column(data, name);
        if (column < 0) continue;
        json_t *one = json_object();
        if (!page_put(one, "name", page_text(name)) ||
            !page_put(one, "values", cells_json(data, column, row, count))) {
            json_decref(one);
            one = NULL;
        }
        list = page_add(list, one);
    }
    return list;
}

/* Intervals of the drawn rows, where the model has them: low and high. */
static bool put_intervals(json_t *points, const page_subject *about, const page_rows *rows,
                          const int64_t *row, int64_t count)
{
    if (rows->is_classifier || !stonet_model_is_calibrated(about->model)) return true;
    const size_t size = (size_t)(count * rows->outputs) + 1;
    double *low = malloc(size * sizeof *low), *high = malloc(size * sizeof *high);
    int64_t *all = malloc((size_t)(count + 1) * sizeof *all);
    stonet_data *drawn = NULL;
    const stonet_use_options how = {.size = sizeof how, .threads = about->run->threads, .seed = 1};
    bool whole = low != NULL && high != NULL && all != NULL &&
                 stonet_data_subset(about->data, row, count, &drawn) == STONET_OK &&
                 stonet_predict_interval(about->model, drawn, &how, low, high) == STONET_OK;
    for (int64_t i = 0; whole && i < count; i++) all[i] = i;
    whole = whole && page_put(points, "low", columns_json(low, rows->outputs, all, count)) &&
            page_put(points, "high", columns_json(high, rows->outputs, all, count));
    stonet_data_free(drawn);
    free(low);
    free(high);
    free(all);
    return whole;
}

json_t *page_points(const page_subject *about, const page_rows *rows, const json_t *columns, int64_t *shown)
{
    int64_t *row = draw_rows(about->run->seed, rows->n, about->most_points, shown);
    json_t *points = json_object(), *numbers = json_array();
    bool whole = row != NULL && points != NULL && numbers != NULL;
    for (int64_t i = 0; whole && i < *shown; i++)
        whole = json_array_append_new(numbers, json_integer(row[i] + 1)) == 0;
    whole = whole && page_put(points, "row", json_incref(numbers)) &&
            page_put(points, "z", z_json(rows, row, *shown)) && put_response(points, rows, row, *shown) &&
            put_intervals(points, about, rows, row, *shown) &&
            page_put(points, "x", variables_json(about->data, columns, row, *shown));
    json_decref(numbers);
    free(row);
    if (whole) return points;
    json_decref(points);
    return NULL;
}
