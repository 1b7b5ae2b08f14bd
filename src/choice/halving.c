#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/work_queue.h"
#include "choice/choosing.h"

/* ---- progress ------------------------------------------------------------------------------------------ */

int sn_rung_folds(const sn_choosing *s, int rung)
{
    return sn_rung_most_folds(rung) < s->most_folds ? sn_rung_most_folds(rung) : s->most_folds;
}

/* Updates that a rung has at most. */
static double rung_work(const sn_choosing *s, int rung)
{
    const int lines = (s->count >> rung) > 0 ? s->count >> rung : 1; /* about half of those before */
    const int before = rung > 0 ? sn_rung_folds(s, rung - 1) : 0, folds = sn_rung_folds(s, rung);
    const double longer = (double)(sn_rung_updates(rung) - (rung > 0 ? sn_rung_updates(rung - 1) : 0));
    if (!s->lengths_open) return (double)(lines * (folds - before));
    return (double)lines * ((double)folds * longer +
                            (double)(folds - before) * (double)(sn_rung_updates(rung) - (int64_t)longer));
}

/* Only the first thread tells: the caller's function need not be ready for others. */
static void tell(const sn_choosing *s)
{
    double done;
#pragma omp atomic read
    done = s->done;
    const double least = s->n_alive > 0 ? s->all[s->alive[0]].score : (double)NAN;
    sn_progress(s->job->run, &(stonet_progress){.stage = "choosing settings",
                                                .done = (int64_t)fmin(done, s->total),
                                                .total = (int64_t)s->total,
                                                .loss = (double)NAN,
                                                .validation_loss = isfinite(least) ? least : (double)NAN,
                                                .seconds = sn_seconds() - s->started});
}

/* ---- legs side by side --------------------------------------------------------------------------------- */

typedef struct leg_set {
    sn_choosing *s;
    sn_leg *legs;
    const char *key;
} leg_set;

/* Updates of a leg that is done. */
static void add_work(sn_choosing *s, const sn_leg *leg)
{
    const int64_t before = leg->from > 0 ? sn_rung_updates(leg->from - 1) : 0;
    const double work = s->lengths_open ? (double)(sn_rung_updates(leg->lengths - 1) - before) : 1.0;
#pragma omp atomic
    s->done += work;
}

static stonet_status work_leg(void *user, int64_t k, sn_pack *record)
{
    const leg_set *set = user;
    sn_choosing *s = set->s;
    char key[SN_KEY_SIZE];
    snprintf(key, sizeof key, "%s/%lld.now", set->key, (long long)k);
    SN_TRY(sn_leg_run(s->job, &s->folds, &set->legs[k], record != NULL ? key : NULL));
    add_work(s, &set->legs[k]);
    if (omp_get_thread_num() == 0) tell(s);
    if (record == NULL || sn_should_stop(&s->quiet.run)) return STONET_OK;
    sn_checkpoint_drop(s->job->run->checkpoint, key);
    return sn_leg_pack(&s->folds, &set->legs[k], record);
}

static stonet_status take_leg(void *user, int64_t k, sn_unpack *record)
{
    const leg_set *set = user;
    add_work(set->s, &set->legs[k]);
    return sn_leg_unpack(set->s->job, &set->s->folds, &set->legs[k], record);
}

stonet_status sn_run_legs(sn_choosing *s, int rung, int folds, sn_leg *legs, int count)
{
    char key[SN_KEY_SIZE];
    if (count == 0)
        return STONET_OK; /* ranks must not meet over nothing: one may be at the next deal already */
    /* Threads without a leg wait at the end, where they help the others (engine/cpu.c). */
    const int threads = s->job->threads, outer = s->together ? 1 : threads;
    for (int k = 0; k < count; k++) {
        legs[k].threads = count < threads || s->together ? threads : 1;
        legs[k].team = s->together ? s->job->team : NULL;
        legs[k].run = &s->quiet.run;
        legs[k].from = legs[k].candidate->reached[legs[k].fold];
    }
    if (s->job->key != NULL) snprintf(key, sizeof key, "%s.rung%d.%d", s->job->key, rung, folds);
    leg_set set = {s, legs, s->job->key != NULL ? key : "rung"};
    return sn_work_queue_run(&(sn_work_set){.key = s->job->key != NULL ? key : NULL,
                                            .count = count,
                                            .team = s->job->team,
                                            .together = s->together,
                                            .work = work_leg,
                                            .take = take_leg,
                                            .user = &set},
                             outer, s->job->run);
}

/* ---- rungs --------------------------------------------------------------------------------------------- */

static bool is_network(const sn_line_training *c)
{
    return c->line.family == SN_FAMILY_NETWORK || c->line.family == SN_FAMILY_RELU;
}

/* Lengths that a line is to have after this rung; `trial`: on the few folds that come first. */
static int lengths_after(const sn_choosing *s, const sn_line_training *c, int rung, bool trial)
{
    if (!s->lengths_open) return 1;
    const int until = rung - (c->explores ? 2 : 1); /* the first rung on all folds, or the next */
    const bool patient = is_network(c) && (until < 0 || sn_rung_most_folds(until) < SN_FOLDS);
    const bool goes_on = c->gains || (trial && patient);
    return rung == 0 || goes_on ? rung + 1 : c->best + 1;
}

/* Which views a set of legs needs, fold by fold. */
typedef struct view_set {
    sn_choosing *s;
    bool needed[SN_MOST_LINES * SN_FOLDS];
} view_set;

static stonet_status make_view(const sn_choosing *s, sn_views *views, int fold)
{
    return sn_view_make(s->job, &s->known[fold], &s->folds, fold, views);
}

/* What these rows cannot be seen through (all of them are alike) is left unmade. */
static stonet_status try_view(void *user, int64_t k, sn_pack *record)
{
    (void)record;
    const view_set *set = user;
    if (!set->needed[k]) return STONET_OK;
    const stonet_status status = make_view(set->s, &set->s->views[k / SN_FOLDS], (int)(k % SN_FOLDS));
    return status == STONET_ERROR_DATA ? STONET_OK : status;
}

/* Makes what the legs see, every rank all of it. A line that sees nothing is out with its legs; it is an
   error where no other is left. */
static stonet_status make_views(sn_choosing *s, sn_leg *legs, int *count)
{
    view_set set = {.s = s};
    int unmade = 0;
    sn_leg first = {0};
    for (int k = 0; k < *count; k++) {
        const sn_views *views = legs[k].candidate->views;
        bool *needed = &set.needed[(views - s->views) * SN_FOLDS + legs[k].fold];
        if (!*needed && !views->fold[legs[k].fold].made && unmade++ == 0) first = legs[k];
        *needed = true;
    }
    if (unmade == 0) return STONET_OK;
    const int threads = unmade < s->job->threads ? unmade : s->job->threads;
    SN_TRY(sn_work_queue_run(&(sn_work_set){.count = (int64_t)s->n_views * SN_FOLDS,
                                            .threads_each = s->job->threads / threads,
                                            .work = try_view,
                                            .user = &set},
                             threads, s->job->run));
    for (int k = 0; k < *count; k++)
        if (!legs[k].candidate->views->fold[legs[k].fold].made)
            legs[k].candidate->diverged[legs[k].fold] = true;
    int kept = 0;
    for (int k = 0; k < *count; k++)
        if (!sn_line_diverged(legs[k].candidate)) legs[kept++] = legs[k];
    *count = kept;
    for (int a = 0; a < s->n_alive; a++)
        if (!sn_line_diverged(&s->all[s->alive[a]])) return STONET_OK;
    return make_view(s, first.candidate->views, first.fold);
}

/* The lines that are in the choice, on the first `folds` folds. */
static stonet_status train_on(sn_choosing *s, int rung, int folds, bool trial)
{
    int count = 0;
    SN_ZEROS(s->n_alive * SN_FOLDS, sn_leg, legs);
    for (int a = 0; a < s->n_alive; a++) {
        sn_line_training *c = &s->all[s->alive[a]];
        const int lengths = lengths_after(s, c, rung, trial);
        for (int l = 0; l < lengths; l++)
            if (c->cost[l].loss == NULL) SN_TRY(sn_held_out_create(&s->folds, &c->cost[l]));
        for (int k = 0; k < folds && !sn_line_diverged(c); k++)
            if (c->reached[k] < lengths)
                legs[count++] =
                    (sn_leg){.candidate = c, .fold = k, .lengths = lengths, .first = rung == 0 && a == 0};
    }
    SN_TRY(make_views(s, legs, &count));
    return sn_run_legs(s, rung, folds, legs, count);
}

/* Whether the length of this rung was better than length `before`, on the first `folds` folds. As large a
   gain on every later rung must also make the line better than the first line is now. */
static bool may_win(const sn_choosing *s, const sn_line_training *c, int rung, int before, int folds)
{
    const int64_t rows = sn_folds_rows(&s->folds, folds);
    int lead = 0; /* the best that did not diverge since; c itself did not */
    while (sn_line_diverged(&s->all[s->alive[lead]])) lead++;
    const sn_line_training *first = &s->all[s->alive[lead]];
    const double now = sn_mean_loss(c->cost[rung].loss, 0, rows);
    const double gain = sn_mean_loss(c->cost[before].loss, 0, rows) - now;
    const int to_come = s->most_rungs - 1 - rung;
    return gain > 0.0 && now - to_come * gain <= sn_mean_loss(first->cost[first->best].loss, 0, rows);
}

/* A longer training is tried on a few folds first, and goes on to the others if it gains there. */
static stonet_status train_rung(sn_choosing *s, int rung)
{
    const int folds = sn_rung_folds(s, rung), few = folds < SN_FEW_FOLDS ? folds : SN_FEW_FOLDS;
    if (rung > 0 && s->lengths_open) {
        SN_TRY(train_on(s, rung, few, true));
        if (sn_should_stop(s->job->run)) return STONET_OK;
        for (int a = 0; a < s->n_alive; a++) {
            sn_line_training *c = &s->all[s->alive[a]];
            c->gains = c->reached[0] > rung && !sn_line_diverged(c) && may_win(s, c, rung, c->best, few);
        }
    }
    return train_on(s, rung, folds, false);
}

/* The best length of a line, by the folds of the rung. */
static void score(sn_choosing *s, sn_line_training *c, int rung)
{
    const int folds = sn_rung_folds(s, rung), lengths = sn_common_lengths(c, folds);
    const int64_t rows = sn_folds_rows(&s->folds, folds);
    c->score = (double)INFINITY;
    for (int l = 0; l < lengths; l++) {
        const double mean = sn_mean_loss(c->cost[l].loss, 0, rows);
        if (!(mean < c->score)) continue;
        c->score = mean;
        c->best = l;
    }
}

/* Puts the lines that are in the choice into the order of their scores; equal ones stay as they are. */
void sn_sort_alive(sn_choosing *s)
{
    for (int a = 1; a < s->n_alive; a++)
        for (int b = a; b > 0 && s->all[s->alive[b]].score < s->all[s->alive[b - 1]].score; b--) {
            const int held = s->alive[b];
            s->alive[b] = s->alive[b - 1];
            s->alive[b - 1] = held;
        }
}

/* The network that fits its training rows best stays, and is trained further even if that does not gain: what
   is hard to find (two spirals, a product) shows late on other rows. Kernels and linear units have no such
   lines. */
static void choose_explorer(sn_choosing *s)
{
    sn_line_training *best = NULL;
    for (int a = 0; a < s->n_alive; a++) {
        sn_line_training *c = &s->all[s->alive[a]];
        c->explores = false;
        if (is_network(c) && !sn_line_diverged(c) && (best == NULL || c->fit[0] < best->fit[0])) best = c;
    }
    if (best != NULL) best->explores = true;
}

/* Leaves those that go on to the next rung, the better half of each family; views that nobody needs any more
 * go.
 */
static void drop(sn_choosing *s)
{
    int kept = 0, count[SN_FAMILIES] = {0}, passed[SN_FAMILIES] = {0};
    bool used[SN_MOST_LINES] = {false};
    choose_explorer(s);
    for (int a = 0; a < s->n_alive; a++) count[s->all[s->alive[a]].line.family]++;
    for (int a = 0; a < s->n_alive; a++) {
        sn_line_training *c = &s->all[s->alive[a]];
        const sn_family family = c->line.family;
        if (2 * passed[family]++ < count[family] || c->explores)
            s->alive[kept++] = s->alive[a];
        else
            sn_line_training_retire(c);
    }
    s->n_alive = kept;
    for (int a = 0; a < kept; a++) used[s->all[s->alive[a]].views - s->views] = true;
    for (int v = 0; v < s->n_views; v++)
        if (!used[v]) sn_views_free(s->job, &s->views[v]);
}

static bool is_over(const sn_choosing *s, int rung)
{
    if (sn_rung_folds(s, rung) > sn_rung_folds(s, rung - 1)) return false;
    for (int a = 0; a < s->n_alive; a++)
        if (lengths_after(s, &s->all[s->alive[a]], rung, true) > s->all[s->alive[a]].reached[0]) return false;
    return true;
}

stonet_status sn_climb(sn_choosing *s, int *last)
{
    tell(s);
    for (int rung = 0; rung < s->most_rungs; rung++) {
        if (rung > 0) drop(s);
        if (rung > 0 && is_over(s, rung)) continue;
        if (rung > 0 && sn_should_stop(s->job->run)) return STONET_OK;
        s->rung_end += rung_work(s, rung);
        SN_TRY(train_rung(s, rung));
        if (rung > 0 && sn_should_stop(s->job->run)) return STONET_OK; /* what was known before decides */
        for (int a = 0; a < s->n_alive; a++) {
            score(s, &s->all[s->alive[a]], rung);
            s->tried++;
        }
        sn_sort_alive(s);
        for (int a = 0; a < s->n_alive; a++) {
            sn_line_training *c = &s->all[s->alive[a]];
            c->gains = isfinite(c->score) && c->best == rung &&
                       (rung == 0 || may_win(s, c, rung, rung - 1, sn_rung_folds(s, rung)));
        }
        *last = rung;
        s->done = s->rung_end; /* lines that gain no more leave some undone */
        tell(s);
    }
    return STONET_OK;
}

/* ---- begin and end ------------------------------------------------------------------------------------- */

static sn_views *views_of(sn_choosing *s, const sn_front_recipe *recipe)
{
    for (int v = 0; v < s->n_views; v++)
        if (sn_front_recipe_same(&s->views[v].recipe, recipe)) return &s->views[v];
    s->views[s->n_views].recipe = *recipe;
    return &s->views[s->n_views++];
}

/* Everything before the first training: folds, one entry for each line, and the number of rungs. Rung r has
   sn_rung_updates(r) updates; rungs with more than SN_MOST_PASSES passes or SN_MOST_SEEN rows are left out.
   s->total is the work of all rungs, for the progress. */
static stonet_status prepare(sn_choosing *s, const sn_line *lines, int count, int most_folds)
{
    sn_shape shape;
    sn_config config;
    SN_TRY(sn_folds_make(s->job->problem, &s->job->rows, s->job->seed, &s->folds));
    s->most_folds = most_folds < s->folds.count ? most_folds : s->folds.count;
    for (int k = 0; k < s->most_folds; k++)
        SN_TRY(sn_folds_problem(&s->folds, k, s->job->problem, &s->known[k]));
    SN_TRY(SN_NEW(s->all, count));
    s->count = s->n_alive = count;
    for (int a = 0; a < count; a++) {
        s->all[a].line = lines[a];
        s->all[a].views = views_of(s, &lines[a].kind.front);
        s->all[a].score = (double)INFINITY;
        s->alive[a] = a;
    }
    const sn_net_kind plain = {.activation = SN_IDENTITY}; /* batch and engine are the same for all lines */
    SN_TRY(sn_line_config(s->job, &plain, s->job->problem, &shape, &config));
    s->lengths_open = config.auto_epochs;
    const int64_t batches = sn_train_batches(&config, s->job->rows.n), n = s->job->rows.n;
    s->most_rungs = 1;
    while (s->most_rungs < SN_RUNGS &&
           (!s->lengths_open || (sn_rung_updates(s->most_rungs) <= SN_MOST_PASSES * batches &&
                                 sn_rung_updates(s->most_rungs) / batches * n <= SN_MOST_SEEN)))
        s->most_rungs++;
    s->together =
        sn_train_shares(&(sn_stage_job){.rows = s->job->rows, .config = &config, .team = s->job->team});
    for (int rung = 0; rung < s->most_rungs; rung++) s->total += rung_work(s, rung);
    return STONET_OK;
}

stonet_status sn_choosing_begin(const sn_choice_job *job, const sn_line *lines, int count, int most_folds,
                                sn_choosing **out)
{
    SN_TRY(SN_NEW(*out, 1));
    (*out)->job = job;
    (*out)->started = sn_seconds();
    sn_quiet_run_init(&(*out)->quiet, job->run);
    return prepare(*out, lines, count, most_folds);
}

void sn_choosing_end(sn_choosing *s)
{
    if (s == NULL) return;
    for (int a = 0; a < s->count; a++) sn_line_training_free(&s->all[a]);
    for (int v = 0; v < s->n_views; v++) sn_views_free(s->job, &s->views[v]);
    sn_free(s->all);
    for (int k = 0; k < s->most_folds; k++) sn_folds_problem_free(s->job->problem, &s->known[k]);
    sn_folds_free(&s->folds);
    sn_free(s);
}
