#include "data/utf8.h"

#include <stdint.h>

size_t sn_utf8_sequence(const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80) return 1;
    size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || left < length) return 0;
    uint32_t code = at[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (at[i] & 0x3Fu);
    }
    if (length == 3 && (code < 0x800 || (code >= 0xD800 && code <= 0xDFFF))) return 0;
    if (length == 4 && (code < 0x10000 || code > 0x10FFFF)) return 0;
    return length;
}

bool sn_utf8_valid(const char *text, size_t length)
{
    for (size_t step; length > 0; text += step, length -= step)
        if ((step = sn_utf8_sequence(text, length)) == 0) return false;
    return true;
}
