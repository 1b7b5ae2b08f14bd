/*
 * Sums of Gaussian kernels at m centres, for many rows:
 *
 *     f_u(x) = b_u + a_u'x + sum_j c_ju exp(-gamma |x - z_j|^2),   u = 1 .. w
 *
 * The kernels of a row are never written to memory, and a row has the same bits whatever rows stand beside it
 * and however many threads there are.
 */
#pragma once

#include "base/status.h"

typedef struct sn_kernel_sum {
    int64_t p, m, w;
    double gamma;
    const double *centre;   /* z: m x p */
    const double *weight;   /* c: m x w */
    const double *slope;    /* a: p x w; NULL: none */
    const double *constant; /* b: w */
} sn_kernel_sum;

/* f (n x w) of x (n x p), on the OpenMP threads of the calling thread; few rows stay on it. */
stonet_status sn_kernel_sum_apply(const sn_kernel_sum *sum, int64_t n, const float *x, float *f);
