/* stonet_data_write and stonet_matrix_write: CSV with the shortest digits that read back, and NPY. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/array.h"
#include "data/dates.h"

enum { NPY_ALIGN = 64 }; /* bytes, where the numbers of an array begin */

typedef enum table_format { FORMAT_TEXT, FORMAT_NPY } table_format;

/* The ending that counts: the last but .gz; "" when the name has none, as /dev/stdout. */
static void ending_of(const char *path, char ending[8])
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > 3 && strcasecmp(name + length - 3, ".gz") == 0) length -= 3;
    size_t from = length;
    while (from > 0 && name[from - 1] != '.') from--;
    size_t size = from > 0 ? length - from : 0;
    if (size > 7) size = 7; /* longer than any that is known */
    memcpy(ending, name + from, size);
    ending[size] = '\0';
}

static stonet_status choose_format(const char *path, table_format *format, char *delimiter)
{
    char ending[8];
    if (path == NULL || path[0] == '\0')
        return sn_fail(STONET_ERROR_ARGUMENT, "the name of the file to write is empty");
    ending_of(path, ending);
    *format = strcasecmp(ending, "npy") == 0 ? FORMAT_NPY : FORMAT_TEXT;
    *delimiter = strcasecmp(ending, "tsv") == 0 ? '\t' : ',';
    if (*format == FORMAT_NPY || ending[0] == '\0' || strcasecmp(ending, "csv") == 0 ||
        strcasecmp(ending, "tsv") == 0 || strcasecmp(ending, "txt") == 0)
        return STONET_OK;
    return sn_fail(STONET_ERROR_ARGUMENT,
                   "cannot write %s: tables are written as .csv, .tsv or .npy, each also with .gz", path);
}

static int put_bytes(const char *bytes, size_t count, void *writer)
{
    return (int)sn_write(writer, bytes, count);
}

static stonet_status write_word(sn_writer *writer, const char *text)
{
    return (stonet_status)stonet_csv_cell(text, put_bytes, writer);
}

static stonet_status write_number(sn_writer *writer, double value)
{
    char text[SN_NUMBER_SIZE];
    if (isnan(value)) return sn_write(writer, "NA", 2);
    size_t length = sn_number_print(value, text);
    return sn_write(writer, text, length);
}

/* Writes the cell in column j of row i, or of row -1, the names. */
typedef stonet_status cell_writer(sn_writer *writer, const void *of, int64_t i, int64_t j);

/* Rows first .. n - 1. */
static stonet_status rows_as_text(sn_writer *writer, char delimiter, int64_t first, int64_t n, int64_t width,
                                  cell_writer *cell, const void *of)
{
    for (int64_t i = first; i < n; i++)
        for (int64_t j = 0; j < width; j++) {
            SN_TRY(cell(writer, of, i, j));
            SN_TRY(sn_write(writer, j + 1 < width ? &delimiter : "\n", 1));
        }
    return STONET_OK;
}

typedef struct matrix {
    const double *values;
    int64_t m;
    const char *const *names;
} matrix;

static stonet_status matrix_cell(sn_writer *writer, const void *of, int64_t i, int64_t j)
{
    const matrix *x = of;
    return i < 0 ? write_word(writer, x->names[j]) : write_number(writer, x->values[i * x->m + j]);
}

stonet_status stonet_matrix_write(const char *path, const double *values, int64_t n, int64_t m,
                                  const char *const *names)
{
    table_format format = FORMAT_TEXT;
    char delimiter = ',';
    SN_AUTO(sn_writer) *writer = NULL;
    if (path == NULL || n < 0 || m < 1 || (values == NULL && n > 0))
        return sn_fail(STONET_ERROR_ARGUMENT, "a matrix to write needs a path and at least one column");
    if (n > PTRDIFF_MAX / (int64_t)sizeof *values / m)
        return sn_fail(STONET_ERROR_ARGUMENT, "no memory holds %lld rows of %lld columns", (long long)n,
                       (long long)m);
    SN_TRY(choose_format(path, &format, &delimiter));
    SN_TRY(sn_writer_open(path, &writer));
    if (format == FORMAT_NPY) {
        SN_TRY(sn_npy_write_header(writer, "<f8", n, m, NPY_ALIGN));
        SN_TRY(sn_write(writer, values, (size_t)(n * m) * sizeof *values));
    } else {
        const matrix x = {values, m, names};
        SN_TRY(rows_as_text(writer, delimiter, names != NULL ? -1 : 0, n, m, matrix_cell, &x));
    }
    return sn_writer_commit(&writer);
}

/* ---- whole tables: features, then targets ------------------------------------------------------ */

static int64_t table_width(const stonet_data *data)
{
    return data->n_columns + data->n_targets;
}

/* The number in column j of row i, for columns that are numbers. */
static double number_at(const stonet_data *data, int64_t i, int64_t j)
{
    if (j < data->n_columns) return sn_frame_number(data, i, data->column[j].slot);
    return data->y[i * data->n_targets + j - data->n_columns];
}

/* The text in column j of row i, or NULL when it is a number. */
static const char *text_at(const stonet_data *data, int64_t i, int64_t j)
{
    if (j < data->n_columns) {
        const sn_column *column = &data->column[j];
        if (column->kind == SN_COLUMN_NUMBER) return NULL;
        const int32_t code = data->text_code[column->slot][i];
        return code >= 0 ? data->text_values[column->slot].text[code] : "NA";
    }
    return data->label != NULL ? data->labels.text[data->label[i]] : NULL;
}

/* A date comes back as a date. */
static stonet_status table_cell(sn_writer *writer, const void *of, int64_t i, int64_t j)
{
    char date[SN_DATE_SIZE];
    const stonet_data *data = of;
    const bool is_feature = j < data->n_columns;
    if (i < 0)
        return write_word(writer, is_feature ? data->column[j].name : data->target_name[j - data->n_columns]);
    const char *text = text_at(data, i, j);
    if (text != NULL) return write_word(writer, text);
    const double value = number_at(data, i, j);
    if (is_feature && data->column[j].is_date && sn_date_print(value, date)) return write_word(writer, date);
    return write_number(writer, value);
}

/* Labels that are numbers go into an array as those numbers. */
static stonet_status label_values(const stonet_data *data, double **out)
{
    SN_TRY(SN_NEW(*out, data->labels.count));
    for (int64_t c = 0; c < data->labels.count; c++) {
        const char *stop = sn_number_read(data->labels.text[c], &(*out)[c]);
        if (stop == NULL || *stop != '\0')
            return sn_fail(STONET_ERROR_DATA,
                           "an .npy file holds numbers only, and '%s' is a label: write a .csv",
                           data->labels.text[c]);
    }
    return STONET_OK;
}

static stonet_status table_as_npy(sn_writer *writer, const stonet_data *data, const double *labels)
{
    int64_t width = table_width(data);
    SN_TRY(sn_npy_write_header(writer, "<f8", data->n, width, NPY_ALIGN));
    SN_ZEROS(width, double, row);
    for (int64_t i = 0; i < data->n; i++) {
        for (int64_t j = 0; j < width; j++) {
            bool is_label = data->label != NULL && j == data->n_columns;
            row[j] = is_label ? labels[data->label[i]] : number_at(data, i, j);
        }
        SN_TRY(sn_write(writer, row, (size_t)width * sizeof *row));
    }
    return STONET_OK;
}

stonet_status stonet_data_write(const stonet_data *data, const char *path)
{
    table_format format = FORMAT_TEXT;
    char delimiter = ',';
    SN_AUTO(sn_writer) *writer = NULL;
    SN_BLOCK double *labels = NULL;
    if (data == NULL || path == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_data_write needs data and a path");
    SN_TRY(choose_format(path, &format, &delimiter));
    SN_TRY(sn_frame_check(data));
    if (format == FORMAT_NPY && sn_frame_has_text(data))
        return sn_fail(STONET_ERROR_DATA,
                       "an .npy file holds numbers only, and the table has text columns: write a .csv");
    if (format == FORMAT_NPY) SN_TRY(label_values(data, &labels));
    SN_TRY(sn_writer_open(path, &writer));
    SN_TRY(format == FORMAT_NPY
               ? table_as_npy(writer, data, labels)
               : rows_as_text(writer, delimiter, -1, data->n, table_width(data), table_cell, data));
    return sn_writer_commit(&writer);
}
