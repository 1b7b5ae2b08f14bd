/*
 * Logistic regression with an L2 penalty on the coefficients and none on the intercepts:
 *
 *     min  sum_i -log p(label_i | x_i) + l2/2 |coef|^2
 *
 * Two classes have one row of coefficients, more have one each (symmetric softmax, intercepts that sum to 0).
 */
#pragma once

#include "base/run.h"

typedef struct sn_logistic_problem {
    int64_t n, p, m;      /* m: rows of coefficients, 1 for two classes */
    const float *x;       /* n x p */
    const int32_t *label; /* n codes, each of them present */
    const float *weight;  /* n, what each row counts; NULL: 1 */
    double l2;
    double enough; /* softmax_newton.h; 0: as exact as can be */
} sn_logistic_problem;

/* coef m x p (0 for constant columns), intercept m. */
stonet_status sn_logistic(const sn_logistic_problem *problem, const stonet_run *run, double *coef,
                          double *intercept);
