#include "cli/pick_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"

/* More distinct texts than this are names of the rows, not categories. */
enum { MOST_VALUES = 1000 };

static bool find_name(const stonet_data *data, const char *name, int64_t *column)
{
    for (int64_t j = 0; j < stonet_data_columns(data); j++) {
        if (strcmp(stonet_data_column_name(data, j), name) == 0) {
            *column = j;
            return true;
        }
    }
    return false;
}

/* "A" or "A-B" with whole numbers A and B; false when the text is something else. */
static bool parse_range(const char *text, int64_t *first, int64_t *last)
{
    char *end = NULL;
    errno = 0;
    if (text[0] < '0' || text[0] > '9') return false;
    *first = *last = strtoll(text, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9') *last = strtoll(end + 1, &end, 10);
    return *end == '\0' && errno == 0;
}

static int say_unknown_column(const cli_command *command, const stonet_data *data, const char *option,
                              const char *name)
{
    const int64_t columns = stonet_data_columns(data);
    BLOCK const char **known = room_for(columns, sizeof *known);
    for (int64_t j = 0; j < columns; j++) known[j] = stonet_data_column_name(data, j);
    const char *nearest = stonet_nearest(name, known, columns);
    if (nearest != NULL)
        return say_error(command, "--%s: there is no column '%s'; did you mean '%s'?", option, name, nearest);
    return say_error(command, "--%s: there is no column '%s' among the %lld of the table", option, name,
                     (long long)columns);
}

/* One item of the list. */
static int choose(const cli_command *command, const stonet_data *data, const char *item,
                  column_choice *choice)
{
    const int64_t columns = stonet_data_columns(data);
    int64_t first = 0;
    int64_t last = 0;
    if (find_name(data, item, &first)) {
        choice->chosen[first] = true;
        return EXIT_DONE;
    }
    if (!parse_range(item, &first, &last)) return say_unknown_column(command, data, choice->option, item);
    if (first < 1 || last > columns || first > last)
        return say_error(command, "--%s: '%s' is not within the columns 1 to %lld of the table",
                         choice->option, item, (long long)columns);
    for (int64_t j = first; j <= last; j++) choice->chosen[j - 1] = true;
    return EXIT_DONE;
}

int columns_parse(const cli_command *command, const stonet_data *data, const char *option, const char *text,
                  column_choice *choice)
{
    *choice = (column_choice){.option = option};
    choice->chosen = room_for(stonet_data_columns(data), sizeof *choice->chosen);
    BLOCK char *items = copy_of(text);
    for (char *rest = items; rest != NULL;) TRY(choose(command, data, strsep(&rest, ","), choice));
    return EXIT_DONE;
}

void columns_free(column_choice *choice)
{
    free(choice->chosen);
    choice->chosen = NULL;
}

int columns_disjoint(const cli_command *command, const stonet_data *data, const column_choice *a,
                     const column_choice *b)
{
    for (int64_t j = 0; j < stonet_data_columns(data); j++) {
        if (a->chosen[j] && b->chosen[j])
            return say_error(command, "column '%s' is in both --%s and --%s; a column can play one part only",
                             stonet_data_column_name(data, j), a->option, b->option);
    }
    return EXIT_DONE;
}

/* 1, or for text the number of its values. */
static int64_t column_width(const stonet_data *data, int64_t column)
{
    int64_t n_texts = 0;
    return stonet_data_column_codes(data, column, &n_texts) == NULL ? 1 : n_texts;
}

/* The column in `values` (n x width, zero before): its numbers, or the indicators of its texts. `room` has n
   numbers. */
static stonet_status fill_column(const stonet_data *data, int64_t column, int64_t width, double *room,
                                 double *values)
{
    const int64_t n = stonet_data_rows(data);
    const int32_t *code = stonet_data_column_codes(data, column, NULL);
    if (code != NULL) {
        for (int64_t i = 0; i < n; i++) values[i * width + code[i]] = 1.0;
        return STONET_OK;
    }
    stonet_status status = stonet_data_column_numbers(data, column, room);
    for (int64_t i = 0; i < n && status == STONET_OK; i++) values[i * width] = room[i];
    return status;
}

int columns_matrix(const cli_command *command, const stonet_data *data, const column_choice *choice,
                   double **values, int64_t *width)
{
    *width = 0;
    for (int64_t j = 0; j < stonet_data_columns(data); j++) {
        if (!choice->chosen[j]) continue;
        int64_t own = column_width(data, j);
        if (stonet_data_missing(data, j) > 0)
            return say_error(command, "column '%s' has %lld missing cell%s; leave their rows out first",
                             stonet_data_column_name(data, j), (long long)stonet_data_missing(data, j),
                             stonet_data_missing(data, j) == 1 ? "" : "s");
        if (own > MOST_VALUES)
            return say_error(command,
                             "column '%s' has %lld different texts, too many to be categories; leave it out",
                             stonet_data_column_name(data, j), (long long)own);
        *width += own;
    }
    const int64_t rows = stonet_data_rows(data);
    BLOCK double *room = room_for(rows, sizeof *room);
    *values = room_for(rows * *width, sizeof **values);
    int64_t at = 0;
    for (int64_t j = 0; j < stonet_data_columns(data); j++) {
        if (!choice->chosen[j]) continue;
        TRY(outcome(command, fill_column(data, j, *width, room, *values + at)));
        at += column_width(data, j);
    }
    return EXIT_DONE;
}
