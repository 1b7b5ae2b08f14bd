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

/* The problem as the training rows of a fold know it: draws of missing cells that know the response are
   learned from these rows alone. Free also after a failure. */
stonet_status sn_folds_problem(const sn_folds *folds, int fold, const sn_problem *problem, sn_problem *known);
void sn_folds_problem_free(const sn_problem *problem, sn_problem *known);

/* What a setting costs on the held-out rows of all folds, in proportion to their weights. */
typedef struct sn_held_out {
    double *loss;  /* of each row; NULL: not measured */
    double *wrong; /* classification: 1 for a wrong class; else 0 */
} sn_held_out;

stonet_status sn_held_out_create(const sn_folds *folds, sn_held_out *out);
void sn_held_out_free(sn_held_out *losses);
/* Those of a network on the held-out rows of one fold; its problem: all rows as that fold sees them. */
stonet_status sn_folds_measure(const sn_folds *folds, int fold, const sn_use *network, sn_held_out *losses);
/* Those of a fold that others have, too. */
void sn_folds_copy(const sn_folds *folds, int fold, const sn_held_out *from, sn_held_out *to);
/* Those of outputs mu (rows of the fold x outputs) that something else gave. */
void sn_folds_take(const sn_folds *folds, int fold, const sn_problem *problem, const sn_shape *shape,
                   const float *mu, double *room, sn_held_out *losses);

/* The mean over rows first .. first + n - 1. */
double sn_mean_loss(const double *loss, int64_t first, int64_t n);

/*
 * The mean over the held-out rows of v, or of v - less. Rows of a fold share a network, whose own part of the
 * error is one for all of them (analysis of variance, K folds, the mean squares B between and W within them):
 *     v_ik = mean + f_k + e_ik,   se^2 = W / n + max(0, B - W) / n
 * with the degrees of freedom of Welch and Satterthwaite. The rows of a single fold have W alone. Rows that
 * belong together may err together: with G such groups, of rows g each, W = sum over them of (sum over g of
 * e_ik)^2 / (G - K) G / n.
 */
typedef struct sn_fold_mean {
    double mean, se, df; /* df 0: not measured */
} sn_fold_mean;
sn_fold_mean sn_held_out_mean(const sn_folds *folds, const double *v, const double *less);
/* Held-out loss that the choice has less than a constant guess, and linear regression less than the choice.
 */
typedef struct sn_gains {
    sn_fold_mean over_constant, of_linear;
} sn_gains;
/* Whether the 95 % interval of a mean lies above 0. */
bool sn_gain_is_clear(const sn_fold_mean *mean);

/* Mean loss and error rate of some folds with their standard errors; and a 95 % interval. That of an error
   rate is Wilson's, for as many independent rows as have its standard error. That of a loss is by Student's
   t, of its logarithm where no row has less than 0: a mean of squares is skewed, minus a log density is not.
   Few rows often have none of the large squares, and vary less than all would: W of half the sum of m squares
   is that of normal residuals at the least, which is 2 mean^2 / m or more. */
sn_estimate sn_estimate_of(const sn_folds *folds, const sn_held_out *losses, const sn_problem *problem,
                           const sn_shape *shape);
/* low and high of a rate, of so many rows where its standard error is 0. */
void sn_rate_interval(const sn_fold_mean *rate, double rows, sn_estimate *out);
