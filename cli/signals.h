/* Ctrl-C, SIGTERM and SIGHUP as a wish to stop cleanly. */
#pragma once

#include <stdbool.h>

/* From now on the first SIGINT, SIGTERM or SIGHUP only sets the wish; the next one ends the program at once.
 */
void signals_catch(void);
bool signals_stop_wanted(void);
