/*
 * Row-major matrices meet column-major LAPACK without copies wherever possible. A row-major matrix is the
 * transpose of the column-major matrix in the same memory. So the lower triangle here is LAPACK's upper one,
 * and the two sides of an SVD change places. Decompositions run on one thread: LAPACK's sums would otherwise
 * depend on the number of threads.
 */
#include "math/linalg.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/serial_blas.h"
#include "math/tiles.h"

enum { MIRROR_BLOCK = 64, MIRROR_SHARED = 1024 }; /* the side from which threads share the mirroring */

stonet_status sn_lapack_status(int info, const char *what)
{
    if (info == 0) return STONET_OK;
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        return sn_fail(STONET_ERROR_MEMORY, "memory ran out in the %s", what);
    if (info < 0)
        return sn_fail(STONET_ERROR_NUMERIC, "the %s was given a matrix with values that are not finite",
                       what);
    return sn_fail(STONET_ERROR_NUMERIC, "the %s did not converge", what);
}

void sn_gemm(double alpha, sn_operand a, sn_operand b, double beta, double *c)
{
    sn_product_run(&(sn_product){alpha, a, b, beta, c, b.columns}, false);
}

void sn_multiply(sn_operand a, sn_operand b, double *c)
{
    sn_gemm(1.0, a, b, 0.0, c);
}

/* Copies the lower triangle onto the upper one, in blocks that stay in cache. */
static void mirror_lower(int64_t n, double *c)
{
#pragma omp parallel for schedule(dynamic) if (n > MIRROR_SHARED)
    for (int64_t i0 = 0; i0 < n; i0 += MIRROR_BLOCK) {
        int64_t i1 = i0 + MIRROR_BLOCK < n ? i0 + MIRROR_BLOCK : n;
        for (int64_t j0 = 0; j0 <= i0; j0 += MIRROR_BLOCK) {
            for (int64_t i = i0; i < i1; i++) {
                int64_t j1 = j0 + MIRROR_BLOCK < i ? j0 + MIRROR_BLOCK : i;
                for (int64_t j = j0; j < j1; j++) c[j * n + i] = c[i * n + j];
            }
        }
    }
}

void sn_syrk_tn_lower(int64_t n, int64_t k, double alpha, const double *a, double beta, double *c)
{
    sn_product_run(&(sn_product){alpha, sn_turned(a, k, n), sn_as(a, k, n), beta, c, n}, true);
}

void sn_syrk_tn(int64_t n, int64_t k, double alpha, const double *a, double beta, double *c)
{
    sn_syrk_tn_lower(n, k, alpha, a, beta, c);
    mirror_lower(n, c);
}

void sn_gemv(double alpha, sn_operand a, const double *x, double beta, double *y)
{
    if (a.rows == 0 || a.columns == 0) {
        for (int64_t i = 0; i < a.rows; i++) y[i] = beta == 0.0 ? 0.0 : beta * y[i];
        return;
    }
    SN_SERIAL_BLAS;
    cblas_dgemv(CblasRowMajor, a.turned ? CblasTrans : CblasNoTrans, (int)(a.turned ? a.columns : a.rows),
                (int)(a.turned ? a.rows : a.columns), alpha, a.at, (int)a.stride, x, 1, beta, y, 1);
}

/* Vectors can be longer than a BLAS int, so they are processed in pieces. */
enum { PIECE = 1 << 30 };

double sn_dot(int64_t n, const double *x, const double *y)
{
    double sum = 0.0;
    SN_SERIAL_BLAS;
    for (int64_t i = 0; i < n; i += PIECE)
        sum += cblas_ddot((int)(n - i < PIECE ? n - i : PIECE), x + i, 1, y + i, 1);
    return sum;
}

double sn_norm(int64_t n, const double *x)
{
    double norm = 0.0;
    SN_SERIAL_BLAS;
    for (int64_t i = 0; i < n; i += PIECE)
        norm = hypot(norm, cblas_dnrm2((int)(n - i < PIECE ? n - i : PIECE), x + i, 1));
    return norm;
}

/* LAPACK gives `count` eigenpairs ascending with the vectors as rows of z (count x n, in our reading); the
   contract wants them descending and as columns of v. */
static void descending_columns(int64_t n, int64_t count, const double *z, double *values, double *v)
{
    for (int64_t j = 0; j < count / 2; j++) {
        double swap = values[j];
        values[j] = values[count - 1 - j];
        values[count - 1 - j] = swap;
    }
    for (int64_t i0 = 0; i0 < n; i0 += MIRROR_BLOCK) {
        int64_t i1 = i0 + MIRROR_BLOCK < n ? i0 + MIRROR_BLOCK : n;
        for (int64_t j = 0; j < count; j++) {
            const double *row = z + (count - 1 - j) * n;
            for (int64_t i = i0; i < i1; i++) v[i * count + j] = row[i];
        }
    }
}

stonet_status sn_eigh(int64_t n, double *a, double *values, double *v)
{
    if (n == 0) return STONET_OK;
    SN_SERIAL_BLAS;
    lapack_int info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, a, (lapack_int)n, values);
    SN_TRY(sn_lapack_status(info, "symmetric eigendecomposition"));
    descending_columns(n, n, a, values, v);
    return STONET_OK;
}

stonet_status sn_eigh_top(int64_t n, int64_t count, double *a, double *values, double *v)
{
    if (count < 0 || count > n)
        return sn_fail(STONET_ERROR_ARGUMENT, "%lld eigenvalues are wanted of a matrix of order %lld",
                       (long long)count, (long long)n);
    if (count == n) return sn_eigh(n, a, values, v);
    if (count == 0) return STONET_OK;

    SN_ARRAY(n * count, double, z);
    SN_ARRAY(n, double, found);
    SN_ARRAY(2 * n, lapack_int, support);
    lapack_int got = 0;
    SN_SERIAL_BLAS;
    lapack_int info = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'U', (lapack_int)n, a, (lapack_int)n, 0.0,
                                     0.0, (lapack_int)(n - count + 1), (lapack_int)n, 0.0, &got, found, z,
                                     (lapack_int)n, support);
    SN_TRY(sn_lapack_status(info, "symmetric eigendecomposition"));
    memcpy(values, found, (size_t)count * sizeof *values);
    descending_columns(n, count, z, values, v);
    return STONET_OK;
}

/* Our A is LAPACK's A' = V diag(s) U': its left vectors are our vt and its right ones our u. */
stonet_status sn_svd(int64_t m, int64_t n, double *a, double *u, double *s, double *vt)
{
    int64_t r = m < n ? m : n;
    if (r == 0) return STONET_OK;
    SN_BLOCK double *spare = NULL;
    bool vectors = u != NULL || vt != NULL;
    if (vectors && (u == NULL || vt == NULL)) SN_TRY(SN_NEW_RAW(spare, r * (u == NULL ? m : n)));
    SN_SERIAL_BLAS;
    lapack_int info =
        LAPACKE_dgesdd(LAPACK_COL_MAJOR, vectors ? 'S' : 'N', (lapack_int)n, (lapack_int)m, a, (lapack_int)n,
                       s, vt != NULL ? vt : spare, (lapack_int)n, u != NULL ? u : spare, (lapack_int)r);
    return sn_lapack_status(info, "singular value decomposition");
}

stonet_status sn_whiten_columns(double alpha, sn_operand a, double ridge, double least, sn_workspace *keep,
                                int64_t *rank, double **out)
{
    const int64_t n = a.rows, k = a.columns;
    SN_ARRAY(k * k, double, gram);
    SN_ARRAY(k, double, value);
    SN_ARRAY(k * k, double, v);
    *rank = 0;
    sn_syrk_tn(k, n, alpha, a.at, 0.0, gram);
    SN_TRY(sn_eigh(k, gram, value, v));
    while (*rank < k && value[*rank] > least * value[0]) ++*rank;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < *rank; j++)
            gram[i * *rank + j] = v[i * k + j] / sqrt(value[j] + ridge * value[0]);
    SN_TRY(SN_TAKE(keep, *out, n * *rank));
    sn_multiply(a, sn_as(gram, k, *rank), *out);
    return STONET_OK;
}

/* q (columns of length m) to Q of its QR decomposition; sign is that of the diagonal of R. */
static lapack_int q_factor(lapack_int m, lapack_int n, double *q, double *tau, double *sign)
{
    SN_SERIAL_BLAS;
    lapack_int info = LAPACKE_dgeqrf(LAPACK_COL_MAJOR, m, n, q, m, tau);
    if (info == 0) {
        for (int64_t j = 0; j < n; j++) sign[j] = q[j * m + j] < 0.0 ? -1.0 : 1.0;
        info = LAPACKE_dorgqr(LAPACK_COL_MAJOR, m, n, n, q, m, tau);
    }
    return info;
}

/* Householder QR: Q has orthonormal columns and A = Q R whatever the rank of A. The signs are those of a
   positive diagonal of R, so that an orthonormal A comes back unchanged. */
stonet_status sn_orthonormalise(int64_t m, int64_t n, double *a)
{
    if (n > m)
        return sn_fail(STONET_ERROR_ARGUMENT, "%lld vectors of length %lld cannot be orthonormal",
                       (long long)n, (long long)m);
    if (n == 0) return STONET_OK;
    SN_ARRAY(m * n, double, q);
    SN_ARRAY(n, double, tau);
    SN_ARRAY(n, double, sign);
    sn_transpose(m, n, a, q);
    SN_TRY(sn_lapack_status(q_factor((lapack_int)m, (lapack_int)n, q, tau, sign), "QR decomposition"));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) a[i * n + j] = sign[j] * q[j * m + i];
    return STONET_OK;
}

void sn_transpose(int64_t m, int64_t n, const double *a, double *b)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) b[j * m + i] = a[i * n + j];
}

void sn_first_columns(int64_t m, int64_t n, const double *a, int64_t keep, double *b)
{
    for (int64_t i = 0; i < m; i++) memmove(b + i * keep, a + i * n, (size_t)keep * sizeof *b);
}

void sn_fix_signs(int64_t m, int64_t n, double *a)
{
    for (int64_t j = 0; j < n; j++) {
        double largest = 0.0;
        for (int64_t i = 0; i < m; i++)
            if (fabs(a[i * n + j]) > fabs(largest)) largest = a[i * n + j];
        if (largest >= 0.0) continue;
        for (int64_t i = 0; i < m; i++) a[i * n + j] = -a[i * n + j];
    }
}
