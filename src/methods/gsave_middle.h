/*
 * The middle matrix of GSAVE, Mid = sum_j (Q/n - Q Lambda_j Q)^2 with Lambda_j = diag(c_j) - c_j c_j' and c_j
 * the columns of the response's smoother P (n x n), as an operator on centred vectors.
 */
#pragma once

#include "base/workspace.h"
#include "data/problem.h"

typedef struct sn_middle sn_middle;

/* P = k'(k k' + ey lambda_max I)^{-1} k with k = [1'; K_Y] for numbers; the projection on the class
   indicators (Moore-Penrose, no ridge) for classes. It lies in `keep`. */
stonet_status sn_middle_create(const sn_problem *problem, double ey, uint64_t seed, sn_workspace *keep,
                               sn_middle **out);
/* out = Mid in, both n x columns, the columns of `in` with mean 0. */
stonet_status sn_middle_apply(const sn_middle *middle, int64_t columns, const double *in, double *out);
