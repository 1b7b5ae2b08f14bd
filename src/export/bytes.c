#include "export/bytes.h"

#include <stdarg.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

void sn_bytes_put(sn_bytes *bytes, const void *from, size_t size)
{
    if (bytes->status == STONET_OK) bytes->status = sn_pack_bytes(&bytes->pack, from, size);
}

void sn_bytes_text(sn_bytes *bytes, const char *text)
{
    sn_bytes_put(bytes, text, strlen(text));
}

void sn_bytes_print(sn_bytes *bytes, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = sn_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text) {
        if (bytes->status == STONET_OK)
            bytes->status = sn_fail(STONET_ERROR_UNSUPPORTED, "a line of an exported model is too long");
        return;
    }
    sn_bytes_put(bytes, text, (size_t)length);
}

void sn_bytes_free(sn_bytes *bytes)
{
    sn_pack_clear(&bytes->pack);
}
