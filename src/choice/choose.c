#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "choice/baselines.h"
#include "choice/choosing.h"
#include "choice/incomplete.h"
#include "data/partitions.h"
#include "math/noise.h"

/* A choice that is no better than a constant guess, on rows that had no say in it, has found nothing: the
   line with the strongest weight decay is taken, which is all but constant, at the least length. */
static int strongest_line(const sn_choosing *s)
{
    int strongest = 0;
    for (int a = 1; a < s->count; a++)
        if (s->all[a].line.kind.weight_decay >= s->all[strongest].line.kind.weight_decay) strongest = a;
    return strongest;
}

/* Of the winner's networks, the one with the least loss over all rows. */
static stonet_status find_network(const sn_choosing *s, const sn_line_training *c, sn_choice *out)
{
    int best = -1;
    for (int k = 0; k < s->folds.count; k++) {
        double loss;
        if (c->reached[k] <= c->best) continue;
        SN_TRY(sn_view_make(s->job, &s->known[k], &s->folds, k, c->views)); /* gone, where it was dropped */
        sn_use use = sn_stage_use(&c->job[k], c->theta[c->best][k]);
        use.threads = s->job->threads;
        SN_TRY(sn_loss_of_rows(&use, &s->job->rows, s->job->team, &loss));
        if (best >= 0 && !(loss < out->loss)) continue;
        best = k;
        out->loss = loss;
    }
    out->fold = best;
    out->shape = c->shape[best];
    SN_TRY(SN_NEW_RAW(out->theta, out->shape.parameters));
    memcpy(out->theta, c->theta[c->best][best], (size_t)out->shape.parameters * sizeof *out->theta);
    sn_view *view = &c->views->fold[best];
    out->front = view->front;
    sn_front_problem_free(s->job->problem, &view->seen);
    sn_keep_clear(&view->keep);
    *view = (sn_view){0};
    return STONET_OK;
}

/* All lines that were measured on these folds, the best first. */
static void rank_measured(sn_choosing *s, int folds)
{
    s->n_alive = 0;
    for (int a = 0; a < s->count; a++)
        if (sn_common_lengths(&s->all[a], folds) > 0) s->alive[s->n_alive++] = a;
    sn_sort_alive(s);
}

static void tell_line(const sn_choosing *s, const sn_line_training *c, char *text, size_t size)
{
    char line[100], length[32] = "";
    sn_line_tell(&c->line, line, sizeof line);
    if (s->lengths_open)
        snprintf(length, sizeof length, ", %lld updates", (long long)sn_rung_updates(c->best));
    sn_format(text, size, "%s%s; held-out loss %.4g", line, length, c->score);
}

/* The winner, and the best of the others in the order of their scores. */
static stonet_status tell_neighbours(const sn_choosing *s, const sn_line_training *winner, sn_choice *out)
{
    enum { SHOWN = 5, ROOM = 200 };
    SN_TRY(SN_NEW(out->neighbours, SHOWN * ROOM));
    tell_line(s, winner, out->neighbours, ROOM);
    int shown = 1;
    for (int a = 0; a < s->n_alive && shown < SHOWN; a++) {
        const sn_line_training *c = &s->all[s->alive[a]];
        if (c == winner) continue;
        char *end = out->neighbours + strlen(out->neighbours);
        *end = '\n';
        tell_line(s, c, end + 1, ROOM - 1);
        shown++;
    }
    return STONET_OK;
}

static stonet_status finish(sn_choosing *s, int rung, const sn_line *lines, sn_choice *out)
{
    sn_line_training *winner = &s->all[s->alive[0]];
    if (!isfinite(winner->score)) {
        out->outcome = sn_should_stop(s->job->run) ? STONET_STOPPED : STONET_DIVERGED;
        return STONET_OK;
    }
    out->tried = s->tried;
    rank_measured(s, sn_rung_folds(s, rung)); /* before a nested choice trains others on all folds */
    bool nothing;
    SN_TRY(sn_choice_estimate(s, rung, lines, winner, out, &nothing));
    sn_line_training *strongest =
        &s->all[strongest_line(s)]; /* not trained at all where the choice was stopped */
    if (nothing && sn_common_lengths(strongest, 1) > 0 && !winner->shape[0].spread) {
        winner = strongest;
        winner->best = 0;
        if (s->job->problem->task == SN_CLASSIFICATION)
            SN_TRY(sn_constant_interval(s->job->problem, &s->job->rows, &out->constant));
        out->chosen = out->constant;
        winner->score = out->constant.loss;
    } else {
        SN_TRY(sn_estimate_narrowed(s, rung, winner, out));
    }
    out->line = winner->line;
    out->updates = s->lengths_open ? sn_rung_updates(winner->best) : 0;
    if (sn_should_stop(s->job->run)) out->outcome = STONET_STOPPED;
    SN_TRY(find_network(s, winner, out));
    return tell_neighbours(s, winner, out);
}

stonet_status sn_choose(const sn_choice_job *job, const sn_line *lines, int count, sn_choice *out)
{
    SN_AUTO(sn_choosing) *s = NULL;
    int rung = 0;
    *out = (sn_choice){.chosen = sn_no_estimate,
                       .constant = sn_no_estimate,
                       .linear = sn_no_estimate,
                       .residual_p = (double)NAN,
                       .fold = -1};
    SN_TRY(sn_choosing_begin(job, lines, count, SN_FOLDS, &s));
    SN_TRY(sn_climb(s, &rung));
    return finish(s, rung, lines, out);
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

/* ---- tables that are larger than a choice needs ---- */

/* One row at random of each of `count` stretches of the same length. */
static void draw(const sn_rows *rows, int64_t count, uint64_t seed, int64_t *list)
{
    sn_random random = sn_random_from(seed, SN_STREAM_SPLIT, 1);
    for (int64_t i = 0; i < count; i++) {
        const int64_t first = (int64_t)((__int128)i * rows->n / count),
                      last = (int64_t)((__int128)(i + 1) * rows->n / count);
        list[i] = sn_rows_at(rows, first + (int64_t)sn_random_below(&random, (uint64_t)(last - first)));
    }
}

static stonet_status choose_by(const sn_choice_job *job, const int64_t *list, int64_t count,
                               const sn_line *lines, int n_lines, sn_choice *out)
{
    sn_problem part;
    sn_keep keep = {0};
    sn_choice_job some = *job;
    SN_TRY(sn_problem_subset(job->problem, list, count, &part));
    part.keep = &keep;
    some.problem = &part;
    some.rows = sn_rows_range(0, count);
    const stonet_status status = sn_choose(&some, lines, n_lines, out);
    sn_keep_clear(&keep);
    sn_problem_subset_free(&part);
    return status;
}

stonet_status sn_choose_for(const sn_choice_job *job, const sn_windowing *how, const sn_line *lines,
                            int count, sn_choice *out)
{
    if (job->problem->x != NULL || job->rows.n <= how->whole / job->problem->p)
        return sn_choose(job, lines, count, out);
    const int64_t some = how->block * how->blocks / 2 / job->problem->p;
    *out = (sn_choice){.fold = -1};
    SN_ARRAY(some, int64_t, list);
    draw(&job->rows, some, job->seed, list);
    sn_message(job->run, STONET_NOTE, "settings are chosen by %lld of the %lld rows, drawn evenly",
               (long long)some, (long long)job->rows.n);
    return choose_by(job, list, some, lines, count, out);
}
