/* For tests: one file of their own, made before the first of them and removed after the last. */
#pragma once

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/stonet_test_XXXXXX";

static inline int make_file(void **state)
{
    (void)state;
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static inline int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}
