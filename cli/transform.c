/* stonet transform: the reduced variables Z of new data. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"

typedef struct transform_values {
    target_options target;
    int64_t draws, seed, threads;
    bool activated, impute;
    const char *out;
} transform_values;

static const cli_option options[] = {
    OUT_OPTION(transform_values, out, "Write .csv or .npy (also .gz) instead of CSV to stdout"),
    {.name = "draws",
     .kind = OPTION_INTEGER,
     .offset = offsetof(transform_values, draws),
     .argument = "M",
     .initial = "0",
     .low = 0,
     .high = 1000000,
     .help = "M random passes instead of the mean, one below the other (M times the rows)"},
    {.name = "activated",
     .kind = OPTION_FLAG,
     .offset = offsetof(transform_values, activated),
     .help = "Z after the activation function"},
    {.name = "impute",
     .kind = OPTION_FLAG,
     .offset = offsetof(transform_values, impute),
     .help = "Z imputed given the response of these rows (needs --target or --target-file)"},
    TARGET_OPTIONS(transform_values, target),
    SEED_OPTION(transform_values, seed),
    THREADS_OPTION(transform_values, threads),
};

static int write_z(const cli_command *command, const char *path, const float *z, int64_t rows, int64_t dim)
{
    enum { NAME_SIZE = 24 };
    double *values = malloc((size_t)(rows * dim) * sizeof *values);
    char(*text)[NAME_SIZE] = malloc((size_t)dim * sizeof *text);
    const char **names = malloc((size_t)dim * sizeof *names);
    int result = EXIT_FAILED;
    if (values == NULL || text == NULL || names == NULL) {
        say_error(command, "memory ran out");
    } else {
        for (int64_t j = 0; j < dim; j++) {
            snprintf(text[j], NAME_SIZE, "z%" PRId64, j + 1);
            names[j] = text[j];
        }
        for (int64_t i = 0; i < rows * dim; i++) values[i] = (double)z[i];
        result = output_matrix(command, path, values, rows, dim, names);
    }
    free(names);
    free(text);
    free(values);
    return result;
}

static int transform(const cli_command *command, const transform_values *values, const stonet_model *model,
                     const stonet_data *data)
{
    int64_t dim = stonet_model_dim(model);
    int64_t rows = stonet_data_rows(data);
    int64_t passes = values->draws > 0 ? values->draws : 1;
    float *z = NULL;
    if (rows <= INT64_MAX / 16 / passes / dim) z = malloc((size_t)(rows * passes * dim) * sizeof *z);
    if (z == NULL) {
        say_error(command, "%" PRId64 " draws of %" PRId64 " rows do not fit in memory; ask for fewer draws",
                  passes, rows);
        return EXIT_FAILED;
    }
    stonet_use_options how = {.size = sizeof how,
                              .draws = values->draws,
                              .activated = values->activated,
                              .impute = values->impute,
                              .seed = (uint64_t)values->seed,
                              .threads = (int)values->threads};
    stonet_status status = stonet_transform(model, data, &how, z);
    int result = status == STONET_OK ? write_z(command, values->out, z, rows * passes, dim)
                                     : say_failure(command, status);
    free(z);
    return result;
}

static int run(const cli_command *command, int argc, char **argv)
{
    transform_values values = {0};
    cli_arguments given;
    parse_result parsed = options_parse(command, argc, argv, &values, &given);
    if (parsed != PARSE_OK) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    stonet_model *model = NULL;
    stonet_data *data = NULL;
    int result = values.impute ? require_target(command, &values.target) : EXIT_DONE;
    if (result == EXIT_DONE && values.out != NULL) result = output_check(command, values.out);
    if (result == EXIT_DONE) result = read_model(command, given.operand[0], &model);
    if (result == EXIT_DONE)
        result = read_data_for(command, model, given.operand[1], &values.target, values.threads, &data);
    if (result == EXIT_DONE) result = transform(command, &values, model, data);
    stonet_data_free(data);
    stonet_model_free(model);
    return result;
}

const cli_command transform_command = {
    .program = "stonet",
    .name = "transform",
    .summary = "Reduce data: the columns Z of a fitted model",
    .operands = "MODEL DATA",
    .details = "The response and other columns that the model does not use may be in DATA, also with blank "
               "cells: they are\n"
               "passed over.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = "  stonet transform my.model test.csv --out z.csv\n"
                "  stonet transform my.model test.csv --draws 100 --out draws.npy",
    .run = run,
};
