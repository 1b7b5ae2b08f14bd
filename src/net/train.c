#include "net/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "math/noise.h"

enum {
    MIN_SHARED = 1 << 16, /* parameters below which threads cost an update more than they save */
    PROBE_STEPS = 4,
    PROBE_PERIOD = 512
};

static const float rmsprop_memory = 0.9F, adam_memory = 0.999F, tiny = 1e-7F;

typedef struct trainer {
    const sn_shape *shape;
    const sn_training *training;
    sn_backprop backprop;
    float *first;  /* momentum, parameters floats */
    float *second; /* mean squared gradient */
    float *good;   /* theta at the end of the last good epoch */
    int64_t *rows; /* of the batch */
    uint32_t steps;
    int threads;       /* as many as the caller allows */
    double seconds[2]; /* of the last probe's steps: with all threads, with one */
} trainer;

static stonet_status create(trainer *t, int64_t n, const stonet_run *run)
{
    int64_t size = t->shape->parameters, capacity = t->training->batch < n ? t->training->batch : n;
    SN_TRY(SN_NEW(t->first, size));
    if (t->training->rule != SN_SGD) SN_TRY(SN_NEW(t->second, size));
    SN_TRY(SN_NEW(t->good, size));
    SN_TRY(SN_NEW(t->rows, capacity));
    t->backprop.shape = t->shape;
    t->backprop.linear_first = t->training->linear_first;
    t->backprop.dropout = t->training->dropout;
    t->backprop.seed = run->seed;
    t->threads = sn_threads(run);
    return sn_backprop_create(&t->backprop, capacity);
}

static void clear(trainer *t)
{
    sn_backprop_clear(&t->backprop);
    sn_free(t->first);
    sn_free(t->second);
    sn_free(t->good);
    sn_free(t->rows);
}

/* Updates parameters from..to of one layer's weights (decay as given) or biases (decay 0). Every thread of
   the region around it takes its share. */
static void update_range(const trainer *t, int64_t from, int64_t to, float decay, float *theta)
{
    const sn_training *training = t->training;
    const float *g = t->backprop.gradient;
    float *v = t->first, *s = t->second;
    float rate = (float)training->rate, momentum = (float)training->momentum;
    if (training->rule == SN_SGD) {
#pragma omp for schedule(static) nowait
        for (int64_t i = from; i < to; i++) {
            v[i] = momentum * v[i] + g[i] + decay * theta[i];
            theta[i] -= rate * v[i];
        }
    } else if (training->rule == SN_RMSPROP) {
#pragma omp for schedule(static) nowait
        for (int64_t i = from; i < to; i++) {
            s[i] = rmsprop_memory * s[i] + (1 - rmsprop_memory) * g[i] * g[i];
            theta[i] -= rate * (g[i] / (sqrtf(s[i]) + tiny) + decay * theta[i]);
        }
    } else {
        float mean_start = (float)(1 - pow((double)momentum, t->steps));
        float square_start = (float)(1 - pow((double)adam_memory, t->steps));
#pragma omp for schedule(static) nowait
        for (int64_t i = from; i < to; i++) {
            v[i] = momentum * v[i] + (1 - momentum) * g[i];
            s[i] = adam_memory * s[i] + (1 - adam_memory) * g[i] * g[i];
            theta[i] -= rate * (v[i] / mean_start / (sqrtf(s[i] / square_start) + tiny) + decay * theta[i]);
        }
    }
}

static void update(trainer *t, float *theta)
{
    const sn_shape *shape = t->shape;
    t->steps++;
#pragma omp parallel num_threads(t->backprop.threads) if (shape->parameters >= MIN_SHARED)
    for (int i = 0; i < shape->layers; i++) {
        update_range(t, shape->weight_at[i], shape->bias_at[i], (float)t->training->decay, theta);
        update_range(t, shape->bias_at[i], shape->bias_at[i] + shape->width[i + 1], 0, theta);
    }
    if (t->training->after_step != NULL) t->training->after_step(t->training->user, theta);
}

/*
 * A step is short, and where other programs hold the cores (or a container allows fewer than it shows)
 * waiting for a sleeping thread can take many times the step itself. So every PROBE_PERIOD steps a few are
 * timed with all threads and a few with one, and the faster way is kept; the bits are the same both ways.
 */
static double timed_step(trainer *t, const sn_examples *examples, int64_t count, float *theta)
{
    uint32_t phase = t->steps % PROBE_PERIOD;
    int way = phase < PROBE_STEPS ? 0 : phase < 2 * PROBE_STEPS ? 1 : t->seconds[0] > t->seconds[1];
    if (phase == 0) t->seconds[0] = t->seconds[1] = 0;
    t->backprop.threads = way == 0 ? t->threads : 1;
    double began = sn_seconds();
    double loss = sn_backprop_gradient(&t->backprop, examples, t->rows, count, theta, t->steps);
    if (isfinite(loss)) update(t, theta);
    if (phase < 2 * PROBE_STEPS) t->seconds[way] += sn_seconds() - began;
    return loss;
}

/* One pass over the examples; returns the mean loss, each batch's taken before its update. */
static double run_epoch(trainer *t, const sn_examples *examples, uint64_t seed, uint32_t epoch, float *theta)
{
    int64_t n = examples->n, batches = (n + t->training->batch - 1) / t->training->batch;
    sn_shuffle shuffle;
    sn_shuffle_init(&shuffle, (uint64_t)n, seed, epoch);
    double total = 0;
    for (int64_t b = 0; b < batches; b++) {
        int64_t first = b * n / batches, last = (b + 1) * n / batches;
        for (int64_t i = first; i < last; i++)
            t->rows[i - first] = (int64_t)sn_shuffle_at(&shuffle, (uint64_t)i);
        double loss = timed_step(t, examples, last - first, theta);
        total += loss * (double)(last - first);
        if (!isfinite(loss)) break;
    }
    return total / (double)n;
}

static bool all_finite(int64_t count, const float *values)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

static stonet_status run_epochs(trainer *t, const sn_examples *examples, const stonet_run *run, float *theta,
                                double *losses, int64_t *done, stonet_outcome *outcome)
{
    const sn_training *training = t->training;
    int64_t size = t->shape->parameters;
    double began = sn_seconds();
    for (int64_t epoch = 0; epoch < training->epochs; epoch++) {
        if (sn_should_stop(run)) {
            *outcome = STONET_STOPPED;
            return STONET_OK;
        }
        memcpy(t->good, theta, (size_t)size * sizeof *theta);
        double loss = run_epoch(t, examples, run->seed, (uint32_t)epoch, theta);
        if (!isfinite(loss) || !all_finite(size, theta)) {
            if (epoch == 0)
                return sn_fail(STONET_ERROR_NUMERIC,
                               "%s: training diverged in its first epoch; lower the rate "
                               "or scale the features",
                               training->stage);
            sn_message(run, STONET_WARNING,
                       "%s: training diverged in epoch %lld; the epoch before is kept. "
                       "Lower the rate to train on",
                       training->stage, (long long)epoch + 1);
            memcpy(theta, t->good, (size_t)size * sizeof *theta);
            *outcome = STONET_DIVERGED;
            return STONET_OK;
        }
        if (losses != NULL) losses[epoch] = loss;
        *done = epoch + 1;
        sn_progress(run, &(stonet_progress){training->stage, epoch + 1, training->epochs, loss, NAN,
                                            sn_seconds() - began});
    }
    return STONET_OK;
}

stonet_status sn_train(const sn_shape *shape, const sn_examples *examples, const sn_training *training,
                       const stonet_run *run, float *theta, double *losses, int64_t *done,
                       stonet_outcome *outcome)
{
    trainer t = {.shape = shape, .training = training};
    stonet_run defaults;
    if (run == NULL) {
        defaults = (stonet_run)STONET_RUN_INIT;
        run = &defaults;
    }
    *outcome = STONET_DONE;
    *done = 0;
    stonet_status status = create(&t, examples->n, run);
    if (status == STONET_OK) status = run_epochs(&t, examples, run, theta, losses, done, outcome);
    clear(&t);
    return status;
}

stonet_status sn_history_add(char **history, const char *stage, const double *losses, int64_t count)
{
    enum { LINE = 96 };
    size_t used = *history != NULL ? strlen(*history) : 0;
    size_t room = used + LINE * (size_t)(count + 1);
    char *text = sn_realloc(*history, room, 1);
    if (text == NULL) return STONET_ERROR_MEMORY;
    *history = text;
    if (used == 0) used += (size_t)snprintf(text, room, "epoch,stage,loss\n");
    for (int64_t i = 0; i < count; i++)
        used += (size_t)sn_format(text + used, room - used, "%lld,%.32s,%.9g\n", (long long)i + 1, stage,
                                  losses[i]);
    return STONET_OK;
}
