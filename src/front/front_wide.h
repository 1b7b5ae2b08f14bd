/*
 * Fronts for tables with many more columns than rows: a few of the columns, or principal components.
 *
 *     columns:     u = (x_j1, .., x_jk)
 *     components:  u = (x - mean) V      V p x r: the first directions of the rows' variance, each of unit
 *                                        length; scores all divided by the root of the first's variance
 */
#pragma once

#include "base/run.h"
#include "front/front.h"

stonet_status sn_front_columns_create(int64_t p, const int64_t *columns, int64_t count, sn_front **out);
/* The columns of such a front, in the order of their choice. */
const int64_t *sn_front_columns_list(const sn_front *front);

/* From some of the rows (500 at most, drawn by the seed); r of them whatever the rank: those beyond are 0. */
stonet_status sn_front_components_create(const sn_problem *problem, const sn_rows *rows, int64_t r,
                                         uint64_t seed, sn_front **out);

/* The first `count` columns in the order in which they are chosen: the next is the one that, or whose square,
   has the largest correlation with what those before have left unexplained of the response. */
stonet_status sn_column_order(const sn_problem *problem, const sn_rows *rows, int64_t count,
                              int64_t *columns);
