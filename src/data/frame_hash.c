#include "data/frame.h"

/* Rows that are touched at a time: those of a mapped file need not stay in memory. */
enum { HASH_ROWS = 1 << 16 };

static void add_dictionary(const sn_dictionary *words, sn_hash *hash)
{
    sn_hash_int(hash, words->count);
    for (int64_t c = 0; c < words->count; c++) sn_hash_text(hash, words->text[c]);
}

static void add_numbers(const stonet_data *data, sn_hash *hash)
{
    for (int64_t first = 0; first < data->n; first += HASH_ROWS) {
        const int64_t rows = data->n - first < HASH_ROWS ? data->n - first : HASH_ROWS;
        sn_hash_add(hash, data->x + first * data->n_numeric,
                    (size_t)(rows * data->n_numeric) * sizeof *data->x);
        sn_frame_rest(data, first, rows);
    }
    for (int64_t j = 0; data->exact != NULL && j < data->n_numeric; j++) {
        const sn_exact *exact = &data->exact[j];
        sn_hash_int(hash, exact->at != NULL);
        for (int64_t i = 0; exact->at != NULL && i < data->n; i++)
            sn_hash_add(hash, &exact->at[i * exact->step], sizeof *exact->at);
    }
}

/* The response, of so many bytes a row. */
static void add_response(const stonet_data *data, const void *from, size_t bytes, sn_hash *hash)
{
    for (int64_t first = 0; first < data->n; first += HASH_ROWS) {
        const int64_t rows = data->n - first < HASH_ROWS ? data->n - first : HASH_ROWS;
        sn_hash_add(hash, (const char *)from + (size_t)first * bytes, (size_t)rows * bytes);
        sn_frame_rest_response(data, first, rows);
    }
}

void sn_frame_hash(const stonet_data *data, sn_hash *hash)
{
    const int64_t sizes[] = {data->n, data->n_columns, data->n_numeric, data->n_text, data->n_targets};
    sn_hash_add(hash, sizes, sizeof sizes);
    for (int64_t j = 0; j < data->n_columns; j++) {
        sn_hash_text(hash, data->column[j].name);
        sn_hash_int(hash, data->column[j].kind);
    }
    sn_hash_text(hash, data->na);
    for (int k = 0; k < data->image.rank; k++) sn_hash_int(hash, data->image.extent[k]);
    add_numbers(data, hash);
    for (int64_t j = 0; j < data->n_text; j++) {
        add_dictionary(&data->text_values[j], hash);
        sn_hash_add(hash, data->text_code[j], (size_t)data->n * sizeof *data->text_code[j]);
    }
    for (int64_t k = 0; k < data->n_targets; k++) sn_hash_text(hash, data->target_name[k]);
    if (data->y != NULL) add_response(data, data->y, (size_t)data->n_targets * sizeof *data->y, hash);
    if (data->weight != NULL) sn_hash_add(hash, data->weight, (size_t)data->n * sizeof *data->weight);
    if (data->group_name != NULL) sn_hash_text(hash, data->group_name);
    if (data->group != NULL) sn_hash_add(hash, data->group, (size_t)data->n * sizeof *data->group);
    if (data->label == NULL) return;
    add_response(data, data->label, sizeof *data->label, hash);
    add_dictionary(&data->labels, hash);
}
