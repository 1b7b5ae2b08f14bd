#include "cli/show.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ESCAPED_SIZE = 4 }; /* \xNN */

/* The length of the UTF-8 character at `at`, 0 when there is none. */
static size_t character(const unsigned char *at)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : at[0] >= 0xC2 ? 2 : 0;
    if (at[0] > 0xF4) return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    return length;
}

/* 0x00 to 0x1F, 0x7F, and U+0080 to U+009F. */
static bool is_control(const unsigned char *at)
{
    return at[0] < 0x20 || at[0] == 0x7F || (at[0] == 0xC2 && at[1] < 0xA0);
}

/* Copies the next character, escaped if need be; moves both on. `to` has room for two escapes. */
static void next_shown(const char **from, char **to)
{
    const unsigned char *at = (const unsigned char *)*from;
    size_t length = character(at);
    if (length > 0 && !is_control(at)) {
        memcpy(*to, at, length);
        *to += length;
    } else {
        length = length == 0 ? 1 : length;
        for (size_t i = 0; i < length; i++) *to += snprintf(*to, ESCAPED_SIZE + 1, "\\x%02x", at[i]);
    }
    *from += length;
}

void show_text(FILE *stream, const char *text)
{
    while (*text != '\0') {
        char shown[2 * ESCAPED_SIZE + 1], *end = shown;
        next_shown(&text, &end);
        fwrite(shown, 1, (size_t)(end - shown), stream);
    }
}

char *shown_copy(const char *text)
{
    char *copy = malloc(ESCAPED_SIZE * strlen(text) + ESCAPED_SIZE + 1), *end = copy;
    while (copy != NULL && *text != '\0') next_shown(&text, &end);
    if (copy != NULL) *end = '\0';
    return copy;
}
