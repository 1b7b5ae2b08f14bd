/*
 * Matrix products cut into tiles that the OpenMP threads share, each tile a BLAS call on one thread. The cut
 * depends on the sizes alone, and every tile runs over the whole inner dimension. So the result has the same
 * bits for any number of threads, which the threaded products of BLAS do not promise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A matrix of rows x columns: row-major in memory, `stride` from row to row, or the transpose of what lies
 * there. */
typedef struct sn_operand {
    const double *at;
    int64_t rows, columns, stride;
    bool turned;
} sn_operand;

/* The rows x columns without gaps at `at`, as they are and transposed. */
static inline sn_operand sn_as(const double *at, int64_t rows, int64_t columns)
{
    return (sn_operand){at, rows, columns, columns, false};
}
static inline sn_operand sn_turned(const double *at, int64_t rows, int64_t columns)
{
    return (sn_operand){at, columns, rows, columns, true};
}

/* C = alpha A B + beta C. */
typedef struct sn_product {
    double alpha;
    sn_operand a, b;
    double beta;
    double *c;
    int64_t c_stride;
} sn_product;

/* lower: only the lower triangle of a square C, for B = A'. */
void sn_product_run(const sn_product *x, bool lower);

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
