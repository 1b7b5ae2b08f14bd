/* For tests of what a run says. */
#pragma once

#include "base/test_kit.h"

/* All its messages so far, a line each, warnings as the program has them. */
static char sn_heard[8000];

/* As on_message of a run. */
static inline void sn_hear(stonet_level level, const char *text, void *user)
{
    (void)user;
    const size_t used = strlen(sn_heard);
    snprintf(sn_heard + used, sizeof sn_heard - used, "%s%s\n", level == STONET_WARNING ? "warning: " : "",
             text);
}

/* How often these words. */
static inline int sn_times_heard(const char *words)
{
    int times = 0;
    for (const char *at = sn_heard; (at = strstr(at, words)) != NULL; at++) times++;
    return times;
}
