/*
 * svmlight, or libsvm: a line a row, the response and then COLUMN:NUMBER for the cells that are not 0.
 *
 *     -1 3:0.5 17:1   # what stands behind is passed over
 *
 * Columns count from 1, or from 0 when a 0 is among them; a model knows which it was.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/readers.h"

enum { CHUNK = SN_BUFFER(1 << 20) };
/* Every column has a name and a record, named in a file or not: one number must not ask for gigabytes.
   Where fuzzing tries every number the limit is a small one, too. */
enum { MOST_COLUMNS = SN_BUFFER(1 << 22) };

/* What was read so far. */
typedef struct svm_rows {
    const char *path;
    const sn_na *na;
    int64_t rows, rows_room, cells, cells_room;
    int64_t *start;
    int32_t *column;
    float *value;
    double *y;
    int32_t lowest, highest; /* column as written */
    int64_t most;            /* the highest that may be */
    int64_t line;
} svm_rows;

static void free_rows(svm_rows *read)
{
    SN_FREE_ALL(read->start, read->column, read->value, read->y);
}

static stonet_status wrong(const svm_rows *read, const char *what)
{
    return sn_fail(STONET_ERROR_FORMAT, "%s: line %lld %s", read->path, (long long)read->line, what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* "12:" in front of a number. */
static const char *read_index(const char *at, int64_t *index)
{
    if (*at < '0' || *at > '9') return NULL;
    char *end;
    *index = strtoll(at, &end, 10);
    return *end == ':' && *index <= INT32_MAX - 1 ? end + 1 : NULL;
}

/* Whether a line looks like one: a number, and behind it at least one COLUMN:NUMBER. */
bool sn_looks_like_svmlight(const char *text, size_t size)
{
    char line[256];
    size_t at = 0;
    while (at < size && text[at] == '#') { /* lines of comment */
        while (at < size && text[at] != '\n') at++;
        at += at < size;
    }
    size_t length = 0;
    for (; at + length < size && text[at + length] != '\n' && length + 1 < sizeof line; length++) {
    }
    memcpy(line, text + at, length);
    line[length] = '\0';
    double number;
    int64_t index;
    const char *stop = sn_number_read(line, &number);
    if (stop == NULL || !is_blank(*stop)) return false;
    stop += strspn(stop, " \t");
    if (strncmp(stop, "qid:", 4) == 0) return true;
    stop = read_index(stop, &index);
    if (stop == NULL) return false;
    stop = sn_number_read(stop, &number);
    return stop != NULL && (is_blank(*stop) || *stop == '\0');
}

static stonet_status grow(svm_rows *read)
{
    if (read->rows + 1 >= read->rows_room) {
        const int64_t room = 2 * read->rows_room + 1024;
        SN_TRY(SN_GROW(read->start, room + 1));
        SN_TRY(SN_GROW(read->y, room));
        read->rows_room = room;
    }
    if (read->cells == read->cells_room) {
        const int64_t room = 2 * read->cells_room + 65536;
        SN_TRY(sn_memory_require((uint64_t)(room - read->cells_room) * 8, read->path, "use fewer rows"));
        SN_TRY(SN_GROW(read->column, room));
        SN_TRY(SN_GROW(read->value, room));
        read->cells_room = room;
    }
    return STONET_OK;
}

/* One COLUMN:NUMBER at *at, which moves behind it. */
static stonet_status read_cell(svm_rows *read, const char **at)
{
    int64_t index;
    double number;
    const char *stop = read_index(*at, &index);
    if (stop != NULL) stop = sn_number_read(stop, &number);
    if (stop == NULL || !(is_blank(*stop) || *stop == '\0' || *stop == '#'))
        return wrong(read, strncmp(*at, "qid:", 4) == 0
                               ? "has a query (qid), and ranking is not what this is for"
                               : "has something that is not COLUMN:NUMBER");
    const float value = (float)number;
    if (!isfinite(value) || sn_na_number(read->na, number))
        return wrong(read, "has a number that is missing, infinite or too large");
    if (index > read->most)
        return sn_fail(STONET_ERROR_DATA,
                       "%s: line %lld names column %lld, and %d is the highest that can be read: number the "
                       "columns anew, or hash them",
                       read->path, (long long)read->line, (long long)index, MOST_COLUMNS);
    const int64_t begin = read->start[read->rows];
    if (read->cells > begin && read->column[read->cells - 1] >= index)
        return wrong(read, "has columns that do not rise, or one of them twice");
    SN_TRY(grow(read));
    if (index < read->lowest) read->lowest = (int32_t)index;
    if (index > read->highest) read->highest = (int32_t)index;
    read->column[read->cells] = (int32_t)index;
    read->value[read->cells++] = value;
    *at = stop;
    return STONET_OK;
}

/* A line of that many bytes, ended by NUL. */
static stonet_status read_line(svm_rows *read, const char *at, size_t length)
{
    read->line++;
    if (strlen(at) < length) return wrong(read, "has a null byte");
    while (is_blank(*at)) at++;
    if (*at == '\0' || *at == '#') return STONET_OK;
    SN_TRY(grow(read));
    const char *stop = sn_number_read(at, &read->y[read->rows]);
    if (stop == NULL || !(is_blank(*stop) || *stop == '\0' || *stop == '#'))
        return wrong(read, stop != NULL && *stop == ','
                               ? "has several labels, and one response is what can be fitted"
                               : "does not begin with a number, the response");
    if (!isfinite(read->y[read->rows]) || sn_na_number(read->na, read->y[read->rows]))
        return wrong(read, "has a response that is missing or infinite");
    read->start[read->rows] = read->cells;
    for (;;) {
        while (is_blank(*stop)) stop++;
        if (*stop == '\0' || *stop == '#') break;
        SN_TRY(read_cell(read, &stop));
    }
    read->start[++read->rows] = read->cells;
    return STONET_OK;
}

/* All lines, through a buffer that is as long as the longest needs. */
static stonet_status read_lines(sn_source *source, svm_rows *read)
{
    size_t room = CHUNK, have = 0, got = 1;
    SN_BLOCK char *buffer = NULL;
    SN_TRY(SN_GROW(buffer, room + 1));
    while (got > 0) {
        if (have == room) SN_TRY(SN_GROW(buffer, 2 * room + 1));
        if (have == room) room *= 2;
        SN_TRY(sn_source_read(source, buffer + have, room - have, &got));
        have += got;
        char *line = buffer, *end;
        while ((end = memchr(line, '\n', have - (size_t)(line - buffer))) != NULL) {
            *end = '\0';
            SN_TRY(read_line(read, line, (size_t)(end - line)));
            line = end + 1;
        }
        have -= (size_t)(line - buffer);
        memmove(buffer, line, have);
    }
    if (have == 0) return STONET_OK;
    buffer[have] = '\0';
    return read_line(read, buffer, have);
}

/* Columns from 0, those beyond the model's thrown away: they are no columns of it. */
static void settle(svm_rows *read, int32_t base, int64_t columns)
{
    int64_t to = 0, from = 0;
    for (int64_t i = 0; i < read->rows; i++) {
        for (const int64_t end = read->start[i + 1]; from < end; from++) {
            const int32_t column = read->column[from] - base;
            if (column < 0 || column >= columns) continue;
            read->column[to] = column;
            read->value[to++] = read->value[from];
        }
        read->start[i + 1] = to;
    }
    read->cells = to;
}

static stonet_status check_wish(const char *path, const sn_read_wish *wish)
{
    static const char *const known[] = {"y", "1", "label", "target"};
    bool own = wish->columns == NULL;
    for (size_t k = 0; !own && k < sizeof known / sizeof *known; k++)
        own = strcmp(wish->columns, known[k]) == 0;
    if (!own)
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "%s is in the svmlight format, where the response stands first: it is called y, not '%s'", path,
            wish->columns);
    if (wish->all) return STONET_OK;
    if (wish->how.features != NULL || wish->how.drop != NULL || wish->how.id != NULL ||
        wish->how.group != NULL || wish->how.n_ordinal > 0 || wish->how.season != NULL ||
        wish->how.weights != NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%s is in the svmlight format, which has no named columns to choose from", path);
    return STONET_OK;
}

/* Moves the cells into a frame, which then owns the arrays. Files count columns from 0 or from 1: a cell in
   column 0 tells. A model counts as its first input is called, x0 or x1, and fixes the number of columns. */
static stonet_status make_frame(svm_rows *read, const sn_read_wish *wish, stonet_data **out)
{
    if (read->rows == 0) return sn_fail(STONET_ERROR_DATA, "%s has no rows", read->path);
    if (read->highest < 0) return sn_fail(STONET_ERROR_DATA, "%s has no cell that is not 0", read->path);
    int32_t base = read->lowest == 0 ? 0 : 1;
    int64_t columns = (int64_t)read->highest - base + 1;
    if (wish->schema != NULL) {
        columns = wish->schema->n_inputs;
        base = strcmp(wish->schema->input[0].name, "x0") == 0 ? 0 : 1;
    }
    if (base == 1 && read->lowest == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "%s counts its columns from 0, and the model was fitted on columns that count from 1",
                       read->path);
    settle(read, base, columns);
    SN_AUTO(sn_cells) *sparse = NULL;
    SN_AUTO(stonet_data) *data = NULL;
    SN_TRY(SN_NEW(sparse, 1));
    *sparse = (sn_cells){.n = read->rows,
                         .columns = columns,
                         .start = read->start,
                         .column = read->column,
                         .value = read->value,
                         .owned = {read->start, read->column, read->value}};
    read->start = NULL;
    read->column = NULL;
    read->value = NULL;
    SN_TRY(sn_frame_of_sparse(&sparse, base, &data));
    SN_TRY(sn_text_copy(read->path, &data->source));
    if (wish->columns != NULL || wish->schema == NULL || wish->own_target || wish->all)
        SN_TRY(stonet_data_set_targets(data, read->y, 1));
    return SN_GIVE(data, out);
}

stonet_status sn_read_svmlight(sn_source *source, const sn_read_wish *wish, stonet_data **out)
{
    SN_FREED_BY(free_rows)
    svm_rows read = {.path = source->path,
                     .na = &wish->na,
                     .lowest = INT32_MAX,
                     .highest = -1,
                     .most = wish->schema == NULL ? MOST_COLUMNS : INT32_MAX};
    SN_TRY(check_wish(read.path, wish));
    SN_TRY(grow(&read));
    read.start[0] = 0;
    SN_TRY(read_lines(source, &read));
    return make_frame(&read, wish, out);
}
