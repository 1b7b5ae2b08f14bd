#include "cli/ranks.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/common.h"

/* Seconds in which processes that fail alike have all failed: after them one failed alone. */
static const double PATIENCE = 3.0;

static stonet_team *team;
static int own_stderr = -1; /* of a process that is silent: for the words it must say all the same */

stonet_team *program_team(void)
{
    return team;
}

bool program_writes(void)
{
    return stonet_team_rank(team) == 0;
}

static void fall_silent(void)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (nowhere < 0) return;
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

int team_begin(const cli_command *command)
{
    TRY(outcome(command, stonet_team_join(&team)));
    if (!program_writes()) fall_silent();
    if (stonet_team_ranks(team) == 1 || command->on_ranks) return EXIT_DONE;
    say_error(command, "this command is for one process: start it without mpirun");
    return EXIT_USAGE;
}

int team_end(int result)
{
    if (team == NULL) return result;
    fflush(stdout);
    const int all = stonet_team_meet(team, result == EXIT_DONE ? -1.0 : PATIENCE);
    if (!all && own_stderr >= 0)
        dprintf(own_stderr, "stonet: rank %d of %d failed: %s; all are stopped\n", stonet_team_rank(team),
                stonet_team_ranks(team), stonet_last_error());
    stonet_team_leave(team, !all);
    return result;
}
