/*
 * What a column of several features counts beside a column of one. Such columns are the indicators of a text
 * column, or a number with the indicators of its levels. A column counts by what it adds to the units of
 * layer 1. The length of its weights would not do: it depends on how one effect is spread over correlated
 * features.
 *
 * With S the covariance of the column's m features, w_a the weights of unit a on them (m each):
 *
 *     spread  = sum_a w_a' S w_a                the variance of what the column adds, over all units
 *     freedom = (trace S)^2 / trace S^2         how many features that do not hang together it is worth
 *
 * Standardised indicators of k equally frequent values: k features, k - 1 by freedom.
 */
#pragma once

#include "base/workspace.h"
#include "stonet/train.h"

typedef struct sn_sparse_groups {
    const sn_problem *problem;
    const double *covariance; /* of the columns with several features, one after the other */
    const int64_t *at;        /* where that of a column begins; -1: it has one feature, or too many */
} sn_sparse_groups;

/* From up to 1,000 of the job's rows; in `keep`. */
stonet_status sn_sparse_groups_measure(const sn_stage_job *job, sn_workspace *keep, sn_sparse_groups *out);

/* The length of a column's weights and its root of spread over freedom; both are the same for one feature,
   whose variance counts as 1. weight: units x p. */
typedef struct sn_sparse_extent {
    double length, effect;
} sn_sparse_extent;

sn_sparse_extent sn_sparse_groups_extent(const sn_sparse_groups *groups, int64_t column, const float *weight,
                                         int64_t units);

/* Columns of the table behind the features of a problem, and the first feature of one of them; that of the
   column after the last is p. */
int64_t sn_problem_columns(const sn_problem *problem);
int64_t sn_problem_column_at(const sn_problem *problem, int64_t column);
