/* What the tests of the kernel methods share: small data sets, fits, and plain matrix algebra. */
#pragma once

#include "math/kernel.h"
#include "math/smallest.h"
#include "methods/kernel_map.h"
#include "methods/test_support.h"

static inline double *zeros(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(double));
}

/* Standard normal features; classes by thirds of x1 + x2^2 / 2 + noise, or y1 = that and y2 = x3 + noise. */
static inline sample make_sample(int64_t n, int64_t p, int64_t classes, int64_t targets, uint32_t substream)
{
    const int64_t m = classes > 0 ? 1 : targets;
    sample s = sample_normal(n, p, m, 100 + substream);
    sn_random random = sn_random_from(11, SN_STREAM_TEST, substream);
    s.wide = zeros(n * p);
    s.label = test_zeros(n, sizeof *s.label);
    for (int64_t i = 0; i < n * p; i++) s.wide[i] = (double)s.x[i];
    for (int64_t i = 0; i < n; i++) {
        const double *row = s.wide + i * p;
        for (int64_t t = 0; t < m; t++)
            s.y[i * m + t] =
                (t > 0 ? row[t + 1] : row[0] + 0.5 * row[1] * row[1]) + 0.2 * sn_random_normal(&random);
        s.label[i] = (int32_t)((0.5 + 0.5 * erf(0.6 * (s.y[i * m] - 0.5))) * (double)classes);
    }
    if (classes == 0) return s;
    s.problem.task = SN_CLASSIFICATION;
    s.problem.outputs = classes;
    s.problem.label = s.label;
    s.problem.y = NULL;
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

/* (A + share lambda_max I)^power for symmetric A (n x n) by its eigenvalues: power -1, -0.5, ...; those below
   `least` times the largest are dropped (Moore-Penrose). */
static inline double *matrix_power(int64_t n, const double *a, double share, double power, double least)
{
    SN_BLOCK double *copy = zeros(n * n), *values = zeros(n), *v = zeros(n * n);
    double *out = zeros(n * n);
    memcpy(copy, a, (size_t)(n * n) * sizeof *a);
    OK(sn_eigh(n, copy, values, v));
    for (int64_t k = 0; k < n && values[k] > least * values[0]; k++) {
        const double value = pow(values[k] + share * values[0], power);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) out[i * n + j] += v[i * n + k] * value * v[j * n + k];
    }
    return out;
}

/* The product of two matrices, in new memory; of two n x n ones. */
static inline double *product(sn_operand a, sn_operand b)
{
    double *out = zeros(a.rows * b.columns);
    sn_multiply(a, b, out);
    return out;
}

static inline double *times(int64_t n, const double *a, const double *b)
{
    return product(sn_as(a, n, n), sn_as(b, n, n));
}

/* I - 11'/n. */
static inline double *centring(int64_t n)
{
    double *q = zeros(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) q[i * n + j] = (i == j ? 1.0 : 0.0) - 1.0 / (double)n;
    return q;
}

/* A (n x n) less the means of its rows and of its columns. */
static inline double *centred(int64_t n, const double *a)
{
    SN_BLOCK double *q = centring(n), *left = times(n, q, a);
    return times(n, left, q);
}

/* The eigenvectors of A B' (n x n), which is symmetric but for rounding. */
static inline double *vectors_of_product(int64_t n, const double *a, const double *b)
{
    SN_BLOCK double *m = product(sn_as(a, n, n), sn_turned(b, n, n)), *values = zeros(n);
    double *v = zeros(n * n);
    OK(sn_eigh(n, m, values, v));
    return v;
}

/* Of the distances between two different rows. */
static inline double plain_distance(int64_t n, int64_t p, const double *x, bool median)
{
    SN_BLOCK double *all = zeros(n * n);
    int64_t count = 0;
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double d2 = 0.0;
            for (int64_t k = 0; k < p; k++) d2 += pow(x[i * p + k] - x[j * p + k], 2);
            sum += all[count++] = sqrt(d2);
        }
    qsort(all, (size_t)count, sizeof *all, sn_by_double);
    return median ? 0.5 * (all[(count - 1) / 2] + all[count / 2]) : sum / (double)count;
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
        double s = plain_distance(n, problem->outputs, problem->y, false);
        return plain_gram(n, n, problem->outputs, problem->y, problem->y, 1.0 / (2.0 * s * s));
    }
    double *k = zeros(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) k[i * n + j] = problem->label[i] == problem->label[j];
    return k;
}

/* Columns of the n training rows of scores (rows x d) to mean 0 and variance 1; the same to further rows. */
static inline void standardise(int64_t n, int64_t rows, int64_t d, double *scores)
{
    for (int64_t j = 0; j < d; j++) {
        double mean = 0.0, square = 0.0;
        for (int64_t i = 0; i < n; i++) mean += scores[i * d + j] / (double)n;
        for (int64_t i = 0; i < n; i++) square += pow(scores[i * d + j] - mean, 2) / (double)n;
        for (int64_t i = 0; i < rows; i++) scores[i * d + j] = (scores[i * d + j] - mean) / sqrt(square);
    }
}

/* K' B of the rows' kernel functions K (n x rows) and the first d columns of B (n x n), in new memory;
   standardised on the first n rows. */
static inline double *plain_scores(int64_t n, int64_t rows, int64_t d, const double *k, const double *b)
{
    SN_BLOCK double *first = zeros(n * d);
    sn_first_columns(n, n, b, d, first);
    double *scores = product(sn_turned(k, n, rows), sn_as(first, n, d));
    standardise(n, rows, d, scores);
    return scores;
}

/* The settings of the format, "name=value name=value", with no landmarks and with one at each of 40 rows give
   these scores of the rows of `all`. */
static inline void assert_fits_score(const sample *all, int64_t rows, int64_t d, const double *expected,
                                     const char *settings)
{
    static const char *const landmarks[] = {"none", "40"};
    SN_BLOCK double *z = zeros(rows * d);
    for (int way = 0; way < 2; way++) {
        SN_FREED_BY(drop_result) sn_fit_result result;
        OK(fit(&all->problem, d, &result, "%s landmarks=%s", settings, landmarks[way]));
        assert_int_equal(result.dim, d);
        OK(sn_kernel_map_scores(result.state, rows, all->wide, z));
        assert_same_scores(rows, d, expected, z, 1e-8);
    }
}
