/* The kernel on the response. */
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
