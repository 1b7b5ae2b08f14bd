/* The program as one of several processes under mpirun: the first one speaks and writes, all work. */
#pragma once

#include <stonet/stonet.h>

#include "cli/options.h"

/* Joins the others if there are any, once, before a command runs; gives an exit status. */
int team_begin(const cli_command *command);
/* The last thing of the program: gives its exit status. When this process alone has failed, all are stopped.
 */
int team_end(int result);

/* NULL when this process is alone. */
stonet_team *program_team(void);
/* Whether this process is the one that writes results. */
bool program_writes(void);
