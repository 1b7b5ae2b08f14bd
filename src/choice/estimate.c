#include <math.h>
#include <stdio.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "choice/baselines.h"
#include "choice/choosing.h"
#include "choice/residuals.h"

enum { PARTS = SN_FOLDS }; /* of the rows of a single fold */

/* The part that each held-out row belongs to: its fold, or of a single fold one of five, the same for rows
   that belong together. */
static void find_parts(const sn_folds *folds, int used, int64_t rows, int *part)
{
    int64_t units = 0;
    for (int k = 0; used > 1 && k < used; k++)
        for (int64_t i = 0; i < folds->fold[k].test.n; i++) part[folds->fold[k].first + i] = k;
    for (int64_t i = 0; used == 1 && i < rows; i++) {
        if (folds->kin != NULL && !folds->is_first[i]) continue;
        for (int64_t j = i; j >= 0; j = folds->kin != NULL ? folds->kin[j] : -1)
            part[j] = (int)(units % PARTS);
        units++;
    }
}

int sn_common_lengths(const sn_line_training *c, int folds)
{
    int lengths = sn_line_diverged(c) ? 0 : SN_RUNGS;
    for (int k = 0; k < folds; k++)
        if (c->reached[k] < lengths) lengths = c->reached[k];
    return lengths;
}

/* The losses of each part by what is best on the others. */
static stonet_status measure_by_parts(const sn_choosing *s, int folds, int64_t rows, sn_held_out *out)
{
    const int parts = folds == 1 ? PARTS : folds;
    double best[PARTS];
    SN_ARRAY(rows, int, part);
    find_parts(&s->folds, folds, rows, part);
    for (int j = 0; j < parts; j++) best[j] = (double)INFINITY;
    for (int a = 0; a < s->count; a++)
        for (int l = 0; l < sn_common_lengths(&s->all[a], folds); l++) {
            const sn_held_out *cost = &s->all[a].cost[l];
            double sum[PARTS] = {0.0}, total = 0.0;
            for (int64_t i = 0; i < rows; i++) sum[part[i]] += cost->loss[i];
            for (int j = 0; j < parts; j++) total += sum[j];
            for (int j = 0; j < parts; j++) {
                if (!(total - sum[j] < best[j])) continue;
                best[j] = total - sum[j];
                for (int64_t i = 0; i < rows; i++) {
                    if (part[i] != j) continue;
                    out->loss[i] = cost->loss[i];
                    out->wrong[i] = cost->wrong[i];
                }
            }
        }
    return STONET_OK;
}

/* The line and length that are best among the training rows of a fold, by a choice of its own with few folds.
 */
static stonet_status choose_inside(const sn_choosing *s, int fold, int rungs, const sn_line *lines, int *line,
                                   int *length)
{
    sn_choice_job job = *s->job;
    SN_AUTO(sn_choosing) *inner = NULL;
    char key[SN_KEY_SIZE];
    int rung = 0;
    snprintf(key, sizeof key, "%s.inside%d", s->job->key != NULL ? s->job->key : "", fold);
    job.rows = s->folds.fold[fold].train;
    job.key = s->job->key != NULL ? key : NULL;
    stonet_run silent = *job.run;
    silent.on_progress = NULL;
    job.run = &silent;
    SN_TRY(sn_choosing_begin(&job, lines, s->count, SN_FEW_FOLDS, &inner));
    inner->most_rungs = rungs; /* what gains no more with all rows does not with fewer */
    SN_TRY(sn_climb(inner, &rung));
    *line = inner->alive[0];
    *length = inner->all[*line].best;
    return STONET_OK;
}

/* The losses of each fold by what a choice among its training rows alone finds best. */
static stonet_status measure_nested(sn_choosing *s, const sn_line *lines, sn_line_training *winner,
                                    sn_held_out *out)
{
    const int rungs = winner->best + 2 < SN_RUNGS ? winner->best + 2 : SN_RUNGS;
    for (int k = 0; k < s->folds.count && !sn_should_stop(s->job->run); k++) {
        int line = 0, length = 0;
        SN_TRY(choose_inside(s, k, rungs, lines, &line, &length));
        sn_line_training *c = &s->all[line];
        for (int l = 0; l <= length; l++)
            if (c->cost[l].loss == NULL) SN_TRY(sn_held_out_create(&s->folds, &c->cost[l]));
        sn_leg leg = {.candidate = c, .fold = k, .lengths = length + 1};
        if (c->reached[k] <= length) {
            SN_TRY(sn_view_make(s->job, &s->known[k], &s->folds, k, c->views));
            SN_TRY(sn_run_legs(s, SN_RUNGS + k, k, &leg, 1));
        }
        if (c->reached[k] <= length) { /* it diverged with these rows, which a fit would see and mend */
            c = winner;
            length = winner->best;
        }
        sn_folds_copy(&s->folds, k, &c->cost[length], out);
    }
    return STONET_OK;
}

stonet_status sn_choice_estimate(sn_choosing *s, int rung, const sn_line *lines, sn_line_training *winner,
                                 sn_choice *out, bool *nothing)
{
    const int folds = sn_rung_folds(s, rung);
    const sn_problem *problem = s->job->problem;
    const sn_shape *shape = &winner->shape[0];
    sn_folds used = s->folds;
    SN_FREED_BY(sn_baselines_free) sn_baselines baselines = {0};
    SN_FREED_BY(sn_held_out_free) sn_held_out honest = {0};
    used.count = folds;
    used.rows = sn_folds_rows(&s->folds, folds);
    SN_TRY(sn_held_out_create(&used, &honest));
    SN_TRY(sn_baselines_measure(problem, &used, shape, s->job->run, &baselines));
    SN_TRY(sn_residuals_look(problem, &used, winner->cost[winner->best].loss, &out->residual_p));
    SN_TRY(measure_by_parts(s, folds, used.rows, &honest));
    sn_fold_mean *gain = &out->gains.over_constant;
    *gain = sn_held_out_mean(&used, baselines.constant.loss, honest.loss);
    if (folds == SN_FOLDS && !sn_gain_is_clear(gain)) {
        SN_TRY(measure_nested(s, lines, winner, &honest));
        *gain = sn_held_out_mean(&used, baselines.constant.loss, honest.loss);
    }
    *nothing = !(gain->mean > 0.0);
    if (baselines.linear.loss != NULL)
        out->gains.of_linear = sn_held_out_mean(&used, honest.loss, baselines.linear.loss);
    out->chosen = sn_estimate_of(&used, &honest, problem, shape);
    out->constant = sn_estimate_of(&used, &baselines.constant, problem, shape);
    out->linear = sn_estimate_of(&used, &baselines.linear, problem, shape);
    out->held_out = used.rows;
    return STONET_OK;
}

stonet_status sn_estimate_narrowed(const sn_choosing *s, int rung, const sn_line_training *winner,
                                   sn_choice *out)
{
    const int64_t outputs = s->job->problem->outputs;
    const bool is_classes = s->job->problem->task == SN_CLASSIFICATION;
    const int64_t rank = is_classes ? outputs - 1 : outputs;
    sn_estimate *chosen = &out->chosen;
    const int folds = sn_rung_folds(s, rung);
    const int64_t rows = sn_folds_rows(&s->folds, folds);
    const sn_held_out *wide = &winner->cost[winner->best];
    SN_FREED_BY(sn_held_out_free) sn_held_out narrow = {0};
    if (s->job->q >= rank || s->job->q >= s->job->units) return STONET_OK;
    SN_TRY(sn_held_out_create(&s->folds, &narrow));
    for (int k = 0; k < folds && !sn_should_stop(s->job->run); k++)
        SN_TRY(sn_fold_narrowed(s->job, &s->folds, winner, k, &narrow));
    if (sn_should_stop(s->job->run)) return STONET_OK;
    double more = sn_mean_loss(narrow.loss, 0, rows) - sn_mean_loss(wide->loss, 0, rows);
    chosen->loss += more;
    if (is_classes) {
        more = sn_mean_loss(narrow.wrong, 0, rows) - sn_mean_loss(wide->wrong, 0, rows);
        chosen->error += more;
    }
    /* The interval moves with what it is of. */
    chosen->low = is_classes ? fmax(chosen->low + more, 0.0) : chosen->low + more;
    chosen->high = is_classes ? fmin(chosen->high + more, 1.0) : chosen->high + more;
    return STONET_OK;
}
