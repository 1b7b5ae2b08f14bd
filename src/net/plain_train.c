#include "net/plain_train.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread_tuner.h"
#include "math/noise.h"

enum { MIN_SHARED = 1 << 16 }; /* parameters below which threads cost an update more than they save */

/* About what a gradient takes a row and parameter on one thread. */
static const double GRADIENT_NS = 0.08;

static const float rmsprop_memory = 0.9F, adam_memory = 0.999F, tiny = 1e-7F;

typedef struct trainer {
    const sn_shape *shape;
    const sn_problem *problem;
    const sn_training *training;
    sn_backprop backprop;
    float *first;  /* momentum, parameters floats */
    float *second; /* mean squared gradient */
    float *good;   /* theta at the end of the last good epoch */
    int64_t *rows; /* of the batch */
    uint32_t steps;
    int threads; /* as many as the caller allows */
    sn_thread_tuner tuner;
} trainer;

static stonet_status create(trainer *t, const sn_network *net, const stonet_run *run)
{
    int64_t size = t->shape->parameters, n = t->problem->n, outputs = t->shape->width[t->shape->layers];
    int64_t capacity = t->training->batch < n ? t->training->batch : n;
    SN_TRY(SN_NEW(t->first, size));
    if (t->training->rule != SN_SGD) SN_TRY(SN_NEW(t->second, size));
    SN_TRY(SN_NEW(t->good, size));
    SN_TRY(SN_NEW(t->rows, capacity));
    t->backprop.shape = t->shape;
    t->backprop.scaling = net->scaling.columns > 0 ? &net->scaling : NULL;
    t->backprop.joint = t->training->joint;
    t->backprop.gain = t->problem->label != NULL || t->training->joint != NULL ? 1.0 : 2.0 / (double)outputs;
    t->backprop.dropout = t->training->dropout;
    t->backprop.seed = run->seed;
    t->threads = sn_threads(run);
    return sn_backprop_create(&t->backprop, capacity);
}

static void clear(trainer *t)
{
    sn_backprop_clear(&t->backprop);
    SN_FREE_ALL(t->first, t->second, t->good, t->rows);
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

/* One step on the first `count` of t->rows; returns the loss before it. */
static double step(trainer *t, int64_t count, float *theta)
{
    double work = GRADIENT_NS * (double)count * (double)t->shape->parameters, began = sn_seconds();
    t->backprop.threads = sn_thread_tuner_threads(&t->tuner, work, t->threads);
    double loss = sn_backprop_gradient(&t->backprop, t->problem, t->rows, count, theta, t->steps);
    if (isfinite(loss)) update(t, theta);
    sn_thread_tuner_note(&t->tuner, t->backprop.threads, (sn_seconds() - began) / work);
    return loss;
}

/* One pass over the rows; returns the mean loss, each batch's taken before its update. */
static double run_epoch(trainer *t, uint64_t seed, uint32_t epoch, float *theta)
{
    int64_t n = t->problem->n, batches = (n + t->training->batch - 1) / t->training->batch;
    sn_shuffle shuffle;
    sn_shuffle_init(&shuffle, (uint64_t)n, seed, epoch);
    double total = 0;
    for (int64_t b = 0; b < batches; b++) {
        int64_t first = b * n / batches, last = (b + 1) * n / batches;
        sn_shuffle_rows(&shuffle, first, last - first, t->rows);
        double loss = step(t, last - first, theta);
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

/* Says that training diverged in this epoch: an error in the first one. */
static stonet_status tell_divergence(const trainer *t, const stonet_run *run, int64_t epoch)
{
    if (epoch == 0)
        return sn_fail(STONET_ERROR_NUMERIC,
                       "%s: training diverged in its first epoch; lower the rate or scale the features",
                       t->training->stage);
    sn_message(run, STONET_WARNING,
               "%s: training diverged in epoch %lld; the epoch before is kept. Lower the rate to train on",
               t->training->stage, (long long)epoch + 1);
    return STONET_OK;
}

/* The parameters are saved before each epoch: when the loss or a parameter becomes NaN or infinite, the last
   good ones are the result. A stop by the user leaves theta as it is, without an error. */
static stonet_status run_epochs(trainer *t, const stonet_run *run, float *theta, sn_epoch_log *history,
                                stonet_outcome *outcome)
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
        double loss = run_epoch(t, run->seed, (uint32_t)epoch, theta);
        if (!isfinite(loss) || !all_finite(size, theta)) {
            memcpy(theta, t->good, (size_t)size * sizeof *theta);
            *outcome = STONET_DIVERGED;
            return tell_divergence(t, run, epoch);
        }
        SN_TRY(sn_epoch_log_add(history, &(sn_epoch_row){training->stage, epoch + 1, loss, training->rate}));
        sn_progress(run, &(stonet_progress){training->stage, epoch + 1, training->epochs, loss, NAN,
                                            sn_seconds() - began});
    }
    return STONET_OK;
}

static double setting_or(const sn_settings *settings, const char *name, double otherwise)
{
    return sn_settings_has(settings, name) ? sn_real(settings, name) : otherwise;
}

sn_training sn_training_of(const sn_settings *settings, const char *stage, sn_rule rule, int64_t usual)
{
    return (sn_training){.stage = stage,
                         .rule = rule,
                         .rate = sn_real(settings, "rate"),
                         .momentum = setting_or(settings, "momentum", 0.9),
                         .decay = setting_or(settings, "decay", 0.0),
                         .dropout = setting_or(settings, "dropout", 0.0),
                         .batch = sn_is(settings, "batch", "auto") ? usual : sn_int(settings, "batch"),
                         .epochs = sn_int(settings, "epochs")};
}

stonet_status sn_network_train(sn_network *net, const sn_problem *problem, const sn_training *training,
                               const stonet_run *run, stonet_outcome *outcome)
{
    SN_FREED_BY(clear) trainer t = {.shape = &net->shape, .problem = problem, .training = training};
    const stonet_run defaults = STONET_RUN_INIT;
    if (run == NULL) run = &defaults;
    *outcome = STONET_DONE;
    SN_TRY(create(&t, net, run));
    return run_epochs(&t, run, net->theta, &net->history, outcome);
}
