#include "choice/baselines.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "choice/incomplete.h"
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

/* Position i of a pass over the response is done. Every STEP positions, pages of a table on disk are
   released. */
static void pass(const sn_problem *problem, const sn_rows *rows, int64_t i)
{
    enum { STEP = 1 << 18 };
    if (problem->raw != NULL && (i % STEP == STEP - 1 || i == rows->n - 1))
        sn_batch_expect(problem, rows, i / STEP * STEP, i % STEP + 1, SN_ROWS_REST);
}

/* A guess that is the same for every row. */
typedef struct guess {
    double *mean;   /* outputs: the mean response, or the logarithms of the classes' shares (each class with
                       half a row more than it has: none is 0) */
    int64_t label;  /* the class with the largest share */
    double weights; /* of the rows it was learned from */
    double parameter[SN_LAW_PARAMETERS]; /* of a law, which has a constant among them */
} guess;

/* g->mean[k] is the weighted mean of target k, or log((n_k + 1/2) / (n + m/2)) for class k of m. n_k and n
   are sums of weights. g->label is the class with the largest mean. */
static void learn_mean(const sn_problem *problem, const sn_rows *rows, guess *g)
{
    const int64_t m = problem->outputs;
    const bool classes = problem->task == SN_CLASSIFICATION;
    for (int64_t k = 0; k < m; k++) g->mean[k] = classes ? 0.5 : 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        const double weight = sn_problem_weight(problem, row);
        g->weights += weight;
        if (classes)
            g->mean[sn_problem_label(problem, row)] += weight;
        else
            for (int64_t k = 0; k < m; k++) g->mean[k] += weight * sn_problem_target(problem, row, k);
        pass(problem, rows, i);
    }
    for (int64_t k = 0; k < m; k++) {
        g->mean[k] = classes ? log(g->mean[k] / (g->weights + 0.5 * (double)m)) : g->mean[k] / g->weights;
        if (g->mean[k] > g->mean[g->label]) g->label = k;
    }
}

static stonet_status learn_guess(const sn_problem *problem, const sn_rows *rows, sn_workspace *keep, guess *g)
{
    int64_t *list = NULL;
    *g = (guess){0};
    SN_TRY(SN_TAKE(keep, g->mean, problem->outputs));
    learn_mean(problem, rows, g);
    if (problem->law == NULL) return STONET_OK;
    SN_TRY(SN_TAKE(keep, list, SN_SETTLE_ROWS));
    const sn_rows some = sn_rows_evenly(rows, SN_SETTLE_ROWS, list);
    return sn_settle_by(problem, &some, NULL, true, g->parameter);
}

/* The loss of the guess for a row. */
static double guess_loss(const sn_problem *problem, const guess *g, int64_t row)
{
    if (problem->law != NULL)
        return problem->law->loss(problem->law, problem->seen + row * SN_LAW_SEEN, 0.0, g->parameter, NULL);
    if (problem->task == SN_CLASSIFICATION) return -g->mean[sn_problem_label(problem, row)];
    double sum = 0.0;
    for (int64_t k = 0; k < problem->outputs; k++) {
        const double off = sn_problem_target(problem, row, k) - g->mean[k];
        sum += off * off / 2.0;
    }
    return sum;
}

bool sn_is_next_to(double loss, double constant)
{
    return !(loss < (1.0 - SN_LITTLE) * constant);
}

stonet_status sn_constant_loss(const sn_problem *problem, const sn_rows *rows, double *loss)
{
    SN_WORKSPACE(scratch);
    guess g;
    SN_TRY(learn_guess(problem, rows, &scratch, &g));
    *loss = 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        *loss += sn_problem_weight(problem, row) * guess_loss(problem, &g, row) / g.weights;
        pass(problem, rows, i);
    }
    return STONET_OK;
}

stonet_status sn_constant_interval(const sn_problem *problem, const sn_rows *rows, sn_estimate *estimate)
{
    SN_WORKSPACE(scratch);
    guess g;
    SN_TRY(learn_guess(problem, rows, &scratch, &g));
    const sn_fold_mean others = {.mean = 1.0 - exp(g.mean[g.label])};
    sn_rate_interval(&others, (double)rows->n, estimate);
    estimate->low = fmin(estimate->low, estimate->error);
    estimate->high = fmax(estimate->high, estimate->error);
    return STONET_OK;
}

stonet_status sn_constant_measure(const sn_problem *problem, const sn_folds *folds, sn_held_out *cost)
{
    SN_WORKSPACE(scratch);
    guess g;
    for (int k = 0; k < folds->count; k++) {
        const sn_fold *fold = &folds->fold[k];
        SN_TRY(learn_guess(problem, &fold->train, &scratch, &g));
        for (int64_t i = 0; i < fold->test.n; i++) {
            const int64_t row = sn_rows_at(&fold->test, i);
            const double weight = sn_folds_weight(folds, problem, row);
            const bool wrong =
                problem->task == SN_CLASSIFICATION && sn_problem_label(problem, row) != g.label;
            cost->loss[fold->first + i] = weight * guess_loss(problem, &g, row);
            cost->wrong[fold->first + i] = wrong ? weight : 0.0;
        }
    }
    return STONET_OK;
}

/* ---- linear regression ------------------------------------------------------------------------------- */

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
    const sn_rows *rows = first->rows;
    const sn_law *law = first->problem->law;
    sn_problem guessed = *first->problem;
    sn_regression regression = *first;
    bool found;
    SN_ARRAY(rows->n, float, mu);
    SN_ARRAY(guessed.n, double, y);
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

stonet_status sn_linear_measure(const sn_problem *problem, const sn_folds *folds, int fold, double penalty,
                                const stonet_run *run, sn_held_out *cost, bool *found)
{
    const int64_t p = problem->p, m = problem->outputs;
    const sn_rows *test = &folds->fold[fold].test;
    sn_problem settled = *problem;
    double parameter[SN_LAW_PARAMETERS];
    sn_shape shape = {.task = problem->task, .layers = 1, .width = {p, m}};
    SN_TRY(sn_shape_layout(&shape));
    const int64_t most = NUMBERS / p > ROWS_A_COLUMN * p ? NUMBERS / p : ROWS_A_COLUMN * p;
    const int64_t count = folds->fold[fold].train.n < most ? folds->fold[fold].train.n : most;
    SN_ARRAY(count, int64_t, list);
    const sn_rows rows = sn_rows_evenly(&folds->fold[fold].train, count, list);
    SN_ARRAY((rows.n > test->n ? rows.n : test->n) * p, float, x);
    SN_TRY(sn_batch_features(problem, &rows, x));
    SN_ZEROS(m * p, double, coef);
    SN_ZEROS(m, double, intercept);
    SN_ARRAY(test->n * m, float, mu);
    SN_ARRAY(m, double, room);
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
    SN_TRY(sn_batch_features(problem, test, x));
    predict_linear(problem, test->n, x, coef, intercept, mu);
    sn_folds_take(folds, fold, &settled, &shape, mu, room, cost);
    /* As a network of one layer, rows with gaps are judged as those of others are. */
    SN_ARRAY(shape.parameters, float, theta);
    for (int64_t k = 0; k < shape.parameters; k++)
        theta[k] = (float)(k < shape.bias_at[0] ? coef[k] : intercept[k - shape.bias_at[0]]);
    return sn_incomplete_judge(folds, fold, &(sn_use){&settled, NULL, &shape, theta, 1}, cost);
}

/* At one penalty, on all folds; it takes the place of what is there if it is better. */
static stonet_status try_penalty(const sn_problem *problem, const sn_folds *folds, double penalty,
                                 const stonet_run *run, sn_baselines *baselines)
{
    sn_held_out *best = &baselines->linear;
    SN_FREED_BY(sn_held_out_free) sn_held_out cost = {0};
    bool found = true;
    SN_TRY(sn_held_out_create(folds, &cost));
    for (int k = 0; k < folds->count && found; k++)
        SN_TRY(sn_linear_measure(problem, folds, k, penalty, run, &cost, &found));
    const double mean = sn_mean_loss(cost.loss, 0, folds->rows);
    if (!found || (best->loss != NULL && !(mean < sn_mean_loss(best->loss, 0, folds->rows))))
        return STONET_OK;
    const sn_held_out before = *best;
    *best = cost;
    cost = before;
    return STONET_OK;
}

stonet_status sn_baselines_measure(const sn_problem *problem, const sn_folds *folds, const sn_shape *shape,
                                   const stonet_run *run, sn_baselines *baselines)
{
    *baselines = (sn_baselines){0};
    SN_TRY(sn_held_out_create(folds, &baselines->constant));
    SN_TRY(sn_constant_measure(problem, folds, &baselines->constant));
    if (problem->p > MOST_COLUMNS || shape->spread || problem->functions != NULL) return STONET_OK;
    const int penalties = sn_regression_is_small(problem, folds->fold[0].train.n) ? N_PENALTIES : 1;
    for (int k = 0; k < penalties && !sn_should_stop(run); k++)
        SN_TRY(try_penalty(problem, folds, PENALTIES[k], run, baselines));
    return STONET_OK;
}

void sn_baselines_free(sn_baselines *baselines)
{
    sn_held_out_free(&baselines->constant);
    sn_held_out_free(&baselines->linear);
}
