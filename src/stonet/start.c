#include "stonet/start.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum {
    SAMPLE = 512,      /* rows that units are scaled by */
    RACE_UPDATES = 300 /* of each start */
};
static const double RACE_DECAY = 0.003;

uint64_t sn_start_seed(uint64_t seed, int number)
{
    return seed + (uint64_t)number * 0x9E3779B97F4A7C15U; /* far from the seeds a user would take next */
}

/* Moves and scales the units of layer i (1-based) by their mean and variance over mu (n x d_i). */
static void standardise_layer(const sn_shape *shape, int i, int64_t n, const float *mu, float *theta)
{
    const int64_t units = shape->width[i], inputs = shape->width[i - 1];
    float *w = theta + shape->weight_at[i - 1], *b = theta + shape->bias_at[i - 1];
    for (int64_t a = 0; a < units; a++) {
        double mean = 0.0, variance = 0.0;
        for (int64_t r = 0; r < n; r++) mean += (double)mu[r * units + a] / (double)n;
        for (int64_t r = 0; r < n; r++) {
            const double off = (double)mu[r * units + a] - mean;
            variance += off * off / (double)n;
        }
        const double scale = variance > 1e-6 ? 1.0 / sqrt(variance) : 1.0;
        for (int64_t j = 0; j < inputs; j++) w[a * inputs + j] = (float)(scale * (double)w[a * inputs + j]);
        b[a] = (float)(-scale * mean);
    }
}

stonet_status sn_start_weights(const sn_stage_job *job, float *theta)
{
    const sn_shape *shape = job->shape;
    sn_shape_start(shape, job->seed, theta);
    if (shape->activation != SN_RELU) return STONET_OK;
    const sn_rows some = sn_rows_part(&job->rows, 0, job->rows.n < SAMPLE ? job->rows.n : SAMPLE);
    for (int i = 2; i < shape->layers; i++) {
        SN_BLOCK float *mu = NULL;
        SN_TRY(SN_NEW_RAW(mu, some.n * shape->width[i]));
        SN_TRY(sn_engine_forward(&(sn_use){job->problem, job->config->engine, shape, theta, 1},
                                 &(sn_pass){.rows = some, .layer = i}, mu));
        standardise_layer(shape, i, some.n, mu, theta);
    }
    return STONET_OK;
}

/* One start, trained briefly and judged by its own rows; Inf where it diverges. */
static stonet_status run_start(const sn_stage_job *job, int number, float *theta, double *loss)
{
    sn_stage_job own = *job;
    own.seed = sn_start_seed(job->seed, number);
    *loss = (double)INFINITY;
    SN_TRY(sn_start_weights(&own, theta));
    SN_AUTO(sn_trainer) *trainer = NULL;
    SN_TRY(sn_trainer_create(&own, theta, &trainer));
    SN_TRY(sn_trainer_run(trainer, RACE_UPDATES));
    sn_trainer_parameters(trainer, theta);
    if (sn_trainer_report(trainer)->outcome == STONET_DIVERGED) return STONET_OK;
    const sn_use use = sn_stage_use(job, theta);
    SN_TRY(sn_engine_loss(&use, &job->rows, job->team, loss));
    if (!isfinite(*loss)) *loss = (double)INFINITY;
    return STONET_OK;
}

stonet_status sn_race(const sn_stage_job *job, int starts, float *theta)
{
    const size_t bytes = (size_t)job->shape->parameters * sizeof *theta;
    double best, loss;
    sn_config config = *job->config;
    sn_quiet_run quiet;
    sn_stage_job racing = *job;
    SN_ARRAY(job->shape->parameters, float, other);
    config.schedule.kind = SN_AVERAGED;
    config.weight_decay = fmin(config.weight_decay, RACE_DECAY);
    sn_quiet_run_init(&quiet, job->run);
    racing.config = &config;
    racing.run = &quiet.run;
    racing.history = NULL;
    if (!sn_train_shares(job)) racing.team = NULL; /* every rank runs all starts */
    SN_TRY(run_start(&racing, 0, theta, &best));
    for (int k = 1; k < starts && !sn_should_stop(&quiet.run); k++) {
        SN_TRY(run_start(&racing, k, other, &loss));
        if (!(loss < best)) continue;
        best = loss;
        memcpy(theta, other, bytes);
    }
    return STONET_OK;
}
