/*
 * Gaussian kernels k(a, b) = exp(-gamma |a - b|^2): Gram matrices, bandwidths, centring. Points are rows of
 * double matrices; loops and products are shared by the threads of the calling thread (omp_set_num_threads),
 * and do not depend on how many there are.
 */
#pragma once

#include "base/status.h"

/* Distances of more rows than this use a subsample of this size, chosen by the seed. */
enum { SN_DISTANCE_ROWS = 2000 };

/* count floats as doubles. */
void sn_widen(int64_t count, const float *from, double *to);
/* Gram matrix k (n x m) between the rows of a (n x p) and b (m x p). */
stonet_status sn_gaussian_gram(int64_t n, int64_t m, int64_t p, const double *a, const double *b,
                               double gamma, double *k);
/* Mean and median of the distances between two different rows of x (n x p). */
stonet_status sn_mean_distance(int64_t n, int64_t p, const double *x, uint64_t seed, double *mean);
stonet_status sn_median_distance(int64_t n, int64_t p, const double *x, uint64_t seed, double *median);
/* The median, or the mean where ties make that 0. */
stonet_status sn_typical_distance(int64_t n, int64_t p, const double *x, uint64_t seed, double *distance);
/* A keyed subset of `count` of the rows 0..n-1, ascending; all of them when count >= n. */
stonet_status sn_choose_rows(int64_t n, int64_t count, uint64_t seed, uint32_t substream, int64_t *rows);

/* to (count x p) = the given rows of `from`, which has p columns. */
void sn_take_rows(int64_t count, int64_t p, const double *from, const int64_t *row, double *to);
/* mean (m) of the rows of a (n x m). */
void sn_column_means(int64_t n, int64_t m, const double *a, double *mean);
/* a <- Q a: subtracts `mean` (m) from every row of a (n x m). */
void sn_subtract_row(int64_t n, int64_t m, const double *mean, double *a);
/* Symmetric k <- Q k Q (n x n), Q = I - 11'/n; mean (n) receives the row means of k as it was. */
void sn_centre_gram(int64_t n, double *k, double *mean);
void sn_add_diagonal(int64_t n, double value, double *a);
