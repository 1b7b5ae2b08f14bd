#include "data/array.h"

#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"

enum { CHUNK = SN_BUFFER(1 << 16) }; /* numbers decoded at a time */

/* Rows, columns and bytes of the array; an error when they overflow or are more than the source can have. */
static stonet_status check_size(const sn_source *source, const sn_array *array, int64_t *rows,
                                int64_t *columns)
{
    const char *path = sn_source_path(source);
    int64_t count = 1, bytes;
    for (int k = 0; k < array->rank; k++) {
        if (array->shape[k] < 0 || __builtin_mul_overflow(count, array->shape[k], &count))
            return sn_fail(STONET_ERROR_FORMAT, "%s claims a shape that no file can have", path);
    }
    if (count == 0) return sn_fail(STONET_ERROR_DATA, "%s has no rows or no columns", path);
    if (__builtin_mul_overflow(count, (int64_t)array->size, &bytes) || bytes > sn_source_left(source))
        return sn_fail(STONET_ERROR_FORMAT,
                       "%s is cut off: it claims %.17g numbers of %d bytes and has fewer bytes", path,
                       (double)count, array->size);
    *rows = array->shape[0];
    *columns = count / array->shape[0];
    return STONET_OK;
}

static void swap_bytes(unsigned char *bytes, int64_t count, int size)
{
    for (int64_t i = 0; i < count; i++) {
        unsigned char *number = bytes + i * size;
        for (int a = 0, b = size - 1; a < b; a++, b--) {
            unsigned char held = number[a];
            number[a] = number[b];
            number[b] = held;
        }
    }
}

/* value[i] = (double) of the i-th number of TYPE in bytes. */
#define DECODE(TYPE)                                                                                         \
    do {                                                                                                     \
        for (int64_t i = 0; i < count; i++) {                                                                \
            TYPE number;                                                                                     \
            memcpy(&number, bytes + i * (int64_t)sizeof number, sizeof number);                              \
            value[i] = (double)number;                                                                       \
        }                                                                                                    \
    } while (0)

static void decode(const sn_array *array, const unsigned char *bytes, int64_t count, double *value)
{
    switch (array->kind * 16 + array->size) {
    case 'f' * 16 + 4:
        DECODE(float);
        break;
    case 'f' * 16 + 8:
        DECODE(double);
        break;
    case 'i' * 16 + 1:
        DECODE(int8_t);
        break;
    case 'i' * 16 + 2:
        DECODE(int16_t);
        break;
    case 'i' * 16 + 4:
        DECODE(int32_t);
        break;
    case 'i' * 16 + 8:
        DECODE(int64_t);
        break;
    case 'u' * 16 + 2:
        DECODE(uint16_t);
        break;
    case 'u' * 16 + 4:
        DECODE(uint32_t);
        break;
    case 'u' * 16 + 8:
        DECODE(uint64_t);
        break;
    default:
        DECODE(uint8_t);
        break; /* bytes and bools */
    }
}

typedef struct array_reader {
    sn_source *source;
    const sn_array *array;
    sn_builder *builder;
    int64_t rows, columns;
    unsigned char *bytes;
    double *value;
    int64_t have, at; /* decoded numbers, and the next of them */
    int64_t left;     /* numbers still in the source */
} array_reader;

static stonet_status next_chunk(array_reader *reader)
{
    int64_t count = reader->left < CHUNK ? reader->left : CHUNK;
    SN_TRY(sn_source_read_all(reader->source, reader->bytes, (size_t)(count * reader->array->size)));
    if (reader->array->big_endian) swap_bytes(reader->bytes, count, reader->array->size);
    decode(reader->array, reader->bytes, count, reader->value);
    reader->left -= count;
    reader->have = count;
    reader->at = 0;
    return STONET_OK;
}

static stonet_status put_next(array_reader *reader, int64_t row, int64_t column)
{
    if (reader->at == reader->have) SN_TRY(next_chunk(reader));
    reader->builder->rows = row - reader->builder->before;
    return sn_builder_put_number(reader->builder, 0, column, reader->value[reader->at++]);
}

/* Row by row. Packed sources could lie about their size, so memory follows what really comes. */
static stonet_status read_c_order(array_reader *reader)
{
    sn_builder *builder = reader->builder;
    const int64_t most = builder->drain != NULL ? builder->drain->rows : reader->rows;
    for (int64_t i = 0; i < reader->rows; i++) {
        const int64_t here = i - builder->before, expected = 4 * here + 1024;
        SN_TRY(sn_builder_reserve(builder, here + 1, expected < most ? expected : most));
        for (int64_t j = 0; j < reader->columns; j++) SN_TRY(put_next(reader, i, j));
        builder->rows = here + 1;
        if (builder->drain != NULL) SN_TRY(sn_builder_drain(builder));
    }
    return STONET_OK;
}

/* Where the k-th column in Fortran order stands in C order: the digits of k, lowest first, in the bases of
   the shape, read the other way round. */
static int64_t c_column(const sn_array *array, int64_t k)
{
    int64_t column = 0;
    for (int d = 1; d < array->rank; d++) {
        column = column * array->shape[d] + k % array->shape[d];
        k /= array->shape[d];
    }
    return column;
}

static stonet_status read_fortran_order(array_reader *reader)
{
    SN_TRY(sn_builder_reserve(reader->builder, reader->rows, reader->rows));
    for (int64_t k = 0; k < reader->columns; k++) {
        int64_t j = c_column(reader->array, k);
        for (int64_t i = 0; i < reader->rows; i++) SN_TRY(put_next(reader, i, j));
    }
    return STONET_OK;
}

/* Whether the numbers are features and nothing else, as they lie in the file. */
static bool is_plain(const array_reader *reader)
{
    const sn_array *array = reader->array;
    bool foreign = array->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return array->kind == 'f' && array->size == (int)sizeof(float) && !foreign && !array->fortran &&
           reader->builder->drain == NULL && reader->builder->n_targets == 0 &&
           reader->builder->n_unused == 0 && reader->builder->weight_position < 0 &&
           (reader->builder->na == NULL || !reader->builder->na->numbers);
}

/* Refuses what the builder would, and counts what is missing; goes through the numbers in steps and lets them
   rest, so that looking at them does not fill the memory. */
static stonet_status check_numbers(const array_reader *reader, const sn_mapping *mapping, const float *x)
{
    for (int64_t first = 0; first < reader->left; first += CHUNK) {
        int64_t count = reader->left - first < CHUNK ? reader->left - first : CHUNK;
        const bool finite = sn_all_finite(x + first, count);
        for (int64_t k = first; !finite && k < first + count; k++) {
            if (isfinite(x[k])) continue;
            reader->builder->missing += isnan(x[k]);
            reader->builder->rows = k / reader->columns;
            if (isinf(x[k]))
                return sn_builder_put_number(reader->builder, 0, k % reader->columns, (double)x[k]);
        }
        sn_mapping_rest(mapping, x + first, (size_t)count * sizeof *x);
    }
    return STONET_OK;
}

/* A frame with its x in the file; *out stays NULL where the numbers have to be read instead. */
static stonet_status map_rows(const array_reader *reader, stonet_data **out)
{
    sn_mapping *mapping;
    const unsigned char *bytes = NULL;
    SN_TRY(sn_source_map(reader->source, reader->left * (int64_t)sizeof(float), &mapping, &bytes));
    bool usable = mapping != NULL && (uintptr_t)bytes % _Alignof(float) == 0;
    const float *x = (const void *)bytes;
    stonet_status status = usable ? check_numbers(reader, mapping, x) : STONET_OK;
    if (usable && status == STONET_OK) {
        reader->builder->rows = reader->rows;
        status = sn_builder_finish(reader->builder, out);
    }
    if (*out == NULL) {
        sn_mapping_close(mapping);
        return status;
    }
    (*out)->x = x;
    (*out)->mapped_x = mapping;
    return STONET_OK;
}

static stonet_status read_rows(array_reader *reader, stonet_data **out)
{
    SN_TRY(SN_NEW_RAW(reader->bytes, CHUNK * reader->array->size));
    SN_TRY(SN_NEW_RAW(reader->value, CHUNK));
    SN_TRY(reader->array->fortran ? read_fortran_order(reader) : read_c_order(reader));
    reader->builder->rows = reader->rows - reader->builder->before;
    return sn_builder_finish(reader->builder, out);
}

static stonet_status start(array_reader *reader, const sn_target_wish *wish)
{
    /* The columns are named and given roles one by one, some hundred bytes each. */
    if (reader->columns > (int64_t)1 << 24)
        return sn_fail(STONET_ERROR_DATA, "%s has %lld columns, and 16777216 are the most",
                       sn_source_path(reader->source), (long long)reader->columns);
    if (wish->header == STONET_HEADER_YES)
        return sn_fail(STONET_ERROR_ARGUMENT, "%s is an array of numbers, which has no header",
                       sn_source_path(reader->source));
    bool *is_text;
    SN_TRY(sn_builder_create(sn_source_path(reader->source), reader->columns, NULL, wish, &reader->builder));
    SN_TRY(SN_NEW(is_text, reader->columns));
    stonet_status status = sn_builder_start(reader->builder, is_text);
    sn_free(is_text);
    return status;
}

/* Rows of an array of rank 3 or 4 are images, as long as all of their numbers are features. */
static sn_image image_of(const sn_array *array, const stonet_data *data)
{
    sn_image image = {0};
    if (array->rank != 3 && array->rank != 4) return image;
    image.rank = array->rank - 1;
    for (int k = 0; k < image.rank; k++) image.extent[k] = array->shape[k + 1];
    return data->n_numeric == sn_image_size(&image) && data->n_columns == data->n_numeric ? image
                                                                                          : (sn_image){0};
}

stonet_status sn_array_read(sn_source *source, const sn_array *array, const sn_target_wish *wish,
                            stonet_data **out)
{
    array_reader reader = {.source = source, .array = array};
    SN_TRY(check_size(source, array, &reader.rows, &reader.columns));
    reader.left = reader.rows * reader.columns;
    stonet_status status = start(&reader, wish);
    *out = NULL;
    if (status == STONET_OK && is_plain(&reader)) status = map_rows(&reader, out);
    if (status == STONET_OK && *out == NULL) status = read_rows(&reader, out);
    if (status == STONET_OK) (*out)->image = image_of(array, *out);
    sn_builder_free(reader.builder);
    sn_free(reader.bytes);
    sn_free(reader.value);
    return status;
}
