#include "stonet/races.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/dealer.h"
#include "base/memory.h"
#include "stonet/start.h"

enum { ROUNDS = 3 }; /* of a race that is not won */
/* A race is won when this part of the loss of a constant, or this much of what the linear model explains, is
   explained. */
static const double WON_SHARE = 0.02, WON_LINEAR = 0.25;

typedef sn_searcher searcher;

/* A round of races; piece k is start k % starts of race k / starts. */
typedef struct heat {
    searcher *s;
    int races, starts, number;
    sn_fold_of race[SN_SEARCH_ACTIVATIONS * SN_MAX_FOLDS];
    float *theta; /* races x starts x parameters */
    double *loss; /* races x starts */
} heat;

/* Several folds make up for fewer starts: what some of them find, the fit on all rows is checked against. */
static int starts_of(const searcher *s)
{
    return s->holdout.folds > 1 ? (s->config->restarts + 1) / 2 : s->config->restarts;
}

/* The loss at which a race is won. */
static double enough(const searcher *s)
{
    const double constant = s->baseline.constant.mean, linear = s->baseline.linear.mean;
    return constant - fmax(WON_SHARE * constant, isnan(linear) ? 0.0 : WON_LINEAR * (constant - linear));
}

static void tell(searcher *s, int64_t raced, int64_t total)
{
    sn_progress(s->job->run, &(stonet_progress){.stage = "trying starts",
                                                .done = raced,
                                                .total = total,
                                                .loss = (double)NAN,
                                                .validation_loss = (double)NAN,
                                                .seconds = sn_seconds() - s->started});
}

void sn_races_tell(sn_searcher *s, int races)
{
    tell(s, 0, (int64_t)races * starts_of(s));
}

static int64_t parameters_of(const heat *r)
{
    return r->s->shape[0].parameters; /* whatever the activation */
}

static float *theta_of(const heat *r, int64_t k)
{
    return r->theta + k * parameters_of(r);
}

static stonet_status run_piece(const heat *r, int64_t k)
{
    searcher *s = r->s;
    const sn_fold_of *of = &r->race[k / r->starts];
    const sn_fold *fold = &s->holdout.fold[of->fold];
    sn_stage_job job = *s->job;
    job.shape = &s->shape[of->activation];
    job.problem = fold->problem;
    job.rows = fold->train;
    job.threads = s->together ? s->job->threads : 1;
    job.team = s->together ? s->job->team : NULL;
    job.run = &s->quiet.run;
    return sn_race_start(&job, r->number * r->starts + (int)(k % r->starts), theta_of(r, k), &r->loss[k]);
}

static stonet_status work(void *user, int64_t k, sn_pack *record)
{
    const heat *r = user;
    searcher *s = r->s;
    int64_t raced;
    SN_TRY(run_piece(r, k));
#pragma omp atomic capture
    raced = ++s->raced;
    if (omp_get_thread_num() == 0) tell(s, raced, s->to_race);
    if (record == NULL || sn_should_stop(&s->quiet.run)) return STONET_OK;
    SN_TRY(sn_pack_real(record, r->loss[k]));
    return sn_pack_bytes(record, theta_of(r, k), (size_t)parameters_of(r) * sizeof(float));
}

static stonet_status take(void *user, int64_t k, sn_unpack *record)
{
    const heat *r = user;
    SN_TRY(sn_unpack_real(record, &r->loss[k]));
    return sn_unpack_bytes(record, theta_of(r, k), (size_t)parameters_of(r) * sizeof(float));
}

static stonet_status deal(heat *r)
{
    searcher *s = r->s;
    char key[SN_KEY_SIZE];
    s->to_race += (int64_t)r->races * r->starts;
    tell(s, s->raced, s->to_race);
    if (s->job->key != NULL) snprintf(key, sizeof key, "%s.starts%d", s->job->key, s->sets++);
    return sn_deal_out(&(sn_deal){.key = s->job->key != NULL ? key : NULL,
                                  .count = (int64_t)r->races * r->starts,
                                  .team = s->job->team,
                                  .together = s->together,
                                  .work = work,
                                  .take = take,
                                  .user = r},
                       s->together ? 1 : s->job->threads, s->job->run);
}

/* Keeps the best start of each race so far (best: its loss, one for each race), and leaves those races in the
   round that are not won. */
static void judge(heat *r, double *best)
{
    int open = 0;
    for (int a = 0; a < r->races; a++) {
        float *start = r->s->start[r->race[a].activation][r->race[a].fold];
        double lowest = best[a];
        for (int k = a * r->starts; k < (a + 1) * r->starts; k++) {
            const bool first = r->number == 0 && k == a * r->starts;
            if (!first && !(r->loss[k] < lowest)) continue;
            lowest = r->loss[k];
            memcpy(start, theta_of(r, k), (size_t)parameters_of(r) * sizeof *start);
        }
        if (lowest <= enough(r->s)) continue;
        best[open] = lowest;
        r->race[open++] = r->race[a];
    }
    r->races = open;
}

/* The folds that have no start yet. */
static stonet_status enter(searcher *s, const sn_fold_of *folds, int count, heat *r)
{
    for (int k = 0; k < count; k++) {
        const int activation = folds[k].activation;
        float **start = &s->start[activation][folds[k].fold];
        if (*start != NULL) continue;
        SN_TRY(SN_NEW(*start, s->shape[activation].parameters));
        r->race[r->races++] = folds[k];
    }
    return STONET_OK;
}

stonet_status sn_races_run(sn_searcher *s, const sn_fold_of *folds, int count)
{
    heat r = {.s = s, .starts = starts_of(s)};
    enum { MOST = SN_SEARCH_ACTIVATIONS * SN_MAX_FOLDS };
    double best[MOST];
    SN_TRY(enter(s, folds, count, &r));
    if (r.races == 0) return STONET_OK;
    for (int a = 0; a < MOST; a++) best[a] = (double)INFINITY;
    stonet_status status;
    SN_GOTO(status, SN_NEW(r.theta, (int64_t)r.races * r.starts * parameters_of(&r)), done);
    SN_GOTO(status, SN_NEW(r.loss, (int64_t)r.races * r.starts), done);
    for (; r.number < ROUNDS && r.races > 0; r.number++) {
        SN_GOTO(status, deal(&r), done);
        judge(&r, best);
        if (sn_should_stop(s->job->run)) break;
    }
done:
    sn_free(r.theta);
    sn_free(r.loss);
    return status;
}
