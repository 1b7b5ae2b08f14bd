/*
 * Few of many columns matter. The first two are the simulations with which Liang and co-authors judge sparse
 * networks (Liang, Li, Zhou 2018, JASA 113; Sun, Song, Liang 2022, JASA 117).
 */
#include <math.h>

#include "data/generator.h"

/* x_j = (common + z_j) / sqrt 2: correlations 1/2. */
static void correlated_x(double common, int64_t p, float *x)
{
    for (int64_t j = 0; j < p; j++) x[j] = (float)((common + (double)x[j]) * M_SQRT1_2);
}

/* y = 5 x2 / (1 + x1^2) + 5 sin(x3 x4) + 2 x5 + e; T is the mean of y. */
void sn_select_regression_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    sn_row_normals(key, p, x);
    correlated_x(sn_row_normal(key, SN_USE_COMMON), p, x);
    const double x1 = (double)x[0], x2 = (double)x[1], x3 = (double)x[2], x4 = (double)x[3];
    out->truth[0] = 5 * x2 / (1 + x1 * x1) + 5 * sin(x3 * x4) + 2 * (double)x[4];
    out->y = out->truth[0] + sn_row_noise(key);
}

/* y = 1{T > 3}, T = exp(x1) + x2^2 + 5 sin(x3 x4), half of the rows in each class: a coin says which, and
   what decides it (the common part and the first columns) is drawn until it agrees. The address of a try is
   the row's with its number in the use. */
void sn_select_classes_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    enum { INFORMATIVE = 4, TRIES = 200 };
    const int wanted = sn_row_uniform(key, 0, SN_USE_CHOICE) < 0.5;
    double common = 0;
    float z[INFORMATIVE];
    for (uint32_t attempt = 0; attempt < TRIES; attempt++) {
        const uint32_t use = SN_USE_COMMON + attempt * (INFORMATIVE + 1);
        common = sn_row_normal(key, use);
        for (uint32_t j = 0; j < INFORMATIVE; j++) z[j] = (float)sn_row_normal(key, use + 1 + j);
        correlated_x(common, INFORMATIVE, z);
        const double x2 = (double)z[1];
        out->truth[0] = exp((double)z[0]) + x2 * x2 + 5 * sin((double)z[2] * (double)z[3]);
        out->y = out->truth[0] > 3;
        if ((out->truth[0] > 3) == wanted) break;
    }
    sn_row_normals(key, p, x);
    correlated_x(common, p, x);
    for (int j = 0; j < INFORMATIVE; j++) x[j] = z[j];
}

/* y = x1 + x2 + x3 - x4 - x5 + e / 2, all columns independent N(0, 1); T is the mean of y. */
void sn_wide_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    sn_row_normals(key, p, x);
    out->truth[0] = (double)x[0] + (double)x[1] + (double)x[2] - (double)x[3] - (double)x[4];
    out->y = out->truth[0] + 0.5 * sn_row_noise(key);
}
