/* Features of a few columns for regressions and tests that must not depend on units, tails or luck. */
#pragma once

#include "base/workspace.h"

/* Where random numbers come from, and how many threads share the work. */
typedef struct sn_drawing {
    uint64_t seed;
    uint32_t substream;
    int threads;
} sn_drawing;

/* Columns with mean 0 and sample variance 1; constant columns are left out. */
typedef struct sn_standardised {
    int64_t n, columns;
    double *values;   /* n x columns, row-major */
    double bandwidth; /* median distance between rows */
} sn_standardised;

/* Columns (n x d), none where d is 0. */
typedef struct sn_side {
    int64_t d;
    const double *values;
} sn_side;

/* How many columns of values (n x d) are not constant. */
int64_t sn_count_varying(int64_t n, int64_t d, const double *values);

/* Standardises the columns of a and b side by side and measures the bandwidth on up to 200 rows drawn by
   `seed`: the first rows of a file in some order (by class, by time) would not speak for the rest. */
stonet_status sn_standardise(int64_t n, sn_side a, sn_side b, uint64_t seed, sn_workspace *keep,
                             sn_standardised *out);

/* Random Fourier features of the Gaussian kernel with the median distance as bandwidth: columns first ..
   first + count - 1 of f (n x width) = cos(W x + b), W ~ N(0, 1 / bandwidth^2), b ~ U(0, 2 pi), standardised
   (a constant feature becomes 0). W and b come from a stream of their own for each substream. */
stonet_status sn_fourier_features(const sn_standardised *data, int64_t count, sn_drawing how, int64_t width,
                                  int64_t first, double *f);

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
