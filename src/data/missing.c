/* Cells of a table that hold nothing: NaN among numbers, the code -1 among texts. */
#include <math.h>

#include "base/memory.h"
#include "data/dictionary.h"

bool sn_frame_is_missing(const stonet_data *data, int64_t row, int64_t column)
{
    const sn_column *about = &data->column[column];
    return about->kind == SN_COLUMN_TEXT ? data->text_code[about->slot][row] < 0
           : data->sparse != NULL        ? false
                                         : isnan(data->x[row * data->n_numeric + about->slot]);
}

bool sn_frame_row_is_complete(const stonet_data *data, int64_t row)
{
    for (int64_t j = 0; data->missing > 0 && j < data->n_columns; j++)
        if (sn_frame_is_missing(data, row, j)) return false;
    return true;
}

/* The rows that `keeps` holds for as a table of their own, and how many; NULL: none or all of them. */
static stonet_status rows_where(const stonet_data *data, bool (*keeps)(const stonet_data *data, int64_t row),
                                int64_t *kept, stonet_data **part)
{
    *kept = 0;
    *part = NULL;
    SN_ARRAY(data->n, int64_t, rows);
    for (int64_t i = 0; i < data->n; i++)
        if (keeps(data, i)) rows[(*kept)++] = i;
    return *kept > 0 && *kept < data->n ? stonet_data_subset(data, rows, *kept, part) : STONET_OK;
}

stonet_status sn_frame_complete_rows(const stonet_data *data, stonet_data **part)
{
    int64_t kept;
    SN_TRY(rows_where(data, sn_frame_row_is_complete, &kept, part));
    if (kept > 0) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "%s: every row has a missing cell, and rows without one are needed",
                   sn_table_name(data));
}

/* A subset has its labels in the order of its rows; these are in that of the table, as the classes are. */
static stonet_status keep_labels(const stonet_data *data, const int64_t *rows, stonet_data *part)
{
    if (data->label == NULL) return STONET_OK;
    sn_dictionary_free(&part->labels);
    part->labels = (sn_dictionary){0};
    for (int64_t i = 0; i < part->n; i++) part->label[i] = data->label[rows[i]];
    return sn_dictionary_copy(&data->labels, &part->labels);
}

/* Whether the rows have all labels that the table has. */
static stonet_status have_all_labels(const stonet_data *data, const int64_t *rows, int64_t count, bool *all)
{
    *all = true;
    if (data->label == NULL) return STONET_OK;
    SN_ZEROS(data->labels.count, bool, met);
    for (int64_t i = 0; i < count; i++) met[data->label[rows[i]]] = true;
    for (int64_t i = 0; i < data->n; i++) *all = *all && met[data->label[i]];
    return STONET_OK;
}

/* Not where a class would go with its rows: the caller may count on it. A table on disk is not copied for
   this. In both cases the method passes over the rows without weight. */
stonet_status sn_frame_counted_rows(const stonet_data *data, stonet_data **part)
{
    *part = NULL;
    if (data->weight == NULL || data->mapped_x != NULL) return STONET_OK;
    SN_AUTO(stonet_data) *counted = NULL;
    int64_t kept = 0;
    SN_ARRAY(data->n, int64_t, rows);
    for (int64_t i = 0; i < data->n; i++)
        if (data->weight[i] > 0.0) rows[kept++] = i;
    bool all = false;
    if (kept > 0 && kept < data->n) SN_TRY(have_all_labels(data, rows, kept, &all));
    if (!all) return STONET_OK;
    SN_TRY(stonet_data_subset(data, rows, kept, &counted));
    SN_TRY(keep_labels(data, rows, counted));
    return SN_GIVE(counted, part);
}

int64_t sn_frame_count_missing(const stonet_data *data, int64_t column)
{
    int64_t count = 0;
    for (int64_t i = 0; i < data->n; i++)
        for (int64_t j = column < 0 ? 0 : column; j < (column < 0 ? data->n_columns : column + 1); j++)
            count += sn_frame_is_missing(data, i, j);
    return count;
}

static bool has_targets(const stonet_data *data, int64_t row)
{
    if (data->label != NULL) return data->label[row] >= 0;
    for (int64_t k = 0; k < data->n_targets; k++)
        if (isnan(data->y[row * data->n_targets + k])) return false;
    return true;
}

stonet_status sn_frame_drop_missing_targets(stonet_data **data)
{
    int64_t kept;
    stonet_data *part;
    SN_TRY(rows_where(*data, has_targets, &kept, &part));
    if (kept == 0)
        return sn_fail(STONET_ERROR_DATA, "%s: the target is missing in every row", sn_table_name(*data));
    if (part == NULL) return STONET_OK;
    part->dropped = (*data)->n - kept;
    stonet_data_free(*data);
    *data = part;
    return STONET_OK;
}

int64_t stonet_data_missing(const stonet_data *data, int64_t column)
{
    if (data == NULL || data->missing == 0 || column >= data->n_columns) return 0;
    return column < 0 ? data->missing : sn_frame_count_missing(data, column);
}

int64_t stonet_data_dropped(const stonet_data *data)
{
    return data != NULL ? data->dropped : 0;
}
