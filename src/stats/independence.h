/* What stonet_independence and stonet_prediction_compare are made of, beside the random-feature tests. */
#pragma once

#include "base/workspace.h"

/* The Cauchy combination (Liu and Xie) 1/2 - atan(mean tan((1/2 - p) pi)) / pi, which holds its level for
   dependent p-values. p above 0.99 counts as 0.99: a single p = 1 (permutations, a statistic of 0) must not
   outweigh all evidence. */
double sn_cauchy_combination(int64_t count, const double *p);

/* Distance correlation (Szekely, Rizzo, Bakirov), the form that divides by n: dCor of x and y of the sides in
   [0, 1], 0 when either is constant, and the p-value (1 + #{permuted >= observed}) / (1 + permutations); 1
   when x or y is constant or there are no permutations. Numbers against numbers take O(n log n) time, else
   O(n^2); memory is O(n). */
stonet_status sn_distance_correlation_test(const stonet_sides *sides, int64_t permutations,
                                           const stonet_run *run, double *correlation, double *p_value);

/* The functions of y that are looked at (n x *columns, centred, of `keep`): for a column with two values,
   its indicator times 2; for any other, the Legendre polynomials of degree 1, 2 and 3 of its ranks, which
   have variance 1 and see location, spread and skewness. */
stonet_status sn_response_functions(int64_t n, int64_t d, const double *y, sn_workspace *keep,
                                    int64_t *columns, double **values);
/* Whether n rows are enough to condition on dz columns; fails with the reason. */
stonet_status sn_check_rows_for(int64_t n, int64_t dz);

/*
 * Conditional independence by covariances of residuals: Shah and Peters' generalised covariance measure for
 * many functions at once; z must vary. Functions f of x and g of y are regressed on z by ridge regressions
 * (features.h, smoother.h), and the covariances of the residuals tested as in covariance_test.h. Three sets
 * of functions f, each with its own p-value, joined by the Cauchy combination: the columns of x, their
 * squares, and random waves of all of them together. The largest covariance of one column with the first
 * function of y has half of the weight; that of a column or square with any other function counts as one set.
 * What z determines is left out: there is nothing to test. Functions one by one are left out where z leaves
 * less than three tenths of them.
 *
 * The linear and quadratic functions of z are those of whitened columns: a ridge on mixed columns, whose
 * inverse has large factors, would blur what they determine.
 *
 * Regressions on many columns miss part of what z says about x and about y, and what they miss in both looks
 * like dependence given z. Waves of z are functions of z, so that whatever is found between them and y is of
 * this kind: they are controls. The statistic is divided by what it is too large by on their account; and
 * where the regressions miss as much of the waves of x as of those of z, so that there is no sign that x has
 * anything else, the waves of x are compared with those of z by a permutation test. It is exact when z is x,
 * or a linear map of it that can be undone.
 */
stonet_status sn_gcm_test(const stonet_sides *sides, const stonet_independence_options *options,
                          const stonet_run *run, stonet_independence_result *result);

/*
 * What x adds to a prediction of y from z, on held-out rows. Ten folds; in each, the functions of y are
 * predicted for the rows left out by two ridge regressions with penalties by generalised cross-validation:
 * one on two sets of features of z, one on a set of features of z and a set of features of x. So both have as
 * many random features, and when x is z neither is better. With D_k the difference of their squared errors on
 * fold k,
 *
 *     t = mean D / (sd D sqrt(1/10 + 1/9)),   p = P(t_9 >= t),
 *
 * where the 1/9 makes up for training sets that overlap (Nadeau and Bengio 2003). explained_z and
 * explained_zx are 1 - squared error / squared error of the training mean, over all functions of y and all
 * folds.
 */
stonet_status sn_look_by_prediction(const stonet_sides *sides, const stonet_run *run,
                                    stonet_prediction_gain *out);
