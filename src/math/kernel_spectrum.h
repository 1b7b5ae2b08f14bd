/* The largest eigenpairs of a symmetric operator that is only known by what it does to vectors. */
#pragma once

#include "base/run.h"

/* out = A in, both n x columns row-major; A symmetric. */
typedef struct sn_operator {
    int64_t n;
    stonet_status (*apply)(void *context, int64_t columns, const double *in, double *out);
    void *context;
} sn_operator;

/*
 * Block Lanczos with full orthogonalisation and Rayleigh-Ritz: values (count, descending) and orthonormal
 * vectors as columns of v (n x count), to a residual of `tolerance` times the largest eigenvalue in
 * magnitude. The start is fixed, so results repeat. v may be NULL.
 */
stonet_status sn_top_eigenpairs(const sn_operator *a, int64_t count, double tolerance, const stonet_run *run,
                                double *values, double *v);
/* The largest eigenvalue of the symmetric n x n matrix a. */
stonet_status sn_largest_eigenvalue(int64_t n, const double *a, double *value);
