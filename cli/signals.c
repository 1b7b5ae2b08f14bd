#include "cli/signals.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t stop_wanted;

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
enum { CAUGHT = sizeof caught / sizeof *caught };

/* Gives the signals back to the system, so that the next of any kind ends the program. */
static void on_signal(int number)
{
    (void)number;
    stop_wanted = 1;
    for (int i = 0; i < CAUGHT; i++) signal(caught[i], SIG_DFL);
}

void signals_catch(void)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal; /* no SA_RESTART: a call that waits for the other end of a pipe ends */
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) {
        /* One that is ignored stays so: nohup, and jobs in the background. */
        if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
}

bool signals_stop_wanted(void)
{
    return stop_wanted != 0;
}
