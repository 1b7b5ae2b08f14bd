#include "stonet/holdout.h"

#include <math.h>

#include "base/memory.h"
#include "data/splits.h"
#include "net/loss.h"

enum {
    CROSS_VALIDATE_BELOW = 2000, /* rows; above, one held-out part says enough */
    MAX_HELD_OUT = 10000
};

static stonet_status make_fold(const sn_stage_job *job, const int32_t *part, int32_t k, sn_fold *fold)
{
    int64_t n[2] = {0, 0}; /* training and held-out rows */
    for (int kind = 0; kind < 2; kind++) SN_TRY(SN_NEW(fold->lists[kind], job->rows.n));
    for (int64_t i = 0; i < job->rows.n; i++) {
        const int kind = part[i] == k && n[1] < MAX_HELD_OUT ? 1 : 0;
        fold->lists[kind][n[kind]++] = sn_rows_at(&job->rows, i);
    }
    fold->train = sn_rows_list(fold->lists[0], n[0]);
    fold->test = sn_rows_list(fold->lists[1], n[1]);
    return STONET_OK;
}

/* What the fold sees: what all do, or through a front from its training rows alone. */
static stonet_status make_view(const sn_stage_job *job, sn_fold *fold)
{
    fold->problem = job->problem;
    if (job->wide == NULL) return STONET_OK;
    SN_TRY(sn_wide_front(job->wide, job->raw, &fold->train, job->seed, &fold->front));
    SN_TRY(sn_front_problem(fold->front, job->raw, &fold->seen));
    fold->seen.keep = &fold->keep;
    fold->problem = &fold->seen;
    return STONET_OK;
}

/* Of the held-out rows; 1 when they count nothing, so that it can be divided by. */
static double average_weight(const sn_holdout *holdout, const sn_problem *problem)
{
    if (problem->weight == NULL) return 1.0;
    double sum = 0.0;
    for (int k = 0; k < holdout->folds; k++)
        for (int64_t i = 0; i < holdout->fold[k].test.n; i++)
            sum += (double)problem->weight[sn_rows_at(&holdout->fold[k].test, i)];
    return sum > 0.0 ? sum / (double)holdout->rows : 1.0;
}

stonet_status sn_holdout_make(const sn_stage_job *job, sn_holdout *holdout)
{
    *holdout = (sn_holdout){.raw = job->raw};
    const int64_t n = job->rows.n;
    int parts = n < SN_MAX_FOLDS ? (int)n : SN_MAX_FOLDS;
    int32_t *part = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW(part, n), done);
    SN_GOTO(status, sn_split_rows(job->problem, &job->rows, MAX_HELD_OUT, job->seed, &parts, part), done);
    holdout->folds = n < CROSS_VALIDATE_BELOW ? parts : 1;
    for (int k = 0; k < holdout->folds; k++) {
        SN_GOTO(status, make_fold(job, part, k, &holdout->fold[k]), done);
        SN_GOTO(status, make_view(job, &holdout->fold[k]), done);
        holdout->fold[k].first = holdout->rows;
        holdout->rows += holdout->fold[k].test.n;
    }
    holdout->average = average_weight(holdout, job->problem);
done:
    sn_free(part);
    return status;
}

void sn_holdout_free(sn_holdout *holdout)
{
    for (int k = 0; k < SN_MAX_FOLDS; k++) {
        sn_free(holdout->fold[k].lists[0]);
        sn_free(holdout->fold[k].lists[1]);
        sn_keep_clear(&holdout->fold[k].keep);
        if (holdout->raw != NULL) sn_front_problem_free(holdout->raw, &holdout->fold[k].seen);
        sn_front_free(holdout->fold[k].front);
    }
    *holdout = (sn_holdout){0};
}

double sn_held_out_weight(const sn_holdout *holdout, const sn_problem *problem, int64_t row)
{
    return problem->weight != NULL ? (double)problem->weight[row] / holdout->average : 1.0;
}

stonet_status sn_held_out_measure(const sn_holdout *holdout, int fold, const sn_engine_ops *ops,
                                  const sn_shape *shape, const float *theta, int threads, double *loss,
                                  double *errors)
{
    const sn_problem *problem = holdout->fold[fold].problem;
    const sn_rows *rows = &holdout->fold[fold].test;
    const int64_t d = shape->width[shape->layers];
    double *to = loss + holdout->fold[fold].first;
    sn_engine *engine = NULL;
    float *mu = NULL;
    double *room = NULL;
    stonet_status status;
    *errors = 0.0;
    SN_GOTO(status, SN_NEW_RAW(mu, rows->n * d), done);
    SN_GOTO(status, SN_NEW_RAW(room, d), done);
    SN_GOTO(status, ops->create(shape, problem, 0, threads, &engine), done);
    ops->start(engine, theta);
    SN_GOTO(status, ops->forward(engine, &(sn_pass){.rows = *rows, .layer = shape->layers}, mu), done);
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        const double weight = sn_held_out_weight(holdout, problem, row);
        bool wrong = false;
        to[i] = weight * (shape->task == SN_CLASSIFICATION
                              ? sn_class_loss(mu + i * d, d, sn_problem_label(problem, row), &wrong)
                          : shape->spread
                              ? sn_spread_loss(mu + i * d, d, sn_problem_targets(problem, row, room))
                              : sn_square_loss(mu + i * d, d, sn_problem_targets(problem, row, room)));
        *errors += wrong ? weight : 0.0;
    }
done:
    if (engine != NULL) ops->free(engine);
    sn_free(mu);
    sn_free(room);
    return status;
}

void sn_held_out_finish(sn_held_out *cost, const sn_holdout *holdout, const sn_problem *problem,
                        double errors)
{
    const int64_t n = holdout->rows;
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += cost->loss[i];
    cost->mean = isfinite(sum) ? sum / (double)n : (double)INFINITY;
    cost->error_rate = problem->task == SN_CLASSIFICATION ? errors / (double)n : (double)NAN;
}

sn_difference sn_held_out_difference(const sn_held_out *a, const sn_held_out *b, int64_t first, int64_t n)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t i = first; i < first + n; i++) sum += a->loss[i] - b->loss[i];
    const double mean = sum / (double)n;
    for (int64_t i = first; i < first + n; i++) {
        const double off = a->loss[i] - b->loss[i] - mean;
        squares += off * off;
    }
    return (sn_difference){.mean = mean,
                           .se = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : (double)INFINITY};
}

double sn_held_out_error(const sn_held_out *cost, int64_t n)
{
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++) squares += (cost->loss[i] - cost->mean) * (cost->loss[i] - cost->mean);
    return n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : (double)NAN;
}
