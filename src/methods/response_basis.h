/*
 * Sliced inverse regression with smooth functions of the response in place of slices (principal inverse
 * regression): with g_1 .. g_K functions of a numeric y, centred and orthonormal over the rows,
 *
 *     A = 1/n G'Z  (K x rank),   M = A'A
 *
 * which is the variance of the regression of the whitened x on those functions. Slices are the special case
 * of indicators.
 */
#pragma once

#include "methods/spectral.h"

/* The eigenvectors of A'A (u, rank x rank) and of A A' (v, rows x rows) for A rows x rank, in columns: unlike
   a thin SVD, both are a full basis. */
stonet_status sn_both_bases(int64_t rows, int64_t rank, const double *root, double *u, double *v);
/* The matrix A of the powers up to `degree` of each target. STONET_ERROR_DATA for a constant response. */
stonet_status sn_basis_matrix(const sn_sample *sample, int64_t degree, sn_workspace *keep, sn_matrix *out);
/* Turns the statistics of the chi-square tests for normal x into those for x of any law
   (sn_candidate.general); none where there are too many columns for that. */
stonet_status sn_basis_general(const sn_sample *sample, int64_t degree, sn_tests *tests);
