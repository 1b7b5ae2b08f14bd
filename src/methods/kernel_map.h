/* Functions of the form z(x) = A'(k(x) - mean k): the fitted map with its transform, save and load. */
#pragma once

#include "methods/row_columns.h"

typedef struct sn_kernel_map {
    int64_t m, p, d;
    double gamma;
    double *centres;      /* m x p */
    double *coefficients; /* m x d */
    double *offset;       /* d */
} sn_kernel_map;

/*
 * The result of a fit: z(x) = a'(k(x) - mean) for the kernel functions of the input, a m x d, mean (m) the
 * training mean of k. `scores` (n x d) are z of the training rows: each column of z is scaled to variance 1
 * on them and its sign makes the largest score positive.
 */
stonet_status sn_kernel_map_create(const sn_kernel_input *input, int64_t d, const double *a,
                                   const double *mean, const double *scores, sn_fit_result *result);
/* z(x) = a'(c(x) - mean) for columns c with this mean and sums of squares gram about it
   (methods/row_columns.h); a m x d, destroyed. Scaled in the same way, but for the sign, which the scores at
   the centres give. */
stonet_status sn_columns_map(const sn_row_columns *columns, const double *mean, const double *gram, int64_t d,
                             double *a, sn_fit_result *result);
/* z (n x d) of the rows of x (n x p). */
stonet_status sn_kernel_map_scores(const sn_kernel_map *map, int64_t n, const double *x, double *z);

stonet_status sn_kernel_map_transform(const void *state, const float *x, int64_t n,
                                      const sn_transform_request *request, float *z);
stonet_status sn_kernel_map_save(const void *state, sn_store *store);
stonet_status sn_kernel_map_load(const sn_store *store, void **state);
void sn_kernel_map_free(void *state);
SN_DROP(sn_kernel_map, sn_kernel_map_free)
sn_sizes sn_kernel_map_sizes(const void *state);

/* The entries of an sn_method of several targets that `fit` makes a kernel map for. */
#define SN_KERNEL_METHOD                                                                                     \
    .multi_output = true, SN_PARAMS_OF(params), .fit = fit, .transform = sn_kernel_map_transform,            \
    .save = sn_kernel_map_save, .load = sn_kernel_map_load, .free = sn_kernel_map_free,                      \
    .sizes = sn_kernel_map_sizes
