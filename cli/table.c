#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/room.h"
#include "cli/show.h"

enum { MAX_COLUMNS = 32, FEWEST = 20, BELOW = 6 }; /* of the last column; indent below */

struct table {
    const char *align;
    size_t columns, count, room;
    char **cell;
};

table *table_create(const char *align)
{
    table *made = room_for(1, sizeof *made);
    made->align = align;
    made->columns = strlen(align) < MAX_COLUMNS ? strlen(align) : MAX_COLUMNS;
    return made;
}

void table_add(table *self, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    BLOCK char *text = vtext_of(format, values);
    va_end(values);
    if (self->count == self->room) {
        self->room = 2 * self->room + 64;
        self->cell = more_room(self->cell, (int64_t)self->room, sizeof *self->cell);
    }
    self->cell[self->count++] = shown_copy(text);
}

static void print_rule(const int *width, size_t columns, FILE *stream)
{
    for (size_t j = 0; j < columns; j++) {
        if (j > 0) fputs("  ", stream);
        for (int i = 0; i < width[j]; i++) fputc('-', stream);
    }
    fputc('\n', stream);
}

void table_print(const table *self, bool heading, FILE *stream)
{
    int width[MAX_COLUMNS] = {0}, indent = 0;
    for (size_t i = 0; i < self->count; i++) {
        int wide = shown_width(self->cell[i], strlen(self->cell[i]));
        if (wide > width[i % self->columns]) width[i % self->columns] = wide;
    }
    for (size_t j = 0; j + 1 < self->columns; j++) indent += width[j] + 2;
    const size_t last = self->columns - 1;
    const bool wraps = last > 0 && self->align[last] == 'l' && indent + width[last] > SCREEN_WIDTH;
    const bool below = wraps && indent > SCREEN_WIDTH - FEWEST; /* the last column, on lines of its own */
    if (wraps) width[last] = below ? 0 : SCREEN_WIDTH - indent;
    if (below) indent = BELOW;
    for (size_t i = 0; i < self->count; i++) {
        size_t j = i % self->columns;
        int pad = width[j] - shown_width(self->cell[i], strlen(self->cell[i]));
        if (j > 0) fputs("  ", stream);
        if (self->align[j] == 'r') fprintf(stream, "%*s", pad, "");
        if (below && j == last && self->cell[i][0] != '\0') fprintf(stream, "\n%*s", indent, "");
        if (wraps && j == last)
            put_wrapped(stream, self->cell[i], indent, indent);
        else
            fputs(self->cell[i], stream);
        if (j + 1 == self->columns)
            fputc('\n', stream);
        else if (self->align[j] == 'l')
            fprintf(stream, "%*s", pad, "");
        if (heading && i + 1 == self->columns) print_rule(width, self->columns, stream);
    }
}

void table_free(table *self)
{
    if (self == NULL) return;
    for (size_t i = 0; i < self->count; i++) free(self->cell[i]);
    free(self->cell);
    free(self);
}
