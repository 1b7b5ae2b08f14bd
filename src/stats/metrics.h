/*
 * How good predictions are, and the small statistics that compare methods. All of them give NaN when there
 * is nothing to average (n = 0). weight: what each of the n rows counts; NULL: 1.
 */
#pragma once

#include <stdint.h>

/* probability is n x classes, row-major; the predicted class is the most probable one (the first of equals).
 */
double sn_error_rate(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                     const double *weight);
double sn_accuracy(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                   const double *weight);
/* -mean log probability of the true class, probabilities clipped to [1e-15, 1 - 1e-15]. */
double sn_log_loss(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                   const double *weight);

/* Mean over the rows of sum_c (p_c - 1{label = c})^2. */
double sn_brier(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                const double *weight);
/* Expected calibration error with SN_CALIBRATION_BINS bins of equal width of the largest probability P (bin b
   holds P in (b/15, (b+1)/15]): sum_b n_b/n |share right - mean P|. Biased upwards for few rows. */
enum { SN_CALIBRATION_BINS = 15 };
double sn_calibration_error(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                            const double *weight);
/* Rows of class i whose most probable class is j: table[i * classes + j]. */
void sn_confusion(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                  int64_t *table);
/* Mean over the classes that have rows of the share of these that is found. */
double sn_balanced_accuracy(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                            const double *weight);
/* Of ordered classes: the mean of |label - predicted class|, and the quadratic kappa. This is 1 - mean square
   of that difference / its mean square if both were independent with the same shares. */
void sn_rank_scores(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                    const double *weight, double *rank_error, double *kappa);
/* Area under the ROC curve of the probability of one class against the rest: the share of pairs in the right
   order, ties counting a half. NaN when the class, or the rest, has no rows. `order` has n places. */
double sn_auc(int64_t n, int64_t classes, int64_t class_code, const double *probability, const int32_t *label,
              const double *weight, int64_t *order);

/* predicted and y are n x outputs, row-major. The mean over rows and outputs of (predicted - y)^2. */
double sn_mse(int64_t n, int64_t outputs, const double *predicted, const double *y, const double *weight);
/* Mean over outputs of 1 - SSE / SST; an output with constant y counts 1 when predicted exactly, else 0. */
double sn_r2(int64_t n, int64_t outputs, const double *predicted, const double *y, const double *weight);
/* Mean over outputs of Pearson's correlation of predicted and y; 0 for an output where either is constant. */
double sn_correlation(int64_t n, int64_t outputs, const double *predicted, const double *y,
                      const double *weight);

double sn_mean(int64_t n, const double *values);
/* Of the mean: standard deviation / sqrt n, 0 when n = 1. */
double sn_standard_error(int64_t n, const double *values);
/* The p-value of stonet_paired_t_test for n of the folds of a cross-validation. The fits share rows, so the
   differences d are correlated and the plain test finds too much: the variance is corrected by n_test /
   n_train = 1 / (folds - 1), t = mean d / sqrt((1/n + 1/(folds - 1)) var d) with n - 1 degrees of freedom
   (Nadeau and Bengio 2003). NaN when n < 2 or the differences have no variance: there is nothing to compare
   the mean with. */
double sn_fold_t_test(int64_t n, int64_t folds, const double *a, const double *b);
