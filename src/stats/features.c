#include "stats/features.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "math/smallest.h"
#include "stats/distributions.h"

enum { BANDWIDTH_ROWS = 200, MOST_MULTIPLIED = 20 /* columns */ };

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

/* ---- scores, and features for ridge regressions ---- */

/* One column of v into one of `to`; false when it is constant. */
static bool score_column(int64_t n, int64_t d, const double *v, int64_t stride, sn_keyed *order, double *to)
{
    for (int64_t i = 0; i < n; i++) order[i] = (sn_keyed){.value = v[i * d], .row = i};
    qsort(order, (size_t)n, sizeof *order, sn_by_value);
    if (order[0].value == order[n - 1].value) return false;
    for (int64_t first = 0, last = 0; first < n; first = last) {
        while (last < n && order[last].value == order[first].value) last++;
        /* ranks first + 1 .. last */
        double score = sn_normal_quantile(0.5 * (double)(first + last) / (double)n);
        for (int64_t k = first; k < last; k++) to[order[k].row * stride] = score;
    }
    return true;
}

/* Column `at` of f to mean 0 and the given variance; a constant one becomes 0. */
static void scale_column(int64_t n, int64_t width, int64_t at, double variance, double *f)
{
    double mean = 0.0;
    double square = 0.0;
    for (int64_t i = 0; i < n; i++) mean += f[i * width + at] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        f[i * width + at] -= mean;
        square += f[i * width + at] * f[i * width + at] / (double)n;
    }
    const double scale = square > 1e-20 * (1.0 + mean * mean) ? sqrt(variance / square) : 0.0;
    for (int64_t i = 0; i < n; i++) f[i * width + at] *= scale;
}

/* v (n x d). out->columns <= d, as constant columns are left out; its arrays belong to `keep`. */
stonet_status sn_scores_create(int64_t n, int64_t d, const double *v, sn_workspace *keep, sn_scores *out)
{
    const int64_t columns = sn_count_varying(n, d, v);
    *out = (sn_scores){.n = n, .columns = columns};
    SN_ARRAY(n, sn_keyed, order);
    SN_TRY(SN_TAKE_EACH(keep, n * columns, &out->values, &out->plain));
    for (int64_t j = 0, at = 0; j < d; j++) {
        if (!score_column(n, d, v + j, columns, order, out->values + at)) continue;
        for (int64_t i = 0; i < n; i++) out->plain[i * columns + at] = v[i * d + j];
        scale_column(n, columns, at++, 1.0, out->plain);
    }
    return STONET_OK;
}

stonet_status sn_scores_project(const sn_scores *scores, int64_t count, uint64_t seed, uint32_t substream,
                                sn_workspace *keep, sn_scores *out)
{
    *out = (sn_scores){.n = scores->n};
    SN_ARRAY(scores->columns * count, double, direction);
    SN_ARRAY(scores->n * count, double, along);
    sn_random random = sn_random_from(seed, SN_STREAM_FEATURES, substream);
    for (int64_t k = 0; k < scores->columns * count; k++) direction[k] = sn_random_normal(&random);
    sn_multiply(sn_as(scores->values, scores->n, scores->columns), sn_as(direction, scores->columns, count),
                along);
    return sn_scores_create(scores->n, count, along, keep, out);
}

stonet_status sn_scores_whiten(const sn_scores *scores, sn_workspace *keep, int64_t *rank, double **white)
{
    const double smallest = 1e-12; /* variance, of the largest: float columns have 1e-14 by rounding */
    return sn_whiten_columns(1.0 / (double)scores->n, sn_as(scores->plain, scores->n, scores->columns), 0.0,
                             smallest, keep, rank, white);
}

/* K: more waves for more rows, fewer when many columns share them. */
static int64_t waves(int64_t n, int64_t columns, sn_richness rich)
{
    double count = 2.0 * cbrt((double)n) / sqrt((double)columns);
    const double most = rich == SN_FEATURES_RICH ? 10.0 : 3.0;
    if (count > most) count = most;
    if (count * (double)columns > 300.0) return 0;
    return count < 2.0 ? 2 : (int64_t)(count + 0.5);
}

static int64_t products(int64_t columns, sn_richness rich)
{
    return rich == SN_FEATURES_RICH && columns <= MOST_MULTIPLIED ? columns * (columns + 1) / 2 : 0;
}

int64_t sn_regression_width(int64_t n, int64_t columns, sn_richness rich, int64_t random)
{
    return columns * (3 + waves(n, columns, rich)) + products(columns, rich) + random;
}

/* The functions of column j alone, K + 3 of them from `at` on. */
static void functions_of_one(const sn_scores *scores, int64_t j, int64_t k_max, int64_t width, int64_t at,
                             double *f)
{
    const int64_t n = scores->n;
    for (int64_t i = 0; i < n; i++) {
        const double s = scores->values[i * scores->columns + j];
        const double u = sn_normal_lower(s);
        double *row = f + i * width + at;
        row[0] = scores->plain[i * scores->columns + j];
        row[1] = s;
        row[2] = s * s;
        for (int64_t k = 1; k <= k_max; k++) row[2 + k] = cos((double)k * M_PI * u);
    }
    for (int64_t k = -2; k <= k_max; k++)
        scale_column(n, width, at + 2 + k, k < 1 ? 100.0 : 1.0 / (double)(k * k), f);
}

/* v_j v_k for k >= j. */
static void products_of_two(const sn_scores *scores, int64_t j, int64_t width, int64_t at, double *f)
{
    const int64_t q = scores->columns;
    for (int64_t i = 0; i < scores->n; i++) {
        const double *v = scores->plain + i * q;
        for (int64_t k = j; k < q; k++) f[i * width + at + k - j] = v[j] * v[k];
    }
    for (int64_t k = j; k < q; k++) scale_column(scores->n, width, at + k - j, 1.0, f);
}

stonet_status sn_regression_features(const sn_scores *scores, sn_richness rich, int64_t random,
                                     sn_drawing how, int64_t width, int64_t first, double *f)
{
    const int64_t n = scores->n;
    const int64_t q = scores->columns;
    const int64_t k_max = waves(n, q, rich);
    int64_t at = first + q * (3 + k_max);
#pragma omp parallel for num_threads(how.threads) schedule(static)
    for (int64_t j = 0; j < q; j++) {
        functions_of_one(scores, j, k_max, width, first + j * (3 + k_max), f);
        if (products(q, rich) > 0) products_of_two(scores, j, width, at + j * q - j * (j - 1) / 2, f);
    }
    at += products(q, rich);
    for (int part = 0; part < 3; part++) { /* of widths 1/2, 1 and 2 times the usual distance of rows */
        const int64_t count = random * (part + 1) / 3 - random * part / 3;
        sn_standardised data = {.n = n,
                                .columns = q,
                                .values = scores->values,
                                .bandwidth = sqrt(2.0 * (double)q) * ldexp(0.5, part)};
        SN_TRY(sn_fourier_features(&data, count, how, width, at, f));
        for (int64_t k = 0; k < count; k++) scale_column(n, width, at + k, (double)q / (double)random, f);
        at += count;
        how.substream++;
    }
    return STONET_OK;
}
