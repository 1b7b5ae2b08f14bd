/* What is reached without a network: by a constant guess and by the linear model. A network that does no
   better than these is stuck, or not needed. */
#ifndef SN_STONET_BASELINE_H
#define SN_STONET_BASELINE_H

#include "stonet/holdout.h"

typedef struct sn_baseline {
    sn_held_out constant;
    sn_held_out linear; /* loss NULL: not measured (a class is missing somewhere, rows have weights, or the
                               problem is too large) */
    double penalty;     /* of the linear model, l2 / n: the best of a few */
} sn_baseline;

/* On the held-out rows, from the training rows of each fold. Free also after a failure. */
stonet_status sn_baseline_measure(const sn_stage_job *job, const sn_holdout *holdout, sn_baseline *baseline);
/* The linear model of a shape (stonet/linear.h) at one penalty, l2 / n, on the held-out rows of every fold:
   cost->loss must have room. found: false when a class is missing somewhere. */
stonet_status sn_linear_measure(const sn_stage_job *job, const sn_holdout *holdout, const sn_shape *shape,
                                double penalty, sn_held_out *cost, bool *found);
void sn_baseline_free(sn_baseline *baseline);

/* Whether the linear model is better than a constant guess by more than two standard errors. */
typedef enum sn_finds { SN_FINDS_UNKNOWN, SN_FINDS_NOTHING, SN_FINDS } sn_finds;
sn_finds sn_baseline_finds(const sn_baseline *baseline, const sn_holdout *holdout);

/* The best constant of each fold on its held-out rows; cost->loss is made, the caller's. */
stonet_status sn_constant_measure(const sn_problem *problem, const sn_holdout *holdout, sn_held_out *cost);
/* Mean loss of the best constant for the rows. */
stonet_status sn_constant_loss(const sn_problem *problem, const sn_rows *rows, double *loss);

#endif
