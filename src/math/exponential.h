/* The exponential of many numbers at once, for kernels. */
#pragma once

#include <stdint.h>

/* x <- exp(min(x, 0)) for n numbers, to within 2 units in the last place; below -708 as at -708 (3e-308).
   A NaN stays one. */
void sn_exp_nonpositive(int64_t n, double *x);
