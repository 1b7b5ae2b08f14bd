/* Small tables for the tests of the model and select rooms, and models that are compared. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/test_kit.h"
#include "math/noise.h"
#include "model/model.h"

/* To the byte. */
static inline void assert_same_model(const stonet_model *a, const stonet_model *b)
{
    unsigned char *left = NULL, *right = NULL;
    size_t left_size = 0, right_size = 0;
    OK(stonet_model_save_bytes(a, &left, &left_size));
    OK(stonet_model_save_bytes(b, &right, &right_size));
    assert_int_equal(left_size, right_size);
    assert_memory_equal(left, right, left_size);
    stonet_bytes_free(left);
    stonet_bytes_free(right);
}

/* Z and, where they predict, predictions, to the bit. */
static inline void assert_same_answers(const stonet_model *a, const stonet_model *b, const stonet_data *data)
{
    const int64_t cells = stonet_data_rows(data) * a->dim,
                  answers = stonet_data_rows(data) * stonet_model_outputs(a);
    SN_BLOCK float *z = test_zeros(2 * cells, sizeof *z);
    SN_BLOCK double *out = test_zeros(2 * answers, sizeof *out);
    OK(stonet_transform(a, data, NULL, z));
    OK(stonet_transform(b, data, NULL, z + cells));
    assert_memory_equal(z, z + cells, (size_t)cells * sizeof *z);
    if (a->learner == NULL && a->method->predict == NULL) return;
    OK(stonet_predict(a, data, NULL, out));
    OK(stonet_predict(b, data, NULL, out + answers));
    assert_memory_equal(out, out + answers, (size_t)answers * sizeof *out);
}

/* The model that its file holds. */
static inline stonet_model *sn_testing_again(const stonet_model *model)
{
    SN_BLOCK unsigned char *bytes = NULL;
    size_t size = 0;
    stonet_model *back = NULL;
    OK(stonet_model_save_bytes(model, &bytes, &size));
    OK(stonet_model_load_bytes(bytes, size, &back));
    return back;
}

/* What its file holds. */
static inline sn_store *sn_testing_store(const stonet_model *model)
{
    sn_store *store = NULL;
    OK(sn_store_create(&store));
    OK(sn_model_to_store(model, store));
    return store;
}

/* x n x p with numbers as its response; y NULL: none. */
static inline stonet_data *sn_testing_data(const float *x, int64_t n, int64_t p, const double *y)
{
    stonet_data *data = NULL;
    OK(stonet_data_wrap(x, n, p, &data));
    if (y != NULL) OK(stonet_data_set_targets(data, y, 1));
    return data;
}

/* Of the rows first, first + step, .. so many. */
static inline stonet_data *sn_testing_rows(const stonet_data *data, int64_t first, int64_t count,
                                           int64_t step)
{
    stonet_data *part = NULL;
    SN_BLOCK int64_t *row = test_zeros(count, sizeof *row);
    for (int64_t i = 0; i < count; i++) row[i] = first + i * step;
    OK(stonet_data_subset(data, row, count, &part));
    return part;
}

/* A table with its features behind it. */
typedef struct sn_table {
    stonet_data *data;
    float *x;
} sn_table;

static inline void sn_table_free(sn_table *table)
{
    stonet_data_free(table->data);
    sn_free(table->x);
}

/* SN_TABLE table = sn_table_features(..): freed where its scope ends. */
#define SN_TABLE SN_FREED_BY(sn_table_free) sn_table

static inline sn_table sn_table_features(int64_t n, int64_t p, uint32_t seed)
{
    sn_table table = {0};
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 1);
    table.x = sn_calloc((size_t)(n * p), sizeof(float));
    for (int64_t i = 0; i < n * p; i++) table.x[i] = (float)(3.0 + 2.0 * sn_random_normal(&random));
    table.data = sn_testing_data(table.x, n, p, NULL);
    return table;
}

/* Classes by the first feature, with some noise, so that each class has rows. */
static inline sn_table sn_table_classes(int64_t n, int64_t p, int64_t classes, uint32_t seed)
{
    static const char *const LABELS[] = {"red", "green", "blue", "grey", "black"};
    sn_table table = sn_table_features(n, p, seed);
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 2);
    SN_BLOCK int32_t *code = sn_calloc((size_t)n, sizeof *code);
    for (int64_t i = 0; i < n; i++) {
        code[i] = (int32_t)(i % classes);
        table.x[i * p] = (float)(4.0 * code[i] + sn_random_normal(&random));
    }
    OK(stonet_data_set_classes(table.data, code, LABELS, classes));
    return table;
}

/* y_j = 100 + 50 (x_1 + .1 noise), each output a bit different. */
static inline sn_table sn_table_numbers(int64_t n, int64_t p, int64_t outputs, uint32_t seed)
{
    sn_table table = sn_table_features(n, p, seed);
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 2);
    SN_BLOCK double *y = sn_calloc((size_t)(n * outputs), sizeof *y);
    for (int64_t i = 0; i < n * outputs; i++)
        y[i] = 100.0 + 50.0 * (table.x[i / outputs * p] + 0.1 * (double)(i % outputs) +
                               0.1 * sn_random_normal(&random));
    OK(stonet_data_set_targets(table.data, y, outputs));
    return table;
}

static inline stonet_spec *sn_testing_spec(const char *method, const char *dim)
{
    stonet_spec *spec = NULL;
    OK(stonet_spec_create(method, &spec));
    OK(stonet_spec_set(spec, "dim", dim));
    return spec;
}

/* Makes iterative methods short. */
static inline void sn_testing_hurry(stonet_spec *spec)
{
    static const char *const SETTINGS[][2] = {
        {"epochs", "2"}, {"refine", "2"}, {"iterations", "2"}, {"restarts", "1"}, {"sdr_iterations", "2"}};
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++)
        if (sn_spec_has(spec, SETTINGS[i][0])) stonet_spec_set(spec, SETTINGS[i][0], SETTINGS[i][1]);
}

/* As printf has them, until the next call. */
SN_PRINTF(1, 2) static inline const char *sn_testing_words(const char *format, ...)
{
    static char words[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return words;
}

/* "NAME=VALUE NAME=VALUE .."; a number alone is the dimension, the word hurry stands for sn_testing_hurry. */
static inline void sn_testing_set(stonet_spec *spec, const char *words)
{
    char text[512], *rest = NULL;
    assert_true(snprintf(text, sizeof text, "%s", words) < (int)sizeof text);
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        if (equals != NULL) *equals = '\0';
        if (strcmp(word, "hurry") == 0)
            sn_testing_hurry(spec);
        else
            OK(stonet_spec_set(spec, equals != NULL ? word : "dim", equals != NULL ? equals + 1 : word));
    }
}

/* Of "METHOD DIM NAME=VALUE ..". */
static inline stonet_spec *sn_testing_spec_of(const char *words)
{
    char method[64];
    const size_t length = strcspn(words, " ");
    stonet_spec *spec = NULL;
    snprintf(method, sizeof method, "%.*s", (int)length, words);
    OK(stonet_spec_create(method, &spec));
    sn_testing_set(spec, words + length);
    return spec;
}

/* The fit of such a spec; run may be NULL. */
static inline stonet_model *sn_testing_fit(const char *words, const stonet_data *data, const stonet_run *run)
{
    SN_AUTO(stonet_spec) *spec = sn_testing_spec_of(words);
    stonet_model *model = NULL;
    if (stonet_fit(spec, data, run, &model) != STONET_OK) fail_msg("%s: %s", words, stonet_last_error());
    return model;
}

/* options may be NULL. */
static inline stonet_scores sn_testing_scores(const stonet_model *model, const stonet_data *data,
                                              const stonet_use_options *options)
{
    stonet_scores scores = STONET_SCORES_INIT;
    OK(stonet_score(model, data, options, &scores));
    return scores;
}

/* Such a fit must fail, with these words. */
static inline void sn_testing_refused(const char *words, const stonet_data *data, const char *says)
{
    SN_AUTO(stonet_spec) *spec = sn_testing_spec_of(words);
    SN_AUTO(stonet_model) *model = NULL;
    if (stonet_fit(spec, data, NULL, &model) == STONET_OK || strstr(stonet_last_error(), says) == NULL)
        fail_msg("%s: '%s' is not in: %s", words, says, stonet_last_error());
}

static inline void sn_testing_path(char *path, size_t size, const char *name)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/stonet_%ld_%s", folder != NULL ? folder : "/tmp", (long)getpid(), name);
}

/* What is read from a file of this text. */
static inline stonet_data *sn_testing_read(const char *text, const stonet_read_options *how)
{
    char path[256];
    stonet_data *data = NULL;
    sn_testing_path(path, sizeof path, "table.csv");
    OK(stonet_bytes_write(path, text, strlen(text)));
    OK(stonet_data_read(path, how, &data));
    unlink(path);
    return data;
}
