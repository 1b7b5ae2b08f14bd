#include "stonet/train.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/noise.h"
#include "stonet/dynamics.h"
#include "stonet/refit.h"

/* A mini-batch loss this many times the first epoch's, and above the level of guessing, is an explosion. */
static const double EXPLOSION = 20.0;

enum { PROGRESS_EVERY = 32 }; /* mini-batches */

typedef struct trainer {
    const sn_stage_job *job;
    sn_engine *engine;
    sn_dynamics full, dynamics; /* at full step, and with safeguard and schedule applied */
    float *good;                /* the last parameters known to be good */
    int64_t *batch_rows;
    int64_t batches; /* mini-batches an epoch */
    uint32_t iteration;
    double first_loss;
    double started;
    sn_train_report *report;
} trainer;

static int64_t row_at(const trainer *t, int64_t position)
{
    return t->job->rows != NULL ? t->job->rows[position] : position;
}

/* Checks the step against the present weights; done once an epoch, as weights move slowly. */
static void refresh_dynamics(trainer *t, const float *theta)
{
    t->dynamics = t->full;
    const double factor = sn_dynamics_safeguard(t->job->shape, theta, &t->dynamics);
    if (factor < t->report->smallest_step) t->report->smallest_step = factor;
}

static bool exploded(const trainer *t, double loss)
{
    const double guessing = t->job->shape->task == SN_CLASSIFICATION
                                ? log((double)t->job->shape->width[t->job->shape->layers])
                                : 0.5 * (double)t->job->shape->width[t->job->shape->layers];
    return !(loss <= EXPLOSION * fmax(t->first_loss, guessing));
}

/* One engine step; sets the outcome to STONET_DIVERGED when it went wrong. */
static stonet_status iterate(trainer *t, const int64_t *rows, int64_t count, double factor, double *loss)
{
    sn_update update;
    sn_update_from(t->job->config, t->job->shape, &t->full, t->job->n, factor, &update);
    const sn_iteration it = {
        .rows = rows, .count = count, .number = t->iteration++, .dynamics = &t->dynamics, .update = &update};
    sn_step_report step;
    SN_TRY(t->engine->ops->step(t->engine, &it, &step));
    *loss = step.loss;
    t->report->iterations++;
    if (!step.finite || exploded(t, step.loss)) t->report->outcome = STONET_DIVERGED;
    return STONET_OK;
}

static void tell(const trainer *t, const char *stage, int64_t done, int64_t total, double loss)
{
    const stonet_progress progress = {.stage = stage,
                                      .done = done,
                                      .total = total,
                                      .loss = loss,
                                      .validation_loss = (double)NAN,
                                      .seconds = sn_seconds() - t->started};
    sn_progress(t->job->run, &progress);
}

static stonet_status remember(const trainer *t, const char *stage, int64_t epoch, double loss, double factor)
{
    t->report->loss = loss;
    if (t->job->history == NULL) return STONET_OK;
    const sn_epoch_row row = {
        .stage = stage, .epoch = epoch, .loss = loss, .lr = factor * t->job->config->lr};
    return sn_epoch_log_add(t->job->history, &row);
}

/* The first `batches` mini-batches of epoch `epoch`: the batch borders cut the shuffled rows into equal
 * parts. */
static stonet_status run_epoch(trainer *t, int64_t epoch, int64_t batches, int64_t total)
{
    const int64_t n = t->job->n;
    sn_shuffle shuffle;
    sn_shuffle_init(&shuffle, (uint64_t)n, t->job->seed, (uint32_t)epoch);
    double sum = 0.0, factor = 1.0;
    int64_t rows = 0;
    for (int64_t b = 0; b < batches; b++) {
        const int64_t first = b * n / t->batches, last = (b + 1) * n / t->batches;
        for (int64_t i = first; i < last; i++)
            t->batch_rows[i - first] = row_at(t, (int64_t)sn_shuffle_at(&shuffle, (uint64_t)i));
        factor = sn_schedule_factor(&t->job->config->schedule, t->iteration + 1, total);
        double loss = 0.0;
        SN_TRY(iterate(t, t->batch_rows, last - first, factor, &loss));
        if (t->report->outcome == STONET_DIVERGED) return STONET_OK;
        sum += loss * (double)(last - first);
        rows += last - first;
        if (b % PROGRESS_EVERY == 0) tell(t, "training", t->iteration, total, sum / (double)rows);
        if (sn_should_stop(t->job->run)) {
            t->report->outcome = STONET_STOPPED;
            break;
        }
    }
    if (epoch == 0) t->first_loss = sum / (double)rows;
    return remember(t, "training", epoch + 1, sum / (double)rows, factor);
}

static stonet_status theta_stage(trainer *t)
{
    const double wanted = t->job->config->epochs * (double)t->batches;
    const int64_t total = wanted < 1.0 ? 1 : (int64_t)llround(wanted);
    for (int64_t epoch = 0; t->iteration < total && t->report->outcome == STONET_DONE; epoch++) {
        t->engine->ops->get_parameters(t->engine, t->good);
        refresh_dynamics(t, t->good);
        const int64_t left = total - t->iteration;
        SN_TRY(run_epoch(t, epoch, left < t->batches ? left : t->batches, total));
    }
    return STONET_OK;
}

/* Full-data iterations; latent and parameter steps both fall by the SDR schedule from where training ended.
 */
static stonet_status sdr_stage(trainer *t, double end_factor)
{
    const sn_config *config = t->job->config;
    for (int64_t k = 1; k <= config->sdr_iterations && t->report->outcome == STONET_DONE; k++) {
        t->engine->ops->get_parameters(t->engine, t->good);
        refresh_dynamics(t, t->good);
        const double factor = sn_schedule_factor(&config->sdr_schedule, k, config->sdr_iterations);
        for (int i = 0; i + 1 < t->job->shape->layers; i++) {
            t->dynamics.epsilon[i] *= factor;
            t->dynamics.alpha[i] *= factor;
        }
        double loss = 0.0;
        SN_TRY(iterate(t, t->job->rows, t->job->n, factor * end_factor, &loss));
        if (t->report->outcome == STONET_DIVERGED) break;
        tell(t, "full-data stage", k, config->sdr_iterations, loss);
        SN_TRY(remember(t, "sdr", k, loss, factor * end_factor));
        if (sn_should_stop(t->job->run)) t->report->outcome = STONET_STOPPED;
    }
    return STONET_OK;
}

static stonet_status train_with(trainer *t, float *theta)
{
    t->engine->ops->set_parameters(t->engine, theta);
    SN_TRY(theta_stage(t));
    const double end = sn_schedule_factor(&t->job->config->schedule, t->iteration, t->iteration);
    if (t->report->outcome == STONET_DONE) SN_TRY(sdr_stage(t, end));
    if (t->report->outcome != STONET_DIVERGED) t->engine->ops->get_parameters(t->engine, t->good);
    memcpy(theta, t->good, (size_t)t->job->shape->parameters * sizeof *theta);
    return STONET_OK;
}

stonet_status sn_train_stages(const sn_stage_job *training, float *theta, sn_train_report *report)
{
    *report = (sn_train_report){.outcome = STONET_DONE, .smallest_step = 1.0, .loss = (double)NAN};
    trainer t = {.job = training, .report = report, .started = sn_seconds()};
    t.batches = training->n / training->config->batch;
    if (t.batches < 1) t.batches = 1;
    sn_dynamics_from(training->config, training->shape, &t.full);
    stonet_status status;
    SN_GOTO(status, SN_NEW(t.good, training->shape->parameters), done);
    SN_GOTO(status, SN_NEW(t.batch_rows, training->n / t.batches + 1), done);
    SN_GOTO(status,
            training->config->engine->create(training->shape, training->problem, training->seed,
                                             training->threads, &t.engine),
            done);
    SN_GOTO(status, train_with(&t, theta), done);
    if (training->config->refit_output)
        status = sn_refit_output(training->shape, training->problem, training->rows, training->n,
                                 training->threads, training->run, theta);
done:
    if (t.engine != NULL) t.engine->ops->free(t.engine);
    sn_free(t.good);
    sn_free(t.batch_rows);
    return status;
}
