#include "base/thread_tuner.h"

enum {
    WORTH_A_THREAD_NS = 40 * 1000, /* work below which another thread costs more than it gives */
    FIRST_REST = 32,               /* steps on one thread after threads were found slower ... */
    LONGEST_REST = 2048            /* ... and at most, when that happens again and again */
};

int sn_thread_tuner_worth(double work, int most)
{
    const double worth = work / WORTH_A_THREAD_NS;
    if (most <= 1 || worth < 2.0) return 1;
    return worth < most ? (int)worth : most;
}

/* The second step runs on one thread to have something to compare with. */
int sn_thread_tuner_threads(sn_thread_tuner *tuner, double work, int most)
{
    const int worth = sn_thread_tuner_worth(work, most);
    if (worth == 1) return 1;
    tuner->steps++;
    if (tuner->steps == 2 && !tuner->held) return 1;
    if (tuner->alone_left > 0 && !tuner->held) {
        tuner->alone_left--;
        return 1;
    }
    return worth;
}

void sn_thread_tuner_note(sn_thread_tuner *tuner, int threads, double time)
{
    if (tuner->steps < 2) return; /* the first one also starts the threads and touches the memory */
    double *smooth = threads == 1 ? &tuner->alone : &tuner->together;
    *smooth = *smooth > 0.0 ? 0.7 * *smooth + 0.3 * time : time;
    if (threads == 1 || tuner->alone <= 0.0) return;
    if (tuner->together > tuner->alone) {
        tuner->rest = tuner->rest < LONGEST_REST ? 2 * tuner->rest + FIRST_REST : LONGEST_REST;
        tuner->alone_left = tuner->rest;
        tuner->together = 0.0;
    } else if (tuner->together < 0.75 * tuner->alone) {
        tuner->rest = 0;
    }
}
