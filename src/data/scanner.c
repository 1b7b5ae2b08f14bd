#include "data/scanner.h"

#include <string.h>

#include "base/memory.h"
#include "base/number.h"

stonet_status sn_scanner_create(sn_source *source, size_t size, sn_scanner **out)
{
    SN_AUTO(sn_scanner) *scanner = NULL;
    SN_TRY(SN_NEW(scanner, 1));
    scanner->source = source;
    scanner->delimiter = ',';
    scanner->size = size;
    SN_TRY(SN_NEW_RAW(scanner->buffer, size + 1));
    return SN_GIVE(scanner, out);
}

void sn_scanner_free(sn_scanner *scanner)
{
    if (scanner == NULL) return;
    sn_free(scanner->buffer);
    sn_free(scanner);
}

/* Moves what is left to the front and reads on behind it. A NUL after the last byte stops every loop. */
static stonet_status fill(sn_scanner *scanner)
{
    size_t kept = (size_t)(scanner->end - scanner->at), got;
    if (kept == scanner->size)
        return sn_fail(STONET_ERROR_FORMAT,
                       "%s: line %lld has a cell longer than %zu bytes: is a quotation mark left open?",
                       scanner->source->path, (long long)scanner->line, scanner->size);
    memmove(scanner->buffer, scanner->at, kept);
    scanner->before += scanner->at - scanner->buffer;
    scanner->at = scanner->buffer;
    char *to = scanner->end = scanner->buffer + kept;
    if (scanner->is_aside)
        SN_TRY(sn_source_fetch(scanner->source, scanner->before + (int64_t)kept, to, scanner->size - kept,
                               &got));
    else
        SN_TRY(sn_source_read(scanner->source, to, scanner->size - kept, &got));
    scanner->ended = got < scanner->size - kept;
    scanner->end += got;
    *scanner->end = '\0';
    return STONET_OK;
}

/* Fills the buffer with what stands at a place in the text. */
static stonet_status start_at(sn_scanner *scanner, int64_t position, int64_t line)
{
    scanner->at = scanner->end = scanner->buffer;
    scanner->before = position;
    scanner->line = line;
    return fill(scanner);
}

int64_t sn_scanner_position(const sn_scanner *scanner)
{
    return scanner->before + (scanner->at - scanner->buffer);
}

stonet_status sn_scanner_seek(sn_scanner *scanner, int64_t position, int64_t line)
{
    if (!scanner->is_aside) scanner->source->at = position;
    return start_at(scanner, position, line);
}

stonet_status sn_scanner_rewind(sn_scanner *scanner)
{
    SN_TRY(sn_source_rewind(scanner->source));
    SN_TRY(start_at(scanner, 0, 1));
    const unsigned char *mark = (const unsigned char *)scanner->buffer;
    if ((mark[0] == 0xFF && mark[1] == 0xFE) || (mark[0] == 0xFE && mark[1] == 0xFF))
        return sn_fail(STONET_ERROR_FORMAT, "%s is UTF-16 text: save it as UTF-8", scanner->source->path);
    if (mark[0] == 0xEF && mark[1] == 0xBB && mark[2] == 0xBF) scanner->at += 3;
    return STONET_OK;
}

static bool is_blank(const sn_scanner *scanner, char c)
{
    return c == ' ' || (c == '\t' && scanner->delimiter != '\t');
}

stonet_status sn_scanner_next_line(sn_scanner *scanner, bool *more)
{
    for (;;) {
        char *at = scanner->at;
        while (is_blank(scanner, *at)) at++;
        bool cut = at == scanner->end || (*at == '\r' && at + 1 == scanner->end);
        if (cut && !scanner->ended) {
            SN_TRY(fill(scanner));
        } else if (*at == '\n' || *at == '\r') {
            /* The two characters of CRLF count as two line ends here but as one line. */
            scanner->line += *at == '\n' || at[1] != '\n';
            scanner->at = at + 1;
        } else {
            *more = at < scanner->end;
            if (!*more) scanner->at = at;
            return STONET_OK;
        }
    }
}

/* Sets the end of a cell whose text stopped before `stop` (blanks skipped); false when more bytes are needed
   to tell. */
static bool end_cell(sn_scanner *scanner, char *stop, bool after_blank, sn_cell *cell)
{
    const bool at_end = stop == scanner->end, is_return = *stop == '\r';
    if ((at_end || (is_return && stop + 1 == scanner->end)) && !scanner->ended) return false;
    const bool ends_line = is_return || *stop == '\n';
    /* Where blanks separate cells, those before `stop` have done so. */
    const bool stays = at_end || (!ends_line && scanner->delimiter == ' ' && after_blank);
    cell->after = at_end ? SN_AFTER_FILE : ends_line ? SN_AFTER_LINE : SN_AFTER_CELL;
    scanner->line += ends_line;
    scanner->at = stop + (stays ? 0 : is_return && stop[1] == '\n' ? 2 : 1);
    return true;
}

static char *skip_blanks(const sn_scanner *scanner, char *at)
{
    while (is_blank(scanner, *at)) at++;
    return at;
}

static bool ends_text(const sn_scanner *scanner, const char *at)
{
    if (at == scanner->end || *at == '\n' || *at == '\r') return true;
    return *at == scanner->delimiter || (scanner->delimiter == ' ' && *at == '\t');
}

/* An unquoted cell that is not a plain number; false when the buffer ends too soon. */
static bool plain_cell(sn_scanner *scanner, char *from, sn_cell *cell)
{
    char *stop = from;
    while (!ends_text(scanner, stop)) stop++;
    char *after = skip_blanks(scanner, stop);
    cell->text = from;
    char *last = stop;
    while (last > from && is_blank(scanner, last[-1])) last--;
    cell->length = (size_t)(last - from);
    return end_cell(scanner, after, after > stop, cell);
}

/* Takes the quotes off in place once the whole cell is in the buffer. */
static stonet_status quoted_cell(sn_scanner *scanner, char *from, sn_cell *cell, bool *complete)
{
    int64_t first_line = scanner->line;
    char *close = from + 1;
    for (; close < scanner->end; close++) {
        if (*close != '"') continue;
        if (close[1] != '"') break;
        close++;
    }
    if (close >= scanner->end) {
        *complete = false;
        if (!scanner->ended) return STONET_OK;
        return sn_fail(STONET_ERROR_FORMAT, "%s: a quotation mark opened in line %lld is never closed",
                       scanner->source->path, (long long)first_line);
    }
    char *after = skip_blanks(scanner, close + 1);
    if (after == scanner->end && !scanner->ended) {
        *complete = false; /* perhaps the other half of a doubled quotation mark is still to come */
        return STONET_OK;
    }
    if (!ends_text(scanner, after) && !(scanner->delimiter == ' ' && after > close + 1))
        return sn_fail(STONET_ERROR_FORMAT, "%s: line %lld has text after a closing quotation mark",
                       scanner->source->path, (long long)first_line);
    *complete = end_cell(scanner, after, after > close + 1, cell);
    if (!*complete) return STONET_OK;
    char *to = from + 1;
    for (const char *at = from + 1; at < close; at++) {
        if (*at == '"') at++;
        scanner->line += *at == '\n';
        *to++ = *at;
    }
    cell->text = from + 1;
    cell->length = (size_t)(to - from - 1);
    return STONET_OK;
}

/* Everything the fast path of sn_scanner_cell does not take: text, quotes, the end of the buffer. */
static stonet_status slow_cell(sn_scanner *scanner, sn_cell *cell)
{
    bool complete = false;
    for (;;) {
        char *from = skip_blanks(scanner, scanner->at);
        if (*from == '"')
            SN_TRY(quoted_cell(scanner, from, cell, &complete));
        else
            complete = plain_cell(scanner, from, cell);
        if (complete) break;
        SN_TRY(fill(scanner));
    }
    if (memchr(cell->text, '\0', cell->length) != NULL)
        return sn_fail(STONET_ERROR_FORMAT,
                       "%s cannot be read as a table: line %lld has bytes that are not text",
                       scanner->source->path, (long long)scanner->line);
    /* What follows the text is a delimiter, a blank, a quote or a line end: no number runs over it. */
    cell->is_number =
        sn_number_read(cell->text, &cell->number) == cell->text + cell->length && cell->length > 0;
    return STONET_OK;
}

/* The fast path: a number with its delimiter or line end inside the buffer, as most cells of a table
   are. Each other case leaves `at` where it was and goes to slow_cell. */
stonet_status sn_scanner_cell(sn_scanner *scanner, sn_cell *cell)
{
    char *from = skip_blanks(scanner, scanner->at);
    const char *stop = sn_number_read(from, &cell->number);
    if (stop == NULL) return slow_cell(scanner, cell);
    char c = *stop;
    if (c == scanner->delimiter && c != ' ') {
        cell->after = SN_AFTER_CELL;
        scanner->at = from + (stop + 1 - from);
    } else if (c == '\n') {
        cell->after = SN_AFTER_LINE;
        scanner->line++;
        scanner->at = from + (stop + 1 - from);
    } else {
        char *next = skip_blanks(scanner, from + (stop - from));
        if (next == stop || *next == '\0' || *next == '\r' || *next == '\n' || scanner->delimiter != ' ')
            return slow_cell(scanner, cell);
        cell->after = SN_AFTER_CELL;
        scanner->at = next;
    }
    cell->is_number = true;
    cell->text = from;
    cell->length = (size_t)(stop - from);
    return STONET_OK;
}

stonet_status sn_scanner_pass_line(sn_scanner *scanner, int64_t *cells, bool *ends_empty)
{
    bool more;
    sn_cell cell = {.after = SN_AFTER_CELL};
    *cells = 0;
    *ends_empty = false;
    SN_TRY(sn_scanner_next_line(scanner, &more));
    for (; more && cell.after == SN_AFTER_CELL; ++*cells) SN_TRY(sn_scanner_cell(scanner, &cell));
    *ends_empty = more && cell.length == 0;
    return STONET_OK;
}
