/*
 * Rows of delimited text read by several threads. The file is cut into parts. Each part is read from its
 * first line end on as if a row began there. It counts only if the part before ended just there, which is not
 * so after a line end inside quotation marks. A part that does not count, or fails, is read again in order.
 * So rows, codes and messages are those of a single thread.
 */
#include "data/text_rows.h"

#include <omp.h>
#include <string.h>

#include "base/memory.h"

enum { PARTS = 32 };         /* read before their rows are joined */
enum { OVERHANG = 1 << 13 }; /* bytes fetched along with a part, for the end of its last row */

/* Neighbours are worked on by different threads and should not share a cache line. */
typedef struct text_part {
    _Alignas(64) int64_t begin; /* its first row */
    int64_t limit;              /* it has the rows that begin before */
    int64_t stop;               /* where the row behind them begins */
    int64_t lines, first_row;
    stonet_status status;
    sn_builder builder;
    sn_text_column *text;
} text_part;

typedef struct text_parts {
    sn_text_rows *whole;
    int64_t size, file_size;
    int64_t position, line; /* where the next row begins: all before is in the builder of the whole */
    int threads, count;     /* count: parts in use */
    sn_scanner **scanner;   /* one a thread */
    text_part part[PARTS];
} text_parts;

static void free_parts(text_parts *parts)
{
    for (int t = 0; parts->scanner != NULL && t < parts->threads; t++) sn_scanner_free(parts->scanner[t]);
    for (int k = 0; k < PARTS; k++) {
        sn_builder_part_free(&parts->part[k].builder);
        sn_free(parts->part[k].text);
    }
    sn_free(parts->scanner);
}

/* Each thread has its own scanner on the same file. */
static stonet_status create_parts(text_parts *parts)
{
    const sn_text_rows *whole = parts->whole;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_NEW(parts->scanner, parts->threads));
    for (int t = 0; t < parts->threads; t++) {
        SN_TRY(sn_scanner_create(whole->scanner->source, (size_t)parts->size + OVERHANG, &parts->scanner[t]));
        parts->scanner[t]->is_aside = true;
        parts->scanner[t]->delimiter = whole->scanner->delimiter;
    }
    for (int k = 0; k < PARTS; k++) SN_TRY(SN_NEW(parts->part[k].text, whole->builder->n_text + 1));
    return STONET_OK;
}

/* Goes to the first line that begins at `position` or behind it, and on to one that is not blank. */
static stonet_status find_row(sn_scanner *scanner, int64_t position)
{
    SN_TRY(sn_scanner_seek(scanner, position - 1, 1));
    char *end = memchr(scanner->at, '\n', (size_t)(scanner->end - scanner->at));
    if (end == NULL)
        return sn_fail(STONET_ERROR_FORMAT, "%s has no line end near byte %lld", scanner->source->path,
                       (long long)position);
    scanner->at = end + 1;
    bool more;
    return sn_scanner_next_line(scanner, &more);
}

/* Part k, by the calling thread. */
static stonet_status read_part(text_parts *parts, int k)
{
    text_part *part = &parts->part[k];
    sn_scanner *scanner = parts->scanner[omp_get_thread_num()];
    SN_TRY(sn_builder_part(parts->whole->builder, &part->builder));
    memset(part->text, 0, (size_t)(part->builder.n_text + 1) * sizeof *part->text);
    if (k == 0)
        SN_TRY(sn_scanner_seek(scanner, parts->position, 1));
    else
        SN_TRY(find_row(scanner, parts->part[k - 1].limit));
    scanner->line = 1;
    part->begin = sn_scanner_position(scanner);
    sn_text_rows rows = {.scanner = scanner, .builder = &part->builder, .text = part->text};
    SN_TRY(sn_text_rows_read(&rows, part->limit));
    part->lines = scanner->line - 1;
    part->stop = sn_scanner_position(scanner);
    return STONET_OK;
}

/* What the part found out about the text columns, added to what is known. */
static void join_columns(const text_parts *parts, const text_part *part)
{
    for (int64_t k = 0; k <= part->builder.n_text; k++) {
        sn_text_column *to = &parts->whole->text[k];
        sn_text_column from = part->text[k];
        from.line += parts->line - 1;
        from.row += part->first_row;
        from.numbers += to->numbers;
        from.fractions |= to->fractions;
        if (to->line == 0 && part->text[k].line > 0) {
            *to = from;
        } else {
            to->numbers = from.numbers;
            to->fractions = from.fractions;
        }
    }
}

/* Puts the rows of `count` parts, which follow on the rows so far and on each other, behind them. */
static stonet_status join(text_parts *parts, int first, int count)
{
    sn_builder *builder = parts->whole->builder;
    for (int k = first; k < first + count; k++) {
        text_part *part = &parts->part[k];
        part->first_row = builder->rows;
        builder->rows += part->builder.rows;
        SN_TRY(sn_builder_join_words(builder, &part->builder));
        join_columns(parts, part);
        parts->line += part->lines;
        parts->position = part->stop;
    }
    double share = (double)parts->position / (double)parts->file_size;
    SN_TRY(sn_builder_reserve(builder, builder->rows, sn_text_rows_expected(builder->rows, share)));
#pragma omp parallel for num_threads(parts->threads)
    for (int k = first; k < first + count; k++)
        sn_builder_join_rows(builder, parts->part[k].first_row, &parts->part[k].builder);
    for (int k = first; k < first + count; k++)
        SN_TRY(sn_builder_join_digits(builder, parts->part[k].first_row, &parts->part[k].builder));
    return STONET_OK;
}

/* Reads in order, and by one thread, up to a limit. */
static stonet_status read_in_order(text_parts *parts, int64_t limit)
{
    sn_scanner *scanner = parts->whole->scanner;
    SN_TRY(sn_scanner_seek(scanner, parts->position, parts->line));
    SN_TRY(sn_text_rows_read(parts->whole, limit));
    parts->position = sn_scanner_position(scanner);
    parts->line = scanner->line;
    return STONET_OK;
}

/* How many parts from `first` on are right. */
static int right_parts(const text_parts *parts, int first)
{
    int k = first;
    int64_t position = parts->position;
    for (; k < parts->count && parts->part[k].status == STONET_OK && parts->part[k].begin == position; k++)
        position = parts->part[k].stop;
    return k - first;
}

static stonet_status read_parts(text_parts *parts)
{
    int64_t limit = parts->position;
    for (parts->count = 0; parts->count < PARTS && limit < parts->file_size; parts->count++)
        parts->part[parts->count].limit = limit += parts->size;
#pragma omp parallel for schedule(dynamic) num_threads(parts->threads)
    for (int k = 0; k < parts->count; k++) parts->part[k].status = read_part(parts, k);
    for (int k = 0; k < parts->count;) {
        int right = right_parts(parts, k);
        if (right > 0)
            SN_TRY(join(parts, k, right));
        else if (parts->position < parts->part[k].limit)
            SN_TRY(read_in_order(parts, parts->part[k].limit));
        k += right > 0 ? right : 1;
    }
    return STONET_OK;
}

stonet_status sn_text_parts_read(sn_text_rows *whole, int threads, int64_t size)
{
    if (whole->scanner->source->size <= size) return sn_text_rows_read(whole, INT64_MAX);
    SN_FREED_BY(free_parts)
    text_parts parts = {.whole = whole,
                        .size = size,
                        .file_size = whole->scanner->source->size,
                        .position = sn_scanner_position(whole->scanner),
                        .line = whole->scanner->line,
                        .threads = threads};
    SN_TRY(create_parts(&parts));
    /* It ends early when somebody cuts the file short meanwhile. */
    for (int64_t before = -1; parts.position < parts.file_size && parts.position > before;) {
        before = parts.position;
        SN_TRY(read_parts(&parts));
    }
    return STONET_OK;
}
