/* stonet transform: the reduced variables Z of new data. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/plot_z.h"
#include "cli/ranks.h"
#include "cli/say.h"

typedef struct transform_values {
    target_options target;
    run_options run;
    int64_t draws, refits;
    bool json, activated, impute;
    const char *se, *plot, *out;
} transform_values;

static const cli_option options[] = {
    OUT_OPTION(transform_values, out, "Write .csv, .npy (also .gz) or .json instead of CSV to stdout"),
    JSON_OPTION(transform_values, json),
    NUMBER_OPTION(transform_values, draws, "draws", "M", "0", 0, 1000000,
                  "M random passes with the noise of the network instead of the mean, one below the other (M "
                  "times the rows); their spread is no standard error"),
    FLAG_OPTION(transform_values, activated, "activated",
                "The units behind Z after the activation function; for fits with hidden=WIDTHS"),
    FLAG_OPTION(transform_values, impute, "impute",
                "Z imputed given the response of these rows (needs --target or --target-file)"),
    TEXT_OPTION(transform_values, se, "se", "FILE",
                "Also standard errors of Z, columns se1, se2, ..: the model is fitted again on halves of its "
                "training rows, which are this file (with --target or --target-file)"),
    NUMBER_OPTION(transform_values, refits, "refits", "B", "50", 2, 100000, "How many, with --se"),
    PLOT_OPTION(transform_values, plot,
                "Draw Z (its first two columns), by the response where it is named; of --draws the first"),
    TARGET_OPTIONS(transform_values, target),
    GROUP_OPTION(transform_values, target),
    ID_OPTION(transform_values, target,
              "The column that names the rows, for the output; that of the fit, if it is there"),
    RUN_OPTIONS(transform_values, run),
};

/* z1, z2, .. and, unless se (rows x dim) is NULL, se1, se2, .. */
static int write_z(const cli_command *command, const rows_output *to, const float *z, const double *se,
                   int64_t rows, int64_t dim)
{
    const int64_t columns = se != NULL ? 2 * dim : dim;
    BLOCK double *values = room_for(rows * columns, sizeof *values);
    __attribute__((cleanup(names_free))) name_list names = {0};
    for (int64_t j = 0; j < columns; j++)
        names_add(&names, text_of("%s%" PRId64, j < dim ? "z" : "se", j % dim + 1));
    for (int64_t i = 0; i < rows * columns; i++) {
        const int64_t row = i / columns, j = i % columns;
        values[i] = se != NULL && j >= dim ? se[row * dim + j - dim] : (double)z[row * dim + j];
    }
    return output_rows(command, to, values, rows, columns, (const char *const *)names.text);
}

/* *se, rows x dim, is to be freed. */
static int standard_errors(const cli_command *command, const transform_values *values,
                           const stonet_model *model, const stonet_data *data, double **se)
{
    AUTO(stonet_data) *train = NULL;
    TRY(read_data_for(command, model, values->se, &values->target, values->run.threads, &train));
    *se = room_for(stonet_data_rows(data) * stonet_model_dim(model), sizeof **se);
    double stability = 0.0;
    stonet_run run = run_of(&values->run);
    TRY(outcome(command, stonet_transform_se(model, train, data, values->refits, &run, *se, &stability)));
    if (!values->run.quiet)
        fprintf(stderr,
                "%" PRId64 " refits on halves of the rows: mean canonical correlation of their Z with that "
                "of the model %.3f\n",
                values->refits, stability);
    return EXIT_DONE;
}

/* z: draws x rows x dim, written as draws times rows lines, draw after draw. The check of the size comes
   first, since the product may not fit 64 bits. */
static int transform(const cli_command *command, const transform_values *values, const stonet_model *model,
                     const stonet_data *data)
{
    const rows_output to = {
        .path = values->out, .json = values->json, .quiet = values->run.quiet, .data = data};
    int64_t dim = stonet_model_dim(model);
    int64_t rows = stonet_data_rows(data);
    int64_t passes = values->draws > 0 ? values->draws : 1;
    BLOCK float *z = NULL;
    BLOCK double *se = NULL;
    if (rows <= INT64_MAX / 16 / passes / dim) z = calloc((size_t)(rows * passes * dim), sizeof *z);
    if (z == NULL)
        return say_error(command,
                         "%" PRId64 " draws of %" PRId64 " rows do not fit in memory; choose fewer draws",
                         passes, rows);
    stonet_use_options how = {.size = sizeof how,
                              .draws = values->draws,
                              .activated = values->activated,
                              .impute = values->impute,
                              .seed = (uint64_t)values->run.seed,
                              .threads = (int)values->run.threads,
                              .team = program_team()};
    TRY(outcome(command, stonet_transform(model, data, &how, z)));
    if (values->se != NULL) TRY(standard_errors(command, values, model, data, &se));
    if (values->plot != NULL)
        TRY(plot_reduction(command, values->plot, model, data, &(z_picture){z, false, NULL}));
    return write_z(command, &to, z, se, rows * passes, dim);
}

/* DATA need a response only for --impute, which draws the hidden layer given it. */
static int run(const cli_command *command, const cli_arguments *given, void *parsed)
{
    transform_values *values = parsed;
    AUTO(stonet_model) *model = NULL;
    AUTO(stonet_data) *data = NULL;
    if (values->impute) TRY(require_target_of_model(command, &values->target));
    if (values->se != NULL && (values->draws > 0 || values->activated || values->impute))
        return say_usage(command, "--se is for the plain Z, without --draws, --activated and --impute");
    if (values->se == NULL && values->target.read.group != NULL)
        return say_usage(command, "--group is for the training rows of --se");
    TRY(output_check(command, values->out));
    TRY(output_check(command, values->plot));
    TRY(read_model(command, given->operand[0], &model));
    /* With --se the response and the groups are those of the training rows. */
    target_options target = values->target;
    target.read.group = NULL;
    if (values->se != NULL) target.read.target = target.read.target_file = NULL;
    if (values->se != NULL && stonet_model_targets(model) > 0)
        TRY(require_target_of_model(command, &values->target));
    TRY(read_data_for(command, model, given->operand[1], &target, values->run.threads, &data));
    TRY(say_unseen(command, model, data, values->run.quiet));
    return transform(command, values, model, data);
}

const cli_command transform_command = {
    .name = "transform",
    .summary = "Reduce data: the columns Z of a fitted model",
    .on_ranks = true,
    .operands = "MODEL DATA",
    .details =
        "DATA may have the response and other columns that the model does not use, also with blank cells.",
    OPTIONS_OF(options, transform_values),
    .examples = "  stonet transform my.model test.csv --out z.csv\n"
                "  stonet transform my.model test.csv --draws 100 --out draws.npy\n"
                "  stonet transform my.model test.csv --se train.csv --out z.csv",
    .run = run,
};
