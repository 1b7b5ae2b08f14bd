/* The objective of conditional variance estimation and its gradient. */
#pragma once

#include "base/workspace.h"

/*
 * How much y varies among rows that B'z brings together. With U = Z B (n x d), d_ij = |u_i - u_j|^2,
 *
 *     K_ij = exp(-(d_ij / h)^2 / 2),  w_ij = K_ij / sum_l K_il,  m_i = sum_j w_ij y_j,
 *     L_i = sum_j w_ij |y_j - m_i|^2,   L(B) = mean_i L_i
 *
 * for y of several columns, and
 *
 *     S_ij = (L_i - |y_j - m_i|^2) d_ij w_ij,   dL/dB = 2 / (n h^2) Z' M,  M_i = sum_j (S_ij + S_ji)(u_i -
 * u_j).
 *
 * This is L(V) of Fertl and Bura for V a basis of what is orthogonal to B: there d_ij = |z_i - z_j|^2 -
 * |V'(z_i - z_j)|^2.
 */
typedef struct sn_cve {
    int64_t n, rank, d, responses;
    const double *z; /* n x rank */
    const double *y; /* n x responses */
    double h;        /* bandwidth, of squared distances */
    int threads;
    double *u, *column;          /* U: n x d, and by columns, d x n */
    double *target, *square;     /* y by columns, responses x n; |y_i|^2, n */
    double *mean, *each, *share; /* m by columns, responses x n; L_i; 1 / sum_j K_ij */
    double *m;                   /* n x d */
} sn_cve;

/* Takes the arrays of work from `keep`; everything above them is set. */
stonet_status sn_cve_prepare(sn_cve *cve, sn_workspace *keep);
/* The value at B (rank x d); the gradient (rank x d) too, when it is not NULL. */
double sn_cve_value(sn_cve *cve, const double *b, double *gradient);
