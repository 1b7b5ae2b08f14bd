#include "stonet/start.h"

#include <math.h>
#include <string.h>

#include "base/failure.h"
#include "base/memory.h"
#include "base/workspace.h"

enum {
    SAMPLE = 512,       /* rows that units are scaled by */
    RACE_UPDATES = 300, /* of the starts that come to the end */
    HEATS = 3,
    MOST_JUDGED = 5000, /* rows */
    MORE_ROUNDS = 2
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

/* A start of a race. */
typedef struct runner {
    sn_stage_job job; /* with a seed of its own; the trainer looks at it */
    sn_trainer *trainer;
    double loss; /* over (some of) the rows, when it was last looked at */
    float *theta;
} runner;

typedef struct contest {
    const sn_stage_job *job;
    sn_rows judged; /* the rows that starts are compared on */
    int64_t until;  /* updates */
    int count;
    runner *runners;
    int *order; /* of the runners, best first */
} contest;

/* Whether ranks share out the rows: then all are at the same start. */
static bool shares_rows(const sn_stage_job *job)
{
    return sn_team_shares(job->team);
}

static stonet_status begin_runner(const sn_stage_job *job, int number, runner *r)
{
    r->job = *job;
    r->job.seed = sn_start_seed(job->seed, number);
    r->job.threads = shares_rows(job) ? job->threads : 1;
    SN_TRY(sn_start_weights(&r->job, r->theta));
    return sn_trainer_create(&r->job, r->theta, &r->trainer);
}

/* Trains a start as far as the race is and judges it by its own rows. */
static stonet_status run_start(const contest *race, runner *r)
{
    r->loss = (double)INFINITY;
    SN_TRY(sn_trainer_run(r->trainer, race->until));
    sn_trainer_parameters(r->trainer, r->theta);
    if (sn_trainer_report(r->trainer)->outcome == STONET_DIVERGED) return STONET_OK;
    sn_losses losses;
    SN_TRY(sn_engine_loss(r->job.config->engine, r->job.shape, r->theta,
                          &(sn_loss_job){r->job.problem, race->judged, r->job.threads, r->job.team},
                          &losses));
    if (isfinite(losses.loss)) r->loss = losses.loss;
    return STONET_OK;
}

/* On one thread without a parallel region, in which every thread of a region around it would be the first. */
static stonet_status run_side_by_side(const contest *race, int count)
{
    const sn_stage_job *job = race->job;
    sn_failure failure = {.status = STONET_OK};
    if (job->threads == 1 || shares_rows(job)) {
        for (int k = 0; k < count; k++)
            sn_failure_note(&failure, k, run_start(race, &race->runners[race->order[k]]));
        return sn_failure_raise(&failure);
    }
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
    for (int k = 0; k < count; k++)
        sn_failure_note(&failure, k, run_start(race, &race->runners[race->order[k]]));
    return sn_failure_raise(&failure);
}

/* The first `count` of the order by their losses; equal ones stay as they are. */
static void sort_runners(const contest *race, int count)
{
    int *order = race->order;
    for (int k = 1; k < count; k++) {
        const int moved = order[k];
        int at = k;
        for (; at > 0 && race->runners[moved].loss < race->runners[order[at - 1]].loss; at--)
            order[at] = order[at - 1];
        order[at] = moved;
    }
}

/* All for a third of the updates, the better half for another, the better half of these to the end. */
static stonet_status run_heats(contest *race)
{
    int left = race->count;
    for (int heat = 1; heat <= HEATS; heat++) {
        race->until = RACE_UPDATES * heat / HEATS;
        SN_TRY(run_side_by_side(race, left));
        sort_runners(race, left);
        left = (left + 1) / 2;
    }
    return STONET_OK;
}

/* Starts first .. first + count - 1; the best replaces theta if it is better than report->loss. */
static stonet_status run_round(const sn_stage_job *job, const sn_rows *judged, int first, int count,
                               float *theta, sn_race_report *report)
{
    const int64_t parameters = job->shape->parameters;
    contest race = {.job = job, .judged = *judged, .count = count};
    float *thetas = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW(race.runners, count), done);
    SN_GOTO(status, SN_NEW(race.order, count), done);
    SN_GOTO(status, SN_NEW(thetas, count * parameters), done);
    for (int k = 0; k < count; k++) {
        race.order[k] = k;
        race.runners[k].theta = thetas + k * parameters;
        SN_GOTO(status, begin_runner(job, first + k, &race.runners[k]), done);
    }
    SN_GOTO(status, run_heats(&race), done);
    const runner *best = &race.runners[race.order[0]];
    if (report->starts == 0 || best->loss < report->loss) {
        report->loss = best->loss;
        memcpy(theta, best->theta, (size_t)parameters * sizeof *theta);
    }
    report->starts += count;
    for (int k = 0; k < count; k++)
        report->iterations += sn_trainer_report(race.runners[k].trainer)->iterations;
done:
    for (int k = 0; race.runners != NULL && k < count; k++) sn_trainer_free(race.runners[k].trainer);
    sn_free(race.runners);
    sn_free(race.order);
    sn_free(thetas);
    return status;
}

/* Some of the rows, evenly: to compare starts by. */
static stonet_status rows_to_judge(const sn_rows *all, sn_workspace *keep, sn_rows *some)
{
    int64_t *list = NULL;
    *some = *all;
    if (all->n <= MOST_JUDGED) return STONET_OK;
    SN_TRY(SN_TAKE(keep, list, MOST_JUDGED));
    for (int64_t i = 0; i < MOST_JUDGED; i++)
        list[i] = sn_rows_at(all, (int64_t)((double)i / MOST_JUDGED * (double)all->n));
    *some = sn_rows_list(list, MOST_JUDGED);
    return STONET_OK;
}

stonet_status sn_race(const sn_stage_job *job, int starts, double enough_loss, float *theta,
                      sn_race_report *report)
{
    *report = (sn_race_report){.loss = (double)INFINITY};
    sn_config config = *job->config;
    config.schedule.kind = SN_AVERAGED;
    config.weight_decay = config.auto_decay ? RACE_DECAY : fmin(config.weight_decay, RACE_DECAY);
    sn_quiet_run quiet;
    sn_quiet_run_init(&quiet, job->run);
    sn_stage_job own = *job;
    own.config = &config;
    own.run = &quiet.run;
    own.history = NULL;
    if (!sn_train_shares(job)) own.team = NULL; /* every rank runs all starts, side by side */
    SN_WORKSPACE(scratch);
    sn_rows judged;
    SN_TRY(rows_to_judge(&job->rows, &scratch, &judged));
    for (int round = 0; round <= MORE_ROUNDS; round++) {
        SN_TRY(run_round(&own, &judged, round * starts, starts, theta, report));
        if (report->loss <= enough_loss || sn_should_stop(job->run)) break;
    }
    return STONET_OK;
}
