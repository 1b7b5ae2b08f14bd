/* How the rows of a comparison did over several data sets. */
#pragma once

#include <stonet/stonet.h>

#include "cli/table.h"

/*
 * One row for each row of the results, all of which have the same ones in the same order; the smallest mean
 * rank first. Rank 1 is the smallest mean of a data set, and equal means share the mean of their ranks. A row
 * that failed on some splits comes after those that did not.
 */
table *summary_table(const stonet_results *const *results, int64_t n_sets);
