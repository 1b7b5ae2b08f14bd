#include "stonet/select.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/dealer.h"
#include "base/memory.h"
#include "stonet/kernel_point.h"
#include "stonet/linear.h"
#include "stonet/path.h"
#include "stonet/residuals.h"
#include "stonet/start.h"

static const double DECAYS[] = {0.0, 0.001, 0.003, 0.01, 0.03, 0.06, 0.12};
static const int64_t UPDATES[] = {300, 1000, 3000, 10000, 30000};
enum {
    N_DECAYS = sizeof DECAYS / sizeof *DECAYS,
    N_LENGTHS = sizeof UPDATES / sizeof *UPDATES,
    START_DECAY = 3,
    ALWAYS_ALLOWED = 2,   /* 3000 updates, however few the rows */
    MAX_EPOCHS = 400,     /* passes over small data ... */
    MAX_VISITS = 1300000, /* ... and rows looked at in all, over larger; */
    ENOUGH_EPOCHS = 30,   /* this many passes are allowed to any data */
    FIRST_FOLDS = 2,      /* a setting that is clearly behind after these is dropped */
    LEAST_FIRST_ROWS = 20,
    N_ACTIVATIONS = 2,
    MAX_POINTS = 4 /* scored side by side */
};

/* How much better a point must be to be moved to: so many standard errors of the differences on the held-out
   rows, and such a part of the loss (or of what is explained of it, if that is less). Three times the updates
   cost three times the time and must earn it; another activation is a leap, not a step. */
typedef struct margin {
    double errors, share;
} margin;
static const margin STEP = {0.5, 0.002}, LEAP = {1.0, 0.02};
static const double CLEARLY = 3.0; /* standard errors behind, to be dropped */
/* Of a constant's loss: a network that has more of it has found nothing. */
static const double ALMOST_ALL = 0.99;
static const double LINEAR_ERRORS = 0.5; /* standard errors by which a network must beat the linear model */
static const double KERNEL_ERRORS = 0.5; /* and by which kernel regression must beat the better of both */
/* A race is won when this part of the loss of a constant, or this much of what the linear model explains, is
   explained. */
static const double WON_SHARE = 0.02, WON_LINEAR = 0.25;

typedef struct point {
    int activation, decay, length; /* indices */
} point;

typedef struct searcher {
    const sn_stage_job *job;
    const sn_config *config;
    sn_holdout holdout;
    sn_baseline baseline;
    sn_kernel_point kernel;
    sn_quiet_run quiet;
    int activations;
    sn_shape shape[N_ACTIVATIONS]; /* the first is where the search starts */
    float *start[N_ACTIVATIONS][SN_MAX_FOLDS];
    sn_path *path[N_ACTIVATIONS][N_DECAYS];
    sn_held_out cost[N_ACTIVATIONS][N_DECAYS][N_LENGTHS];
    point at;
    int64_t tried, raced;
    int64_t done, under_way; /* updates of all folds: made, and of the points that are being scored */
    bool together;           /* the ranks of a team share out each training, not the trainings */
    int sets;                /* of folds that ran side by side, so far */
    double started;
} searcher;

static sn_held_out *cost_at(searcher *s, point at)
{
    return &s->cost[at.activation][at.decay][at.length];
}

static bool has_cost(searcher *s, point at)
{
    return cost_at(s, at)->loss != NULL;
}

static int64_t updates_for(const searcher *s, int length, int64_t n)
{
    if (s->config->auto_epochs && length < N_LENGTHS) return UPDATES[length];
    const double wanted = s->config->epochs * (double)sn_train_batches(s->config, n);
    return wanted < 1.0 ? 1 : (int64_t)llround(wanted);
}

/* Whether a point is worth a fit: on the grid, and within reason for the number of rows. */
static bool worth_trying(const searcher *s, point at)
{
    const int lengths = s->config->auto_epochs ? N_LENGTHS : 1;
    const int decays = s->config->auto_decay ? N_DECAYS : 1;
    if (at.decay < 0 || at.decay >= decays || at.length < 0 || at.length >= lengths) return false;
    if (at.length <= ALWAYS_ALLOWED) return true;
    const int64_t n = s->job->rows.n;
    const double epochs = (double)UPDATES[at.length] / (double)sn_train_batches(s->config, n);
    return epochs <= ENOUGH_EPOCHS || (epochs <= MAX_EPOCHS && epochs * (double)n <= MAX_VISITS);
}

/* The updates of a point beyond those of the length before, which it goes on from, in all folds. */
static int64_t work_of(const searcher *s, point at)
{
    const int64_t n = s->job->rows.n;
    const int64_t before = at.length > 0 ? updates_for(s, at.length - 1, n) : 0;
    return (updates_for(s, at.length, n) - before) * s->holdout.folds;
}

/* What is still to come if no point is better than the present one: the decays beside it, one length more,
   the other activation. It grows when one is. */
static int64_t work_ahead(searcher *s)
{
    const point at = s->at;
    const point ahead[] = {{at.activation, at.decay - 1, at.length},
                           {at.activation, at.decay + 1, at.length},
                           {at.activation, at.decay, at.length + 1},
                           {1 - at.activation, at.decay, at.length}};
    int64_t work = 0;
    for (int k = 0; k < 3 + (s->activations > 1); k++)
        if (worth_trying(s, ahead[k]) && !has_cost(s, ahead[k])) work += work_of(s, ahead[k]);
    return work;
}

/* How far the search is, in updates of the networks it tries. */
static void tell(searcher *s)
{
    int64_t done;
#pragma omp atomic read
    done = s->done;
    const bool scored = s->tried > 0;
    const stonet_progress progress = {.stage = "choosing settings",
                                      .done = done,
                                      .total = (done > s->under_way ? done : s->under_way) + work_ahead(s),
                                      .loss = (double)NAN,
                                      .validation_loss = scored ? cost_at(s, s->at)->mean : (double)NAN,
                                      .seconds = sn_seconds() - s->started};
    sn_progress(s->job->run, &progress);
}

/* ---- jobs side by side ------------------------------------------------------------------------------------
 */

/* How many of `jobs` run side by side, and on how many threads each: an engine that uses no threads has
   nothing else to do with them. */
static void share_threads(const searcher *s, int jobs, int *outer, int *inner)
{
    const bool alone = (s->config->engine->abilities & SN_ENGINE_THREADS) == 0;
    const bool apart =
        jobs > 1 && !s->together && s->job->threads > 1 && (alone || 2 * jobs > s->job->threads);
    *outer = apart ? s->job->threads : 1;
    *inner = apart ? 1 : s->job->threads;
}

typedef struct fold_job {
    point at;
    sn_path_piece piece;
} fold_job;

/* Folds of points that run side by side. */
typedef struct fold_set {
    searcher *s;
    fold_job *jobs;
    const char *key;
} fold_set;

static sn_path *path_of(const fold_set *set, int64_t k)
{
    const point at = set->jobs[k].at;
    return set->s->path[at.activation][at.decay];
}

/* Only the first thread tells: the caller's function need not be ready for others. */
static void count_fold(searcher *s, point at)
{
    const int64_t work = work_of(s, at) / s->holdout.folds;
#pragma omp atomic
    s->done += work;
    if (omp_get_thread_num() == 0) tell(s);
}

static stonet_status work_fold(void *user, int64_t k, sn_pack *record)
{
    const fold_set *set = user;
    sn_path_piece *piece = &set->jobs[k].piece;
    char key[SN_KEY_SIZE];
    snprintf(key, sizeof key, "%s/%lld.now", set->key, (long long)k);
    piece->key = record != NULL ? key : NULL;
    stonet_status status = sn_path_run(path_of(set, k), piece);
    piece->key = NULL;
    SN_TRY(status);
    count_fold(set->s, set->jobs[k].at);
    if (record == NULL || sn_should_stop(&set->s->quiet.run)) return STONET_OK;
    sn_checkpoint_drop(set->s->job->run->checkpoint, key);
    return sn_path_pack(path_of(set, k), piece, record);
}

static stonet_status take_fold(void *user, int64_t k, sn_unpack *record)
{
    const fold_set *set = user;
    const int64_t work = work_of(set->s, set->jobs[k].at) / set->s->holdout.folds;
#pragma omp atomic
    set->s->done += work;
    return sn_path_unpack(path_of(set, k), &set->jobs[k].piece, record);
}

static stonet_status run_folds(searcher *s, fold_job *jobs, int count)
{
    char key[SN_KEY_SIZE];
    int outer, inner;
    share_threads(s, count, &outer, &inner);
    for (int k = 0; k < count; k++) jobs[k].piece.threads = inner;
    if (s->job->key != NULL) snprintf(key, sizeof key, "%s.points%d", s->job->key, s->sets++);
    fold_set set = {s, jobs, key};
    return sn_deal_out(&(sn_deal){.key = s->job->key != NULL ? key : NULL,
                                  .count = count,
                                  .team = s->job->team,
                                  .together = s->together,
                                  .work = work_fold,
                                  .take = take_fold,
                                  .user = &set},
                       outer, s->job->run);
}

static stonet_status race_fold(searcher *s, int activation, int k)
{
    const sn_fold *fold = &s->holdout.fold[k];
    sn_stage_job job = *s->job;
    job.shape = &s->shape[activation];
    job.problem = fold->problem;
    job.rows = fold->train;
    job.threads = s->together ? s->job->threads : 1;
    job.team = s->together ? s->job->team : NULL;
    job.run = &s->quiet.run;
    const double constant = s->baseline.constant.mean, linear = s->baseline.linear.mean;
    const double wanted = fmax(WON_SHARE * constant, isnan(linear) ? 0.0 : WON_LINEAR * (constant - linear));
    sn_race_report report;
    /* Several folds make up for fewer starts: what some of them find, the fit on all rows is checked against.
     */
    const int starts = s->holdout.folds > 1 ? (s->config->restarts + 1) / 2 : s->config->restarts;
    return sn_race(&job, starts, constant - wanted, s->start[activation][k], &report);
}

static void tell_race(searcher *s, int64_t raced)
{
    sn_progress(s->job->run, &(stonet_progress){.stage = "trying starts",
                                                .done = raced,
                                                .total = (int64_t)s->activations * s->holdout.folds,
                                                .loss = (double)NAN,
                                                .validation_loss = (double)NAN,
                                                .seconds = sn_seconds() - s->started});
}

static void count_race(searcher *s)
{
    int64_t raced;
#pragma omp atomic capture
    raced = ++s->raced;
    if (omp_get_thread_num() == 0) tell_race(s, raced);
}

static stonet_status work_race(void *user, int64_t k, sn_pack *record)
{
    searcher *s = user;
    const int activation = (int)k / s->holdout.folds, fold = (int)k % s->holdout.folds;
    SN_TRY(race_fold(s, activation, fold));
    count_race(s);
    if (record == NULL || sn_should_stop(&s->quiet.run)) return STONET_OK;
    return sn_pack_bytes(record, s->start[activation][fold],
                         (size_t)s->shape[activation].parameters * sizeof(float));
}

static stonet_status take_race(void *user, int64_t k, sn_unpack *record)
{
    searcher *s = user;
    const int activation = (int)k / s->holdout.folds, fold = (int)k % s->holdout.folds;
    return sn_unpack_bytes(record, s->start[activation][fold],
                           (size_t)s->shape[activation].parameters * sizeof(float));
}

/* The starts of every activation and fold. */
static stonet_status race_all(searcher *s)
{
    const int folds = s->holdout.folds, count = s->activations * folds;
    char key[SN_KEY_SIZE];
    for (int k = 0; k < count; k++)
        SN_TRY(SN_NEW(s->start[k / folds][k % folds], s->shape[k / folds].parameters));
    if (s->job->key != NULL) snprintf(key, sizeof key, "%s.starts", s->job->key);
    return sn_deal_out(&(sn_deal){.key = s->job->key != NULL ? key : NULL,
                                  .count = count,
                                  .team = s->job->team,
                                  .together = s->together,
                                  .work = work_race,
                                  .take = take_race,
                                  .user = s},
                       s->together ? 1 : s->job->threads, s->job->run);
}

/* ---- scores -----------------------------------------------------------------------------------------------
 */

static stonet_status ready_point(searcher *s, point at)
{
    SN_TRY(SN_NEW(cost_at(s, at)->loss, s->holdout.rows));
    sn_path **path = &s->path[at.activation][at.decay];
    if (*path != NULL) return STONET_OK;
    sn_config config = *s->config;
    if (config.auto_decay) config.weight_decay = DECAYS[at.decay];
    sn_stage_job job = *s->job;
    job.run = &s->quiet.run;
    if (!s->together) job.team = NULL;
    return sn_path_create(&job, &s->shape[at.activation], &config, &s->holdout, s->start[at.activation],
                          path);
}

/* Whether a point is far behind the present one on the held-out rows of the first folds. */
static bool is_hopeless(searcher *s, point at)
{
    const int64_t rows = s->holdout.fold[FIRST_FOLDS].first;
    const sn_held_out *present = cost_at(s, s->at);
    if (present->loss == NULL || !isfinite(present->mean) || rows < LEAST_FIRST_ROWS) return false;
    const sn_difference d = sn_held_out_difference(cost_at(s, at), present, 0, rows);
    return d.mean > CLEARLY * d.se;
}

/* Takes in what the jobs of a point's folds found. */
static stonet_status finish_point(searcher *s, point at, const fold_job *jobs, int count)
{
    double errors = 0.0;
    bool diverged = false;
    for (int k = 0; k < count; k++) {
        errors += jobs[k].piece.errors;
        diverged = diverged || jobs[k].piece.diverged;
    }
    sn_held_out_finish(cost_at(s, at), &s->holdout, s->job->problem, errors);
    if (diverged || count < s->holdout.folds) cost_at(s, at)->mean = (double)INFINITY;
    s->tried++;
    s->under_way = s->done; /* a point that is dropped early leaves some undone */
    tell(s);
    return STONET_OK;
}

static fold_job job_of(searcher *s, point at, int fold)
{
    return (fold_job){.at = at,
                      .piece = {.fold = fold,
                                .updates = updates_for(s, at.length, s->holdout.fold[fold].train.n),
                                .loss = cost_at(s, at)->loss}};
}

/* The costs of some points that have none yet, all at once. */
static stonet_status score_points(searcher *s, const point *points, int count)
{
    const int folds = s->holdout.folds, first = folds > FIRST_FOLDS ? FIRST_FOLDS : folds;
    fold_job jobs[MAX_POINTS][SN_MAX_FOLDS], some[MAX_POINTS * SN_MAX_FOLDS];
    int done[MAX_POINTS] = {0}, to = first;
    s->under_way = s->done;
    for (int k = 0; k < count; k++) {
        s->under_way += work_of(s, points[k]);
        SN_TRY(ready_point(s, points[k]));
    }
    tell(s);
    for (int from = 0; from < folds; from = to, to = folds) {
        int n = 0;
        for (int k = 0; k < count; k++) {
            if (from > 0 && is_hopeless(s, points[k])) continue;
            for (int f = from; f < to; f++) some[n++] = job_of(s, points[k], f);
        }
        SN_TRY(run_folds(s, some, n));
        n = 0;
        for (int k = 0; k < count; k++) {
            if (from > 0 && is_hopeless(s, points[k])) continue;
            for (int f = from; f < to; f++) jobs[k][done[k]++] = some[n++];
        }
    }
    for (int k = 0; k < count; k++) SN_TRY(finish_point(s, points[k], jobs[k], done[k]));
    return STONET_OK;
}

/* ---- moves ------------------------------------------------------------------------------------------------
 */

/* Scores those of the points that are worth it and have no cost yet. */
static stonet_status consider(searcher *s, const point *points, int count)
{
    point fresh[MAX_POINTS];
    int n = 0;
    for (int k = 0; k < count; k++)
        if (worth_trying(s, points[k]) && !has_cost(s, points[k])) fresh[n++] = points[k];
    if (n == 0 || sn_should_stop(s->job->run)) return STONET_OK;
    return score_points(s, fresh, n);
}

static bool is_better(searcher *s, point to, margin by)
{
    if (!worth_trying(s, to) || !has_cost(s, to)) return false;
    const sn_held_out *now = cost_at(s, s->at), *then = cost_at(s, to);
    if (!isfinite(then->mean)) return false;
    if (!isfinite(now->mean)) return true;
    const sn_difference gain = sn_held_out_difference(now, then, 0, s->holdout.rows);
    const double explained = fmax(s->baseline.constant.mean - then->mean, 0.0);
    return gain.mean > by.errors * gain.se && gain.mean > by.share * fmin(now->mean, explained);
}

static bool move_if_better(searcher *s, point to, margin by)
{
    const bool better = is_better(s, to, by);
    if (better) s->at = to;
    return better;
}

/* Along the weight decays at the present length, both ways at first. */
static stonet_status climb_decays(searcher *s)
{
    if (!s->config->auto_decay) return STONET_OK;
    point both[2] = {s->at, s->at};
    both[0].decay--;
    both[1].decay++;
    SN_TRY(consider(s, both, 2));
    for (int way = -1; way <= 1; way += 2) {
        for (bool moved = true; moved;) {
            point to = s->at;
            to.decay += way;
            SN_TRY(consider(s, &to, 1));
            moved = move_if_better(s, to, STEP);
        }
    }
    return STONET_OK;
}

/* Whether the present point is clearly better than a constant guess. */
static bool found_something(searcher *s)
{
    const sn_held_out *now = cost_at(s, s->at);
    if (!isfinite(now->mean)) return false;
    const sn_difference gain = sn_held_out_difference(&s->baseline.constant, now, 0, s->holdout.rows);
    return gain.mean > 2.0 * gain.se;
}

/* Decays and lengths in turn, until neither helps. While nothing is found, lengths that any data is worth are
   tried whether the last one helped or not. */
static stonet_status climb(searcher *s)
{
    for (bool moved = true; moved && !sn_should_stop(s->job->run);) {
        SN_TRY(climb_decays(s));
        point longer = s->at;
        do {
            longer.length++;
            SN_TRY(consider(s, &longer, 1));
            moved = move_if_better(s, longer, LEAP);
        } while (!moved && worth_trying(s, longer) && longer.length < ALWAYS_ALLOWED && !found_something(s) &&
                 !sn_should_stop(s->job->run));
    }
    return STONET_OK;
}

static stonet_status search(searcher *s)
{
    s->at = (point){0, s->config->auto_decay ? START_DECAY : 0, 0};
    const point other = {1, s->at.decay, 0}, both[2] = {s->at, other};
    SN_TRY(score_points(s, both, s->activations));
    if (s->activations > 1) move_if_better(s, other, LEAP);
    SN_TRY(climb(s));
    if (s->activations == 1 || sn_should_stop(s->job->run)) return STONET_OK;
    point leap = s->at;
    leap.activation = 1 - leap.activation;
    SN_TRY(consider(s, &leap, 1));
    return move_if_better(s, leap, LEAP) ? climb(s) : STONET_OK;
}

/* ---- the outcome ------------------------------------------------------------------------------------------
 */

sn_estimate sn_estimate_of(const sn_held_out *cost, int64_t rows)
{
    if (cost->loss == NULL) return (sn_estimate){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    return (sn_estimate){.loss = cost->mean,
                         .loss_se = sn_held_out_error(cost, rows),
                         .error = cost->error_rate,
                         .error_se = sqrt(cost->error_rate * (1.0 - cost->error_rate) / (double)rows)};
}

/* Whether the networks do no better than a constant, at a weight decay or length that is not ours to change.
 */
static bool sent_to_0(searcher *s)
{
    return !s->config->auto_shape && cost_at(s, s->at)->mean > ALMOST_ALL * s->baseline.constant.mean;
}

/* The linear model is taken when it may be (nothing is set that it cannot have, or what is set leaves nothing
   else; and q holds it) and the best network is not better by more than half a standard error. */
static bool prefers_linear(searcher *s)
{
    const sn_held_out *linear = &s->baseline.linear, *now = cost_at(s, s->at);
    const sn_shape *shape = s->job->shape;
    if (!s->config->linear_may || !(s->config->auto_shape || sent_to_0(s)) || linear->loss == NULL ||
        !isfinite(linear->mean) || shape->width[shape->layers - 1] < sn_linear_rank(shape))
        return false;
    if (!isfinite(now->mean)) return false; /* a smaller step comes first */
    const sn_difference gain = sn_held_out_difference(linear, now, 0, s->holdout.rows);
    return gain.mean < LINEAR_ERRORS * gain.se;
}

/* Kernel regression, where it may be asked. */
static stonet_status find_kernel(searcher *s)
{
    if (!s->config->auto_front || s->job->wide != NULL || !sn_kernel_point_fits(s->job) ||
        sn_should_stop(s->job->run))
        return STONET_OK;
    sn_stage_job job = *s->job;
    job.run = &s->quiet.run;
    SN_TRY(sn_kernel_point_find(&job, &s->holdout, &s->kernel));
    s->tried += s->kernel.tried;
    return STONET_OK;
}

static bool prefers_kernel(searcher *s, const sn_held_out *chosen)
{
    const sn_held_out *kernel = &s->kernel.cost;
    if (kernel->loss == NULL || !isfinite(kernel->mean) || !isfinite(chosen->mean)) return false;
    const sn_difference gain = sn_held_out_difference(chosen, kernel, 0, s->holdout.rows);
    return gain.mean > KERNEL_ERRORS * gain.se;
}

/* Of the held-out fits of the chosen setting, the one with the lowest loss over all rows. */
static stonet_status take_best_fold(searcher *s, float *theta, int *fold, double *loss)
{
    const sn_path *path = s->path[s->at.activation][s->at.decay];
    double best = (double)INFINITY;
    for (int k = 0; k < s->holdout.folds; k++) {
        sn_losses losses;
        SN_TRY(sn_engine_loss(
            s->config->engine, &path->shape, path->theta[k],
            &(sn_loss_job){s->holdout.fold[k].problem, s->job->rows, s->job->threads, s->job->team},
            &losses));
        if (k > 0 && !(losses.loss < best)) continue;
        best = losses.loss;
        *fold = k;
        memcpy(theta, path->theta[k], (size_t)path->shape.parameters * sizeof *theta);
    }
    *loss = best;
    return STONET_OK;
}

static stonet_status settle(searcher *s, sn_shape *shape, sn_config *config, sn_selection *selection)
{
    const int64_t rows = s->holdout.rows;
    shape->activation = s->shape[s->at.activation].activation;
    if (config->auto_decay) config->weight_decay = DECAYS[s->at.decay];
    if (config->auto_epochs)
        config->epochs = (double)UPDATES[s->at.length] / (double)sn_train_batches(config, s->job->rows.n);
    selection->outcome = sn_should_stop(s->job->run) ? STONET_STOPPED : STONET_DONE;
    selection->take_linear = selection->outcome == STONET_DONE && prefers_linear(s);
    selection->sent_to_0 = selection->take_linear && sent_to_0(s);
    selection->penalty = s->baseline.penalty;
    const sn_held_out *chosen = selection->take_linear ? &s->baseline.linear : cost_at(s, s->at);
    if (selection->outcome == STONET_DONE && prefers_kernel(s, chosen)) {
        chosen = &s->kernel.cost;
        selection->take_linear = true;
        selection->penalty = s->kernel.penalty;
        selection->front = s->kernel.front;
        s->kernel.front = NULL;
    }
    selection->tried = s->tried;
    selection->held_out = rows;
    selection->constant = sn_estimate_of(&s->baseline.constant, rows);
    selection->linear = sn_estimate_of(&s->baseline.linear, rows);
    selection->chosen = sn_estimate_of(chosen, rows);
    if (selection->outcome != STONET_DONE || !isfinite(chosen->mean)) return STONET_OK;
    return sn_residuals_look(s->job->problem, &s->holdout, chosen->loss, &selection->residual_p);
}

static void searcher_free(searcher *s)
{
    for (int a = 0; a < N_ACTIVATIONS; a++) {
        for (int k = 0; k < SN_MAX_FOLDS; k++) sn_free(s->start[a][k]);
        for (int d = 0; d < N_DECAYS; d++) {
            sn_path_free(s->path[a][d]);
            for (int l = 0; l < N_LENGTHS; l++) sn_free(s->cost[a][d][l].loss);
        }
    }
    sn_kernel_point_free(&s->kernel);
    sn_baseline_free(&s->baseline);
    sn_holdout_free(&s->holdout);
}

stonet_status sn_select(const sn_stage_job *job, sn_shape *shape, sn_config *config, float *theta,
                        sn_selection *selection)
{
    const sn_estimate none = {(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    *selection = (sn_selection){.chosen = none,
                                .constant = none,
                                .linear = none,
                                .winner_loss = (double)NAN,
                                .residual_p = (double)NAN};
    if (!config->auto_decay && !config->auto_epochs) return STONET_OK;
    /* Missing cells drawn given the response move with a training: their choice of settings, of many
       trainings that are cut into pieces, is not kept and begins anew. */
    stonet_run unkept = job->run != NULL ? *job->run : (stonet_run)STONET_RUN_INIT;
    sn_stage_job anew = *job;
    unkept.checkpoint = NULL;
    anew.run = &unkept;
    searcher *s;
    SN_TRY(SN_NEW(s, 1));
    s->job = job->problem->joint ? &anew : job;
    s->config = config;
    s->started = sn_seconds();
    s->together = sn_train_shares(job);
    s->activations = config->auto_activation ? N_ACTIVATIONS : 1;
    s->shape[0] = s->shape[1] = *shape;
    s->shape[1].activation = shape->activation == SN_TANH ? SN_RELU : SN_TANH;
    sn_quiet_run_init(&s->quiet, s->job->run);
    stonet_status status;
    SN_GOTO(status, sn_holdout_make(s->job, &s->holdout), done);
    tell_race(s, 0);
    SN_GOTO(status, sn_baseline_measure(s->job, &s->holdout, &s->baseline), done);
    SN_GOTO(status, race_all(s), done);
    s->started = sn_seconds();
    SN_GOTO(status, search(s), done);
    SN_GOTO(status, find_kernel(s), done);
    int winner = 0;
    SN_GOTO(status, take_best_fold(s, theta, &winner, &selection->winner_loss), done);
    status = settle(s, shape, config, selection);
    if (selection->outcome == STONET_STOPPED) { /* theta is behind the front of its fold */
        selection->front = s->holdout.fold[winner].front;
        s->holdout.fold[winner].front = NULL;
    }
done:
    if (status != STONET_OK) {
        sn_front_free(selection->front);
        selection->front = NULL;
    }
    searcher_free(s);
    sn_free(s);
    return status;
}
