/* The rows of a page: Z, predictions and responses of all, and the few that are shown one by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "data/schema.h"
#include "math/smallest.h"
#include "model/score_law.h"
#include "report/page.h"

/* Times: what was seen of them. Counts: with what is expected of them over their exposure, and residuals.
   Intervals have no number of their own. */
static stonet_status take_law(const sn_page_subject *about, double *predicted, sn_workspace *keep,
                              sn_page_rows *rows)
{
    const sn_schema *schema = about->model->schema;
    int64_t m = 0;
    const double *y = stonet_data_targets(about->data, &m);
    double *seen = NULL, *first = NULL, *second = NULL;
    if (y == NULL || schema->law == SN_LAW_INTERVALS) return STONET_OK;
    SN_TRY(SN_TAKE(keep, seen, rows->n * SN_LAW_SEEN));
    SN_TRY(SN_TAKE(keep, first, rows->n));
    SN_TRY(SN_TAKE(keep, second, rows->n));
    SN_TRY(sn_schema_encode_law(schema, about->data, seen, NULL)); /* every row is looked at */
    for (int64_t i = 0; i < rows->n; i++) {
        first[i] = y[i * m];
        second[i] = m > 1 ? y[i * m + 1] : 1.0;
    }
    rows->response = first;
    if (schema->law == SN_LAW_TIMES) rows->event = second;
    if (schema->law == SN_LAW_TIMES || rows->predicted == NULL) return STONET_OK;
    SN_TRY(sn_quantile_residuals(about->model, rows->n, seen, predicted, about->run->seed, seen));
    rows->residual = seen;
    for (int64_t i = 0; i < rows->n; i++) predicted[i] *= second[i];
    return STONET_OK;
}

/* The response, where the table has one: classes by the model's numbers, or numbers in their units. */
static stonet_status take_response(const sn_page_subject *about, sn_workspace *keep, sn_page_rows *rows)
{
    const double *numbers = stonet_data_targets(about->data, NULL);
    const bool there = numbers != NULL || stonet_data_classes(about->data, NULL) != NULL;
    if (!there || rows->outputs == 0) return STONET_OK;
    SN_TRY(sn_schema_check_targets(about->model->schema, about->data));
    if (!rows->is_classifier) {
        rows->response = numbers;
        return STONET_OK;
    }
    int32_t *label = NULL;
    SN_TRY(SN_TAKE(keep, label, rows->n));
    rows->label = label;
    return sn_schema_response(about->model->schema, about->data, label, NULL);
}

stonet_status sn_page_rows_make(const sn_page_subject *about, sn_workspace *keep, sn_page_rows *rows)
{
    const stonet_use_options how = {.size = sizeof how, .threads = about->run->threads, .seed = 1};
    double *z = NULL, *predicted = NULL;
    bool predicts;
    *rows = (sn_page_rows){.n = stonet_data_rows(about->data),
                           .dim = stonet_model_dim(about->model),
                           .outputs = stonet_model_outputs(about->model),
                           .is_classifier = stonet_model_is_classifier(about->model) != 0};
    SN_ARRAY(rows->n * rows->dim, float, floats);
    SN_TRY(SN_TAKE(keep, z, rows->n * rows->dim));
    SN_TRY(SN_TAKE(keep, predicted, rows->n * rows->outputs + 1));
    SN_TRY(sn_model_answer(about->model, about->data, &how, floats, predicted, &predicts));
    for (int64_t k = 0; k < rows->n * rows->dim; k++) z[k] = (double)floats[k];
    rows->z = z;
    if (predicts) rows->predicted = predicted;
    return sn_schema_has_law(about->model->schema) ? take_law(about, predicted, keep, rows)
                                                   : take_response(about, keep, rows);
}

int64_t sn_page_best_class(const sn_page_rows *rows, int64_t i)
{
    const double *at = rows->predicted + i * rows->outputs;
    int64_t best = 0;
    for (int64_t k = 1; k < rows->outputs; k++)
        if (at[k] > at[best]) best = k;
    return best;
}

/* ---- the rows that are shown ------------------------------------------------------------------- */

typedef struct drawn_rows {
    int64_t *row; /* NULL: all */
    int64_t count;
} drawn_rows;

/* `most` of n rows, drawn by the seed, in their order. */
static stonet_status draw_rows(uint64_t seed, int64_t n, int64_t most, sn_workspace *keep, drawn_rows *out)
{
    enum { STREAM = 14 };
    SN_TRY(SN_TAKE(keep, out->row, n));
    SN_TRY(stonet_permutation(seed, STREAM, n, out->row));
    out->count = n < most ? n : most;
    qsort(out->row, (size_t)out->count, sizeof *out->row, sn_by_int);
    return STONET_OK;
}

/* One number of each drawn row: values[row * stride + offset]. */
static json_t *column_json(const double *values, int64_t stride, int64_t offset, const drawn_rows *drawn)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < drawn->count; i++) {
        const int64_t row = drawn->row != NULL ? drawn->row[i] : i;
        list = sn_json_add(list, sn_json_number(values[row * stride + offset]));
    }
    return list;
}

static json_t *columns_json(const double *values, int64_t columns, const drawn_rows *drawn)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < columns; k++) list = sn_json_add(list, column_json(values, columns, k, drawn));
    return list;
}

/* Classes: one list of codes in a list, and the probability of the predicted one. */
static json_t *put_classes(json_t *points, const sn_page_rows *rows, const drawn_rows *drawn)
{
    SN_AUTO(json_t) *truth = json_array(), *guess = json_array(), *probability = json_array();
    for (int64_t i = 0; i < drawn->count; i++) {
        const int64_t row = drawn->row[i];
        if (rows->label != NULL) truth = sn_json_add(truth, json_integer(rows->label[row]));
        if (rows->predicted == NULL) continue;
        const int64_t best = sn_page_best_class(rows, row);
        guess = sn_json_add(guess, json_integer(best));
        probability = sn_json_add(probability, sn_json_number(rows->predicted[row * rows->outputs + best]));
    }
    if (rows->label != NULL) points = sn_json_put(points, "y", sn_json_add(json_array(), json_incref(truth)));
    if (rows->predicted != NULL) {
        points = sn_json_put(points, "predicted", sn_json_add(json_array(), json_incref(guess)));
        points = sn_json_put(points, "probability", json_incref(probability));
    }
    return points;
}

static json_t *put_response(json_t *points, const sn_page_rows *rows, const drawn_rows *drawn)
{
    if (rows->is_classifier) return put_classes(points, rows, drawn);
    if (rows->response != NULL)
        points = sn_json_put(points, "y", columns_json(rows->response, rows->outputs, drawn));
    if (rows->predicted != NULL)
        points = sn_json_put(points, "predicted", columns_json(rows->predicted, rows->outputs, drawn));
    if (rows->event != NULL) points = sn_json_put(points, "event", column_json(rows->event, 1, 0, drawn));
    if (rows->residual != NULL)
        points = sn_json_put(points, "residual", column_json(rows->residual, 1, 0, drawn));
    return points;
}

/* ---- their variables --------------------------------------------------------------------------- */

/* The cells of one column for the rows that the page draws: numbers, or texts with null for a missing cell.
   NULL: memory ran out. */
static json_t *cells_json(const stonet_data *data, int64_t column, const drawn_rows *drawn)
{
    int64_t n_texts = 0;
    const int32_t *code = stonet_data_column_codes(data, column, &n_texts);
    if (code == NULL) {
        SN_BLOCK double *values = sn_malloc((size_t)stonet_data_rows(data), sizeof *values);
        if (values == NULL || stonet_data_column_numbers(data, column, values) != STONET_OK) return NULL;
        return column_json(values, 1, 0, drawn);
    }
    json_t *list = json_array();
    for (int64_t i = 0; i < drawn->count; i++) {
        const int32_t at = code[drawn->row[i]];
        list =
            sn_json_add(list, at < 0 ? json_null() : sn_page_text(stonet_data_column_text(data, column, at)));
    }
    return list;
}

static int64_t find_column(const stonet_data *data, const char *name)
{
    for (int64_t j = 0; name != NULL && j < stonet_data_columns(data); j++)
        if (strcmp(stonet_data_column_name(data, j), name) == 0) return j;
    return -1;
}

static json_t *variables_json(const stonet_data *data, const json_t *columns, const drawn_rows *drawn)
{
    json_t *list = json_array();
    for (size_t k = 0; k < json_array_size(columns); k++) {
        const char *name = json_string_value(json_array_get(columns, k));
        const int64_t column = find_column(data, name);
        if (column < 0) continue;
        json_t *one = sn_json_put(json_object(), "name", sn_page_text(name));
        list = sn_json_add(list, sn_json_put(one, "values", cells_json(data, column, drawn)));
    }
    return list;
}

/* Intervals of the drawn rows, where the model has them: low and high. */
static stonet_status put_intervals(const sn_page_subject *about, const sn_page_rows *rows,
                                   const drawn_rows *drawn, json_t **points)
{
    if (rows->is_classifier || !stonet_model_is_calibrated(about->model)) return STONET_OK;
    const drawn_rows all = {.count = drawn->count};
    SN_AUTO(stonet_data) *some = NULL;
    const stonet_use_options how = {.size = sizeof how, .threads = about->run->threads, .seed = 1};
    SN_ARRAY(drawn->count * rows->outputs, double, low);
    SN_ARRAY(drawn->count * rows->outputs, double, high);
    SN_TRY(stonet_data_subset(about->data, drawn->row, drawn->count, &some));
    SN_TRY(stonet_predict_interval(about->model, some, &how, low, high));
    *points = sn_json_put(*points, "low", columns_json(low, rows->outputs, &all));
    *points = sn_json_put(*points, "high", columns_json(high, rows->outputs, &all));
    return STONET_OK;
}

stonet_status sn_page_points(const sn_page_subject *about, const sn_page_rows *rows, const json_t *columns,
                             int64_t *shown, json_t **out)
{
    SN_WORKSPACE(scratch);
    drawn_rows drawn = {0};
    SN_TRY(draw_rows(about->run->seed, rows->n, about->most_points, &scratch, &drawn));
    *shown = drawn.count;
    json_t *numbers = json_array();
    for (int64_t i = 0; i < drawn.count; i++) numbers = sn_json_add(numbers, json_integer(drawn.row[i] + 1));
    SN_AUTO(json_t) *points = sn_json_put(json_object(), "row", numbers);
    points = sn_json_put(points, "z", columns_json(rows->z, rows->dim, &drawn));
    points = put_response(points, rows, &drawn);
    SN_TRY(put_intervals(about, rows, &drawn, &points));
    points = sn_json_put(points, "x", variables_json(about->data, columns, &drawn));
    if (points == NULL) return sn_json_failed();
    return SN_GIVE(points, out);
}

/* The channels of a curve, or of a model without curves all numbers. Returns how many. */
static int64_t find_channels(const sn_schema *schema, int64_t curve, int64_t *input)
{
    int64_t m = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (schema->n_curves > 0 ? schema->input[j].curve == curve
                                 : schema->input[j].kind == SN_COLUMN_NUMBER && schema->input[j].features > 0)
            input[m++] = j;
    return m;
}

/* Names that are numbers, rising or falling, are the axis. False: they are not, and it is 1, 2, .. */
static bool read_axis(const sn_schema *schema, int64_t m, const int64_t *input, double *axis)
{
    bool named = true;
    for (int64_t k = 0; k < m && named; k++) {
        const char *end = sn_number_read(schema->input[input[k]].name, &axis[k]);
        named = end != NULL && *end == '\0' && isfinite(axis[k]) &&
                (k == 0 || (axis[k] - axis[k - 1]) * (axis[1] - axis[0]) > 0.0);
    }
    for (int64_t k = 0; k < m && !named; k++) axis[k] = (double)k + 1.0;
    return named;
}

/* The curves of rows x (encoded) as they were prepared, before they were scaled: a list of numbers a row. */
static json_t *lines_json(const sn_schema *schema, int64_t m, const int64_t *input, int64_t n, const float *x)
{
    json_t *lines = json_array();
    for (int64_t i = 0; i < n; i++) {
        json_t *line = json_array();
        for (int64_t k = 0; k < m; k++) {
            const int64_t f = schema->input[input[k]].first_feature;
            const double scaled = (double)x[i * schema->p + f], factor = schema->factor[f];
            const double apart = factor != 0.0 ? scaled / factor : 0.0;
            line = sn_json_add(line, sn_json_number(schema->centre[f] + apart));
        }
        lines = sn_json_add(lines, line);
    }
    return lines;
}

stonet_status sn_page_curves(const sn_page_subject *about, const sn_page_rows *rows, json_t **out)
{
    enum { FEWEST_CHANNELS = 10, FEWEST = 20, MOST = 100, CELLS = 40000 /* on a page */ };
    SN_WORKSPACE(scratch);
    const sn_schema *schema = about->model->schema;
    const int64_t fit = CELLS / schema->n_inputs;
    drawn_rows drawn = {0};
    SN_AUTO(stonet_data) *some = NULL;
    SN_AUTO(json_t) *list = json_array();
    SN_ARRAY(schema->n_inputs, int64_t, input);
    SN_ARRAY(schema->n_inputs, double, axis);
    SN_TRY(draw_rows(about->run->seed, rows->n,
                     fit < FEWEST ? FEWEST
                     : fit > MOST ? MOST
                                  : fit,
                     &scratch, &drawn));
    SN_TRY(stonet_data_subset(about->data, drawn.row, drawn.count, &some));
    SN_ARRAY(drawn.count * schema->p, float, x);
    SN_TRY(sn_schema_encode_x(schema, some, x));
    for (int64_t curve = 1; curve <= (schema->n_curves > 0 ? schema->n_curves : 1); curve++) {
        const int64_t m = find_channels(schema, curve, input);
        const bool named = read_axis(schema, m, input, axis);
        if (schema->n_curves == 0 && (!named || m < FEWEST_CHANNELS || m > SN_CURVE_MOST)) break;
        json_t *numbers = json_array(), *lines = lines_json(schema, m, input, drawn.count, x);
        for (int64_t k = 0; k < m; k++) numbers = sn_json_add(numbers, sn_json_number(axis[k]));
        json_t *one = sn_json_put(sn_json_put(json_object(), "axis", numbers), "lines", lines);
        list = sn_json_add(list, sn_json_put(one, "z", columns_json(rows->z, rows->dim, &drawn)));
    }
    return SN_GIVE(list, out);
}
