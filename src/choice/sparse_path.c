#include "choice/sparse_path.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "stonet/start.h"

enum {
    FIRST_UNITS = 32,
    SECOND_UNITS = 16,
    ROWS = 256,         /* of a batch: a column that is out must not come in by the noise of a few rows */
    DENSE = 3000,       /* updates with every column in, until what is not linear is found too; ... */
    DENSE_EPOCHS = 400, /* ... but no more passes over the rows */
    STEP = 80,          /* updates of a step */
    MANY_COLUMNS = 200, /* for which the parameter step is halved */
    RETRIES = 4         /* with a third of the parameter step, when the first part diverges */
};
static const double RATE = 0.02, DECAY = 0.01, SMALL_PENALTY = 5e-4;
static const double FIRST_PENALTY = 1e-4, RATIO = 1.3; /* of the steps */
static const double LEAST_LENGTH = 1e-3;               /* of the longest: what a column counts at least */

int64_t sn_sparse_updates(const sn_config *config, int64_t n, int64_t updates, int64_t epochs)
{
    const int64_t most = epochs * sn_train_batches(config, n);
    return most >= updates ? updates : most > SN_SPARSE_LEAST ? most : SN_SPARSE_LEAST;
}

double sn_sparse_penalty(int step)
{
    return FIRST_PENALTY * pow(RATIO, step);
}

int sn_sparse_step_of(double penalty)
{
    int step = 1;
    while (step < SN_SPARSE_STEPS && sn_sparse_penalty(step) < penalty) step++;
    return step;
}

typedef struct walk {
    sn_shape shape;
    sn_config config;
    sn_stage_job job;
    sn_trainer *trainer;
    int64_t dense; /* updates before the first step */
    float *theta;
    sn_sparse_groups groups;
    double *length, *effect, *factor; /* of each column */
} walk;

/* The path has a network of its own, p - 32 - 16 - outputs with tanh units, whatever hidden layers the fit
   has. Its step stays constant, since each penalty goes on where the last one ended. Arrays live in `keep`.
   */
static stonet_status set_up(walk *w, const sn_stage_job *job, sn_workspace *keep)
{
    const sn_problem *problem = job->problem;
    w->shape = (sn_shape){.layers = 3,
                          .width = {problem->p, FIRST_UNITS, SECOND_UNITS, problem->outputs},
                          .activation = SN_TANH,
                          .input_activation = job->shape->input_activation,
                          .task = job->shape->task,
                          .spread = job->shape->spread};
    SN_TRY(sn_shape_layout(&w->shape));
    SN_TRY(sn_config_default(job->config->engine, problem, &w->shape, &w->config));
    w->config.lr = problem->p > MANY_COLUMNS ? RATE / 2.0 : RATE;
    w->config.weight_decay = DECAY;
    w->config.sweeps = SN_SPARSE_SWEEPS;
    w->config.batch = job->rows.n < ROWS ? job->rows.n : ROWS;
    w->config.schedule.kind = SN_CONSTANT;
    w->config.epochs = 1.0; /* the trainer is told how far to go */
    w->dense = sn_sparse_updates(&w->config, job->rows.n, DENSE, DENSE_EPOCHS);
    w->job = *job;
    w->job.shape = &w->shape;
    w->job.config = &w->config;
    w->job.history = NULL;
    SN_TRY(SN_TAKE(keep, w->theta, w->shape.parameters));
    SN_TRY(SN_TAKE(keep, w->length, sn_problem_columns(problem)));
    SN_TRY(SN_TAKE(keep, w->effect, sn_problem_columns(problem)));
    SN_TRY(SN_TAKE(keep, w->factor, sn_problem_columns(problem)));
    return sn_sparse_groups_measure(job, keep, &w->groups);
}

static bool ended(const walk *w)
{
    return sn_trainer_report(w->trainer)->outcome != STONET_DONE;
}

/* All columns in, with the largest parameter step that holds. */
static stonet_status train_dense(walk *w)
{
    for (int retry = 0; retry <= RETRIES; retry++) {
        sn_trainer_free(w->trainer);
        w->trainer = NULL;
        w->config.group = SMALL_PENALTY;
        SN_TRY(sn_start_weights(&w->job, w->theta));
        SN_TRY(sn_trainer_create(&w->job, w->theta, &w->trainer));
        SN_TRY(sn_trainer_run(w->trainer, w->dense));
        if (sn_trainer_report(w->trainer)->outcome != STONET_DIVERGED) break;
        w->config.lr /= 3.0;
    }
    sn_trainer_parameters(w->trainer, w->theta);
    return STONET_OK;
}

/* Lengths and effects of the columns' weights; returns how many are not 0. */
static int64_t measure(walk *w)
{
    const int64_t columns = sn_problem_columns(w->job.problem);
    int64_t in = 0;
    for (int64_t c = 0; c < columns; c++) {
        const sn_sparse_extent extent =
            sn_sparse_groups_extent(&w->groups, c, w->theta + w->shape.weight_at[0], w->shape.width[1]);
        w->length[c] = extent.length;
        w->effect[c] = extent.effect;
        in += extent.length > 0.0;
    }
    return in;
}

/*
 * factor_c = l_c / (e_c sqrt m) / (e_c / max e + LEAST_LENGTH), l_c the length of the weights of column c,
 * e_c its effect and m its features. The threshold of the engine contains sqrt m. As a part of the length it
 * is therefore the same for all columns of the same effect; for one feature l = e.
 */
static void set_factors(walk *w)
{
    const sn_problem *problem = w->job.problem;
    const int64_t columns = sn_problem_columns(problem);
    double largest = DBL_MIN;
    for (int64_t c = 0; c < columns; c++) largest = fmax(largest, w->effect[c]);
    for (int64_t c = 0; c < columns; c++) {
        const double m = (double)(sn_problem_column_at(problem, c + 1) - sn_problem_column_at(problem, c));
        const double shape = w->effect[c] > 0.0 ? w->length[c] / (w->effect[c] * sqrt(m)) : 1.0;
        w->factor[c] = shape / (w->effect[c] / largest + LEAST_LENGTH);
    }
    w->config.group_factor = w->factor;
}

static stonet_status show(walk *w, int number, const sn_sparse_visitor *visitor, bool *enough)
{
    const sn_sparse_step step = {.number = number,
                                 .penalty = number > 0 ? sn_sparse_penalty(number) : 0.0,
                                 .shape = &w->shape,
                                 .theta = w->theta,
                                 .columns = sn_problem_columns(w->job.problem),
                                 .length = w->length};
    return visitor->visit(visitor->user, &step, enough);
}

static stonet_status walk_steps(walk *w, const sn_sparse_visitor *visitor)
{
    bool enough = false;
    SN_TRY(train_dense(w));
    if (ended(w) || measure(w) == 0) return STONET_OK;
    set_factors(w);
    SN_TRY(show(w, 0, visitor, &enough));
    for (int k = 1; k <= SN_SPARSE_STEPS && !enough; k++) {
        w->config.group = sn_sparse_penalty(k);
        SN_TRY(sn_trainer_run(w->trainer, w->dense + (int64_t)k * STEP));
        if (ended(w)) break;
        sn_trainer_parameters(w->trainer, w->theta);
        if (measure(w) == 0) break;
        SN_TRY(show(w, k, visitor, &enough));
    }
    return STONET_OK;
}

stonet_status sn_sparse_walk(const sn_stage_job *job, const sn_sparse_visitor *visitor)
{
    SN_WORKSPACE(scratch);
    walk w = {0};
    SN_TRY(set_up(&w, job, &scratch));
    stonet_status status = walk_steps(&w, visitor);
    sn_trainer_free(w.trainer);
    return status;
}
