/*
 * What settings cost on the rows that are held out to judge them by. The rows are cut into five parts
 * (data/folds.h); of many rows a few parts are enough. The held-out rows of all folds, one after the other,
 * are the rows that settings are compared on: each has a loss.
 */
#pragma once

#include "choice/candidates.h"
#include "data/folds.h"
#include "stonet/fitted.h"
#include "stonet/train.h"

/* Those that a choice is made by. They know nothing of the response: in stratified ones a constant guess of
   two equal classes seems better than it is, since each fold has the majority of the sample. */
stonet_status sn_folds_make(const sn_problem *problem, const sn_rows *rows, uint64_t seed, sn_folds *folds);

/* What a setting costs on the held-out rows of all folds, in proportion to their weights. */
typedef struct sn_held_out {
    double *loss;  /* of each row; NULL: not measured */
    double *wrong; /* classification: 1 for a wrong class; else 0 */
} sn_held_out;

stonet_status sn_held_out_create(const sn_folds *folds, sn_held_out *out);
void sn_held_out_free(sn_held_out *losses);
/* Those of a network on the held-out rows of one fold; problem: all rows as that fold sees them. */
typedef struct sn_measured {
    const sn_problem *problem;
    const sn_engine_ops *engine;
    const sn_shape *shape;
    const float *theta;
    int threads;
} sn_measured;
stonet_status sn_folds_measure(const sn_folds *folds, int fold, const sn_measured *network,
                               sn_held_out *losses);
/* Those of outputs mu (rows of the fold x outputs) that something else gave. */
void sn_folds_take(const sn_folds *folds, int fold, const sn_problem *problem, const sn_shape *shape,
                   const float *mu, double *room, sn_held_out *losses);

/* The mean over rows first .. first + n - 1. */
double sn_mean_loss(const double *loss, int64_t first, int64_t n);

sn_estimate sn_estimate_of(const sn_held_out *losses, int64_t rows, sn_task task);

typedef struct sn_difference {
    double mean, se;
} sn_difference;
/* Mean and standard error of a - b, row by row. */
sn_difference sn_loss_difference(const double *a, const double *b, int64_t n);
