/* The columns a regression-based method regresses on x. */
#pragma once

#include <stdbool.h>

#include "base/workspace.h"
#include "data/problem.h"

/*
 * *out, an array of `keep`, becomes n x *count, each column with mean 0. It has the class indicators (one for
 * two classes) or the targets. For numeric targets with `distribution`, it has principal components of the
 * indicators y <= q_k, at max(min(99, n), n^0.6) quantiles of each target. They hold 99 % of the variance.
 * Their gradients span the central subspace, not only that of the mean.
 */
stonet_status sn_responses(const sn_problem *problem, bool distribution, sn_workspace *keep, int64_t *count,
                           double **out);
