/*
 * How fast a fitted model answers: one row at a time (median and 99th percentile of the clock) and many rows
 * at once (the fastest of five passes). Prints one line for each kind of network:
 *
 *     stonet-bench-serving [ROWS [COLUMNS [LANDMARKS [THREADS]]]]
 *
 * It uses the public header alone, so LD_LIBRARY_PATH chooses the release that is measured.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <stonet/stonet.h>

enum { TRAINING_ROWS = 2000, CALLS = 1000, PASSES = 5 };

typedef struct job {
    int64_t rows, columns;
    int threads;
    const char *landmarks;
    float *x;
    double *out;
} job;

static void check(stonet_status status)
{
    if (status == STONET_OK) return;
    fprintf(stderr, "stonet-bench-serving: %s\n", stonet_last_error());
    exit(1);
}

static void *room(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count, size);
    if (memory == NULL) check(stonet_fail(STONET_ERROR_MEMORY, "memory ran out"));
    return memory;
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static stonet_model *fit(const job *j, const char *front)
{
    stonet_data *data;
    stonet_spec *spec;
    stonet_model *model;
    const char *const settings[][2] = {
        {"dim", "2"},      {"front", front},         {"front_landmarks", j->landmarks},
        {"epochs", "5"},   {"weight_decay", "0.01"}, {"front_complexity", "1"},
        {"levels", "none"}};
    double *y = room(TRAINING_ROWS, sizeof *y);
    for (int64_t i = 0; i < TRAINING_ROWS; i++)
        y[i] = sin(3.0 * (double)j->x[i * j->columns]) + (double)j->x[i * j->columns + 1];
    check(stonet_data_wrap(j->x, TRAINING_ROWS, j->columns, &data));
    check(stonet_data_set_targets(data, y, 1));
    check(stonet_spec_create("stonet", &spec));
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        check(stonet_spec_set(spec, settings[k][0], settings[k][1]));
    check(stonet_fit(spec, data, NULL, &model));
    stonet_spec_free(spec);
    stonet_data_free(data);
    free(y);
    return model;
}

/* Seconds of a clock that the prediction of `rows` rows from `first` takes. */
static double predict(const job *j, const stonet_model *model, int64_t first, int64_t rows, clockid_t clock)
{
    const stonet_use_options how = {.size = sizeof how, .threads = j->threads};
    stonet_data *data;
    const double began = seconds(clock);
    check(stonet_data_wrap(j->x + first * j->columns, rows, j->columns, &data));
    check(stonet_predict(model, data, &how, j->out));
    stonet_data_free(data);
    return seconds(clock) - began;
}

static void measure(const job *j, const char *front)
{
    stonet_model *model = fit(j, front);
    double *took = room(CALLS, sizeof *took), least = INFINITY, work = INFINITY;
    for (int k = 0; k < PASSES; k++) {
        least = fmin(least, predict(j, model, 0, j->rows, CLOCK_MONOTONIC));
        work = fmin(work, predict(j, model, 0, j->rows, CLOCK_PROCESS_CPUTIME_ID));
    }
    for (int k = 0; k < CALLS; k++) took[k] = predict(j, model, k % j->rows, 1, CLOCK_MONOTONIC);
    qsort(took, CALLS, sizeof *took, compare);
    const double millions = 1e-6 * (double)j->rows;
    printf(
        "front=%-7s one row: median %.1f us, 99th percentile %.1f us; %lld rows: %.3g million a second, %.3g "
        "million a second of processor time\n",
        front, 1e6 * took[CALLS / 2], 1e6 * took[CALLS * 99 / 100], (long long)j->rows, millions / least,
        millions / work);
    free(took);
    stonet_model_free(model);
}

int main(int argc, char **argv)
{
    job j = {.rows = argc > 1 ? atoll(argv[1]) : 1000000,
             .columns = argc > 2 ? atoll(argv[2]) : 20,
             .landmarks = argc > 3 ? argv[3] : "200",
             .threads = argc > 4 ? atoi(argv[4]) : 2};
    if (j.rows < TRAINING_ROWS || j.columns < 2) {
        fprintf(stderr, "stonet-bench-serving: %d rows and 2 columns are the fewest\n", TRAINING_ROWS);
        return 2;
    }
    j.x = room(j.rows * j.columns, sizeof *j.x);
    j.out = room(j.rows, sizeof *j.out);
    srand(1);
    for (int64_t k = 0; k < j.rows * j.columns; k++) j.x[k] = (float)rand() / (float)RAND_MAX - 0.5F;
    measure(&j, "none");
    measure(&j, "kernel");
    free(j.x);
    free(j.out);
    return 0;
}
