#include "cli/show.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/room.h"

enum { ESCAPED_SIZE = 4 }; /* \xNN */

/* The character at `at` and its length in UTF-8; 0 when there is none. */
static size_t decode(const unsigned char *at, uint32_t *code)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000}; /* of each length */
    *code = at[0];
    if (at[0] < 0x80) return 1;
    if (at[0] < 0xC2 || at[0] > 0xF4) return 0;
    const size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    *code &= 0x7FU >> length;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (at[i] & 0x3FU);
    }
    const bool surrogate = *code >= 0xD800 && *code <= 0xDFFF;
    return *code < smallest[length] || *code > 0x10FFFF || surrogate ? 0 : length;
}

/* Control characters, those that turn the direction of the text around them or end a line, and no characters:
   with them a name could look like another one, or like a line of ours. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0xFEFF || (code & 0xFFFE) == 0xFFFE;
}

size_t show_next(const char **text, char out[SHOWN_SIZE])
{
    const unsigned char *at = (const unsigned char *)*text;
    uint32_t code;
    size_t length = decode(at, &code), used = 0;
    if (length > 0 && !is_control(code)) {
        memcpy(out, at, length);
        used = length;
    } else {
        length = length == 0 ? 1 : length;
        for (size_t i = 0; i < length; i++)
            used += (size_t)snprintf(out + used, ESCAPED_SIZE + 1, "\\x%02x", at[i]);
    }
    *text += length;
    return used;
}

void show_text(FILE *stream, const char *text)
{
    while (*text != '\0') {
        char shown[SHOWN_SIZE];
        const size_t length = show_next(&text, shown);
        fwrite(shown, 1, length, stream);
    }
}

char *shown_copy(const char *text)
{
    char *copy = room_for((int64_t)(ESCAPED_SIZE * strlen(text)) + SHOWN_SIZE, 1), *end = copy;
    while (*text != '\0') end += show_next(&text, end);
    return copy;
}

int shown_width(const char *text, size_t length)
{
    int width = 0;
    for (size_t i = 0; i < length; i++) width += ((unsigned char)text[i] & 0xC0) != 0x80;
    return width;
}

void put_wrapped(FILE *stream, const char *text, int indent, int column)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, " \n");
        const int wide = shown_width(text, length);
        if (column > indent && column + 1 + wide > SCREEN_WIDTH) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stream);
            column++;
        }
        fwrite(text, 1, length, stream);
        column += wide;
        text += length;
        if (text[0] == '\n' && text[1] == '\n') {
            fprintf(stream, "\n\n%*s", indent, "");
            column = indent;
        }
        text += strspn(text, " \n");
    }
}
