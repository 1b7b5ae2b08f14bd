#include "stats/eigen.h"

#include "math/linalg.h"

stonet_status sn_eigh_one_thread(int64_t n, double *a, double *values, double *v)
{
    stonet_status status = STONET_OK;
    /* inside a parallel region that is active, that is, has two threads, BLAS stays on the thread it is on */
#pragma omp parallel num_threads(2)
#pragma omp single
    status = sn_eigh(n, a, values, v);
    return status;
}
