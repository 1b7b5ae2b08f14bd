/* Noise-free passes through a network, in float with BLAS, blocked by rows and threaded over the blocks. */
#pragma once

#include <stdbool.h>

#include "net/shape.h"

/* mu_layer (1-based; layer = shape->layers gives the output before softmax); activated: psi of it. */
typedef struct sn_forward_job {
    const sn_shape *shape;
    const float *theta;
    int layer;
    bool activated;
    int threads;
} sn_forward_job;

/* For n rows: out n x d_layer. Bits do not depend on threads. */
stonet_status sn_forward(const sn_forward_job *to, int64_t n, const float *x, float *out);

/* In-place softmax of n rows of c values, in double, safe for any finite input. */
void sn_softmax(int64_t n, int64_t c, double *values);
