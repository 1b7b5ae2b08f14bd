/*
 * learner=auto scores the plain regression of the task, and kernel regressions of several widths and
 * penalties. All are scored on the same five parts of the rows, held out in turn. The smallest loss is
 * chosen. A choice among 15 logistic regressions would need much time, so classes choose the width by least
 * squares on their indicators. To first order around even odds, a ridge lambda there is l2 = lambda / 4 in
 * the logistic loss. The penalties of the logistic regressions go up from there.
 */
#include <math.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/workspace.h"
#include "data/folds.h"
#include "data/partitions.h"
#include "learners/kernel_learner.h"
#include "learners/learner.h"
#include "math/kernel.h"
#include "net/loss.h"
#include "net/regression.h"
#include "net/scaling.h"

enum {
    FOLDS = 5,
    MOST_ROWS = 2000, /* looked at */
    FEWEST_ROWS = 30, /* below that a part has fewer than six rows to judge by */
    SUBSTREAM = 312   /* of the seed, for the rows that are looked at */
};
static const double COMPLEXITIES[] = {1.0, 4.0, 16.0};
static const double RIDGES[] = {10.0, 1.0, 0.1, 0.01, 0.001};
static const double STEPS[] = {1.0, 10.0, 100.0};
enum {
    N_COMPLEXITIES = sizeof COMPLEXITIES / sizeof *COMPLEXITIES,
    N_RIDGES = sizeof RIDGES / sizeof *RIDGES,
    N_STEPS = sizeof STEPS / sizeof *STEPS
};
/* Of the plain regression: what its learners take unless told otherwise, or no more than any kernel has. */
static const double PLAIN_LOGISTIC = 1.0, PLAIN_RIDGE = 0.001;
static const double ENOUGH = 1e-3; /* part of a logistic loss that does not change the choice */

/* What is compared, and the best so far. */
typedef struct contest {
    sn_problem problem; /* the rows that are looked at, z standardised */
    const sn_folds *folds;
    sn_front_recipe kernel; /* but for its complexity */
    const stonet_run *run;
    double loss, complexity, penalty; /* of the best; complexity 0: plain */
} contest;

/* Regressions that are scored together: on z itself (complexity 0) or on its kernels. */
typedef struct family {
    double complexity;
    int count;
    const double *penalty;
} family;

/* The features of some rows: z, or the front's. */
static stonet_status features(const sn_problem *problem, const sn_rows *rows, const sn_front *front,
                              sn_workspace *keep, float **out)
{
    float *z = NULL;
    SN_TRY(SN_TAKE(keep, z, rows->n * problem->p));
    sn_batch_fetch(problem, rows, &(sn_batch){.x = z, .x_stride = problem->p});
    *out = z;
    if (front == NULL) return STONET_OK;
    SN_TRY(SN_TAKE(keep, *out, rows->n * front->outputs));
    return front->ops->apply(front, rows->n, z, *out);
}

/* Adds the losses of coef u + intercept over the rows, in proportion to their weights. */
static stonet_status add_losses(const sn_folds *folds, const sn_regression *at, const double *coef,
                                const double *intercept, double *sum)
{
    const int64_t m = at->problem->outputs, d = at->d;
    SN_ARRAY(m, float, mu);
    for (int64_t i = 0; i < at->rows->n; i++) {
        const int64_t row = sn_rows_at(at->rows, i);
        bool wrong;
        for (int64_t k = 0; k < m; k++) {
            double value = intercept[k];
            for (int64_t j = 0; j < d; j++) value += coef[k * d + j] * (double)at->x[i * d + j];
            mu[k] = (float)value;
        }
        const double loss = at->problem->task == SN_CLASSIFICATION
                                ? sn_class_loss(mu, m, at->problem->label[row], &wrong)
                                : sn_square_loss(mu, m, at->problem->y + row * m);
        *sum += sn_folds_weight(folds, at->problem, row) * loss;
    }
    return STONET_OK;
}

/* The losses of all held-out rows, one sum a penalty; INFINITY where the training part of a fold has one
   class alone. */
static stonet_status score(const contest *on, const family *tried, double *loss)
{
    const sn_problem *problem = &on->problem;
    sn_front_recipe setting = on->kernel;
    setting.complexity = tried->complexity;
    for (int s = 0; s < tried->count; s++) loss[s] = 0.0;
    for (int k = 0; k < on->folds->count; k++) {
        SN_WORKSPACE(scratch);
        const sn_fold *fold = &on->folds->fold[k];
        SN_AUTO(sn_front) *front = NULL;
        float *train = NULL, *test = NULL;
        if (tried->complexity > 0.0)
            SN_TRY(sn_front_kernel_create(problem, &fold->train, &setting, on->run->seed, &front));
        const int64_t d = front != NULL ? front->outputs : problem->p;
        SN_TRY(features(problem, &fold->train, front, &scratch, &train));
        SN_TRY(features(problem, &fold->test, front, &scratch, &test));
        SN_ARRAY(problem->outputs * d, double, coef);
        SN_ARRAY(problem->outputs, double, intercept);
        for (int s = 0; s < tried->count; s++) {
            const sn_regression fit = {problem, &fold->train, d, train, tried->penalty[s], ENOUGH};
            const sn_regression seen = {.problem = problem, .rows = &fold->test, .d = d, .x = test};
            bool found;
            SN_TRY(sn_regress(&fit, on->run, coef, intercept, &found));
            if (found)
                SN_TRY(add_losses(on->folds, &seen, coef, intercept, &loss[s]));
            else
                loss[s] = (double)INFINITY;
        }
    }
    return STONET_OK;
}

/* The best of the family becomes the best of all where it is. What these rows do not allow is left out. */
static stonet_status offer(contest *on, const family *tried)
{
    double loss[N_RIDGES];
    const stonet_status status = score(on, tried, loss);
    if (status == STONET_ERROR_DATA || status == STONET_ERROR_NUMERIC) return STONET_OK;
    SN_TRY(status);
    for (int s = 0; s < tried->count; s++) {
        if (!(loss[s] < on->loss)) continue;
        on->loss = loss[s];
        on->complexity = tried->complexity;
        on->penalty = tried->penalty[s];
    }
    return STONET_OK;
}

static stonet_status offer_ridges(contest *on)
{
    for (int c = 0; c < N_COMPLEXITIES; c++) SN_TRY(offer(on, &(family){COMPLEXITIES[c], N_RIDGES, RIDGES}));
    return STONET_OK;
}

/* Of the width that is best by least squares on indicators of the classes. */
static stonet_status offer_logistic(contest *on)
{
    const int64_t classes = on->problem.outputs;
    double penalty[N_STEPS];
    SN_ZEROS(on->problem.n * classes, double, y);
    for (int64_t i = 0; i < on->problem.n; i++) y[i * classes + on->problem.label[i]] = 1.0;
    contest squares = *on;
    squares.problem.task = SN_REGRESSION;
    squares.problem.y = y;
    squares.loss = (double)INFINITY;
    SN_TRY(offer_ridges(&squares));
    if (!isfinite(squares.loss)) return STONET_OK;
    for (int s = 0; s < N_STEPS; s++) penalty[s] = squares.penalty / 4.0 * STEPS[s];
    return offer(on, &(family){squares.complexity, N_STEPS, penalty});
}

/* The rows that are looked at, as a problem of their own, whose z is standardised in its place. */
static stonet_status take_rows(const sn_problem *from, uint64_t seed, sn_problem *out)
{
    const int64_t n = from->n < MOST_ROWS ? from->n : MOST_ROWS;
    SN_FREED_BY(sn_scaling_clear) sn_scaling scaling = {0};
    SN_ARRAY(n, int64_t, list);
    SN_TRY(sn_choose_rows(from->n, n, seed, SUBSTREAM, list));
    SN_TRY(sn_problem_subset(from, list, n, out));
    out->law = NULL; /* y is looked at as it is */
    SN_TRY(sn_scaling_learn(&scaling, out->x, n, from->p));
    sn_scaling_apply(&scaling, out->x, n, (float *)(uintptr_t)out->x);
    return STONET_OK;
}

/* Kernel regressions, and beside them the plain one where its penalty is given. */
static stonet_status hold_contest(contest *on, const double *plain)
{
    const bool classes = on->problem.task == SN_CLASSIFICATION;
    const sn_fold_plan plan = {.count = FOLDS, .by_class = classes};
    const sn_rows rows = sn_rows_range(0, on->problem.n);
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    SN_TRY(sn_folds_cut(&on->problem, &rows, &plan, on->run->seed, &folds));
    on->folds = &folds;
    stonet_status status = STONET_OK;
    if (folds.count > 1 && plain != NULL) status = offer(on, &(family){0.0, 1, plain});
    if (folds.count > 1 && status == STONET_OK) status = classes ? offer_logistic(on) : offer_ridges(on);
    on->folds = NULL; /* they go with this scope */
    return status;
}

static stonet_status set_number(sn_settings *settings, const char *name, double value)
{
    char text[32];
    sn_format(text, sizeof text, "%.17g", value);
    return sn_settings_set(settings, name, text);
}

stonet_status sn_learner_choose(const sn_problem *problem, const stonet_run *run, const sn_learner *plain,
                                const sn_learner **learner, sn_settings **settings)
{
    SN_FREED_BY(sn_problem_subset_free) sn_problem some = {0};
    const sn_learner *kernel = sn_learner_find("kernel");
    SN_AUTO(sn_settings) *of_kernel = NULL;
    const stonet_run how = {.size = sizeof how, .seed = run != NULL ? run->seed : 1};
    contest on = {.run = &how, .loss = INFINITY};
    *learner = plain;
    *settings = NULL;
    SN_TRY(sn_settings_create(kernel->params, kernel->n_params, &of_kernel));
    on.kernel = sn_kernel_learner_setting(of_kernel);
    /* Features of more columns than there are landmarks are not what so few kernels can follow. */
    if (problem->n >= FEWEST_ROWS && problem->p <= on.kernel.size) {
        SN_TRY(take_rows(problem, how.seed, &some));
        on.problem = some;
        SN_TRY(hold_contest(&on, problem->task == SN_CLASSIFICATION ? &PLAIN_LOGISTIC : &PLAIN_RIDGE));
    }
    if (!(on.complexity > 0.0)) return sn_settings_create(plain->params, plain->n_params, settings);
    SN_TRY(set_number(of_kernel, "complexity", on.complexity));
    SN_TRY(set_number(of_kernel, "penalty", on.penalty));
    *learner = kernel;
    return SN_GIVE(of_kernel, settings);
}

stonet_status sn_kernel_loss(const sn_problem *problem, const stonet_run *run, double *loss)
{
    const sn_learner *kernel = sn_learner_find("kernel");
    SN_AUTO(sn_settings) *of_kernel = NULL;
    contest on = {.problem = *problem, .run = run, .loss = INFINITY};
    SN_TRY(sn_settings_create(kernel->params, kernel->n_params, &of_kernel));
    on.kernel = sn_kernel_learner_setting(of_kernel);
    SN_TRY(hold_contest(&on, NULL));
    *loss = on.loss / (double)problem->n;
    return STONET_OK;
}
