#include "choice/folds.h"

#include <math.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "data/kin.h"
#include "data/splits.h"
#include "net/loss.h"

/* first: of each row, the first that it is a copy of; NULL: there are no copies. */
static stonet_status make_fold(const sn_rows *rows, const int32_t *part, const int64_t *first, int32_t k,
                               sn_fold *fold)
{
    int64_t n[2] = {0, 0}; /* training and held-out rows */
    for (int kind = 0; kind < 2; kind++) SN_TRY(SN_NEW(fold->lists[kind], rows->n));
    for (int64_t i = 0; i < rows->n; i++) {
        const int kind = part[i] == k && n[1] < SN_MOST_HELD_OUT ? 1 : 0;
        if (kind == 1 && first != NULL && first[i] != i) continue;
        fold->lists[kind][n[kind]++] = sn_rows_at(rows, i);
    }
    fold->train = sn_rows_list(fold->lists[0], n[0]);
    fold->test = sn_rows_list(fold->lists[1], n[1]);
    return STONET_OK;
}

/* Of the held-out rows; 1 when they count nothing, so that it can be divided by. */
static double average_weight(const sn_folds *folds, const sn_problem *problem)
{
    double sum = 0.0;
    for (int k = 0; k < folds->count; k++)
        for (int64_t i = 0; i < folds->fold[k].test.n; i++)
            sum += sn_problem_weight(problem, sn_rows_at(&folds->fold[k].test, i));
    return sum > 0.0 ? sum / (double)folds->rows : 1.0;
}

/* A thousand copies of one row would decide like a thousand rows, and are no more than one. */
static stonet_status find_copies(const sn_problem *problem, const sn_rows *rows, sn_workspace *keep,
                                 int64_t **first)
{
    int64_t *kin = NULL, count;
    *first = NULL;
    if (problem->kin == NULL || !problem->copies) return STONET_OK;
    SN_TRY(SN_TAKE(keep, kin, rows->n));
    SN_TRY(SN_TAKE(keep, *first, rows->n));
    for (int64_t i = 0; i < rows->n; i++) kin[i] = problem->kin[sn_rows_at(rows, i)];
    return sn_kin_first(kin, rows->n, *first, &count);
}

stonet_status sn_folds_make(const sn_problem *problem, const sn_rows *rows, uint64_t seed, sn_folds *folds)
{
    *folds = (sn_folds){0};
    SN_WORKSPACE(scratch);
    int parts = rows->n < SN_FOLDS ? (int)rows->n : SN_FOLDS;
    int32_t *part = NULL;
    int64_t *first = NULL;
    SN_TRY(SN_TAKE(&scratch, part, rows->n));
    SN_TRY(find_copies(problem, rows, &scratch, &first));
    /* Folds that know nothing of the response: in stratified ones a constant guess of two equal classes seems
       better than it is, since each fold has the majority of the sample. */
    sn_problem blind = *problem;
    blind.task = SN_REGRESSION;
    SN_TRY(sn_split_rows(&blind, rows, SN_MOST_HELD_OUT, seed, &parts, part));
    while (folds->count < parts && folds->rows < SN_ENOUGH_HELD_OUT) {
        sn_fold *fold = &folds->fold[folds->count];
        SN_TRY(make_fold(rows, part, first, folds->count++, fold));
        fold->first = folds->rows;
        folds->rows += fold->test.n;
    }
    folds->average = average_weight(folds, problem);
    return STONET_OK;
}

void sn_folds_free(sn_folds *folds)
{
    for (int k = 0; k < SN_FOLDS; k++)
        for (int kind = 0; kind < 2; kind++) sn_free(folds->fold[k].lists[kind]);
    *folds = (sn_folds){0};
}

int64_t sn_folds_rows(const sn_folds *folds, int count)
{
    return count < folds->count ? folds->fold[count].first : folds->rows;
}

double sn_folds_weight(const sn_folds *folds, const sn_problem *problem, int64_t row)
{
    return sn_problem_weight(problem, row) / folds->average;
}

stonet_status sn_held_out_create(const sn_folds *folds, sn_held_out *out)
{
    *out = (sn_held_out){0};
    SN_TRY(SN_NEW(out->loss, folds->rows));
    return SN_NEW(out->wrong, folds->rows);
}

void sn_held_out_free(sn_held_out *losses)
{
    sn_free(losses->loss);
    sn_free(losses->wrong);
    *losses = (sn_held_out){0};
}

void sn_folds_take(const sn_folds *folds, int fold, const sn_problem *problem, const sn_shape *shape,
                   const float *mu, double *room, sn_held_out *losses)
{
    const sn_fold *at = &folds->fold[fold];
    const int64_t d = shape->width[shape->layers];
    for (int64_t i = 0; i < at->test.n; i++) {
        const int64_t row = sn_rows_at(&at->test, i);
        const double weight = sn_folds_weight(folds, problem, row);
        bool wrong = false;
        const double loss = shape->task == SN_CLASSIFICATION
                                ? sn_class_loss(mu + i * d, d, sn_problem_label(problem, row), &wrong)
                            : shape->spread
                                ? sn_spread_loss(mu + i * d, d, sn_problem_targets(problem, row, room))
                                : sn_square_loss(mu + i * d, d, sn_problem_targets(problem, row, room));
        losses->loss[at->first + i] = weight * loss;
        losses->wrong[at->first + i] = wrong ? weight : 0.0;
    }
}

stonet_status sn_folds_measure(const sn_folds *folds, int fold, const sn_measured *network,
                               sn_held_out *losses)
{
    SN_WORKSPACE(scratch);
    const sn_rows *rows = &folds->fold[fold].test;
    const sn_shape *shape = network->shape;
    const int64_t d = shape->width[shape->layers];
    sn_engine *engine;
    float *mu = NULL;
    double *room = NULL;
    SN_TRY(SN_TAKE(&scratch, mu, rows->n * d));
    SN_TRY(SN_TAKE(&scratch, room, d));
    SN_TRY(network->engine->create(shape, network->problem, 0, network->threads, &engine));
    engine->ops->start(engine, network->theta);
    stonet_status status =
        engine->ops->forward(engine, &(sn_pass){.rows = *rows, .layer = shape->layers}, mu);
    engine->ops->free(engine);
    if (status == STONET_OK) sn_folds_take(folds, fold, network->problem, shape, mu, room, losses);
    return status;
}

double sn_mean_loss(const double *loss, int64_t first, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = first; i < first + n; i++) sum += loss[i];
    return isfinite(sum) ? sum / (double)n : (double)INFINITY;
}

static double error_of_mean(const double *value, double mean, int64_t n)
{
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++) squares += (value[i] - mean) * (value[i] - mean);
    return n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : (double)NAN;
}

sn_estimate sn_estimate_of(const sn_held_out *losses, int64_t rows, sn_task task)
{
    if (losses->loss == NULL) return sn_no_estimate;
    sn_estimate out = {.loss = sn_mean_loss(losses->loss, 0, rows), .error = NAN, .error_se = NAN};
    out.loss_se = error_of_mean(losses->loss, out.loss, rows);
    if (task != SN_CLASSIFICATION) return out;
    out.error = sn_mean_loss(losses->wrong, 0, rows);
    out.error_se = error_of_mean(losses->wrong, out.error, rows);
    return out;
}

sn_difference sn_loss_difference(const double *a, const double *b, int64_t n)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) sum += a[i] - b[i];
    const double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    return (sn_difference){mean, n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : (double)INFINITY};
}
