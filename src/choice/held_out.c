#include "choice/held_out.h"

#include <math.h>

#include "base/memory.h"
#include "base/workspace.h"

stonet_status sn_folds_make(const sn_problem *problem, const sn_rows *rows, uint64_t seed, sn_folds *folds)
{
    const sn_fold_plan plan = {.count = SN_FOLDS, .most = SN_MOST_HELD_OUT, .enough = SN_ENOUGH_HELD_OUT};
    return sn_folds_cut(problem, rows, &plan, seed, folds);
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
        bool wrong;
        const double loss = sn_row_loss(shape, problem, row, mu + i * d, room, &wrong);
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
