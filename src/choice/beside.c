#include "choice/beside.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "engine/settle.h"
#include "net/regression.h"

static const double PENALTIES[] = {0.003, 0.3, 0.03, 3e-4, 3e-5}; /* l2 / n; large problems: the first */
enum {
    N_PENALTIES = sizeof PENALTIES / sizeof *PENALTIES,
    MOST_COLUMNS = 2000, /* that a regression is worth its time for */
    NUMBERS = 4000000,   /* of x that a regression is fitted on: of more, an even part of the rows, ... */
    ROWS_A_COLUMN = 200  /* ... so many for each column at the least */
};

/* ---- the constant ------------------------------------------------------------------------------------ */

/* Position i of a pass over the response is done: from time to time, that of a table on disk may rest. */
static void pass(const sn_problem *problem, const sn_rows *rows, int64_t i)
{
    enum { STEP = 1 << 18 };
    if (problem->raw != NULL && (i % STEP == STEP - 1 || i == rows->n - 1))
        sn_batch_expect(problem, rows, i / STEP * STEP, i % STEP + 1, false);
}

/* mean (outputs) gets the mean response of the rows, or the logarithms of the classes' shares (each class
   with half a row more than it has: none is 0). Returns the rows' weight. */
static double best_constant(const sn_problem *problem, const sn_rows *rows, double *mean)
{
    const int64_t m = problem->outputs;
    const bool classes = problem->task == SN_CLASSIFICATION;
    double weights = 0.0;
    for (int64_t k = 0; k < m; k++) mean[k] = classes ? 0.5 : 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        const double weight = sn_problem_weight(problem, row);
        weights += weight;
        if (classes)
            mean[sn_problem_label(problem, row)] += weight;
        else
            for (int64_t k = 0; k < m; k++) mean[k] += weight * sn_problem_target(problem, row, k);
        pass(problem, rows, i);
    }
    for (int64_t k = 0; k < m; k++)
        mean[k] = classes ? log(mean[k] / (weights + 0.5 * (double)m)) : mean[k] / weights;
    return weights;
}

/* The loss of guessing `mean` for a row. */
static double constant_row(const sn_problem *problem, const double *mean, int64_t row)
{
    if (problem->task == SN_CLASSIFICATION) return -mean[sn_problem_label(problem, row)];
    double sum = 0.0;
    for (int64_t k = 0; k < problem->outputs; k++) {
        const double off = sn_problem_target(problem, row, k) - mean[k];
        sum += off * off / 2.0;
    }
    return sum;
}

static int64_t largest(const double *values, int64_t n)
{
    int64_t at = 0;
    for (int64_t k = 1; k < n; k++)
        if (values[k] > values[at]) at = k;
    return at;
}

static stonet_status settle_constant(const sn_problem *problem, const sn_rows *rows, double *parameter)
{
    SN_WORKSPACE(scratch);
    int64_t *list = NULL;
    SN_TRY(SN_TAKE(&scratch, list, SN_SETTLE_ROWS));
    const sn_rows some = sn_rows_evenly(rows, SN_SETTLE_ROWS, list);
    return sn_settle_by(problem, &some, NULL, true, parameter);
}

/* The same of a problem with a law, whose parameters have a constant among them. */
static stonet_status constant_law_loss(const sn_problem *problem, const sn_rows *rows, double *loss)
{
    double parameter[SN_LAW_PARAMETERS], weights = 0.0;
    const double none = 0.0;
    SN_TRY(settle_constant(problem, rows, parameter));
    *loss = 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        const double weight = sn_problem_weight(problem, row);
        weights += weight;
        *loss += weight *
                 problem->law->loss(problem->law, problem->seen + row * SN_LAW_SEEN, none, parameter, NULL);
    }
    *loss /= weights;
    return STONET_OK;
}

stonet_status sn_constant_loss(const sn_problem *problem, const sn_rows *rows, double *loss)
{
    double *mean;
    if (problem->law != NULL) return constant_law_loss(problem, rows, loss);
    SN_TRY(SN_NEW(mean, problem->outputs));
    const double weights = best_constant(problem, rows, mean);
    *loss = 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        *loss += sn_problem_weight(problem, row) * constant_row(problem, mean, row) / weights;
        pass(problem, rows, i);
    }
    sn_free(mean);
    return STONET_OK;
}

stonet_status sn_constant_interval(const sn_problem *problem, const sn_rows *rows, sn_estimate *estimate)
{
    double *mean;
    SN_TRY(SN_NEW(mean, problem->outputs));
    best_constant(problem, rows, mean);
    const sn_fold_mean others = {.mean = 1.0 - exp(mean[largest(mean, problem->outputs)])};
    sn_free(mean);
    sn_rate_interval(&others, (double)rows->n, estimate);
    estimate->low = fmin(estimate->low, estimate->error);
    estimate->high = fmax(estimate->high, estimate->error);
    return STONET_OK;
}

/* On the held-out rows of a fold, with the parameters of its training rows. */
static stonet_status constant_law_measure(const sn_problem *problem, const sn_folds *folds, int fold,
                                          sn_held_out *cost)
{
    SN_WORKSPACE(scratch);
    double parameter[SN_LAW_PARAMETERS], room;
    float *mu = NULL;
    sn_problem settled = *problem;
    sn_shape shape = {.task = SN_REGRESSION, .layers = 1};
    shape.width[1] = 1;
    SN_TRY(SN_TAKE_ZERO(&scratch, mu, folds->fold[fold].test.n));
    SN_TRY(settle_constant(problem, &folds->fold[fold].train, parameter));
    settled.parameter = parameter;
    sn_folds_take(folds, fold, &settled, &shape, mu, &room, cost);
    return STONET_OK;
}

stonet_status sn_constant_measure(const sn_problem *problem, const sn_folds *folds, double *mean,
                                  sn_held_out *cost)
{
    for (int k = 0; k < folds->count; k++) {
        const sn_fold *fold = &folds->fold[k];
        if (problem->law != NULL) {
            SN_TRY(constant_law_measure(problem, folds, k, cost));
            continue;
        }
        best_constant(problem, &fold->train, mean);
        const int64_t guess = largest(mean, problem->outputs);
        for (int64_t i = 0; i < fold->test.n; i++) {
            const int64_t row = sn_rows_at(&fold->test, i);
            const double weight = sn_folds_weight(folds, problem, row);
            const bool wrong = problem->task == SN_CLASSIFICATION && sn_problem_label(problem, row) != guess;
            cost->loss[fold->first + i] = weight * constant_row(problem, mean, row);
            cost->wrong[fold->first + i] = wrong ? weight : 0.0;
        }
    }
    return STONET_OK;
}

/* ---- linear regression ------------------------------------------------------------------------------- */

/* The features of the rows, n x p, in the workspace. */
static stonet_status look(const sn_problem *problem, const sn_rows *rows, sn_workspace *keep, float **x)
{
    SN_TRY(SN_TAKE(keep, *x, rows->n * problem->p));
    return sn_batch_features(problem, rows, *x);
}

/* All rows or, of more than are enough, an even part. */
static stonet_status take_rows(int64_t p, const sn_rows *all, sn_workspace *keep, sn_rows *part)
{
    const int64_t by_numbers = NUMBERS / p, by_columns = ROWS_A_COLUMN * p;
    const int64_t enough = by_numbers > by_columns ? by_numbers : by_columns;
    int64_t *list = NULL;
    *part = *all;
    if (all->n <= enough) return STONET_OK;
    SN_TRY(SN_TAKE(keep, list, enough));
    for (int64_t i = 0; i < enough; i++)
        list[i] = sn_rows_at(all, (int64_t)((double)i / (double)enough * (double)all->n));
    *part = sn_rows_list(list, enough);
    return STONET_OK;
}

/* mu (rows x outputs) of rows x (n x p). */
static void predict_linear(const sn_problem *problem, int64_t n, const float *x, const double *coef,
                           const double *intercept, float *mu)
{
    const int64_t p = problem->p, m = problem->outputs;
    for (int64_t i = 0; i < n * m; i++) {
        double sum = intercept[i % m];
        for (int64_t j = 0; j < p; j++) sum += coef[i % m * p + j] * (double)x[i / m * p + j];
        mu[i] = (float)sum;
    }
}

/* The regression under a law: the expected residuals are regressed on x again and again (EM), from that of
   the first guess at y in coef. The parameters of the law are left in `parameter`. */
static stonet_status regress_law(const sn_regression *first, const stonet_run *run, double *coef,
                                 double *intercept, double *parameter)
{
    enum { ROUNDS = 30 };
    SN_WORKSPACE(scratch);
    const sn_rows *rows = first->rows;
    const sn_law *law = first->problem->law;
    sn_problem guessed = *first->problem;
    sn_regression regression = *first;
    float *mu = NULL;
    double *y = NULL;
    bool found;
    SN_TRY(SN_TAKE(&scratch, mu, rows->n));
    SN_TRY(SN_TAKE(&scratch, y, guessed.n));
    guessed.y = y;
    regression.problem = &guessed;
    for (int round = 0; round <= ROUNDS; round++) {
        predict_linear(&guessed, rows->n, first->x, coef, intercept, mu);
        SN_TRY(sn_settle_by(first->problem, rows, mu, round == 0, parameter));
        if (round == ROUNDS || sn_should_stop(run)) break;
        for (int64_t i = 0; i < rows->n; i++) {
            const int64_t row = sn_rows_at(rows, i);
            const double at = (double)mu[i];
            y[row] = at + law->pull(law, first->problem->seen + row * SN_LAW_SEEN, at, parameter, 0.0);
        }
        SN_TRY(sn_regress(&regression, run, coef, intercept, &found));
    }
    return STONET_OK;
}

stonet_status sn_linear_measure(const sn_problem *problem, const sn_folds *folds, int fold,
                                const sn_shape *shape, double penalty, const stonet_run *run,
                                sn_held_out *cost, bool *found)
{
    SN_WORKSPACE(scratch);
    const int64_t p = problem->p, m = problem->outputs;
    const sn_rows *test = &folds->fold[fold].test;
    sn_problem settled = *problem;
    sn_rows rows;
    float *x = NULL, *mu = NULL;
    double *coef = NULL, *intercept = NULL, *room = NULL, parameter[SN_LAW_PARAMETERS];
    SN_TRY(take_rows(p, &folds->fold[fold].train, &scratch, &rows));
    SN_TRY(look(problem, &rows, &scratch, &x));
    SN_TRY(SN_TAKE_ZERO(&scratch, coef, m * p));
    SN_TRY(SN_TAKE_ZERO(&scratch, intercept, m));
    SN_TRY(SN_TAKE(&scratch, mu, test->n * m));
    SN_TRY(SN_TAKE(&scratch, room, m));
    const sn_regression regression = {.problem = problem,
                                      .rows = &rows,
                                      .d = p,
                                      .x = x,
                                      .l2 = penalty * (double)rows.n,
                                      .enough = SN_ROUGHLY};
    SN_TRY(sn_regress(&regression, run, coef, intercept, found));
    if (!*found) return STONET_OK;
    if (problem->law != NULL) {
        SN_TRY(regress_law(&regression, run, coef, intercept, parameter));
        settled.parameter = parameter;
    }
    SN_TRY(look(problem, test, &scratch, &x));
    predict_linear(problem, test->n, x, coef, intercept, mu);
    sn_folds_take(folds, fold, &settled, shape, mu, room, cost);
    return STONET_OK;
}

/* At one penalty, on all folds; it takes the place of what is there if it is better. */
static stonet_status try_penalty(const sn_problem *problem, const sn_folds *folds, const sn_shape *shape,
                                 double penalty, const stonet_run *run, sn_beside *beside)
{
    sn_held_out cost, *best = &beside->linear;
    bool found = true;
    stonet_status status = sn_held_out_create(folds, &cost);
    for (int k = 0; k < folds->count && found && status == STONET_OK; k++)
        status = sn_linear_measure(problem, folds, k, shape, penalty, run, &cost, &found);
    if (status == STONET_OK && found &&
        (best->loss == NULL ||
         sn_mean_loss(cost.loss, 0, folds->rows) < sn_mean_loss(best->loss, 0, folds->rows))) {
        const sn_held_out before = *best;
        *best = cost;
        cost = before;
    }
    sn_held_out_free(&cost);
    return status;
}

stonet_status sn_beside_measure(const sn_problem *problem, const sn_folds *folds, const sn_shape *shape,
                                const stonet_run *run, sn_beside *beside)
{
    SN_WORKSPACE(scratch);
    double *mean = NULL;
    *beside = (sn_beside){0};
    sn_shape plain = {.task = shape->task, .layers = 1}; /* regression has no spread */
    plain.width[1] = problem->outputs;
    SN_TRY(SN_TAKE(&scratch, mean, problem->outputs));
    SN_TRY(sn_held_out_create(folds, &beside->constant));
    SN_TRY(sn_constant_measure(problem, folds, mean, &beside->constant));
    if (problem->p > MOST_COLUMNS || shape->spread) return STONET_OK;
    const int penalties = sn_regression_is_small(problem, folds->fold[0].train.n) ? N_PENALTIES : 1;
    for (int k = 0; k < penalties && !sn_should_stop(run); k++)
        SN_TRY(try_penalty(problem, folds, &plain, PENALTIES[k], run, beside));
    return STONET_OK;
}

void sn_beside_free(sn_beside *beside)
{
    sn_held_out_free(&beside->constant);
    sn_held_out_free(&beside->linear);
}
