/* The statistic of the random-feature tests and its law under independence. */
#ifndef SN_STATS_COVARIANCE_TEST_H
#define SN_STATS_COVARIANCE_TEST_H

#include "base/status.h"

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
 */
typedef struct sn_residuals {
    int64_t n, mx, my;
    const double *e; /* n x (mx + my), row-major */
    double used;
    double excess; /* T is too large by this share of itself for other reasons than dependence: divided by 1 +
                      it */
} sn_residuals;

/* T itself, and the mean sum_k lambda_k of its law. */
double sn_covariance_statistic(const sn_residuals *residuals);
double sn_covariance_mean(const sn_residuals *residuals);

/* `substream` keys the permutations, which are used by STONET_NULL_PERMUTATION only. */
stonet_status sn_covariance_test(const sn_residuals *residuals, stonet_null_law law, int64_t permutations,
                                 uint64_t seed, uint32_t substream, int threads, double *statistic,
                                 double *p_value);

#endif
