/* stonet_data_begin .. stonet_data_end: a table from columns in memory. */
#include <string.h>

#include "base/memory.h"
#include "base/take_options.h"
#include "data/readers.h"
#include "data/utf8.h"

/* Arrays of the caller; one of numbers, texts and codes is there. */
typedef struct given_column {
    char *name; /* NULL: none */
    const double *numbers;
    bool is_date;
    const char *const *texts; /* n of them, or with codes n_texts */
    const int32_t *codes;
    int64_t n_texts;
    bool ordered;
} given_column;

struct stonet_columns {
    int64_t rows, count, capacity;
    given_column *column;
};

stonet_status stonet_data_begin(int64_t rows, stonet_columns **out)
{
    if (out == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "a table needs a place for its columns");
    *out = NULL;
    if (rows < 1) return sn_fail(STONET_ERROR_ARGUMENT, "a table needs at least one row");
    SN_TRY(SN_NEW(*out, 1));
    (*out)->rows = rows;
    return STONET_OK;
}

void stonet_columns_free(stonet_columns *columns)
{
    if (columns == NULL) return;
    for (int64_t j = 0; j < columns->count; j++) sn_free(columns->column[j].name);
    sn_free(columns->column);
    sn_free(columns);
}

static stonet_status add(stonet_columns *columns, const char *name, given_column column)
{
    if (columns == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "there is no table to add a column to");
    if (column.numbers == NULL && column.texts == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "column %lld has no values", (long long)columns->count + 1);
    if (name != NULL && !sn_utf8_valid(name, strlen(name)))
        return sn_fail(STONET_ERROR_DATA, "the name of column %lld is not valid UTF-8 text",
                       (long long)columns->count + 1);
    if (columns->count == columns->capacity) {
        const int64_t capacity = 2 * columns->capacity + 16;
        SN_TRY(SN_GROW(columns->column, capacity));
        columns->capacity = capacity;
    }
    SN_TRY(sn_text_copy(name, &column.name));
    columns->column[columns->count++] = column;
    return STONET_OK;
}

stonet_status stonet_data_add_numbers(stonet_columns *columns, const char *name, const double *values)
{
    return add(columns, name, (given_column){.numbers = values});
}

stonet_status stonet_data_add_dates(stonet_columns *columns, const char *name, const double *days)
{
    return add(columns, name, (given_column){.numbers = days, .is_date = true});
}

stonet_status stonet_data_add_texts(stonet_columns *columns, const char *name, const char *const *texts)
{
    return add(columns, name, (given_column){.texts = texts});
}

stonet_status stonet_data_add_codes(stonet_columns *columns, const char *name, const int32_t *codes,
                                    const char *const *texts, int64_t n_texts, int ordered)
{
    if (codes == NULL || texts == NULL || n_texts < 1)
        return sn_fail(STONET_ERROR_ARGUMENT, "codes need the texts they stand for");
    for (int64_t c = 0; c < n_texts; c++)
        if (texts[c] == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "code %lld has no text", (long long)c);
    return add(columns, name,
               (given_column){.texts = texts, .codes = codes, .n_texts = n_texts, .ordered = ordered != 0});
}

/* ---- the table --------------------------------------------------------------------------------- */

/* Names for the builder: NULL when no column has one; an empty one where one is missing. */
static stonet_status gather_names(const stonet_columns *columns, const char ***out)
{
    bool any = false;
    for (int64_t j = 0; j < columns->count; j++) any = any || columns->column[j].name != NULL;
    *out = NULL;
    if (!any) return STONET_OK;
    SN_TRY(SN_NEW(*out, columns->count));
    for (int64_t j = 0; j < columns->count; j++)
        (*out)[j] = columns->column[j].name != NULL ? columns->column[j].name : "";
    return STONET_OK;
}

stonet_status sn_put_word(sn_builder *builder, int64_t column, const char *word, size_t length)
{
    if (!sn_utf8_valid(word, length))
        return sn_builder_fail_cell(builder, column, "the text is not valid UTF-8");
    if (memchr(word, '\0', length) != NULL)
        return sn_builder_fail_cell(builder, column, "the text has a null character");
    return sn_builder_put_text(builder, column, word, length);
}

/* A factor: each of its texts is looked up once. code: where they went, -1: not yet. */
static stonet_status put_codes(const given_column *given, int64_t rows, int64_t column, sn_builder *builder,
                               int32_t *code)
{
    for (int64_t c = 0; c < given->n_texts; c++) code[c] = -1;
    for (builder->rows = 0; builder->rows < rows; builder->rows++) {
        const int32_t at = given->codes[builder->rows];
        if (at < -1 || at >= given->n_texts)
            return sn_builder_fail_cell(builder, column, "the code is %d, and there are texts for 0 to %lld",
                                        (int)at, (long long)given->n_texts - 1);
        if (at == -1) {
            SN_TRY(sn_builder_put_missing(builder, column, "", 0));
        } else if (code[at] >= 0) {
            *sn_builder_code(builder, column) = code[at];
        } else {
            SN_TRY(sn_put_word(builder, column, given->texts[at], strlen(given->texts[at])));
            code[at] = *sn_builder_code(builder, column);
        }
    }
    return STONET_OK;
}

/* The column comes as codes with their texts, as numbers, or as texts. The builder is filled column by
   column, so its row count starts again at 0 for each. */
static stonet_status put_column(const given_column *given, int64_t rows, int64_t column, sn_builder *builder)
{
    if (builder->column[column].role == SN_UNUSED) return STONET_OK;
    if (given->codes != NULL) {
        SN_BLOCK int32_t *code = NULL;
        SN_TRY(SN_NEW_RAW(code, given->n_texts));
        if (given->ordered) SN_TRY(sn_builder_put_order(builder, column, given->texts, given->n_texts));
        return put_codes(given, rows, column, builder, code);
    }
    for (builder->rows = 0; builder->rows < rows; builder->rows++) {
        if (given->numbers != NULL)
            SN_TRY(sn_builder_put_number(builder, column, given->numbers[builder->rows]));
        else if (given->texts[builder->rows] == NULL)
            SN_TRY(sn_builder_put_missing(builder, column, "", 0));
        else
            SN_TRY(sn_put_word(builder, column, given->texts[builder->rows],
                               strlen(given->texts[builder->rows])));
    }
    return STONET_OK;
}

static stonet_status fill(void *context, sn_builder *builder)
{
    const stonet_columns *columns = context;
    SN_ZEROS(columns->count, bool, is_text);
    for (int64_t j = 0; j < columns->count; j++) {
        is_text[j] = columns->column[j].numbers == NULL;
        builder->column[j].is_date = columns->column[j].is_date;
    }
    SN_TRY(sn_builder_start(builder, is_text));
    SN_TRY(sn_builder_reserve(builder, columns->rows, columns->rows));
    for (int64_t j = 0; j < columns->count; j++)
        SN_TRY(put_column(&columns->column[j], columns->rows, j, builder));
    builder->rows = columns->rows;
    return STONET_OK;
}

static stonet_status build(const sn_memory_table *table, const sn_read_wish *wish, stonet_data **out)
{
    SN_AUTO(sn_builder) *builder = NULL;
    SN_TRY(sn_builder_create("the table", table->n_columns, table->names, wish, &builder));
    SN_TRY(table->fill(table->context, builder));
    return sn_builder_finish(builder, out);
}

stonet_status sn_memory_read(const sn_memory_table *table, const stonet_read_options *options,
                             const sn_schema *schema, stonet_data **out)
{
    stonet_read_options how;
    SN_TRY(sn_take_read_options(options, &how));
    if (how.target_file != NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "columns in memory have no target file: add the target to them");
    if (table->n_columns == 0) return sn_fail(STONET_ERROR_ARGUMENT, "a table needs at least one column");
    sn_read_wish wish;
    SN_TRY(sn_wish_start(&how, schema, &wish));
    wish.columns = how.target;
    return sn_wish_end(&wish, build(table, &wish, out), out);
}

stonet_status sn_columns_read(const stonet_columns *columns, const stonet_read_options *options,
                              const sn_schema *schema, stonet_data **out)
{
    if (columns == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_data_end needs columns and a place for the data");
    *out = NULL;
    SN_BLOCK const char **names = NULL;
    SN_TRY(gather_names(columns, &names));
    stonet_columns given = *columns; /* a context is not const */
    return sn_memory_read(&(sn_memory_table){columns->count, names, fill, &given}, options, schema, out);
}

stonet_status stonet_data_end(const stonet_columns *columns, const stonet_read_options *options,
                              stonet_data **out)
{
    return sn_columns_read(columns, options, NULL, out);
}
