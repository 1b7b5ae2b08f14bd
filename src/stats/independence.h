/* Combining p-values; the tests themselves are public (stonet_independence). */
#pragma once

#include <stdint.h>

/* The Cauchy combination (Liu and Xie) 1/2 - atan(mean tan((1/2 - p) pi)) / pi, which holds its level for
   dependent p-values. p above 0.99 counts as 0.99: a single p = 1 (permutations, a statistic of 0) must not
   outweigh all evidence. */
double sn_cauchy_combination(int64_t count, const double *p);
