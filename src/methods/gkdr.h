/* Gradient-based kernel dimension reduction as a building block: KDR starts from it. */
#pragma once

#include "methods/kernel_input.h"

/* The kernel ridge regression of the response factor f on x: kernel input->gamma, ridge n epsilon. */
typedef struct sn_gkdr {
    const sn_kernel_input *input;
    double epsilon;
    int64_t rank;
    const double *f; /* n x rank */
    const stonet_run *run;
} sn_gkdr;

/* direction (p x *dim, orthonormal, in `keep`): the leading eigenvectors of the second moment of the
   gradients; *dim is reduced to what exists. */
stonet_status sn_gkdr_directions(const sn_gkdr *of, sn_workspace *keep, int64_t *dim, double **direction);
