/*
 * How much y spreads at x, learned from residuals of held-out rows. Intervals of CV+ are then wide where
 * errors are large, whatever the method. r_i is the score of row i: |y_i - f(x_i)|, over the spread that the
 * model itself has, if any. With k a kernel at some of the rows c,
 *
 *     log s_l(x) = intercept_l + sum_c coef_lc k(x, c),
 *     k(x, c) = exp(-gamma |x - c|^2) + 1/p sum_j (g_j + g_j^4),   g_j = exp(-gamma p (x_j - c_j)^2),
 *
 * where 2 gamma is 1 / the squared median distance of rows: a function of all columns together, and of each
 * column alone a wide one and one of half the width. Few rows show the second where they cannot show the
 * first. There is one log s for each member l, from the rows that l has seen: their scores are by the other
 * members. Fisher scoring for E r = s, with a variance that grows as s^2, has the same weight for every row.
 * So each step is one ridge regression of log s_i + r_i / s_i - 1. The penalty is chosen at the first step by
 * generalised cross-validation.
 */
#pragma once

#include "base/store.h"
#include "base/workspace.h"

typedef struct sn_held_out_spread {
    int64_t lists, outputs, centres, p;
    double gamma;
    double *centre;    /* centres x p: encoded rows */
    double *coef;      /* lists x outputs x centres */
    double *intercept; /* lists x outputs */
} sn_held_out_spread;

/* Rows with their scores: x n x p, score outputs x n, list n (who held the row out). */
typedef struct sn_scored_rows {
    int64_t n, p, outputs, lists;
    const float *x;
    const double *score;
    const int32_t *list;
    uint64_t seed;
} sn_scored_rows;

/* *out NULL: the rows are too few to tell, or all alike. */
stonet_status sn_held_out_spread_fit(const sn_scored_rows *rows, sn_held_out_spread **out);
/* spread (lists x outputs) of one encoded row by each member. */
void sn_held_out_spread_at(const sn_held_out_spread *self, const float *x, double *spread);
void sn_held_out_spread_free(sn_held_out_spread *self);
SN_DROP(sn_held_out_spread, sn_held_out_spread_free)

/* As spread_gamma, spread_centres, spread_coef and spread_intercept; NULL is saved as nothing, and loaded so.
 */
stonet_status sn_held_out_spread_put(const sn_held_out_spread *self, sn_store *store);
stonet_status sn_held_out_spread_get(const sn_store *store, int64_t lists, int64_t outputs, int64_t p,
                                     sn_held_out_spread **out);
