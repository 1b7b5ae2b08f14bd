#include "stonet/baseline.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/failure.h"
#include "base/memory.h"
#include "stonet/linear.h"

static const double PENALTIES[] = {0.003, 0.0003, 0.03, 0.1,
                                   0.3}; /* l2 / n; large problems: the first alone */
static const double FAINT[] = {3e-5,
                               3e-6}; /* in turn, while that pays, where the least of these is the best */
enum { N_PENALTIES = sizeof PENALTIES / sizeof *PENALTIES, N_FAINT = sizeof FAINT / sizeof *FAINT };
/* Of the loss: what is left of it when a penalty is judged is a hundredth of that. */
static const double ROUGHLY = 1e-3;
static const double SIDE_BY_SIDE = 2e6, LARGE = 2e7, TOO_LARGE = 2e8; /* rows x columns x outputs */

/* ---- the constant ------------------------------------------------------------------------------------ */

static double weight_of(const sn_problem *problem, int64_t row)
{
    return problem->weight != NULL ? (double)problem->weight[row] : 1.0;
}

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
        const double weight = weight_of(problem, row);
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

stonet_status sn_constant_loss(const sn_problem *problem, const sn_rows *rows, double *loss)
{
    double *mean;
    SN_TRY(SN_NEW(mean, problem->outputs));
    const double weights = best_constant(problem, rows, mean);
    *loss = 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        *loss += weight_of(problem, row) * constant_row(problem, mean, row) / weights;
        pass(problem, rows, i);
    }
    sn_free(mean);
    return STONET_OK;
}

stonet_status sn_constant_measure(const sn_problem *problem, const sn_holdout *holdout, sn_held_out *cost)
{
    double *mean;
    double errors = 0.0;
    SN_TRY(SN_NEW(mean, problem->outputs));
    stonet_status status = SN_NEW(cost->loss, holdout->rows);
    for (int k = 0; k < holdout->folds && status == STONET_OK; k++) {
        const sn_fold *fold = &holdout->fold[k];
        best_constant(problem, &fold->train, mean);
        const int64_t guess = largest(mean, problem->outputs);
        for (int64_t i = 0; i < fold->test.n; i++) {
            const int64_t row = sn_rows_at(&fold->test, i);
            const double weight = sn_held_out_weight(holdout, problem, row);
            cost->loss[fold->first + i] = weight * constant_row(problem, mean, row);
            if (problem->task == SN_CLASSIFICATION && sn_problem_label(problem, row) != guess)
                errors += weight;
        }
    }
    sn_free(mean);
    if (status == STONET_OK) sn_held_out_finish(cost, holdout, problem, errors);
    return status;
}

/* ---- the linear model -------------------------------------------------------------------------------- */

static double size_of(const sn_stage_job *job)
{
    return (double)job->rows.n * (double)job->problem->p * (double)job->problem->outputs;
}

/* A network that holds the linear model, whatever its rank. */
static stonet_status whole_shape(const sn_stage_job *job, sn_shape *shape)
{
    return sn_linear_shape(job->shape, job->problem->p, job->problem->outputs, shape);
}

/* One fold. *wrong: its errors; *found: whether there is such a model. */
static stonet_status measure_fold(const sn_stage_job *job, const sn_holdout *holdout, const sn_shape *shape,
                                  double penalty, int k, double *loss, double *wrong, bool *found)
{
    const sn_fold *fold = &holdout->fold[k];
    float *theta;
    SN_TRY(SN_NEW(theta, shape->parameters));
    stonet_status status = sn_linear_fit(shape, fold->problem, &fold->train,
                                         (sn_ridge){.l2 = penalty * (double)fold->train.n, .enough = ROUGHLY},
                                         job->run, theta, found);
    if (status == STONET_OK && *found)
        status =
            sn_held_out_measure(holdout, k, job->config->engine, shape, theta, job->threads, loss, wrong);
    sn_free(theta);
    return status;
}

/* Folds side by side, where that takes little memory; only the first thread speaks to the caller. */
static stonet_status measure_folds(const sn_stage_job *job, const sn_holdout *holdout, const sn_shape *shape,
                                   double penalty, double *loss, double *wrong, bool *found)
{
    const int folds = holdout->folds;
    sn_failure failure = {.status = STONET_OK};
    if (job->threads == 1 || folds == 1 || size_of(job) > SIDE_BY_SIDE) {
        for (int k = 0; k < folds && (k == 0 || found[k - 1]); k++)
            SN_TRY(measure_fold(job, holdout, shape, penalty, k, loss, &wrong[k], &found[k]));
        return STONET_OK;
    }
    sn_quiet_run quiet;
    sn_quiet_run_init(&quiet, job->run);
#pragma omp parallel for num_threads(job->threads < folds ? job->threads : folds) schedule(dynamic)
    for (int k = 0; k < folds; k++) {
        sn_stage_job own = *job;
        own.threads = 1;
        if (omp_get_thread_num() > 0) own.run = &quiet.run;
        sn_failure_note(&failure, k,
                        measure_fold(&own, holdout, shape, penalty, k, loss, &wrong[k], &found[k]));
    }
    return sn_failure_raise(&failure);
}

stonet_status sn_linear_measure(const sn_stage_job *job, const sn_holdout *holdout, const sn_shape *shape,
                                double penalty, sn_held_out *cost, bool *found)
{
    double wrong[SN_MAX_FOLDS] = {0.0}, errors = 0.0;
    bool each[SN_MAX_FOLDS] = {false};
    SN_TRY(measure_folds(job, holdout, shape, penalty, cost->loss, wrong, each));
    *found = true;
    for (int k = 0; k < holdout->folds; k++) {
        *found = *found && each[k];
        errors += wrong[k];
    }
    if (*found) sn_held_out_finish(cost, holdout, job->problem, errors);
    return STONET_OK;
}

/* Measures a penalty; keeps it if it is the best so far. */
static stonet_status try_penalty(const sn_stage_job *job, const sn_holdout *holdout, const sn_shape *shape,
                                 double penalty, sn_baseline *baseline, bool *found)
{
    sn_held_out cost = {0};
    SN_TRY(SN_NEW(cost.loss, holdout->rows));
    stonet_status status = sn_linear_measure(job, holdout, shape, penalty, &cost, found);
    if (status == STONET_OK && *found &&
        (baseline->linear.loss == NULL || cost.mean < baseline->linear.mean)) {
        const sn_held_out before = baseline->linear;
        baseline->linear = cost;
        baseline->penalty = penalty;
        cost = before;
    }
    sn_free(cost.loss);
    return status;
}

static stonet_status measure_linear(const sn_stage_job *job, const sn_holdout *holdout, sn_baseline *baseline)
{
    sn_shape shape;
    SN_TRY(whole_shape(job, &shape));
    const int tried = size_of(job) > TOO_LARGE ? 0 : size_of(job) > LARGE ? 1 : N_PENALTIES;
    bool found = true;
    double least = tried > 1 ? PENALTIES[1] : -1.0;
    for (int k = 0; k < tried && found && !sn_should_stop(job->run); k++)
        SN_TRY(try_penalty(job, holdout, &shape, PENALTIES[k], baseline, &found));
    for (int k = 0; k < N_FAINT && found && baseline->penalty == least && !sn_should_stop(job->run); k++) {
        least = FAINT[k];
        SN_TRY(try_penalty(job, holdout, &shape, least, baseline, &found));
    }
    return STONET_OK;
}

stonet_status sn_baseline_measure(const sn_stage_job *job, const sn_holdout *holdout, sn_baseline *baseline)
{
    *baseline = (sn_baseline){.linear = {.mean = (double)NAN, .error_rate = (double)NAN}};
    SN_TRY(sn_constant_measure(job->problem, holdout, &baseline->constant));
    return measure_linear(job, holdout, baseline);
}

sn_finds sn_baseline_finds(const sn_baseline *baseline, const sn_holdout *holdout)
{
    if (baseline->linear.loss == NULL || !isfinite(baseline->linear.mean)) return SN_FINDS_UNKNOWN;
    const sn_difference gain =
        sn_held_out_difference(&baseline->constant, &baseline->linear, 0, holdout->rows);
    return gain.mean > 2.0 * gain.se ? SN_FINDS : SN_FINDS_NOTHING;
}

void sn_baseline_free(sn_baseline *baseline)
{
    sn_free(baseline->constant.loss);
    sn_free(baseline->linear.loss);
    *baseline = (sn_baseline){0};
}
