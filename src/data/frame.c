#include "data/frame.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/dictionary.h"

stonet_status sn_frame_create(int64_t n, stonet_data **out)
{
    SN_TRY(SN_NEW(*out, 1));
    (*out)->n = n;
    return STONET_OK;
}

/* y or label lies inside the mapping of shards, where there is one (mapped_y): then only the mapping is
   closed. */
void sn_frame_free_target(stonet_data *data)
{
    for (int64_t k = 0; data->target_name != NULL && k < data->n_targets; k++) sn_free(data->target_name[k]);
    SN_FREE(data->target_name);
    SN_FREE(data->target_position);
    if (data->mapped_y == NULL) {
        sn_free(data->y);
        sn_free(data->label);
    }
    sn_mapping_close(data->mapped_y);
    sn_dictionary_free(&data->labels);
    sn_dictionary_free(&data->spelled);
    data->target_has_name = false;
    data->y = NULL;
    data->label = NULL;
    data->mapped_y = NULL;
    data->n_targets = 0;
}

stonet_status sn_frame_move_target(stonet_data *data, stonet_data *from)
{
    if (data->n != from->n)
        return sn_fail(STONET_ERROR_DATA, "%s has %lld rows and the targets in %s have %lld", data->source,
                       (long long)data->n, from->source, (long long)from->n);
    sn_frame_free_target(data);
    data->n_targets = from->n_targets;
    data->target_has_name = from->target_has_name;
    (void)SN_GIVE(from->target_name, &data->target_name);
    (void)SN_GIVE(from->target_position, &data->target_position);
    (void)SN_GIVE(from->y, &data->y);
    (void)SN_GIVE(from->label, &data->label);
    (void)SN_GIVE(from->mapped_y, &data->mapped_y);
    data->labels = from->labels;
    data->spelled = from->spelled;
    from->labels = from->spelled = (sn_dictionary){0};
    from->n_targets = 0;
    for (int64_t k = 0; k < data->n_targets; k++) data->target_position[k] = -1;
    return STONET_OK;
}

void stonet_data_free(stonet_data *data)
{
    if (data == NULL) return;
    for (int64_t j = 0; data->column != NULL && j < data->n_columns; j++) sn_free(data->column[j].name);
    for (int64_t k = 0; data->text_code != NULL && k < data->n_text; k++) sn_free(data->text_code[k]);
    for (int64_t k = 0; data->text_values != NULL && k < data->n_text; k++)
        sn_dictionary_free(&data->text_values[k]);
    sn_frame_free_target(data);
    sn_free(data->column);
    for (int64_t k = 0; data->exact != NULL && k < data->n_numeric; k++) sn_free(data->exact[k].owned);
    sn_free(data->exact);
    sn_free(data->owned_x);
    sn_cells_free(data->sparse);
    sn_mapping_close(data->mapped_x);
    SN_FREE_ALL(data->text_code, data->text_values, data->truth, data->weight, data->na, data->id_name,
                data->group_name, data->group, data->source, data);
}

stonet_status sn_frame_check(const stonet_data *data)
{
    if (data->mapped_y != NULL) SN_TRY(sn_mapping_check(data->mapped_y, data->source));
    return data->mapped_x == NULL ? STONET_OK : sn_mapping_check(data->mapped_x, data->source);
}

/* What becomes of the pages of some rows that are mapped. */
typedef void fate(const sn_mapping *mapping, const void *from, size_t size);

static void tell_features(const stonet_data *data, int64_t first, int64_t count, fate *tell)
{
    if (data->mapped_x != NULL)
        tell(data->mapped_x, data->x + first * data->n_numeric,
             (size_t)(count * data->n_numeric) * sizeof *data->x);
}

void sn_frame_rest_features(const stonet_data *data, int64_t first, int64_t count)
{
    tell_features(data, first, count, sn_mapping_rest);
}

void sn_frame_rest_response(const stonet_data *data, int64_t first, int64_t count)
{
    const int64_t m = data->n_targets;
    if (data->mapped_y == NULL) return;
    if (data->label != NULL)
        sn_mapping_rest(data->mapped_y, data->label + first, (size_t)count * sizeof *data->label);
    else
        sn_mapping_rest(data->mapped_y, data->y + first * m, (size_t)(count * m) * sizeof *data->y);
}

void sn_frame_rest(const stonet_data *data, int64_t first, int64_t count)
{
    sn_frame_rest_features(data, first, count);
    sn_frame_rest_response(data, first, count);
}

void sn_frame_ahead(const stonet_data *data, int64_t first, int64_t count)
{
    tell_features(data, first, count, sn_mapping_ahead);
}

/* In whole numbers and without a branch, so that it goes at the speed of memory: infinity and all NaN have
   the largest exponent. */
bool sn_all_finite(const float *x, int64_t count)
{
    uint32_t most = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= 0x7FFFFFFF;
        most = bits > most ? bits : most;
    }
    return most < 0x7F800000;
}

stonet_status sn_frame_name_numbers(stonet_data *data, int64_t count, int base)
{
    SN_TRY(SN_NEW(data->column, count));
    data->n_columns = data->n_numeric = count;
    for (int64_t j = 0; j < count; j++) {
        char name[24];
        snprintf(name, sizeof name, "x%lld", (long long)j + base);
        data->column[j] = (sn_column){.kind = SN_COLUMN_NUMBER, .slot = j};
        SN_TRY(sn_text_copy(name, &data->column[j].name));
    }
    return STONET_OK;
}

/* Counts the missing numbers; infinite ones are refused. */
static stonet_status check_numbers(const float *x, int64_t n, int64_t p, int64_t *missing)
{
    *missing = 0;
    for (int64_t i = 0; i < n; i++) {
        if (sn_all_finite(x + i * p, p)) continue;
        for (int64_t j = 0; j < p; j++) {
            if (isinf(x[i * p + j]))
                return sn_fail(STONET_ERROR_DATA, "row %lld, column %lld: the value is infinite",
                               (long long)i + 1, (long long)j + 1);
            *missing += isnan(x[i * p + j]);
        }
    }
    return STONET_OK;
}

/* Whether an n x m array of such elements can lie in memory at all. */
static stonet_status check_extent(int64_t n, int64_t m, size_t size)
{
    if (n <= PTRDIFF_MAX / (int64_t)size / m) return STONET_OK;
    return sn_fail(STONET_ERROR_ARGUMENT, "no memory holds %lld rows of %lld columns: are the sizes right?",
                   (long long)n, (long long)m);
}

/* The checks of an array that is to become a table. */
static stonet_status check_array(const void *x, int64_t n, int64_t p, size_t size, stonet_data **out)
{
    if (out == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "an array needs a place for its table");
    *out = NULL;
    if (x == NULL || n < 1 || p < 1)
        return sn_fail(STONET_ERROR_ARGUMENT, "a table needs at least one row and one column");
    return check_extent(n, p, size);
}

/* A table of p columns of numbers, still to come. */
static stonet_status create_plain(int64_t n, int64_t p, int base, stonet_data **out)
{
    SN_AUTO(stonet_data) *data = NULL;
    SN_TRY(sn_frame_create(n, &data));
    SN_TRY(sn_frame_name_numbers(data, p, base));
    return SN_GIVE(data, out);
}

stonet_status sn_frame_of_sparse(sn_cells **sparse, int base, stonet_data **out)
{
    SN_TRY(create_plain((*sparse)->n, (*sparse)->columns, base, out));
    return SN_GIVE(*sparse, &(*out)->sparse);
}

stonet_status stonet_data_wrap(const float *x, int64_t n, int64_t p, stonet_data **out)
{
    SN_TRY(check_array(x, n, p, sizeof *x, out));
    int64_t missing;
    SN_TRY(check_numbers(x, n, p, &missing));
    SN_TRY(create_plain(n, p, 1, out));
    (*out)->x = x;
    (*out)->missing = missing;
    return STONET_OK;
}

/* The floats of doubles, and how many are missing; a number that is none as a float is named. */
static stonet_status round_to_floats(const double *x, int64_t n, int64_t p, float *out, int64_t *missing)
{
    for (int64_t i = 0; i < n * p; i++) {
        *missing += isnan(x[i]);
        if (fabs(x[i]) > (double)FLT_MAX)
            return sn_fail(STONET_ERROR_DATA, "row %lld, column %lld: the value is %s",
                           (long long)(i / p) + 1, (long long)(i % p) + 1,
                           isinf(x[i]) ? "infinite" : "too large for single precision (3.4e38)");
        out[i] = (float)x[i];
    }
    return STONET_OK;
}

stonet_status stonet_data_wrap_double(const double *x, int64_t n, int64_t p, stonet_data **out)
{
    SN_TRY(check_array(x, n, p, sizeof *x, out));
    SN_AUTO(stonet_data) *data = NULL;
    float *floats;
    SN_TRY(create_plain(n, p, 1, &data));
    SN_TRY(SN_NEW_RAW(floats, n * p));
    data->x = data->owned_x = floats;
    SN_TRY(round_to_floats(x, n, p, floats, &data->missing));
    SN_TRY(SN_NEW(data->exact, p));
    for (int64_t j = 0; j < p; j++) data->exact[j] = (sn_exact){.at = x + j, .step = p};
    return SN_GIVE(data, out);
}

stonet_status stonet_data_set_names(stonet_data *data, const char *const *names)
{
    if (data == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "there is no table to name columns of");
    SN_FREED_BY(sn_interner_free) sn_interner taken = {0};
    SN_ZEROS(data->n_columns, bool, again);
    for (int64_t j = 0; j < data->n_columns; j++) {
        int32_t code;
        const int64_t before = taken.words.count;
        if (names == NULL || names[j] == NULL)
            return sn_fail(STONET_ERROR_ARGUMENT, "column %lld has no name", (long long)j + 1);
        SN_TRY(sn_interner_add(&taken, names[j], strlen(names[j]), &code));
        again[j] = taken.words.count == before;
    }
    /* As in the header of a file, names that were given come before those that are made up. */
    for (int64_t j = 0; j < data->n_columns; j++) {
        SN_BLOCK char *name = NULL;
        SN_TRY(again[j] ? sn_interner_add_apart(&taken, names[j], &name) : sn_text_copy(names[j], &name));
        sn_free(data->column[j].name);
        data->column[j].again = again[j];
        (void)SN_GIVE(name, &data->column[j].name);
    }
    data->has_header = true;
    return STONET_OK;
}

/* Target arrays for m targets called y, or y1 .. ym, that are in no file column. */
static stonet_status start_target(stonet_data *data, int64_t m)
{
    sn_frame_free_target(data);
    SN_TRY(SN_NEW(data->target_name, m));
    SN_TRY(SN_NEW(data->target_position, m));
    data->n_targets = m;
    for (int64_t k = 0; k < m; k++) {
        char name[24] = "y";
        if (m > 1) snprintf(name, sizeof name, "y%lld", (long long)k + 1);
        data->target_position[k] = -1;
        SN_TRY(sn_text_copy(name, &data->target_name[k]));
    }
    return STONET_OK;
}

static stonet_status copy_classes(stonet_data *data, const int32_t *codes, const char *const *labels,
                                  int64_t n_classes)
{
    SN_TRY(start_target(data, 1));
    SN_TRY(SN_NEW(data->label, data->n));
    SN_TRY(SN_NEW(data->labels.text, n_classes));
    memcpy(data->label, codes, (size_t)data->n * sizeof *codes);
    for (int64_t c = 0; c < n_classes; c++) SN_TRY(sn_dictionary_add(&data->labels, labels[c]));
    data->labels.ordered = true; /* as the caller has them; task=ordinal: from low to high */
    return STONET_OK;
}

/* Two codes of one label would be two classes that nobody can tell apart. */
static stonet_status check_different(const char *const *labels, int64_t count)
{
    SN_FREED_BY(sn_interner_free) sn_interner seen = {0};
    for (int64_t c = 0; c < count; c++) {
        int32_t code = 0;
        SN_TRY(sn_interner_add(&seen, labels[c], strlen(labels[c]), &code));
        if (code != c)
            return sn_fail(STONET_ERROR_ARGUMENT, "classes %d and %lld have the same label '%s'", (int)code,
                           (long long)c, labels[c]);
    }
    return STONET_OK;
}

stonet_status stonet_data_set_classes(stonet_data *data, const int32_t *codes, const char *const *labels,
                                      int64_t n_classes)
{
    if (data == NULL || codes == NULL || labels == NULL || n_classes < 1 || n_classes > INT32_MAX)
        return sn_fail(STONET_ERROR_ARGUMENT, "class codes need their labels");
    for (int64_t i = 0; i < data->n; i++)
        if (codes[i] < 0 || codes[i] >= n_classes)
            return sn_fail(STONET_ERROR_ARGUMENT,
                           "row %lld has class code %d, and the codes go from 0 to %lld", (long long)i + 1,
                           (int)codes[i], (long long)n_classes - 1);
    for (int64_t c = 0; c < n_classes; c++)
        if (labels[c] == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "class %lld has no label", (long long)c);
    SN_TRY(check_different(labels, n_classes));
    stonet_status status = copy_classes(data, codes, labels, n_classes);
    if (status != STONET_OK) sn_frame_free_target(data);
    return status;
}

stonet_status stonet_data_set_targets(stonet_data *data, const double *y, int64_t m)
{
    if (data == NULL || y == NULL || m < 1)
        return sn_fail(STONET_ERROR_ARGUMENT, "a table of targets needs at least one column");
    SN_TRY(check_extent(data->n, m, sizeof *y));
    for (int64_t i = 0; i < data->n * m; i++) {
        const bool open = m == 2 && i % m == 1 && y[i] == (double)INFINITY; /* an upper bound of a time */
        if (!isfinite(y[i]) && !open)
            return sn_fail(STONET_ERROR_DATA, "row %lld, target %lld: the value is %s",
                           (long long)(i / m) + 1, (long long)(i % m) + 1,
                           isnan(y[i]) ? "missing (NaN)" : "infinite");
    }
    stonet_status status = start_target(data, m);
    if (status == STONET_OK) status = SN_NEW(data->y, data->n * m);
    if (status != STONET_OK) {
        sn_frame_free_target(data);
        return status;
    }
    memcpy(data->y, y, (size_t)(data->n * m) * sizeof *y);
    return STONET_OK;
}

stonet_status stonet_data_set_weights(stonet_data *data, const double *weights)
{
    if (data == NULL || weights == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "weights need a table, and a number for every row of it");
    double total = 0.0;
    for (int64_t i = 0; i < data->n; i++) {
        if (!(weights[i] >= 0.0 && weights[i] <= (double)FLT_MAX))
            return sn_fail(STONET_ERROR_DATA, "row %lld: a weight is a number from 0 on, and finite",
                           (long long)i + 1);
        total += weights[i];
    }
    if (total == 0.0) return sn_fail(STONET_ERROR_DATA, "all weights are 0: no row counts");
    double *copy;
    SN_TRY(SN_NEW_RAW(copy, data->n));
    memcpy(copy, weights, (size_t)data->n * sizeof *copy);
    sn_free(data->weight);
    data->weight = copy;
    sn_frame_settle_weights(data);
    return STONET_OK;
}

void sn_frame_settle_weights(stonet_data *data)
{
    if (data->n == 0) return; /* the rows are elsewhere: shards */
    for (int64_t i = 0; data->weight != NULL && i < data->n; i++)
        if (data->weight[i] != 1.0) return;
    SN_FREE(data->weight);
}

stonet_status stonet_data_set_groups(stonet_data *data, const int64_t *groups)
{
    if (data == NULL || groups == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "groups need a table, and a number for every row of it");
    int64_t *copy;
    SN_TRY(SN_NEW_RAW(copy, data->n));
    memcpy(copy, groups, (size_t)data->n * sizeof *copy);
    sn_free(data->group);
    data->group = copy;
    return STONET_OK;
}

/* ---- getters ----------------------------------------------------------------------------------- */

int64_t stonet_data_rows(const stonet_data *data)
{
    return data != NULL ? data->n : 0;
}

int64_t stonet_data_columns(const stonet_data *data)
{
    return data != NULL ? data->n_columns : 0;
}

/* NULL when there is no such column. */
static const sn_column *column_at(const stonet_data *data, int64_t column)
{
    return column >= 0 && column < stonet_data_columns(data) ? &data->column[column] : NULL;
}

const char *stonet_data_column_name(const stonet_data *data, int64_t column)
{
    const sn_column *about = column_at(data, column);
    return about != NULL ? about->name : NULL;
}

stonet_status stonet_data_column_numbers(const stonet_data *data, int64_t column, double *values)
{
    const sn_column *about = column_at(data, column);
    if (about == NULL || values == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "there is no column %lld to take numbers from",
                       (long long)column);
    if (about->kind != SN_COLUMN_NUMBER)
        return sn_fail(STONET_ERROR_DATA, "column '%s' is text and has no numbers", about->name);
    SN_TRY(sn_frame_check(data));
    for (int64_t i = 0; i < data->n; i++) values[i] = sn_frame_number(data, i, about->slot);
    return STONET_OK;
}

/* NULL when there is no such column or it is not text. */
static const sn_column *text_column_at(const stonet_data *data, int64_t column)
{
    const sn_column *about = column_at(data, column);
    return about != NULL && about->kind == SN_COLUMN_TEXT ? about : NULL;
}

const int32_t *stonet_data_column_codes(const stonet_data *data, int64_t column, int64_t *n_texts)
{
    const sn_column *about = text_column_at(data, column);
    if (n_texts != NULL) *n_texts = about != NULL ? data->text_values[about->slot].count : 0;
    return about != NULL ? data->text_code[about->slot] : NULL;
}

const char *stonet_data_column_text(const stonet_data *data, int64_t column, int64_t code)
{
    const sn_column *about = text_column_at(data, column);
    if (about == NULL || code < 0 || code >= data->text_values[about->slot].count) return NULL;
    return data->text_values[about->slot].text[code];
}

const double *stonet_data_weights(const stonet_data *data)
{
    return data != NULL ? data->weight : NULL;
}

const double *stonet_data_truth(const stonet_data *data, int64_t *truth_columns)
{
    if (truth_columns != NULL) *truth_columns = data != NULL ? data->n_truth : 0;
    return data != NULL ? data->truth : NULL;
}

const float *stonet_data_x(const stonet_data *data)
{
    return data != NULL && data->n_numeric > 0 && !sn_frame_has_text(data) ? data->x : NULL;
}

const char *stonet_data_id_name(const stonet_data *data)
{
    return data != NULL ? data->id_name : NULL;
}

const char *stonet_data_id(const stonet_data *data, int64_t row)
{
    if (stonet_data_id_name(data) == NULL || row < 0 || row >= data->n) return NULL;
    const int32_t code = data->text_code[data->id_slot][row];
    return code >= 0 ? data->text_values[data->id_slot].text[code] : "";
}

const double *stonet_data_targets(const stonet_data *data, int64_t *m)
{
    if (m != NULL) *m = data != NULL && data->y != NULL ? data->n_targets : 0;
    return data != NULL ? data->y : NULL;
}

const int32_t *stonet_data_classes(const stonet_data *data, int64_t *n_classes)
{
    if (n_classes != NULL) *n_classes = data != NULL ? data->labels.count : 0;
    return data != NULL ? data->label : NULL;
}

const char *stonet_data_class_label(const stonet_data *data, int64_t code)
{
    return data != NULL && code >= 0 && code < data->labels.count ? data->labels.text[code] : NULL;
}
