#include "data/sniff.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/dates.h"
#include "data/utf8.h"

enum { SAMPLE_LINES = 200 };

/* Small and capital letters of ASCII are the same. Those of the locale are something else: in Turkish, I is
   no capital i. */
static bool is_word(const char *word, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != word[i]) return false; /* also at the end of a shorter word */
    }
    return word[length] == '\0';
}

static bool is_one_of(const sn_cell *cell, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (is_word(*words, cell->text, cell->length)) return true;
    }
    return false;
}

sn_content sn_cell_content(const sn_cell *cell, const sn_na *na)
{
    static const char *const missing[] = {"", "na", "n/a", "nan", "null", "?", ".", NULL};
    static const char *const infinite[] = {"inf",       "+inf",   "-inf",    "infinity", "+infinity",
                                           "-infinity", "1.#inf", "-1.#inf", NULL};
    if (cell->is_number) return sn_na_number(na, cell->number) ? SN_MISSING : SN_NUMBER;
    if (is_one_of(cell, missing) || sn_na_text(na, cell->text, cell->length)) return SN_MISSING;
    return is_one_of(cell, infinite) ? SN_INFINITE : SN_TEXT;
}

char *sn_cell_copy(const sn_cell *cell)
{
    const bool valid = sn_utf8_valid(cell->text, cell->length);
    char *copy = sn_malloc((valid ? 1 : 2) * cell->length + 1, 1), *to = copy;
    if (copy == NULL) return NULL;
    for (size_t i = 0; i < cell->length; i++) {
        const unsigned char byte = (unsigned char)cell->text[i];
        const bool two = !valid && byte >= 0x80;
        if (two) *to++ = (char)(0xC0 | byte >> 6);
        *to++ = (char)(two ? 0x80 | (byte & 0x3F) : byte);
    }
    *to = '\0';
    return copy;
}

/* ---- the delimiter ----------------------------------------------------------------------------- */

/* Cells in the line at `at`, which is moved past it; a quoted stretch hides delimiters and line ends. */
static int64_t cells_in_line(const char **at, const char *end, char delimiter)
{
    const char *c = *at;
    int64_t cells = delimiter == ' ' ? 0 : 1;
    bool quoted = false, in_cell = false;
    for (; c < end && (quoted || (*c != '\n' && *c != '\r')); c++) {
        if (*c == '"') quoted = !quoted;
        bool splits = !quoted && (*c == delimiter || (delimiter == ' ' && *c == '\t'));
        if (delimiter == ' ')
            cells += !splits && !in_cell;
        else
            cells += splits;
        in_cell = !splits;
    }
    while (c < end && (*c == '\n' || *c == '\r')) c++;
    *at = c;
    return cells;
}

/* How well a delimiter fits the lines in the buffer: 2 when all lines have the same number of cells, two at
   least; 1 when only the first line has several; 0 when it has not. */
static int fit_of(const sn_scanner *scanner, char delimiter)
{
    const char *at = scanner->at, *end = scanner->end;
    int64_t first = 0, blank;
    for (int lines = 0; lines < SAMPLE_LINES && at < end; lines++) {
        const char *line = at;
        int64_t cells = cells_in_line(&at, end, delimiter);
        blank = (int64_t)strspn(line, " \r\n");
        if (at == end && !scanner->ended && lines > 0) break; /* the line may go on */
        if (line + blank >= at) continue;
        if (first == 0) first = cells;
        if (first < 2) return 0;
        if (cells != first) return 1;
    }
    return first >= 2 ? 2 : 0;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    if (length > 3 && strcasecmp(path + length - 3, ".gz") == 0) length -= 3;
    return length >= tail && strncasecmp(path + length - tail, ending, tail) == 0;
}

/* Whether the second line (or the only one) is numbers with blanks between. */
static bool is_blank_separated_numbers(const sn_scanner *scanner)
{
    const char *line = scanner->at, *end = scanner->end;
    (void)cells_in_line(&line, end, ' ');
    if (line == end) line = scanner->at;
    for (;;) {
        line += strspn(line, " \t");
        if (line == end || *line == '\n' || *line == '\r') return true;
        double number;
        line = sn_number_read(line, &number);
        if (line == NULL || (line < end && strchr(" \t\r\n", *line) == NULL)) return false;
    }
}

/* Blanks come first where they stand between numbers, since tabs may be among them; elsewhere they may be
   part of a text, in a .csv with a single column above all, and come last. */
static char guess_delimiter(const sn_scanner *scanner)
{
    static const char candidates[] = {'\t', ';', ','};
    const char *path = scanner->source->path;
    bool blanks_are_text = ends_in(path, ".csv") || ends_in(path, ".tsv");
    if (fit_of(scanner, ' ') == 2 && is_blank_separated_numbers(scanner)) return ' ';
    for (int fit = 2; fit >= 1; fit--) {
        for (size_t i = 0; i < sizeof candidates; i++) {
            if (fit_of(scanner, candidates[i]) == fit) return candidates[i];
        }
        if (fit_of(scanner, ' ') == fit && !blanks_are_text) return ' ';
    }
    return ',';
}

/* ---- header and kinds -------------------------------------------------------------------------- */

/* What the sample says about one column. */
typedef struct column_sample {
    sn_content first;
    int64_t numbers, texts, dates; /* below the first line; dates are texts too */
    bool first_again;              /* the first cell's text was met again below */
} column_sample;

static stonet_status read_first_line(sn_scanner *scanner, int64_t cells, const sn_na *na, sn_sniffed *out,
                                     column_sample *samples)
{
    for (; out->n_columns < cells; out->n_columns++) {
        sn_cell cell;
        SN_TRY(sn_scanner_cell(scanner, &cell));
        samples[out->n_columns].first = sn_cell_content(&cell, na);
        out->first[out->n_columns] = sn_cell_copy(&cell);
        if (out->first[out->n_columns] == NULL) return STONET_ERROR_MEMORY;
    }
    return STONET_OK;
}

/* Lines that do not fit end the sample: the reader proper will complain about them. */
static stonet_status sample_lines(sn_scanner *scanner, const sn_na *na, sn_sniffed *out,
                                  column_sample *samples, int64_t *lines)
{
    bool more = true;
    for (*lines = 0; *lines < SAMPLE_LINES; ++*lines) {
        SN_TRY(sn_scanner_next_line(scanner, &more));
        if (!more) break;
        for (int64_t j = 0; j < out->n_columns; j++) {
            sn_cell cell;
            SN_TRY(sn_scanner_cell(scanner, &cell));
            sn_content content = sn_cell_content(&cell, na);
            samples[j].numbers += content == SN_NUMBER;
            samples[j].texts += content == SN_TEXT;
            double days;
            samples[j].dates += content == SN_TEXT && sn_date_read(cell.text, cell.length, &days);
            if (strlen(out->first[j]) == cell.length && memcmp(out->first[j], cell.text, cell.length) == 0)
                samples[j].first_again = true;
            if ((cell.after == SN_AFTER_CELL) != (j < out->n_columns - 1)) return STONET_OK;
        }
    }
    return STONET_OK;
}

/* A first line of words that is one cell short of the second has no word for the first column: R's
   write.table leaves it out over the names of the rows. There is room for another column. */
static stonet_status add_row_names(sn_sniffed *out, column_sample *samples)
{
    for (int64_t j = 0; j < out->n_columns; j++)
        if (samples[j].first != SN_TEXT) return STONET_OK;
    const size_t count = (size_t)out->n_columns++;
    memmove(out->first + 1, out->first, count * sizeof *out->first);
    memmove(samples + 1, samples, count * sizeof *samples);
    samples[0] = (column_sample){.first = SN_MISSING};
    out->first[0] = NULL;
    return sn_text_copy("", &out->first[0]);
}

static bool looks_like_name(const char *text)
{
    unsigned char c = (unsigned char)text[0];
    return c >= 0x80 || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/*
 * The first line is a header when it has no number and stands over a column of numbers; or when it has
 * numbers as names (years, say) but also a word over a column of numbers. Without any column of numbers it is
 * one when no cell of it comes again in its column, as a label would. Text alone in a single line is a header
 * without rows.
 */
static bool is_header(const sn_sniffed *sniffed, const column_sample *samples, int64_t lines)
{
    bool any_number = false, over_numbers = false, word_over_numbers = false, again = false,
         any_numeric = false;
    for (int64_t j = 0; j < sniffed->n_columns; j++) {
        bool numeric = samples[j].numbers > 0 && samples[j].texts == 0;
        any_number |= samples[j].first == SN_NUMBER || samples[j].first == SN_INFINITE;
        any_numeric |= numeric;
        again |= samples[j].first_again;
        if (samples[j].first != SN_TEXT || !numeric) continue;
        over_numbers = true;
        word_over_numbers |= looks_like_name(sniffed->first[j]);
    }
    if (any_number) return word_over_numbers;
    if (any_numeric) return over_numbers;
    return !again || lines == 0;
}

stonet_status sn_sniff(sn_scanner *scanner, stonet_header header, const sn_na *na, sn_sniffed *out)
{
    memset(out, 0, sizeof *out);
    bool more;
    SN_TRY(sn_scanner_next_line(scanner, &more));
    if (!more) return sn_fail(STONET_ERROR_DATA, "%s is empty", scanner->source->path);
    scanner->delimiter = guess_delimiter(scanner);
    SN_TRY(sn_scanner_rewind(scanner));
    int64_t cells, below = 0, lines = 0;
    bool ends_empty;
    SN_TRY(sn_scanner_pass_line(scanner, &cells, &ends_empty));
    if (header != STONET_HEADER_NO) SN_TRY(sn_scanner_pass_line(scanner, &below, &ends_empty));
    SN_TRY(sn_scanner_rewind(scanner));
    SN_TRY(sn_scanner_next_line(scanner, &more));
    SN_ZEROS(cells + 1, column_sample, samples);
    SN_TRY(SN_NEW(out->first, cells + 1));
    SN_TRY(read_first_line(scanner, cells, na, out, samples));
    if (below == cells + 1 && !ends_empty) SN_TRY(add_row_names(out, samples));
    SN_TRY(SN_NEW(out->is_text, out->n_columns));
    SN_TRY(SN_NEW(out->is_date, out->n_columns));
    SN_TRY(sample_lines(scanner, na, out, samples, &lines));
    out->has_header = header == STONET_HEADER_YES || out->n_columns > cells ||
                      (header == STONET_HEADER_AUTO && is_header(out, samples, lines));
    for (int64_t j = 0; j < out->n_columns; j++) {
        out->is_date[j] = samples[j].dates > 0 && samples[j].dates == samples[j].texts &&
                          samples[j].numbers == 0 && (out->has_header || samples[j].first != SN_NUMBER);
        out->is_text[j] =
            !out->is_date[j] && (samples[j].texts > 0 || (!out->has_header && samples[j].first == SN_TEXT));
    }
    return STONET_OK;
}

void sn_sniffed_free(sn_sniffed *sniffed)
{
    for (int64_t j = 0; sniffed->first != NULL && j < sniffed->n_columns; j++) sn_free(sniffed->first[j]);
    SN_FREE_ALL(sniffed->first, sniffed->is_text, sniffed->is_date);
}
