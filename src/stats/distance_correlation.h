/* Distance correlation (Szekely, Rizzo, Bakirov), the form that divides by n. */
#pragma once

#include "base/status.h"

/* dCor of x and y of the sides in [0, 1], 0 when either is constant, and the p-value
   (1 + #{permuted >= observed}) / (1 + permutations); 1 when x or y is constant or there are no permutations.
   Numbers against numbers take O(n log n) time, else O(n^2); memory is O(n). */
stonet_status sn_distance_correlation_test(const stonet_sides *sides, int64_t permutations,
                                           const stonet_run *run, double *correlation, double *p_value);
