/*
 * Measures steps of one workload on an engine, for bench/gpu.py:
 *
 *     stonet-bench-gpu NAME [--engine cuda|cpu] [--threads T] [--batch B] [--n ROWS] [--seconds S]
 *
 * Prints one JSON object: milliseconds of a step, the median and the best over queues of QUEUE steps, each
 * with a batch of its own, as training asks for them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "engine/engines.h"
#include "workload.h"

enum { QUEUE = 32, MOST_TIMES = 100000 };

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* One queue of steps; its seconds a step. */
static stonet_status run_queue(fit *f, sn_engine *engine, uint32_t *number, double *seconds)
{
    sn_iteration its[QUEUE];
    sn_step_report reports[QUEUE];
    sn_shards shards;
    sn_shards_whole(f->what.batch, &shards);
    const int64_t batches = f->what.n / f->what.batch;
    for (int k = 0; k < QUEUE; k++, ++*number)
        its[k] =
            (sn_iteration){.rows = sn_rows_list(f->order + *number % batches * f->what.batch, f->what.batch),
                           .shards = &shards,
                           .number = *number + 1,
                           .dynamics = &f->dynamics,
                           .update = &f->update};
    const double start = sn_seconds();
    if (engine->ops->steps != NULL)
        SN_TRY(engine->ops->steps(engine, its, QUEUE, reports));
    else
        for (int k = 0; k < QUEUE; k++) SN_TRY(engine->ops->step(engine, &its[k], &reports[k]));
    *seconds = (sn_seconds() - start) / QUEUE;
    if (!reports[QUEUE - 1].finite)
        return sn_fail(STONET_ERROR_NUMERIC, "workload %s diverged", f->what.name);
    return STONET_OK;
}

static stonet_status measure(fit *f, const sn_engine_ops *ops, int threads, double seconds)
{
    sn_engine *engine;
    double *times = NULL, each = 0.0;
    uint32_t number = 0;
    int count = 0;
    stonet_status status;
    SN_TRY(ops->create(&f->shape, &f->problem, 1, threads, &engine));
    ops->start(engine, f->theta);
    SN_GOTO(status, SN_NEW(times, MOST_TIMES), done);
    SN_GOTO(status, run_queue(f, engine, &number, &each), done); /* to warm up */
    for (const double start = sn_seconds();
         count < MOST_TIMES && (count < 3 || sn_seconds() - start < seconds);)
        SN_GOTO(status, run_queue(f, engine, &number, &times[count++]), done);
    qsort(times, (size_t)count, sizeof *times, by_size);
    printf("{\"name\": \"%s\", \"engine\": \"%s\", \"threads\": %d, \"batch\": %lld, \"queues\": %d, "
           "\"median_ms\": %.5f, \"best_ms\": %.5f}\n",
           f->what.name, ops->name, threads, (long long)f->what.batch, count, 1e3 * times[count / 2],
           1e3 * times[0]);
done:
    ops->free(engine);
    sn_free(times);
    return status;
}

int main(int argc, char **argv)
{
    const workload *what = argc > 1 ? workload_find(argv[1]) : NULL;
    const sn_engine_ops *ops = &sn_engine_cuda;
    int threads = 1;
    double seconds = 0.5;
    int64_t n = 0, batch = 0;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--engine") == 0) ops = sn_engine_find(argv[i + 1]);
        if (strcmp(argv[i], "--threads") == 0) threads = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--batch") == 0) batch = atoll(argv[i + 1]);
        if (strcmp(argv[i], "--n") == 0) n = atoll(argv[i + 1]);
        if (strcmp(argv[i], "--seconds") == 0) seconds = atof(argv[i + 1]);
    }
    if (what == NULL || ops == NULL) {
        fprintf(
            stderr,
            "usage: stonet-bench-gpu NAME [--engine E] [--threads T] [--batch B] [--n ROWS] [--seconds S]\n");
        return 2;
    }
    fit f;
    stonet_status status = fit_create(&f, what, n);
    if (batch > 0) f.what.batch = batch;
    if (status == STONET_OK && f.what.batch > f.what.n)
        status = sn_fail(STONET_ERROR_ARGUMENT, "the batch is larger than the data");
    if (status == STONET_OK) status = measure(&f, ops, threads, seconds);
    if (status != STONET_OK) fprintf(stderr, "stonet-bench-gpu: %s\n", stonet_last_error());
    fit_free(&f);
    return status == STONET_OK ? 0 : 1;
}
