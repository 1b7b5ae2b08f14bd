/* Errors travel as a stonet_status plus one sentence kept per thread. */
#pragma once

#include <stonet/stonet.h>

#define SN_PRINTF(format_at, first_argument) __attribute__((format(printf, format_at, first_argument)))

/* Stores the sentence and returns code, so that callers write: return sn_fail(STONET_ERROR_DATA, "..."). */
stonet_status sn_fail(stonet_status code, const char *format, ...) SN_PRINTF(2, 3);
/* Puts "prefix: " before the stored sentence (e.g. the file it is about); returns code. */
stonet_status sn_fail_prefix(stonet_status code, const char *format, ...) SN_PRINTF(2, 3);

#ifdef __clang_analyzer__
/* The analyser looks at one file at a time and must be told that these return the code they are given. */
#define sn_fail(code, ...)        ((sn_fail)((code), __VA_ARGS__), (code))
#define sn_fail_prefix(code, ...) ((sn_fail_prefix)((code), __VA_ARGS__), (code))
#endif

/* Passes a failure on to the caller. */
#define SN_TRY(call)                                                                                         \
    do {                                                                                                     \
        stonet_status sn_try_status_ = (call);                                                               \
        if (sn_try_status_ != STONET_OK) return sn_try_status_;                                              \
    } while (0)

/* The same in a function that cleans up at a label: sets `status` and jumps. */
#define SN_GOTO(status, call, label)                                                                         \
    do {                                                                                                     \
        (status) = (call);                                                                                   \
        if ((status) != STONET_OK) goto label;                                                               \
    } while (0)
