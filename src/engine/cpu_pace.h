/* Whether threads pay on this machine at this moment, learnt from the chunks' own times. On a machine others
   use, a barrier waits for whoever is not scheduled, and two threads can be many times slower than one. Only
   the time depends on the choice, never a bit of the result. */
#ifndef SN_ENGINE_CPU_PACE_H
#define SN_ENGINE_CPU_PACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sn_cpu_pace {
    bool held;                /* threads whatever the times say */
    int64_t chunks;           /* seen so far that were worth threads */
    double alone, together;   /* time a unit of work, smoothed; 0: not known yet */
    int64_t alone_left, rest; /* chunks to go on one thread before the next try; how many the last time */
} sn_cpu_pace;

/* The threads of a chunk of `work` nanoseconds: as many as there is work for, unless one is faster just now.
   The second chunk runs on one thread to have something to compare with. */
int sn_cpu_pace_threads(sn_cpu_pace *pace, double work, int most);
/* The time a unit of work took on so many threads. */
void sn_cpu_pace_note(sn_cpu_pace *pace, int threads, double time);

#endif
