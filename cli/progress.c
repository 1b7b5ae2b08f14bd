#include "cli/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double seconds_between_draws = 0.1;
enum { STAGES_KEPT = 64 };

static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;
static bool line_shown;
static double last_draw = -1;
/* Hashes of the stages that were drawn last, in a ring: a stage that is new is drawn at once, and two that
   take turns (methods side by side) are not drawn for it. */
static uint64_t drawn_stage[STAGES_KEPT];
static int next_stage;

double progress_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_duration(double seconds, char text[32])
{
    long long whole = seconds < 1e12 ? llround(seconds) : 0;
    if (seconds < 9.95)
        snprintf(text, 32, "%.1f s", seconds);
    else if (whole < 60)
        snprintf(text, 32, "%lld s", whole);
    else if (whole < 3600)
        snprintf(text, 32, "%lld min %lld s", whole / 60, whole % 60);
    else
        snprintf(text, 32, "%lld h %lld min", whole / 3600, whole % 3600 / 60);
}

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

/* "training 120/400  loss 0.0321  validation 0.0402  3.1 s, 7 s left" */
static void describe(const stonet_progress *progress, char *text, size_t size)
{
    char part[5][64] = {"", "", "", "", ""};
    if (progress->total > 0)
        snprintf(part[0], sizeof part[0], " %lld/%lld", (long long)progress->done,
                 (long long)progress->total);
    else
        snprintf(part[0], sizeof part[0], " %lld", (long long)progress->done);
    if (isfinite(progress->loss)) snprintf(part[1], sizeof part[1], "  loss %.4g", progress->loss);
    if (isfinite(progress->validation_loss))
        snprintf(part[2], sizeof part[2], "  validation %.4g", progress->validation_loss);
    char spent[32];
    progress_duration(progress->seconds, spent);
    snprintf(part[3], sizeof part[3], "  %s", spent);
    if (progress->total > progress->done && progress->done > 0) {
        char left[32];
        double rate = progress->seconds / (double)progress->done;
        progress_duration(rate * (double)(progress->total - progress->done), left);
        snprintf(part[4], sizeof part[4], ", %s left", left);
    }
    snprintf(text, size, "%s%s%s%s%s%s", progress->stage != NULL ? progress->stage : "working", part[0],
             part[1], part[2], part[3], part[4]);
}

/* Whether the stage was never drawn, or long ago; from now on it was. (FNV-1a; 0 stands for an empty place.)
 */
static bool is_new_stage(const char *stage)
{
    uint64_t hash = 0xCBF29CE484222325U;
    for (const char *at = stage != NULL ? stage : ""; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001B3U;
    hash |= 1;
    for (int i = 0; i < STAGES_KEPT; i++)
        if (drawn_stage[i] == hash) return false;
    drawn_stage[next_stage] = hash;
    next_stage = (next_stage + 1) % STAGES_KEPT;
    return true;
}

/* Seconds between two lines where there is no terminal: 30, or what STONET_PROGRESS says. */
static double seconds_between_lines(void)
{
    const char *wanted = getenv("STONET_PROGRESS");
    char *end = NULL;
    const double seconds = wanted != NULL ? strtod(wanted, &end) : 0.0;
    return wanted != NULL && end != wanted && seconds >= 0.0 ? seconds : 30.0;
}

static void describe_plainly(const stonet_progress *progress, char *text, size_t size)
{
    describe(progress, text, size);
    for (char *c = text; *c != '\0'; c++) /* names of files are in it */
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
}

/* In a pipe or a file: a line now and then, so that a log shows a long job to be alive. */
static void log_line(const stonet_progress *progress)
{
    static double last_line = -1;
    pthread_mutex_lock(&line_lock);
    const double now = progress_clock();
    if (last_line < 0) last_line = now;
    const double wait = seconds_between_lines();
    if (now - last_line >= wait) {
        last_line = now;
        char text[512];
        describe_plainly(progress, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    pthread_mutex_unlock(&line_lock);
}

void progress_draw(const stonet_progress *progress)
{
    if (!isatty(STDERR_FILENO)) {
        log_line(progress);
        return;
    }
    pthread_mutex_lock(&line_lock);
    double now = progress_clock();
    if (is_new_stage(progress->stage) || now - last_draw >= seconds_between_draws) {
        last_draw = now;
        char text[512];
        describe_plainly(progress, text, sizeof text);
        fprintf(stderr, "\r%.*s\033[K", terminal_width() - 1, text);
        fflush(stderr);
        line_shown = true;
    }
    pthread_mutex_unlock(&line_lock);
}

void progress_clear(void)
{
    pthread_mutex_lock(&line_lock);
    if (line_shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        line_shown = false;
    }
    pthread_mutex_unlock(&line_lock);
}
