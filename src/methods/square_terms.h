/*
 * The covariance of the squares and products of the coordinates of z, for tests of a dimension that do not
 * want x to be normal. In a basis V of z's coordinates, with v = V'z and a weight w for each row, the terms
 * are
 *
 *     w (v_a^2 - 1)  and  sqrt(2) w v_a v_b,   a < b
 *
 * (the sqrt(2) makes their covariance have the spectrum of that of all of vec(w v v')).
 */
#pragma once

#include "methods/spectral.h"

/* Above this rank the covariance is not made: it has rank^4 / 4 entries. */
enum { SN_SQUARE_TERMS_RANK = 60 };

typedef struct sn_square_terms {
    int64_t rank, count; /* terms: rank (rank + 1) / 2, (a, b) in the order (0,0) (0,1) .. (1,1) (1,2) .. */
    double *covariance;  /* count x count, divisor n - 1 */
} sn_square_terms;

/* V (rank x rank) has the basis in its columns; weight has n entries, NULL: all 1. */
stonet_status sn_square_terms_make(const sn_sample *sample, const double *v, const double *weight,
                                   sn_workspace *keep, sn_square_terms *out);
/* The trace of the covariance of the terms with a, b >= k, and the sum of the squares of its entries. */
void sn_square_terms_traces(const sn_square_terms *terms, int64_t k, double *trace, double *squares);
