#include "base/run.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <time.h>

#include "base/number.h"

SN_DEFINE_WORDS(sn_outcome_words, "outcome", STONET_DIVERGED, SN_OUTCOME_WORDS);

void sn_message(const stonet_run *run, stonet_level level, const char *format, ...)
{
    if (run == NULL || run->on_message == NULL) return;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    sn_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    run->on_message(level, text, run->user);
}

void sn_progress(const stonet_run *run, const stonet_progress *progress)
{
    if (run != NULL && run->on_progress != NULL) run->on_progress(progress, run->user);
}

void sn_progress_of(const stonet_run *run, const char *stage, int64_t done, int64_t total, double loss,
                    double started)
{
    sn_progress(run, &(stonet_progress){.stage = stage,
                                        .done = done,
                                        .total = total,
                                        .loss = loss,
                                        .validation_loss = (double)NAN,
                                        .seconds = sn_seconds() - started});
}

bool sn_should_stop(const stonet_run *run)
{
    return run != NULL && run->should_stop != NULL && run->should_stop(run->user) != 0;
}

sn_stages sn_stages_of(const stonet_run *run, double work)
{
    return (sn_stages){.run = run, .started = sn_seconds(), .work = work};
}

stonet_status sn_stages_next(sn_stages *stages, const char *stage, double work)
{
    enum { HUNDREDTHS = 100 };
    sn_progress_of(stages->run, stage, (int64_t)(HUNDREDTHS * stages->done / stages->work), HUNDREDTHS,
                   (double)NAN, stages->started);
    stages->done += work;
    if (!sn_should_stop(stages->run)) return STONET_OK;
    return sn_fail(STONET_ERROR_INTERRUPTED, "stopped at the %s, before there was a result", stage);
}

double sn_steps_left(double before, double now, double end)
{
    const double slowest = 0.9;
    if (!(now > end)) return 0.0;
    double factor = before > 0.0 ? now / before : 0.1;
    if (!(factor < slowest)) factor = slowest;
    return ceil(log(end / now) / log(factor));
}

bool sn_should_stop_shared(const stonet_run *run, int *stopped)
{
    int answer;
    if (omp_get_thread_num() == 0 && sn_should_stop(run)) {
#pragma omp atomic write
        *stopped = 1;
    }
#pragma omp atomic read
    answer = *stopped;
    return answer != 0;
}

int sn_bounded_threads(int threads)
{
    enum { MOST_THREADS = 256 };
    const int cores = omp_get_num_procs(), most = cores > MOST_THREADS ? cores : MOST_THREADS;
    return threads > most ? most : threads;
}

int sn_threads(const stonet_run *run)
{
    return sn_bounded_threads(run != NULL && run->threads > 0 ? run->threads : omp_get_max_threads());
}

double sn_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int should_stop_quietly(void *user)
{
    sn_quiet_run *quiet = user;
    return sn_should_stop_shared(quiet->behind, &quiet->stopped);
}

void sn_quiet_run_init(sn_quiet_run *quiet, const stonet_run *behind)
{
    *quiet = (sn_quiet_run){.behind = behind};
    quiet->run = (stonet_run){.should_stop = should_stop_quietly,
                              .user = quiet,
                              .checkpoint = behind != NULL ? behind->checkpoint : NULL};
}
