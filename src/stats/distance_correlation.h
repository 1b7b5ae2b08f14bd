/* Distance correlation (Szekely, Rizzo, Bakirov), the form that divides by n. */
#ifndef SN_STATS_DISTANCE_CORRELATION_H
#define SN_STATS_DISTANCE_CORRELATION_H

#include "base/status.h"

/* dCor of x (n x dx) and y (n x dy) in [0, 1], 0 when either is constant. Numbers against numbers take
   O(n log n) time, else O(n^2); memory is O(n). */
stonet_status sn_distance_correlation(int64_t n, int64_t dx, const double *x, int64_t dy, const double *y,
                                      const stonet_run *run, double *correlation);
/* The same with the p-value (1 + #{permuted >= observed}) / (1 + permutations); 1 when x or y is constant. */
stonet_status sn_distance_correlation_test(int64_t n, int64_t dx, const double *x, int64_t dy,
                                           const double *y, int64_t permutations, const stonet_run *run,
                                           double *correlation, double *p_value);

#endif
