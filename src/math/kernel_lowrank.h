/* Low-rank forms of Gaussian Gram matrices: pivoted incomplete Cholesky, and landmark (Nystrom) features. */
#pragma once

#include "base/workspace.h"

/* Rows of x (n x p) with the kernel exp(-gamma |x - x'|^2) between them. */
typedef struct sn_gaussian_rows {
    int64_t n, p;
    const double *x;
    double gamma;
} sn_gaussian_rows;

/*
 * Incomplete Cholesky K = F F' + E of the Gram matrix of the rows, the largest remaining diagonal as pivot.
 * E is positive semi-definite, with every diagonal entry at most `tolerance` unless most_rank stops it
 * before. F (n x *rank) belongs to `keep`. O(n rank (rank + p)) time; K is never formed.
 */
stonet_status sn_incomplete_cholesky(const sn_gaussian_rows *of, double tolerance, int64_t most_rank,
                                     sn_workspace *keep, double **factor, int64_t *rank);

/*
 * Landmark features phi(x) = L^{-1} k(x), k(x) the kernel at `rank` centres and L L' their Gram matrix.
 * phi(x)'phi(y) is the Nystrom kernel. Landmarks that the others determine to rounding are left out: rank may
 * be less than the number wanted. It differs from K_mm^{-1/2} k(x) by a rotation only.
 */
typedef struct sn_landmarks {
    int64_t p, rank;
    double gamma;
    int64_t *order;  /* rank: which of the candidates the centres are */
    double *centres; /* rank x p */
    double *l;       /* rank x rank, lower */
} sn_landmarks;

/* centres: count x p candidates. What is found lies in `keep`. */
stonet_status sn_landmarks_create(int64_t count, int64_t p, const double *centres, double gamma,
                                  sn_workspace *keep, sn_landmarks *out);
/* Features phi (n x rank) of the rows of x. */
stonet_status sn_landmarks_features(const sn_landmarks *landmarks, int64_t n, const double *x, double *phi);
/* Coefficients of features (rank x d) as coefficients of kernels at the centres, in place: L^{-T} a. */
void sn_landmarks_coefficients(const sn_landmarks *landmarks, int64_t d, double *a);
