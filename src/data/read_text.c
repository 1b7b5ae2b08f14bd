#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/readers.h"
#include "data/schema.h"
#include "data/sniff.h"
#include "data/text_rows.h"

/* More than this many text columns are read by one thread: every part would have a dictionary for each. */
enum { MAX_TEXT_IN_PARTS = 1000 };

typedef struct text_reader {
    int threads;
    int64_t part_size;
    sn_scanner *scanner;
    sn_builder *builder;
    sn_sniffed sniffed;
    sn_text_rows rows;
} text_reader;

/* One pass over all rows. */
static stonet_status read_rows(text_reader *reader)
{
    int64_t cells;
    bool ends_empty;
    sn_builder *builder = reader->builder;
    SN_TRY(sn_scanner_rewind(reader->scanner));
    SN_TRY(sn_builder_start(builder, reader->sniffed.is_text));
    sn_free(reader->rows.text);
    reader->rows =
        (sn_text_rows){.scanner = reader->scanner, .builder = builder, .is_text = reader->sniffed.is_text};
    SN_TRY(SN_NEW(reader->rows.text, builder->n_text + 1));
    if (reader->sniffed.has_header) SN_TRY(sn_scanner_pass_line(reader->scanner, &cells, &ends_empty));
    bool in_parts = reader->part_size > 0 && reader->scanner->source->packing == SN_PLAIN;
    if (in_parts && builder->drain == NULL && builder->n_text <= MAX_TEXT_IN_PARTS)
        return sn_text_parts_read(&reader->rows, reader->threads, reader->part_size);
    return sn_text_rows_read(&reader->rows, INT64_MAX);
}

static bool is_decimal_comma(const char *text)
{
    size_t sign = strspn(text, "+-"), whole = strspn(text + sign, "0123456789");
    const char *comma = text + sign + whole;
    return sign < 2 && *comma == ',' && comma[1] != '\0' &&
           strspn(comma + 1, "0123456789") == strlen(comma + 1);
}

/* "1,234.50", "12 %", "$5": a number, but for separators and signs. */
static bool is_dressed_number(const char *text)
{
    static const char *const signs[] = {"$", "\xe2\x82\xac", "\xc2\xa3", "%", "+", "-", " ", NULL};
    size_t digits = 0, marks = 0;
    for (const char *at = text; *at != '\0';) {
        size_t step = 0;
        for (int k = 0; signs[k] != NULL && step == 0; k++)
            if (strncmp(at, signs[k], strlen(signs[k])) == 0) step = strlen(signs[k]);
        if (step > 0) {
            marks += *at != '-' && *at != '+' && *at != ' ';
        } else if (*at >= '0' && *at <= '9') {
            digits++;
        } else if (*at == ',' && digits > 0 && strspn(at + 1, "0123456789") == 3) {
            marks++;
        } else if (*at != '.' || at[1] < '0' || at[1] > '9') {
            return false;
        }
        at += step > 0 ? step : 1;
    }
    return digits > 0 && marks > 0;
}

/* Taken for words, a column of such would be categories, or thrown out for having too many. */
static bool all_are_dressed(const sn_dictionary *words)
{
    double number;
    bool any = false;
    for (int64_t c = 0; c < words->count; c++) {
        const char *stop = sn_number_read(words->text[c], &number);
        if (stop != NULL && *stop == '\0') continue;
        if (!is_dressed_number(words->text[c])) return false;
        any = true;
    }
    return any;
}

/* Why a column is no text, though a cell of it is no number: that is a mistake in a column that is mostly
   numbers, and more than a few codes. NULL: it may be text. */
static const char *slip_in(const text_reader *reader, const sn_text_column *text, const sn_dictionary *words)
{
    const int64_t rows = reader->builder->before + reader->builder->rows;
    const bool many = words->count > 20;
    if (reader->scanner->delimiter == ';' && is_decimal_comma(text->sample))
        return "has a decimal comma; write numbers with a decimal point";
    if (many && all_are_dressed(words))
        return "is a number with something around it; write plain numbers, such as 1234.5";
    if (2 * text->numbers > rows && (text->fractions || many))
        return "is not a number, and most cells of this column are; if it stands for a missing value, name it as "
               "a word for that (na)";
    return NULL;
}

static stonet_status check_text_columns(const text_reader *reader)
{
    sn_builder *builder = reader->builder;
    for (int64_t j = 0; j < builder->n_columns; j++) {
        if (!sn_builder_is_text(builder, j) || sn_builder_is_label(builder, j) ||
            builder->column[j].as_text || builder->column[j].order.count > 0)
            continue;
        const sn_text_column *text = sn_text_rows_column(&reader->rows, j);
        const char *slip = slip_in(reader, text, &sn_builder_texts(builder, j)->words);
        if (slip == NULL) continue;
        builder->line = text->line;
        builder->rows = text->row - builder->before;
        return sn_builder_fail_cell(builder, j, "'%s' %s", text->sample, slip);
    }
    return STONET_OK;
}

/* Whether the numbers of the one target are labels that a double does not tell apart: those of the model that
   the rows are for, or few in the table. A quantity may be rounded. */
static bool target_needs_text(const text_reader *reader, const sn_read_wish *wish)
{
    const sn_builder *builder = reader->builder;
    const sn_dictionary *words = &builder->spelled.words;
    const char *other;
    if (builder->n_targets != 1 || builder->column[builder->target_position[0]].role != SN_TARGET_NUMBER)
        return false;
    if (wish->schema != NULL) return sn_schema_needs_text(wish->schema);
    return sn_dictionary_lost_digits(words, &other) != NULL &&
           (words->count == 2 || 10 * words->count <= builder->before + builder->rows);
}

/* Guesses the format from the first lines, then reads all rows. A text found later in a column of numbers
   makes a second pass necessary. So does a target whose numbers are labels with more digits than a double
   has. */
static stonet_status read_table(text_reader *reader, const sn_read_wish *wish, stonet_data **out)
{
    SN_TRY(sn_sniff(reader->scanner, wish->how.header, &wish->na, &reader->sniffed));
    const sn_sniffed *sniffed = &reader->sniffed;
    SN_TRY(sn_builder_create(reader->scanner->source->path, sniffed->n_columns,
                             sniffed->has_header ? (const char *const *)sniffed->first : NULL, wish,
                             &reader->builder));
    for (int64_t j = 0; j < sniffed->n_columns; j++) reader->builder->column[j].is_date = sniffed->is_date[j];
    for (int64_t k = 0; k < reader->builder->n_targets; k++) { /* dates are texts there */
        const int64_t j = reader->builder->target_position[k];
        sniffed->is_text[j] = sniffed->is_text[j] || sniffed->is_date[j];
        reader->builder->column[j].is_date = false;
    }
    /* The second pass knows all text columns, since the first went on to the end. */
    do SN_TRY(read_rows(reader));
    while (reader->rows.again);
    if (target_needs_text(reader, wish)) {
        sniffed->is_text[reader->builder->target_position[0]] = true;
        SN_TRY(read_rows(reader));
    }
    if (reader->builder->before + reader->builder->rows == 0)
        return sn_fail(STONET_ERROR_DATA, "%s has a header and no rows", reader->builder->path);
    SN_TRY(check_text_columns(reader));
    return sn_builder_finish(reader->builder, out);
}

static void reader_free(text_reader *reader)
{
    sn_builder_free(reader->builder);
    sn_sniffed_free(&reader->sniffed);
    sn_free(reader->rows.text);
    sn_scanner_free(reader->scanner);
}

stonet_status sn_read_text(sn_source *source, const sn_read_wish *wish, int threads, int64_t part_size,
                           stonet_data **out)
{
    SN_FREED_BY(reader_free) text_reader reader = {.threads = threads, .part_size = part_size};
    SN_TRY(sn_scanner_create(source, SN_SCANNER_BUFFER, &reader.scanner));
    SN_TRY(sn_scanner_rewind(reader.scanner));
    return read_table(&reader, wish, out);
}
