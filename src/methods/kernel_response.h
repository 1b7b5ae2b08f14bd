/* The kernel on the response, and the ridge of a regression of it, chosen from the data. */
#pragma once

#include "methods/kernel_input.h"

/*
 * The response kernel as K_Y = F F', F n x *rank, taken from `keep`: class indicators of the classes present,
 * or an incomplete Cholesky to 1e-12 of the Gaussian kernel exp(-|y - y'|^2 / (2 s^2)). s is the mean or the
 * median distance of y (the mean also where ties make the median 0). Fails on a response that does not vary.
 */
stonet_status sn_response_factor(const sn_problem *problem, sn_distance_kind scale, uint64_t seed,
                                 sn_workspace *keep, double **factor, int64_t *rank);
/* The number of classes that have rows. */
stonet_status sn_classes_present(const sn_problem *problem, int64_t *count);

/*
 * The ridge of the regression of f (n x rank, columns with mean 0) on the kernel functions of the input and a
 * constant. It is a share of the largest eigenvalue of the centred Gram matrix. The share has the least
 * squared error when each row is left out in turn,
 *
 *     sum_i |f_i - (H f)_i|^2 / (1 - h_ii)^2,   H = 11'/n + Phi (Phi'Phi + ridge)^{-1} Phi',
 *
 * among shares in quarter decades whose fit has no more than n/2 degrees of freedom. Above 500 kernel
 * functions the criterion is that of 500 landmarks among them.
 */
stonet_status sn_kernel_ridge_choose(const sn_kernel_input *input, int64_t rank, const double *f,
                                     const stonet_run *run, double *share);
