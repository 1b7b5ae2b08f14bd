/* What is reached without a network, to be printed beside it: by a constant guess and by a linear model.
 */
#pragma once

#include "choice/held_out.h"

typedef struct sn_baselines {
    sn_held_out constant;
    sn_held_out
        linear; /* ridge or logistic regression at the best of a few penalties; loss NULL: not measured
                   (fewer than two classes have rows somewhere, or there are too many columns) */
} sn_baselines;

/* On the held-out rows, from the training rows of each fold. Free also after a failure. */
stonet_status sn_baselines_measure(const sn_problem *problem, const sn_folds *folds, const sn_shape *shape,
                                   const stonet_run *run, sn_baselines *baselines);
void sn_baselines_free(sn_baselines *baselines);

/* Whether a fit explains less than a hundredth of the response: its loss is next to that of a constant. */
bool sn_is_next_to(double loss, double constant);
/* Mean loss of the best constant for the rows. */
stonet_status sn_constant_loss(const sn_problem *problem, const sn_rows *rows, double *loss);
/* The interval of the error rate of the class that most rows have: the share of the others says it, and
   better than held-out guesses. Where classes are equally frequent, a fold with more of one leaves more of
   another to be guessed by. The interval holds the estimate too. */
stonet_status sn_constant_interval(const sn_problem *problem, const sn_rows *rows, sn_estimate *estimate);
/* The best constant of each fold on its held-out rows. */
stonet_status sn_constant_measure(const sn_problem *problem, const sn_folds *folds, sn_held_out *cost);
/* Ridge or logistic regression of one fold at a penalty l2 / n; found: false when there is no such model. */
stonet_status sn_linear_measure(const sn_problem *problem, const sn_folds *folds, int fold, double penalty,
                                const stonet_run *run, sn_held_out *cost, bool *found);
