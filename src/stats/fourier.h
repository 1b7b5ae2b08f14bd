/* Random Fourier features of the Gaussian kernel with the median distance as bandwidth. */
#pragma once

#include "base/workspace.h"

/* Where random numbers come from, and how many threads share the work. */
typedef struct sn_drawing {
    uint64_t seed;
    uint32_t substream;
    int threads;
} sn_drawing;

/* Columns with mean 0 and sample variance 1; constant columns are left out. */
typedef struct sn_standardised {
    int64_t n, columns;
    double *values;   /* n x columns, row-major */
    double bandwidth; /* median distance between rows */
} sn_standardised;

/* Columns (n x d), none where d is 0. */
typedef struct sn_side {
    int64_t d;
    const double *values;
} sn_side;

/* How many columns of values (n x d) are not constant. */
int64_t sn_count_varying(int64_t n, int64_t d, const double *values);

/* Standardises the columns of a and b side by side and measures the
   bandwidth on up to 200 rows drawn by `seed`: the first rows of a file in some order (by class, by time)
   would not speak for the rest. */
stonet_status sn_standardise(int64_t n, sn_side a, sn_side b, uint64_t seed, sn_workspace *keep,
                             sn_standardised *out);

/* Columns first .. first + count - 1 of f (n x width) = cos(W x + b), W ~ N(0, 1 / bandwidth^2), b ~ U(0, 2
   pi), standardised (a constant feature becomes 0). W and b come from a stream of their own for each
   substream. */
stonet_status sn_fourier_features(const sn_standardised *data, int64_t count, sn_drawing how, int64_t width,
                                  int64_t first, double *f);
