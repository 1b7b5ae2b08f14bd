/* Noise-free passes through a network, in float with BLAS, blocked by rows and threaded over the blocks. */
#pragma once

#include <stdbool.h>

#include "net/shape.h"

/* mu_layer (1-based; layers = shape->layers gives the output before softmax) for n rows: out n x d_layer.
   activated: psi of it. Bits do not depend on threads. */
stonet_status sn_forward(const sn_shape *shape, const float *theta, const float *x, int64_t n, int layer,
                         bool activated, int threads, float *out);

/* In-place softmax of n rows of c values, in double, safe for any finite input. */
void sn_softmax(int64_t n, int64_t c, double *values);
