/* Keeps BLAS and LAPACK on the thread that calls them. */
#pragma once

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

/* The same outside a parallel region, or another number of threads, until the end of the scope it stands in.
 */
#define SN_SERIAL_BLAS SN_BLAS_THREADS(1)
#define SN_BLAS_THREADS(count)                                                                               \
    __attribute__((cleanup(sn_blas_threads_back), unused)) int blas_threads_before = sn_blas_threads(count)
static inline int sn_blas_threads(int count)
{
    int before = omp_get_max_threads();
    omp_set_num_threads(count);
    return before;
}

static inline void sn_blas_threads_back(const int *before)
{
    omp_set_num_threads(*before);
}
