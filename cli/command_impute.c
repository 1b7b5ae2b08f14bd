/* stonet impute: completed copies of a table with missing cells. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"

static const char DRAW[] = "{draw}";

typedef struct impute_values {
    target_options target;
    run_options run;
    int64_t draws;
    const char *out;
} impute_values;

static const cli_option options[] = {
    OUT_OPTION(impute_values, out,
               "The .csv or .npy files to write, with {draw} in their name: my-{draw}.csv"),
    NUMBER_OPTION(impute_values, draws, "draws", "M", "5", 1, STONET_MOST_IMPUTED,
                  "How many completed tables"),
    READ_OPTIONS(impute_values, target),
    RUN_OPTIONS(impute_values, run),
};

/* The name of a draw's file, to be freed. */
static char *name_of(const char *pattern, int64_t draw)
{
    const char *at = strstr(pattern, DRAW);
    return at == NULL
               ? copy_of(pattern)
               : text_of("%.*s%" PRId64 "%s", (int)(at - pattern), pattern, draw, at + sizeof DRAW - 1);
}

static int check(const cli_command *command, const impute_values *values)
{
    if (values->out == NULL)
        return say_usage(command, "the files to write are missing: give --out my-{draw}.csv");
    if (values->draws > 1 && strstr(values->out, DRAW) == NULL)
        return say_usage(command,
                         "--out is one file, and --draws %" PRId64 " makes several: put %s into its name",
                         values->draws, DRAW);
    BLOCK char *name = name_of(values->out, 1);
    return output_check(command, name);
}

/* Tables are written one after the other, so only one completed copy is in memory. Tables written before a
   failure stay. */
static int run(const cli_command *command, const cli_arguments *given, void *parsed)
{
    const impute_values *values = parsed;
    AUTO(stonet_data) *data = NULL;
    TRY(check(command, values));
    TRY(read_data(command, given->operand[0], &values->target, values->run.threads, &data));
    stonet_run how = run_of(&values->run);
    int64_t left = 0;
    for (int64_t draw = 1; draw <= values->draws; draw++) {
        AUTO(stonet_data) *completed = NULL;
        BLOCK char *name = name_of(values->out, draw);
        TRY(outcome(command, stonet_data_impute(data, draw, &how, &completed)));
        TRY(outcome(command, stonet_data_write(completed, name)));
        left = stonet_data_missing(completed, -1);
    }
    if (!values->run.quiet)
        fprintf(stderr, "%" PRId64 " of %" PRId64 " missing cells drawn, in %" PRId64 " table%s: %s\n",
                stonet_data_missing(data, -1) - left, stonet_data_missing(data, -1), values->draws,
                values->draws == 1 ? "" : "s", values->out);
    return EXIT_DONE;
}

const cli_command impute_command = {
    .name = "impute",
    .summary = "Write completed copies of a table with missing cells",
    .operands = "DATA",
    .details =
        "Multiple imputation: missing cells are drawn given all other columns, the response among them. "
        "Analyse\n"
        "every copy, and pool the results by Rubin's rules: pool_estimates() in R and Python. Order of columns and "
        "rows, and\n"
        "cells that are there, stay as they are.",
    OPTIONS_OF(options, impute_values),
    .examples = "  stonet impute survey.csv --draws 20 --out survey-{draw}.csv",
    .run = run,
};
