/*
 * How good predictions are, and the small statistics that compare methods. All of them give NaN when there
 * is nothing to average (n = 0). weight: what each of the n rows counts; NULL: 1.
 */
#pragma once

#include "base/status.h"

/* probability is n x classes, row-major; the predicted class is the most probable one (the first of equals).
 */
typedef struct sn_class_rows {
    int64_t n, classes;
    const double *probability;
    const int32_t *label;
    const double *weight;
} sn_class_rows;

/*
 * The scores that all classes have, into `scores`:
 *
 *     error_rate, accuracy
 *     log_loss            - mean log probability of the true class, probabilities clipped to
 *                         [1e-15, 1 - 1e-15]
 *     brier               mean over the rows of sum_c (p_c - 1{label = c})^2
 *     calibration_error   with 15 bins of equal width of the largest probability P (bin b holds P in
 *                         (b/15, (b+1)/15]): sum_b n_b/n |share right - mean P|; biased upwards for few rows
 *     balanced_accuracy   mean over the classes that have rows of the share of these that is found
 *     auc                 area under the ROC curve of the probability of the second of two classes, or its
 *                         mean over the classes, each against the rest: the share of pairs in the right
 *                         order, ties counting a half; without classes that are all rows, or none
 */
stonet_status sn_score_classes(const sn_class_rows *rows, stonet_scores *scores);
/* Of ordered classes: rank_error, the mean of |label - predicted class|, and the quadratic kappa. This is 1 -
   mean square of that difference / its mean square if both were independent with the same shares. */
void sn_score_ranks(const sn_class_rows *rows, stonet_scores *scores);
/* Rows of class i whose most probable class is j: table[i * classes + j]. */
void sn_confusion(const sn_class_rows *rows, int64_t *table);

/*
 * predicted and y are n x outputs, row-major:
 *
 *     mse           mean over rows and outputs of (predicted - y)^2
 *     r2            mean over outputs of 1 - SSE / SST; an output with constant y counts 1 when predicted
 *                   exactly, else 0
 *     correlation   mean over outputs of Pearson's of predicted and y; 0 for an output where either is
 *                   constant
 */
void sn_score_numbers(int64_t n, int64_t outputs, const double *predicted, const double *y,
                      const double *weight, stonet_scores *scores);

/* Of a mean: standard deviation / sqrt n, 0 when n = 1. */
double sn_standard_error(int64_t n, const double *values);
/* The p-value of stonet_paired_t_test for n of the folds of a cross-validation. The fits share rows, so the
   differences d are correlated and the plain test finds too much: the variance is corrected by n_test /
   n_train = 1 / (folds - 1), t = mean d / sqrt((1/n + 1/(folds - 1)) var d) with n - 1 degrees of freedom
   (Nadeau and Bengio 2003). NaN when n < 2 or the differences have no variance: there is nothing to compare
   the mean with. */
double sn_fold_t_test(int64_t n, int64_t folds, const double *a, const double *b);
