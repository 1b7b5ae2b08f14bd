/* Row partitions keyed by a seed. */
#pragma once

#include "data/problem.h"
#include "math/noise.h"

/* fold[i] in 0..folds-1 for each row. With labels, every class is spread evenly. kin: rows with the same
   number stay together (NULL: every row is alone). Sizes differ by at most one, where there is no kin; with
   it, by at most the rows of the largest kin, as long as there are no labels. */
stonet_status sn_split_folds(int64_t n, const int32_t *label, int64_t n_classes, const int64_t *kin,
                             int folds, uint64_t seed, int32_t *fold);
/* The same of some rows of a problem, by its classes or the exposure of its counts, and by its kin. *folds
   becomes the number of kin where there are fewer. With kin, fold 0 has at most `most` rows if whole kin
   allow it. */
stonet_status sn_split_rows(const sn_problem *problem, const sn_rows *rows, int64_t most, uint64_t seed,
                            int *folds, int32_t *fold);
/* Puts rows in random order into two halves: order[0 .. half - 1] and the rest. Kin stay together. */
stonet_status sn_split_half(int64_t n, const int64_t *kin, sn_random *random, int64_t *order, int64_t *half);
/* A copy of some rows of a problem, in their order: owned arrays behind the returned problem. */
stonet_status sn_problem_subset(const sn_problem *problem, const int64_t *rows, int64_t count,
                                sn_problem *out);
/* The same of `count` rows (all, where there are no more) chosen by the seed. */
stonet_status sn_problem_sample(const sn_problem *problem, int64_t count, uint64_t seed, sn_problem *out);
void sn_problem_subset_free(sn_problem *subset);
