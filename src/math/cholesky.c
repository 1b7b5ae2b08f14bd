/*
 * Cholesky factors and triangular systems, by block columns. LAPACK or BLAS does a block on the diagonal on
 * one thread. The update of the rest is a product that the threads share (math/tiles.h).
 */
#include <cblas.h>
#include <lapacke.h>
#include <string.h>

#include "math/linalg.h"
#include "math/serial_blas.h"
#include "math/tiles.h"

enum { BLOCK = 256 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* X L' = B in place, L (n x n) lower triangular, B k x n: the rows of B are shared. */
static void solve_rows(int64_t n, const double *l, int64_t l_stride, int64_t k, double *b, int64_t b_stride)
{
    sn_cut rows = sn_cut_side(k);
#pragma omp parallel if (rows.count > 1)
    {
        sn_serial_blas();
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < rows.count; i++)
            cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                        (int)sn_cut_part(&rows, i), (int)n, 1.0, l, (int)l_stride,
                        b + i * rows.size * b_stride, (int)b_stride);
    }
}

/* Factors the block of a (n x n) at `at` and takes what it explains from the rows below. */
static stonet_status factor_block(int64_t n, int64_t at, double *a)
{
    int64_t size = smaller(BLOCK, n - at), below = at + size, rest = n - below;
    double *block = a + at * n + at, *panel = a + below * n + at;
    lapack_int info;
    {
        SN_SERIAL_BLAS;
        info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (lapack_int)size, block, (lapack_int)n);
    }
    if (info > 0)
        return sn_fail(STONET_ERROR_NUMERIC, "a matrix of order %lld is not positive definite at row %lld",
                       (long long)n, (long long)(at + info));
    if (info < 0)
        return sn_fail(STONET_ERROR_NUMERIC,
                       "the Cholesky factorisation was given a matrix with values that are not finite");
    if (rest == 0) return STONET_OK;
    solve_rows(size, block, n, rest, panel, n);
    const sn_operand rows = {panel, rest, size, n, false}, turned = {panel, size, rest, n, true};
    sn_product_run(&(sn_product){-1.0, rows, turned, 1.0, a + below * n + below, n}, true);
    return STONET_OK;
}

stonet_status sn_cholesky(int64_t n, double *a)
{
    for (int64_t at = 0; at < n; at += BLOCK) SN_TRY(factor_block(n, at, a));
    for (int64_t i = 0; i < n; i++) memset(a + i * n + i + 1, 0, (size_t)(n - i - 1) * sizeof *a);
    return STONET_OK;
}

void sn_triangular_solve_rows(int64_t n, const double *l, int64_t k, double *b)
{
    if (n > 0 && k > 0) solve_rows(n, l, n, k, b, n);
}

/* Forwards for L, backwards for L': solve a block of rows, then take it from those still to come. */
void sn_triangular_solve(int64_t n, bool transpose, const double *l, int64_t k, double *b)
{
    if (k == 0) return;
    int64_t blocks = (n + BLOCK - 1) / BLOCK;
    for (int64_t step = 0; step < blocks; step++) {
        int64_t at = (transpose ? blocks - 1 - step : step) * BLOCK, size = smaller(BLOCK, n - at);
        {
            SN_SERIAL_BLAS;
            cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transpose ? CblasTrans : CblasNoTrans,
                        CblasNonUnit, (int)size, (int)k, 1.0, l + at * n + at, (int)n, b + at * k, (int)k);
        }
        int64_t next = transpose ? 0 : at + size, rest = transpose ? at : n - next;
        const sn_operand below = {transpose ? l + at * n : l + next * n + at, rest, size, n, transpose};
        sn_gemm(-1.0, below, sn_as(b + at * k, size, k), 1.0, b + next * k);
    }
}

stonet_status sn_cholesky_solve(int64_t n, const double *l, int64_t k, double *b)
{
    sn_triangular_solve(n, false, l, k, b);
    sn_triangular_solve(n, true, l, k, b);
    return STONET_OK;
}

stonet_status sn_solve_spd(int64_t n, double *a, int64_t k, double *b)
{
    SN_TRY(sn_cholesky(n, a));
    return sn_cholesky_solve(n, a, k, b);
}
