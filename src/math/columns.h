/* Columns brought to mean 0 and variance 1, for regressions that are solved in such units. */
#pragma once

#include <stdint.h>

typedef struct sn_column_moments {
    double mean, sd; /* sd 0: constant */
} sn_column_moments;

/* Of x n x p; columns: p. */
void sn_describe_columns(int64_t n, int64_t p, const float *x, sn_column_moments *columns);
/* out n x (p + 1): standardised columns (constant ones 0), and a last one of ones. */
void sn_standard_design(int64_t n, int64_t p, const float *x, const sn_column_moments *columns, double *out);
/* A ridge penalty on the coefficient of the column itself, as one on that of the standardised column. A
   constant column gets any: its coefficient is 0. */
double sn_standard_penalty(double l2, const sn_column_moments *column);
/* From w m x (p + 1) on standardised columns and ones to coef m x p and intercept m on the columns
   themselves. */
void sn_standard_undo(int64_t p, int64_t m, const sn_column_moments *columns, const double *w, double *coef,
                      double *intercept);
