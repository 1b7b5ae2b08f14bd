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

static stonet_status copy_names(const stonet_data *from, stonet_data *to)
{
    to->has_header = from->has_header;
    if (from->na != NULL && (to->na = sn_strdup(from->na)) == NULL) return STONET_ERROR_MEMORY;
    to->width = from->width;
    to->image = from->image;
    to->id_slot = from->id_slot;
    to->group_slot = from->group_slot;
    if (from->group_name != NULL && (to->group_name = sn_strdup(from->group_name)) == NULL)
        return STONET_ERROR_MEMORY;
    if (from->id_name != NULL && (to->id_name = sn_strdup(from->id_name)) == NULL) return STONET_ERROR_MEMORY;
    if (from->source != NULL && (to->source = sn_strdup(from->source)) == NULL) return STONET_ERROR_MEMORY;
    SN_TRY(SN_NEW(to->column, from->n_columns));
    to->n_columns = from->n_columns;
    for (int64_t j = 0; j < from->n_columns; j++) {
        to->column[j] = from->column[j];
        to->column[j].name = sn_strdup(from->column[j].name);
        if (to->column[j].name == NULL) return STONET_ERROR_MEMORY;
    }
    return STONET_OK;
}

/* Codes of the rows and the words they use, in order of first appearance: a word that none of the rows has is
   not in the subset's dictionary, unless the words have an order of their own. */
static stonet_status gather_codes(const int32_t *code, const sn_dictionary *words, const int64_t *rows,
                                  int64_t count, int32_t **out, sn_dictionary *out_words)
{
    if (words->ordered) {
        SN_TRY(SN_NEW_RAW(*out, count));
        gather(code, sizeof *code, rows, count, *out);
        return sn_dictionary_copy(words, out_words);
    }
    SN_BLOCK int32_t *new_code = NULL;
    SN_TRY(SN_NEW_RAW(*out, count));
    SN_TRY(SN_NEW(new_code, words->count));
    SN_TRY(SN_NEW(out_words->text, words->count));
    for (int64_t i = 0; i < count; i++) {
        int32_t old = code[rows[i]];
        if (old < 0) { /* missing */
            (*out)[i] = -1;
            continue;
        }
        if (new_code[old] == 0) {
            char *word = sn_strdup(words->text[old]);
            if (word == NULL) return STONET_ERROR_MEMORY;
            out_words->text[out_words->count++] = word;
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
        if ((to->target_name[k] = sn_strdup(from->target_name[k])) == NULL) return STONET_ERROR_MEMORY;
    }
    if (from->y != NULL) {
        SN_TRY(SN_NEW_RAW(to->y, to->n * m));
        gather_mapped(from, from->y, (size_t)m * sizeof *to->y, rows, to->n, to->y);
    }
    SN_TRY(sn_dictionary_copy(&from->spelled, &to->spelled));
    if (from->label == NULL) return STONET_OK;
    return gather_codes(from->label, &from->labels, rows, to->n, &to->label, &to->labels);
}

static stonet_status copy_weights_and_groups(const stonet_data *from, const int64_t *rows, stonet_data *to)
{
    if (from->weight != NULL) {
        SN_TRY(SN_NEW_RAW(to->weight, to->n));
        gather(from->weight, sizeof *to->weight, rows, to->n, to->weight);
        sn_frame_settle_weights(to);
    }
    if (from->group == NULL) return STONET_OK;
    SN_TRY(SN_NEW_RAW(to->group, to->n));
    gather(from->group, sizeof *to->group, rows, to->n, to->group);
    return STONET_OK;
}

static stonet_status copy_truth(const stonet_data *from, const int64_t *rows, stonet_data *to)
{
    if (from->truth == NULL) return STONET_OK;
    SN_TRY(SN_NEW_RAW(to->truth, to->n * from->n_truth));
    gather(from->truth, (size_t)from->n_truth * sizeof *to->truth, rows, to->n, to->truth);
    to->n_truth = from->n_truth;
    return STONET_OK;
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
    stonet_data *subset = NULL;
    SN_TRY(sn_frame_create(count, &subset));
    stonet_status status = copy_names(data, subset);
    if (status == STONET_OK) status = copy_features(data, rows, subset);
    if (status == STONET_OK) status = copy_targets(data, rows, subset);
    if (status == STONET_OK) status = copy_truth(data, rows, subset);
    if (status == STONET_OK) status = copy_weights_and_groups(data, rows, subset);
    if (status == STONET_OK && data->missing > 0) subset->missing = sn_frame_count_missing(subset, -1);
    if (status != STONET_OK) {
        stonet_data_free(subset);
        return status;
    }
    *out = subset;
    return STONET_OK;
}

/* The numbers or codes of the column stay in the copy, where nothing leads to them. */
stonet_status sn_frame_without(const stonet_data *data, int64_t column, stonet_data **out)
{
    int64_t *rows = NULL;
    SN_TRY(SN_NEW_RAW(rows, data->n));
    for (int64_t i = 0; i < data->n; i++) rows[i] = i;
    stonet_status status = stonet_data_subset(data, rows, data->n, out);
    sn_free(rows);
    SN_TRY(status);
    stonet_data *copy = *out;
    sn_free(copy->column[column].name);
    copy->n_columns--;
    copy->image = (sn_image){0};
    memmove(copy->column + column, copy->column + column + 1,
            (size_t)(copy->n_columns - column) * sizeof *copy->column);
    if (copy->missing > 0) copy->missing = sn_frame_count_missing(copy, -1);
    return STONET_OK;
}
