/*
 * Built-in data with a known sufficient predictor. NAME alone draws the usual number of columns; NAME:P draws
 * P of them, the further ones noise of the same law. And tables as people have them, with fixed columns.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "data/frame.h"
#include "data/generator.h"
#include "data/problem.h"
#include "math/noise.h"

double sn_row_normal(const sn_row_key *key, uint32_t use)
{
    return sn_noise_normal(key->seed, SN_STREAM_DATA, key->row, key->generator, 0, 0, use);
}

double sn_row_noise(const sn_row_key *key)
{
    return sn_row_normal(key, SN_USE_RESPONSE);
}

void sn_row_normals(const sn_row_key *key, int64_t p, float *x)
{
    for (int64_t j = 0; j < p; j += 4) {
        double four[4];
        sn_noise_normal4(&(sn_address){key->seed, SN_STREAM_DATA, key->row, key->generator, (uint32_t)(j / 4),
                                       .sweep = SN_USE_FEATURES},
                         four);
        for (int64_t k = 0; k < 4 && j + k < p; k++) x[j + k] = (float)four[k];
    }
}

double sn_row_uniform(const sn_row_key *key, int64_t number, uint32_t use)
{
    return sn_noise_uniform(key->seed, SN_STREAM_DATA, key->row, key->generator, (uint32_t)number, 0, use);
}

typedef struct generator {
    const char *name, *help;
    int64_t columns, least; /* usually, and how many the response needs */
    int truths;
    const char *const *labels; /* of the two classes; NULL for regression */
    sn_row_function *row;
    sn_table_function *table; /* instead of all that: a table without a target */
} generator;

static const char *const wave_labels[] = {"-1", "1"}, *const ring_labels[] = {"inner", "outer"},
                         *const zero_one[] = {"0", "1"};

/* The index is part of the noise address: new ones go to the end. */
static const generator generators[] = {
    {"waveform", "Breiman's waves, one class of three against the others", 21, 21, 1, wave_labels,
     sn_waveform_row, NULL},
    {"m1", "y = cos(b'x) + heavy-tailed noise, correlated x", 20, 6, 1, NULL, sn_m1_row, NULL},
    {"ratio", "y = x1 / (0.5 + (x2 + 1.5)^2) + 0.5 e", 10, 2, 1, NULL, sn_ratio_row, NULL},
    {"radial", "y = r log r + 0.5 e, r^2 = x1^2 + x2^2", 10, 2, 1, NULL, sn_radial_row, NULL},
    {"sigmoid", "y = x1 / (1 + exp(x2)) + 0.5 e", 10, 2, 1, NULL, sn_sigmoid_row, NULL},
    {"friedman", "y = 10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5 + e", 10, 5, 1, NULL, sn_friedman_row,
     NULL},
    {"ring", "two classes, inside and outside of a circle in (x1, x2)", 10, 2, 1, ring_labels, sn_ring_row,
     NULL},
    {"location-scale", "y = T1 + T2 e, T1 of (x1, x2), T2 of (x3, x4) (BENN's D-IV)", 50, 4, 2, NULL,
     sn_location_scale_row, NULL},
    {"scale", "y = T e, T of (x3, x4): the mean says nothing (BENN's E-IV)", 50, 4, 1, NULL, sn_scale_row,
     NULL},
    {"location-scale-ratio", "y = T1 + T2 e with ratios (BENN's G-IV)", 50, 4, 2, NULL,
     sn_location_scale_ratio_row, NULL},
    {"location-scale-linear", "y = T1 + T2 e, functions of x1 + x2 and x3 + 3 x4 (BENN's F-V)", 20, 4, 2,
     NULL, sn_location_scale_linear_row, NULL},
    {"mean-ratio", "y = x1 / (1 + (1 + x2)^2) + (1 + x2)^2 + 0.5 e (BENN's A)", 50, 2, 1, NULL,
     sn_mean_ratio_row, NULL},
    {"mean-ratio-poisson", "the same with Poisson x", 50, 2, 1, NULL, sn_mean_ratio_poisson_row, NULL},
    {"mean-ratio-t", "the same with correlated x of t_4", 50, 2, 1, NULL, sn_mean_ratio_t_row, NULL},
    {"mean-square", "y = sin((x1 + x2) pi / 10) + x1^2 + 0.5 e (BENN's B)", 50, 2, 1, NULL,
     sn_mean_square_row, NULL},
    {"mean-square-poisson", "the same with Poisson x", 50, 2, 1, NULL, sn_mean_square_poisson_row, NULL},
    {"mean-square-t", "the same with correlated x of t_4", 50, 2, 1, NULL, sn_mean_square_t_row, NULL},
    {"mean-log", "y = (x1 + x2)^2 log(x1^2 + x2^2 + 0.001) + 0.5 e (BENN's C)", 50, 2, 1, NULL,
     sn_mean_log_row, NULL},
    {"mean-log-poisson", "the same with Poisson x", 50, 2, 1, NULL, sn_mean_log_poisson_row, NULL},
    {"mean-log-t", "the same with correlated x of t_4", 50, 2, 1, NULL, sn_mean_log_t_row, NULL},
    {"select-regression", "y = 5 x2 / (1 + x1^2) + 5 sin(x3 x4) + 2 x5 + e, correlated x (Liang)", 2000, 5, 1,
     NULL, sn_select_regression_row, NULL},
    {"select-classes", "exp(x1) + x2^2 + 5 sin(x3 x4) > 3, correlated x (Liang)", 1000, 4, 1, zero_one,
     sn_select_classes_row, NULL},
    {"wide", "y = x1 + x2 + x3 - x4 - x5 + 0.5 e", 20000, 5, 1, NULL, sn_wide_row, NULL},
    {"passengers", "who survived: text, missing ages, names of rows (target survived)", 5, 5, 0, zero_one,
     NULL, sn_passengers_table},
    {"air", "ozone by the day: dates, missing cells (target ozone)", 5, 5, 0, NULL, NULL, sn_air_table},
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

/* The features, truth and responses of all rows, y as numbers. */
static void fill_rows(stonet_data *data, uint32_t index, uint64_t seed, float *x, double *y)
{
    const generator *model = &generators[index];
    for (int64_t i = 0; i < data->n; i++) {
        sn_row_key key = {.seed = seed, .row = (uint32_t)i, .generator = index};
        sn_row_values row = {0};
        model->row(&key, data->n_columns, x + i * data->n_columns, &row);
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
