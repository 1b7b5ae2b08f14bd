/*
 * Matrix products cut into tiles that the OpenMP threads share, each tile a BLAS call on one thread. The cut
 * depends on the sizes alone, and every tile runs over the whole inner dimension. So the result has the same
 * bits for any number of threads, which the threaded products of BLAS do not promise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* C (m x n) = alpha op(A) op(B) + beta C, row-major with the given distances between rows. */
typedef struct sn_product {
    bool transpose_a, transpose_b;
    int64_t m, n, k;
    double alpha, beta;
    const double *a, *b;
    double *c;
    int64_t a_stride, b_stride, c_stride;
} sn_product;

void sn_product_run(const sn_product *x);
/* Only the lower triangle of a square C, for op(B) = op(A)' with B = A. */
void sn_product_run_lower(const sn_product *x);

/* How a side of a matrix is cut: `count` parts of `size`, the last one perhaps smaller. */
typedef struct sn_cut {
    int64_t length, size, count;
} sn_cut;

sn_cut sn_cut_side(int64_t length);

/* The length of part i. */
static inline int64_t sn_cut_part(const sn_cut *cut, int64_t i)
{
    int64_t left = cut->length - i * cut->size;
    return left < cut->size ? left : cut->size;
}
