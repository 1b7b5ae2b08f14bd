/* The lasso in covariance form. */
#ifndef SN_METHODS_LASSO_H
#define SN_METHODS_LASSO_H

#include <stdint.h>

/*
 * Minimises b'Gb/2 - b'c + penalty |b|_1 by coordinate descent from the b given, G = X'X/n (p x p) and c =
 * X'y/n of centred data. Stops when no coordinate of a full sweep moves the fit by more than tolerance times
 * the largest |c_j|, or after `sweeps`. slope is scratch for p.
 */
void sn_lasso(int64_t p, const double *gram, const double *c, double penalty, double tolerance,
              int64_t sweeps, double *b, double *slope);

#endif
