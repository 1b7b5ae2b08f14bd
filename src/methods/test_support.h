/* Shared by the tests of the methods: data with a known central subspace, and a fit in one call. */
#pragma once

#include <omp.h>

#include "base/memory.h"
#include "base/test_kit.h"
#include "math/noise.h"
#include "math/test_subspace.h"
#include "methods/linear_map.h"

/* A problem that owns its arrays. */
typedef struct sample {
    sn_problem problem;
    float *x;
    double *wide; /* x as doubles, or NULL */
    double *y;
    int32_t *label;
} sample;

static inline void sample_free(sample *data)
{
    SN_FREE_ALL(data->x, data->wide, data->y, data->label);
}

/* x standard normal (n x p), y (n x m) zero, to be filled and then given to sample_scale_y. */
static inline sample sample_normal(int64_t n, int64_t p, int64_t m, uint64_t seed)
{
    sample data = {0};
    data.x = test_zeros(n * p, sizeof(float));
    data.y = test_zeros(n * m, sizeof(double));
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < n * p; i++) data.x[i] = (float)sn_random_normal(&random);
    data.problem = (sn_problem){
        .n = n, .p = p, .x = data.x, .task = SN_REGRESSION, .outputs = m, .label = NULL, .y = data.y};
    return data;
}

/* Each target to mean 0 and variance 1. */
static inline void sample_scale_y(sample *data)
{
    int64_t n = data->problem.n, m = data->problem.outputs;
    for (int64_t k = 0; k < m; k++) {
        double mean = 0.0, square = 0.0;
        for (int64_t i = 0; i < n; i++) mean += data->y[i * m + k] / (double)n;
        for (int64_t i = 0; i < n; i++) square += pow(data->y[i * m + k] - mean, 2) / (double)n;
        for (int64_t i = 0; i < n; i++) data->y[i * m + k] = (data->y[i * m + k] - mean) / sqrt(square);
    }
}

/* Turns a regression sample into classes: cut[0] < y <= cut[1] is class 1, and so on. */
static inline void sample_cut_y(sample *data, int classes, const double *cut)
{
    data->label = test_zeros(data->problem.n, sizeof(int32_t));
    for (int64_t i = 0; i < data->problem.n; i++)
        for (int c = 0; c < classes - 1; c++) data->label[i] += data->y[i] > cut[c];
    data->problem.task = SN_CLASSIFICATION;
    data->problem.outputs = classes;
    data->problem.label = data->label;
    data->problem.y = NULL;
}

/* What a run said. */
typedef struct heard {
    int warnings;
    char last[512];
} heard;

static inline void hear(stonet_level level, const char *text, void *user)
{
    heard *to = user;
    if (level == STONET_WARNING) to->warnings++;
    snprintf(to->last, sizeof to->last, "%s", text);
}

/* Settings from "name=value name=value". */
static inline sn_settings *settings_of(const sn_method *method, const char *options)
{
    sn_settings *settings = NULL;
    OK(sn_settings_create(method->params, method->n_params, &settings));
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", options);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value = '\0';
        OK(sn_settings_set(settings, word, value + 1));
    }
    return settings;
}

/* Fits with settings given as "name=value name=value"; heard may be NULL. */
static inline stonet_status fit_on(int threads, const char *method_name, const sn_problem *problem,
                                   int64_t dim, const char *options, heard *messages, sn_fit_result *result)
{
    const sn_method *method = sn_method_find(method_name);
    assert_non_null(method);
    SN_AUTO(sn_settings) *settings = settings_of(method, options);
    stonet_run run = STONET_RUN_INIT;
    run.threads = threads;
    omp_set_num_threads(threads); /* BLAS asks OpenMP */
    if (messages != NULL) {
        *messages = (heard){0};
        run.on_message = hear;
        run.user = messages;
    }
    *result = (sn_fit_result){0};
    return sn_method_fit(method, problem, dim, settings, &run, result);
}

/* The same on one: the jobs are small, and tests run side by side. */
static inline stonet_status fit_with(const char *method_name, const sn_problem *problem, int64_t dim,
                                     const char *options, heard *messages, sn_fit_result *result)
{
    return fit_on(1, method_name, problem, dim, options, messages, result);
}

/* A linear method's map, which must exist. */
static inline sn_linear_map *fit_map(const char *method, const sn_problem *problem, int64_t dim,
                                     const char *options)
{
    sn_fit_result result;
    if (fit_with(method, problem, dim, options, NULL, &result) != STONET_OK)
        fail_msg("%s", stonet_last_error());
    return result.state;
}

/* Columns of unit length, entry of largest magnitude positive. */
static inline void unit_columns(int64_t p, int64_t d, double *b)
{
    for (int64_t k = 0; k < d; k++) {
        double square = 0.0;
        for (int64_t j = 0; j < p; j++) square += b[j * d + k] * b[j * d + k];
        for (int64_t j = 0; j < p; j++) b[j * d + k] /= sqrt(square);
    }
    sn_fix_signs(p, d, b);
}

/* Of the first column of z (n x stride) with t. */
static inline double correlation(int64_t n, const float *z, int64_t stride, const double *t)
{
    double mz = 0, mt = 0, zz = 0, tt = 0, zt = 0;
    for (int64_t i = 0; i < n; i++) {
        mz += (double)z[i * stride] / (double)n;
        mt += t[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        const double a = (double)z[i * stride] - mz, b = t[i] - mt;
        zz += a * a;
        tt += b * b;
        zt += a * b;
    }
    return zt / sqrt(zz * tt);
}

static inline double largest_gap(int64_t count, const double *a, const double *b)
{
    double worst = 0.0;
    for (int64_t i = 0; i < count; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
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

/* The subspace distance between a method's directions and the truth (p x d). */
static inline double recovery(const char *method, const sn_problem *problem, int64_t d, const char *options,
                              const double *truth)
{
    SN_AUTO(sn_linear_map) *map = fit_map(method, problem, d, options);
    assert_int_equal(map->dim, d);
    double distance = NAN;
    OK(sn_subspace_distance(problem->p, d, map->direction, truth, &distance));
    return distance;
}
