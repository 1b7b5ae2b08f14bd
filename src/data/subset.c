/* Some rows of a table as a table of its own: a fold, a training part. */
#include <string.h>

#include "base/memory.h"
#include "data/dictionary.h"

/* out[i] = from[rows[i]] for rows of `width` bytes. */
static void gather(const void *from, size_t width, const int64_t *rows, int64_t count, void *out)
{
    for (int64_t i = 0; i < count; i++)
        memcpy((char *)out + (size_t)i * width, (const char *)from + (size_t)rows[i] * width, width);
}

/* The same into an array of its own, where there is one. */
static stonet_status gather_new(const void *from, size_t width, const int64_t *rows, int64_t count, void *out)
{
    if (from == NULL) return STONET_OK;
    void *made = sn_malloc((size_t)count, width);
    if (made == NULL) return STONET_ERROR_MEMORY;
    gather(from, width, rows, count, made);
    memcpy(out, &made, sizeof made); /* whatever it points to */
    return STONET_OK;
}

/* The same of what may be a file behind the table; a few rows of many do not make all of it stay in memory.
 */
static void gather_mapped(const stonet_data *table, const void *from, size_t width, const int64_t *rows,
                          int64_t count, void *out)
{
    enum { FEW = 32, ONE_IN = 64 }; /* rows at a time; each may bring megabytes with it */
    const int64_t step = count < table->n / ONE_IN ? FEW : count;
    for (int64_t first = 0; first < count; first += step) {
        const int64_t some = count - first < step ? count - first : step;
        int64_t low = rows[first], high = low;
        for (int64_t i = first; i < first + some; i++) {
            low = rows[i] < low ? rows[i] : low;
            high = rows[i] > high ? rows[i] : high;
        }
        gather(from, width, rows + first, some, (char *)out + (size_t)first * width);
        sn_frame_rest(table, low, high - low + 1);
    }
}

/* All that describes the columns, as copies of the strings: the subset may outlive its source. */
static stonet_status copy_names(const stonet_data *from, stonet_data *to)
{
    to->has_header = from->has_header;
    SN_TRY(sn_text_copy(from->na, &to->na));
    to->width = from->width;
    to->image = from->image;
    to->id_slot = from->id_slot;
    to->group_slot = from->group_slot;
    SN_TRY(sn_text_copy(from->group_name, &to->group_name));
    SN_TRY(sn_text_copy(from->id_name, &to->id_name));
    SN_TRY(sn_text_copy(from->source, &to->source));
    SN_TRY(SN_NEW(to->column, from->n_columns));
    to->n_columns = from->n_columns;
    for (int64_t j = 0; j < from->n_columns; j++) {
        to->column[j] = from->column[j];
        SN_TRY(sn_text_copy(from->column[j].name, &to->column[j].name));
    }
    return STONET_OK;
}

/* Codes of the rows and the words they use, in order of first appearance: a word that none of the rows has is
   not in the subset's dictionary, unless the words have an order of their own. */
static stonet_status gather_codes(const int32_t *code, const sn_dictionary *words, const int64_t *rows,
                                  int64_t count, int32_t **out, sn_dictionary *out_words)
{
    SN_TRY(gather_new(code, sizeof *code, rows, count, out));
    if (words->ordered) return sn_dictionary_copy(words, out_words);
    SN_ZEROS(words->count, int32_t, new_code);
    SN_TRY(SN_NEW(out_words->text, words->count));
    for (int64_t i = 0; i < count; i++) {
        const int32_t old = (*out)[i];
        if (old < 0) continue; /* missing */
        if (new_code[old] == 0) {
            SN_TRY(sn_dictionary_add(out_words, words->text[old]));
            new_code[old] = (int32_t)out_words->count; /* one more than the code, so that 0 means none */
        }
        (*out)[i] = new_code[old] - 1;
    }
    return STONET_OK;
}

static stonet_status copy_exact(const stonet_data *from, const int64_t *rows, stonet_data *to)
{
    if (from->exact == NULL) return STONET_OK;
    SN_TRY(SN_NEW(to->exact, from->n_numeric));
    for (int64_t k = 0; k < from->n_numeric; k++) {
        if (from->exact[k].at == NULL) continue;
        double *values;
        SN_TRY(SN_NEW_RAW(values, to->n));
        for (int64_t i = 0; i < to->n; i++) values[i] = sn_frame_number(from, rows[i], k);
        to->exact[k] = (sn_exact){.at = values, .step = 1, .owned = values};
    }
    return STONET_OK;
}

/* The chosen rows in the given order; a row may be chosen twice. The copy always lies in memory, also if the
   source is mapped. Texts get new codes, by first appearance among these rows. */
static stonet_status copy_features(const stonet_data *from, const int64_t *rows, stonet_data *to)
{
    int64_t p = from->n_numeric;
    if (from->sparse != NULL) {
        to->n_numeric = p;
        return sn_cells_rows(from->sparse, rows, to->n, &to->sparse);
    }
    if (p > 0) {
        float *x = NULL;
        SN_TRY(SN_NEW_RAW(x, to->n * p));
        gather_mapped(from, from->x, (size_t)p * sizeof *x, rows, to->n, x);
        to->x = to->owned_x = x;
        to->n_numeric = p;
        SN_TRY(copy_exact(from, rows, to));
    }
    if (from->n_text == 0) return STONET_OK;
    SN_TRY(SN_NEW(to->text_code, from->n_text));
    SN_TRY(SN_NEW(to->text_values, from->n_text));
    to->n_text = from->n_text;
    for (int64_t k = 0; k < from->n_text; k++)
        SN_TRY(gather_codes(from->text_code[k], &from->text_values[k], rows, to->n, &to->text_code[k],
                            &to->text_values[k]));
    return STONET_OK;
}

/* The response of the chosen rows. The spellings of numeric labels are copied whole: they are few. */
static stonet_status copy_targets(const stonet_data *from, const int64_t *rows, stonet_data *to)
{
    int64_t m = from->n_targets;
    if (m == 0) return STONET_OK;
    SN_TRY(SN_NEW(to->target_name, m));
    SN_TRY(SN_NEW(to->target_position, m));
    to->n_targets = m;
    to->target_has_name = from->target_has_name;
    for (int64_t k = 0; k < m; k++) {
        to->target_position[k] = from->target_position[k];
        SN_TRY(sn_text_copy(from->target_name[k], &to->target_name[k]));
    }
    if (from->y != NULL) {
        SN_TRY(SN_NEW_RAW(to->y, to->n * m));
        gather_mapped(from, from->y, (size_t)m * sizeof *to->y, rows, to->n, to->y);
    }
    SN_TRY(sn_dictionary_copy(&from->spelled, &to->spelled));
    if (from->label == NULL) return STONET_OK;
    return gather_codes(from->label, &from->labels, rows, to->n, &to->label, &to->labels);
}

stonet_status stonet_data_subset(const stonet_data *data, const int64_t *rows, int64_t count,
                                 stonet_data **out)
{
    if (data == NULL || out == NULL || rows == NULL || count < 1)
        return sn_fail(STONET_ERROR_ARGUMENT, "a subset needs data and at least one row");
    *out = NULL;
    for (int64_t i = 0; i < count; i++)
        if (rows[i] < 0 || rows[i] >= data->n)
            return sn_fail(STONET_ERROR_ARGUMENT, "row %lld is not among the rows 0 to %lld",
                           (long long)rows[i], (long long)data->n - 1);
    SN_TRY(sn_frame_check(data));
    SN_AUTO(stonet_data) *subset = NULL;
    SN_TRY(sn_frame_create(count, &subset));
    SN_TRY(copy_names(data, subset));
    SN_TRY(copy_features(data, rows, subset));
    SN_TRY(copy_targets(data, rows, subset));
    subset->n_truth = data->n_truth;
    SN_TRY(gather_new(data->truth, (size_t)data->n_truth * sizeof *data->truth, rows, count, &subset->truth));
    SN_TRY(gather_new(data->group, sizeof *data->group, rows, count, &subset->group));
    SN_TRY(gather_new(data->weight, sizeof *data->weight, rows, count, &subset->weight));
    sn_frame_settle_weights(subset);
    if (data->missing > 0) subset->missing = sn_frame_count_missing(subset, -1);
    return SN_GIVE(subset, out);
}

/* The numbers or codes of the column stay in the copy, where nothing leads to them. */
stonet_status sn_frame_without(const stonet_data *data, int64_t column, stonet_data **out)
{
    SN_ARRAY(data->n, int64_t, rows);
    for (int64_t i = 0; i < data->n; i++) rows[i] = i;
    SN_TRY(stonet_data_subset(data, rows, data->n, out));
    stonet_data *copy = *out;
    sn_free(copy->column[column].name);
    copy->n_columns--;
    copy->image = (sn_image){0};
    memmove(copy->column + column, copy->column + column + 1,
            (size_t)(copy->n_columns - column) * sizeof *copy->column);
    if (copy->missing > 0) copy->missing = sn_frame_count_missing(copy, -1);
    return STONET_OK;
}
