#include "stonet/batch_size.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "stonet/noise_scale.h"

const sn_batch_limits sn_batch_limits_usual = {
    .updates = 5000, .rows = (int64_t)SN_MAX_SHARDS * SN_SHARD_ROWS, .pilot = 1000};

enum { MEASURED = 8 }; /* batches */
/* Above this times the usual step, trainings became worse (docs/scale.md). */
static const double MOST_STEP = 2.0;

/* The largest power of two up to x, and 1 below 2. */
static int64_t power_below(double x)
{
    int64_t power = 1;
    while ((double)(2 * power) <= x) power *= 2;
    return power;
}

/* Where a short training with the usual batch and step comes to: theta. *whole: it came to its end. Its step
   falls as that of a long training. So the noise beside the slope is measured, and not what the noise of the
   last steps has left. */
static stonet_status run_pilot(const sn_stage_job *job, const float *start, int64_t updates, float *theta,
                               bool *whole)
{
    sn_quiet_run quiet;
    sn_config config = *job->config;
    sn_stage_job own = *job;
    SN_AUTO(sn_trainer) *trainer = NULL;
    sn_quiet_run_init(&quiet, job->run);
    config.epochs = (double)updates / (double)sn_train_batches(&config, job->rows.n);
    own.config = &config;
    own.run = &quiet.run;
    own.history = NULL;
    own.key = NULL;
    SN_TRY(sn_trainer_create(&own, start, &trainer));
    SN_TRY(sn_trainer_run(trainer, updates));
    sn_trainer_parameters(trainer, theta);
    *whole = sn_trainer_report(trainer)->outcome == STONET_DONE;
    return STONET_OK;
}

static void take(const sn_stage_job *job, double noise, int64_t batch, sn_config *config)
{
    /* What a quadratic loss is lowered most by goes as 1 / (1 + B* / b). */
    const double usual = (double)config->batch;
    const double factor = fmin((1.0 + noise / usual) / (1.0 + noise / (double)batch), MOST_STEP);
    config->batch = batch;
    if (config->auto_lr && factor > 1.0) {
        config->lr *= factor;
        config->schedule.warm = 1.0 / factor;
    }
    sn_message(job->run, STONET_NOTE,
               "batch=auto: batches of %lld rows and lr=%.3g, by a gradient noise scale of %.3g rows",
               (long long)batch, config->lr, noise);
}

stonet_status sn_batch_choose(const sn_stage_job *job, const float *start, const sn_batch_limits *limits,
                              sn_config *config)
{
    const double rows = config->epochs * (double)job->rows.n;
    double most = fmin(fmin(rows / (double)limits->updates, (double)limits->rows), (double)job->rows.n);
    if (!config->auto_batch || job->problem->joint || most < 2.0 * (double)config->batch) return STONET_OK;
    bool whole;
    sn_noise_scale noise;
    SN_ARRAY(job->shape->parameters, float, theta);
    SN_TRY(run_pilot(job, start, limits->pilot, theta, &whole));
    if (!whole) return STONET_OK;
    SN_TRY(sn_noise_scale_measure(job, theta, MEASURED, &noise));
    const double found = sn_noise_scale_rows(&noise);
    const int64_t batch = power_below(fmin(found, most));
    if (batch > config->batch) take(job, found, batch, config);
    return STONET_OK;
}
