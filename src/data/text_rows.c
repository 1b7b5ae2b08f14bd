#include "data/text_rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/dates.h"
#include "data/sniff.h"
#include "data/utf8.h"

sn_text_column *sn_text_rows_column(const sn_text_rows *rows, int64_t column)
{
    const sn_builder *builder = rows->builder;
    bool is_target = builder->column[column].role == SN_TARGET_TEXT;
    return &rows->text[is_target ? builder->n_text : builder->column[column].slot];
}

int64_t sn_text_rows_expected(int64_t rows, double share)
{
    if (rows == 0 || !(share > 0)) return 1024;
    double total = 1.02 * (double)rows / share;
    return total < 4.0 * (double)rows ? (int64_t)total : 4 * rows;
}

static stonet_status make_room(const sn_text_rows *rows)
{
    sn_builder *builder = rows->builder;
    if (builder->rows < builder->capacity) return STONET_OK;
    int64_t expected = 2 * builder->rows + 1;
    if (!rows->scanner->is_aside)
        expected = sn_text_rows_expected(builder->rows, sn_source_fraction(rows->scanner->source));
    if (builder->drain != NULL && expected > builder->drain->rows) expected = builder->drain->rows;
    return sn_builder_reserve(builder, builder->rows + 1, expected);
}

static void note_text_cell(const sn_text_rows *rows, sn_text_column *text, const sn_cell *cell)
{
    if (cell->is_number) {
        text->numbers++;
        text->fractions |= cell->number != floor(cell->number);
    } else if (text->line == 0) {
        text->line = rows->builder->line;
        text->row = rows->builder->before + rows->builder->rows;
        size_t length = cell->length < sizeof text->sample ? cell->length : sizeof text->sample - 1;
        memcpy(text->sample, cell->text, length);
        text->sample[length] = '\0';
    }
}

static stonet_status put_text(sn_text_rows *rows, int64_t column, const sn_cell *cell)
{
    note_text_cell(rows, sn_text_rows_column(rows, column), cell);
    if (sn_utf8_valid(cell->text, cell->length))
        return sn_builder_put_text(rows->builder, column, cell->text, cell->length);
    SN_BLOCK char *copy = sn_cell_copy(cell);
    if (copy == NULL) return STONET_ERROR_MEMORY;
    return sn_builder_put_text(rows->builder, column, copy, strlen(copy));
}

/* Everything but the plain number in a column of numbers. */
static stonet_status put_cell(sn_text_rows *rows, int64_t column, const sn_cell *cell)
{
    sn_builder *builder = rows->builder;
    if (builder->column[column].role == SN_UNUSED) return STONET_OK;
    if (column == builder->id && column != builder->group)
        return put_text(rows, column, cell); /* as it stands, also when it is empty */
    sn_content content = sn_cell_content(cell, &builder->wish->na);
    if (content == SN_MISSING) return sn_builder_put_missing(builder, column, cell->text, cell->length);
    if (content == SN_INFINITE)
        return sn_builder_fail_cell(builder, column, "the value is infinite ('%.*s')", (int)cell->length,
                                    cell->text);
    if (sn_builder_is_text(builder, column)) return put_text(rows, column, cell);
    if (content == SN_NUMBER && builder->column[column].role == SN_TARGET_NUMBER)
        SN_TRY(sn_builder_put_spelling(builder, cell->text, cell->length));
    if (content == SN_NUMBER && !builder->column[column].is_date)
        return sn_builder_put_number(builder, column, cell->number);
    double days;
    const bool is_date = sn_date_read(cell->text, cell->length, &days);
    if (builder->column[column].is_date && is_date) return sn_builder_put_number(builder, column, days);
    if (rows->is_text == NULL) return sn_builder_fail_cell(builder, column, "the cell is text");
    /* A date is the first cell that is no number (else it would be text by now): perhaps all of them are. */
    if (is_date && builder->column[column].role == SN_FEATURE_NUMBER)
        builder->column[column].is_date = true;
    else
        rows->is_text[column] = true;
    rows->again = true;
    return STONET_OK;
}

static stonet_status ragged(const sn_text_rows *rows, int64_t cells, bool and_more)
{
    return sn_fail(STONET_ERROR_DATA, "%s: line %lld has %s%lld cell%s and the first line has %lld",
                   rows->builder->path, (long long)rows->builder->line, and_more ? "more than " : "",
                   (long long)cells, cells == 1 ? "" : "s", (long long)rows->builder->n_columns);
}

/* Plain numbers go straight into x, without the checks of put_cell: this loop sees every cell of a
   table. A column can do so when floats have all its digits (`enough`) and no number means a missing cell. */
static stonet_status read_row(sn_text_rows *rows)
{
    sn_builder *builder = rows->builder;
    int64_t last = builder->n_columns - 1;
    float *x = builder->x + builder->rows * builder->n_numeric;
    const bool plain = !builder->wish->na.numbers;
    for (int64_t j = 0; j <= last; j++) {
        sn_cell cell;
        SN_TRY(sn_scanner_cell(rows->scanner, &cell));
        const int64_t slot = builder->column[j].slot;
        if (cell.is_number && plain && builder->column[j].role == SN_FEATURE_NUMBER &&
            !builder->column[j].is_date && builder->digits[slot].enough &&
            fabs(cell.number) <= (double)FLT_MAX)
            x[slot] = (float)cell.number;
        else
            SN_TRY(put_cell(rows, j, &cell));
        if (cell.after != SN_AFTER_CELL && j < last) return ragged(rows, j + 1, false);
        if (cell.after == SN_AFTER_CELL && j == last) return ragged(rows, last + 1, true);
    }
    builder->rows++;
    return STONET_OK;
}

/* The rows of a pass that is to be done again are of no use: some of their cells were not kept. */
static stonet_status drain(const sn_text_rows *rows)
{
    sn_builder *builder = rows->builder;
    if (builder->drain == NULL) return STONET_OK;
    if (!rows->again) return sn_builder_drain(builder);
    builder->before += builder->rows;
    builder->rows = 0;
    return STONET_OK;
}

stonet_status sn_text_rows_read(sn_text_rows *rows, int64_t limit)
{
    for (;;) {
        bool more;
        SN_TRY(sn_scanner_next_line(rows->scanner, &more));
        if (!more || sn_scanner_position(rows->scanner) >= limit) return STONET_OK;
        rows->builder->line = rows->scanner->line;
        SN_TRY(make_room(rows));
        SN_TRY(read_row(rows));
        SN_TRY(drain(rows));
    }
}
