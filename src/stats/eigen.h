/* A symmetric eigenproblem whose rounding does not depend on the number of threads. */
#ifndef SN_STATS_EIGEN_H
#define SN_STATS_EIGEN_H

#include "base/status.h"

/* sn_eigh (math/linalg.h) on one thread, wherever it is called from. A failure leaves its sentence on
   whichever thread did the work: callers say their own. */
stonet_status sn_eigh_one_thread(int64_t n, double *a, double *values, double *v);

#endif
