#include "cli/signals.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t stop_wanted;

/* Gives both signals back to the system, so that the next of either kind ends the program. */
static void on_signal(int number)
{
    (void)number;
    stop_wanted = 1;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

void signals_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool signals_stop_wanted(void)
{
    return stop_wanted != 0;
}
