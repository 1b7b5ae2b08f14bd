/* What the tests of the kernel methods share: small data sets, fits, and plain matrix algebra. */
#pragma once

#include <omp.h>

#include "base/memory.h"
#include "base/test_kit.h"
#include "math/noise.h"
#include "math/test_subspace.h"
#include "methods/kernel_map.h"
#include "methods/linear_map.h"

typedef struct sample {
    sn_problem problem;
    float *x;
    double *wide; /* x as doubles */
    int32_t *label;
    double *y;
} sample;

static inline double *zeros(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(double));
}

/* Standard normal features; classes by thirds of x1 + x2^2 / 2 + noise, or y1 = that and y2 = x3 + noise. */
static inline sample make_sample(int64_t n, int64_t p, int64_t classes, int64_t targets, uint32_t substream)
{
    sample s = {.x = malloc((size_t)(n * p) * sizeof(float)), .wide = zeros(n * p)};
    sn_random random;
    sn_random_init(&random, 11, SN_STREAM_TEST, substream);
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

static inline void free_sample(sample *s)
{
    free(s->x);
    free(s->wide);
    free(s->label);
    free(s->y);
}

/* The method of the test. */
static const sn_method *method(void);

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

static char last_message[1024];

static void keep_message(stonet_level level, const char *text, void *user)
{
    (void)level;
    (void)user;
    snprintf(last_message, sizeof last_message, "%s", text);
}

/* Fits with settings given as name, value, ..., NULL. */
static inline stonet_status fit_with(const sn_problem *problem, int64_t dim, sn_fit_result *result, ...)
{
    SN_AUTO(sn_settings) *settings = NULL;
    OK(sn_settings_create(method()->params, method()->n_params, &settings));
    va_list list;
    va_start(list, result);
    for (const char *name; (name = va_arg(list, const char *)) != NULL;)
        OK(sn_settings_set(settings, name, va_arg(list, const char *)));
    va_end(list);
    stonet_run run = STONET_RUN_INIT;
    run.threads = 2;
    omp_set_num_threads(2);
    run.on_message = keep_message;
    last_message[0] = '\0';
    memset(result, 0, sizeof *result);
    stonet_status status = sn_method_fit(method(), problem, dim, settings, &run, result);
    return status;
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

/* Stops at the call at which the counter reaches 0. */
static inline int stop_later(void *user)
{
    int *calls = user;
    return --*calls <= 0;
}

/* A fit whose caller wants to stop at the given question. */
static inline stonet_status fit_until(const sample *s, int calls, sn_fit_result *result)
{
    SN_AUTO(sn_settings) *settings = NULL;
    stonet_run run = STONET_RUN_INIT;
    run.should_stop = stop_later;
    run.user = &calls;
    memset(result, 0, sizeof *result);
    OK(sn_settings_create(method()->params, method()->n_params, &settings));
    stonet_status status = sn_method_fit(method(), &s->problem, 1, settings, &run, result);
    return status;
}

/* A fit that is stopped on its way gives a usable result that says so. */
static inline void check_stopping(void)
{
    SN_FREED_BY(free_sample) sample s = make_sample(40, 3, 0, 1, 2);
    sn_fit_result result;
    OK(fit_until(&s, 3, &result));
    assert_int_equal(result.outcome, STONET_STOPPED);
    method()->free(result.state);
}

/* Nine directions wanted of three columns: three, a warning, and a model that survives the way to a file. */
static inline void check_limit(void)
{
    SN_FREED_BY(free_sample) sample s = make_sample(40, 3, 3, 0, 2);
    sn_fit_result result;
    char message[64];
    OK(fit_with(&s.problem, 9, &result, "iterations", "5", "restarts", "2", NULL));
    assert_int_equal(result.dim, 3);
    snprintf(message, sizeof message, "%s: 3 directions exist", method()->name);
    assert_non_null(strstr(last_message, message));
    method()->free(result.state);
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

/* More rows than any memory holds as a matrix: refused before a row is looked at, with what to do. */
static inline void check_too_large(void)
{
    const int32_t label = 0;
    const sn_problem problem = {
        .n = 30000000, .p = 3, .task = SN_CLASSIFICATION, .outputs = 2, .label = &label};
    sn_fit_result result;
    assert_int_equal(fit_with(&problem, 1, &result, NULL), STONET_ERROR_MEMORY);
    assert_non_null(strstr(stonet_last_error(), "landmarks=2000"));
    assert_int_equal(fit_with(&problem, 1, &result, "landmarks", "1000000", NULL), STONET_ERROR_MEMORY);
    assert_non_null(strstr(stonet_last_error(), "fewer landmarks"));
}

/* One class or a constant target, one row, equal rows: an error that says so. A constant column and duplicate
   rows: a fit. */
static inline void check_unpleasant(void)
{
    sn_fit_result result;
    SN_FREED_BY(free_sample) sample s = make_sample(30, 3, 3, 0, 40);
    for (int64_t i = 0; i < 30; i++) s.label[i] = 1;
    assert_int_equal(fit_with(&s.problem, 1, &result, NULL), STONET_ERROR_DATA);
    free_sample(&s);

    s = make_sample(30, 3, 0, 1, 41);
    memset(s.y, 0, 30 * sizeof(double));
    assert_int_equal(fit_with(&s.problem, 1, &result, NULL), STONET_ERROR_DATA);
    free_sample(&s);

    s = make_sample(30, 3, 0, 1, 42);
    s.problem.n = 1;
    assert_int_equal(fit_with(&s.problem, 1, &result, NULL), STONET_ERROR_DATA);
    s.problem.n = 30;
    for (int64_t i = 0; i < 90; i++) s.x[i] = 1.0f;
    assert_int_equal(fit_with(&s.problem, 1, &result, NULL), STONET_ERROR_DATA);
    free_sample(&s);

    s = make_sample(40, 3, 2, 0, 43);
    for (int64_t i = 0; i < 20; i++) {
        memcpy(s.x + (20 + i) * 3, s.x + i * 3, 3 * sizeof(float));
        s.x[i * 3 + 2] = s.x[(20 + i) * 3 + 2] = 0.5f;
    }
    OK(fit_with(&s.problem, 1, &result, NULL));
    float z[40];
    OK(method()->transform(result.state, s.x, 40, NULL, z));
    for (int i = 0; i < 40; i++) assert_true(isfinite(z[i]));
    for (int i = 0; i < 20; i++) assert_true(fabsf(z[i] - z[20 + i]) < 1e-5f);
    method()->free(result.state);
    /* Stopped at once: no result, or a usable one that says so. */
    stonet_status status = fit_until(&s, 1, &result);
    assert_true(status == STONET_ERROR_INTERRUPTED ||
                (status == STONET_OK && result.outcome == STONET_STOPPED));
    method()->free(result.state);
}
