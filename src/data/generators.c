/*
 * Built-in data with a known sufficient predictor. NAME alone draws the usual number of columns; NAME:P draws
 * P of them, the further ones noise of the same law. And tables as people have them, with fixed columns. Row
 * i is a function of (seed, i) alone, so more rows never change the first ones; and a column of x does not
 * depend on how many follow it, so that noise columns can be added.
 *
 *   waveform         Breiman et al., Classification and Regression Trees, 1984; one class against two as in
 *                    Raetsch et al. 2001
 *   m1               Fertl and Bura 2021, Kapla et al. 2021 (model M1)
 *   ratio            Li 1991, Sliced inverse regression, JASA 86
 *   radial, sigmoid  Lee, Li and Chiaromonte 2013, Annals of Statistics 41 (models I and II)
 *   friedman         Friedman 1991, MARS, Annals of Statistics 19
 *   ring             two classes with log odds in the squared radius, so that no linear direction helps
 *   mean-..          Tang and Li, belted and ensembled neural networks (BENN) for sufficient dimension
 *   location-scale.. reduction: means (A, B, C with three laws of x), a spread (E-IV), and both (D-IV, G-IV,
 *   scale            F-V). A reduction that sees the mean alone misses the second kind and half of the third
 *   select-..        few of many columns matter, as Liang and co-authors judge sparse networks (Liang, Li,
 *                    Zhou 2018, JASA 113; Sun, Song, Liang 2022, JASA 117)
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "data/frame.h"
#include "data/generator.h"
#include "data/problem.h"
#include "math/noise.h"

static double normal(const sn_row_key *key, uint32_t use)
{
    return sn_noise_normal(key->seed, SN_STREAM_DATA, key->row, key->generator, 0, 0, use);
}

static double noise(const sn_row_key *key)
{
    return normal(key, SN_USE_RESPONSE);
}

double sn_row_uniform(const sn_row_key *key, int64_t number, uint32_t use)
{
    return sn_noise_uniform(key->seed, SN_STREAM_DATA, key->row, key->generator, (uint32_t)number, 0, use);
}

/* ---- laws of x --------------------------------------------------------------------------------- */

/* Independent N(0, 1). */
static void normals(const sn_row_key *key, int64_t p, float *x)
{
    for (int64_t j = 0; j < p; j += 4) {
        double four[4];
        sn_noise_normal4(&(sn_address){key->seed, SN_STREAM_DATA, key->row, key->generator, (uint32_t)(j / 4),
                                       .sweep = SN_USE_FEATURES},
                         four);
        for (int64_t k = 0; k < 4 && j + k < p; k++) x[j + k] = (float)four[k];
    }
}

/* Independent, uniform on (0, 1). */
static void uniforms(const sn_row_key *key, int64_t p, float *x)
{
    for (int64_t j = 0; j < p; j++) x[j] = (float)sn_row_uniform(key, j, SN_USE_UNIFORM_FEATURES);
}

/* Independent Poisson(1) - 1, by inversion. */
static void poisson(const sn_row_key *key, int64_t p, float *x)
{
    for (int64_t j = 0; j < p; j++) {
        double left = sn_row_uniform(key, j, SN_USE_UNIFORM_FEATURES), chance = exp(-1.0);
        int count = 0;
        while (left > chance && count < 40) {
            left -= chance;
            chance /= ++count;
        }
        x[j] = (float)(count - 1);
    }
}

/* Multivariate t with 4 degrees of freedom and correlations .4: normals with covariance .6 I + .4 11' over
   the root of a common chi^2_4 / 4, which is -(log u_1 + log u_2) / 2. */
static void t4(const sn_row_key *key, int64_t p, float *x)
{
    normals(key, p, x);
    const double common = sqrt(0.4) * normal(key, SN_USE_COMMON);
    const double u1 = sn_row_uniform(key, 0, SN_USE_CHOICE), u2 = sn_row_uniform(key, 1, SN_USE_CHOICE);
    const double divisor = sqrt(-0.5 * (log(u1) + log(u2)));
    for (int64_t j = 0; j < p; j++) x[j] = (float)((common + sqrt(0.6) * (double)x[j]) / divisor);
}

/* Normals with covariances 0.5^|i-j|. */
static void neighbours(const sn_row_key *key, int64_t p, float *x)
{
    normals(key, p, x);
    for (int64_t j = 1; j < p; j++) x[j] = (float)(0.5 * (double)x[j - 1] + sqrt(0.75) * (double)x[j]);
}

/* x_j = (common + z_j) / sqrt 2: correlations 1/2. */
static void add_common(double common, int64_t p, float *x)
{
    for (int64_t j = 0; j < p; j++) x[j] = (float)((common + (double)x[j]) * M_SQRT1_2);
}

static void correlated(const sn_row_key *key, int64_t p, float *x)
{
    normals(key, p, x);
    add_common(normal(key, SN_USE_COMMON), p, x);
}

/* ---- means and spreads of y by the first columns of x ------------------------------------------ */

static double ratio(const double *x)
{
    const double shifted = x[1] + 1.5;
    return x[0] / (0.5 + shifted * shifted);
}

static double sigmoid(const double *x)
{
    return x[0] / (1 + exp(x[1]));
}

static double friedman(const double *x)
{
    const double x3 = x[2] - 0.5;
    return 10 * sin(M_PI * x[0] * x[1]) + 20 * x3 * x3 + 10 * x[3] + 5 * x[4];
}

/* a / (1 + (1 + b)^2) + (1 + b)^2 */
static double ratio_of(double a, double b)
{
    const double square = (1 + b) * (1 + b);
    return a / (1 + square) + square;
}

static double mean_ratio(const double *x)
{
    return ratio_of(x[0], x[1]);
}

static double mean_square(const double *x)
{
    return sin((x[0] + x[1]) * M_PI / 10) + x[0] * x[0];
}

static double spread_ratio(const double *x)
{
    return ratio_of(3 * x[2] * x[2], x[3]);
}

/* 2 sin((x3 + x4) pi / 10)^2 + x3^2 */
static double spread_square(const double *x)
{
    const double wave = sin((x[2] + x[3]) * M_PI / 10);
    return 2 * wave * wave + x[2] * x[2];
}

static double mean_log(const double *x)
{
    const double sum = x[0] + x[1];
    return sum * sum * log(x[0] * x[0] + x[1] * x[1] + 0.001);
}

static double select_regression(const double *x)
{
    return 5 * x[1] / (1 + x[0] * x[0]) + 5 * sin(x[2] * x[3]) + 2 * x[4];
}

static double wide(const double *x)
{
    return x[0] + x[1] + x[2] - x[3] - x[4];
}

enum { MAX_TRUTHS = 2 };

/* The response (a number, or the class 0 or 1) and the known sufficient predictors T(x): given T, it depends
   on x no more. */
typedef struct row_values {
    double y, truth[MAX_TRUTHS];
} row_values;

/* y = cos(b'x) + e, b = (1,1,1,1,1,1,0,..)/sqrt 6, and e generalised normal of shape 1/2 and variance 1/2:
   e = +- s G^2 with G ~ Gamma(2), whose fourth moment is 120. T = b'x. */
static void m1(const sn_row_key *key, const double *x, row_values *out)
{
    for (int j = 0; j < 6; j++) out->truth[0] += x[j] / sqrt(6);
    double gamma = -log(sn_row_uniform(key, 0, SN_USE_CHOICE)) - log(sn_row_uniform(key, 1, SN_USE_CHOICE));
    double error = sqrt(0.5 / 120) * gamma * gamma;
    out->y = cos(out->truth[0]) + (sn_row_uniform(key, 2, SN_USE_CHOICE) < 0.5 ? -error : error);
}

/* y = r log r + 0.5 e with r^2 = x1^2 + x2^2; T = r. */
static void radial(const sn_row_key *key, const double *x, row_values *out)
{
    const double r = out->truth[0] = hypot(x[0], x[1]);
    out->y = (r > 0 ? r * log(r) : 0) + 0.5 * noise(key);
}

/* log odds of "outer" = 3 (x1^2 + x2^2 - 2 log 2): half of the rows lie beyond the radius. T is the log odds.
 */
static void ring(const sn_row_key *key, const double *x, row_values *out)
{
    out->truth[0] = 3 * (x[0] * x[0] + x[1] * x[1] - 2 * M_LN2);
    out->y = sn_row_uniform(key, 0, SN_USE_CHOICE) < 1 / (1 + exp(-out->truth[0]));
}

/* F-V: T1 = x1 + x2, T2 = x3 + 3 x4, y = 2 sin(T1 pi / 20) + 3 sin(T2 pi / 30)^2 e. */
static void location_scale_linear(const sn_row_key *key, const double *x, row_values *out)
{
    out->truth[0] = x[0] + x[1];
    out->truth[1] = x[2] + 3 * x[3];
    const double wave = sin(out->truth[1] * M_PI / 30);
    out->y = 2 * sin(out->truth[0] * M_PI / 20) + 3 * wave * wave * noise(key);
}

/* log of the integral over u in (0, 1) of exp(-|x - u a - (1 - u) b|^2 / 2), for points of 21 coordinates:
   with d = a - b, r = x - b, c = r.d / |d|^2 it is, up to a constant,
   -|r|^2/2 + c^2 |d|^2/2 + log(Phi(|d|(1 - c)) - Phi(-|d| c)) - log|d|. */
static double log_mixture(const float *x, const double *a, const double *b)
{
    double rr = 0, rd = 0, dd = 0;
    for (int t = 0; t < 21; t++) {
        double r = (double)x[t] - b[t], d = a[t] - b[t];
        rr += r * r;
        rd += r * d;
        dd += d * d;
    }
    double length = sqrt(dd), c = rd / dd;
    double from = -length * c, to = length * (1 - c);
    if (from > 0) { /* the difference of two numbers near 1 is that of two near 0, mirrored */
        double held = from;
        from = -to;
        to = -held;
    }
    double mass = 0.5 * (erfc(-to * M_SQRT1_2) - erfc(-from * M_SQRT1_2));
    return -0.5 * rr + 0.5 * c * c * dd + log(fmax(mass, 1e-300)) - log(length);
}

/* x_t = u a_t + (1 - u) b_t + e_t, where (a, b) are two of three triangular waves, each pair with chance 1/3;
   the class is whether they are the middle and the early one. T is the log odds. */
static void waveform(const sn_row_key *key, int64_t p, float *x, row_values *out)
{
    static const int peak[3] = {11, 15, 7};
    static const int pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    double wave[3][21];
    for (int k = 0; k < 3; k++) {
        for (int t = 0; t < 21; t++) wave[k][t] = fmax(6 - abs(t + 1 - peak[k]), 0);
    }
    int which = (int)(3 * sn_row_uniform(key, 0, SN_USE_CHOICE));
    double u = sn_row_uniform(key, 1, SN_USE_CHOICE);
    const double *a = wave[pair[which][0]], *b = wave[pair[which][1]];
    normals(key, p, x);
    for (int t = 0; t < 21; t++) x[t] = (float)((double)x[t] + u * a[t] + (1 - u) * b[t]);
    out->y = which == 1;
    double density[3];
    for (int k = 0; k < 3; k++) density[k] = log_mixture(x, wave[pair[k][0]], wave[pair[k][1]]);
    double others = fmax(density[0], density[2]) + log1p(exp(-fabs(density[0] - density[2])));
    out->truth[0] = density[1] - others;
}

/* y = 1{T > 3}, T = exp(x1) + x2^2 + 5 sin(x3 x4), half of the rows in each class: a coin says which, and
   what decides it (the common part and the first columns) is drawn until it agrees. The address of a try is
   the row's with its number in the use. */
static void select_classes(const sn_row_key *key, int64_t p, float *x, row_values *out)
{
    enum { INFORMATIVE = 4, TRIES = 200 };
    const int wanted = sn_row_uniform(key, 0, SN_USE_CHOICE) < 0.5;
    double common = 0;
    float z[INFORMATIVE];
    for (uint32_t attempt = 0; attempt < TRIES; attempt++) {
        const uint32_t use = SN_USE_COMMON + attempt * (INFORMATIVE + 1);
        common = normal(key, use);
        for (uint32_t j = 0; j < INFORMATIVE; j++) z[j] = (float)normal(key, use + 1 + j);
        add_common(common, INFORMATIVE, z);
        const double x2 = (double)z[1];
        out->truth[0] = exp((double)z[0]) + x2 * x2 + 5 * sin((double)z[2] * (double)z[3]);
        out->y = out->truth[0] > 3;
        if ((out->truth[0] > 3) == wanted) break;
    }
    normals(key, p, x);
    add_common(common, p, x);
    for (int j = 0; j < INFORMATIVE; j++) x[j] = z[j];
}

/* ---- the table of them ------------------------------------------------------------------------- */

/* What is drawn. x has a law (NULL: normals), and then `centre` and `variance` where that is not 0. y is the
   mean (NULL: 0) + the spread (NULL: `noise`) times e; what depends on x of them are the predictors. Or
   `response` fills y and the predictors by the first columns of x, or `row` also x, or `table` all of it. */
typedef struct generator {
    const char *name, *help;
    int64_t columns, least; /* usually, and how many the response needs */
    int truths;
    const char *const *labels; /* of the two classes; NULL for regression */
    void (*law)(const sn_row_key *key, int64_t p, float *x);
    double centre, variance;
    double (*mean)(const double *x), (*spread)(const double *x);
    double noise;
    void (*response)(const sn_row_key *key, const double *x, row_values *out);
    void (*row)(const sn_row_key *key, int64_t p, float *x, row_values *out);
    sn_table_function *table;
} generator;

static const char *const wave_labels[] = {"-1", "1"}, *const ring_labels[] = {"inner", "outer"},
                         *const zero_one[] = {"0", "1"};

/* The index is part of the noise address: new ones go to the end. */
static const generator generators[] = {
    {"waveform", "Breiman's waves, one class of three against the others", 21, 21, 1, wave_labels,
     .row = waveform},
    {"m1", "y = cos(b'x) + heavy-tailed noise, correlated x", 20, 6, 1, .law = neighbours, .response = m1},
    {"ratio", "y = x1 / (0.5 + (x2 + 1.5)^2) + 0.5 e", 10, 2, 1, .mean = ratio, .noise = 0.5},
    {"radial", "y = r log r + 0.5 e, r^2 = x1^2 + x2^2", 10, 2, 1, .response = radial},
    {"sigmoid", "y = x1 / (1 + exp(x2)) + 0.5 e", 10, 2, 1, .mean = sigmoid, .noise = 0.5},
    {"friedman", "y = 10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5 + e", 10, 5, 1, .law = uniforms,
     .mean = friedman, .noise = 1},
    {"ring", "two classes, inside and outside of a circle in (x1, x2)", 10, 2, 1, ring_labels,
     .response = ring},
    {"location-scale", "y = T1 + T2 e, T1 of (x1, x2), T2 of (x3, x4) (BENN's D-IV)", 50, 4, 2, .centre = 0.2,
     .variance = 0.5, .mean = mean_square, .spread = spread_square},
    {"scale", "y = T e, T of (x3, x4): the mean says nothing (BENN's E-IV)", 50, 4, 1, .centre = 0.2,
     .variance = 0.5, .spread = spread_square},
    {"location-scale-ratio", "y = T1 + T2 e with ratios (BENN's G-IV)", 50, 4, 2, .centre = 0.2,
     .variance = 0.5, .mean = mean_ratio, .spread = spread_ratio},
    {"location-scale-linear", "y = T1 + T2 e, functions of x1 + x2 and x3 + 3 x4 (BENN's F-V)", 20, 4, 2,
     .centre = 2, .variance = 1, .response = location_scale_linear},
    {"mean-ratio", "y = x1 / (1 + (1 + x2)^2) + (1 + x2)^2 + 0.5 e (BENN's A)", 50, 2, 1, .variance = 0.5,
     .mean = mean_ratio, .noise = 0.5},
    {"mean-ratio-poisson", "the same with Poisson x", 50, 2, 1, .law = poisson, .mean = mean_ratio,
     .noise = 0.5},
    {"mean-ratio-t", "the same with correlated x of t_4", 50, 2, 1, .law = t4, .mean = mean_ratio,
     .noise = 0.5},
    {"mean-square", "y = sin((x1 + x2) pi / 10) + x1^2 + 0.5 e (BENN's B)", 50, 2, 1, .variance = 0.5,
     .mean = mean_square, .noise = 0.5},
    {"mean-square-poisson", "the same with Poisson x", 50, 2, 1, .law = poisson, .mean = mean_square,
     .noise = 0.5},
    {"mean-square-t", "the same with correlated x of t_4", 50, 2, 1, .law = t4, .mean = mean_square,
     .noise = 0.5},
    {"mean-log", "y = (x1 + x2)^2 log(x1^2 + x2^2 + 0.001) + 0.5 e (BENN's C)", 50, 2, 1, .variance = 0.5,
     .mean = mean_log, .noise = 0.5},
    {"mean-log-poisson", "the same with Poisson x", 50, 2, 1, .law = poisson, .mean = mean_log, .noise = 0.5},
    {"mean-log-t", "the same with correlated x of t_4", 50, 2, 1, .law = t4, .mean = mean_log, .noise = 0.5},
    {"select-regression", "y = 5 x2 / (1 + x1^2) + 5 sin(x3 x4) + 2 x5 + e, correlated x (Liang)", 2000, 5, 1,
     .law = correlated, .mean = select_regression, .noise = 1},
    {"select-classes", "exp(x1) + x2^2 + 5 sin(x3 x4) > 3, correlated x (Liang)", 1000, 4, 1, zero_one,
     .row = select_classes},
    {"wide", "y = x1 + x2 + x3 - x4 - x5 + 0.5 e", 20000, 5, 1, .mean = wide, .noise = 0.5},
    {"passengers", "who survived: text, missing ages, names of rows (target survived)", 5, 5, 0, zero_one,
     .table = sn_passengers_table},
    {"air", "ozone by the day: dates, missing cells (target ozone)", 5, 5, 0, .table = sn_air_table},
};

enum { GENERATORS = sizeof generators / sizeof *generators, MOST_COLUMNS = 1000000 };

static stonet_status no_generator(const char *name)
{
    char list[1024] = "";
    size_t used = 0;
    for (uint32_t k = 0; k < GENERATORS; k++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "", generators[k].name);
    return sn_fail(STONET_ERROR_ARGUMENT, "there is no generator '%s': choose one of %s", name, list);
}

/* NAME or NAME:P. */
static stonet_status find_generator(const char *name, uint32_t *index, int64_t *columns)
{
    if (name == NULL) name = "";
    const char *colon = strchr(name, ':');
    size_t length = colon != NULL ? (size_t)(colon - name) : strlen(name);
    for (*index = 0; *index < GENERATORS; ++*index) {
        const char *known = generators[*index].name;
        if (strlen(known) == length && strncmp(name, known, length) == 0) break;
    }
    if (*index == GENERATORS) return no_generator(name);
    *columns = generators[*index].columns;
    if (colon == NULL) return STONET_OK;
    if (generators[*index].table != NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "'%s': this table always has %lld columns; leave out the colon",
                       name, (long long)*columns);
    char *rest;
    *columns = strtoll(colon + 1, &rest, 10);
    if (colon[1] < '0' || colon[1] > '9' || *rest != '\0' || *columns < generators[*index].least ||
        *columns > MOST_COLUMNS)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "'%s': after the colon goes the number of columns, from %lld to %d", name,
                       (long long)generators[*index].least, (int)MOST_COLUMNS);
    return STONET_OK;
}

/* Features, truth and response of a row. */
static void fill_row(const generator *model, const sn_row_key *key, int64_t p, float *x, row_values *out)
{
    enum { FIRST = 6 }; /* columns that a response is made of, at the most */
    double first[FIRST] = {0};
    if (model->row != NULL) {
        model->row(key, p, x, out);
        return;
    }
    (model->law != NULL ? model->law : normals)(key, p, x);
    for (int64_t j = 0; model->variance > 0 && j < p; j++)
        x[j] = (float)(model->centre + sqrt(model->variance) * (double)x[j]);
    for (int64_t j = 0; j < p && j < FIRST; j++) first[j] = (double)x[j];
    if (model->response != NULL) {
        model->response(key, first, out);
        return;
    }
    const double mean = model->mean != NULL ? model->mean(first) : 0;
    const double spread = model->spread != NULL ? model->spread(first) : model->noise;
    out->truth[0] = model->mean != NULL ? mean : spread;
    out->truth[1] = spread;
    out->y = mean + spread * noise(key);
}

/* The features, truth and responses of all rows, y as numbers. */
static void fill_rows(stonet_data *data, uint32_t index, uint64_t seed, float *x, double *y)
{
    const generator *model = &generators[index];
    for (int64_t i = 0; i < data->n; i++) {
        row_values row = {0};
        fill_row(model, &(sn_row_key){.seed = seed, .row = (uint32_t)i, .generator = index}, data->n_columns,
                 x + i * data->n_columns, &row);
        y[i] = row.y;
        memcpy(data->truth + i * model->truths, row.truth, (size_t)model->truths * sizeof *row.truth);
    }
}

static stonet_status set_response(stonet_data *data, const generator *model, const double *y)
{
    if (model->labels == NULL) return stonet_data_set_targets(data, y, 1);
    SN_ARRAY(data->n, int32_t, codes);
    for (int64_t i = 0; i < data->n; i++) codes[i] = (int32_t)y[i];
    return stonet_data_set_classes(data, codes, model->labels, 2);
}

static stonet_status fill_frame(stonet_data *data, uint32_t index, int64_t columns, uint64_t seed)
{
    const generator *model = &generators[index];
    float *x;
    SN_TRY(SN_NEW(data->truth, data->n * model->truths));
    data->n_truth = model->truths;
    data->has_header = true;
    SN_TRY(sn_frame_name_numbers(data, columns, 1));
    SN_TRY(SN_NEW_RAW(x, data->n * columns));
    data->x = data->owned_x = x;
    SN_ARRAY(data->n, double, y);
    fill_rows(data, index, seed, x, y);
    return set_response(data, model, y);
}

stonet_status stonet_generate(const char *name, int64_t rows, uint64_t seed, stonet_data **out)
{
    if (name == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_generate needs a name and a place for the data");
    *out = NULL;
    uint32_t index;
    int64_t columns = 0;
    SN_TRY(find_generator(name, &index, &columns));
    if (rows < 1 || rows > UINT32_MAX)
        return sn_fail(STONET_ERROR_ARGUMENT, "the number of rows must be from 1 to %lld",
                       (long long)UINT32_MAX);
    SN_TRY(sn_memory_require((uint64_t)rows * (uint64_t)(4 * columns + 40), "generating that many rows",
                             "draw fewer"));
    if (generators[index].table != NULL)
        return generators[index].table(&(sn_row_key){.seed = seed, .generator = index}, rows, out);
    SN_AUTO(stonet_data) *data = NULL;
    SN_TRY(sn_frame_create(rows, &data));
    SN_TRY(fill_frame(data, index, columns, seed));
    return SN_GIVE(data, out);
}

char *stonet_generators_json(void)
{
    SN_AUTO(json_t) *list = json_array();
    for (int k = 0; k < GENERATORS; k++) {
        const generator *model = &generators[k];
        list = sn_json_add(list,
                           json_pack("{s:s, s:s, s:s, s:I, s:I, s:i}", "name", model->name, "help",
                                     model->help, "task",
                                     sn_words_name(&sn_task_words,
                                                   model->labels != NULL ? SN_CLASSIFICATION : SN_REGRESSION),
                                     "columns", (json_int_t)model->columns, "least_columns",
                                     (json_int_t)model->least, "truth", model->truths));
    }
    char *text = sn_json_print(list, JSON_INDENT(2));
    if (text == NULL) sn_json_failed();
    return text;
}
