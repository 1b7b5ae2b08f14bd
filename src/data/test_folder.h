/* For tests that write files: a folder of their own to work in, gone at the end. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char sn_testing_folder[] = "/tmp/stonet-data-XXXXXX";

/* Set-up and tear-down of a group. */
static inline int sn_testing_enter(void **state)
{
    (void)state;
    return mkdtemp(sn_testing_folder) != NULL ? chdir(sn_testing_folder) : -1;
}

static inline int sn_testing_leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", sn_testing_folder);
    return chdir("/") == 0 ? system(command) : -1;
}
