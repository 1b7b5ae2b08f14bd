#include "cli/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/say.h"
#include "data/frame.h"

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
    sn_nearest nearest;
    sn_nearest_start(&nearest, name);
    for (int64_t j = 0; j < stonet_data_columns(data); j++)
        sn_nearest_offer(&nearest, stonet_data_column_name(data, j));
    if (nearest.best != NULL)
        say_error(command, "--%s: there is no column '%s'; did you mean '%s'?", option, name, nearest.best);
    else
        say_error(command, "--%s: there is no column '%s' among the %lld of the table", option, name,
                  (long long)stonet_data_columns(data));
    return EXIT_FAILED;
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
    if (first < 1 || last > columns || first > last) {
        say_error(command, "--%s: '%s' is not within the columns 1 to %lld of the table", choice->option,
                  item, (long long)columns);
        return EXIT_FAILED;
    }
    for (int64_t j = first; j <= last; j++) choice->chosen[j - 1] = true;
    return EXIT_DONE;
}

int columns_parse(const cli_command *command, const stonet_data *data, const char *option, const char *text,
                  column_choice *choice)
{
    *choice = (column_choice){.option = option};
    choice->chosen = calloc((size_t)stonet_data_columns(data), sizeof *choice->chosen);
    char *items = strdup(text);
    int result = EXIT_DONE;
    if (choice->chosen == NULL || items == NULL) {
        say_error(command, "memory ran out");
        result = EXIT_FAILED;
    }
    char *rest = items;
    while (result == EXIT_DONE && rest != NULL) {
        const char *item = strsep(&rest, ",");
        result = choose(command, data, item, choice);
    }
    free(items);
    return result;
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
        if (a->chosen[j] && b->chosen[j]) {
            say_error(command, "column '%s' is in both --%s and --%s; a column can play one part only",
                      stonet_data_column_name(data, j), a->option, b->option);
            return EXIT_FAILED;
        }
    }
    return EXIT_DONE;
}

static int64_t column_width(const stonet_data *data, int64_t column)
{
    const sn_column *about = &data->column[column];
    return about->kind == SN_COLUMN_NUMBER ? 1 : data->text_values[about->slot].count;
}

static void fill_column(const stonet_data *data, int64_t column, int64_t width, double *values)
{
    const sn_column *about = &data->column[column];
    for (int64_t i = 0; i < data->n; i++) {
        if (about->kind == SN_COLUMN_NUMBER)
            values[i * width] = (double)data->x[i * data->n_numeric + about->slot];
        else
            values[i * width + data->text_code[about->slot][i]] = 1.0;
    }
}

int columns_matrix(const cli_command *command, const stonet_data *data, const column_choice *choice,
                   double **values, int64_t *width)
{
    *width = 0;
    for (int64_t j = 0; j < stonet_data_columns(data); j++) {
        if (!choice->chosen[j]) continue;
        int64_t own = column_width(data, j);
        if (own > MOST_VALUES) {
            say_error(command,
                      "column '%s' has %lld different texts, too many to be categories; leave it out",
                      stonet_data_column_name(data, j), (long long)own);
            return EXIT_FAILED;
        }
        *width += own;
    }
    const size_t cells = (size_t)data->n * (size_t)*width;
    *values = calloc(cells > 0 ? cells : 1, sizeof **values);
    if (*values == NULL) {
        say_error(command, "memory ran out");
        return EXIT_FAILED;
    }
    int64_t at = 0;
    for (int64_t j = 0; j < stonet_data_columns(data); j++) {
        if (!choice->chosen[j]) continue;
        fill_column(data, j, *width, *values + at);
        at += column_width(data, j);
    }
    return EXIT_DONE;
}
