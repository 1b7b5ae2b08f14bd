/* Gradient-based kernel dimension reduction as a building block: KDR starts from it. */
#ifndef SN_METHODS_GKDR_H
#define SN_METHODS_GKDR_H

#include "methods/kernel_input.h"

/*
 * The matrix M = (1/n) sum_i G_i G_i' (p x p) with G_i (p x rank) the gradient at x_i of the kernel ridge
 * regression of the response factor f (n x rank) on x: kernel input->gamma, ridge n epsilon.
 */
stonet_status sn_gkdr_matrix(const sn_kernel_input *input, double epsilon, int64_t rank, const double *f,
                             const stonet_run *run, double *matrix);
/* direction (p x *dim, orthonormal, in `keep`): the leading eigenvectors of M; *dim is reduced to what
   exists. */
stonet_status sn_gkdr_directions(const sn_kernel_input *input, double epsilon, int64_t rank, const double *f,
                                 const stonet_run *run, sn_workspace *keep, int64_t *dim, double **direction);

#endif
