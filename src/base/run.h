/* How a job speaks to its caller: messages, progress, and the wish to stop. */
#pragma once

#include <stdbool.h>

#include "base/words.h"

/* Of stonet_outcome. */
#define SN_OUTCOME_WORDS(between) "done" between "stopped" between "diverged"
extern const sn_words sn_outcome_words;

void sn_message(const stonet_run *run, stonet_level level, const char *format, ...) SN_PRINTF(3, 4);
/* Reports progress; the caller of the library decides how often to draw it. */
void sn_progress(const stonet_run *run, const stonet_progress *progress);
/* The same for a job that began at `started` (sn_seconds) and has no validation loss; loss NaN: none. */
void sn_progress_of(const stonet_run *run, const char *stage, int64_t done, int64_t total, double loss,
                    double started);
bool sn_should_stop(const stonet_run *run);
/* A job of a few long stages, of which it is known how much work each is (in operations, roughly). */
typedef struct sn_stages {
    const stonet_run *run;
    double started, work, done;
} sn_stages;
sn_stages sn_stages_of(const stonet_run *run, double work);
/* Reports that a stage of so much work begins, as hundredths of the whole; STONET_ERROR_INTERRUPTED when the
   caller wants to stop, for jobs that have nothing to show before their end. */
stonet_status sn_stages_next(sn_stages *stages, const char *stage, double work);
/* How many steps are left for what falls by the same factor in each, and came from `before` to `now` in the
   last one, until it reaches `end`; before 0: not known, a tenth. */
double sn_steps_left(double before, double now, double end);
/* The same inside a parallel loop: only its first thread asks the caller (whose function need not be ready
   for others); the answer is kept in *stopped, which all threads share and which starts at 0. */
bool sn_should_stop_shared(const stonet_run *run, int *stopped);
/* A run for jobs side by side: it says nothing, and wants to stop when the run behind it does, which only the
   first thread asks. Must stay where it is while it is used. */
typedef struct sn_quiet_run {
    stonet_run run;
    const stonet_run *behind;
    int stopped;
} sn_quiet_run;
void sn_quiet_run_init(sn_quiet_run *quiet, const stonet_run *behind);
/* A number of threads, or the most that are started where it is larger: OpenMP ends the process when the
   system refuses a thread, and no result depends on their number. */
int sn_bounded_threads(int threads);
/* The number of threads to use: run->threads; when it is 0 or there is no run, those that the model room has
   set for the calling thread (sn_model_threads), else OMP_NUM_THREADS, else all cores. */
int sn_threads(const stonet_run *run);
/* Seconds on a clock that never goes back. */
double sn_seconds(void);
