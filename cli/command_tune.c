/* stonet tune: the best settings by cross-validation. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/print_results.h"
#include "cli/progress.h"
#include "cli/say.h"

typedef struct tune_values {
    target_options target;
    spec_options spec;
    run_options run;
    results_options results;
    checkpoint_options checkpoint;
    const char *dim, *criterion, *best;
    text_list grid;
    int64_t folds, trials;
    double within;
} tune_values;

static const cli_option options[] = {
    TARGET_OPTIONS(tune_values, target),
    RESPONSE_OPTIONS(tune_values, target),
    GROUP_OPTION(tune_values, target),
    COLUMN_OPTIONS(tune_values, target),
    TEXT_OPTION(tune_values, dim, "dim", "Q",
                "The number of reduced variables; --grid dim=1,2,5 tunes it too"),
    NUMBER_OPTION(tune_values, folds, "folds", "K", "5", 2, 1000, "Parts of the cross-validation"),
    TEXTS_OPTION(tune_values, grid, "grid", "NAME=a,b,c",
                 "Values to try for a setting; ';' between values that are lists (hidden=100;200,50); '/' "
                 "between settings that change together (hidden/activation=64/relu;none/tanh). Without it: "
                 "the built-in grid of the method"),
    NUMBER_OPTION(tune_values, trials, "trials", "N", "0", 0, 1000000,
                  "Try N points of the grid drawn at random; 0: all of them"),
    CRITERION_OPTION(tune_values, criterion),
    FILE_OPTION(tune_values, best, "best", "FILE.json",
                "Write the best settings as a file for 'stonet fit --config'"),
    REAL_OPTION(tune_values, within, "within", "S", "0", 0, 1000,
                "With --best: write the first point of the grid, in the order given, within S standard "
                "errors of the best; give the values from simple to flexible"),
    RESULTS_OPTIONS(tune_values, results),
    SPEC_OPTIONS(tune_values, spec),
    RUN_OPTIONS(tune_values, run),
    CHECKPOINT_OPTIONS(tune_values, checkpoint),
};

static int write_best(const cli_command *command, const tune_values *values, const stonet_results *results)
{
    int64_t best = stonet_results_simplest(results, values->within);
    if (best < 0)
        return say_error(command, "no point of the grid could be fitted, so there are no best settings");
    if (values->best == NULL) return EXIT_DONE;
    AUTO(stonet_spec) *spec = NULL;
    TRY(outcome(command, stonet_results_spec(results, best, &spec)));
    TRY(output_made_json(command, values->best, stonet_spec_json(spec)));
    if (!values->run.quiet)
        fprintf(stderr, "best settings in %s: use them with 'stonet fit --config %s'\n", values->best,
                values->best);
    return EXIT_DONE;
}

static int finish(const cli_command *command, const tune_values *values, const stonet_results *results)
{
    int result = output_results(command, &values->results, results, true);
    int best = write_best(command, values, results);
    if (result == EXIT_DONE) result = best;
    if (result == EXIT_DONE && stonet_results_outcome(results) == STONET_STOPPED) {
        say_error(command, "stopped before the end; these are the points that were finished");
        result = EXIT_FAILED;
    }
    return result;
}

/* All options are checked before the data are read. Results of a stopped run are printed as far as they go;
   with --checkpoint the same command goes on from there. */
static int tune(const cli_command *command, const cli_arguments *given, void *parsed)
{
    tune_values *values = parsed;
    BLOCK char *response = NULL;
    stonet_tune_options how = {.size = sizeof how,
                               .folds = (int)values->folds,
                               .grid = values->grid.text,
                               .n_grid = (int64_t)values->grid.count,
                               .trials = values->trials};
    AUTO(stonet_spec) *spec = NULL;
    AUTO(stonet_data) *data = NULL;
    AUTO(stonet_results) *results = NULL;
    TRY(make_spec(command, &values->spec, values->dim, &spec));
    TRY(name_response(command, &values->target, spec, &response));
    TRY(require_target(command, &values->target));
    TRY(check_results_options(command, &values->results));
    TRY(output_check(command, values->best));
    TRY(parse_criterion(command, values->criterion, &how.criterion));
    TRY(read_data(command, given->operand[0], &values->target, values->run.threads, &data));
    stonet_run run = run_of(&values->run);
    int result = open_checkpoint(command, &values->checkpoint, &run);
    if (result == EXIT_DONE) {
        const stonet_status status = stonet_tune(spec, data, &how, &run, &results);
        progress_clear();
        result = status == STONET_OK ? finish(command, values, results) : say_failure(command, status);
    }
    return close_checkpoint(command, &run, result);
}

const cli_command tune_command = {
    .name = "tune",
    .summary = "Find good settings by cross-validation",
    .on_ranks = true,
    .operands = "DATA",
    .required = "(--target COL | --target-file FILE) [--dim Q] [--grid NAME=a,b,c]..",
    .details =
        "Prints one row for each point of the grid, best first: the mean of the criterion over the folds and "
        "its standard error.",
    OPTIONS_OF(options, tune_values),
    .examples = "  stonet tune train.csv --target y --dim 2 --grid lr=.01,.03,.1 --grid weight_decay=0,.03 "
                "--best b.json\n"
                "  stonet fit train.csv --target y --config b.json --out my.model",
    .run = tune,
};
