#include "choice/halving.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/work_queue.h"
#include "base/workspace.h"
#include "choice/beside.h"
#include "choice/residuals.h"

enum { PARTS = SN_FOLDS }; /* of the rows of a single fold, for the estimate */

typedef struct choosing {
    const sn_choice_job *job;
    sn_folds folds;
    int most_folds, most_rungs; /* that are used */
    sn_views views[SN_MOST_LINES];
    int n_views;
    sn_contender *all; /* every line, */
    int count;
    int alive[SN_MOST_LINES]; /* and the places of those that go on, the best first */
    int n_alive;
    bool lengths_open, together; /* together: ranks share out every batch */
    sn_quiet_run quiet;
    int64_t tried;
    double done, rung_end, total, started; /* updates */
} choosing;

/* ---- progress --------------------------------------------------------------------------------------------
 */

static int rung_folds(const choosing *s, int rung)
{
    return sn_rungs[rung].folds < s->most_folds ? sn_rungs[rung].folds : s->most_folds;
}

/* Updates that a rung has at most. */
static double rung_work(const choosing *s, int rung)
{
    const int lines = (s->count >> rung) > 0 ? s->count >> rung : 1; /* about half of those before */
    const int before = rung > 0 ? rung_folds(s, rung - 1) : 0, folds = rung_folds(s, rung);
    const double longer = (double)(sn_rungs[rung].updates - (rung > 0 ? sn_rungs[rung - 1].updates : 0));
    if (!s->lengths_open) return (double)(lines * (folds - before));
    return (double)lines * ((double)folds * longer +
                            (double)(folds - before) * (double)(sn_rungs[rung].updates - (int64_t)longer));
}

/* Only the first thread tells: the caller's function need not be ready for others. */
static void tell(const choosing *s)
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

/* ---- legs side by side -----------------------------------------------------------------------------------
 */

typedef struct leg_set {
    choosing *s;
    sn_leg *legs;
    int *from; /* lengths that each had before */
    const char *key;
} leg_set;

static double leg_work(const choosing *s, const leg_set *set, int64_t k)
{
    const sn_leg *leg = &set->legs[k];
    if (!s->lengths_open) return 1.0;
    return (double)(sn_rungs[leg->lengths - 1].updates -
                    (set->from[k] > 0 ? sn_rungs[set->from[k] - 1].updates : 0));
}

static stonet_status work_leg(void *user, int64_t k, sn_pack *record)
{
    const leg_set *set = user;
    choosing *s = set->s;
    char key[SN_KEY_SIZE];
    snprintf(key, sizeof key, "%s/%lld.now", set->key, (long long)k);
    SN_TRY(sn_leg_run(s->job, &s->folds, &set->legs[k], record != NULL ? key : NULL));
    const double work = leg_work(s, set, k);
#pragma omp atomic
    s->done += work;
    if (omp_get_thread_num() == 0) tell(s);
    if (record == NULL || sn_should_stop(&s->quiet.run)) return STONET_OK;
    sn_checkpoint_drop(s->job->run->checkpoint, key);
    return sn_leg_pack(&s->folds, &set->legs[k], set->from[k], record);
}

static stonet_status take_leg(void *user, int64_t k, sn_unpack *record)
{
    const leg_set *set = user;
    const double work = leg_work(set->s, set, k);
#pragma omp atomic
    set->s->done += work;
    return sn_leg_unpack(set->s->job, &set->s->folds, &set->legs[k], set->from[k], record);
}

static stonet_status run_legs(choosing *s, int rung, int folds, sn_leg *legs, int *from, int count)
{
    char key[SN_KEY_SIZE];
    if (count == 0)
        return STONET_OK; /* ranks must not meet over nothing: one may be at the next deal already */
    const int threads = s->job->threads;
    const int outer = s->together || count < 1 ? 1 : count < threads ? count : threads;
    for (int k = 0; k < count; k++) {
        legs[k].threads = threads / outer + (k < threads % outer ? 1 : 0);
        legs[k].team = s->together ? s->job->team : NULL;
        legs[k].run = &s->quiet.run;
        from[k] = legs[k].contender->reached[legs[k].fold];
    }
    if (s->job->key != NULL) snprintf(key, sizeof key, "%s.rung%d.%d", s->job->key, rung, folds);
    leg_set set = {s, legs, from, s->job->key != NULL ? key : "rung"};
    return sn_deal_out(&(sn_deal){.key = s->job->key != NULL ? key : NULL,
                                  .count = count,
                                  .team = s->job->team,
                                  .together = s->together,
                                  .work = work_leg,
                                  .take = take_leg,
                                  .user = &set},
                       outer, s->job->run);
}

/* ---- rungs -----------------------------------------------------------------------------------------------
 */

static bool is_network(const sn_contender *c)
{
    return c->line.family == SN_FAMILY_NETWORK || c->line.family == SN_FAMILY_RELU;
}

/* Lengths that a line is to have after this rung; `trial`: on the few folds that come first. */
static int lengths_after(const choosing *s, const sn_contender *c, int rung, bool trial)
{
    if (!s->lengths_open) return 1;
    const bool patient = is_network(c) && rung < SN_PATIENT_RUNGS + (c->explores ? 1 : 0);
    const bool goes_on = c->gains || (trial && patient);
    return rung == 0 || goes_on ? rung + 1 : c->best + 1;
}

/* Views that a set of legs needs and that are not made yet. */
typedef struct view_set {
    choosing *s;
    sn_views *views[SN_MOST_LINES * SN_FOLDS];
    int fold[SN_MOST_LINES * SN_FOLDS], count;
} view_set;

static void need_view(view_set *set, sn_views *views, int fold)
{
    if (views->fold[fold].problem != NULL) return;
    for (int k = 0; k < set->count; k++)
        if (set->views[k] == views && set->fold[k] == fold) return;
    set->views[set->count] = views;
    set->fold[set->count++] = fold;
}

/* What these rows cannot be seen through (all of them are alike) is left unmade. */
static stonet_status make_view(void *user, int64_t k, sn_pack *record)
{
    (void)record;
    const view_set *set = user;
    const stonet_status status = sn_view_make(set->s->job, &set->s->folds, set->fold[k], set->views[k]);
    return status == STONET_ERROR_DATA ? STONET_OK : status;
}

/* Makes what the legs see, every rank all of it. A line that sees nothing is out with its legs; it is an
   error where no other is left. */
static stonet_status make_views(choosing *s, sn_leg *legs, int *count)
{
    SN_WORKSPACE(scratch);
    view_set *set = NULL;
    SN_TRY(SN_TAKE_ZERO(&scratch, set, 1));
    set->s = s;
    for (int k = 0; k < *count; k++) need_view(set, legs[k].contender->views, legs[k].fold);
    const int side_by_side = set->count < s->job->threads ? set->count : s->job->threads;
    SN_TRY(sn_deal_out(&(sn_deal){.count = set->count, .work = make_view, .user = set}, side_by_side,
                       s->job->run));
    for (int k = 0; k < *count; k++)
        if (legs[k].contender->views->fold[legs[k].fold].problem == NULL) legs[k].contender->diverged = true;
    int kept = 0;
    for (int k = 0; k < *count; k++)
        if (!legs[k].contender->diverged) legs[kept++] = legs[k];
    *count = kept;
    for (int a = 0; a < s->n_alive; a++)
        if (!s->all[s->alive[a]].diverged) return STONET_OK;
    return set->count > 0 ? sn_view_make(s->job, &s->folds, set->fold[0], set->views[0]) : STONET_OK;
}

/* The lines that are in the choice, on the first `folds` folds. */
static stonet_status train_on(choosing *s, int rung, int folds, bool trial)
{
    SN_WORKSPACE(scratch);
    sn_leg *legs = NULL;
    int *from = NULL, count = 0;
    SN_TRY(SN_TAKE_ZERO(&scratch, legs, s->n_alive * SN_FOLDS));
    SN_TRY(SN_TAKE_ZERO(&scratch, from, s->n_alive * SN_FOLDS));
    for (int a = 0; a < s->n_alive; a++) {
        sn_contender *c = &s->all[s->alive[a]];
        const int lengths = lengths_after(s, c, rung, trial);
        for (int l = 0; l < lengths; l++)
            if (c->cost[l].loss == NULL) SN_TRY(sn_held_out_create(&s->folds, &c->cost[l]));
        for (int k = 0; k < folds && !c->diverged; k++)
            if (c->reached[k] < lengths)
                legs[count++] =
                    (sn_leg){.contender = c, .fold = k, .lengths = lengths, .first = rung == 0 && a == 0};
    }
    SN_TRY(make_views(s, legs, &count));
    return run_legs(s, rung, folds, legs, from, count);
}

/* Whether the last length was better than the best before it, on the folds that have it. */
static bool still_gains(const choosing *s, const sn_contender *c, int rung, int folds)
{
    const int64_t rows = sn_folds_rows(&s->folds, folds);
    return !c->diverged &&
           sn_mean_loss(c->cost[rung].loss, 0, rows) < sn_mean_loss(c->cost[c->best].loss, 0, rows);
}

/* A longer training is tried on a few folds first, and goes on to the others if it gains there. */
static stonet_status train_rung(choosing *s, int rung)
{
    const int folds = rung_folds(s, rung), few = folds < SN_FEW_FOLDS ? folds : SN_FEW_FOLDS;
    if (rung > 0 && s->lengths_open) {
        SN_TRY(train_on(s, rung, few, true));
        if (sn_should_stop(s->job->run)) return STONET_OK;
        for (int a = 0; a < s->n_alive; a++) {
            sn_contender *c = &s->all[s->alive[a]];
            c->gains = c->reached[0] > rung && still_gains(s, c, rung, few);
        }
    }
    return train_on(s, rung, folds, false);
}

/* The best length of a line, by the folds of the rung. */
static void score(choosing *s, sn_contender *c, int rung)
{
    const int folds = rung_folds(s, rung);
    const int64_t rows = sn_folds_rows(&s->folds, folds);
    int lengths = SN_RUNGS;
    for (int k = 0; k < folds; k++)
        if (c->reached[k] < lengths) lengths = c->reached[k];
    c->score = (double)INFINITY;
    for (int l = 0; l < lengths && !c->diverged; l++) {
        const double mean = sn_mean_loss(c->cost[l].loss, 0, rows);
        if (!(mean < c->score)) continue;
        c->score = mean;
        c->best = l;
    }
    c->gains = isfinite(c->score) && c->best == rung;
}

/* Puts the lines that are in the choice into the order of their scores; equal ones stay as they are. */
static void sort_alive(choosing *s)
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
static void choose_explorer(choosing *s)
{
    sn_contender *best = NULL;
    for (int a = 0; a < s->n_alive; a++) {
        sn_contender *c = &s->all[s->alive[a]];
        c->explores = false;
        if (is_network(c) && !c->diverged && (best == NULL || c->fit[0] < best->fit[0])) best = c;
    }
    if (best != NULL) best->explores = true;
}

/* Leaves those that go on to the next rung, the better half of each family; views that nobody needs any more
 * go.
 */
static void drop(choosing *s)
{
    int kept = 0, count[SN_FAMILIES] = {0}, passed[SN_FAMILIES] = {0};
    bool used[SN_MOST_LINES] = {false};
    choose_explorer(s);
    for (int a = 0; a < s->n_alive; a++) count[s->all[s->alive[a]].line.family]++;
    for (int a = 0; a < s->n_alive; a++) {
        sn_contender *c = &s->all[s->alive[a]];
        const sn_family family = c->line.family;
        if (2 * passed[family]++ < count[family] || c->explores)
            s->alive[kept++] = s->alive[a];
        else
            sn_contender_retire(c);
    }
    s->n_alive = kept;
    for (int a = 0; a < kept; a++) used[s->all[s->alive[a]].views - s->views] = true;
    for (int v = 0; v < s->n_views; v++)
        if (!used[v]) sn_views_free(s->job, &s->views[v]);
}

static bool is_over(const choosing *s, int rung)
{
    if (rung_folds(s, rung) > rung_folds(s, rung - 1)) return false;
    for (int a = 0; a < s->n_alive; a++)
        if (lengths_after(s, &s->all[s->alive[a]], rung, true) > s->all[s->alive[a]].reached[0]) return false;
    return true;
}

static stonet_status climb(choosing *s, int *last)
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
        sort_alive(s);
        *last = rung;
        s->done = s->rung_end; /* lines that gain no more leave some undone */
        tell(s);
    }
    return STONET_OK;
}

/* ---- the estimate ----------------------------------------------------------------------------------------
 */

/* The part that a held-out row belongs to: its fold, or of a single fold one of five. */
static int part_of(const sn_folds *folds, int used, int64_t row)
{
    if (used == 1) return (int)(row % PARTS);
    int k = 0;
    while (k + 1 < used && row >= folds->fold[k + 1].first) k++;
    return k;
}

/* Lengths that a line was measured at on all of these folds. */
static int common_lengths(const sn_contender *c, int folds)
{
    int lengths = c->diverged ? 0 : SN_RUNGS;
    for (int k = 0; k < folds; k++)
        if (c->reached[k] < lengths) lengths = c->reached[k];
    return lengths;
}

/* The losses of each part by what is best on the others. */
static void measure_by_parts(const choosing *s, int folds, int64_t rows, sn_held_out *out)
{
    const int parts = folds == 1 ? PARTS : folds;
    double best[PARTS];
    for (int j = 0; j < parts; j++) best[j] = (double)INFINITY;
    for (int a = 0; a < s->count; a++)
        for (int l = 0; l < common_lengths(&s->all[a], folds); l++) {
            const sn_held_out *cost = &s->all[a].cost[l];
            double sum[PARTS] = {0.0}, total = 0.0;
            for (int64_t i = 0; i < rows; i++) sum[part_of(&s->folds, folds, i)] += cost->loss[i];
            for (int j = 0; j < parts; j++) total += sum[j];
            for (int j = 0; j < parts; j++) {
                if (!(total - sum[j] < best[j])) continue;
                best[j] = total - sum[j];
                for (int64_t i = 0; i < rows; i++) {
                    if (part_of(&s->folds, folds, i) != j) continue;
                    out->loss[i] = cost->loss[i];
                    out->wrong[i] = cost->wrong[i];
                }
            }
        }
}

static stonet_status choose_inside(const choosing *s, int fold, int rungs, const sn_line *lines, int *line,
                                   int *length);

/* The losses of each fold by what a choice among its training rows alone finds best. */
static stonet_status measure_nested(choosing *s, const sn_line *lines, const sn_contender *winner,
                                    sn_held_out *out)
{
    const int rungs = winner->best + 2 < SN_RUNGS ? winner->best + 2 : SN_RUNGS;
    for (int k = 0; k < s->folds.count && !sn_should_stop(s->job->run); k++) {
        const sn_fold *fold = &s->folds.fold[k];
        int line = 0, length = 0, from;
        SN_TRY(choose_inside(s, k, rungs, lines, &line, &length));
        sn_contender *c = &s->all[line];
        for (int l = 0; l <= length; l++)
            if (c->cost[l].loss == NULL) SN_TRY(sn_held_out_create(&s->folds, &c->cost[l]));
        sn_leg leg = {.contender = c, .fold = k, .lengths = length + 1};
        if (c->reached[k] <= length) {
            SN_TRY(sn_view_make(s->job, &s->folds, k, c->views));
            SN_TRY(run_legs(s, SN_RUNGS + k, k, &leg, &from, 1));
        }
        if (c->reached[k] <= length) { /* it diverged with these rows, which a fit would see and mend */
            c = &s->all[winner - s->all];
            length = winner->best;
        }
        const size_t bytes = (size_t)fold->test.n * sizeof(double);
        memcpy(out->loss + fold->first, c->cost[length].loss + fold->first, bytes);
        memcpy(out->wrong + fold->first, c->cost[length].wrong + fold->first, bytes);
    }
    return STONET_OK;
}

/* Fills in the estimates; `lines` is the table. *nothing: the choice is not better than a constant guess. */
static stonet_status estimate(choosing *s, int rung, const sn_line *lines, const sn_contender *winner,
                              sn_choice *out, bool *nothing)
{
    const int folds = rung_folds(s, rung);
    const int64_t rows = sn_folds_rows(&s->folds, folds);
    const sn_task task = s->job->problem->task;
    sn_folds used = s->folds;
    sn_beside beside = {0};
    sn_held_out honest;
    used.count = folds;
    used.rows = rows;
    stonet_status status;
    SN_GOTO(status, sn_held_out_create(&used, &honest), done);
    SN_GOTO(status, sn_beside_measure(s->job->problem, &used, &winner->shape[0], s->job->run, &beside), done);
    SN_GOTO(status,
            sn_residuals_look(s->job->problem, &used, winner->cost[winner->best].loss, &out->residual_p),
            done);
    measure_by_parts(s, folds, rows, &honest);
    out->gain = sn_loss_difference(beside.constant.loss, honest.loss, rows);
    *nothing = out->gain.mean < SN_SOME_GAIN * out->gain.se;
    if (folds == SN_FOLDS && out->gain.mean < SN_CLEAR_GAIN * out->gain.se) {
        SN_GOTO(status, measure_nested(s, lines, winner, &honest), done);
        out->gain = sn_loss_difference(beside.constant.loss, honest.loss, rows);
    }
    /* In a wide table a gain below one standard error is what columns and components of noise give. */
    const bool is_picked = winner->line.kind.front.kind == SN_FRONT_COLUMNS ||
                           winner->line.kind.front.kind == SN_FRONT_COMPONENTS;
    *nothing = *nothing && out->gain.mean < (is_picked ? out->gain.se : 0.0);
    out->chosen = sn_estimate_of(&honest, rows, task);
    out->constant = sn_estimate_of(&beside.constant, rows, task);
    out->linear = sn_estimate_of(&beside.linear, rows, task);
    out->held_out = rows;
done:
    sn_beside_free(&beside);
    sn_held_out_free(&honest);
    return status;
}

/* Where Z has fewer columns than the effect needs, the networks of the folds go on with q units as the one on
   all rows will, and the estimate moves by what that costs. */
static stonet_status allow_for_narrowing(const choosing *s, int rung, const sn_contender *winner,
                                         sn_choice *out)
{
    const int64_t outputs = s->job->problem->outputs;
    const bool is_classes = s->job->problem->task == SN_CLASSIFICATION;
    const int64_t rank = is_classes ? outputs - 1 : outputs;
    const int folds = rung_folds(s, rung);
    const int64_t rows = sn_folds_rows(&s->folds, folds);
    const sn_held_out *wide = &winner->cost[winner->best];
    sn_held_out narrow;
    if (s->job->q >= rank || s->job->q >= s->job->units) return STONET_OK;
    stonet_status status = sn_held_out_create(&s->folds, &narrow);
    for (int k = 0; k < folds && status == STONET_OK && !sn_should_stop(s->job->run); k++)
        status = sn_fold_narrowed(s->job, &s->folds, winner, k, &narrow);
    if (status == STONET_OK && !sn_should_stop(s->job->run)) {
        out->chosen.loss += sn_mean_loss(narrow.loss, 0, rows) - sn_mean_loss(wide->loss, 0, rows);
        if (is_classes)
            out->chosen.error += sn_mean_loss(narrow.wrong, 0, rows) - sn_mean_loss(wide->wrong, 0, rows);
    }
    sn_held_out_free(&narrow);
    return status;
}

/* A choice that is no better than a constant guess, on rows that had no say in it, has found nothing: the
   line with the strongest weight decay is taken, which is all but constant, at the least length. */
static int strongest_line(const choosing *s)
{
    int strongest = 0;
    for (int a = 1; a < s->count; a++)
        if (s->all[a].line.kind.weight_decay >= s->all[strongest].line.kind.weight_decay) strongest = a;
    return strongest;
}

/* ---- what was chosen -------------------------------------------------------------------------------------
 */

/* Of the winner's networks, the one with the least loss over all rows. */
static stonet_status find_network(const choosing *s, const sn_contender *c, sn_choice *out)
{
    int best = -1;
    for (int k = 0; k < s->folds.count; k++) {
        sn_losses losses;
        if (c->reached[k] <= c->best) continue;
        SN_TRY(sn_view_make(s->job, &s->folds, k, c->views)); /* of a line that was dropped it is gone */
        SN_TRY(sn_engine_loss(c->config[k].engine, &c->shape[k], c->theta[c->best][k],
                              &(sn_loss_job){c->job[k].problem, s->job->rows, s->job->threads, s->job->team},
                              &losses));
        if (best >= 0 && !(losses.loss < out->loss)) continue;
        best = k;
        out->loss = losses.loss;
    }
    out->fold = best;
    out->shape = c->shape[best];
    SN_TRY(SN_NEW_RAW(out->theta, out->shape.parameters));
    memcpy(out->theta, c->theta[c->best][best], (size_t)out->shape.parameters * sizeof *out->theta);
    sn_view *view = &c->views->fold[best];
    out->front = view->front;
    if (view->front != NULL) sn_front_problem_free(s->job->problem, &view->seen);
    sn_keep_clear(&view->keep);
    *view = (sn_view){0};
    return STONET_OK;
}

/* All lines that were measured on these folds, the best first. */
static void rank_measured(choosing *s, int folds)
{
    s->n_alive = 0;
    for (int a = 0; a < s->count; a++)
        if (common_lengths(&s->all[a], folds) > 0) s->alive[s->n_alive++] = a;
    sort_alive(s);
}

static void tell_line(const choosing *s, const sn_contender *c, char *text, size_t size)
{
    char line[100], length[32] = "";
    sn_line_tell(&c->line, line, sizeof line);
    if (s->lengths_open)
        snprintf(length, sizeof length, ", %lld updates", (long long)sn_rungs[c->best].updates);
    sn_format(text, size, "%s%s; held-out loss %.4g", line, length, c->score);
}

/* The winner, and the best of the others in the order of their scores. */
static stonet_status tell_neighbours(const choosing *s, const sn_contender *winner, sn_choice *out)
{
    enum { SHOWN = 5, ROOM = 200 };
    SN_TRY(SN_NEW(out->neighbours, SHOWN * ROOM));
    tell_line(s, winner, out->neighbours, ROOM);
    int shown = 1;
    for (int a = 0; a < s->n_alive && shown < SHOWN; a++) {
        const sn_contender *c = &s->all[s->alive[a]];
        if (c == winner) continue;
        char *end = out->neighbours + strlen(out->neighbours);
        *end = '\n';
        tell_line(s, c, end + 1, ROOM - 1);
        shown++;
    }
    return STONET_OK;
}

static stonet_status finish(choosing *s, int rung, const sn_line *lines, sn_choice *out)
{
    sn_contender *winner = &s->all[s->alive[0]];
    if (!isfinite(winner->score)) {
        out->outcome = sn_should_stop(s->job->run) ? STONET_STOPPED : STONET_DIVERGED;
        return STONET_OK;
    }
    out->tried = s->tried;
    rank_measured(s, rung_folds(s, rung)); /* before a nested choice trains others on all folds */
    bool nothing;
    SN_TRY(estimate(s, rung, lines, winner, out, &nothing));
    sn_contender *strongest =
        &s->all[strongest_line(s)]; /* not trained at all where the choice was stopped */
    if (nothing && common_lengths(strongest, 1) > 0 && !winner->shape[0].spread) {
        winner = strongest;
        winner->best = 0;
        out->chosen = out->constant;
        winner->score = out->constant.loss;
    } else {
        SN_TRY(allow_for_narrowing(s, rung, winner, out));
    }
    out->line = winner->line;
    out->updates = s->lengths_open ? sn_rungs[winner->best].updates : 0;
    if (sn_should_stop(s->job->run)) out->outcome = STONET_STOPPED;
    SN_TRY(find_network(s, winner, out));
    return tell_neighbours(s, winner, out);
}

static sn_views *views_of(choosing *s, const sn_front_recipe *recipe)
{
    for (int v = 0; v < s->n_views; v++)
        if (sn_front_recipe_same(&s->views[v].recipe, recipe)) return &s->views[v];
    s->views[s->n_views].recipe = *recipe;
    return &s->views[s->n_views++];
}

static stonet_status prepare(choosing *s, const sn_line *lines, int count, int most_folds)
{
    sn_shape shape;
    sn_config config;
    SN_TRY(sn_folds_make(s->job->problem, &s->job->rows, s->job->seed, &s->folds));
    s->most_folds = most_folds < s->folds.count ? most_folds : s->folds.count;
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
           (!s->lengths_open || (sn_rungs[s->most_rungs].updates <= SN_MOST_PASSES * batches &&
                                 sn_rungs[s->most_rungs].updates / batches * n <= SN_MOST_SEEN)))
        s->most_rungs++;
    s->together =
        sn_train_shares(&(sn_stage_job){.rows = s->job->rows, .config = &config, .team = s->job->team});
    for (int rung = 0; rung < s->most_rungs; rung++) s->total += rung_work(s, rung);
    return STONET_OK;
}

static stonet_status begin(const sn_choice_job *job, const sn_line *lines, int count, int most_folds,
                           choosing **out)
{
    SN_TRY(SN_NEW(*out, 1));
    (*out)->job = job;
    (*out)->started = sn_seconds();
    sn_quiet_run_init(&(*out)->quiet, job->run);
    return prepare(*out, lines, count, most_folds);
}

static void end(choosing *s)
{
    if (s == NULL) return;
    for (int a = 0; a < s->count; a++) sn_contender_free(&s->all[a]);
    for (int v = 0; v < s->n_views; v++) sn_views_free(s->job, &s->views[v]);
    sn_free(s->all);
    sn_folds_free(&s->folds);
    sn_free(s);
}

/* The line and length that are best among the training rows of a fold, by a choice of its own with few folds.
 */
static stonet_status choose_inside(const choosing *s, int fold, int rungs, const sn_line *lines, int *line,
                                   int *length)
{
    sn_choice_job job = *s->job;
    choosing *inner = NULL;
    char key[SN_KEY_SIZE];
    int rung = 0;
    snprintf(key, sizeof key, "%s.inside%d", s->job->key != NULL ? s->job->key : "", fold);
    job.rows = s->folds.fold[fold].train;
    job.key = s->job->key != NULL ? key : NULL;
    stonet_run silent = *job.run;
    silent.on_progress = NULL;
    job.run = &silent;
    stonet_status status = begin(&job, lines, s->count, SN_FEW_FOLDS, &inner);
    if (status == STONET_OK)
        inner->most_rungs = rungs; /* what gains no more with all rows does not with fewer */
    if (status == STONET_OK) status = climb(inner, &rung);
    if (status == STONET_OK) {
        *line = inner->alive[0];
        *length = inner->all[*line].best;
    }
    end(inner);
    return status;
}

stonet_status sn_choose(const sn_choice_job *job, const sn_line *lines, int count, sn_choice *out)
{
    choosing *s = NULL;
    int rung = 0;
    *out = (sn_choice){.chosen = sn_no_estimate,
                       .constant = sn_no_estimate,
                       .linear = sn_no_estimate,
                       .gain = {(double)NAN, (double)NAN},
                       .residual_p = (double)NAN,
                       .fold = -1};
    stonet_status status = begin(job, lines, count, SN_FOLDS, &s);
    if (status == STONET_OK) status = climb(s, &rung);
    if (status == STONET_OK) status = finish(s, rung, lines, out);
    end(s);
    return status;
}

void sn_choice_free(sn_choice *choice)
{
    sn_free(choice->theta);
    sn_front_free(choice->front);
    sn_free(choice->neighbours);
    choice->theta = NULL;
    choice->front = NULL;
    choice->neighbours = NULL;
}
