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
    double enough; /* part of the sum that a last step may be expected to gain; 0: as exact as can be */
} sn_logistic_problem;

/* coef m x p (0 for constant columns), intercept m. */
stonet_status sn_logistic(const sn_logistic_problem *problem, const stonet_run *run, double *coef,
                          double *intercept);

/*
 * What it is made of: minimises the penalised logistic loss over W (m x d):
 *
 *     f(W) = sum_i a_i loss(label_i, W x_i) + 1/2 sum_kj lambda_j W_kj^2
 *
 * m = 1: two classes, eta = W x, loss = log(1 + e^eta) - [label = 1] eta.
 * m > 1: m classes in the symmetric form, loss = log sum_k e^eta_k - eta_label.
 */
typedef struct sn_softmax_problem {
    int64_t n, d, m;
    const double *x;      /* n x d, columns of comparable size; an intercept is a column of ones */
    const int32_t *label; /* n codes 0..max(m, 2)-1 */
    const double *lambda; /* d, not negative */
    const float *weight;  /* n, what each row counts; NULL: 1 */
    double enough;        /* as above */
} sn_softmax_problem;

/* w comes in as the start and goes out as the minimiser (or where it was when the run was stopped). */
stonet_status sn_softmax_newton(const sn_softmax_problem *problem, const stonet_run *run, double *w);
