/* For tests that write a definition out: numbers that are nearly the same, centred columns, an inverse. */
#pragma once

#include "base/test_kit.h"

/* To within `tolerance`, or this part of the expected number where that is above 1. */
static inline void assert_near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance * fmax(1.0, fabs(expected))))
        fail_msg("%.17g is not %.17g", got, expected);
}

/* The columns of v (n x m) less their means. */
static inline void centre_columns(int64_t n, int64_t m, double *v)
{
    for (int64_t j = 0; j < m; j++) {
        double mean = 0.0;
        for (int64_t i = 0; i < n; i++) mean += v[i * m + j] / (double)n;
        for (int64_t i = 0; i < n; i++) v[i * m + j] -= mean;
    }
}

/* inverse = left^-1 of a positive definite matrix, by elimination; left (m x m) is used up. */
static inline void invert(int m, double *left, double *inverse)
{
    for (int k = 0; k < m * m; k++) inverse[k] = k % (m + 1) == 0 ? 1.0 : 0.0;
    for (int p = 0; p < m; p++) {
        const double pivot = left[p * m + p];
        for (int q = 0; q < m; q++) {
            left[p * m + q] /= pivot;
            inverse[p * m + q] /= pivot;
        }
        for (int r = 0; r < m; r++) {
            const double factor = left[r * m + p];
            for (int q = 0; q < m && r != p; q++) {
                left[r * m + q] -= factor * left[p * m + q];
                inverse[r * m + q] -= factor * inverse[p * m + q];
            }
        }
    }
}
