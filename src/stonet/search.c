#include "stonet/search.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/dealer.h"
#include "base/memory.h"
#include "base/pace.h"
#include "stonet/races.h"

const double sn_search_decays[SN_SEARCH_DECAYS] = {0.0, 0.001, 0.003, 0.01, 0.03, 0.06, 0.12};
const int64_t sn_search_updates[SN_SEARCH_LENGTHS] = {300, 1000, 3000, 10000, 30000};
enum {
    ALWAYS_ALLOWED = 2,   /* 3000 updates, however few the rows */
    MAX_EPOCHS = 400,     /* passes over small data ... */
    MAX_VISITS = 1300000, /* ... and rows looked at in all, over larger; */
    ENOUGH_EPOCHS = 30,   /* this many passes are allowed to any data */
    FIRST_FOLDS = 2,      /* a setting that is behind after these is dropped */
    LEAST_FIRST_ROWS = 20
};

/* Standard errors and part of the loss that are too much to be made up by more updates, and standard errors
   that are too much if the part grows with them. (On pumadyn32nm decay .001 is behind .003 by 8, 8 and 3 %
   after 300, 1,000 and 3,000 updates, and ahead by 6 % after 10,000; decay .01 by 4, 50, 59 and 57 %.) */
static const double FAR_ERRORS = 3.0, FAR_SHARE = 0.15, BEHIND_ERRORS = 1.0;

typedef sn_searcher searcher;
typedef sn_point point;

static int64_t updates_for(const searcher *s, int length, int64_t n)
{
    if (s->config->auto_epochs && length < SN_SEARCH_LENGTHS) return sn_search_updates[length];
    const double wanted = s->config->epochs * (double)sn_train_batches(s->config, n);
    return wanted < 1.0 ? 1 : (int64_t)llround(wanted);
}

bool sn_worth_trying(const searcher *s, point at)
{
    const int lengths = s->config->auto_epochs ? SN_SEARCH_LENGTHS : 1;
    const int decays = s->config->auto_decay ? SN_SEARCH_DECAYS : 1;
    if (at.decay < 0 || at.decay >= decays || at.length < 0 || at.length >= lengths) return false;
    if (at.length <= ALWAYS_ALLOWED) return true;
    const int64_t n = s->job->rows.n;
    const double epochs = (double)sn_search_updates[at.length] / (double)sn_train_batches(s->config, n);
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
        if (sn_worth_trying(s, ahead[k]) && !sn_has_cost(s, ahead[k])) work += work_of(s, ahead[k]);
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
                                      .validation_loss = scored ? sn_cost_at(s, s->at)->mean : (double)NAN,
                                      .seconds = sn_seconds() - s->started};
    sn_progress(s->job->run, &progress);
}

/* ---- jobs side by side ------------------------------------------------------------------------------- */

/* How many of `jobs` run side by side, and on how many threads each. Threads that share out a batch wait for
   each other: as many jobs as half of those that it keeps busy are done sooner side by side. */
static void share_threads(const searcher *s, int jobs, int *outer, int *inner)
{
    const int64_t n = s->job->rows.n, rows = s->config->batch < n ? s->config->batch : n;
    const double work = (double)rows * sn_engine_row_cost(&s->shape[0], s->config->sweeps);
    const bool alone = (s->config->engine->abilities & SN_ENGINE_THREADS) == 0;
    const int busy = alone ? 1 : sn_pace_worth(work, s->job->threads);
    const bool apart = jobs > 1 && !s->together && s->job->threads > 1 && 2 * jobs > busy;
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

/* ---- scores ------------------------------------------------------------------------------------------ */

static stonet_status run_folds(searcher *s, fold_job *jobs, int count)
{
    char key[SN_KEY_SIZE];
    int outer, inner;
    sn_fold_of folds[SN_SEARCH_POINTS * SN_MAX_FOLDS];
    for (int k = 0; k < count; k++)
        folds[k] = (sn_fold_of){.activation = jobs[k].at.activation, .fold = jobs[k].piece.fold};
    SN_TRY(sn_races_run(s, folds, count));
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

static stonet_status ready_point(searcher *s, point at)
{
    SN_TRY(SN_NEW(sn_cost_at(s, at)->loss, s->holdout.rows));
    sn_path **path = &s->path[at.activation][at.decay];
    if (*path != NULL) return sn_path_make_room(*path, at.length);
    sn_config config = *s->config;
    if (config.auto_decay) config.weight_decay = sn_search_decays[at.decay];
    sn_stage_job job = *s->job;
    job.run = &s->quiet.run;
    if (!s->together) job.team = NULL;
    SN_TRY(
        sn_path_create(&job, &s->shape[at.activation], &config, &s->holdout, s->start[at.activation], path));
    return sn_path_make_room(*path, at.length);
}

/* Takes in what the jobs of a point's folds found. */
static void finish_point(searcher *s, point at, const fold_job *jobs, int count)
{
    double errors = 0.0;
    bool diverged = false;
    for (int k = 0; k < count; k++) {
        errors += jobs[k].piece.errors;
        diverged = diverged || jobs[k].piece.diverged;
    }
    sn_held_out_finish(sn_cost_at(s, at), &s->holdout, s->job->problem, errors);
    if (diverged || count < s->holdout.folds) sn_cost_at(s, at)->mean = (double)INFINITY;
    s->scored[at.activation][at.decay][at.length] = diverged                   ? 0
                                                    : count < s->holdout.folds ? s->holdout.fold[count].first
                                                                               : s->holdout.rows;
    s->tried++;
    s->under_way = s->done; /* a point that is dropped early leaves some undone */
    tell(s);
}

static fold_job job_of(searcher *s, point at, int fold)
{
    return (fold_job){.at = at,
                      .piece = {.fold = fold,
                                .length = at.length,
                                .updates = updates_for(s, at.length, s->holdout.fold[fold].train.n),
                                .loss = sn_cost_at(s, at)->loss}};
}

/* Of `count` points, which are to be dropped after the first folds. */
typedef void drop_rule(searcher *s, const point *points, int count, sn_lead by, bool *drop);

/* Those that are behind the present point there. */
static void drop_hopeless(searcher *s, const point *points, int count, sn_lead by, bool *drop)
{
    const int64_t rows = s->holdout.fold[FIRST_FOLDS].first;
    const sn_held_out *present = sn_cost_at(s, s->at);
    if (present->loss == NULL || !isfinite(present->mean) || rows < LEAST_FIRST_ROWS) return;
    for (int k = 0; k < count; k++) {
        const sn_difference d = sn_held_out_difference(sn_cost_at(s, points[k]), present, 0, rows);
        drop[k] = d.mean > by.hopeless * d.se;
    }
}

static double mean_loss(const sn_held_out *cost, int64_t rows)
{
    double sum = 0.0;
    for (int64_t i = 0; i < rows; i++) sum += cost->loss[i];
    return sum / (double)rows;
}

/* Whether the losses of the first rows are lower by a margin. */
static bool is_lower(const searcher *s, const sn_held_out *then, const sn_held_out *now, sn_lead by,
                     int64_t rows)
{
    const sn_difference gain = sn_held_out_difference(now, then, 0, rows);
    const double explained = fmax(s->baseline.constant.mean - mean_loss(then, rows), 0.0);
    return gain.mean > by.errors * gain.se && gain.mean > by.share * fmin(mean_loss(now, rows), explained);
}

/* The second, unless it is better, or the first. */
static void drop_one(searcher *s, const point *points, int count, sn_lead by, bool *drop)
{
    const int64_t rows = s->holdout.fold[FIRST_FOLDS].first;
    if (count < 2 || rows < LEAST_FIRST_ROWS) return;
    drop[is_lower(s, sn_cost_at(s, points[1]), sn_cost_at(s, points[0]), by, rows) ? 0 : 1] = true;
}

/* The costs of some points that have none yet, all at once. */
static stonet_status score_points(searcher *s, const point *points, int count, drop_rule *rule, sn_lead by)
{
    const int folds = s->holdout.folds, first = folds > FIRST_FOLDS ? FIRST_FOLDS : folds;
    fold_job jobs[SN_SEARCH_POINTS][SN_MAX_FOLDS], some[SN_SEARCH_POINTS * SN_MAX_FOLDS];
    int done[SN_SEARCH_POINTS] = {0}, to = first;
    bool drop[SN_SEARCH_POINTS] = {false};
    s->under_way = s->done;
    for (int k = 0; k < count; k++) {
        s->under_way += work_of(s, points[k]);
        SN_TRY(ready_point(s, points[k]));
    }
    tell(s);
    for (int from = 0; from < folds; from = to, to = folds) {
        int n = 0;
        if (from > 0) rule(s, points, count, by, drop);
        for (int k = 0; k < count; k++)
            for (int f = from; f < to && !drop[k]; f++) some[n++] = job_of(s, points[k], f);
        SN_TRY(run_folds(s, some, n));
        n = 0;
        for (int k = 0; k < count; k++)
            for (int f = from; f < to && !drop[k]; f++) jobs[k][done[k]++] = some[n++];
    }
    for (int k = 0; k < count; k++) finish_point(s, points[k], jobs[k], done[k]);
    return STONET_OK;
}

stonet_status sn_consider(searcher *s, const point *points, int count, sn_lead by)
{
    point fresh[SN_SEARCH_POINTS];
    int n = 0;
    for (int k = 0; k < count; k++)
        if (sn_worth_trying(s, points[k]) && !sn_has_cost(s, points[k])) fresh[n++] = points[k];
    if (n == 0 || sn_should_stop(s->job->run)) return STONET_OK;
    return score_points(s, fresh, n, drop_hopeless, by);
}

stonet_status sn_consider_both(searcher *s, sn_lead by)
{
    const point both[SN_SEARCH_ACTIVATIONS] = {s->at, {1, s->at.decay, s->at.length}};
    return score_points(s, both, s->activations, drop_one, by);
}

/* ---- comparisons ------------------------------------------------------------------------------------- */

bool sn_is_better(searcher *s, point to, sn_lead by)
{
    if (!sn_worth_trying(s, to) || !sn_has_cost(s, to)) return false;
    const sn_held_out *now = sn_cost_at(s, s->at), *then = sn_cost_at(s, to);
    if (!isfinite(then->mean)) return false;
    return !isfinite(now->mean) || is_lower(s, then, now, by, s->holdout.rows);
}

/* How far a point is behind another, on the rows that both were scored on. */
typedef struct lag {
    double errors, share; /* standard errors; of the loss, or of what is explained of it, if that is less */
} lag;

/* False when too few rows say so. */
static bool lag_of(searcher *s, point at, point than, lag *out)
{
    const int64_t a = s->scored[at.activation][at.decay][at.length],
                  b = s->scored[than.activation][than.decay][than.length], rows = a < b ? a : b;
    if (rows < LEAST_FIRST_ROWS) return false;
    const sn_difference d = sn_held_out_difference(sn_cost_at(s, at), sn_cost_at(s, than), 0, rows);
    const double loss = mean_loss(sn_cost_at(s, than), rows);
    const double of = fmax(fmin(loss, s->baseline.constant.mean - loss), DBL_MIN);
    *out = (lag){.errors = d.se > 0.0 ? d.mean / d.se : 0.0, .share = d.mean / of};
    return true;
}

bool sn_falls_behind(searcher *s, point to)
{
    lag last = {0};
    bool known = false;
    for (int length = to.length - 1; length >= 0; length--) {
        point then = to, now = s->at;
        lag before;
        then.length = now.length = length;
        if (!lag_of(s, then, now, &before)) continue;
        if (known) return last.share > before.share;
        if (before.errors > FAR_ERRORS && before.share > FAR_SHARE) return true;
        if (before.errors < BEHIND_ERRORS) return false;
        last = before;
        known = true;
    }
    return false;
}

/* ---- beginning and end ------------------------------------------------------------------------------- */

stonet_status sn_search_begin(const sn_stage_job *job, const sn_shape *shape, const sn_config *config,
                              searcher *s)
{
    *s = (searcher){.job = job,
                    .config = config,
                    .started = sn_seconds(),
                    .together = sn_train_shares(job),
                    .activations = config->auto_activation ? SN_SEARCH_ACTIVATIONS : 1,
                    .shape = {*shape, *shape}};
    s->shape[1].activation = shape->activation == SN_TANH ? SN_RELU : SN_TANH;
    sn_quiet_run_init(&s->quiet, job->run);
    SN_TRY(sn_holdout_make(job, &s->holdout));
    sn_races_tell(s, s->activations * (s->holdout.folds > FIRST_FOLDS ? FIRST_FOLDS : s->holdout.folds));
    return sn_baseline_measure(job, &s->holdout, &s->baseline);
}

void sn_search_free(searcher *s)
{
    for (int a = 0; a < SN_SEARCH_ACTIVATIONS; a++) {
        for (int k = 0; k < SN_MAX_FOLDS; k++) sn_free(s->start[a][k]);
        for (int d = 0; d < SN_SEARCH_DECAYS; d++) {
            sn_path_free(s->path[a][d]);
            for (int l = 0; l < SN_SEARCH_LENGTHS; l++) sn_free(s->cost[a][d][l].loss);
        }
    }
    sn_kernel_point_free(&s->kernel);
    sn_blend_point_free(&s->blend);
    sn_baseline_free(&s->baseline);
    sn_holdout_free(&s->holdout);
}
