/*
 * Whether features should say which cells are missing (missing_indicators=auto).
 *
 * Decided once, before a method sees the rows, and for every method alike: ridge or logistic regression with
 * and without them, each at its best penalty, by the loss on five parts of the rows held out in turn. That
 * takes milliseconds, and where a gap tells something, every model class gains what the linear one does.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "data/folds.h"
#include "data/kin.h"
#include "math/kernel.h"
#include "model/model.h"
#include "net/loss.h"
#include "net/regression.h"

enum {
    FOLDS = 5,
    MOST_ROWS = 2000, /* looked at */
    FEWEST_ROWS = 30,
    SUBSTREAM = 77 /* of the subset of the rows */
};
static const double MOST_WORK = 1.5e7; /* rows x features^2, or there is no choice: none */
static const double PENALTIES[] = {0.1, 0.01, 0.3, 0.03, 0.001}; /* l2 / n */
enum { N_PENALTIES = sizeof PENALTIES / sizeof *PENALTIES };

/* Rows under one encoding. */
typedef struct encoded_rows {
    sn_problem problem;
    float *x;
    int32_t *label;
    double *y;
} encoded_rows;

static stonet_status encode(const stonet_data *data, const sn_schema *schema, sn_workspace *keep,
                            encoded_rows *out)
{
    sn_problem *problem = &out->problem;
    *problem = (sn_problem){.n = stonet_data_rows(data),
                            .p = sn_schema_features(schema),
                            .task = sn_schema_task(schema),
                            .outputs = sn_schema_outputs(schema)};
    SN_TRY(SN_TAKE(keep, out->x, problem->n * problem->p));
    SN_TRY(SN_TAKE(keep, out->label, problem->n));
    SN_TRY(SN_TAKE(keep, out->y, problem->n * problem->outputs));
    SN_TRY(sn_schema_encode_x(schema, data, out->x));
    SN_TRY(sn_schema_encode_y(schema, data, out->label, out->y));
    problem->x = out->x;
    if (problem->task == SN_CLASSIFICATION)
        problem->label = out->label;
    else
        problem->y = out->y;
    return STONET_OK;
}

/* The sum of the losses of mu = coef x + intercept over the rows, and each of them. */
static double sum_losses(const sn_problem *problem, const sn_rows *rows, const double *coef,
                         const double *intercept, float *mu, double *each)
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
        each[row] = problem->label != NULL ? sn_class_loss(mu, m, problem->label[row], &wrong)
                                           : sn_square_loss(mu, m, problem->y + row * m);
        sum += each[row];
    }
    return sum;
}

/* The mean held-out loss at one penalty, and that of each row; Inf when a class is missing from a training
   part. */
static stonet_status cross_validate(const sn_problem *problem, const sn_folds *folds, double penalty,
                                    const stonet_run *run, double *loss, double *each)
{
    SN_WORKSPACE(scratch);
    float *x = NULL, *mu = NULL;
    double *coef = NULL, *intercept = NULL;
    SN_TRY(SN_TAKE(&scratch, x, problem->n * problem->p));
    SN_TRY(SN_TAKE(&scratch, coef, problem->outputs * problem->p));
    SN_TRY(SN_TAKE(&scratch, intercept, problem->outputs));
    SN_TRY(SN_TAKE(&scratch, mu, problem->outputs));
    double sum = 0.0;
    for (int k = 0; k < folds->count; k++) {
        const sn_rows *train = &folds->fold[k].train;
        sn_batch batch = {.x = x, .x_stride = problem->p};
        sn_batch_fetch(problem, train, &batch);
        const sn_regression fit = {
            .problem = problem, .rows = train, .d = problem->p, .x = x, .l2 = penalty * (double)train->n};
        bool found;
        SN_TRY(sn_regress(&fit, run, coef, intercept, &found));
        if (!found) {
            *loss = (double)INFINITY;
            return STONET_OK;
        }
        sum += sum_losses(problem, &folds->fold[k].test, coef, intercept, mu, each);
    }
    *loss = sum / (double)folds->rows;
    return STONET_OK;
}

/* At the best penalty; each (n) gets the losses of the rows. */
static stonet_status best_loss(const sn_problem *problem, const sn_folds *folds, const stonet_run *run,
                               double *best, double *each)
{
    SN_WORKSPACE(scratch);
    double *tried = NULL;
    SN_TRY(SN_TAKE_ZERO(&scratch, tried, problem->n)); /* some rows may never be held out */
    *best = (double)INFINITY;
    for (int k = 0; k < N_PENALTIES && !sn_should_stop(run); k++) {
        double loss;
        SN_TRY(cross_validate(problem, folds, PENALTIES[k], run, &loss, tried));
        if (!(loss < *best)) continue;
        *best = loss;
        memcpy(each, tried, (size_t)problem->n * sizeof *each);
    }
    return STONET_OK;
}

/* The rows that are looked at: all, or of many a part. */
static stonet_status take_rows(const stonet_data *train, uint64_t seed, stonet_data **part)
{
    const int64_t n = stonet_data_rows(train);
    *part = NULL;
    if (n <= MOST_ROWS) return STONET_OK;
    SN_WORKSPACE(scratch);
    int64_t *rows = NULL;
    SN_TRY(SN_TAKE(&scratch, rows, MOST_ROWS));
    SN_TRY(sn_choose_rows(n, MOST_ROWS, seed, SUBSTREAM, rows));
    return stonet_data_subset(train, rows, MOST_ROWS, part);
}

/* What two encodings come to: mean held-out losses without and with what is asked about, and the standard
   error of their difference over the rows. */
typedef struct comparison {
    double loss[2], error;
} comparison;

static double standard_error(const double *a, const double *b, int64_t n)
{
    double mean = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) mean += (a[i] - b[i]) / (double)n;
    for (int64_t i = 0; i < n; i++) squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    return sqrt(squares / (double)n / (double)(n - 1));
}

/* The held-out losses of both encodings on the same folds, and the standard error of their difference. */
static stonet_status compare(const stonet_data *train, sn_schema *const schema[2], const stonet_run *run,
                             comparison *out)
{
    SN_WORKSPACE(scratch);
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    double *each[2] = {NULL, NULL};
    const int64_t n = stonet_data_rows(train);
    const sn_rows all = sn_rows_range(0, n);
    const sn_fold_plan plan = {.count = FOLDS, .by_class = true};
    stonet_status status = STONET_OK;
    for (int k = 0; k < 2 && status == STONET_OK; k++) {
        encoded_rows rows;
        SN_TRY(encode(train, schema[k], &scratch, &rows));
        SN_TRY(SN_TAKE_ZERO(&scratch, each[k], n));
        SN_TRY(sn_kin_find(train, NULL, &scratch, &rows.problem.kin));
        if (k == 0) SN_TRY(sn_folds_cut(&rows.problem, &all, &plan, run->seed, &folds));
        status = best_loss(&rows.problem, &folds, run, &out->loss[k], each[k]);
    }
    if (status == STONET_OK) out->error = standard_error(each[0], each[1], n);
    return status;
}

/* Whether an encoding can be compared with a smaller one in a short time. */
static bool worth_comparing(const sn_schema *schema, int64_t n)
{
    const double p = (double)sn_schema_features(schema);
    return sn_schema_scale(schema) != SN_SCALE_COMMON && (double)n * p * p <= MOST_WORK;
}

/* How many columns gain an indicator by `with`, and what these are worth; 0 columns: there is nothing to
 * choose. */
static stonet_status weigh(const stonet_data *train, const sn_encoding *without, const sn_encoding *with,
                           const stonet_run *run, int64_t *columns, comparison *found)
{
    sn_schema *schema[2] = {NULL, NULL};
    stonet_status status;
    *columns = 0;
    SN_GOTO(status, sn_schema_fit(train, with, NULL, &schema[1]), done);
    if (sn_schema_indicators(schema[1]) == 0 || !worth_comparing(schema[1], stonet_data_rows(train)))
        goto done;
    SN_GOTO(status, sn_schema_fit(train, without, NULL, &schema[0]), done);
    SN_GOTO(status, compare(train, schema, run, found), done);
    *columns = sn_schema_indicators(schema[1]);
done:
    sn_schema_free(schema[0]);
    sn_schema_free(schema[1]);
    return status;
}

/* Gaps that tell nothing should cost nothing: chance alone is not to speak for their indicators. */
static stonet_status choose_indicators(const stonet_data *train, const stonet_run *run, sn_encoding *encoding)
{
    sn_encoding with = *encoding;
    with.indicators = true;
    int64_t columns;
    comparison found;
    SN_TRY(weigh(train, encoding, &with, run, &columns, &found));
    if (columns == 0 || !(found.loss[1] < found.loss[0] - found.error)) return STONET_OK;
    encoding->indicators = true;
    sn_message(run, STONET_NOTE,
               "%lld column%s also ha%s a feature that says which cells are missing: the held-out loss of a "
               "linear model is %.4g with %s and %.4g without (missing_indicators=off leaves %s out)",
               (long long)columns, columns == 1 ? "" : "s", columns == 1 ? "s" : "ve", found.loss[1],
               columns == 1 ? "it" : "them", found.loss[0], columns == 1 ? "it" : "them");
    return STONET_OK;
}

stonet_status sn_indicators_choose(const stonet_data *train, const stonet_run *run, sn_encoding *encoding)
{
    encoding->indicators = false;
    if (encoding->task == SN_TASK_WISH_NONE || sn_wish_law(encoding->task) != SN_LAW_NONE ||
        stonet_data_rows(train) < FEWEST_ROWS)
        return STONET_OK;
    SN_AUTO(stonet_data) *part = NULL;
    SN_TRY(take_rows(train, run->seed, &part));
    stonet_status status = choose_indicators(part != NULL ? part : train, run, encoding);
    /* Some rows may be too few to learn an encoding from (a single class, say): then there is no choice. */
    if (part != NULL && status == STONET_ERROR_DATA) status = STONET_OK;
    return status;
}
