/* Ridge regressions of many columns on the same features, with penalties by generalised cross-validation. */
#pragma once

#include <stdbool.h>

#include "base/workspace.h"

/*
 * With F (n x m, columns of mean 0) and F'F = V diag(w) V', the smoother of penalty l is
 *
 *     S(l) = 1 1'/n + F (F'F + l I)^-1 F'
 */
typedef struct sn_smoother {
    int64_t n, m, rank; /* rank: eigenvalues that are not 0 but for rounding */
    const double *f;    /* the caller's */
    double *value;      /* m: w, descending */
    double *vector;     /* m x m: V */
} sn_smoother;

stonet_status sn_smoother_create(int64_t n, int64_t m, const double *f, sn_workspace *keep, sn_smoother *out);
/*
 * The penalties l for the columns of a (n x k, centred), from a grid that leaves at least three tenths of the
 * n degrees of freedom: for each column the minimum of |a - S(l) a|^2 / (1 - tr S(l) / n)^2, or one for all
 * that minimises the sum of these.
 */
stonet_status sn_smoother_choose(const sn_smoother *smoother, int64_t k, const double *a, bool one_for_all,
                                 double *penalty);
/* coef (m x k) = (F'F + l I)^-1 F'A for the columns of a (n x k), each with its own penalty. */
stonet_status sn_smoother_fit(const sn_smoother *smoother, int64_t k, const double *a, const double *penalty,
                              double *coef);
/* In place: the columns of a (n x k, centred) become (I - S(l)) a. */
stonet_status sn_smoother_residuals(const sn_smoother *smoother, int64_t k, const double *penalty, double *a);
/* tr (I - S(l))^2: the expected sum of squares of the residuals of noise of variance 1. */
double sn_smoother_left(const sn_smoother *smoother, double penalty);
