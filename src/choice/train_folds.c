#include "choice/train_folds.h"

#include <math.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "net/regression.h"
#include "stonet/narrow.h"
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

/* ---- what a fold sees ---------------------------------------------------------------------------------- */

stonet_status sn_view_make(const sn_choice_job *job, const sn_problem *problem, const sn_folds *folds,
                           int fold, sn_views *views)
{
    sn_view *view = &views->fold[fold];
    if (view->made) return STONET_OK;
    SN_TRY(sn_front_make(&views->recipe, problem, &folds->fold[fold].train, job->seed, &view->front));
    SN_TRY(sn_front_problem(view->front, problem, &folds->fold[fold].train, &view->seen));
    if (view->front != NULL) view->seen.keep = &view->keep;
    view->made = true;
    return STONET_OK;
}

void sn_views_free(const sn_choice_job *job, sn_views *views)
{
    for (int k = 0; k < SN_FOLDS; k++) {
        sn_view *view = &views->fold[k];
        sn_keep_clear(&view->keep);
        sn_front_problem_free(job->problem, &view->seen);
        sn_front_free(view->front);
        *view = (sn_view){0};
    }
}

/* ---- training ------------------------------------------------------------------------------------------ */

int64_t sn_length_updates(const sn_config *config, int length, int64_t n)
{
    if (config->auto_epochs) return sn_rung_updates(length);
    const double wanted = config->epochs * (double)sn_train_batches(config, n);
    return wanted < 1.0 ? 1 : (int64_t)llround(wanted);
}

/* Whether the units are linear, and few enough for a regression to say where they are to begin. */
static bool begins_at_regression(const sn_stage_job *job)
{
    const sn_problem *problem = job->problem;
    return job->shape->activation == SN_IDENTITY && job->shape->layers == 2 && !job->shape->spread &&
           problem->p <= SN_MANY_COLUMNS && sn_regression_is_small(problem, job->rows.n);
}

/* B = U S V' as two layers of equal norms: the first units get S^(1/2) V', the outputs U S^(1/2); other units
   stay as they are, without effect. */
static stonet_status put_regression(const sn_shape *shape, double *coef, const double *intercept,
                                    float *theta)
{
    const int64_t p = shape->width[0], units = shape->width[1], m = shape->width[2];
    const int64_t r = p < m ? p : m, kept = units < r ? units : r;
    SN_ARRAY(m * r, double, u);
    SN_ARRAY(r, double, s);
    SN_ARRAY(r * p, double, vt);
    SN_TRY(sn_svd(m, p, coef, u, s, vt));
    for (int64_t k = 0; k < m * units; k++) theta[shape->weight_at[1] + k] = 0.0F;
    for (int64_t a = 0; a < kept; a++) {
        const double root = sqrt(s[a]);
        for (int64_t j = 0; j < p; j++)
            theta[shape->weight_at[0] + a * p + j] = (float)(root * vt[a * p + j]);
        for (int64_t k = 0; k < m; k++)
            theta[shape->weight_at[1] + k * units + a] = (float)(root * u[k * r + a]);
    }
    for (int64_t k = 0; k < m; k++) theta[shape->bias_at[1] + k] = (float)intercept[k];
    return STONET_OK;
}

/* Linear units begin at ridge or logistic regression: where columns are nearly the same, as channels of a
   spectrum are, the steps of training would not get there. */
static stonet_status start_at_regression(const sn_stage_job *job, float *theta)
{
    const sn_problem *problem = job->problem;
    bool found;
    SN_ARRAY(job->rows.n * problem->p, float, x);
    SN_ZEROS(problem->outputs * problem->p, double, coef);
    SN_ZEROS(problem->outputs, double, intercept);
    SN_TRY(sn_batch_features(problem, &job->rows, x));
    const sn_regression regression = {.problem = problem,
                                      .rows = &job->rows,
                                      .d = problem->p,
                                      .x = x,
                                      .l2 = SN_REGRESSION_PENALTY * job->config->weight_decay *
                                            (double)job->rows.n,
                                      .enough = SN_ROUGHLY};
    SN_TRY(sn_regress(&regression, NULL, coef, intercept, &found));
    return found ? put_regression(job->shape, coef, intercept, theta) : STONET_OK;
}

stonet_status sn_fold_start(const sn_stage_job *job, int fold, float *theta)
{
    sn_stage_job own = *job;
    own.seed = sn_start_seed(job->seed, fold);
    SN_TRY(sn_start_weights(&own, theta));
    return begins_at_regression(job) ? start_at_regression(job, theta) : STONET_OK;
}

static stonet_status ready(const sn_choice_job *job, const sn_folds *folds, const sn_leg *leg)
{
    sn_line_training *c = leg->candidate;
    const int k = leg->fold;
    const sn_problem *seen = &c->views->fold[k].seen;
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
static stonet_status ready_trainer(sn_line_training *c, int k, int64_t updates)
{
    sn_config *config = &c->config[k];
    if (config->schedule.kind == SN_LINEAR) {
        sn_trainer_free(c->trainer[k]);
        c->trainer[k] = NULL;
        sn_pack_clear(&c->state[k]);
    }
    if (c->trainer[k] != NULL) return STONET_OK;
    const double given = config->epochs;
    config->epochs = (double)updates / (double)sn_train_batches(config, c->job[k].rows.n);
    SN_ARRAY(c->shape[k].parameters, float, start);
    stonet_status status = sn_fold_start(&c->job[k], k, start);
    if (status == STONET_OK) status = sn_trainer_create(&c->job[k], start, &c->trainer[k]);
    config->epochs = given;
    SN_TRY(status);
    if (c->state[k].size == 0) return STONET_OK;
    sn_unpack from = {c->state[k].bytes, c->state[k].size};
    SN_TRY(sn_trainer_unpack(c->trainer[k], &from));
    sn_pack_clear(&c->state[k]);
    return sn_unpack_end(&from);
}

static stonet_status make_room(sn_line_training *c, int k, int length)
{
    float **theta = &c->theta[length][k];
    return *theta != NULL ? STONET_OK : SN_NEW(*theta, c->shape[k].parameters);
}

static stonet_status fit_output(const sn_line_training *c, int k, float *theta)
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

/* Trains fold k from the length it has reached to the next one, and measures it on the held-out rows. key:
   the place in the checkpoint, or NULL. */
static stonet_status run_length(sn_line_training *c, const sn_folds *folds, int k, const char *key)
{
    const int length = c->reached[k];
    const sn_stage_job *job = &c->job[k];
    const int64_t updates = sn_length_updates(job->config, length, job->rows.n);
    SN_TRY(make_room(c, k, length));
    SN_TRY(ready_trainer(c, k, updates));
    SN_TRY(sn_trainer_keep_at(c->trainer[k], key));
    SN_TRY(sn_trainer_run(c->trainer[k], updates));
    SN_TRY(sn_trainer_keep_at(c->trainer[k], NULL));
    c->diverged[k] = sn_trainer_report(c->trainer[k])->outcome == STONET_DIVERGED;
    c->fit[k] = sn_trainer_report(c->trainer[k])->loss;
    float *theta = c->theta[length][k];
    sn_trainer_parameters(c->trainer[k], theta);
    SN_TRY(fit_output(c, k, theta));
    const sn_use use = sn_stage_use(job, theta);
    SN_TRY(sn_folds_measure(folds, k, &use, &c->cost[length]));
    c->reached[k]++;
    return STONET_OK;
}

/* A trainer that goes on with another number of threads begins anew from its state. */
static stonet_status lay_down(sn_line_training *c, int k)
{
    SN_TRY(sn_trainer_pack(c->trainer[k], &c->state[k]));
    sn_trainer_free(c->trainer[k]);
    c->trainer[k] = NULL;
    return STONET_OK;
}

stonet_status sn_leg_run(const sn_choice_job *job, const sn_folds *folds, const sn_leg *leg, const char *key)
{
    sn_line_training *c = leg->candidate;
    const int fold = leg->fold;
    if (c->trainer[fold] != NULL && c->job[fold].threads != leg->threads) SN_TRY(lay_down(c, fold));
    if (c->trainer[fold] == NULL) SN_TRY(ready(job, folds, leg));
    while (c->reached[leg->fold] < leg->lengths && !c->diverged[leg->fold] &&
           ((leg->first && c->reached[leg->fold] == 0) || !sn_should_stop(leg->run))) {
        /* Only the last length is kept: a shorter one would go on from a training that is past its end. */
        const bool last = c->reached[leg->fold] + 1 == leg->lengths;
        SN_TRY(run_length(c, folds, leg->fold, last ? key : NULL));
    }
    return STONET_OK;
}

/* ---- records ------------------------------------------------------------------------------------------- */

stonet_status sn_leg_pack(const sn_folds *folds, const sn_leg *leg, sn_pack *pack)
{
    const sn_line_training *c = leg->candidate;
    const int k = leg->fold;
    const sn_fold *fold = &folds->fold[k];
    const size_t rows = (size_t)fold->test.n, parameters = (size_t)c->shape[k].parameters;
    SN_TRY(sn_pack_int(pack, c->diverged[k]));
    SN_TRY(sn_pack_int(pack, c->reached[k]));
    SN_TRY(sn_pack_real(pack, c->fit[k]));
    for (int l = leg->from; l < c->reached[k]; l++) {
        SN_TRY(sn_pack_bytes(pack, c->cost[l].loss + fold->first, rows * sizeof(double)));
        SN_TRY(sn_pack_bytes(pack, c->cost[l].wrong + fold->first, rows * sizeof(double)));
        SN_TRY(sn_pack_bytes(pack, c->theta[l][k], parameters * sizeof(float)));
    }
    return c->diverged[k] ? STONET_OK : sn_trainer_pack(c->trainer[k], pack);
}

/* Reads what sn_leg_pack wrote. The rest of the record is the state of the trainer: it stays packed in
   c->state until ready_trainer needs it. */
stonet_status sn_leg_unpack(const sn_choice_job *job, const sn_folds *folds, const sn_leg *leg,
                            sn_unpack *record)
{
    sn_line_training *c = leg->candidate;
    const int k = leg->fold;
    const sn_fold *fold = &folds->fold[k];
    int64_t diverged, reached;
    SN_TRY(ready(job, folds, leg));
    const size_t rows = (size_t)fold->test.n, parameters = (size_t)c->shape[k].parameters;
    SN_TRY(sn_unpack_int(record, &diverged));
    SN_TRY(sn_unpack_int(record, &reached));
    SN_TRY(sn_unpack_real(record, &c->fit[k]));
    if (reached < leg->from || reached > leg->lengths)
        return sn_fail(STONET_ERROR_FORMAT, "a record of the choice does not fit");
    for (int l = leg->from; l < (int)reached; l++) {
        SN_TRY(make_room(c, k, l));
        SN_TRY(sn_unpack_bytes(record, c->cost[l].loss + fold->first, rows * sizeof(double)));
        SN_TRY(sn_unpack_bytes(record, c->cost[l].wrong + fold->first, rows * sizeof(double)));
        SN_TRY(sn_unpack_bytes(record, c->theta[l][k], parameters * sizeof(float)));
    }
    c->reached[k] = (int)reached;
    c->diverged[k] = diverged != 0;
    sn_trainer_free(c->trainer[k]);
    c->trainer[k] = NULL;
    sn_pack_clear(&c->state[k]);
    SN_TRY(sn_pack_bytes(&c->state[k], record->at, record->left));
    *record = (sn_unpack){0};
    return STONET_OK;
}

stonet_status sn_fold_narrowed(const sn_choice_job *job, const sn_folds *folds, const sn_line_training *c,
                               int k, sn_held_out *losses)
{
    sn_config config = c->config[k];
    sn_stage_job own = c->job[k];
    sn_shape shape;
    sn_train_report report;
    SN_BLOCK float *theta = NULL;
    sn_folds_copy(folds, k, &c->cost[c->best], losses);
    own.threads = job->threads;
    SN_TRY(sn_narrow_start(&own, c->theta[c->best][k], job->q, &shape, &theta));
    if (theta == NULL) return STONET_OK;
    const int64_t updates = sn_length_updates(&config, c->best, own.rows.n);
    config.epochs = (double)updates / (double)sn_train_batches(&config, own.rows.n);
    own.shape = &shape;
    own.config = &config;
    own.key = NULL;
    SN_TRY(sn_train_stages(&own, theta, &report));
    if (report.outcome != STONET_DONE) return STONET_OK;
    const sn_use network = sn_stage_use(&own, theta);
    return sn_folds_measure(folds, k, &network, losses);
}

void sn_line_training_retire(sn_line_training *c)
{
    for (int k = 0; k < SN_FOLDS; k++) {
        sn_trainer_free(c->trainer[k]);
        c->trainer[k] = NULL;
        sn_pack_clear(&c->state[k]);
    }
}

void sn_line_training_free(sn_line_training *c)
{
    sn_line_training_retire(c);
    for (int l = 0; l < SN_RUNGS; l++) {
        for (int k = 0; k < SN_FOLDS; k++) sn_free(c->theta[l][k]);
        sn_held_out_free(&c->cost[l]);
    }
}
