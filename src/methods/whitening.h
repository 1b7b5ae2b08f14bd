/* The principal components of centred data, and the whitening built on them. */
#pragma once

#include "methods/linear_map.h"

/*
 * Z = (x - mean) back, one column a principal component that is not rounding noise. v in Z's coordinates is
 * back v in those of x. The arrays live in the workspace given to whoever made them.
 */
typedef struct sn_whitening {
    int64_t n, p, rank;
    double *mean; /* p */
    double *back; /* p x rank */
    double *turn; /* p x rank, orthonormal columns: the components, so that Z turn' is the symmetric form of
                     Z; a vector v of Z's coordinates is turn v there. Those coordinates, unlike the
                     components' own, hardly change from one sample of the same law to another. */
    double *variance; /* rank, descending: of the components (of the standardised x, when whitened) */
} sn_whitening;

/* Of the x and weights of a problem. Z has mean 0 and covariance I (divisor n) on these rows when ridge is 0;
   with a ridge the correlation matrix R is replaced by R + ridge I. Keeps the `most` leading components at
   the most (0: all). STONET_ERROR_DATA if every column of x is constant. team: whose ranks share out the
   passes over the rows; NULL: none do. */
stonet_status sn_whitening_fit(const sn_problem *rows, double ridge, int64_t most, stonet_team *team,
                               sn_workspace *keep, sn_whitening *out);
/* The components of x as they are: neither x nor they are scaled (back is turn). */
stonet_status sn_components_fit(const sn_problem *rows, stonet_team *team, sn_workspace *keep,
                                sn_whitening *out);
/* z of the rows of x, block by block. */
static inline sn_blocks sn_whitened_blocks(const sn_whitening *whitening, const float *x)
{
    return (sn_blocks){x, whitening->mean, whitening->back, whitening->p, .dim = whitening->rank};
}

/* z (count x rank) at once, for the rows row[0..count) of x, or for the first ones when row is NULL. */
stonet_status sn_whiten_rows(const sn_whitening *whitening, const float *x, const int64_t *row, int64_t count,
                             double *z);

/* The chi-square tests that k = 0, 1, .. directions are enough, as sn_linear_map keeps them. */
enum { SN_MAX_TESTS = 20 };
typedef struct sn_tests {
    int64_t count;
    double test[2 * SN_MAX_TESTS];
} sn_tests;

/* The result of a fit: the linear map along the first found->dim columns of v (rank x columns, in Z's
   coordinates). It gets the values and tests of `found`, whose other fields are not read. */
stonet_status sn_whitened_result(const sn_whitening *whitening, const sn_linear_map *found, int64_t columns,
                                 const double *v, sn_fit_result *result);
