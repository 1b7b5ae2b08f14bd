/* For tests: settings of a StoNet from names and values. */
#ifndef SN_STONET_TEST_SETTINGS_H
#define SN_STONET_TEST_SETTINGS_H

#include "base/testing.h"
#include "stonet/config.h"

/* pairs: name, value, name, value, .., NULL. */
static inline sn_settings *settings_with(const char *const *pairs)
{
    sn_settings *settings = NULL;
    assert_int_equal(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings), STONET_OK);
    for (; pairs[0] != NULL; pairs += 2)
        if (sn_settings_set(settings, pairs[0], pairs[1]) != STONET_OK) fail_msg("%s", stonet_last_error());
    return settings;
}

#endif
