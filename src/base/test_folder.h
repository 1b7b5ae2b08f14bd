/* For tests that write files: a folder of their own, which must be empty at the end. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/stonet_test_XXXXXX";
static char last_path[256]; /* that in_folder gave last */

/* Set-up and tear-down of a group. */
static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static inline int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails when a test left something behind, temporary files above all */
}

static inline const char *in_folder(const char *name)
{
    snprintf(last_path, sizeof last_path, "%s/%s", folder, name);
    return last_path;
}
