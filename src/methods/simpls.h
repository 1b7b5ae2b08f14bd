/*
 * SIMPLS (de Jong 1993), partial least squares from moments alone: the one algorithm behind pls and kpls.
 *
 * X n x p and Y n x m are centred. Component a = 1, 2, .. is t_a = X r_a, where r_a makes the covariance of
 * t_a and Y largest among all t uncorrelated with t_1 .. t_{a-1}. With S_1 = X'Y and V_a an orthonormal basis
 * of the loadings X't_1 .. X't_a,
 *
 *     r_a = S_a q_a with q_a the leading eigenvector of S_a'S_a,   S_{a+1} = (I - V_a V_a') S_1,
 *
 * so of the rows X'X and X'Y are enough. r_a is scaled to t_a't_a = 1; then component a explains |Y't_a|^2 of
 * the sum of squares of Y, and the r of k components are the first k of any more.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"

typedef struct sn_simpls_moments {
    int64_t p, m;
    const double *gram; /* X'X: p x p, or its diagonal (p) where it has nothing else */
    bool diagonal;
    const double *cross; /* X'Y, p x m */
} sn_simpls_moments;

/* Up to `dim` components: r (p x dim, one a column) and explained (dim). *found: how many there are before
   what is left of X'Y is rounding; columns beyond are 0. */
stonet_status sn_simpls(const sn_simpls_moments *moments, int64_t dim, double *r, double *explained,
                        int64_t *found);
