#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/team_sums.h"
#include "front/front_gradient.h"
#include "stonet/dynamics.h"
#include "stonet/joint.h"
#include "stonet/latent.h"
#include "stonet/output_layer.h"
#include "stonet/train_state.h"

/* A mini-batch loss this many times the first epoch's, and above the level of guessing, is an explosion. */
static const double EXPLOSION = 20.0;
/* Updates of the mean alone, before the spread of what it leaves is learned: well below the least length at
   which the choice compares networks, for it would not know which of them can see the spread. */
enum { MEAN_ALONE = 30 };

/* After averaging, the full-data stage goes on with this part of the step: full steps would put back the
   noise that the average took out. */
static const double AFTER_AVERAGE = 0.1;

enum {
    PROGRESS_EVERY = 32, /* mini-batches */
    QUEUE = 32,          /* iterations handed to an engine at once, if it accepts several */
    AVERAGED = 64        /* iterates that an average is made of, about */
};

typedef struct sn_trainer trainer;

/* What an iteration in the queue points to. */
typedef struct planned {
    sn_dynamics dynamics;
    sn_update update;
    sn_shards shards;
} planned;

/* Iterations handed to an engine at once. */
typedef struct sn_queue {
    planned plan[QUEUE];
    sn_iteration iteration[QUEUE];
    sn_step_report report[QUEUE];
    int64_t *rows; /* of all of them */
    int64_t room;  /* for each */
} queue;

/* Checks the step against the present weights; done once an epoch, as weights move slowly. */
stonet_status sn_trainer_refresh(trainer *t)
{
    double factor;
    t->dynamics = t->full;
    SN_TRY(sn_dynamics_safeguard(t->job->shape, t->good, &t->dynamics, &factor));
    if (factor < t->at.report.smallest_step) t->at.report.smallest_step = factor;
    return STONET_OK;
}

static bool exploded(const trainer *t, double loss)
{
    const double guessing = t->job->shape->task == SN_CLASSIFICATION
                                ? log((double)t->job->shape->width[t->job->shape->layers])
                                : 0.5 * (double)t->job->shape->width[t->job->shape->layers];
    return !(loss <= EXPLOSION * fmax(t->at.first_loss, guessing));
}

/* Whether the sums of several ranks are to be joined; a batch of one shard is computed by each. */
static bool reduces(const trainer *t, const sn_shards *shards)
{
    return sn_team_shares(t->job->team) && shards->total > 1;
}

/* The next iteration, with what it points to in `plan`. */
static sn_iteration next_iteration(trainer *t, const sn_rows *rows, const sn_shards *shards, double factor,
                                   planned *plan)
{
    plan->dynamics = t->dynamics;
    plan->dynamics.spread = t->at.iteration < MEAN_ALONE ? 0.0 : 1.0;
    plan->shards = *shards;
    sn_update_from(t->job->config, t->job->shape, &t->full, t->job->rows.n, factor, &plan->update);
    return (sn_iteration){.rows = *rows,
                          .shards = &plan->shards,
                          .number = (uint32_t)t->at.iteration++,
                          .draw = (uint32_t)t->at.draw,
                          .moving = t->joint != NULL || t->learning != NULL || t->latent != NULL,
                          .dynamics = &plan->dynamics,
                          .update = &plan->update};
}

/* Sets the outcome to STONET_DIVERGED when an iteration went wrong. */
static void account(trainer *t, const sn_step_report *step)
{
    t->at.report.iterations++;
    if (step->finite && !exploded(t, step->loss)) return;
    t->at.report.outcome = STONET_DIVERGED;
    if (t->learning != NULL) sn_learning_restore(t->learning);
}

/* One iteration. */
static stonet_status iterate(trainer *t, const sn_rows *rows, const sn_shards *shards, double factor,
                             double *loss)
{
    planned plan;
    const sn_iteration it = next_iteration(t, rows, shards, factor, &plan);
    const bool learns =
        t->learning != NULL && t->at.is_full == 0; /* the last stage leaves the front as it is */
    sn_step_report step;
    if (t->latent != NULL) SN_TRY(sn_latent_draw(t->latent, t->engine, t->job->shape, &t->job->rows, &it));
    if (learns) SN_TRY(sn_learning_look(t->learning, t->engine, &it));
    SN_TRY(sn_engine_iterate(t->engine, &it, reduces(t, shards) ? &t->reduce : NULL, &t->sums, &step));
    if (learns) sn_learning_step(t->learning, it.update);
    *loss = step.loss;
    account(t, &step);
    return STONET_OK;
}

static void tell(const trainer *t, const char *stage, int64_t done, int64_t total, double loss)
{
    sn_progress_of(t->job->run, stage, done, total, loss, t->started);
}

static stonet_status remember(trainer *t, const char *stage, int64_t epoch, double loss, double factor)
{
    t->at.report.loss = loss;
    if (t->job->history == NULL) return STONET_OK;
    const sn_epoch_row row = {
        .stage = stage, .epoch = epoch, .loss = loss, .lr = factor * t->job->config->lr};
    return sn_epoch_log_add(t->job->history, &row);
}

static bool averages(const trainer *t)
{
    return t->job->config->schedule.kind == SN_AVERAGED;
}

/* Begins the average over the last half of the iterations up to `until`. */
static void begin_average(trainer *t, int64_t until)
{
    sn_train_numbers *at = &t->at;
    at->from = until / 2 > at->iteration ? until / 2 : at->iteration;
    at->every = (until - at->from) / AVERAGED > 1 ? (until - at->from) / AVERAGED : 1;
    at->count = 0;
    for (int64_t j = 0; j < t->job->shape->parameters; j++) t->sum[j] = 0.0;
}

static void take_into_average(trainer *t)
{
    const int64_t past = t->at.iteration - t->at.from;
    if (past <= 0 || past % t->at.every != 0) return;
    t->engine->ops->get_parameters(t->engine, t->iterate);
    for (int64_t j = 0; j < t->job->shape->parameters; j++) t->sum[j] += (double)t->iterate[j];
    t->at.count++;
}

/* How many iterations from batch b on can be queued before the parameters are needed. */
static int queue_length(const trainer *t, int64_t b, int64_t until)
{
    int64_t most = t->queue != NULL ? QUEUE : 1;
    if (most > t->batches.count - b) most = t->batches.count - b;
    if (most > until - t->at.iteration) most = until - t->at.iteration;
    if (averages(t)) {
        const int64_t past = t->at.iteration - t->at.from;
        const int64_t next = past < 0 ? t->at.every - past : t->at.every - past % t->at.every;
        if (most > next) most = next;
    }
    return (int)most;
}

/* The factor of the step in iteration k = 1, 2, .. */
static double factor_of(const trainer *t, int64_t k)
{
    return sn_schedule_factor(&t->job->config->schedule, k, t->total);
}

static void count_loss(trainer *t, double loss, int64_t rows)
{
    t->at.epoch_loss += loss * (double)rows;
    t->at.epoch_rows += rows;
}

/* Of the rows of the epoch so far. */
static double mean_loss(const trainer *t)
{
    return t->at.epoch_loss / (double)t->at.epoch_rows;
}

/* Draws batches b, b + 1, .. and runs them at once. */
static stonet_status run_queue(trainer *t, int64_t b, int count)
{
    queue *q = t->queue;
    for (int k = 0; k < count; k++) {
        const sn_rows drawn = sn_batches_draw(&t->batches, b + k);
        int64_t *rows = q->rows + k * q->room;
        memcpy(rows, drawn.list, (size_t)drawn.n * sizeof *rows);
        const sn_rows batch = sn_rows_list(rows, drawn.n);
        q->iteration[k] =
            next_iteration(t, &batch, &t->batches.shards, factor_of(t, t->at.iteration + 1), &q->plan[k]);
    }
    SN_TRY(t->engine->ops->steps(t->engine, q->iteration, count, q->report));
    for (int k = 0; k < count && t->at.report.outcome == STONET_DONE; k++) {
        account(t, &q->report[k]);
        count_loss(t, q->report[k].loss, q->iteration[k].rows.n);
    }
    return STONET_OK;
}

/* Batch b alone, where the engine takes no more. */
static stonet_status run_batch(trainer *t, int64_t b)
{
    const sn_rows batch = sn_batches_draw(&t->batches, b);
    double loss = 0.0;
    SN_TRY(iterate(t, &batch, &t->batches.shards, factor_of(t, t->at.iteration + 1), &loss));
    count_loss(t, loss, t->batches.whole);
    return STONET_OK;
}

/* Iterations of one epoch, from where training stands until it ends or `until` is reached. */
static stonet_status run_epoch(trainer *t, int64_t until)
{
    const int64_t batches = t->batches.count, epoch = t->at.iteration / batches;
    sn_batches_shuffle(&t->batches, (uint32_t)epoch);
    t->at.draw = epoch + 1;
    bool stops = false;
    for (int64_t b = t->at.iteration % batches; b < batches && t->at.iteration < until && !stops;) {
        const int count = queue_length(t, b, until);
        SN_TRY(t->queue != NULL ? run_queue(t, b, count) : run_batch(t, b));
        if (t->at.report.outcome == STONET_DIVERGED) return STONET_OK;
        if (averages(t)) take_into_average(t);
        if ((b + PROGRESS_EVERY - 1) / PROGRESS_EVERY * PROGRESS_EVERY < b + count)
            tell(t, "training", t->at.iteration, t->total, mean_loss(t));
        b += count;
        stops = sn_should_stop(t->job->run);
        if (b < batches && t->at.iteration < until) SN_TRY(sn_trainer_keep(t, stops));
    }
    if (epoch == 0) t->at.first_loss = mean_loss(t);
    SN_TRY(remember(t, "training", epoch + 1, mean_loss(t), factor_of(t, t->at.iteration)));
    const bool ended = t->at.iteration % batches == 0 || t->at.iteration >= until;
    if (ended) SN_TRY(sn_trainer_keep(t, stops)); /* else it was, before the row */
    if (stops) t->at.report.outcome = STONET_STOPPED;
    return STONET_OK;
}

/* What a pass over all rows begins with: the parameters so far are good, and the step is checked against
   them. Missing cells move, but in the first one (0), for which there is no loss of a pass before. */
static stonet_status begin_pass(trainer *t, double loss, int64_t number)
{
    t->engine->ops->get_parameters(t->engine, t->good);
    SN_TRY(sn_trainer_refresh(t));
    if (t->joint == NULL || number == 0) return STONET_OK;
    return sn_joint_move(t->joint, t->job->shape, t->good, loss, (uint32_t)number, t->job->threads);
}

stonet_status sn_trainer_run(sn_trainer *t, int64_t until)
{
    if (averages(t) && t->at.until != until) begin_average(t, until);
    t->at.until = until;
    while (t->at.iteration < until && t->at.report.outcome == STONET_DONE) {
        if (t->at.iteration % t->batches.count == 0) {
            if (t->learning != NULL) sn_learning_mark(t->learning);
            SN_TRY(begin_pass(t, mean_loss(t), t->at.iteration / t->batches.count));
            t->at.epoch_loss = 0.0;
            t->at.epoch_rows = 0;
        }
        SN_TRY(run_epoch(t, until));
    }
    return STONET_OK;
}

const sn_train_report *sn_trainer_report(const sn_trainer *t)
{
    return &t->at.report;
}

void sn_trainer_parameters(const sn_trainer *t, float *theta)
{
    const int64_t count = t->job->shape->parameters;
    if (t->at.report.outcome == STONET_DIVERGED)
        memcpy(theta, t->good, (size_t)count * sizeof *theta);
    else if (averages(t) && t->at.count > 0)
        for (int64_t j = 0; j < count; j++) theta[j] = (float)(t->sum[j] / (double)t->at.count);
    else
        t->engine->ops->get_parameters(t->engine, theta);
}

/* Full-data iterations; latent and parameter steps both fall by the SDR schedule from where training ended.
 */
static stonet_status sdr_stage(trainer *t)
{
    const sn_config *config = t->job->config;
    const double end_factor = t->at.full_factor;
    sn_shards shards;
    const sn_rows rows = sn_team_rows(t->job->team, &t->job->rows, &shards);
    for (int64_t k = t->at.full_done + 1; k <= config->sdr_iterations && t->at.report.outcome == STONET_DONE;
         k++) {
        SN_TRY(begin_pass(t, t->at.report.loss, k > 1 ? t->at.draw : 0));
        const double factor = sn_schedule_factor(&config->sdr_schedule, k, config->sdr_iterations);
        for (int i = 0; i + 1 < t->job->shape->layers; i++) {
            t->dynamics.epsilon[i] *= factor;
            t->dynamics.alpha[i] *= factor;
        }
        double loss = 0.0;
        t->at.draw++;
        SN_TRY(iterate(t, &rows, &shards, factor * end_factor, &loss));
        if (t->at.report.outcome == STONET_DIVERGED) break;
        tell(t, "full-data stage", k, config->sdr_iterations, loss);
        SN_TRY(remember(t, "sdr", k, loss, factor * end_factor));
        t->at.full_done = k;
        const bool stops = sn_should_stop(t->job->run);
        SN_TRY(sn_trainer_keep(t, stops));
        if (stops) t->at.report.outcome = STONET_STOPPED;
    }
    return STONET_OK;
}

void sn_trainer_free(sn_trainer *t)
{
    if (t == NULL) return;
    sn_engine_free(t->engine);
    sn_joint_free(t->joint);
    sn_latent_free(t->latent);
    sn_learning_free(t->learning);
    sn_batches_clear(&t->batches);
    sn_sums_clear(&t->sums);
    if (t->queue != NULL) sn_free(t->queue->rows);
    SN_FREE_ALL(t->queue, t->good, t->sum, t->iterate, t);
}

/* Of a batch. */
static int64_t most_rows(const trainer *t)
{
    return t->job->rows.n / t->batches.count + (int64_t)2 * SN_MAX_SHARDS;
}

/* Room for a queue, if the engine takes one and the iterations are its own. */
static stonet_status prepare_queue(trainer *t)
{
    if (t->job->config->engine->steps == NULL || reduces(t, &t->batches.shards) || t->job->learns != NULL ||
        t->job->problem->law != NULL)
        return STONET_OK;
    SN_TRY(SN_NEW(t->queue, 1));
    t->queue->room = most_rows(t);
    return SN_NEW_RAW(t->queue->rows, QUEUE * t->queue->room);
}

/* Each problem wraps the one before: rows, rows with drawn cells (joint), latent values of a law (latent).
   The engine sees the last. What is made here belongs to the trainer, also after a failure. */
static stonet_status prepare(trainer *t, const float *theta)
{
    const sn_stage_job *job = t->job;
    const int64_t parameters = job->shape->parameters;
    sn_dynamics_from(job->config, job->shape, &t->full);
    SN_TRY(prepare_queue(t));
    SN_TRY(SN_NEW(t->good, parameters));
    t->sums = sn_sums_empty(parameters, !job->config->engine->in_double);
    if (averages(t)) {
        SN_TRY(SN_NEW(t->sum, parameters));
        SN_TRY(SN_NEW(t->iterate, parameters));
    }
    if (job->problem->joint && job->problem->source != NULL)
        SN_TRY(sn_joint_create(job->problem, &job->rows, job->seed, &t->joint));
    const sn_problem *problem = t->joint != NULL ? sn_joint_problem(t->joint) : job->problem;
    if (problem->law != NULL) {
        SN_TRY(sn_latent_create(problem, most_rows(t), job->seed, &t->latent));
        problem = sn_latent_problem(t->latent);
    }
    SN_TRY(job->config->engine->create(job->shape, problem, job->seed, job->threads, &t->engine));
    if (job->learns != NULL)
        SN_TRY(sn_learning_create(job->learns, job->raw, job->problem, job->shape, most_rows(t), job->threads,
                                  &t->learning));
    t->engine->ops->start(t->engine, theta);
    memcpy(t->good, theta, (size_t)parameters * sizeof *theta);
    return STONET_OK;
}

stonet_status sn_stage_batches(const sn_stage_job *job, int64_t size, sn_batches *out)
{
    int first, count;
    SN_TRY(sn_batches_create(&job->rows, size, job->seed, out));
    SN_TRY(sn_batches_window(out, job->problem, &sn_windowing_usual));
    out->threads = job->threads;
    sn_team_shards(job->team, out->shards.total, &first, &count);
    sn_batches_share(out, first, count);
    return STONET_OK;
}

int64_t sn_train_batches(const sn_config *config, int64_t n)
{
    return sn_batches_count(n, config->batch);
}

bool sn_train_shares(const sn_stage_job *job)
{
    const int64_t n = job->rows.n;
    return sn_team_shares(job->team) && sn_shard_count(n / sn_train_batches(job->config, n)) > 1;
}

stonet_status sn_trainer_create(const sn_stage_job *job, const float *theta, sn_trainer **out)
{
    SN_AUTO(sn_trainer) *t = NULL;
    SN_TRY(SN_NEW(t, 1));
    t->job = job;
    t->at.parameters = job->shape->parameters;
    t->at.report = (sn_train_report){.outcome = STONET_DONE, .smallest_step = 1.0, .loss = (double)NAN};
    t->started = sn_seconds();
    const double wanted = job->config->epochs * (double)sn_train_batches(job->config, job->rows.n);
    t->total = wanted < 1.0 ? 1 : (int64_t)llround(wanted);
    t->reduce = (sn_reduce){.join = sn_team_join_sums, .user = job->team};
    SN_TRY(sn_stage_batches(job, job->config->batch, &t->batches));
    SN_TRY(prepare(t, theta));
    return SN_GIVE(t, out);
}

/* Both stages, from where the trainer stands. The second begins with what the first has reached. */
static stonet_status run_stages(trainer *t, float *theta)
{
    if (t->at.is_full == 0) {
        SN_TRY(sn_trainer_run(t, t->total));
        sn_trainer_parameters(t, theta);
        if (t->learning != NULL) SN_TRY(sn_front_refill(t->job->learns, t->job->raw, t->job->problem));
        if (t->at.report.outcome != STONET_DONE || t->job->config->sdr_iterations == 0) return STONET_OK;
        t->at.is_full = 1;
        t->at.full_factor =
            averages(t) ? AFTER_AVERAGE
                        : sn_schedule_factor(&t->job->config->schedule, t->at.iteration, t->at.iteration);
        if (averages(t)) t->engine->ops->start(t->engine, theta);
        t->at.count = 0;
    }
    SN_TRY(sdr_stage(t));
    sn_trainer_parameters(t, theta);
    return STONET_OK;
}

stonet_status sn_train_stages(const sn_stage_job *training, float *theta, sn_train_report *report)
{
    SN_AUTO(sn_trainer) *t = NULL;
    SN_TRY(sn_trainer_create(training, theta, &t));
    SN_TRY(sn_trainer_keep_at(t, training->key));
    SN_TRY(run_stages(t, theta));
    *report = t->at.report;
    if (training->config->refit_output)
        SN_TRY(sn_refit_output(t->engine, training->shape, training->problem, &training->rows, training->team,
                               training->run, theta));
    if (report->outcome != STONET_STOPPED) sn_trainer_drop(t);
    return STONET_OK;
}
