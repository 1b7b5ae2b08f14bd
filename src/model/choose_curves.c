/*
 * How curves are prepared (curves=auto). The choice is made before a method sees the rows, for every method
 * alike. Ridge or logistic regression on kernel features judges the ways, as it follows bent relations like a
 * network. Each way to prepare a row looks at that row alone, so only the choice among them is learned: the
 * least loss on five parts of the rows, held out in turn, wins.
 */
#include <math.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/workspace.h"
#include "choice/candidates.h"
#include "data/folds.h"
#include "front/front_kernel.h"
#include "math/kernel.h"
#include "model/model.h"
#include "net/loss.h"
#include "net/regression.h"

enum {
    FOLDS = 5,
    FEWEST_ROWS = 30,
    MOST_ROWS = 500, /* looked at */
    LANDMARKS = 200,
    SUBSTREAM = 77 /* of the subset of the rows */
};
/* Above, columns are not smooth along their order, and no curves: noise is at 1. */
static const double ROUGH = 0.05;

/* The sum of the losses of mu = coef x + intercept over the rows. */
static double sum_losses(const sn_problem *problem, const sn_rows *rows, const double *coef,
                         const double *intercept, float *mu)
{
    const int64_t m = problem->outputs, p = problem->p;
    double sum = 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        bool wrong;
        for (int64_t k = 0; k < m; k++) {
            double value = intercept[k];
            for (int64_t j = 0; j < p; j++) value += coef[k * p + j] * (double)problem->x[row * p + j];
            mu[k] = (float)value;
        }
        sum += problem->label != NULL ? sn_class_loss(mu, m, problem->label[row], &wrong)
                                      : sn_square_loss(mu, m, problem->y + row * m);
    }
    return sum;
}

/* Features of some rows through the front. */
static stonet_status see(const sn_front *front, const sn_problem *problem, const sn_rows *rows,
                         sn_workspace *keep, float **out)
{
    float *x = NULL;
    SN_TRY(SN_TAKE(keep, x, rows->n * problem->p));
    SN_TRY(SN_TAKE(keep, *out, rows->n * front->outputs));
    sn_batch_fetch(problem, rows, &(sn_batch){.x = x, .x_stride = problem->p});
    return front->ops->apply(front, rows->n, x, *out);
}

/* Adds the held-out losses of one fold, one sum a penalty. */
static stonet_status kernel_losses(const sn_problem *problem, const sn_fold *fold, const sn_front *front,
                                   const stonet_run *run, double *sum)
{
    SN_WORKSPACE(scratch);
    const int64_t d = front->outputs;
    float *train = NULL;
    sn_problem held_out = *problem;
    SN_TRY(see(front, problem, &fold->train, &scratch, &train));
    SN_ZEROS(problem->n * d, float, test);
    SN_ARRAY(problem->outputs * d, double, coef);
    SN_ARRAY(problem->outputs, double, intercept);
    SN_ARRAY(problem->outputs, float, mu);
    SN_TRY(front->ops->apply(front, problem->n, problem->x, test));
    held_out.x = test;
    held_out.p = d;
    double decay = SN_NETWORK_DECAY;
    for (int k = 0; k < SN_DECAYS; k++, decay /= SN_STEP) {
        const sn_regression fit = {.problem = problem,
                                   .rows = &fold->train,
                                   .d = d,
                                   .x = train,
                                   .l2 = decay * (double)fold->train.n};
        bool found;
        SN_TRY(sn_regress(&fit, run, coef, intercept, &found));
        sum[k] += found ? sum_losses(&held_out, &fold->test, coef, intercept, mu) : (double)INFINITY;
    }
    return STONET_OK;
}

/* The least mean held-out loss of kernel regressions. Widths and weight decays are those of the kernel lines
   in the table of candidates of a StoNet. */
static stonet_status kernel_loss(const sn_problem *problem, const sn_folds *folds, const stonet_run *run,
                                 double *best)
{
    double complexity = SN_LEAST_COMPLEXITY;
    *best = (double)INFINITY;
    for (int w = 0; w < SN_COMPLEXITIES && !sn_should_stop(run); w++, complexity *= SN_STEP) {
        const sn_front_recipe recipe = {.kind = SN_FRONT_KERNEL, .complexity = complexity, .size = LANDMARKS};
        double sum[SN_DECAYS] = {0.0};
        for (int k = 0; k < folds->count; k++) {
            SN_AUTO(sn_front) *front = NULL;
            SN_TRY(sn_front_kernel_create(problem, &folds->fold[k].train, &recipe, run->seed, &front));
            SN_TRY(kernel_losses(problem, &folds->fold[k], front, run, sum));
        }
        for (int k = 0; k < SN_DECAYS; k++) *best = fmin(*best, sum[k] / (double)folds->rows);
    }
    return STONET_OK;
}

/* The held-out loss of one way to prepare curves. */
static stonet_status curve_loss(const stonet_data *train, const sn_encoding *encoding, const stonet_run *run,
                                double *loss)
{
    SN_WORKSPACE(scratch);
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    SN_AUTO(sn_schema) *schema = NULL;
    const sn_rows all = sn_rows_range(0, stonet_data_rows(train));
    sn_problem problem;
    SN_TRY(sn_schema_fit(train, encoding, NULL, &schema));
    SN_TRY(sn_schema_problem(schema, train, &scratch, &problem));
    SN_TRY(
        sn_folds_cut(&problem, &all, &(sn_fold_plan){.count = FOLDS, .by_class = true}, run->seed, &folds));
    return kernel_loss(&problem, &folds, run, loss);
}

static stonet_status is_smooth(const stonet_data *train, const sn_encoding *encoding, bool *smooth)
{
    SN_AUTO(sn_schema) *schema = NULL;
    sn_encoding curves = *encoding;
    double roughness;
    curves.curves = SN_CURVE_CENTRE;
    SN_TRY(sn_schema_fit(train, &curves, NULL, &schema));
    SN_TRY(sn_schema_roughness(schema, train, &roughness));
    *smooth = roughness < ROUGH;
    return STONET_OK;
}

/* Sets encoding->curves to the way with the least held-out loss. SN_CURVE_NONE is tried first, so rows stay
   as they are unless another way has a smaller loss. */
static stonet_status choose_curves(const stonet_data *train, const stonet_run *run, sn_encoding *encoding)
{
    sn_encoding tried = *encoding;
    double least = (double)INFINITY, plain = (double)INFINITY;
    bool smooth;
    SN_TRY(is_smooth(train, encoding, &smooth));
    if (!smooth) {
        sn_message(run, STONET_NOTE,
                   "curves=auto: the columns are not smooth along their order, so rows stay as they are");
        return STONET_OK;
    }
    for (int how = 0; how < sn_curve_words.count && !sn_should_stop(run); how++) {
        double loss;
        tried.curves = (sn_curve)how;
        SN_TRY(curve_loss(train, &tried, run, &loss));
        if (how == SN_CURVE_NONE) plain = loss;
        if (!(loss < least)) continue;
        least = loss;
        encoding->curves = tried.curves;
    }
    sn_message(run, STONET_NOTE,
               "curves=%s was chosen: the held-out loss of a kernel regression is %.4g with it and %.4g with "
               "curves=none",
               sn_words_name(&sn_curve_words, encoding->curves), least, plain);
    return STONET_OK;
}

/* The same by some rows, where there are many. */
static stonet_status choose_by_some(const stonet_data *train, const stonet_run *run, sn_encoding *encoding)
{
    if (encoding->task == SN_TASK_WISH_NONE || sn_wish_law(encoding->task) != SN_LAW_NONE ||
        stonet_data_rows(train) < FEWEST_ROWS) {
        sn_message(run, STONET_NOTE,
                   "curves=auto needs %d rows with classes or numbers to choose by, so rows stay as they are",
                   FEWEST_ROWS);
        return STONET_OK;
    }
    const int64_t n = stonet_data_rows(train);
    if (n <= MOST_ROWS) return choose_curves(train, run, encoding);
    SN_AUTO(stonet_data) *part = NULL;
    int64_t rows[MOST_ROWS];
    SN_TRY(sn_choose_rows(n, MOST_ROWS, run->seed, SUBSTREAM, rows));
    SN_TRY(stonet_data_subset(train, rows, MOST_ROWS, &part));
    return choose_curves(part, run, encoding);
}

/* Fits that differ in the dimension alone share the choice by the checkpoint of the run. */
stonet_status sn_curves_choose(const stonet_data *train, const stonet_run *run, sn_encoding *encoding)
{
    static const char KEY[] = "curves";
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    SN_TRY(sn_checkpoint_get(run->checkpoint, KEY, &record));
    if (record.size > 0) {
        int64_t how;
        SN_TRY(sn_unpack_int(&(sn_unpack){record.bytes, record.size}, &how));
        if (how < 0 || how >= sn_curve_words.count)
            return sn_fail(STONET_ERROR_FORMAT, "a record of finished work has no way to prepare curves");
        encoding->curves = (sn_curve)how;
        return STONET_OK;
    }
    SN_TRY(choose_by_some(train, run, encoding));
    SN_TRY(sn_pack_int(&record, (int64_t)encoding->curves));
    return sn_should_stop(run) ? STONET_OK : sn_checkpoint_put(run->checkpoint, KEY, &record);
}
