#include "base/status.h"

#include <stdarg.h>
#include <string.h>

#include "base/number.h"

enum { SENTENCE_SIZE = 1024 };

static _Thread_local char sentence[SENTENCE_SIZE];

const char *stonet_version(void)
{
    return STONET_VERSION;
}

const char *stonet_last_error(void)
{
    return sentence;
}

stonet_status stonet_fail(stonet_status status, const char *text)
{
    return sn_fail(status, "%s", text != NULL ? text : "");
}

const char *stonet_status_name(stonet_status status)
{
    static const char *const name[] = {
        [STONET_OK] = "ok",
        [STONET_ERROR_ARGUMENT] = "wrong argument",
        [STONET_ERROR_DATA] = "data error",
        [STONET_ERROR_IO] = "input/output error",
        [STONET_ERROR_FORMAT] = "format error",
        [STONET_ERROR_MEMORY] = "out of memory",
        [STONET_ERROR_NUMERIC] = "numerical failure",
        [STONET_ERROR_UNSUPPORTED] = "not supported",
        [STONET_ERROR_INTERRUPTED] = "interrupted",
    };
    return (size_t)status < sizeof name / sizeof *name ? name[status] : "unknown status";
}

stonet_status(sn_fail)(stonet_status code, const char *format, ...)
{
    /* The arguments may point into the old sentence, so the new one is built aside. */
    char text[SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    sn_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(sentence, text, sizeof sentence);
    return code;
}

stonet_status(sn_fail_prefix)(stonet_status code, const char *format, ...)
{
    char prefix[SENTENCE_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    sn_vformat(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    return sn_fail(code, "%s: %s", prefix, sentence);
}
