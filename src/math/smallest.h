/* The k-th smallest of some numbers, without sorting them. */
#ifndef SN_MATH_SMALLEST_H
#define SN_MATH_SMALLEST_H

#include <stdint.h>

/* k from 0. The values are rearranged: those before place k are no larger, those after it no smaller. */
double sn_kth_smallest(int64_t count, int64_t k, double *values);

#endif
