/*
 * Logistic regression with an L2 penalty on the coefficients and none on the intercepts:
 *
 *     min  sum_i -log p(label_i | x_i) + l2/2 sum_kj u_j^2 coef_kj^2
 *
 * u_j is 1, or the standard deviation of column j when the penalty is to see standardised columns. Two
 * classes have one row of coefficients, more have one each (symmetric softmax, intercepts that sum to 0).
 */
#ifndef SN_MATH_LOGISTIC_H
#define SN_MATH_LOGISTIC_H

#include "base/run.h"

typedef struct sn_logistic_problem {
    int64_t n, p, m;      /* m: rows of coefficients, 1 for two classes */
    const float *x;       /* n x p */
    const int32_t *label; /* n codes, each of them present */
    double l2;
    bool standardised; /* the penalty is on the coefficients of standardised columns */
} sn_logistic_problem;

/* coef m x p (0 for constant columns), intercept m. */
stonet_status sn_logistic(const sn_logistic_problem *problem, const stonet_run *run, double *coef,
                          double *intercept);

#endif
