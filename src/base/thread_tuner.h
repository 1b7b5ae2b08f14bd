/*
 * Whether threads pay on this machine at this moment, learnt from the times of the steps themselves. A
 * machine may have other users, or a container may allow fewer cores than it shows. There a barrier waits for
 * a thread that is not scheduled, and two threads can be many times slower than one. Only the time depends on
 * the choice, never a bit of the result.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins zeroed. */
typedef struct sn_thread_tuner {
    bool held;                /* threads whatever the times say */
    int64_t steps;            /* seen so far that were worth threads */
    double alone, together;   /* time a unit of work, smoothed; 0: not known yet */
    int64_t alone_left, rest; /* steps to go on one thread before the next try; how many the last time */
} sn_thread_tuner;

/* The threads, 1 to most, that there is work for in a step of about `work` nanoseconds on one thread. */
int sn_thread_tuner_worth(double work, int most);
/* The threads, 1 to most, for a step of about `work` nanoseconds on one thread: as many as there is work for,
   unless one is faster just now. */
int sn_thread_tuner_threads(sn_thread_tuner *tuner, double work, int most);
/* What the step took on that many threads, a unit of work. */
void sn_thread_tuner_note(sn_thread_tuner *tuner, int threads, double time);
