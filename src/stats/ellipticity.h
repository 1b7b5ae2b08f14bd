/* Whether rows are far from an elliptical law, which sir, save, dr and phd need. */
#pragma once

#include "base/status.h"

/*
 * With w_i = S^(-1/2) (x_i - mean) the directions u_i = w_i / |w_i| of an elliptical law are uniform on the
 * sphere, whatever the law of |w_i|. Of every column u the parts of u^3 and u^4 that mean and covariance,
 * which were estimated, do not determine,
 *
 *     h_3 = u^3 - 3 / (p + 2) u,   h_4 = u^4 - a u^2 - b with E h_4 = 0 = E h_4 u^2,
 *
 * have mean 0; t = sqrt(n) mean / sd with the sd of the uniform law. *p_value is that of the largest of the
 * 2 p |t|, by Bonferroni; 1 with fewer than two columns or ten rows a column, where it would not be right,
 * and where S cannot be inverted. x: n x p.
 */
stonet_status sn_ellipticity(int64_t n, int64_t p, const double *x, double *p_value);
