/* What the tests of the kernel methods share: small data sets, fits, and plain matrix algebra. */
#pragma once

#include "methods/kernel_map.h"
#include "methods/test_support.h"

static inline double *zeros(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(double));
}

/* Standard normal features; classes by thirds of x1 + x2^2 / 2 + noise, or y1 = that and y2 = x3 + noise. */
static inline sample make_sample(int64_t n, int64_t p, int64_t classes, int64_t targets, uint32_t substream)
{
    sample s = {.x = malloc((size_t)(n * p) * sizeof(float)), .wide = zeros(n * p)};
    sn_random random = sn_random_from(11, SN_STREAM_TEST, substream);
    for (int64_t i = 0; i < n * p; i++) s.wide[i] = s.x[i] = (float)sn_random_normal(&random);
    s.problem = (sn_problem){.n = n, .p = p, .x = s.x};
    SN_BLOCK double *signal = zeros(n);
    for (int64_t i = 0; i < n; i++) {
        const float *row = s.x + i * p;
        signal[i] = row[0] + 0.5 * row[1] * row[1] + 0.2 * sn_random_normal(&random);
    }
    if (classes > 0) {
        s.label = malloc((size_t)n * sizeof *s.label);
        for (int64_t i = 0; i < n; i++) {
            double place = 0.5 + 0.5 * erf(0.6 * (signal[i] - 0.5));
            s.label[i] = (int32_t)(place * (double)classes);
        }
        s.problem.task = SN_CLASSIFICATION;
        s.problem.outputs = classes;
        s.problem.label = s.label;
    } else {
        s.y = zeros(n * targets);
        for (int64_t i = 0; i < n; i++) {
            s.y[i * targets] = signal[i];
            for (int64_t t = 1; t < targets; t++)
                s.y[i * targets + t] = s.x[i * p + t + 1] + 0.2 * sn_random_normal(&random);
        }
        s.problem.task = SN_REGRESSION;
        s.problem.outputs = targets;
        s.problem.y = s.y;
    }
    return s;
}

/* The method of the test, whose name is METHOD. */
static inline const sn_method *method(void)
{
    return sn_method_find(METHOD);
}

static inline void drop_result(sn_fit_result *result)
{
    method()->free(result->state);
}

static inline double correlation(int64_t n, const double *a, const double *b)
{
    double ma = 0.0, mb = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
    for (int64_t i = 0; i < n; i++) {
        ma += a[i] / (double)n;
        mb += b[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        aa += pow(a[i] - ma, 2);
        bb += pow(b[i] - mb, 2);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    return fabs(ab) / sqrt(aa * bb);
}

/* What the last fit said. */
static heard said;

/* Fits with the settings of the format, "name=value name=value", on two threads. */
static inline stonet_status fit(const sn_problem *problem, int64_t dim, sn_fit_result *result,
                                const char *format, ...)
{
    char options[256];
    va_list list;
    va_start(list, format);
    vsnprintf(options, sizeof options, format, list);
    va_end(list);
    return fit_on(2, METHOD, problem, dim, options, &said, result);
}

/* f(A) for symmetric A (n x n) by its eigenvalues: power -1, -0.5, ...; values below `cut` times the largest
   are dropped (Moore-Penrose). */
static inline double *matrix_power(int64_t n, const double *a, double power, double cut)
{
    SN_BLOCK double *copy = zeros(n * n), *values = zeros(n), *v = zeros(n * n);
    double *out = zeros(n * n);
    memcpy(copy, a, (size_t)(n * n) * sizeof *a);
    OK(sn_eigh(n, copy, values, v));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = 0; k < n && values[k] > cut * values[0]; k++)
                out[i * n + j] += v[i * n + k] * pow(values[k], power) * v[j * n + k];
    return out;
}

static inline double top_eigenvalue(int64_t n, const double *a)
{
    SN_BLOCK double *copy = zeros(n * n), *values = zeros(n), *v = zeros(n * n);
    memcpy(copy, a, (size_t)(n * n) * sizeof *a);
    OK(sn_eigh(n, copy, values, v));
    double top = values[0];
    return top;
}

/* The product of the matrices n x n given, in new memory. */
static inline double *times(int64_t n, const double *a, const double *b)
{
    double *out = zeros(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++) out[i * n + j] += a[i * n + k] * b[k * n + j];
    return out;
}

/* I - 11'/n. */
static inline double *centring(int64_t n)
{
    double *q = zeros(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) q[i * n + j] = (i == j ? 1.0 : 0.0) - 1.0 / (double)n;
    return q;
}

static inline double plain_mean_distance(int64_t n, int64_t p, const double *x)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double d2 = 0.0;
            for (int64_t k = 0; k < p; k++) d2 += pow(x[i * p + k] - x[j * p + k], 2);
            sum += sqrt(d2);
        }
    return sum / (double)(n * (n - 1));
}

static inline double *plain_gram(int64_t n, int64_t m, int64_t p, const double *a, const double *b,
                                 double gamma)
{
    double *k = zeros(n * m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double d2 = 0.0;
            for (int64_t l = 0; l < p; l++) d2 += pow(a[i * p + l] - b[j * p + l], 2);
            k[i * m + j] = exp(-gamma * d2);
        }
    return k;
}

/* K_Y: equality of labels, or the Gaussian kernel with the mean distance of y. */
static inline double *plain_response_gram(const sn_problem *problem)
{
    int64_t n = problem->n;
    if (problem->task == SN_REGRESSION) {
        double s = plain_mean_distance(n, problem->outputs, problem->y);
        return plain_gram(n, n, problem->outputs, problem->y, problem->y, 1.0 / (2.0 * s * s));
    }
    double *k = zeros(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) k[i * n + j] = problem->label[i] == problem->label[j];
    return k;
}

/* Columns of the n training rows of scores (rows x d) to mean 0 and variance 1; the same to the further rows.
 */
static inline void standardise(int64_t n, int64_t rows, int64_t d, double *scores)
{
    for (int64_t j = 0; j < d; j++) {
        double mean = 0.0, square = 0.0;
        for (int64_t i = 0; i < n; i++) mean += scores[i * d + j] / (double)n;
        for (int64_t i = 0; i < n; i++) square += pow(scores[i * d + j] - mean, 2) / (double)n;
        for (int64_t i = 0; i < rows; i++) scores[i * d + j] = (scores[i * d + j] - mean) / sqrt(square);
    }
}

/* Equal up to the sign of each column. */
static inline void assert_same_scores(int64_t rows, int64_t d, const double *a, const double *b,
                                      double tolerance)
{
    for (int64_t j = 0; j < d; j++) {
        double product = 0.0, worst = 0.0;
        for (int64_t i = 0; i < rows; i++) product += a[i * d + j] * b[i * d + j];
        double sign = product < 0.0 ? -1.0 : 1.0;
        for (int64_t i = 0; i < rows; i++) worst = fmax(worst, fabs(a[i * d + j] - sign * b[i * d + j]));
        if (worst > tolerance) fail_msg("column %d differs by %g", (int)j, worst);
    }
}

/* Distance of the two directions of a linear map, which is freed, to the true ones of make_sample. */
static inline double distance_to_truth(sn_fit_result *result)
{
    const sn_linear_map *map = result->state;
    double *truth = zeros(map->p * 2), distance;
    truth[0] = truth[3] = 1.0;
    OK(sn_subspace_distance(map->p, 2, truth, map->direction, &distance));
    free(truth);
    method()->free(result->state);
    return distance;
}
