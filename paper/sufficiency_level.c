/* stonet-paper sufficiency-level: how often the two looks at sufficiency reject what is sufficient, and what
 * is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "paper/experiments.h"

typedef struct level_values {
    int64_t trials, looks, seed, threads;
    const char *test;
    bool quick;
} level_values;

static const cli_option options[] = {
    {.name = "trials",
     .kind = OPTION_INTEGER,
     .offset = offsetof(level_values, trials),
     .argument = "N",
     .initial = "200",
     .low = 1,
     .high = 100000,
     .help = "Data sets a line"},
    {.name = "looks",
     .kind = OPTION_INTEGER,
     .offset = offsetof(level_values, looks),
     .argument = "N",
     .initial = "50",
     .low = 0,
     .high = 100000,
     .help = "Data sets a line for the look by prediction, which takes longer"},
    {.name = "test",
     .kind = OPTION_TEXT,
     .offset = offsetof(level_values, test),
     .argument = "NAME",
     .initial = "gcm",
     .help = "gcm, rcit or rcot"},
    {.name = "quick",
     .kind = OPTION_FLAG,
     .offset = offsetof(level_values, quick),
     .help = "Only the lines with 300 rows"},
    {.name = "seed",
     .kind = OPTION_INTEGER,
     .offset = offsetof(level_values, seed),
     .argument = "S",
     .initial = "1",
     .low = 0,
     .high = 1000000000,
     .help = "Data set k is that of seed S + k - 1"},
    {.name = "threads",
     .kind = OPTION_INTEGER,
     .offset = offsetof(level_values, threads),
     .argument = "N",
     .initial = "0",
     .low = 0,
     .high = 1024,
     .help = "Threads to use, 0 for all cores"},
};

/* What z is. */
typedef enum reduction {
    ALL_X,          /* x itself */
    TRUTH,          /* the sufficient predictors */
    TRUTH_AND_MORE, /* and two columns besides: the last of x, and x1 x2 */
    LINEAR_MAP,     /* x_j + 3 x_{j-1}: all of x, in other coordinates */
    FIRST_TRUTH,    /* the first of two sufficient predictors */
    LAST_TRUTH,     /* the last */
    FIRST_X         /* x1 */
} reduction;

static const char *const reduction_name[] = {"x", "truth", "truth, more", "linear map", "T1", "T2", "x1"};

typedef struct line {
    const char *generator;
    int64_t rows;
    reduction z;
    bool sufficient;
} line;

static const line lines[] = {
    {"friedman:5", 300, ALL_X, true},
    {"friedman:10", 300, ALL_X, true},
    {"friedman:20", 300, ALL_X, true},
    {"ratio:5", 300, ALL_X, true},
    {"ratio:10", 300, ALL_X, true},
    {"ratio:20", 300, ALL_X, true},
    {"ring", 300, ALL_X, true},
    {"waveform", 300, ALL_X, true},
    {"friedman", 300, LINEAR_MAP, true},
    {"friedman", 300, TRUTH, true},
    {"location-scale:10", 300, TRUTH, true},
    {"ring", 300, TRUTH, true},
    {"friedman", 300, TRUTH_AND_MORE, true},
    {"friedman:5", 2000, ALL_X, true},
    {"friedman:10", 2000, ALL_X, true},
    {"friedman:20", 2000, ALL_X, true},
    {"ratio:5", 2000, ALL_X, true},
    {"ratio:10", 2000, ALL_X, true},
    {"ratio:20", 2000, ALL_X, true},
    {"ring", 2000, ALL_X, true},
    {"waveform", 2000, ALL_X, true},
    {"friedman", 2000, LINEAR_MAP, true},
    {"friedman", 2000, TRUTH, true},
    {"location-scale:10", 2000, TRUTH, true},
    {"ring", 2000, TRUTH, true},
    {"waveform", 2000, TRUTH, true},
    {"friedman", 2000, TRUTH_AND_MORE, true},
    {"waveform", 10000, TRUTH, true},
    {"location-scale:10", 2000, FIRST_TRUTH, false},
    {"location-scale:10", 2000, LAST_TRUTH, false},
    {"location-scale-linear", 2000, FIRST_TRUTH, false},
    {"location-scale-linear", 2000, LAST_TRUTH, false},
    {"ratio", 2000, FIRST_X, false},
    {"ring", 2000, FIRST_X, false},
};

/* A data set as three matrices. */
typedef struct sample {
    stonet_data *data;
    int64_t n, p, m, q;
    double *x, *y, *z;
} sample;

static void free_sample(sample *s)
{
    free(s->x);
    free(s->y);
    free(s->z);
    stonet_data_free(s->data);
}

static int64_t columns_of_z(reduction z, int64_t p, int64_t truths)
{
    switch (z) {
    case ALL_X:
    case LINEAR_MAP:
        return p;
    case TRUTH:
        return truths;
    case TRUTH_AND_MORE:
        return truths + 2;
    default:
        return 1;
    }
}

static void fill_z(reduction what, const double *x, int64_t p, const double *truth, int64_t truths, double *z)
{
    switch (what) {
    case ALL_X:
        memcpy(z, x, (size_t)p * sizeof *z);
        break;
    case LINEAR_MAP:
        for (int64_t j = 0; j < p; j++) z[j] = x[j] + (j > 0 ? 3 * x[j - 1] : 0);
        break;
    case TRUTH_AND_MORE:
        z[truths] = x[p - 1];
        z[truths + 1] = x[0] * x[1];
        memcpy(z, truth, (size_t)truths * sizeof *z);
        break;
    case TRUTH:
        memcpy(z, truth, (size_t)truths * sizeof *z);
        break;
    case FIRST_TRUTH:
        z[0] = truth[0];
        break;
    case LAST_TRUTH:
        z[0] = truth[truths - 1];
        break;
    case FIRST_X:
        z[0] = x[0];
        break;
    }
}

static stonet_status make_sample(const line *l, uint64_t seed, sample *s)
{
    stonet_status status = stonet_generate(l->generator, l->rows, seed, &s->data);
    if (status != STONET_OK) return status;
    int64_t truths, classes = 0;
    const float *x = stonet_data_x(s->data);
    const double *truth = stonet_data_truth(s->data, &truths);
    const double *y = stonet_data_targets(s->data, &s->m);
    const int32_t *label = stonet_data_classes(s->data, &classes);
    s->n = l->rows;
    s->p = stonet_data_columns(s->data);
    if (label != NULL) s->m = classes;
    s->q = columns_of_z(l->z, s->p, truths);
    s->x = calloc((size_t)(s->n * s->p), sizeof *s->x);
    s->y = calloc((size_t)(s->n * s->m), sizeof *s->y);
    s->z = malloc((size_t)(s->n * s->q) * sizeof *s->z);
    if (s->x == NULL || s->y == NULL || s->z == NULL) return STONET_ERROR_MEMORY;
    for (int64_t i = 0; i < s->n * s->p; i++) s->x[i] = (double)x[i];
    if (label == NULL) memcpy(s->y, y, (size_t)(s->n * s->m) * sizeof *s->y);
    for (int64_t i = 0; i < s->n; i++) {
        if (label != NULL) s->y[i * s->m + label[i]] = 1.0;
        fill_z(l->z, s->x + i * s->p, s->p, truth + i * truths, truths, s->z + i * s->q);
    }
    return STONET_OK;
}

/* Sums over the data sets of a line. */
typedef struct tally {
    double rejected, rejected_by_look, lost;
} tally;

static stonet_status one_set(const line *l, const level_values *values, stonet_test test, int64_t trial,
                             tally *sum)
{
    sample s = {0};
    stonet_run run = STONET_RUN_INIT;
    run.seed = (uint64_t)(values->seed + trial);
    run.threads = (int)values->threads;
    stonet_independence_options how = STONET_INDEPENDENCE_OPTIONS_INIT;
    how.test = test;
    stonet_independence_result found = {0};
    stonet_prediction_gain gain = {.p_value = 1.0};
    stonet_status status = make_sample(l, run.seed, &s);
    const stonet_sides sides = {.n = s.n, .dx = s.p, .dy = s.m, .dz = s.q, .x = s.x, .y = s.y, .z = s.z};
    if (status == STONET_OK) status = stonet_independence(&sides, &how, &run, &found);
    if (status == STONET_OK && trial < values->looks) status = stonet_prediction_compare(&sides, &run, &gain);
    sum->rejected += found.p_value < 0.05;
    sum->rejected_by_look += gain.p_value < 0.05;
    sum->lost += gain.explained_zx - gain.explained_z;
    free_sample(&s);
    return status;
}

static int do_line(const cli_command *command, const line *l, const level_values *values, stonet_test test)
{
    tally sum = {0};
    for (int64_t trial = 0; trial < values->trials; trial++) {
        stonet_status status = one_set(l, values, test, trial, &sum);
        if (status != STONET_OK) return say_failure(command, status);
    }
    const double looks = values->looks < values->trials ? (double)values->looks : (double)values->trials;
    printf("| %s | %s | %lld | %s | %.3f |", l->generator, reduction_name[l->z], (long long)l->rows,
           l->sufficient ? "yes" : "no", sum.rejected / (double)values->trials);
    if (looks > 0) printf(" %.3f | %.3f |", sum.rejected_by_look / looks, sum.lost / looks);
    printf("\n");
    fflush(stdout);
    return EXIT_DONE;
}

static int run(const cli_command *command, int argc, char **argv)
{
    level_values values = {0};
    cli_arguments given;
    parse_result parsed = options_parse(command, argc, argv, &values, &given);
    if (parsed != PARSE_OK) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    stonet_test test = STONET_TEST_GCM;
    if (strcmp(values.test, "rcit") == 0) {
        test = STONET_TEST_RCIT;
    } else if (strcmp(values.test, "rcot") == 0) {
        test = STONET_TEST_RCOT;
    } else if (strcmp(values.test, "gcm") != 0) {
        say_usage(command, "--test takes gcm, rcit or rcot, not '%s'", values.test);
        return EXIT_USAGE;
    }
    printf("| data | z | n | sufficient | rejected by %s |%s\n", values.test,
           values.looks > 0 ? " rejected by prediction | lost |" : "");
    printf("| --- | --- | --- | --- | --- |%s\n", values.looks > 0 ? " --- | --- |" : "");
    int result = EXIT_DONE;
    for (size_t k = 0; k < sizeof lines / sizeof *lines && result == EXIT_DONE; k++) {
        if (values.quick && lines[k].rows > 300) continue;
        result = do_line(command, &lines[k], &values, test);
    }
    return result;
}

const cli_command sufficiency_level_command = {
    .program = "stonet-paper",
    .name = "sufficiency-level",
    .summary = "How often the tests of sufficiency reject, where they should and should not",
    .operands = "",
    .details = "Shares of data sets whose p-value is below .05, one line a model and reduction. Where z is "
               "sufficient\n"
               "they should be near .05 or below; where it is not, near 1.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples =
        "  stonet-paper sufficiency-level\n  stonet-paper sufficiency-level --quick --test rcit --looks 0",
    .run = run,
};
