#include "base/thread_tuner.h"

enum {
    WORTH_A_THREAD_NS = 40 * 1000, /* work below which another thread costs more than it gives */
    FIRST_REST = 32,               /* steps on one thread after threads were found slower ... */
    LONGEST_REST = 2048            /* ... and at most, when that happens again and again */
};

int sn_pace_worth(double work, int most)
{
    const double worth = work / WORTH_A_THREAD_NS;
    if (most <= 1 || worth < 2.0) return 1;
    return worth < most ? (int)worth : most;
}

/* The second step runs on one thread to have something to compare with. */
int sn_pace_threads(sn_pace *pace, double work, int most)
{
    const int worth = sn_pace_worth(work, most);
    if (worth == 1) return 1;
    pace->steps++;
    if (pace->steps == 2 && !pace->held) return 1;
    if (pace->alone_left > 0 && !pace->held) {
        pace->alone_left--;
        return 1;
    }
    return worth;
}

void sn_pace_note(sn_pace *pace, int threads, double time)
{
    if (pace->steps < 2) return; /* the first one also starts the threads and touches the memory */
    double *smooth = threads == 1 ? &pace->alone : &pace->together;
    *smooth = *smooth > 0.0 ? 0.7 * *smooth + 0.3 * time : time;
    if (threads == 1 || pace->alone <= 0.0) return;
    if (pace->together > pace->alone) {
        pace->rest = pace->rest < LONGEST_REST ? 2 * pace->rest + FIRST_REST : LONGEST_REST;
        pace->alone_left = pace->rest;
        pace->together = 0.0;
    } else if (pace->together < 0.75 * pace->alone) {
        pace->rest = 0;
    }
}
