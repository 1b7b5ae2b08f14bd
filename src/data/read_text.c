#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/number.h"
#include "data/readers.h"
#include "data/scanner.h"
#include "data/sniff.h"

/* A text column and the first cell that made it one, to tell a column of codes from one of numbers with a
   slip in it. */
typedef struct text_column {
    int64_t numbers;   /* cells that are numbers */
    bool fractions;    /* some of them are not whole */
    int64_t line, row; /* the first cell that is not a number; line 0: none yet */
    char sample[48];
} text_column;

typedef struct text_reader {
    sn_scanner *scanner;
    sn_builder *builder;
    sn_sniffed sniffed;
    text_column *text; /* by column of the file */
    bool again;        /* a column turned out to be text after rows were read as numbers */
    int64_t line;      /* where the current row began */
} text_reader;

/* Room for the next row, guessing the total from how far into the file the rows so far have led. */
static stonet_status make_room(text_reader *reader)
{
    sn_builder *builder = reader->builder;
    if (builder->rows < builder->capacity) return STONET_OK;
    int64_t expected = 1024;
    double fraction = sn_source_fraction(reader->scanner->source);
    if (builder->rows > 0 && fraction > 0) {
        double total = 1.02 * (double)builder->rows / fraction;
        expected = total < 4.0 * (double)builder->rows ? (int64_t)total : 4 * builder->rows;
    }
    return sn_builder_reserve(builder, builder->rows + 1, expected);
}

static void note_text_cell(text_reader *reader, int64_t column, const sn_cell *cell)
{
    text_column *text = &reader->text[column];
    if (cell->is_number) {
        text->numbers++;
        text->fractions |= cell->number != floor(cell->number);
    } else if (text->line == 0) {
        text->line = reader->line;
        text->row = reader->builder->rows;
        size_t length = cell->length < sizeof text->sample ? cell->length : sizeof text->sample - 1;
        memcpy(text->sample, cell->text, length);
        text->sample[length] = '\0';
    }
}

/* Everything but the plain number in a column of numbers. */
static stonet_status put_cell(text_reader *reader, int64_t column, const sn_cell *cell)
{
    sn_builder *builder = reader->builder;
    sn_content content = sn_cell_content(cell);
    if (content == SN_MISSING)
        return sn_builder_fail_cell(builder, reader->line, builder->rows, column,
                                    cell->length == 0 ? "the cell is empty" : "the value is missing ('%.*s')",
                                    (int)cell->length, cell->text);
    if (content == SN_INFINITE)
        return sn_builder_fail_cell(builder, reader->line, builder->rows, column,
                                    "the value is infinite ('%.*s')", (int)cell->length, cell->text);
    bool as_text = builder->role[column] == SN_FEATURE_TEXT || builder->role[column] == SN_TARGET_TEXT;
    if (!as_text && content == SN_NUMBER)
        return sn_builder_put_number(builder, reader->line, column, cell->number);
    if (!as_text) {
        reader->sniffed.is_text[column] = true;
        reader->again = true;
        return STONET_OK;
    }
    note_text_cell(reader, column, cell);
    char *copy = sn_cell_copy(cell);
    if (copy == NULL) return STONET_ERROR_MEMORY;
    stonet_status status = sn_builder_put_text(builder, column, copy, strlen(copy));
    sn_free(copy);
    return status;
}

static stonet_status ragged(const text_reader *reader, int64_t cells, bool and_more)
{
    return sn_fail(STONET_ERROR_DATA, "%s: line %lld has %s%lld cell%s and the first line has %lld",
                   reader->builder->path, (long long)reader->line, and_more ? "more than " : "",
                   (long long)cells, cells == 1 ? "" : "s", (long long)reader->builder->n_columns);
}

static stonet_status read_row(text_reader *reader)
{
    sn_builder *builder = reader->builder;
    int64_t last = builder->n_columns - 1;
    float *x = builder->x + builder->rows * builder->n_numeric;
    for (int64_t j = 0; j <= last; j++) {
        sn_cell cell;
        SN_TRY(sn_scanner_cell(reader->scanner, &cell));
        if (cell.is_number && builder->role[j] == SN_FEATURE_NUMBER && fabs(cell.number) <= (double)FLT_MAX)
            x[builder->slot[j]] = (float)cell.number;
        else
            SN_TRY(put_cell(reader, j, &cell));
        if (cell.after != SN_AFTER_CELL && j < last) return ragged(reader, j + 1, false);
        if (cell.after == SN_AFTER_CELL && j == last) return ragged(reader, last + 1, true);
    }
    builder->rows++;
    return STONET_OK;
}

static stonet_status skip_header(text_reader *reader)
{
    bool more;
    SN_TRY(sn_scanner_next_line(reader->scanner, &more));
    sn_cell cell = {.after = SN_AFTER_CELL};
    while (cell.after == SN_AFTER_CELL) SN_TRY(sn_scanner_cell(reader->scanner, &cell));
    return STONET_OK;
}

/* One pass over all rows. */
static stonet_status read_rows(text_reader *reader)
{
    SN_TRY(sn_scanner_rewind(reader->scanner));
    SN_TRY(sn_builder_start(reader->builder, reader->sniffed.is_text));
    memset(reader->text, 0, (size_t)reader->builder->n_columns * sizeof *reader->text);
    reader->again = false;
    if (reader->sniffed.has_header) SN_TRY(skip_header(reader));
    for (;;) {
        bool more;
        SN_TRY(sn_scanner_next_line(reader->scanner, &more));
        if (!more) return STONET_OK;
        reader->line = reader->scanner->line;
        SN_TRY(make_room(reader));
        SN_TRY(read_row(reader));
    }
}

static bool is_decimal_comma(const char *text)
{
    size_t sign = strspn(text, "+-"), whole = strspn(text + sign, "0123456789");
    const char *comma = text + sign + whole;
    return sign < 2 && *comma == ',' && comma[1] != '\0' &&
           strspn(comma + 1, "0123456789") == strlen(comma + 1);
}

/* A column that is mostly numbers, and more than a few codes, is no text: the odd cell is a mistake. */
static stonet_status check_text_columns(const text_reader *reader)
{
    const sn_builder *builder = reader->builder;
    for (int64_t j = 0; j < builder->n_columns; j++) {
        const text_column *text = &reader->text[j];
        if (builder->role[j] != SN_FEATURE_TEXT && builder->role[j] != SN_TARGET_TEXT) continue;
        const sn_interner *values =
            builder->role[j] == SN_TARGET_TEXT ? &builder->labels : &builder->values[builder->slot[j]];
        if (reader->scanner->delimiter == ';' && is_decimal_comma(text->sample))
            return sn_builder_fail_cell(builder, text->line, text->row, j,
                                        "'%s' has a decimal comma; write numbers with a decimal point",
                                        text->sample);
        if (2 * text->numbers > builder->rows && (text->fractions || values->words.count > 20))
            return sn_builder_fail_cell(builder, text->line, text->row, j,
                                        "'%s' is not a number, and most cells of this column are",
                                        text->sample);
    }
    return STONET_OK;
}

static stonet_status read_table(text_reader *reader, const sn_target_wish *wish, stonet_data **out)
{
    SN_TRY(sn_sniff(reader->scanner, &reader->sniffed));
    const sn_sniffed *sniffed = &reader->sniffed;
    SN_TRY(sn_builder_create(sn_source_path(reader->scanner->source), sniffed->n_columns,
                             sniffed->has_header ? (const char *const *)sniffed->first : NULL, wish,
                             &reader->builder));
    SN_TRY(SN_NEW(reader->text, sniffed->n_columns));
    /* The second pass knows all text columns, since the first went on to the end. */
    do SN_TRY(read_rows(reader));
    while (reader->again);
    if (reader->builder->rows == 0)
        return sn_fail(STONET_ERROR_DATA, "%s has a header and no rows", reader->builder->path);
    SN_TRY(check_text_columns(reader));
    return sn_builder_finish(reader->builder, out);
}

stonet_status sn_read_text(sn_source *source, const sn_target_wish *wish, stonet_data **out)
{
    text_reader reader = {0};
    stonet_status status = sn_scanner_create(source, &reader.scanner);
    if (status == STONET_OK) status = read_table(&reader, wish, out);
    sn_builder_free(reader.builder);
    sn_sniffed_free(&reader.sniffed);
    sn_free(reader.text);
    sn_scanner_free(reader.scanner);
    return status;
}
