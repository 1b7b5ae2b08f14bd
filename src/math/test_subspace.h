/* For tests alone: how far estimated directions are from the true ones. */
#pragma once

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"

/* Frobenius distance |P_A - P_B| / sqrt(2 d) in [0, 1] between the column spaces of A and B (p x d). With
   orthonormal bases the part R of B outside span(A) gives |P_A - P_B|_F^2 = 2 |R|_F^2; unlike 2 d minus the
   overlap it has no cancellation near 0. */
static inline stonet_status sn_subspace_distance(int64_t p, int64_t d, const double *a, const double *b,
                                                 double *distance)
{
    *distance = 0.0;
    if (d == 0) return STONET_OK;
    SN_ARRAY(p * d, double, qa);
    SN_ARRAY(p * d, double, qb);
    SN_ARRAY(d * d, double, overlap);
    memcpy(qa, a, (size_t)(p * d) * sizeof *qa);
    memcpy(qb, b, (size_t)(p * d) * sizeof *qb);
    SN_TRY(sn_orthonormalise(p, d, qa));
    SN_TRY(sn_orthonormalise(p, d, qb));
    sn_multiply(sn_turned(qa, p, d), sn_as(qb, p, d), overlap);
    sn_gemm(-1.0, sn_as(qa, p, d), sn_as(overlap, d, d), 1.0, qb);
    *distance = fmin(sn_norm(p * d, qb) / sqrt((double)d), 1.0);
    return STONET_OK;
}
