/*
 * Built-in data with a known sufficient predictor T(x): given T, the response depends on x no more. Row i is
 * a function of (seed, i) alone, so more rows never change the first ones. Sources: waveform  Breiman et al.,
 * Classification and Regression Trees, 1984; one class against two as in Raetsch 2001 m1        Fertl and
 * Bura 2021, Kapla et al. 2021 (model M1) ratio     Li 1991, Sliced inverse regression, JASA 86 radial,
 * sigmoid  Lee, Li and Chiaromonte 2013, Annals of Statistics 41 (models I and II) friedman  Friedman 1991,
 * MARS, Annals of Statistics 19 ring      two classes with log odds in the squared radius, so that no linear
 * direction helps
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/frame.h"
#include "data/problem.h"
#include "math/noise.h"

enum { MAX_COLUMNS = 24 };

/* Where the random numbers of a row come from. */
typedef struct row_key {
    uint64_t seed;
    uint32_t row, generator;
} row_key;

/* The sweep of the noise address separates the uses. */
enum { USE_FEATURES = 0, USE_UNIFORM_FEATURES = 1, USE_RESPONSE = 2, USE_CHOICE = 3 };

static double noise(const row_key *key)
{
    return sn_noise_normal(key->seed, SN_STREAM_DATA, key->row, key->generator, 0, 0, USE_RESPONSE);
}

static void normals(const row_key *key, int count, float *x)
{
    for (int j = 0; j < count; j++)
        x[j] = (float)sn_noise_normal(key->seed, SN_STREAM_DATA, key->row, key->generator, (uint32_t)j, 0,
                                      USE_FEATURES);
}

static double uniform(const row_key *key, int number, uint32_t use)
{
    uint32_t words[4];
    sn_noise_words(key->seed, SN_STREAM_DATA, key->row, key->generator, (uint32_t)number / 4, 0, use, words);
    return (words[number % 4] + 0.5) * 0x1p-32;
}

/* What a row consists of: features x, response y (a number, or the class 0 or 1) and T. */
typedef struct row_values {
    float x[MAX_COLUMNS];
    double y, truth;
} row_values;

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
static void waveform_row(const row_key *key, row_values *out)
{
    static const int peak[3] = {11, 15, 7};
    static const int pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    double wave[3][21];
    for (int k = 0; k < 3; k++) {
        for (int t = 0; t < 21; t++) wave[k][t] = fmax(6 - abs(t + 1 - peak[k]), 0);
    }
    int which = (int)(3 * uniform(key, 0, USE_CHOICE));
    double u = uniform(key, 1, USE_CHOICE);
    const double *a = wave[pair[which][0]], *b = wave[pair[which][1]];
    normals(key, 21, out->x);
    for (int t = 0; t < 21; t++) out->x[t] = (float)((double)out->x[t] + u * a[t] + (1 - u) * b[t]);
    out->y = which == 1;
    double density[3];
    for (int k = 0; k < 3; k++) density[k] = log_mixture(out->x, wave[pair[k][0]], wave[pair[k][1]]);
    double others = fmax(density[0], density[2]) + log1p(exp(-fabs(density[0] - density[2])));
    out->truth = density[1] - others;
}

/* y = cos(b'x) + e; x normal with covariances 0.5^|i-j|, b = (1,1,1,1,1,1,0,..)/sqrt 6, and e generalised
   normal of shape 1/2 and variance 1/2: e = +- s G^2 with G ~ Gamma(2), whose fourth moment is 120. T = b'x.
 */
static void m1_row(const row_key *key, row_values *out)
{
    normals(key, 20, out->x);
    for (int j = 1; j < 20; j++)
        out->x[j] = (float)(0.5 * (double)out->x[j - 1] + sqrt(0.75) * (double)out->x[j]);
    out->truth = 0;
    for (int j = 0; j < 6; j++) out->truth += (double)out->x[j] / sqrt(6);
    double gamma = -log(uniform(key, 0, USE_CHOICE)) - log(uniform(key, 1, USE_CHOICE));
    double error = sqrt(0.5 / 120) * gamma * gamma;
    out->y = cos(out->truth) + (uniform(key, 2, USE_CHOICE) < 0.5 ? -error : error);
}

/* y = x1 / (0.5 + (x2 + 1.5)^2) + 0.5 e; T is the mean of y. */
static void ratio_row(const row_key *key, row_values *out)
{
    normals(key, 10, out->x);
    double shifted = (double)out->x[1] + 1.5;
    out->truth = (double)out->x[0] / (0.5 + shifted * shifted);
    out->y = out->truth + 0.5 * noise(key);
}

/* y = r log r + 0.5 e with r^2 = x1^2 + x2^2; T = r. */
static void radial_row(const row_key *key, row_values *out)
{
    normals(key, 10, out->x);
    out->truth = hypot((double)out->x[0], (double)out->x[1]);
    out->y = (out->truth > 0 ? out->truth * log(out->truth) : 0) + 0.5 * noise(key);
}

/* y = x1 / (1 + exp x2) + 0.5 e; T is the mean of y. */
static void sigmoid_row(const row_key *key, row_values *out)
{
    normals(key, 10, out->x);
    out->truth = (double)out->x[0] / (1 + exp((double)out->x[1]));
    out->y = out->truth + 0.5 * noise(key);
}

/* y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + e, x uniform on (0, 1)^10; T is the mean of y. */
static void friedman_row(const row_key *key, row_values *out)
{
    for (int j = 0; j < 10; j++) out->x[j] = (float)uniform(key, j, USE_UNIFORM_FEATURES);
    double x1 = (double)out->x[0], x2 = (double)out->x[1], x3 = (double)out->x[2] - 0.5;
    out->truth = 10 * sin(M_PI * x1 * x2) + 20 * x3 * x3 + 10 * (double)out->x[3] + 5 * (double)out->x[4];
    out->y = out->truth + noise(key);
}

/* log odds of "outer" = 3 (x1^2 + x2^2 - 2 log 2): half of the rows lie beyond the radius. T is the log odds.
 */
static void ring_row(const row_key *key, row_values *out)
{
    normals(key, 10, out->x);
    double x1 = (double)out->x[0], x2 = (double)out->x[1];
    out->truth = 3 * (x1 * x1 + x2 * x2 - 2 * M_LN2);
    out->y = uniform(key, 0, USE_CHOICE) < 1 / (1 + exp(-out->truth));
}

typedef struct generator {
    const char *name, *help;
    int columns;
    const char *labels[2]; /* NULL for regression */
    void (*row)(const row_key *key, row_values *out);
} generator;

/* The index is part of the noise address: new ones go to the end. */
static const generator generators[] = {
    {"waveform", "Breiman's waves, one class of three against the others", 21, {"-1", "1"}, waveform_row},
    {"m1", "y = cos(b'x) + heavy-tailed noise, correlated x", 20, {NULL, NULL}, m1_row},
    {"ratio", "y = x1 / (0.5 + (x2 + 1.5)^2) + 0.5 e", 10, {NULL, NULL}, ratio_row},
    {"radial", "y = r log r + 0.5 e, r^2 = x1^2 + x2^2", 10, {NULL, NULL}, radial_row},
    {"sigmoid", "y = x1 / (1 + exp(x2)) + 0.5 e", 10, {NULL, NULL}, sigmoid_row},
    {"friedman", "y = 10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5 + e", 10, {NULL, NULL}, friedman_row},
    {"ring", "two classes, inside and outside of a circle in (x1, x2)", 10, {"inner", "outer"}, ring_row},
};

enum { GENERATORS = sizeof generators / sizeof *generators };

static stonet_status find_generator(const char *name, uint32_t *index)
{
    char list[160] = "";
    size_t used = 0;
    for (uint32_t k = 0; k < GENERATORS; k++) {
        *index = k;
        if (name != NULL && strcmp(name, generators[k].name) == 0) return STONET_OK;
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "", generators[k].name);
    }
    return sn_fail(STONET_ERROR_ARGUMENT, "there is no generator '%s': choose one of %s",
                   name != NULL ? name : "", list);
}

/* The features, truth and responses of all rows, y as numbers. */
static void fill_rows(stonet_data *data, uint32_t index, uint64_t seed, float *x, double *y)
{
    int64_t p = generators[index].columns;
    for (int64_t i = 0; i < data->n; i++) {
        row_key key = {.seed = seed, .row = (uint32_t)i, .generator = index};
        row_values row;
        generators[index].row(&key, &row);
        memcpy(x + i * p, row.x, (size_t)p * sizeof *x);
        y[i] = row.y;
        data->truth[i] = row.truth;
    }
}

static stonet_status set_response(stonet_data *data, const generator *model, const double *y)
{
    if (model->labels[0] == NULL) return stonet_data_set_targets(data, y, 1);
    int32_t *codes;
    SN_TRY(SN_NEW_RAW(codes, data->n));
    for (int64_t i = 0; i < data->n; i++) codes[i] = (int32_t)y[i];
    stonet_status status = stonet_data_set_classes(data, codes, model->labels, 2);
    sn_free(codes);
    return status;
}

static stonet_status fill_frame(stonet_data *data, uint32_t index, uint64_t seed)
{
    const generator *model = &generators[index];
    float *x;
    double *y;
    SN_TRY(SN_NEW(data->truth, data->n));
    SN_TRY(SN_NEW(data->column, model->columns));
    data->n_truth = 1;
    data->n_columns = data->n_numeric = model->columns;
    data->has_header = true;
    for (int j = 0; j < model->columns; j++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", j + 1);
        data->column[j] = (sn_column){.name = sn_strdup(name), .kind = SN_COLUMN_NUMBER, .slot = j};
        if (data->column[j].name == NULL) return STONET_ERROR_MEMORY;
    }
    SN_TRY(SN_NEW_RAW(x, data->n * model->columns));
    data->x = data->owned_x = x;
    SN_TRY(SN_NEW_RAW(y, data->n));
    fill_rows(data, index, seed, x, y);
    stonet_status status = set_response(data, model, y);
    sn_free(y);
    return status;
}

stonet_status stonet_generate(const char *name, int64_t rows, uint64_t seed, stonet_data **out)
{
    *out = NULL;
    uint32_t index;
    SN_TRY(find_generator(name, &index));
    if (rows < 1 || rows > UINT32_MAX)
        return sn_fail(STONET_ERROR_ARGUMENT, "the number of rows must be from 1 to %lld",
                       (long long)UINT32_MAX);
    SN_TRY(sn_memory_require((uint64_t)rows * (uint64_t)(4 * generators[index].columns + 32),
                             "generating that many rows", "ask for fewer"));
    stonet_data *data;
    SN_TRY(sn_frame_create(rows, &data));
    stonet_status status = fill_frame(data, index, seed);
    if (status != STONET_OK) {
        stonet_data_free(data);
        return status;
    }
    *out = data;
    return STONET_OK;
}

char *stonet_generators_json(void)
{
    json_t *list = json_array();
    for (int k = 0; k < GENERATORS; k++) {
        const generator *model = &generators[k];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:i, s:i}", "name", model->name, "help", model->help, "task",
                            sn_words_name(&sn_task_words,
                                          model->labels[0] != NULL ? SN_CLASSIFICATION : SN_REGRESSION),
                            "columns", model->columns, "truth", 1));
    }
    char *text = json_dumps(list, JSON_INDENT(2));
    json_decref(list);
    if (text == NULL) sn_fail(STONET_ERROR_MEMORY, "memory ran out while listing the generators");
    return text;
}
