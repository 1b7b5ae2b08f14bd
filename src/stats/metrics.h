/*
 * How good predictions are, and the small statistics that compare methods. All of them give NaN when there
 * is nothing to average (n = 0).
 */
#ifndef SN_STATS_METRICS_H
#define SN_STATS_METRICS_H

#include <stdint.h>

/* probability is n x classes, row-major; the predicted class is the most probable one (the first of equals).
 */
double sn_error_rate(int64_t n, int64_t classes, const double *probability, const int32_t *label);
double sn_accuracy(int64_t n, int64_t classes, const double *probability, const int32_t *label);
/* -mean log probability of the true class, probabilities clipped to [1e-15, 1 - 1e-15]. */
double sn_log_loss(int64_t n, int64_t classes, const double *probability, const int32_t *label);

/* predicted and y are n x outputs, row-major. The mean over rows and outputs of (predicted - y)^2. */
double sn_mse(int64_t n, int64_t outputs, const double *predicted, const double *y);
/* Mean over outputs of 1 - SSE / SST; an output with constant y counts 1 when predicted exactly, else 0. */
double sn_r2(int64_t n, int64_t outputs, const double *predicted, const double *y);
/* Mean over outputs of Pearson's correlation of predicted and y; 0 for an output where either is constant. */
double sn_correlation(int64_t n, int64_t outputs, const double *predicted, const double *y);

double sn_mean(int64_t n, const double *values);
/* Sample standard deviation (n - 1); 0 when n = 1. */
double sn_standard_deviation(int64_t n, const double *values);
/* Of the mean: standard deviation / sqrt n. */
double sn_standard_error(int64_t n, const double *values);
/* Two-sided p-value of the paired t-test that a and b have equal means. 1 when all pairs are equal or n < 2
   (no evidence), 0 when all differences are the same non-zero number. */
double sn_paired_t_test(int64_t n, const double *a, const double *b);

#endif
