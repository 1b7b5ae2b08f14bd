/* For tests: settings of a StoNet from names and values. */
#pragma once

#include "base/test_kit.h"
#include "stonet/config.h"

/* pairs: name, value, name, value, .., NULL. */
static inline sn_settings *settings_with(const char *const *pairs)
{
    sn_settings *settings = NULL;
    OK(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings));
    for (; pairs[0] != NULL; pairs += 2)
        if (sn_settings_set(settings, pairs[0], pairs[1]) != STONET_OK) fail_msg("%s", stonet_last_error());
    return settings;
}
