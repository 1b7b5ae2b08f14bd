#include "math/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/exponential.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "math/smallest.h"

enum { GRAM_ROWS = 512, SHARED = 1 << 16 }; /* numbers from which threads share a loop */

void sn_widen(int64_t count, const float *from, double *to)
{
    for (int64_t i = 0; i < count; i++) to[i] = (double)from[i];
}

static void row_norms(int64_t n, int64_t p, const double *a, double *norms)
{
#pragma omp parallel for if (n * p > SHARED)
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < p; j++) sum += a[i * p + j] * a[i * p + j];
        norms[i] = sum;
    }
}

/* d2 (n x m): |a - b|^2 = |a|^2 + |b|^2 - 2 a'b, a block of rows at a time; rounding may not make it
   negative, and a row is at distance 0 from itself. */
static stonet_status squared_distances(int64_t n, int64_t m, int64_t p, const double *a, const double *b,
                                       double *d2)
{
    SN_ARRAY(n, double, na);
    SN_ARRAY(m, double, nb);
    row_norms(n, p, a, na);
    row_norms(m, p, b, nb);
    for (int64_t i0 = 0; i0 < n; i0 += GRAM_ROWS) {
        int64_t i1 = i0 + GRAM_ROWS < n ? i0 + GRAM_ROWS : n;
        sn_gemm(-2.0, sn_as(a + i0 * p, i1 - i0, p), sn_turned(b, m, p), 0.0, d2 + i0 * m);
#pragma omp parallel for if ((i1 - i0) * m > SHARED)
        for (int64_t i = i0; i < i1; i++) {
            double *row = d2 + i * m;
            for (int64_t j = 0; j < m; j++) {
                double squared = row[j] + na[i] + nb[j];
                row[j] = squared > 0.0 ? squared : 0.0;
            }
            if (a == b) row[i] = 0.0;
        }
    }
    return STONET_OK;
}

stonet_status sn_gaussian_gram(int64_t n, int64_t m, int64_t p, const double *a, const double *b,
                               double gamma, double *k)
{
    SN_TRY(squared_distances(n, m, p, a, b, k));
#pragma omp parallel for if (n * m > SHARED)
    for (int64_t i = 0; i < n; i++) {
        double *row = k + i * m;
        for (int64_t j = 0; j < m; j++) row[j] *= -gamma;
        sn_exp_nonpositive(m, row);
    }
    return STONET_OK;
}

stonet_status sn_choose_rows(int64_t n, int64_t count, uint64_t seed, uint32_t substream, int64_t *rows)
{
    enum { FEW = 1 << 20, NO_EPOCH = -1 };
    if (count >= n) {
        for (int64_t i = 0; i < n; i++) rows[i] = i;
        return STONET_OK;
    }
    if (n > FEW) { /* without an array of all of them */
        sn_shuffle shuffle;
        sn_shuffle_init_shard(&shuffle, (uint64_t)n, seed, (uint32_t)NO_EPOCH, substream);
        sn_shuffle_rows(&shuffle, 0, count, rows);
    } else {
        SN_ARRAY(n, int64_t, order);
        sn_random random = sn_random_from(seed, SN_STREAM_FEATURES, substream);
        sn_random_permutation(&random, n, order);
        for (int64_t i = 0; i < count; i++) rows[i] = order[i];
    }
    qsort(rows, (size_t)count, sizeof *rows, sn_by_int);
    return STONET_OK;
}

/* The count(count-1)/2 distances between different rows of the (sub)sample. */
static stonet_status pair_distances(int64_t n, int64_t p, const double *x, uint64_t seed, sn_workspace *keep,
                                    double **out, int64_t *pairs)
{
    int64_t count = n < SN_DISTANCE_ROWS ? n : SN_DISTANCE_ROWS;
    double *d2 = NULL;
    SN_ARRAY(count, int64_t, rows);
    SN_ARRAY(count * p, double, chosen);
    SN_TRY(SN_TAKE(keep, d2, count * count));
    SN_TRY(sn_choose_rows(n, count, seed, 1, rows));
    sn_take_rows(count, p, x, rows, chosen);
    SN_TRY(squared_distances(count, count, p, chosen, chosen, d2));
    *pairs = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++) d2[(*pairs)++] = sqrt(d2[i * count + j]);
    *out = d2;
    return STONET_OK;
}

stonet_status sn_mean_distance(int64_t n, int64_t p, const double *x, uint64_t seed, double *mean)
{
    SN_WORKSPACE(scratch);
    double *distances = NULL, sum = 0.0;
    int64_t pairs = 0;
    SN_TRY(pair_distances(n, p, x, seed, &scratch, &distances, &pairs));
    for (int64_t i = 0; i < pairs; i++) sum += distances[i];
    *mean = pairs > 0 ? sum / (double)pairs : 0.0;
    return STONET_OK;
}

stonet_status sn_median_distance(int64_t n, int64_t p, const double *x, uint64_t seed, double *median)
{
    SN_WORKSPACE(scratch);
    double *distances = NULL;
    int64_t pairs = 0;
    SN_TRY(pair_distances(n, p, x, seed, &scratch, &distances, &pairs));
    *median = 0.0;
    if (pairs > 0) {
        double upper = sn_kth_smallest(pairs, pairs / 2, distances), lower = upper;
        if (pairs % 2 == 0) lower = sn_kth_smallest(pairs / 2, pairs / 2 - 1, distances);
        *median = 0.5 * (lower + upper);
    }
    return STONET_OK;
}

stonet_status sn_typical_distance(int64_t n, int64_t p, const double *x, uint64_t seed, double *distance)
{
    SN_TRY(sn_median_distance(n, p, x, seed, distance));
    return *distance > 0.0 ? STONET_OK : sn_mean_distance(n, p, x, seed, distance);
}

void sn_take_rows(int64_t count, int64_t p, const double *from, const int64_t *row, double *to)
{
    for (int64_t i = 0; i < count; i++) memcpy(to + i * p, from + row[i] * p, (size_t)p * sizeof *to);
}

void sn_column_means(int64_t n, int64_t m, const double *a, double *mean)
{
    for (int64_t j = 0; j < m; j++) mean[j] = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) mean[j] += a[i * m + j];
    for (int64_t j = 0; j < m; j++) mean[j] /= (double)n;
}

void sn_subtract_row(int64_t n, int64_t m, const double *mean, double *a)
{
#pragma omp parallel for if (n * m > SHARED)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) a[i * m + j] -= mean[j];
}

void sn_centre_gram(int64_t n, double *k, double *mean)
{
    sn_column_means(n, n, k, mean);
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) total += mean[i];
    total /= (double)n;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) k[i * n + j] += total - mean[i] - mean[j];
}

void sn_add_diagonal(int64_t n, double value, double *a)
{
    for (int64_t i = 0; i < n; i++) a[i * n + i] += value;
}
