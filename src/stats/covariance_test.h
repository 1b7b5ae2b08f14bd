/* The statistic of the random-feature tests and its law under independence. */
#pragma once

#include <stdbool.h>

#include "stats/features.h"

/*
 * Features with the conditioning taken out: row i of e holds e_x,i (mx numbers) and e_y,i (my), every column
 * with mean 0; `used` is the degrees of freedom that the conditioning took (0 without). With
 *
 *     C = sum_i e_x,i e_y,i' / (n - 1),   T = n |C|_F^2,   Pi = (1/n) sum_i u_i u_i',   u_i = vec(e_x,i
 * e_y,i')
 *
 * T goes to sum_k lambda_k chi2_1 with lambda the eigenvalues of Pi. Residuals of a regression with `used`
 * parameters are too small by (n - 1 - used) / n in Pi and only by its root in T; so lambda is multiplied by
 * n^3 / ((n - 1)^2 (n - 1 - used)), which makes the means agree exactly, and permuted statistics by
 * (n - 1) / (n - 1 - used). Without this the conditional tests reject too often.
 *
 * These laws hold for a normal C with a known Pi. Neither is near where few rows decide: of two rare
 * indicators the products u_i are those of the rows with both, and without such rows Pi is nearly 0. With
 *
 *     k_x = n sum_i |e_x,i|^4 / (sum_i |e_x,i|^2)^2,   k_y likewise
 *
 * k_x k_y / n is about the squared relative error of Pi and the excess kurtosis of C for independent sides:
 * 1 / (expected number of rows with both) for two rare indicators, below 3 / n for waves of normal columns.
 * Above SN_MOST_DOUBT permutations replace every other law. They compare T, or for the chi-square law the
 * statistic that is standardised by the covariances of e_x and of e_y.
 *
 * Given z, rows are permuted among ten neighbours: rows that are alike in z or, where z has several columns,
 * in the size of e_x that a ridge regression on them expects. Permuting all rows would undo that the
 * residuals of both sides are large for the same z, and reject too often.
 */
#define SN_MOST_DOUBT 0.02

typedef struct sn_residuals {
    int64_t n, mx, my;
    const double *e; /* n x (mx + my), row-major */
    double used;
    double excess; /* T is too large by this share of itself for other reasons than dependence: divided by 1 +
                      it */
    int64_t dz;    /* columns of z, 0 where nothing is given */
    const double *z; /* n x dz, each column with mean 0 */
} sn_residuals;

/* T itself, and the mean sum_k lambda_k of its law. */
double sn_covariance_statistic(const sn_residuals *residuals);
double sn_covariance_mean(const sn_residuals *residuals);

/* Whether permutations take the place of the law. */
bool sn_covariance_permutes(const sn_residuals *residuals, stonet_null_law law);
/* how.substream keys the permutations. */
stonet_status sn_covariance_test(const sn_residuals *residuals, stonet_null_law law, int64_t permutations,
                                 sn_drawing how, double *statistic, double *p_value);
