/* Keeps BLAS calls on the thread that makes them. */
#ifndef SN_MATH_SERIAL_BLAS_H
#define SN_MATH_SERIAL_BLAS_H

#include <omp.h>

/*
 * To be called first thing by every thread of a parallel region that calls BLAS. OpenBLAS already stays on
 * one thread inside a region of several, but a region of one thread does not count as one: it would start its
 * own threads there, split the sums otherwise, and change the last bits with the number of threads. The
 * setting belongs to the region's task and is gone at its end.
 */
static inline void sn_serial_blas(void)
{
    omp_set_num_threads(1);
}

#endif
