/* One line on stderr that shows how far a job is: on a terminal only, drawn when a stage begins, however
   short it is, and then at most ten times a second. */
#pragma once

#include <stdbool.h>
#include <stonet/stonet.h>

/* Draws the line if it is time to; may be called from several threads at once. */
void progress_draw(const stonet_progress *progress);
/* Removes the line, so that other words can follow. */
void progress_clear(void);
/* Seconds on a clock that never goes back. */
double progress_clock(void);
/* "12 s", "3 min 20 s", "2 h 5 min". */
void progress_duration(double seconds, char text[32]);
