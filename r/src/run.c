/*
 * How a job speaks to R: seed and threads in; progress, messages and the wish to stop out. The library may
 * ask from any of its threads: those that are not R's own touch nothing of R.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "glue.h"
#include <R_ext/Print.h>

enum { BAR_WIDTH = 30 };
static const double ASK_SECONDS = 0.05;  /* between two looks at whether the user wants to stop, */
static const double DRAW_SECONDS = 0.1;  /* two drawings of the bar, */
static const double LINE_SECONDS = 30.0; /* two lines where nobody looks at a screen */

typedef struct message {
    struct message *next;
    stonet_level level;
    char text[];
} message;

typedef struct job {
    stonet_run run;
    pthread_t thread; /* R's own */
    pthread_mutex_t lock;
    message *first, **last;
    SEXP listener;                              /* a function of R for each report; R_NilValue: none */
    bool draws, screen, open_line, interrupted; /* screen: somebody looks, and lines can be drawn over */
    double asked, drawn;
} job;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

static int should_stop(void *user)
{
    job *self = user;
    if (!pthread_equal(pthread_self(), self->thread)) return self->interrupted;
    const double now = seconds();
    if (self->interrupted || now - self->asked < ASK_SECONDS) return self->interrupted;
    self->asked = now;
    if (!R_ToplevelExec(check_interrupt, NULL)) self->interrupted = true;
    return self->interrupted;
}

/* Kept, and told by R when the job is done: R must not be called while the library holds what only it knows
   of. A message that there is no memory for is lost. */
static void on_message(stonet_level level, const char *text, void *user)
{
    job *self = user;
    const size_t length = strlen(text) + 1;
    message *entry = malloc(sizeof *entry + length);
    if (entry == NULL) return;
    entry->next = NULL;
    entry->level = level;
    memcpy(entry->text, text, length);
    pthread_mutex_lock(&self->lock);
    *self->last = entry;
    self->last = &entry->next;
    pthread_mutex_unlock(&self->lock);
}

typedef struct report {
    job *self;
    const stonet_progress *progress;
} report;

static void call_listener(void *data)
{
    const report *told = data;
    const char *names[] = {"stage", "done", "total", "loss", "validation_loss", "seconds", ""};
    const stonet_progress *now = told->progress;
    const double numbers[] = {(double)now->done, (double)now->total, now->loss, now->validation_loss,
                              now->seconds};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, Rf_ScalarString(Rf_mkCharCE(now->stage, CE_UTF8)));
    for (int i = 0; i < 5; i++) SET_VECTOR_ELT(list, i + 1, Rf_ScalarReal(numbers[i]));
    SEXP call = PROTECT(Rf_lang2(told->self->listener, list));
    Rf_eval(call, R_GlobalEnv);
    UNPROTECT(2);
}

static void draw(job *self, const stonet_progress *now)
{
    const bool finished = now->total > 0 && now->done >= now->total;
    const double clock = seconds();
    if (clock - self->drawn < (self->screen ? DRAW_SECONDS : LINE_SECONDS) && !finished) return;
    self->drawn = clock;
    const double share = now->total > 0 ? fmin(1.0, (double)now->done / (double)now->total) : 0.0;
    char bar[BAR_WIDTH + 1];
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    REprintf("%s%s [%s] %lld", self->screen ? "\r" : "", now->stage, bar, (long long)now->done);
    if (now->total > 0) REprintf("/%lld", (long long)now->total);
    if (isfinite(now->loss)) REprintf(" loss %.4g", now->loss);
    REprintf(" %.1f s  ", now->seconds);
    self->open_line = self->screen && !finished;
    if (!self->open_line) REprintf("\n");
}

static void on_progress(const stonet_progress *progress, void *user)
{
    job *self = user;
    if (!pthread_equal(pthread_self(), self->thread) || self->interrupted) return;
    report told = {self, progress};
    if (self->listener != R_NilValue && !R_ToplevelExec(call_listener, &told)) self->interrupted = true;
    if (self->draws) draw(self, progress);
}

static void free_job(SEXP pointer)
{
    job *self = R_ExternalPtrAddr(pointer);
    if (self == NULL) return;
    R_ClearExternalPtr(pointer);
    for (message *entry = self->first, *next; entry != NULL; entry = next) {
        next = entry->next;
        free(entry);
    }
    pthread_mutex_destroy(&self->lock);
    free(self);
}

const stonet_run *run_get(SEXP pointer)
{
    job *self = handle_get(pointer, "run");
    return self != NULL ? &self->run : NULL;
}

/* verbose: TRUE, FALSE, or a function that is given each report. */
SEXP r_run(SEXP seed, SEXP threads, SEXP verbose, SEXP screen)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, Rf_install("run"), verbose));
    R_RegisterCFinalizerEx(pointer, free_job, TRUE);
    job *self = calloc(1, sizeof *self);
    if (self == NULL) Rf_error("no memory for a job");
    self->run = (stonet_run)STONET_RUN_INIT;
    self->run.seed = (uint64_t)whole(seed);
    self->run.threads = threads_of(threads);
    self->run.on_progress = on_progress;
    self->run.on_message = on_message;
    self->run.should_stop = should_stop;
    self->run.user = self;
    self->thread = pthread_self();
    pthread_mutex_init(&self->lock, NULL);
    self->last = &self->first;
    self->listener = Rf_isFunction(verbose) ? verbose : R_NilValue;
    self->screen = Rf_asLogical(screen) == TRUE;
    self->draws = Rf_isLogical(verbose) && Rf_asLogical(verbose) == TRUE;
    R_SetExternalPtrAddr(pointer, self);
    UNPROTECT(1);
    return pointer;
}

/* What was said: notes, warnings, and whether the user stopped the job. */
SEXP r_run_said(SEXP pointer)
{
    const char *names[] = {"notes", "warnings", "interrupted", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    job *self = handle_get(pointer, "run");
    for (int level = 0; level < 2; level++) {
        R_xlen_t count = 0;
        for (const message *entry = self->first; entry != NULL; entry = entry->next)
            count += (entry->level != STONET_NOTE) == level;
        SEXP texts = Rf_allocVector(STRSXP, count);
        SET_VECTOR_ELT(list, level, texts);
        count = 0;
        for (const message *entry = self->first; entry != NULL; entry = entry->next)
            if ((entry->level != STONET_NOTE) == level)
                SET_STRING_ELT(texts, count++, Rf_mkCharCE(entry->text, CE_UTF8));
    }
    SET_VECTOR_ELT(list, 2, Rf_ScalarLogical(self->interrupted));
    if (self->open_line) REprintf("\n");
    self->open_line = false;
    UNPROTECT(1);
    return list;
}
