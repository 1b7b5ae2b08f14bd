/*
 * Minimises the penalised logistic loss over W (m x d):
 *
 *     f(W) = sum_i a_i loss(label_i, W x_i) + 1/2 sum_kj lambda_j W_kj^2
 *
 * m = 1: two classes, eta = W x, loss = log(1 + e^eta) - [label = 1] eta.
 * m > 1: m classes in the symmetric form, loss = log sum_k e^eta_k - eta_label.
 */
#pragma once

#include "base/run.h"

typedef struct sn_softmax_problem {
    int64_t n, d, m;
    const double *x;      /* n x d, columns of comparable size; an intercept is a column of ones */
    const int32_t *label; /* n codes 0..max(m, 2)-1 */
    const double *lambda; /* d, not negative */
    const float *weight;  /* n, what each row counts; NULL: 1 */
    double enough;        /* part of f that a last step may be expected to gain; 0: as exact as can be */
} sn_softmax_problem;

/* w comes in as the start and goes out as the minimiser (or where it was when the run was stopped). */
stonet_status sn_softmax_newton(const sn_softmax_problem *problem, const stonet_run *run, double *w);
