/* stonet_data_from_arrow: a table from a stream of batches. Cells are copied once, from the batch into the
   rows of the table. A batch is released before the next one is read. */
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/arrow_cells.h"
#include "data/readers.h"
#include "data/utf8.h"

typedef struct arrow_column {
    sn_arrow_type type;  /* of the cells, or of a dictionary's words */
    sn_arrow_type index; /* of the numbers of these words; SN_ARROW_OTHER: there is no dictionary */
    const char *format;  /* for messages */
    int64_t ordered;     /* words whose order counts, of the first batch; 0: it does not, -1: not read yet */
} arrow_column;

typedef struct arrow_reader {
    struct ArrowArrayStream *stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    arrow_column *column;
} arrow_reader;

/* A failure of the other side, in its words if it has some. */
static stonet_status fail_outside(const arrow_reader *reader, const char *what, int code)
{
    const char *words = NULL;
    if (reader->stream->get_last_error != NULL) words = reader->stream->get_last_error(reader->stream);
    return sn_fail(STONET_ERROR_IO, "the Arrow stream gave no %s: %s", what,
                   words != NULL && *words != '\0' ? words : strerror(code));
}

static bool has_dictionary(const arrow_column *column)
{
    return column->index.cell != SN_ARROW_OTHER;
}

/* A dictionary column has two types in Arrow: that of its whole numbers (index) and that of its words. `type`
   is always the type of what a cell means. */
static stonet_status read_type(const struct ArrowSchema *schema, int64_t j, arrow_column *out)
{
    if (schema == NULL || schema->format == NULL)
        return sn_fail(STONET_ERROR_DATA, "the Arrow stream does not say what column %lld is",
                       (long long)j + 1);
    const char *name = schema->name != NULL ? schema->name : "";
    if (!sn_utf8_valid(name, strlen(name)))
        return sn_fail(STONET_ERROR_DATA, "the name of column %lld is not valid UTF-8 text",
                       (long long)j + 1);
    const struct ArrowSchema *words = schema->dictionary;
    *out = (arrow_column){.type = sn_arrow_type_of(schema->format), .format = schema->format};
    if (words == NULL) return STONET_OK;
    if (words->format == NULL || words->dictionary != NULL || !sn_arrow_is_whole(out->type))
        return sn_fail(STONET_ERROR_DATA,
                       "the Arrow stream has a dictionary of column '%s' that makes no sense", name);
    out->index = out->type;
    out->type = sn_arrow_type_of(words->format);
    out->format = words->format;
    /* numbers have their own order */
    const bool ordered = (schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0 && sn_arrow_is_text(out->type);
    out->ordered = ordered ? -1 : 0;
    return STONET_OK;
}

/* The columns of the stream. The format "+s" is Arrow's struct: a batch of rows is a struct with one child a
   column. Nested columns are not refused here, but when they are used. */
static stonet_status read_schema(arrow_reader *reader)
{
    struct ArrowArrayStream *stream = reader->stream;
    if (stream->get_schema == NULL || stream->get_next == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "the Arrow stream has no functions that give its columns and rows");
    const int code = stream->get_schema(stream, &reader->schema);
    if (code != 0) {
        reader->schema.release = NULL; /* there is nothing to let go of */
        return fail_outside(reader, "columns", code);
    }
    const struct ArrowSchema *schema = &reader->schema;
    if (schema->release == NULL || schema->format == NULL || strcmp(schema->format, "+s") != 0)
        return sn_fail(STONET_ERROR_DATA, "the Arrow stream is no table: its rows have no columns");
    if (schema->n_children < 1 || schema->children == NULL)
        return sn_fail(STONET_ERROR_DATA, "a table needs at least one column");
    SN_TRY(SN_NEW(reader->column, schema->n_children));
    for (int64_t j = 0; j < schema->n_children; j++)
        SN_TRY(read_type(schema->children[j], j, &reader->column[j]));
    return STONET_OK;
}

/* ---- cells -------------------------------------------------------------------------------------- */

static stonet_status put_text(sn_builder *builder, int64_t j, const struct ArrowArray *array,
                              sn_arrow_type type, int64_t at)
{
    const char *text;
    size_t length;
    if (!sn_arrow_text(array, type, at, &text, &length))
        return sn_builder_fail_cell(builder, j, "the text has no place in its buffer");
    return sn_put_word(builder, j, text, length);
}

static stonet_status put_number(sn_builder *builder, int64_t j, const struct ArrowArray *array,
                                sn_arrow_type type, int64_t at)
{
    const double number = sn_arrow_number(array, type, at);
    if (builder->column[j].role == SN_TARGET_NUMBER &&
        sn_arrow_is_whole(type)) { /* labels may have more digits */
        char text[SN_NUMBER_SIZE];
        const int length =
            type.cell == SN_ARROW_UINT64
                ? sn_format(text, sizeof text, "%llu",
                            (unsigned long long)((const uint64_t *)array->buffers[1])[at])
            : type.cell == SN_ARROW_INT64
                ? sn_format(text, sizeof text, "%lld", (long long)((const int64_t *)array->buffers[1])[at])
                : sn_format(text, sizeof text, "%.0f", number);
        SN_TRY(sn_builder_put_spelling(builder, text, (size_t)length));
    }
    return sn_builder_put_number(builder, j, number);
}

/* A cell, or a word of a dictionary; of flags, where a model knows them as texts, True and False. */
static stonet_status put_cell(sn_builder *builder, int64_t j, const struct ArrowArray *array,
                              sn_arrow_type type, int64_t at)
{
    if (sn_arrow_is_missing(array, type, at)) return sn_builder_put_missing(builder, j, "", 0);
    if (sn_arrow_is_text(type)) return put_text(builder, j, array, type, at);
    if (!sn_builder_is_text(builder, j)) return put_number(builder, j, array, type, at);
    char text[SN_NUMBER_SIZE];
    const double number = sn_arrow_number(array, type, at);
    if (type.cell == SN_ARROW_FLAG)
        return sn_put_word(builder, j, number != 0 ? "True" : "False", number != 0 ? 4 : 5);
    return sn_put_word(builder, j, text, sn_number_print(number, text));
}

/* The words of an ordered dictionary, from low to high, before the first of them is in a row. */
static stonet_status put_order(sn_builder *builder, int64_t j, const struct ArrowArray *words,
                               arrow_column *column)
{
    if (column->ordered >= 0) return STONET_OK;
    SN_FREED_BY(sn_dictionary_free) sn_dictionary copy = {0};
    SN_TRY(SN_NEW(copy.text, words->length + 1));
    for (; copy.count < words->length; copy.count++) {
        const char *text = NULL;
        size_t length = 0;
        const int64_t at = words->offset + copy.count;
        if (sn_arrow_is_missing(words, column->type, at) ||
            !sn_arrow_text(words, column->type, at, &text, &length))
            return sn_fail(STONET_ERROR_DATA, "column '%s': value %lld of its order is missing",
                           builder->column[j].name, (long long)copy.count + 1);
        SN_TRY(SN_NEW(copy.text[copy.count], length + 1));
        memcpy(copy.text[copy.count], text, length);
    }
    column->ordered = words->length;
    return sn_builder_put_order(builder, j, (const char *const *)copy.text, words->length);
}

/* The word of a row, which is looked up once a batch; code: where the words went, -1: not yet, or missing. */
static stonet_status put_word_of(sn_builder *builder, int64_t j, const struct ArrowArray *words,
                                 const arrow_column *column, double number, int32_t *code)
{
    if (!(number >= 0 && number < (double)words->length))
        return sn_builder_fail_cell(builder, j, "the code is %.0f, and there are texts for 0 to %lld", number,
                                    (long long)words->length - 1);
    const int64_t word = (int64_t)number;
    if (code[word] >= 0) {
        *sn_builder_code(builder, j) = code[word];
        return STONET_OK;
    }
    SN_TRY(put_cell(builder, j, words, column->type, words->offset + word));
    if (sn_arrow_is_missing(words, column->type, words->offset + word)) return STONET_OK;
    code[word] = *sn_builder_code(builder, j);
    if (column->ordered > 0 && sn_builder_is_text(builder, j) && code[word] >= column->ordered)
        return sn_builder_fail_cell(builder, j,
                                    "the value is not in the order of the first batch: give all batches one");
    return STONET_OK;
}

static bool row_is_missing(const struct ArrowArray *batch, int64_t row)
{
    return batch->n_buffers > 0 && batch->buffers != NULL &&
           sn_arrow_is_missing(batch, (sn_arrow_type){.cell = SN_ARROW_FLAG}, batch->offset + row);
}

/* One column of a batch; its rows begin at `base` in the table. */
static stonet_status put_column(const struct ArrowArray *batch, int64_t j, arrow_column *column, int64_t base,
                                sn_builder *builder)
{
    const struct ArrowArray *array = batch->children[j];
    const char *name = builder->column[j].name;
    const bool coded = has_dictionary(column);
    SN_BLOCK int32_t *code = NULL;
    if (column->type.cell == SN_ARROW_OTHER)
        return sn_fail(STONET_ERROR_DATA,
                       "column '%s' has the Arrow type '%s', and a feature is a number, a flag, a text, a "
                       "category or a date: leave it out, or change its type",
                       name, column->format);
    SN_TRY(sn_arrow_check(array, coded ? column->index : column->type, batch->offset, batch->length, name));
    if (coded) {
        const struct ArrowArray *words = array->dictionary;
        SN_TRY(sn_arrow_check(words, column->type, 0, words != NULL ? words->length : 0, name));
        SN_TRY(put_order(builder, j, words, column));
        SN_TRY(SN_NEW_RAW(code, words->length + 1));
        for (int64_t c = 0; c < words->length; c++) code[c] = -1;
    }
    for (int64_t i = 0; i < batch->length; i++) {
        const int64_t at = array->offset + batch->offset + i;
        builder->rows = base + i;
        if (row_is_missing(batch, i) || (coded && sn_arrow_is_missing(array, column->index, at)))
            SN_TRY(sn_builder_put_missing(builder, j, "", 0));
        else if (coded)
            SN_TRY(put_word_of(builder, j, array->dictionary, column,
                               sn_arrow_number(array, column->index, at), code));
        else
            SN_TRY(put_cell(builder, j, array, column->type, at));
    }
    return STONET_OK;
}

/* ---- batches ------------------------------------------------------------------------------------ */

/* Appends one batch, column by column. The counts are of another program: all are checked before memory is
   reserved or read. */
static stonet_status put_batch(arrow_reader *reader, sn_builder *builder)
{
    const struct ArrowArray *batch = &reader->batch;
    const int64_t base = builder->rows;
    if (batch->n_children != builder->n_columns || batch->children == NULL)
        return sn_fail(STONET_ERROR_DATA,
                       "the Arrow stream has rows of %lld columns, and said that they are %lld",
                       (long long)batch->n_children, (long long)builder->n_columns);
    if (batch->length < 0 || batch->offset < 0 || batch->length > INT64_MAX / 16 - base)
        return sn_fail(STONET_ERROR_DATA, "the Arrow stream has a batch of %lld rows from %lld on",
                       (long long)batch->length, (long long)batch->offset);
    for (int64_t j = 0; j < builder->n_columns; j++) /* before there is room for that many */
        if (builder->column[j].role != SN_UNUSED &&
            (batch->children[j] == NULL || batch->children[j]->length < batch->length))
            return sn_fail(STONET_ERROR_DATA, "the Arrow stream has too few cells of '%s' for %lld rows",
                           builder->column[j].name, (long long)batch->length);
    SN_TRY(sn_builder_reserve(builder, base + batch->length, base + batch->length));
    for (int64_t j = 0; j < builder->n_columns; j++)
        if (builder->column[j].role != SN_UNUSED)
            SN_TRY(put_column(batch, j, &reader->column[j], base, builder));
    builder->rows = base + batch->length;
    return STONET_OK;
}

/* All batches, one after the other; Arrow ends a stream with a batch that has no release function. Each batch
   is released before the next is read, so two batches are never in memory. */
static stonet_status fill(void *context, sn_builder *builder)
{
    arrow_reader *reader = context;
    SN_ZEROS(builder->n_columns, bool, is_text);
    for (int64_t j = 0; j < builder->n_columns; j++) {
        const arrow_column *column = &reader->column[j];
        is_text[j] = has_dictionary(column) || sn_arrow_is_text(column->type);
        builder->column[j].is_date = column->type.is_date && !is_text[j];
    }
    stonet_status status = sn_builder_start(builder, is_text);
    while (status == STONET_OK) {
        const int code = reader->stream->get_next(reader->stream, &reader->batch);
        if (code != 0) {
            reader->batch.release = NULL;
            return fail_outside(reader, "rows", code);
        }
        if (reader->batch.release == NULL) break;
        status = put_batch(reader, builder);
        reader->batch.release(&reader->batch);
        reader->batch = (struct ArrowArray){0};
    }
    if (status == STONET_OK && builder->rows == 0)
        return sn_fail(STONET_ERROR_DATA, "the Arrow stream has no rows");
    return status;
}

static void reader_free(arrow_reader *reader)
{
    if (reader->schema.release != NULL) reader->schema.release(&reader->schema);
    reader->stream->release(reader->stream);
    sn_free(reader->column);
}

stonet_status sn_arrow_read(struct ArrowArrayStream *stream, const stonet_read_options *options,
                            const sn_schema *schema, stonet_data **out)
{
    if (stream == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_data_from_arrow needs a stream and a place for the data");
    *out = NULL;
    if (stream->release == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "the Arrow stream was used up before: make a new one");
    SN_FREED_BY(reader_free) arrow_reader reader = {.stream = stream};
    SN_TRY(read_schema(&reader));
    const int64_t n_columns = reader.schema.n_children;
    SN_ARRAY(n_columns, const char *, names);
    for (int64_t j = 0; j < n_columns; j++) {
        const char *name = reader.schema.children[j]->name;
        names[j] = name != NULL ? name : "";
    }
    return sn_memory_read(&(sn_memory_table){n_columns, names, fill, &reader}, options, schema, out);
}

stonet_status stonet_data_from_arrow(struct ArrowArrayStream *stream, const stonet_read_options *options,
                                     stonet_data **out)
{
    return sn_arrow_read(stream, options, NULL, out);
}
