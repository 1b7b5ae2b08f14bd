/* The singular values and right singular vectors of centred data, and the whitening built on them. */
#ifndef SN_METHODS_WHITENING_H
#define SN_METHODS_WHITENING_H

#include <stdbool.h>

#include "methods/linear_map.h"

/* X - 1 mean' = U diag(s) V' diag(scale), U not kept; only the singular values that are not rounding noise.
 */
typedef struct sn_spectrum {
    int64_t n, p, rank;
    double *mean; /* p */
    double
        *scale; /* p: standard deviations (divisor n), or ones; 0 for a constant column when standardised */
    double *s;  /* rank, descending */
    double *v;  /* p x rank, orthonormal columns */
} sn_spectrum;

stonet_status sn_spectrum_fit(const float *x, int64_t n, int64_t p, bool standardise, sn_spectrum *out);
void sn_spectrum_clear(sn_spectrum *spectrum);

/* Z = (x - mean) back has mean 0 and covariance I (divisor n) on the data it was fitted on when ridge is 0;
   with a ridge the correlation matrix R is replaced by R + ridge I. v in Z's coordinates is back v in those
   of x. */
typedef struct sn_whitening {
    int64_t n, p, rank;
    double *mean; /* p */
    double *back; /* p x rank */
} sn_whitening;

/* Keeps the `most` leading principal components at the most (0: all). STONET_ERROR_DATA if every column of x
   is constant. */
stonet_status sn_whitening_fit(const float *x, int64_t n, int64_t p, double ridge, int64_t most,
                               sn_whitening *out);
void sn_whitening_clear(sn_whitening *whitening);
/* z (count x rank) for the rows row[0..count) of x, or for rows first.. when row is NULL; centred is scratch
   for count x p. */
void sn_whiten_rows(const sn_whitening *whitening, const float *x, const int64_t *row, int64_t first,
                    int64_t count, double *centred, double *z);

/* The chi-square tests that k = 0, 1, .. directions are enough, as sn_linear_map keeps them. */
enum { SN_MAX_TESTS = 20 };
typedef struct sn_tests {
    int64_t count;
    double test[2 * SN_MAX_TESTS];
} sn_tests;

/* Hands over, as the result of a fit, the linear map along the first dim columns of v (rank x columns, in Z's
   coordinates), with the values and tests (NULL: none) that led to them. */
stonet_status sn_whitened_result(const sn_whitening *whitening, int64_t dim, int64_t columns, const double *v,
                                 int64_t n_values, double *value, sn_tests *tests, sn_fit_result *result);

#endif
