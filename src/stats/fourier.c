#include "stats/fourier.h"

#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "math/noise.h"
#include "math/smallest.h"

enum { BANDWIDTH_ROWS = 200 };

static bool is_constant(int64_t n, int64_t stride, const double *column)
{
    for (int64_t i = 1; i < n; i++) {
        if (column[i * stride] != column[0]) return false;
    }
    return true;
}

int64_t sn_count_varying(int64_t n, int64_t d, const double *values)
{
    int64_t varying = 0;
    for (int64_t j = 0; j < d; j++) varying += !is_constant(n, d, values + j);
    return varying;
}

/* Centres and scales a column in place to sample variance 1; a column without variance becomes 0. The first
   pass through the mean leaves a rounding error that the second takes out. */
static void standardise_column(int64_t n, int64_t stride, double *column)
{
    for (int pass = 0; pass < 2; pass++) {
        double mean = 0.0;
        for (int64_t i = 0; i < n; i++) mean += column[i * stride] / (double)n;
        for (int64_t i = 0; i < n; i++) column[i * stride] -= mean;
    }
    double largest = 0.0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(column[i * stride]));
    double sum = 0.0;
    for (int64_t i = 0; i < n && largest > 0.0; i++) {
        sum += (column[i * stride] / largest) * (column[i * stride] / largest);
    }
    double scale = sum > 0.0 ? 1.0 / sqrt(sum / (double)(n - 1)) : 0.0;
    for (int64_t i = 0; i < n && largest > 0.0; i++)
        column[i * stride] = column[i * stride] / largest * scale;
}

static int64_t copy_varying(int64_t n, int64_t d, const double *from, int64_t stride, int64_t at, double *to)
{
    for (int64_t j = 0; j < d; j++) {
        if (is_constant(n, d, from + j)) continue;
        for (int64_t i = 0; i < n; i++) to[i * stride + at] = from[i * d + j];
        standardise_column(n, stride, to + at);
        at++;
    }
    return at;
}

/* Median Euclidean distance between the drawn rows; 1 when it is 0 (most rows equal). */
static stonet_status median_distance(const sn_standardised *data, uint64_t seed, double *median)
{
    int64_t rows = data->n < BANDWIDTH_ROWS ? data->n : BANDWIDTH_ROWS;
    int64_t pairs = rows * (rows - 1) / 2;
    *median = 1.0;
    if (pairs == 0 || data->columns == 0) return STONET_OK;
    SN_ARRAY(pairs, double, distance);
    sn_shuffle order;
    sn_shuffle_init(&order, (uint64_t)data->n, seed, 0);
    int64_t row[BANDWIDTH_ROWS];
    for (int64_t i = 0; i < rows; i++) row[i] = (int64_t)sn_shuffle_at(&order, (uint64_t)i);
    int64_t at = 0;
    for (int64_t i = 1; i < rows; i++) {
        const double *a = data->values + row[i] * data->columns;
        for (int64_t j = 0; j < i; j++) {
            const double *b = data->values + row[j] * data->columns;
            double sum = 0.0;
            for (int64_t k = 0; k < data->columns; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
            distance[at++] = sum;
        }
    }
    double middle = sqrt(sn_kth_smallest(pairs, pairs / 2, distance));
    if (pairs % 2 == 0) { /* the largest of those put before it */
        double below = 0.0;
        for (int64_t k = 0; k < pairs / 2; k++) below = distance[k] > below ? distance[k] : below;
        middle = 0.5 * (middle + sqrt(below));
    }
    if (middle > 0.0) *median = middle;
    return STONET_OK;
}

stonet_status sn_standardise(int64_t n, sn_side a, sn_side b, uint64_t seed, sn_workspace *keep,
                             sn_standardised *out)
{
    *out = (sn_standardised){.n = n, .bandwidth = 1.0};
    out->columns = sn_count_varying(n, a.d, a.values) + sn_count_varying(n, b.d, b.values);
    SN_TRY(SN_TAKE(keep, out->values, n * out->columns));
    int64_t at = copy_varying(n, a.d, a.values, out->columns, 0, out->values);
    copy_varying(n, b.d, b.values, out->columns, at, out->values);
    return median_distance(out, seed, &out->bandwidth);
}

stonet_status sn_fourier_features(const sn_standardised *data, int64_t count, sn_drawing how, int64_t width,
                                  int64_t first, double *f)
{
    const int64_t d = data->columns;
    SN_ARRAY(count * (d + 1), double, weight); /* the phase last */
    sn_random random = sn_random_from(how.seed, SN_STREAM_FEATURES, how.substream);
    for (int64_t k = 0; k < count; k++) {
        double *row = weight + k * (d + 1);
        for (int64_t j = 0; j < d; j++) row[j] = sn_random_normal(&random) / data->bandwidth;
        row[d] = 2.0 * M_PI * sn_random_uniform(&random);
    }
#pragma omp parallel for num_threads(how.threads) schedule(static)
    for (int64_t i = 0; i < data->n; i++) {
        const double *x = data->values + i * d;
        for (int64_t k = 0; k < count; k++) {
            const double *row = weight + k * (d + 1);
            double angle = row[d];
            for (int64_t j = 0; j < d; j++) angle += row[j] * x[j];
            f[i * width + first + k] = cos(angle);
        }
    }
#pragma omp parallel for num_threads(how.threads) schedule(static)
    for (int64_t k = 0; k < count; k++) standardise_column(data->n, width, f + first + k);
    return STONET_OK;
}
