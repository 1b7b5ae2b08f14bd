/* The columns a regression-based method regresses on x. */
#pragma once

#include <stdbool.h>

#include "base/workspace.h"
#include "data/problem.h"

/* The leading principal components of a (n x k, centred) that hold 99 % of its variance, one at the least:
 *out (n x *count, of `keep`). Products are multiplied by `scale`, which matters to rounding alone. */
stonet_status sn_leading_components(int64_t n, int64_t k, double scale, const double *a, sn_workspace *keep,
                                    int64_t *count, double **out);
/*
 * *out, an array of `keep`, becomes n x *count, each column with mean 0. It has the class indicators (one for
 * two classes) or the targets. For numeric targets with `distribution`, it has principal components of the
 * indicators y <= q_k, at max(min(99, n), n^0.6) quantiles of each target. They hold 99 % of the variance.
 * Their gradients span the central subspace, not only that of the mean.
 */
stonet_status sn_responses(const sn_problem *problem, bool distribution, sn_workspace *keep, int64_t *count,
                           double **out);
