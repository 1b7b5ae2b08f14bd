/* Row partitions keyed by a seed. */
#ifndef SN_DATA_SPLITS_H
#define SN_DATA_SPLITS_H

#include "data/problem.h"

/* fold[i] in 0..folds-1 for each row: sizes differ by at most one; with labels, stratified so that each class
   is spread evenly. */
stonet_status sn_split_folds(int64_t n, const int32_t *label, int64_t n_classes, int folds, uint64_t seed,
                             int32_t *fold);
/* A copy of some rows of a problem, in their order: owned arrays behind the returned problem. */
stonet_status sn_problem_subset(const sn_problem *problem, const int64_t *rows, int64_t count,
                                sn_problem *out);
/* The same of `count` rows (all, where there are no more) chosen by the seed. */
stonet_status sn_problem_sample(const sn_problem *problem, int64_t count, uint64_t seed, sn_problem *out);
void sn_problem_subset_free(sn_problem *subset);

#endif
