/* For tests: settings of a StoNet from a text of names and values; runs that are stopped. */
#pragma once

#include "base/test_kit.h"
#include "stonet/config.h"

/* The text of a printf, until the next. */
SN_PRINTF(1, 2) static inline const char *text_of(const char *format, ...)
{
    static char text[512];
    va_list arguments;
    va_start(arguments, format);
    assert_in_range(vsnprintf(text, sizeof text, format, arguments), 0, sizeof text - 1);
    va_end(arguments);
    return text;
}

/* Names and values in turn, "epochs 3 hidden 4,8": values have no blanks. */
static inline sn_settings *settings_with(const char *pairs)
{
    char room[512], *rest = NULL;
    sn_settings *settings = NULL;
    assert_in_range(snprintf(room, sizeof room, "%s", pairs), 0, sizeof room - 1);
    OK(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings));
    for (const char *name = strtok_r(room, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest))
        OK(sn_settings_set(settings, name, strtok_r(NULL, " ", &rest)));
    return settings;
}

/* As should_stop of a run: after as many calls as the number behind `user` says. */
static inline int stop_after(void *user)
{
    int64_t *left = user;
    return --*left < 0;
}
