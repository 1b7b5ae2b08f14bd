/*
 * The response regressed on features, as exactly as a solver gives it:
 *
 *     min over W, b   sum_i a_i loss(y_i, W x_i + b) + l2/2 |W|^2
 *
 * where a_i is the weight of a row (1 unless the problem says otherwise) and loss is the cross-entropy or |y
 * - mu|^2 / 2. W is outputs x d; of two classes, whose coefficients are opposite, each gets its half of the
 * difference.
 */
#pragma once

#include <stdbool.h>

#include "base/run.h"
#include "data/problem.h"

typedef struct sn_regression {
    const sn_problem *problem; /* the response; its features are not looked at */
    const sn_rows *rows;       /* of the problem; n of them */
    int64_t d;
    const float *x; /* n x d */
    double l2;
    double enough; /* classes: math/logistic.h; 0: as exact as can be */
} sn_regression;
#define SN_ROUGHLY 1e-3 /* as `enough`, where a thousandth of the loss will do */

/* Whether one on all columns takes little time beside the training of a network. */
bool sn_regression_is_small(const sn_problem *problem, int64_t rows);

/* coef outputs x d, intercept outputs. A class that no row has gets half a row's share where x = 0. found:
   false, and both are left alone, when fewer than two classes have rows. */
stonet_status sn_regress(const sn_regression *job, const stonet_run *run, double *coef, double *intercept,
                         bool *found);
