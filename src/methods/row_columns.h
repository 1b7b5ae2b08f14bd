/*
 * m numbers of every row, made when they are wanted and never all at once: kernel functions at centres, or
 * landmark features. Their sums are shared out by the ranks of a team (methods/row_sums.h).
 */
#pragma once

#include "base/team.h"
#include "math/kernel_lowrank.h"
#include "methods/kernel_input.h"

typedef struct sn_row_columns {
    int64_t n, m, p;
    const double *x; /* n x p */
    double gamma;
    const double *centres;         /* m x p */
    const sn_landmarks *landmarks; /* features L^{-1} k(x) of these; NULL: k(x) itself */
    stonet_team *team;
} sn_row_columns;

/* The kernel functions of the input, and the features of landmarks that come from it. */
sn_row_columns sn_kernel_columns(const sn_kernel_input *input, stonet_team *team);
sn_row_columns sn_feature_columns(const sn_kernel_input *input, const sn_landmarks *landmarks,
                                  stonet_team *team);
/* Rows of `count` that are made at once. */
int64_t sn_row_columns_block(int64_t count);
/* Those of rows first .. first + count - 1, minus mean (m; NULL: 0): out count x m. */
stonet_status sn_row_columns_make(const sn_row_columns *columns, const double *mean, int64_t first,
                                  int64_t count, double *out);

/*
 * With the columns in C (n x m), in one pass over the rows: gram (m x m) = C'C and cross (m x rank) = C'f for
 * f (n x rank). mean (m; NULL: 0) receives the mean of the columns, which is subtracted from C.
 */
stonet_status sn_row_columns_products(const sn_row_columns *columns, int64_t rank, const double *f,
                                      double *mean, double *gram, double *cross);
