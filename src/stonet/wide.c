#include "stonet/wide.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "net/loss.h"
#include "stonet/holdout.h"
#include "stonet/regression.h"

static const int64_t COUNTS[] = {1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30, 40}; /* columns */
static const double COLUMN_PENALTY = 0.01, PENALTIES[] = {0.3, 0.03, 0.003};       /* l2 / n; components */
enum {
    N_COUNTS = sizeof COUNTS / sizeof *COUNTS,
    N_PENALTIES = sizeof PENALTIES / sizeof *PENALTIES,
    CANDIDATES = N_COUNTS + N_PENALTIES,
    MOST_COMPONENTS = 100,
    WIDE = 200,        /* columns from which a table may be wide */
    COLUMNS_A_ROW = 2, /* and how many more of them than rows it then has */
    ROWS_A_COLUMN = 4  /* rows that a column must have to be chosen */
};
/* Standard errors within which fewer columns are as good, and by which components must be better. */
static const double AS_GOOD = 0.5;

bool sn_wide_applies(const sn_problem *problem)
{
    return problem->p > WIDE && problem->p > COLUMNS_A_ROW * problem->n;
}

/* One regression of a fold, and what it costs on its held-out rows. */
typedef struct trial {
    const sn_problem *problem;
    const sn_holdout *holdout;
    int fold;
    int64_t d;
    const float *u[2]; /* features of the training and the held-out rows */
    double penalty;
} trial;

static stonet_status measure(const trial *t, const stonet_run *run, double *loss)
{
    const sn_problem *problem = t->problem;
    const sn_fold *fold = &t->holdout->fold[t->fold];
    const int64_t m = problem->outputs, d = t->d;
    SN_WORKSPACE(scratch);
    double *coef = NULL, *intercept = NULL, *room = NULL;
    float *mu = NULL;
    bool found, wrong;
    SN_TRY(SN_TAKE(&scratch, coef, m * d));
    SN_TRY(SN_TAKE(&scratch, intercept, m));
    SN_TRY(SN_TAKE(&scratch, mu, m));
    SN_TRY(SN_TAKE(&scratch, room, m));
    const sn_regression ridge = {.problem = problem,
                                 .rows = &fold->train,
                                 .d = d,
                                 .x = t->u[0],
                                 .l2 = t->penalty * (double)fold->train.n};
    SN_TRY(sn_regress(&ridge, run, coef, intercept, &found));
    for (int64_t i = 0; i < fold->test.n; i++) {
        const int64_t row = sn_rows_at(&fold->test, i);
        for (int64_t k = 0; k < m; k++) {
            double value = found ? intercept[k] : 0.0;
            for (int64_t j = 0; j < d && found; j++) value += coef[k * d + j] * (double)t->u[1][i * d + j];
            mu[k] = (float)value;
        }
        loss[fold->first + i] = problem->task == SN_CLASSIFICATION
                                    ? sn_class_loss(mu, m, sn_problem_label(problem, row), &wrong)
                                    : sn_square_loss(mu, m, sn_problem_targets(problem, row, room));
    }
    return STONET_OK;
}

static stonet_status fetch(const sn_problem *problem, const sn_rows *rows, sn_workspace *keep, float **x)
{
    SN_TRY(SN_TAKE(keep, *x, rows->n * problem->p));
    SN_TRY(sn_batch_prepare(problem, rows));
    sn_batch batch = {.x = *x, .x_stride = problem->p};
    sn_batch_fetch(problem, rows, &batch);
    return STONET_OK;
}

/* Some columns of the rows, n x count; the rows are fetched a few at a time. */
static stonet_status fetch_columns(const sn_problem *problem, const sn_rows *rows, const int64_t *columns,
                                   int64_t count, sn_workspace *keep, float **out)
{
    enum { BLOCK_ROWS = 256 };
    float *x;
    SN_TRY(SN_TAKE(keep, *out, rows->n * count));
    SN_TRY(sn_batch_prepare(problem, rows));
    SN_TRY(SN_NEW_RAW(x, (rows->n < BLOCK_ROWS ? rows->n : BLOCK_ROWS) * problem->p));
    for (int64_t first = 0; first < rows->n; first += BLOCK_ROWS) {
        const int64_t left = rows->n - first;
        const sn_rows part = sn_rows_part(rows, first, left < BLOCK_ROWS ? left : BLOCK_ROWS);
        sn_batch batch = {.x = x, .x_stride = problem->p};
        sn_batch_fetch(problem, &part, &batch);
        for (int64_t i = 0; i < part.n; i++)
            for (int64_t k = 0; k < count; k++)
                (*out)[(first + i) * count + k] = x[i * problem->p + columns[k]];
    }
    sn_free(x);
    return STONET_OK;
}

/* The first `count` of `p` columns and their squares, n x 2 count. */
static void gather(int64_t n, int64_t p, const float *x, int64_t count, float *u)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < count; k++) {
            const float value = x[i * p + k];
            u[i * 2 * count + k] = value;
            u[i * 2 * count + count + k] = value * value;
        }
}

static int64_t most_columns(const sn_problem *problem, const sn_holdout *holdout)
{
    const int64_t by_rows = holdout->fold[0].train.n / ROWS_A_COLUMN;
    return by_rows < problem->p ? by_rows : problem->p;
}

static bool is_allowed(const sn_problem *problem, const sn_holdout *holdout, int at)
{
    return COUNTS[at] <= most_columns(problem, holdout);
}

/* All numbers of columns on one fold. */
static stonet_status measure_columns(const sn_stage_job *job, const sn_holdout *holdout, int k,
                                     sn_held_out *cost)
{
    const sn_problem *problem = job->problem;
    const sn_fold *fold = &holdout->fold[k];
    SN_WORKSPACE(scratch);
    int64_t columns[64], most = 0;
    float *x[2] = {NULL, NULL}, *u[2] = {NULL, NULL};
    for (int at = 0; at < N_COUNTS; at++)
        if (is_allowed(problem, holdout, at)) most = COUNTS[at];
    SN_TRY(sn_wide_order(problem, &fold->train, most, columns));
    const sn_rows rows[2] = {fold->train, fold->test};
    for (int part = 0; part < 2; part++) {
        SN_TRY(fetch_columns(problem, &rows[part], columns, most, &scratch, &x[part]));
        SN_TRY(SN_TAKE(&scratch, u[part], rows[part].n * 2 * most));
    }
    for (int at = 0; at < N_COUNTS; at++) {
        if (!is_allowed(problem, holdout, at)) break;
        for (int part = 0; part < 2; part++) gather(rows[part].n, most, x[part], COUNTS[at], u[part]);
        const trial t = {problem, holdout, k, 2 * COUNTS[at], {u[0], u[1]}, COLUMN_PENALTY};
        SN_TRY(measure(&t, job->run, cost[at].loss));
    }
    return STONET_OK;
}

static int64_t components_of(const sn_problem *problem)
{
    const int64_t half = problem->n / 2;
    return half < MOST_COMPONENTS ? (half > 1 ? half : 1) : MOST_COMPONENTS;
}

/* All penalties of the components on one fold. */
static stonet_status measure_components(const sn_stage_job *job, const sn_holdout *holdout, int k,
                                        sn_held_out *cost)
{
    const sn_problem *problem = job->problem;
    const sn_fold *fold = &holdout->fold[k];
    const sn_rows rows[2] = {fold->train, fold->test};
    SN_WORKSPACE(scratch);
    sn_front *front;
    float *x[2] = {NULL, NULL}, *u[2] = {NULL, NULL};
    SN_TRY(sn_front_components_create(problem, &fold->train, components_of(problem), job->seed, &front));
    stonet_status status = STONET_OK;
    for (int part = 0; part < 2; part++) {
        SN_GOTO(status, fetch(problem, &rows[part], &scratch, &x[part]), done);
        SN_GOTO(status, SN_TAKE(&scratch, u[part], rows[part].n * front->outputs), done);
        SN_GOTO(status, front->ops->apply(front, rows[part].n, x[part], u[part]), done);
    }
    for (int at = 0; at < N_PENALTIES; at++) {
        const trial t = {problem, holdout, k, front->outputs, {u[0], u[1]}, PENALTIES[at]};
        SN_GOTO(status, measure(&t, job->run, cost[N_COUNTS + at].loss), done);
    }
done:
    sn_front_free(front);
    return status;
}

/* The best of candidates first .. last-1; -1: none was measured. */
static int best_of(const sn_held_out *cost, int first, int last)
{
    int best = -1;
    for (int at = first; at < last; at++)
        if (isfinite(cost[at].mean) && (best < 0 || cost[at].mean < cost[best].mean)) best = at;
    return best;
}

static void settle(const sn_holdout *holdout, const sn_held_out *cost, int64_t components, sn_wide *wide)
{
    int columns = best_of(cost, 0, N_COUNTS);
    const int dense = best_of(cost, N_COUNTS, CANDIDATES);
    for (int at = 0; at < columns; at++) {
        const sn_difference d = sn_held_out_difference(&cost[at], &cost[columns], 0, holdout->rows);
        if (d.mean <= AS_GOOD * d.se) columns = at;
    }
    bool take_dense = columns < 0;
    if (columns >= 0 && dense >= 0) {
        const sn_difference d = sn_held_out_difference(&cost[columns], &cost[dense], 0, holdout->rows);
        take_dense = d.mean > AS_GOOD * d.se;
    }
    wide->kind = take_dense ? SN_WIDE_COMPONENTS : SN_WIDE_COLUMNS;
    wide->features = take_dense ? components : COUNTS[columns];
}

stonet_status sn_wide_choose(const sn_stage_job *job, sn_wide *wide)
{
    sn_holdout holdout;
    sn_held_out cost[CANDIDATES] = {{0}};
    stonet_status status;
    SN_GOTO(status, sn_holdout_make(job, &holdout), done);
    for (int at = 0; at < CANDIDATES; at++) {
        cost[at].mean = (double)INFINITY;
        SN_GOTO(status, SN_NEW(cost[at].loss, holdout.rows), done);
    }
    const sn_problem *problem = job->problem;
    const bool columns = wide->kind != SN_WIDE_COMPONENTS && most_columns(problem, &holdout) >= COUNTS[0];
    /* Components need all numbers side by side, which a sparse table is kept from. */
    const bool sparse = problem->x == NULL && problem->source != NULL && problem->source->sparse != NULL;
    const bool components = (wide->kind != SN_WIDE_COLUMNS && !(sparse && columns)) || !columns;
    for (int k = 0; k < holdout.folds; k++) {
        if (columns) SN_GOTO(status, measure_columns(job, &holdout, k, cost), done);
        if (components) SN_GOTO(status, measure_components(job, &holdout, k, cost), done);
    }
    for (int at = 0; at < CANDIDATES; at++)
        if (at < N_COUNTS ? columns && is_allowed(problem, &holdout, at) : components)
            sn_held_out_finish(&cost[at], &holdout, problem, 0.0);
    settle(&holdout, cost, components_of(problem), wide);
done:
    for (int at = 0; at < CANDIDATES; at++) sn_free(cost[at].loss);
    sn_holdout_free(&holdout);
    return status;
}

stonet_status sn_wide_front(const sn_wide *wide, const sn_problem *problem, const sn_rows *rows,
                            uint64_t seed, sn_front **out)
{
    if (wide->kind == SN_WIDE_COMPONENTS)
        return sn_front_components_create(problem, rows, wide->features, seed, out);
    SN_WORKSPACE(scratch);
    int64_t *columns = NULL;
    SN_TRY(SN_TAKE(&scratch, columns, wide->features));
    SN_TRY(sn_wide_order(problem, rows, wide->features, columns));
    return sn_front_columns_create(problem->p, columns, wide->features, out);
}
