/*
 * Thin double-precision shims over BLAS and LAPACK for the methods and learners. All matrices are row-major
 * with the leading dimension equal to the number of columns, unless said otherwise. Results have the same
 * bits for any number of threads (omp_set_num_threads): large products, Cholesky factors and triangular
 * systems are shared among them, everything else runs on the calling thread.
 */
#pragma once

#include <stdbool.h>

#include "base/workspace.h"
#include "math/tiles.h"

/* C = A B, and alpha A B + beta C. */
void sn_multiply(sn_operand a, sn_operand b, double *c);
void sn_gemm(double alpha, sn_operand a, sn_operand b, double beta, double *c);
/* Symmetric C (n x n, both triangles filled) = alpha A'A + beta C with A k x n. */
void sn_syrk_tn(int64_t n, int64_t k, double alpha, const double *a, double beta, double *c);
/* Its lower triangle alone: enough for sn_cholesky and sn_eigh. */
void sn_syrk_tn_lower(int64_t n, int64_t k, double alpha, const double *a, double beta, double *c);
/* y = alpha A x + beta y. */
void sn_gemv(double alpha, sn_operand a, const double *x, double beta, double *y);
double sn_dot(int64_t n, const double *x, const double *y);
double sn_norm(int64_t n, const double *x);

/* What LAPACKE's info means for `what`: fine, no memory, numbers that are not finite, no convergence. */
stonet_status sn_lapack_status(int info, const char *what);
/* Symmetric eigenproblem of the lower triangle, all of it: values descending, vectors as COLUMNS of v;
   a is destroyed, all n x n. */
stonet_status sn_eigh(int64_t n, double *a, double *values, double *v);
/* The `count` largest: values descending (count), vectors as columns of v (n x count); a is destroyed. */
stonet_status sn_eigh_top(int64_t n, int64_t count, double *a, double *values, double *v);
/* Thin SVD A (m x n) = U diag(s) V', r = min(m, n): u m x r, s r, vt r x n; u or vt may be NULL.
   a is destroyed. */
stonet_status sn_svd(int64_t m, int64_t n, double *a, double *u, double *s, double *vt);
/* Cholesky A = L L' of the lower triangle in place (the strict upper triangle is zeroed).
   STONET_ERROR_NUMERIC if not positive definite. */
stonet_status sn_cholesky(int64_t n, double *a);
/* Solves (L L') X = B in place, B n x k. */
stonet_status sn_cholesky_solve(int64_t n, const double *l, int64_t k, double *b);
/* Solves L X = B (transpose: L' X = B) in place, B n x k, L lower triangular. */
void sn_triangular_solve(int64_t n, bool transpose, const double *l, int64_t k, double *b);
/* Solves X L' = B in place, B k x n: every row of B for itself. */
void sn_triangular_solve_rows(int64_t n, const double *l, int64_t k, double *b);
/* Solves symmetric positive definite A X = B; a and b destroyed, X in b (n x k). */
stonet_status sn_solve_spd(int64_t n, double *a, int64_t k, double *b);
/* out (n x *rank, of `keep`) = A V (D + ridge)^{-1/2} for alpha A'A = V D V', A n x k as it lies, without the
   eigenvalues below `least` times the largest; the ridge is a share of the largest. */
stonet_status sn_whiten_columns(double alpha, sn_operand a, double ridge, double least, sn_workspace *keep,
                                int64_t *rank, double **out);
/* Orthonormalises the columns of A (m x n, m >= n) in place by QR; columns of a rank-deficient A are
   completed to an orthonormal set. */
stonet_status sn_orthonormalise(int64_t m, int64_t n, double *a);
/* B (n x m) = A' of A (m x n). */
void sn_transpose(int64_t m, int64_t n, const double *a, double *b);
/* B (m x keep) = the first columns of A (m x n); B may be A. */
void sn_first_columns(int64_t m, int64_t n, const double *a, int64_t keep, double *b);
/* Makes the entry of largest magnitude of each column of A (m x n) positive. */
void sn_fix_signs(int64_t m, int64_t n, double *a);
