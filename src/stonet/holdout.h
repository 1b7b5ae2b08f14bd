/*
 * Rows kept aside to judge settings by, what each of them costs, and whether one setting is better than
 * another.
 *
 * Small data is cut into five parts, each held out in turn (stratified); of larger data one part is held out.
 * The held-out rows of all parts, one after the other, are the rows that settings are compared on: each has a
 * loss, and two settings are compared by the mean and the standard error of the differences row by row.
 */
#ifndef SN_STONET_HOLDOUT_H
#define SN_STONET_HOLDOUT_H

#include "stonet/train.h"

enum { SN_MAX_FOLDS = 5 };

typedef struct sn_fold {
    sn_rows train, test;
    int64_t *lists[2];         /* behind them */
    int64_t first;             /* where its held-out rows begin among those of all folds */
    const sn_problem *problem; /* all rows as this fold sees them */
    sn_front *front;           /* made from its training rows; NULL: as all folds do */
    sn_problem seen;           /* behind it */
    sn_keep keep;              /* of what it sees through a front */
} sn_fold;

typedef struct sn_holdout {
    int folds;
    sn_fold fold[SN_MAX_FOLDS];
    int64_t rows;          /* held out in all */
    double average;        /* weight of a held-out row */
    const sn_problem *raw; /* what the folds' own fronts see */
} sn_holdout;

/* From the rows of a job, keyed by its seed. Free also after a failure. */
stonet_status sn_holdout_make(const sn_stage_job *job, sn_holdout *holdout);
void sn_holdout_free(sn_holdout *holdout);

/* What a setting costs on the held-out rows. */
typedef struct sn_held_out {
    double *loss;      /* of each row, in proportion to its weight; NULL: not measured */
    double mean;       /* Inf: a fit diverged, or was given up as hopeless */
    double error_rate; /* classification; else NaN */
} sn_held_out;

/* The losses of a network on the held-out rows of a fold, to their place in loss; errors: the number of wrong
   classes. */
stonet_status sn_held_out_measure(const sn_holdout *holdout, int fold, const sn_engine_ops *ops,
                                  const sn_shape *shape, const float *theta, int threads, double *loss,
                                  double *errors);
/* The weight of a row among the held-out ones. */
double sn_held_out_weight(const sn_holdout *holdout, const sn_problem *problem, int64_t row);
/* Fills in the means once the losses of all rows are there. */
void sn_held_out_finish(sn_held_out *cost, const sn_holdout *holdout, const sn_problem *problem,
                        double errors);

typedef struct sn_difference {
    double mean, se;
} sn_difference;

/* a - b over rows first .. first + n - 1. */
sn_difference sn_held_out_difference(const sn_held_out *a, const sn_held_out *b, int64_t first, int64_t n);
/* Standard error of the mean loss. */
double sn_held_out_error(const sn_held_out *cost, int64_t n);

#endif
