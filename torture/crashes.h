/* Ends that no program can do anything about: it is killed, or the machine loses its power. */
#ifndef TORTURE_CRASHES_H
#define TORTURE_CRASHES_H

#include "torture/runs.h"

typedef struct crash_tally {
    long killed, powerless; /* crashes of each kind */
    long old, renewed;      /* files that were found as before, and as they should become */
    long spare;             /* crashes that left a whole file under a temporary name */
    long wrong;
} crash_tally;

/* Crashes of a command at `sample` of its calls that change files, drawn at random; 0: at all of
   them, by power with `patterns` draws of what reaches the disk. */
void crash_at_calls(const torture_command *command, long sample, long patterns, crash_tally *tally);
/* Kills it `count` times, at random moments. */
void kill_at_random(const torture_command *command, long count, crash_tally *tally);

#endif
