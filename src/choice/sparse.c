#include "choice/sparse.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/work_queue.h"
#include "base/workspace.h"
#include "choice/baselines.h"
#include "choice/sparse_path.h"
#include "front/front_wide.h"

enum {
    RELAX = 600,      /* updates without penalty, before a set of columns is judged; ... */
    RELAX_FEW = 2000, /* ... of few features, among which the choice is close */
    FEW = 64,
    RELAX_EPOCHS = 80,         /* passes over the rows at the most */
    NONE = SN_SPARSE_STEPS + 1 /* the step after the last: no column */
};
static const double RELAX_RATE = 0.02, RELAX_DECAY = 0.003;
/* The linear model beside the network: its penalty (l2 / n), and rows x features^2 above which there is none.
 */
static const double LINEAR_PENALTY = 0.03, LINEAR_LIMIT = 5e7;
/* What judges a set of columns: few rows are learned by heart by the network of the path. */
typedef enum judge_kind { NETWORK, LINEAR, JUDGES } judge_kind;
/* What fewer columns may cost: so many standard errors, or such a part of the loss (or of what is explained
   of it, if that is less): of the sets around the right one the best is best by chance. No column at all may
   cost more errors, for that is the end. */
static const double ERRORS = 1.0, SHARE = 0.05, ERRORS_OF_NONE = 2.0;

/* ---- sets of columns --------------------------------------------------------------------------------- */

/* A front of the columns whose length is not 0, their features ascending; NULL when they are all. */
static stonet_status make_front(const sn_problem *problem, const double *length, sn_front **out)
{
    int64_t count = 0;
    *out = NULL;
    SN_ARRAY(problem->p, int64_t, feature);
    for (int64_t c = 0; c < sn_problem_columns(problem); c++) {
        const int64_t last = sn_problem_column_at(problem, c + 1);
        for (int64_t j = sn_problem_column_at(problem, c); j < last && length[c] > 0.0; j++)
            feature[count++] = j;
    }
    return count == problem->p ? STONET_OK : sn_front_columns_create(problem->p, feature, count, out);
}

/* The network of a step without the columns that are out: the shape, and room for its parameters filled. */
static stonet_status without_columns(const sn_sparse_path *path, const sn_front *front, sn_shape *shape,
                                     sn_workspace *keep, float **theta)
{
    const sn_shape *from = &path->shape;
    *shape = *from;
    shape->width[0] = front != NULL ? front->outputs : from->width[0];
    SN_TRY(sn_shape_layout(shape));
    SN_TRY(SN_TAKE(keep, *theta, shape->parameters));
    const int64_t inputs = shape->width[0], all = from->width[0];
    for (int64_t a = 0; a < shape->width[1]; a++)
        for (int64_t k = 0; k < inputs; k++)
            (*theta)[shape->weight_at[0] + a * inputs + k] =
                path->theta[from->weight_at[0] + a * all +
                            (front != NULL ? sn_front_columns_list(front)[k] : k)];
    memcpy(*theta + shape->bias_at[0], path->theta + from->bias_at[0],
           (size_t)shape->width[1] * sizeof **theta);
    for (int i = 1; i < shape->layers; i++) sn_shape_copy_layer(from, path->theta, i, shape, *theta);
    return STONET_OK;
}

/* ---- judging ----------------------------------------------------------------------------------------- */

/* What the path of a fold has led to, step by step. */
typedef struct fold_path {
    sn_stage_job job; /* of the fold */
    sn_problem known; /* its problem, as its training rows know it */
    const sn_folds *folds;
    int fold;
    sn_held_out *cost[JUDGES]; /* of each step */
    double *length;            /* of each step: columns */
    int last;                  /* step judged so far; -1: none */
} fold_path;

/* The linear model of the columns that a step has left; Inf where there is none. */
static stonet_status judge_linear(const fold_path *f, const sn_problem *seen, const sn_sparse_path *path)
{
    const sn_fold *fold = &f->folds->fold[f->fold];
    sn_held_out *cost = &f->cost[LINEAR][path->step];
    bool found = false;
    const double size = (double)fold->train.n * (double)seen->p * (double)seen->p;
    if (!f->job.shape->spread && size <= LINEAR_LIMIT)
        SN_TRY(sn_linear_measure(seen, f->folds, f->fold, LINEAR_PENALTY, f->job.run, cost, &found));
    for (int64_t i = 0; i < fold->test.n && !found; i++) cost->loss[fold->first + i] = (double)INFINITY;
    return STONET_OK;
}

/* Trains the network of a step further without a penalty and measures it on the held-out rows; and the linear
   model. */
static stonet_status judge_seen(const fold_path *f, const sn_sparse_path *path, const sn_front *front,
                                const sn_problem *seen)
{
    SN_WORKSPACE(scratch);
    SN_AUTO(sn_trainer) *trainer = NULL;
    sn_shape shape;
    sn_config config;
    float *theta = NULL;
    SN_TRY(without_columns(path, front, &shape, &scratch, &theta));
    SN_TRY(sn_config_default(f->job.config->engine, seen, &shape, &config));
    config.lr = RELAX_RATE;
    config.weight_decay = RELAX_DECAY;
    config.sweeps = SN_SPARSE_SWEEPS;
    config.schedule.kind = SN_AVERAGED;
    const int64_t updates =
        sn_sparse_updates(&config, f->job.rows.n, seen->p <= FEW ? RELAX_FEW : RELAX, RELAX_EPOCHS);
    config.epochs = (double)updates / (double)sn_train_batches(&config, f->job.rows.n);
    sn_stage_job job = f->job;
    job.problem = seen;
    job.shape = &shape;
    job.config = &config;
    SN_TRY(sn_trainer_create(&job, theta, &trainer));
    SN_TRY(sn_trainer_run(trainer, updates));
    sn_trainer_parameters(trainer, theta);
    const sn_use use = sn_stage_use(&job, theta);
    SN_TRY(sn_folds_measure(f->folds, f->fold, &use, &f->cost[NETWORK][path->step]));
    return judge_linear(f, seen, path);
}

static stonet_status judge(const fold_path *f, const sn_sparse_path *path)
{
    sn_problem seen;
    SN_AUTO(sn_front) *front = NULL;
    SN_TRY(make_front(f->job.problem, path->length, &front));
    SN_TRY(sn_front_problem(front, f->job.problem, &f->job.rows, &seen));
    const stonet_status status = judge_seen(f, path, front, &seen);
    sn_front_problem_free(f->job.problem, &seen);
    return status;
}

static bool same_columns(int64_t columns, const double *a, const double *b)
{
    for (int64_t c = 0; c < columns; c++)
        if ((a[c] > 0.0) != (b[c] > 0.0)) return false;
    return true;
}

/* A step that has no fit of its own costs what another does. */
static void copy_cost(const fold_path *f, int from, int to)
{
    for (judge_kind by = NETWORK; by < JUDGES; by++)
        sn_folds_copy(f->folds, f->fold, &f->cost[by][from], &f->cost[by][to]);
}

static stonet_status run_fold(void *user, int64_t fold, sn_pack *record)
{
    fold_path *f = (fold_path *)user + fold;
    SN_FREED_BY(sn_sparse_end) sn_sparse_path path = {0};
    bool there;
    (void)record;
    SN_TRY(sn_sparse_begin(&f->job, &path));
    for (;;) {
        SN_TRY(sn_sparse_next(&path, &there));
        if (!there) break;
        double *length = f->length + path.step * path.columns;
        memcpy(length, path.length, (size_t)path.columns * sizeof *length);
        if (f->last >= 0 && same_columns(path.columns, length, length - path.columns))
            copy_cost(f, path.step - 1, path.step);
        else
            SN_TRY(judge(f, &path));
        f->last = path.step;
    }
    for (int k = f->last + 1; k < NONE; k++) copy_cost(f, NONE, k); /* nothing was left */
    return STONET_OK;
}

typedef struct chooser {
    const sn_stage_job *job;
    sn_folds folds;
    sn_held_out cost[JUDGES][NONE + 1];
    const double *loss[NONE + 1]; /* of each step: of the better judge, and its mean */
    double mean[NONE + 1];
    sn_quiet_run quiet;
    fold_path fold[SN_FOLDS];
} chooser;

static stonet_status make_folds(chooser *c, sn_workspace *keep)
{
    const int64_t columns = sn_problem_columns(c->job->problem);
    for (int k = 0; k < c->folds.count; k++) {
        fold_path *f = &c->fold[k];
        *f = (fold_path){.job = *c->job,
                         .folds = &c->folds,
                         .fold = k,
                         .cost = {c->cost[NETWORK], c->cost[LINEAR]},
                         .last = -1};
        SN_TRY(sn_folds_problem(&c->folds, k, c->job->problem, &f->known));
        f->job.problem = &f->known;
        f->job.rows = c->folds.fold[k].train;
        f->job.threads = c->folds.count > 1 ? 1 : c->job->threads;
        f->job.run = &c->quiet.run;
        SN_TRY(SN_TAKE_ZERO(keep, f->length, NONE * columns));
    }
    return STONET_OK;
}

/* The costs of all steps, and of no column at all: of the network or of the linear model, whichever is less.
 */
static stonet_status measure_steps(chooser *c, sn_workspace *keep)
{
    for (judge_kind by = NETWORK; by < JUDGES; by++)
        for (int k = 0; k <= NONE; k++) SN_TRY(sn_held_out_create(&c->folds, &c->cost[by][k]));
    for (judge_kind by = NETWORK; by < JUDGES; by++)
        SN_TRY(sn_constant_measure(c->job->problem, &c->folds, &c->cost[by][NONE]));
    SN_TRY(make_folds(c, keep));
    SN_TRY(sn_work_queue_run(&(sn_work_set){.count = c->folds.count, .work = run_fold, .user = c->fold},
                             c->folds.count > 1 ? c->job->threads : 1, c->job->run));
    for (int k = 0; k <= NONE; k++) {
        const double *by_network = c->cost[NETWORK][k].loss, *by_line = c->cost[LINEAR][k].loss;
        const double network = sn_mean_loss(by_network, 0, c->folds.rows),
                     line = sn_mean_loss(by_line, 0, c->folds.rows);
        c->mean[k] = fmin(network, line);
        c->loss[k] = line < network ? by_line : by_network;
    }
    /* The loss of a spread is not that of a mean alone. */
    if (c->job->shape->spread) c->mean[NONE] = (double)INFINITY;
    return STONET_OK;
}

/* Mean of a - b, and its standard error. */
static void compare(int64_t n, const double *a, const double *b, double *mean, double *se)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) sum += a[i] - b[i];
    *mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) squares += (a[i] - b[i] - *mean) * (a[i] - b[i] - *mean);
    *se = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : (double)INFINITY;
}

/* The step with the fewest columns within ERRORS standard errors of the best; NONE: no column. */
static int choose_step(const chooser *c)
{
    int best = 0, step = NONE;
    for (int k = 1; k <= NONE; k++)
        if (c->mean[k] < c->mean[best]) best = k;
    const double least = c->mean[best];
    const double share = SHARE * fmin(least, fmax(c->mean[NONE] - least, 0.0));
    for (; step > best; step--) {
        if (!isfinite(c->mean[step])) continue;
        double more, se;
        compare(c->folds.rows, c->loss[step], c->loss[best], &more, &se);
        if (more <= (step == NONE ? ERRORS_OF_NONE : ERRORS) * se || more <= share) break;
    }
    return step;
}

static void chooser_free(chooser *c)
{
    for (judge_kind by = NETWORK; by < JUDGES; by++)
        for (int k = 0; k <= NONE; k++) sn_held_out_free(&c->cost[by][k]);
    for (int k = 0; k < SN_FOLDS; k++) sn_folds_problem_free(c->job->problem, &c->fold[k].known);
    sn_folds_free(&c->folds);
}

/* ---- the columns of a step --------------------------------------------------------------------------- */

static stonet_status take(const sn_stage_job *job, const double *length, sn_sparse *out)
{
    out->columns = sn_problem_columns(job->problem);
    for (int64_t c = 0; c < out->columns; c++) out->kept += length[c] > 0.0;
    return make_front(job->problem, length, &out->front);
}

/* From a path of all rows: the columns at the step, or the last one before at which there were any. */
static stonet_status take_from_all(const sn_stage_job *job, int step, sn_sparse *out)
{
    SN_FREED_BY(sn_sparse_end) sn_sparse_path path = {0};
    SN_ARRAY(sn_problem_columns(job->problem), double, length);
    SN_TRY(sn_sparse_begin(job, &path));
    for (int64_t c = 0; c < path.columns; c++) length[c] = 1.0; /* should the path not even begin */
    while (path.step < step) {
        bool there;
        SN_TRY(sn_sparse_next(&path, &there));
        if (!there) break;
        memcpy(length, path.length, (size_t)path.columns * sizeof *length);
        out->penalty = sn_sparse_penalty(path.step);
    }
    return take(job, length, out);
}

/* From the one path that was judged: the chosen step, or the last one that left a column. */
static stonet_status take_from_fold(const sn_stage_job *job, const fold_path *f, int chosen, sn_sparse *out)
{
    const int step = chosen < f->last ? chosen : f->last;
    if (step < 0) return sn_fail(STONET_ERROR_NUMERIC, "select=group: the training of its path diverged");
    out->penalty = sn_sparse_penalty(step);
    return take(job, f->length + step * sn_problem_columns(job->problem), out);
}

stonet_status sn_sparse_choose(const sn_stage_job *job, double penalty, sn_sparse *out)
{
    *out = (sn_sparse){.better = true};
    if (!isnan(penalty)) return take_from_all(job, sn_sparse_step_of(penalty), out);
    SN_WORKSPACE(scratch);
    SN_FREED_BY(chooser_free) chooser c = {.job = job};
    sn_quiet_run_init(&c.quiet, job->run);
    SN_TRY(sn_folds_make(job->problem, &job->rows, job->seed, &c.folds));
    SN_TRY(measure_steps(&c, &scratch));
    if (sn_should_stop(job->run)) { /* the network that is kept then has seen nothing of it */
        out->columns = out->kept = sn_problem_columns(job->problem);
        return STONET_OK;
    }
    const int step = choose_step(&c);
    out->better = step != NONE;
    out->held_out = c.folds.rows;
    if (c.folds.count == 1) return take_from_fold(job, &c.fold[0], step, out);
    sn_stage_job quietly = *job;
    quietly.run = &c.quiet.run;
    return take_from_all(&quietly, step < NONE ? step : SN_SPARSE_STEPS, out);
}

stonet_status sn_sparse_stay(const sn_stage_job *job, double *stay)
{
    SN_FREED_BY(sn_sparse_end) sn_sparse_path path = {0};
    SN_TRY(sn_sparse_begin(job, &path));
    for (int64_t c = 0; c < path.columns; c++) stay[c] = 0.0;
    for (;;) {
        bool there;
        double longest = 0.0;
        SN_TRY(sn_sparse_next(&path, &there));
        if (!there) return STONET_OK;
        for (int64_t c = 0; c < path.columns; c++) longest = fmax(longest, path.length[c]);
        for (int64_t c = 0; c < path.columns; c++)
            if (path.length[c] > 0.0) stay[c] = path.step + path.length[c] / (2.0 * longest);
    }
}
