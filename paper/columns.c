#include "paper/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

const column *columns_find(column_list columns, const char *name)
{
    size_t at = 0;
    while (at + 1 < columns.count && strcmp(columns.at[at].name, name) != 0) at++;
    return &columns.at[at];
}

bool column_is_stonet(const column *self)
{
    return strcmp(self->method, "stonet") == 0;
}

int columns_check(const lab *self, column_list columns)
{
    const char **names = calloc(columns.count, sizeof *names);
    if (names == NULL) {
        say_error(self->command, "memory ran out");
        return EXIT_FAILED;
    }
    for (size_t m = 0; m < columns.count; m++) names[m] = columns.at[m].name;
    int result = lab_check_methods(self, names, columns.count);
    free(names);
    return result;
}

void columns_plan(const lab *self, column_list columns, const cell_line *of, plan *cells)
{
    unsigned needs = of->needs | (self->options.quick ? COLUMN_QUICK : 0);
    for (size_t m = 0; m < columns.count; m++) {
        const column *by = &columns.at[m];
        if (!lab_wants(self, by->name) || (by->flags & needs) != needs) continue;
        bool has_dims = of->n_dims > 0 && strcmp(by->method, "none") != 0;
        for (size_t k = 0; k < (has_dims ? of->n_dims : 1); k++) {
            cell what = {.q = has_dims ? of->dims[k] : 0, .trial = of->trial};
            snprintf(what.row, sizeof what.row, "%s", of->row);
            snprintf(what.method, sizeof what.method, "%s", by->name);
            if (of->describe != NULL)
                of->describe(self, by, &what);
            else
                snprintf(what.settings, sizeof what.settings, "%s", by->settings);
            if (lab_wants_line(self, what.row, what.q)) plan_add(cells, &what);
        }
    }
}
