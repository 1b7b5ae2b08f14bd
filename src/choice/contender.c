#include "choice/contender.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "stonet/output_layer.h"
#include "stonet/start.h"

stonet_status sn_line_config(const sn_choice_job *job, const sn_net_kind *kind, const sn_problem *seen,
                             sn_shape *shape, sn_config *config)
{
    SN_TRY(sn_config_shape(job->settings, kind, seen, job->units, shape));
    SN_TRY(sn_config_resolve(job->settings, kind, seen, shape, config));
    if (job->engine != NULL) config->engine = job->engine;
    config->lr *= job->step;
    return STONET_OK;
}

/* ---- what a fold sees ------------------------------------------------------------------------------------
 */

stonet_status sn_view_make(const sn_choice_job *job, const sn_folds *folds, int fold, sn_views *views)
{
    sn_view *view = &views->fold[fold];
    if (view->problem != NULL) return STONET_OK;
    SN_TRY(sn_front_make(&views->recipe, job->problem, &folds->fold[fold].train, job->seed, &view->front));
    SN_TRY(sn_front_problem(view->front, job->problem, &view->seen));
    if (view->front != NULL) view->seen.keep = &view->keep;
    view->problem = view->front != NULL ? &view->seen : job->problem;
    return STONET_OK;
}

void sn_views_free(const sn_choice_job *job, sn_views *views)
{
    for (int k = 0; k < SN_FOLDS; k++) {
        sn_view *view = &views->fold[k];
        sn_keep_clear(&view->keep);
        if (view->front != NULL) sn_front_problem_free(job->problem, &view->seen);
        sn_front_free(view->front);
        *view = (sn_view){0};
    }
}

/* ---- training --------------------------------------------------------------------------------------------
 */

int64_t sn_length_updates(const sn_config *config, int length, int64_t n)
{
    if (config->auto_epochs) return sn_rungs[length].updates;
    const double wanted = config->epochs * (double)sn_train_batches(config, n);
    return wanted < 1.0 ? 1 : (int64_t)llround(wanted);
}

stonet_status sn_fold_start(const sn_stage_job *job, int fold, float *theta)
{
    sn_stage_job own = *job;
    own.seed = sn_start_seed(job->seed, fold);
    return sn_start_weights(&own, theta);
}

static stonet_status ready(const sn_choice_job *job, const sn_folds *folds, const sn_leg *leg)
{
    sn_contender *c = leg->contender;
    const int k = leg->fold;
    const sn_problem *seen = c->views->fold[k].problem;
    SN_TRY(sn_line_config(job, &c->line.kind, seen, &c->shape[k], &c->config[k]));
    c->job[k] = (sn_stage_job){.shape = &c->shape[k],
                               .problem = seen,
                               .rows = folds->fold[k].train,
                               .config = &c->config[k],
                               .seed = job->seed,
                               .threads = leg->threads,
                               .team = leg->team,
                               .run = leg->run};
    return STONET_OK;
}

/* A schedule that ends with the run must begin anew for another length. */
static stonet_status ready_trainer(sn_contender *c, int k, int64_t updates)
{
    sn_config *config = &c->config[k];
    if (config->schedule.kind == SN_LINEAR) {
        sn_trainer_free(c->trainer[k]);
        c->trainer[k] = NULL;
        sn_pack_clear(&c->state[k]);
    }
    if (c->trainer[k] != NULL) return STONET_OK;
    const double given = config->epochs;
    float *start;
    config->epochs = (double)updates / (double)sn_train_batches(config, c->job[k].rows.n);
    SN_TRY(SN_NEW_RAW(start, c->shape[k].parameters));
    stonet_status status = sn_fold_start(&c->job[k], k, start);
    if (status == STONET_OK) status = sn_trainer_create(&c->job[k], start, &c->trainer[k]);
    config->epochs = given;
    sn_free(start);
    SN_TRY(status);
    if (c->state[k].size == 0) return STONET_OK;
    sn_unpack from = {c->state[k].bytes, c->state[k].size};
    SN_TRY(sn_trainer_unpack(c->trainer[k], &from));
    sn_pack_clear(&c->state[k]);
    return sn_unpack_end(&from);
}

static stonet_status make_room(sn_contender *c, int k, int length)
{
    float **theta = &c->theta[length][k];
    return *theta != NULL ? STONET_OK : SN_NEW(*theta, c->shape[k].parameters);
}

static stonet_status fit_output(const sn_contender *c, int k, float *theta)
{
    const sn_stage_job *job = &c->job[k];
    sn_engine *engine;
    if (!job->config->refit_output) return STONET_OK;
    SN_TRY(job->config->engine->create(job->shape, job->problem, 0, job->threads, &engine));
    stonet_status status =
        sn_refit_output(engine, job->shape, job->problem, &job->rows, job->team, job->run, theta);
    engine->ops->free(engine);
    return status;
}

static stonet_status run_length(sn_contender *c, const sn_folds *folds, int k, const char *key)
{
    const int length = c->reached[k];
    const sn_stage_job *job = &c->job[k];
    const int64_t updates = sn_length_updates(job->config, length, job->rows.n);
    SN_TRY(make_room(c, k, length));
    SN_TRY(ready_trainer(c, k, updates));
    SN_TRY(sn_trainer_keep_at(c->trainer[k], key));
    SN_TRY(sn_trainer_run(c->trainer[k], updates));
    SN_TRY(sn_trainer_keep_at(c->trainer[k], NULL));
    if (sn_trainer_report(c->trainer[k])->outcome == STONET_DIVERGED) {
#pragma omp atomic write
        c->diverged = true;
    }
    float *theta = c->theta[length][k];
    sn_trainer_parameters(c->trainer[k], theta);
    SN_TRY(fit_output(c, k, theta));
    SN_TRY(sn_folds_measure(
        folds, k, &(sn_measured){job->problem, job->config->engine, job->shape, theta, job->threads},
        &c->cost[length]));
    c->reached[k]++;
    return STONET_OK;
}

stonet_status sn_leg_run(const sn_choice_job *job, const sn_folds *folds, const sn_leg *leg, const char *key)
{
    sn_contender *c = leg->contender;
    if (c->trainer[leg->fold] == NULL) SN_TRY(ready(job, folds, leg));
    while (c->reached[leg->fold] < leg->lengths && !c->diverged &&
           ((leg->first && c->reached[leg->fold] == 0) || !sn_should_stop(leg->run))) {
        /* Only the last length is kept: a shorter one would go on from a training that is past its end. */
        const bool last = c->reached[leg->fold] + 1 == leg->lengths;
        SN_TRY(run_length(c, folds, leg->fold, last ? key : NULL));
    }
    return STONET_OK;
}

/* ---- records ---------------------------------------------------------------------------------------------
 */

stonet_status sn_leg_pack(const sn_folds *folds, const sn_leg *leg, int from, sn_pack *pack)
{
    const sn_contender *c = leg->contender;
    const int k = leg->fold;
    const sn_fold *fold = &folds->fold[k];
    const size_t rows = (size_t)fold->test.n, parameters = (size_t)c->shape[k].parameters;
    SN_TRY(sn_pack_int(pack, c->diverged));
    SN_TRY(sn_pack_int(pack, c->reached[k]));
    for (int l = from; l < c->reached[k]; l++) {
        SN_TRY(sn_pack_bytes(pack, c->cost[l].loss + fold->first, rows * sizeof(double)));
        SN_TRY(sn_pack_bytes(pack, c->cost[l].wrong + fold->first, rows * sizeof(double)));
        SN_TRY(sn_pack_bytes(pack, c->theta[l][k], parameters * sizeof(float)));
    }
    return c->diverged ? STONET_OK : sn_trainer_pack(c->trainer[k], pack);
}

stonet_status sn_leg_unpack(const sn_choice_job *job, const sn_folds *folds, const sn_leg *leg, int from,
                            sn_unpack *record)
{
    sn_contender *c = leg->contender;
    const int k = leg->fold;
    const sn_fold *fold = &folds->fold[k];
    int64_t diverged, reached;
    SN_TRY(ready(job, folds, leg));
    const size_t rows = (size_t)fold->test.n, parameters = (size_t)c->shape[k].parameters;
    SN_TRY(sn_unpack_int(record, &diverged));
    SN_TRY(sn_unpack_int(record, &reached));
    if (reached < from || reached > SN_RUNGS)
        return sn_fail(STONET_ERROR_FORMAT, "a record of the choice does not fit");
    for (int l = from; l < (int)reached; l++) {
        SN_TRY(make_room(c, k, l));
        SN_TRY(sn_unpack_bytes(record, c->cost[l].loss + fold->first, rows * sizeof(double)));
        SN_TRY(sn_unpack_bytes(record, c->cost[l].wrong + fold->first, rows * sizeof(double)));
        SN_TRY(sn_unpack_bytes(record, c->theta[l][k], parameters * sizeof(float)));
    }
    c->reached[k] = (int)reached;
    if (diverged != 0) {
#pragma omp atomic write
        c->diverged = true;
    }
    sn_trainer_free(c->trainer[k]);
    c->trainer[k] = NULL;
    sn_pack_clear(&c->state[k]);
    SN_TRY(sn_pack_bytes(&c->state[k], record->at, record->left));
    *record = (sn_unpack){0};
    return STONET_OK;
}

void sn_contender_retire(sn_contender *c)
{
    for (int k = 0; k < SN_FOLDS; k++) {
        sn_trainer_free(c->trainer[k]);
        c->trainer[k] = NULL;
        sn_pack_clear(&c->state[k]);
    }
}

void sn_contender_free(sn_contender *c)
{
    sn_contender_retire(c);
    for (int l = 0; l < SN_RUNGS; l++) {
        for (int k = 0; k < SN_FOLDS; k++) sn_free(c->theta[l][k]);
        sn_held_out_free(&c->cost[l]);
    }
}
