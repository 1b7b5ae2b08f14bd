/* stonet compare: several methods and dimensions on the same splits, of one or several data sets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/compare_specs.h"
#include "cli/many_tables.h"
#include "cli/output.h"
#include "cli/plot_z.h"
#include "cli/print_results.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/svg.h"

typedef struct compare_values {
    target_options target;
    text_list target_files; /* one for each data set */
    run_options run;
    checkpoint_options checkpoint;
    results_options results;
    compare_wishes wishes;
    const char *criterion, *plot, *test, *test_target_file;
    text_list grid;
    int64_t folds, trials, tune_folds;
    bool tune;
} compare_values;

static const cli_option options[] = {
    TARGET_OPTION(compare_values, target),
    TEXTS_OPTION(compare_values, target_files, "target-file", "FILE",
                 "The response in a file of its own, row by row; one for each DATA, in the same order"),
    TABLE_OPTIONS(compare_values, target),
    GROUP_OPTION(compare_values, target),
    COLUMN_OPTIONS(compare_values, target),
    TEXT_OPTION(compare_values, wishes.methods, "methods", "a,b,c",
                "The methods; 'none' is the learner on x itself. 'all': every method that 'stonet methods' "
                "lists, none included"),
    WORD_OPTION(compare_values, wishes.dims, "dim", "Q,Q..", "2",
                "The dimensions, each with every method; auto: as 'stonet order' chooses it, anew in each "
                "training part"),
    NUMBER_OPTION(compare_values, folds, "folds", "K", "5", 2, 1000,
                  "Parts of the cross-validation, the same for all"),
    TEXT_OPTION(compare_values, test, "test", "FILE",
                "Score on these rows instead of by cross-validation; with one DATA"),
    TEXT_OPTION(compare_values, test_target_file, "test-target-file", "FILE",
                "The response of --test in a file of its own"),
    LEARNER_OPTION(compare_values, wishes.learner),
    TEXTS_OPTION(compare_values, wishes.set, "set", "[METHOD:]NAME=VALUE",
                 "A setting of one method, or of all methods that have it"),
    FLAG_OPTION(compare_values, tune, "tune", "Tune each method inside each training part"),
    TEXTS_OPTION(compare_values, grid, "grid", "[METHOD:]NAME=a,b,c",
                 "With --tune: values to try, instead of the built-in grids; as in 'stonet tune'"),
    NUMBER_OPTION(compare_values, trials, "trials", "N", "0", 0, 1000000,
                  "With --tune: N points of the grid drawn at random; 0: all of them"),
    NUMBER_OPTION(compare_values, tune_folds, "tune-folds", "K", "5", 2, 1000,
                  "With --tune: parts of the inner cross-validation"),
    CRITERION_OPTION(compare_values, criterion),
    PLOT_OPTION(compare_values, plot, "Draw the criterion with its standard error; with one DATA"),
    RESULTS_OPTIONS(compare_values, results),
    RUN_OPTIONS(compare_values, run),
    CHECKPOINT_OPTIONS(compare_values, checkpoint),
};

/* ---- the data sets ----------------------------------------------------------------------------- */

typedef struct data_set {
    const char *path;
    stonet_data *data;
    spec_list specs;
    stonet_results *results;
} data_set;

typedef struct comparison {
    const cli_command *command;
    const compare_values *values;
    stonet_compare_options how;
    data_set set[MAX_OPERANDS];
    int count;
    stonet_data *test;
} comparison;

static void free_comparison(comparison *self)
{
    for (int k = 0; k < self->count; k++) {
        stonet_results_free(self->set[k].results);
        specs_free(&self->set[k].specs);
        stonet_data_free(self->set[k].data);
    }
    stonet_data_free(self->test);
}

static int check_targets(const cli_command *command, const compare_values *values, int n_data)
{
    size_t files = values->target_files.count;
    target_options target = values->target;
    if (files > 0) target.read.target_file = values->target_files.text[0];
    int result = require_target(command, &target);
    if (result != EXIT_DONE || files == 0 || files == (size_t)n_data) return result;
    return say_usage(command,
                     "give --target-file once for each DATA, in the same order: DATA is there %d times, "
                     "--target-file %zu times",
                     n_data, files);
}

/* Options that contradict each other are wrong usage (status 2), found before any file is read. */
static int check_values(const cli_command *command, const compare_values *values, int n_data)
{
    TRY(check_targets(command, values, n_data));
    const char *wrong = NULL;
    if (values->wishes.methods == NULL)
        wrong = "the methods are missing: give --methods a,b,c";
    else if (values->test_target_file != NULL && values->test == NULL)
        wrong = "--test-target-file belongs to --test";
    else if (values->test != NULL && n_data > 1)
        wrong = "--test goes with one DATA; several are compared by cross-validation";
    else if (values->test != NULL && values->target_files.count > 0 && values->test_target_file == NULL)
        wrong = "the response of --test is missing: give --test-target-file FILE";
    else if (values->plot != NULL && n_data > 1)
        wrong = "--plot goes with one DATA";
    else if (!values->tune && (values->grid.count > 0 || values->trials > 0))
        wrong = "--grid and --trials belong to --tune";
    if (wrong != NULL) return say_usage(command, "%s", wrong);
    TRY(output_check(command, values->plot));
    return check_results_options(command, &values->results);
}

/* Table k goes with the k-th --target-file, if there are such files. The test rows of --test belong to the
   only table. free_comparison frees the tables. */
static int read_sets(comparison *self, const cli_arguments *given)
{
    const compare_values *values = self->values;
    target_options target = values->target; /* and the file of each table */
    for (int k = 0; k < given->n_operands; k++) {
        data_set *set = &self->set[self->count++];
        if (values->target_files.count > 0) target.read.target_file = values->target_files.text[k];
        set->path = given->operand[k];
        TRY(read_data(self->command, set->path, &target, values->run.threads, &set->data));
    }
    if (values->test == NULL) return EXIT_DONE;
    if (values->test_target_file != NULL) target.read.target = NULL;
    target.read.target_file = values->test_target_file;
    TRY(read_data(self->command, values->test, &target, values->run.threads, &self->test));
    self->how.test = self->test;
    return EXIT_DONE;
}

static int make_all_specs(comparison *self)
{
    for (int k = 0; k < self->count; k++)
        TRY(specs_make(self->command, &self->values->wishes, stonet_data_columns(self->set[k].data),
                       &self->set[k].specs));
    return EXIT_DONE;
}

/* How one data set is compared. */
static stonet_compare_options how_to_compare(const comparison *self, const data_set *set)
{
    stonet_compare_options how = self->how;
    how.choose_dim = set->specs.any_open ? stonet_order_dim : NULL;
    how.open_dims = set->specs.open;
    return how;
}

/* What is wrong with one of the data sets, before hours are spent on those before it. */
static int check_sets(const comparison *self)
{
    for (int k = 0; k < self->count; k++) {
        const data_set *set = &self->set[k];
        const stonet_compare_options how = how_to_compare(self, set);
        stonet_status status = stonet_compare_check((const stonet_spec *const *)set->specs.spec,
                                                    set->specs.count, set->data, &how);
        if (status == STONET_OK) continue;
        say_error(self->command, "%s: %s", set->path, stonet_last_error());
        return status == STONET_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
    }
    return EXIT_DONE;
}

/* ---- the comparison ---------------------------------------------------------------------------- */

static stonet_status compare_set(const comparison *self, const stonet_run *run, data_set *set)
{
    const stonet_compare_options how = how_to_compare(self, set);
    stonet_status status = stonet_compare((const stonet_spec *const *)set->specs.spec, set->specs.count,
                                          set->data, &how, run, &set->results);
    progress_clear();
    return status;
}

static const char *first_failure(const stonet_results *results)
{
    stonet_result_row row;
    for (int64_t i = 0; i < stonet_results_rows(results); i++)
        if (stonet_results_row(results, i, &row) == STONET_OK && row.failure != NULL) return row.failure;
    return "";
}

/* The rows that have a mean, as bars. */
static int draw(const cli_command *command, const char *path, const stonet_results *results)
{
    const int64_t rows = stonet_results_rows(results);
    BLOCK svg_bar *bars = room_for(rows, sizeof *bars);
    __attribute__((cleanup(names_free))) name_list names = {0};
    for (int64_t i = 0; i < rows; i++) {
        stonet_result_row row;
        if (stonet_results_row(results, i, &row) != STONET_OK || !isfinite(row.mean)) continue;
        names_add(&names, row.dim > 0 ? text_of("%s %lld", row.method, (long long)row.dim)
                                      : text_of("%s auto", row.method));
        bars[names.count - 1] = (svg_bar){
            .name = names.text[names.count - 1], .value = row.mean, .error = isfinite(row.se) ? row.se : 0.0};
    }
    char label[96];
    snprintf(label, sizeof label, "%s, with its standard error", stonet_results_criterion(results));
    return output_plot(
        command, path,
        svg_render_bars("Methods and dimensions on the same splits", label, bars, (size_t)names.count));
}

static int compare_one(comparison *self, stonet_run *run)
{
    const cli_command *command = self->command;
    data_set *set = &self->set[0];
    TRY(outcome(command, compare_set(self, run, set)));
    TRY(output_results(command, &self->values->results, set->results, false));
    if (self->values->plot != NULL) TRY(draw(command, self->values->plot, set->results));
    if (stonet_results_outcome(set->results) == STONET_STOPPED)
        return say_error(command, "stopped before the end; these are the rows that were finished");
    if (stonet_results_best(set->results) >= 0) return EXIT_DONE;
    return say_error(command, "no fit succeeded; the first one failed with: %s", first_failure(set->results));
}

/* Which of the data sets is being worked on, for the progress line. */
typedef struct place {
    const char *path;
    int number, count;
} place;

static void on_progress(const stonet_progress *progress, void *user)
{
    const place *at = user;
    const char *slash = strrchr(at->path, '/');
    char stage[256];
    snprintf(stage, sizeof stage, "%s (%d of %d) %s", slash != NULL ? slash + 1 : at->path, at->number,
             at->count, progress->stage);
    stonet_progress placed = *progress;
    placed.stage = stage;
    progress_draw(&placed);
}

/* One data set of several: a failure is said, and not the end of the others. */
static int compare_next(comparison *self, int k, stonet_run *run, report *written)
{
    data_set *set = &self->set[k];
    place at = {.path = set->path, .number = k + 1, .count = self->count};
    run->user = &at;
    stonet_status status = compare_set(self, run, set);
    if (status != STONET_OK) return say_error(self->command, "%s: %s", set->path, stonet_last_error());
    report_add(written, set->path, set->data, set->results);
    if (stonet_results_best(set->results) >= 0) return EXIT_DONE;
    return say_error(self->command, "%s: no method could be fitted", set->path);
}

/* A table that fails does not stop the others: the status is that of the last failure. The summary at the end
   counts only the tables that were compared to their end. */
static int compare_all(comparison *self, stonet_run *run)
{
    const stonet_results *whole[MAX_OPERANDS];
    int64_t n_whole = 0;
    if (run->on_progress != NULL) run->on_progress = on_progress;
    report written;
    report_open(self->command, &self->values->results, &written);
    int result = EXIT_DONE;
    for (int k = 0; k < self->count && run->should_stop(NULL) == 0; k++) {
        int of_set = compare_next(self, k, run, &written);
        if (of_set != EXIT_DONE) result = of_set;
        const stonet_results *results = self->set[k].results;
        if (results != NULL && stonet_results_outcome(results) == STONET_DONE) whole[n_whole++] = results;
    }
    int closed = report_close(&written, whole, n_whole);
    if (run->should_stop(NULL) != 0 && n_whole < self->count)
        return say_error(self->command, "stopped before the end; %lld of %d data sets were finished",
                         (long long)n_whole, self->count);
    return result != EXIT_DONE ? result : closed;
}

/* All comparisons, with the checkpoint if --checkpoint is there. */
static int run_comparison(comparison *self)
{
    stonet_run run = run_of(&self->values->run);
    int result = open_checkpoint(self->command, &self->values->checkpoint, &run);
    if (result == EXIT_DONE) result = self->count > 1 ? compare_all(self, &run) : compare_one(self, &run);
    return close_checkpoint(self->command, &run, result);
}

/* All tables are read and all settings checked before the first fit, since a comparison may run for hours. */
static int compare(const cli_command *command, const cli_arguments *given, void *parsed)
{
    const compare_values *values = parsed;
    stonet_tune_options tuning = {.size = sizeof tuning,
                                  .folds = (int)values->tune_folds,
                                  .grid = values->grid.text,
                                  .n_grid = (int64_t)values->grid.count,
                                  .trials = values->trials};
    __attribute__((cleanup(free_comparison))) comparison self = {
        .command = command,
        .values = values,
        .how = {
            .size = sizeof self.how, .folds = (int)values->folds, .tuning = values->tune ? &tuning : NULL}};
    TRY(check_values(command, values, given->n_operands));
    TRY(parse_criterion(command, values->criterion, &self.how.criterion));
    TRY(read_sets(&self, given));
    TRY(make_all_specs(&self));
    if (self.count > 1) TRY(check_sets(&self));
    return run_comparison(&self);
}

const cli_command compare_command = {
    .name = "compare",
    .summary = "Compare methods and dimensions on the same splits",
    .on_ranks = true,
    .operands = "DATA..",
    .required = "(--target COL | --target-file FILE..) --methods a,b,c",
    .details =
        "Prints one row for each method and dimension: the mean of the criterion, its standard error, and "
        "the time. p is that of a paired t-test against the best row (marked *), corrected for folds that "
        "share rows. A method that fails says so in its row.\n\n"
        "With several DATA there is a block for each and then a summary: the mean rank of each row, and on "
        "how many data sets it is the best, or no worse than chance explains (p of 0.05 or more). JSON and "
        "CSV have the rows of all, with the data set in each. Ctrl-C prints what is finished.",
    OPTIONS_OF(options, compare_values),
    .examples =
        "  stonet compare train.csv --target y --methods none,sir,gsir,stonet --dim 1,2\n"
        "  stonet compare x.asc --target-file y.asc --methods sir,stonet --test xt.asc --test-target-file "
        "yt.asc\n"
        "  stonet compare train.csv --target y --methods ksir,stonet --tune --json --out compared.json\n"
        "  stonet compare a.csv b.csv c.csv --target y --methods all --dim 2 --tune",
    .run = compare,
};
