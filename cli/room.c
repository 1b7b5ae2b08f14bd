#define _GNU_SOURCE /* vasprintf */
#include "cli/room.h"

#include <stdbool.h>
#include <string.h>

#include "cli/say.h"

void *must_have(void *room)
{
    if (room != NULL) return room;
    say_line("stonet: memory ran out");
    exit(EXIT_FAILED);
}

void *room_for(int64_t count, size_t size)
{
    return must_have(calloc(count > 0 ? (size_t)count : 1, size));
}

void *more_room(void *room, int64_t count, size_t size)
{
    return must_have(reallocarray(room, count > 0 ? (size_t)count : 1, size));
}

char *copy_of(const char *text)
{
    return must_have(strdup(text));
}

char *vtext_of(const char *format, va_list values)
{
    char *text = NULL;
    return must_have(vasprintf(&text, format, values) >= 0 ? text : NULL);
}

char *text_of(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = vtext_of(format, values);
    va_end(values);
    return text;
}

FILE *open_text(char **text, size_t *size)
{
    return must_have(open_memstream(text, size));
}

void close_text(FILE *stream)
{
    const bool whole = ferror(stream) == 0;
    if (fclose(stream) != 0 || !whole) must_have(NULL);
}

char *joined(char *first, const char *between, char *second)
{
    char *both = text_of("%s%s%s", first, first[0] != '\0' ? between : "", second);
    free(first);
    free(second);
    return both;
}

void names_add(name_list *names, char *text)
{
    names->text = more_room(names->text, names->count + 1, sizeof *names->text);
    names->text[names->count++] = text;
}

void names_free(name_list *names)
{
    for (int64_t k = 0; k < names->count; k++) free(names->text[k]);
    free(names->text);
}
