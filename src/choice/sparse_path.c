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
    return step > 0 ? FIRST_PENALTY * pow(RATIO, step) : 0.0;
}

int sn_sparse_step_of(double penalty)
{
    int step = 1;
    while (step < SN_SPARSE_STEPS && sn_sparse_penalty(step) < penalty) step++;
    return step;
}

/* The path has a network of its own, p - 32 - 16 - outputs with tanh units, whatever hidden layers the fit
   has. Its step stays constant, since each penalty goes on where the last one ended. */
stonet_status sn_sparse_begin(const sn_stage_job *job, sn_sparse_path *path)
{
    const sn_problem *problem = job->problem;
    const int64_t columns = sn_problem_columns(problem);
    *path = (sn_sparse_path){.step = -1,
                             .columns = columns,
                             .shape = {.layers = 3,
                                       .width = {problem->p, FIRST_UNITS, SECOND_UNITS, problem->outputs},
                                       .activation = SN_TANH,
                                       .input_activation = job->shape->input_activation,
                                       .task = job->shape->task,
                                       .spread = job->shape->spread},
                             .job = *job};
    sn_config *config = &path->config;
    SN_TRY(sn_shape_layout(&path->shape));
    SN_TRY(sn_config_default(job->config->engine, problem, &path->shape, config));
    config->lr = problem->p > MANY_COLUMNS ? RATE / 2.0 : RATE;
    config->weight_decay = DECAY;
    config->sweeps = SN_SPARSE_SWEEPS;
    config->batch = job->rows.n < ROWS ? job->rows.n : ROWS;
    config->schedule.kind = SN_CONSTANT;
    config->epochs = 1.0; /* the trainer is told how far to go */
    path->dense = sn_sparse_updates(config, job->rows.n, DENSE, DENSE_EPOCHS);
    path->job.shape = &path->shape;
    path->job.config = config;
    path->job.history = NULL;
    SN_TRY(SN_TAKE(&path->room, path->theta, path->shape.parameters));
    SN_TRY(SN_TAKE_EACH(&path->room, columns, &path->length, &path->effect, &path->factor));
    return sn_sparse_groups_measure(job, &path->room, &path->groups);
}

void sn_sparse_end(sn_sparse_path *path)
{
    sn_trainer_free(path->trainer);
    sn_workspace_free(&path->room);
}

/* All columns in, with the largest parameter step that holds. */
static stonet_status train_dense(sn_sparse_path *path)
{
    for (int retry = 0; retry <= RETRIES; retry++) {
        sn_trainer_free(path->trainer);
        path->trainer = NULL;
        path->config.group = SMALL_PENALTY;
        SN_TRY(sn_start_weights(&path->job, path->theta));
        SN_TRY(sn_trainer_create(&path->job, path->theta, &path->trainer));
        SN_TRY(sn_trainer_run(path->trainer, path->dense));
        if (sn_trainer_report(path->trainer)->outcome != STONET_DIVERGED) break;
        path->config.lr /= 3.0;
    }
    return STONET_OK;
}

/* Lengths and effects of the columns' weights; returns how many are not 0. */
static int64_t measure(sn_sparse_path *path)
{
    int64_t in = 0;
    for (int64_t c = 0; c < path->columns; c++) {
        const sn_sparse_extent extent = sn_sparse_groups_extent(
            &path->groups, c, path->theta + path->shape.weight_at[0], path->shape.width[1]);
        path->length[c] = extent.length;
        path->effect[c] = extent.effect;
        in += extent.length > 0.0;
    }
    return in;
}

/*
 * factor_c = l_c / (e_c sqrt m) / (e_c / max e + LEAST_LENGTH), l_c the length of the weights of column c,
 * e_c its effect and m its features. The threshold of the engine contains sqrt m. As a part of the length it
 * is therefore the same for all columns of the same effect; for one feature l = e.
 */
static void set_factors(sn_sparse_path *path)
{
    const sn_problem *problem = path->job.problem;
    double largest = DBL_MIN;
    for (int64_t c = 0; c < path->columns; c++) largest = fmax(largest, path->effect[c]);
    for (int64_t c = 0; c < path->columns; c++) {
        const double m = (double)(sn_problem_column_at(problem, c + 1) - sn_problem_column_at(problem, c));
        const double shape = path->effect[c] > 0.0 ? path->length[c] / (path->effect[c] * sqrt(m)) : 1.0;
        path->factor[c] = shape / (path->effect[c] / largest + LEAST_LENGTH);
    }
    path->config.group_factor = path->factor;
}

stonet_status sn_sparse_next(sn_sparse_path *path, bool *there)
{
    const int step = path->step + 1;
    *there = false;
    if (step > SN_SPARSE_STEPS) return STONET_OK;
    if (step == 0) {
        SN_TRY(train_dense(path));
    } else {
        path->config.group = sn_sparse_penalty(step);
        SN_TRY(sn_trainer_run(path->trainer, path->dense + (int64_t)step * STEP));
    }
    if (sn_trainer_report(path->trainer)->outcome != STONET_DONE) return STONET_OK;
    sn_trainer_parameters(path->trainer, path->theta);
    if (measure(path) == 0) return STONET_OK;
    if (step == 0) set_factors(path);
    path->step = step;
    *there = true;
    return STONET_OK;
}
