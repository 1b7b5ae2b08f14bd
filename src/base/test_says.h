/* For tests, after cmocka.h: a call that fails must say why. */
#pragma once

#include <string.h>

#include "base/status.h"

static inline void assert_says(stonet_status got, stonet_status wanted, const char *words)
{
    if (got != wanted || strstr(stonet_last_error(), words) == NULL)
        print_error("got %d '%s', wanted %d '%s'\n", got, stonet_last_error(), wanted, words);
    assert_int_equal(got, wanted);
    assert_non_null(strstr(stonet_last_error(), words));
}
