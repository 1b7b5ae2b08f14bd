#include "data/array.h"

#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/team.h"

enum { CHUNK = SN_BUFFER(1 << 16) }; /* numbers decoded at a time */

/* Rows, columns and bytes of the array; an error when they overflow or are more than the source can have. */
static stonet_status check_size(const sn_source *source, const sn_array *array, int64_t *rows,
                                int64_t *columns)
{
    const char *path = source->path;
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

/* value[i] = (double) of the i-th number of TYPE in bytes, for arrays of this letter. */
#define DECODE(LETTER, TYPE)                                                                                 \
    case (LETTER)*16 + (int)sizeof(TYPE):                                                                    \
        for (int64_t i = 0; i < count; i++) {                                                                \
            TYPE number;                                                                                     \
            memcpy(&number, bytes + i * (int64_t)sizeof number, sizeof number);                              \
            value[i] = (double)number;                                                                       \
        }                                                                                                    \
        break

static void decode(const sn_array *array, const unsigned char *bytes, int64_t count, double *value)
{
    switch (array->kind * 16 + array->size) {
        DECODE('f', float);
        DECODE('f', double);
        DECODE('i', int8_t);
        DECODE('i', int16_t);
        DECODE('i', int32_t);
        DECODE('i', int64_t);
        DECODE('u', uint16_t);
        DECODE('u', uint32_t);
        DECODE('u', uint64_t);
    default: /* bytes and bools */
        for (int64_t i = 0; i < count; i++) value[i] = (double)bytes[i];
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
    stonet_team *team;
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
    return sn_builder_put_number(reader->builder, column, reader->value[reader->at++]);
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

/* Whether the numbers of a file can be used as they lie there: floats that are all features, or doubles that
   are all targets and there. */
static bool is_plain(const array_reader *reader)
{
    const sn_array *array = reader->array;
    const sn_builder *builder = reader->builder;
    const bool foreign = array->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    if (array->kind != 'f' || foreign || array->fortran || builder->drain != NULL || builder->n_unused > 0 ||
        builder->weight_position >= 0 || builder->id >= 0 || builder->group >= 0 || builder->wish->na.numbers)
        return false;
    if (array->size == (int)sizeof(float)) return builder->n_targets == 0;
    return array->size == (int)sizeof(double) && builder->n_targets == reader->columns &&
           !builder->wish->missing_targets;
}

/* What a look at a part of the numbers found. */
typedef struct look {
    int64_t missing;
    int64_t bad;    /* the first that is infinite, or a target that is missing; -1: none */
    int64_t mapped; /* 0: they cannot be mapped, and have to be read */
} look;

static double number_at(const array_reader *reader, const void *numbers, int64_t k)
{
    return reader->array->size == (int)sizeof(float) ? (double)((const float *)numbers)[k]
                                                     : ((const double *)numbers)[k];
}

/* Goes through numbers first .. last - 1 in steps and lets them rest, so that looking at them does not fill
   the memory. */
static void look_at(const array_reader *reader, const sn_mapping *mapping, const unsigned char *bytes,
                    int64_t first, int64_t last, look *found)
{
    const int64_t size = reader->array->size;
    for (; first < last; first += CHUNK) {
        const int64_t count = last - first < CHUNK ? last - first : CHUNK;
        const bool finite =
            size == (int64_t)sizeof(float) && sn_all_finite((const void *)(bytes + first * size), count);
        for (int64_t k = first; !finite && k < first + count && found->bad < 0; k++) {
            const double value = number_at(reader, bytes, k);
            found->missing += isnan(value);
            if (isinf(value) || (isnan(value) && reader->builder->n_targets > 0)) found->bad = k;
        }
        sn_mapping_rest(mapping, bytes + first * size, (size_t)(count * size));
    }
}

/* The same by all ranks, each of them its part; all get what all found. */
static stonet_status look_together(const array_reader *reader, const sn_mapping *mapping,
                                   const unsigned char *bytes, look *found)
{
    stonet_team *team = reader->team;
    const int ranks = stonet_team_ranks(team), rank = stonet_team_rank(team);
    SN_ZEROS(ranks, look, all);
    all[rank] = (look){.bad = -1, .mapped = bytes != NULL};
    if (bytes != NULL)
        look_at(reader, mapping, bytes, sn_team_border(team, reader->left, rank),
                sn_team_border(team, reader->left, rank + 1), &all[rank]);
    const stonet_status status = sn_team_gather(team, ranks, sizeof *all, all);
    *found = (look){.bad = -1, .mapped = 1};
    for (int r = 0; r < ranks; r++) {
        found->missing += all[r].missing;
        found->mapped = found->mapped && all[r].mapped;
        if (found->bad < 0) found->bad = all[r].bad; /* those of lower ranks come first */
    }
    return status;
}

/* Refuses what the builder would. */
static stonet_status check_look(const array_reader *reader, const unsigned char *bytes, const look *found)
{
    sn_builder *builder = reader->builder;
    builder->missing = found->missing;
    if (found->bad < 0 || bytes == NULL) return STONET_OK;
    builder->rows = found->bad / reader->columns;
    return sn_builder_put_number(builder, found->bad % reader->columns, number_at(reader, bytes, found->bad));
}

/* A frame with its numbers in the file; *out stays NULL where these have to be read instead. */
static stonet_status map_rows(const array_reader *reader, stonet_data **out)
{
    const int64_t size = reader->array->size;
    SN_AUTO(sn_mapping) *mapping = NULL;
    const unsigned char *bytes = NULL;
    look found;
    SN_TRY(sn_source_map(reader->source, reader->left * size, &mapping, &bytes));
    if (mapping == NULL || (uintptr_t)bytes % (uintptr_t)size != 0) bytes = NULL;
    SN_TRY(look_together(reader, mapping, bytes, &found));
    if (!found.mapped) return STONET_OK;
    SN_TRY(check_look(reader, bytes, &found));
    reader->builder->rows = reader->rows;
    SN_TRY(sn_builder_finish(reader->builder, out));
    if (size == (int64_t)sizeof(float)) {
        (*out)->x = (const void *)bytes;
        return SN_GIVE(mapping, &(*out)->mapped_x);
    }
    (*out)->y = (double *)(uintptr_t)bytes;
    return SN_GIVE(mapping, &(*out)->mapped_y);
}

static stonet_status read_rows(array_reader *reader, stonet_data **out)
{
    SN_TRY(SN_NEW_RAW(reader->bytes, CHUNK * reader->array->size));
    SN_TRY(SN_NEW_RAW(reader->value, CHUNK));
    SN_TRY(reader->array->fortran ? read_fortran_order(reader) : read_c_order(reader));
    reader->builder->rows = reader->rows - reader->builder->before;
    return sn_builder_finish(reader->builder, out);
}

static stonet_status start(array_reader *reader, const sn_read_wish *wish)
{
    /* The columns are named and given roles one by one, some hundred bytes each. */
    if (reader->columns > (int64_t)1 << 24)
        return sn_fail(STONET_ERROR_DATA, "%s has %lld columns, and 16777216 are the most",
                       reader->source->path, (long long)reader->columns);
    if (wish->how.header == STONET_HEADER_YES)
        return sn_fail(STONET_ERROR_ARGUMENT, "%s is an array of numbers, which has no header",
                       reader->source->path);
    SN_TRY(sn_builder_create(reader->source->path, reader->columns, NULL, wish, &reader->builder));
    SN_ZEROS(reader->columns, bool, is_text);
    return sn_builder_start(reader->builder, is_text);
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

static void reader_free(array_reader *reader)
{
    sn_builder_free(reader->builder);
    sn_free(reader->bytes);
    sn_free(reader->value);
}

stonet_status sn_array_read(sn_source *source, const sn_array *array, const sn_read_wish *wish,
                            stonet_data **out)
{
    SN_FREED_BY(reader_free)
    array_reader reader = {.source = source, .array = array, .team = wish->how.team};
    *out = NULL;
    SN_TRY(check_size(source, array, &reader.rows, &reader.columns));
    reader.left = reader.rows * reader.columns;
    SN_TRY(start(&reader, wish));
    if (is_plain(&reader)) SN_TRY(map_rows(&reader, out));
    if (*out == NULL) SN_TRY(read_rows(&reader, out));
    (*out)->image = image_of(array, *out);
    return STONET_OK;
}
