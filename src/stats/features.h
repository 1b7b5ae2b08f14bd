/* Features of a few columns for regressions that must not depend on units, tails or luck. */
#pragma once

#include "stats/fourier.h"

/*
 * Normal scores: s_ij = Phi^-1((r_ij - 1/2) / n), r_ij the rank of v_ij in its column, the mean rank among
 * equals; constant columns are left out. Long tails become normal ones: without this a few far rows decide
 * what a regression on v can say about all the others.
 */
typedef struct sn_scores {
    int64_t n, columns;
    double *values; /* n x columns, row-major: the scores */
    double *plain;  /* the columns themselves, with mean 0 and variance 1 */
} sn_scores;

stonet_status sn_scores_create(int64_t n, int64_t d, const double *v, sn_workspace *keep, sn_scores *out);
/* `count` random directions of the scores, as scores again: what is left of many columns when there is room
   for few. */
stonet_status sn_scores_project(const sn_scores *scores, int64_t count, uint64_t seed, uint32_t substream,
                                sn_workspace *keep, sn_scores *out);
/* white (n x *rank, of `keep`): the principal components of the plain columns, each with variance 1; those
   without variance are left out. The same up to a rotation for any invertible linear map of the columns. */
stonet_status sn_scores_whiten(const sn_scores *scores, sn_workspace *keep, int64_t *rank, double **white);

/* Which features: for a regression that must leave nothing over, or for one that must predict well. */
typedef enum sn_richness { SN_FEATURES_RICH, SN_FEATURES_PLAIN } sn_richness;

/* How many columns sn_regression_features gives. */
int64_t sn_regression_width(int64_t n, int64_t columns, sn_richness rich, int64_t random);
/*
 * f (n x width, row-major; the given columns of it from `first` on) for a ridge regression on the columns v_j
 * with scores s_j, each with mean 0 and a variance that says how much is expected of it:
 *
 *     v_j, s_j, s_j^2                 variance 100: next to no penalty
 *     v_j v_k, j <= k                 variance 1: quadratic functions, for up to 20 columns
 *     cos(k pi Phi(s_j)), k = 1..K    variance 1 / k^2: smooth functions of one column, K up to 10
 *     cos(w's + b), `random` of them  variance q / random each: joint functions, of three widths
 *
 * Plain features have no products of two columns, and K up to 3.
 *
 * The random ones come from the streams how.substream .. how.substream + 2.
 */
stonet_status sn_regression_features(const sn_scores *scores, sn_richness rich, int64_t random,
                                     sn_drawing how, int64_t width, int64_t first, double *f);
