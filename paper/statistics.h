/* Means, standard errors and correlations of the numbers of an experiment. */
#ifndef PAPER_STATISTICS_H
#define PAPER_STATISTICS_H

#include <stdint.h>

double mean_of(int64_t n, const double *values);
/* Of the mean: sd / sqrt(n), with the divisor n - 1. */
double standard_error_of(int64_t n, const double *values);
/* Pearson's; 0 when one of them is constant. */
double correlation(int64_t n, const double *a, const double *b);

#endif
