#include "stonet/start.h"

#include <math.h>
#include <string.h>

#include "base/failure.h"
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

/* mu_i of the rows, out rows x d_i. */
static stonet_status means_of_layer(const sn_stage_job *job, const float *theta, const sn_rows *rows, int i,
                                    float *mu)
{
    sn_engine *engine;
    SN_TRY(job->config->engine->create(job->shape, job->problem, 0, 1, &engine));
    engine->ops->start(engine, theta);
    stonet_status status = engine->ops->forward(engine, &(sn_pass){.rows = *rows, .layer = i}, mu);
    engine->ops->free(engine);
    return status;
}

stonet_status sn_start_weights(const sn_stage_job *job, float *theta)
{
    const sn_shape *shape = job->shape;
    sn_shape_start(shape, job->seed, theta);
    if (shape->activation != SN_RELU) return STONET_OK;
    const sn_rows some = sn_rows_part(&job->rows, 0, job->rows.n < SAMPLE ? job->rows.n : SAMPLE);
    for (int i = 2; i < shape->layers; i++) {
        float *mu;
        SN_TRY(SN_NEW_RAW(mu, some.n * shape->width[i]));
        stonet_status status = means_of_layer(job, theta, &some, i, mu);
        if (status == STONET_OK) standardise_layer(shape, i, some.n, mu, theta);
        sn_free(mu);
        if (status != STONET_OK) return status;
    }
    return STONET_OK;
}

typedef struct runner {
    double loss;
    int64_t iterations;
    float *theta;
} runner;

/* Whether ranks share out the rows: then all are at the same start. */
static bool shares_rows(const sn_stage_job *job)
{
    return sn_team_shares(job->team);
}

/* One start, trained briefly and judged by its own rows. */
static stonet_status run_start(const sn_stage_job *job, int number, runner *r)
{
    sn_stage_job own = *job;
    own.seed = sn_start_seed(job->seed, number);
    own.threads = shares_rows(job) ? job->threads : 1;
    r->loss = (double)INFINITY;
    SN_TRY(sn_start_weights(&own, r->theta));
    sn_trainer *trainer;
    SN_TRY(sn_trainer_create(&own, r->theta, &trainer));
    stonet_status status = sn_trainer_run(trainer, RACE_UPDATES);
    const sn_train_report *report = sn_trainer_report(trainer);
    r->iterations = report->iterations;
    sn_trainer_parameters(trainer, r->theta);
    const bool diverged = report->outcome == STONET_DIVERGED;
    sn_trainer_free(trainer);
    if (status != STONET_OK || diverged) return status;
    sn_losses losses;
    SN_TRY(sn_engine_loss(job->config->engine, job->shape, r->theta,
                          &(sn_loss_job){job->problem, job->rows, own.threads, job->team}, &losses));
    r->loss = isfinite(losses.loss) ? losses.loss : (double)INFINITY;
    return STONET_OK;
}

/* On one thread without a parallel region, in which every thread of a region around it would be the first. */
static stonet_status run_side_by_side(const sn_stage_job *job, int count, runner *runners)
{
    sn_failure failure = {.status = STONET_OK};
    if (job->threads == 1 || shares_rows(job)) {
        for (int k = 0; k < count; k++) sn_failure_note(&failure, k, run_start(job, k, &runners[k]));
        return sn_failure_raise(&failure);
    }
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
    for (int k = 0; k < count; k++) sn_failure_note(&failure, k, run_start(job, k, &runners[k]));
    return sn_failure_raise(&failure);
}

/* The best of the starts replaces theta. */
static stonet_status run_all(const sn_stage_job *job, int count, float *theta, sn_race_report *report)
{
    const int64_t parameters = job->shape->parameters;
    runner *runners = NULL;
    float *thetas = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW(runners, count), done);
    SN_GOTO(status, SN_NEW(thetas, count * parameters), done);
    for (int k = 0; k < count; k++) runners[k].theta = thetas + k * parameters;
    SN_GOTO(status, run_side_by_side(job, count, runners), done);
    for (int k = 0; k < count; k++) {
        report->iterations += runners[k].iterations;
        report->starts++;
        if (k > 0 && !(runners[k].loss < report->loss)) continue;
        report->loss = runners[k].loss;
        memcpy(theta, runners[k].theta, (size_t)parameters * sizeof *theta);
    }
done:
    sn_free(runners);
    sn_free(thetas);
    return status;
}

/* What the starts of a race are trained with. */
typedef struct racing {
    sn_config config;
    sn_quiet_run quiet;
    sn_stage_job job;
} racing;

static void prepare_racing(const sn_stage_job *job, racing *r)
{
    r->config = *job->config;
    r->config.schedule.kind = SN_AVERAGED;
    r->config.weight_decay = r->config.auto_decay ? RACE_DECAY : fmin(r->config.weight_decay, RACE_DECAY);
    sn_quiet_run_init(&r->quiet, job->run);
    r->job = *job;
    r->job.config = &r->config;
    r->job.run = &r->quiet.run;
    r->job.history = NULL;
    if (!sn_train_shares(job)) r->job.team = NULL; /* every rank runs all starts, side by side */
}

stonet_status sn_race(const sn_stage_job *job, int starts, float *theta, sn_race_report *report)
{
    racing r;
    prepare_racing(job, &r);
    *report = (sn_race_report){.loss = (double)INFINITY};
    return run_all(&r.job, starts, theta, report);
}

stonet_status sn_race_start(const sn_stage_job *job, int number, float *theta, double *loss)
{
    racing r;
    runner one = {.theta = theta};
    prepare_racing(job, &r);
    SN_TRY(run_start(&r.job, number, &one));
    *loss = one.loss;
    return STONET_OK;
}
