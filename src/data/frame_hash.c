#include "data/frame.h"

/* Rows that are touched at a time: those of a mapped file need not stay in memory. */
enum { HASH_ROWS = 1 << 16 };

static void add_dictionary(const sn_dictionary *words, sn_hash *hash)
{
    sn_hash_int(hash, words->count);
    sn_hash_int(hash, words->ordered | words->told << 1);
    for (int64_t c = 0; c < words->count; c++) sn_hash_text(hash, words->text[c]);
}

static void add_sparse(const sn_cells *cells, sn_hash *hash)
{
    const size_t count = (size_t)cells->start[cells->n];
    sn_hash_add(hash, cells->start, ((size_t)cells->n + 1) * sizeof *cells->start);
    sn_hash_add(hash, cells->column, count * sizeof *cells->column);
    sn_hash_add(hash, cells->value, count * sizeof *cells->value);
}

/* Numbers of so many bytes a row, in stretches of rows, so that a mapped table larger than memory can be
   hashed. */
static void add_rows(const stonet_data *data, const void *from, size_t bytes, sn_hash *hash)
{
    for (int64_t first = 0; first < data->n; first += HASH_ROWS) {
        const int64_t rows = data->n - first < HASH_ROWS ? data->n - first : HASH_ROWS;
        sn_hash_add(hash, (const char *)from + (size_t)first * bytes, (size_t)rows * bytes);
        sn_frame_rest(data, first, rows);
    }
}

/* Columns that are kept in double count with all their digits, after the floats. */
static void add_numbers(const stonet_data *data, sn_hash *hash)
{
    if (data->sparse != NULL) {
        add_sparse(data->sparse, hash);
        return;
    }
    add_rows(data, data->x, (size_t)data->n_numeric * sizeof *data->x, hash);
    for (int64_t j = 0; data->exact != NULL && j < data->n_numeric; j++) {
        const sn_exact *exact = &data->exact[j];
        sn_hash_int(hash, exact->at != NULL);
        for (int64_t i = 0; exact->at != NULL && i < data->n; i++)
            sn_hash_add(hash, &exact->at[i * exact->step], sizeof *exact->at);
    }
}

static void add_columns(const stonet_data *data, sn_hash *hash)
{
    const int64_t sizes[] = {data->n, data->n_columns, data->n_numeric, data->n_text, data->n_targets};
    sn_hash_add(hash, sizes, sizeof sizes);
    for (int64_t j = 0; j < data->n_columns; j++) {
        const sn_column *column = &data->column[j];
        sn_hash_text(hash, column->name);
        sn_hash_int(hash, column->kind);
        sn_hash_int(hash, column->is_date | column->season << 1 | column->unnamed << 2);
    }
    sn_hash_text(hash, data->na);
    for (int k = 0; k < data->image.rank; k++) sn_hash_int(hash, data->image.extent[k]);
}

void sn_frame_hash_some(const stonet_data *data, sn_hash *hash)
{
    enum { SOME = 1024 };
    if (data->mapped_x == NULL) {
        sn_frame_hash(data, hash);
        return;
    }
    add_columns(data, hash);
    for (int64_t k = 0; k < SOME && k < data->n; k++) {
        const int64_t row = data->n <= SOME ? k : k * (data->n / SOME), m = data->n_targets;
        sn_hash_add(hash, data->x + row * data->n_numeric, (size_t)data->n_numeric * sizeof *data->x);
        if (data->y != NULL) sn_hash_add(hash, data->y + row * m, (size_t)m * sizeof *data->y);
        if (data->label != NULL) sn_hash_add(hash, data->label + row, sizeof *data->label);
        sn_frame_passed(data, row);
    }
}

void sn_frame_hash(const stonet_data *data, sn_hash *hash)
{
    add_columns(data, hash);
    add_numbers(data, hash);
    for (int64_t j = 0; j < data->n_text; j++) {
        add_dictionary(&data->text_values[j], hash);
        sn_hash_add(hash, data->text_code[j], (size_t)data->n * sizeof *data->text_code[j]);
    }
    for (int64_t k = 0; k < data->n_targets; k++) sn_hash_text(hash, data->target_name[k]);
    if (data->y != NULL) add_rows(data, data->y, (size_t)data->n_targets * sizeof *data->y, hash);
    if (data->weight != NULL) sn_hash_add(hash, data->weight, (size_t)data->n * sizeof *data->weight);
    if (data->spelled.count > 0) add_dictionary(&data->spelled, hash);
    if (data->group_name != NULL) sn_hash_text(hash, data->group_name);
    if (data->group != NULL) sn_hash_add(hash, data->group, (size_t)data->n * sizeof *data->group);
    if (data->label == NULL) return;
    add_rows(data, data->label, sizeof *data->label, hash);
    add_dictionary(&data->labels, hash);
}
