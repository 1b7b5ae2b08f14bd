/* Table 1: six binary sets, two dimensions each, logistic regression on Z. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/say.h"
#include "paper/datasets.h"
#include "paper/experiments.h"
#include "paper/presets.h"
#include "paper/report.h"

static const column columns[] = {
    {"stonet", "stonet", "activation=tanh batch=64 s_out=1e-4 output=refit", COLUMN_QUICK},
    {"stonet-paper", "stonet", NULL, COLUMN_QUICK},
    {"lsmie", "lsmie", "learner=logistic", 0},
    {"gsir", "gsir", "learner=logistic", COLUMN_QUICK},
    {"gsave", "gsave", "learner=logistic", COLUMN_QUICK},
    {"kdr", "kdr", "learner=logistic", 0}, /* a long search: left to the full form */
    {"sir", "sir", "learner=logistic", COLUMN_QUICK},
    {"save", "save", "learner=logistic", COLUMN_QUICK},
    {"pca", "pca", "learner=logistic", COLUMN_QUICK},
    {"none", "none", "learner=logistic", COLUMN_QUICK},
};
static const column_list all = {columns, sizeof columns / sizeof *columns};
enum { FULL_TRIALS = 20 };

/* By log loss: on folds of thirty rows the error rate hardly tells one point of a grid from the next. */
static const tuning full = {.folds = 5, .criterion = STONET_CRITERION_LOG_LOSS};
static const tuning quick = {.folds = 3, .points = 6, .criterion = STONET_CRITERION_LOG_LOSS};

static const binary_set *find_set(const char *name)
{
    for (size_t i = 0; i < BINARY_SETS; i++)
        if (strcmp(binary_sets[i].name, name) == 0) return &binary_sets[i];
    return &binary_sets[0];
}

/* Error rate on the test part of logistic regression on Z (psi(Z) for a StoNet): that of the model itself,
   for a StoNet whose output layer has been refitted too. The paper's StoNet has an error rate of its own
   beside it. */
static stonet_status score(lab *self, const column *by, const stonet_model *model, const split *parts,
                           json_t *values)
{
    stonet_scores scores = STONET_SCORES_INIT;
    stonet_status status = stonet_score(model, parts->test, NULL, &scores);
    if (status != STONET_OK) return status;
    if (strcmp(by->name, "stonet-paper") != 0) return put_value(values, "error", scores.error_rate);
    reduced_split reduced;
    status = put_value(values, "error_own", scores.error_rate);
    if (status == STONET_OK) status = fits_reduce(model, parts, true, &reduced);
    if (status != STONET_OK) return status;
    status = fits_head(self, &reduced.parts, "learner=logistic", &scores);
    if (status == STONET_OK) status = put_value(values, "error", scores.error_rate);
    reduced_split_free(&reduced);
    return status;
}

static stonet_status compute(lab *self, const cell *what, void *user, json_t *values)
{
    (void)user;
    const column *by = columns_find(all, what->method);
    split parts;
    stonet_spec *start = NULL, *chosen = NULL;
    stonet_model *model = NULL;
    char room[64];
    grid over;
    stonet_status status = binary_split(self, what->row, what->trial, &parts);
    if (status != STONET_OK) return status;
    table1_grid(what->method, stonet_data_rows(parts.train), room, &over);
    status = fits_spec(by->method, what->q > 0 ? what->q : stonet_data_columns(parts.train),
                       by->settings != NULL ? by->settings : find_set(what->row)->stonet, &start);
    if (status == STONET_OK)
        status = fits_tuned(self, start, parts.train, &over, self->options.quick ? &quick : &full, &chosen);
    stonet_run run = lab_stonet_run(self, 2);
    if (status == STONET_OK) status = stonet_fit(chosen, parts.train, &run, &model);
    if (status == STONET_OK) status = score(self, by, model, &parts, values);
    if (status == STONET_OK && over.count > 0) {
        char *json = stonet_spec_json(chosen);
        if (json == NULL || json_object_set_new(values, "chosen", json_loads(json, 0, NULL)) != 0)
            status = out_of_memory();
        stonet_string_free(json);
    }
    stonet_model_free(model);
    stonet_spec_free(chosen);
    stonet_spec_free(start);
    split_free(&parts);
    return status;
}

/* The settings text says how a cell is tuned, so that other grids make other cells. */
static void describe(const lab *self, const column *by, cell *what)
{
    if (by->settings == NULL) {
        snprintf(what->settings, sizeof what->settings, "%s", find_set(what->row)->stonet);
        return;
    }
    char room[64];
    grid over;
    table1_grid(what->method, 64, room, &over);
    size_t used = (size_t)snprintf(what->settings, sizeof what->settings, "%s",
                                   over.count == 0       ? "untuned"
                                   : self->options.quick ? "3 folds by log loss, 6 points"
                                                         : "5 folds by log loss");
    if (over.within > 0.0)
        used += (size_t)snprintf(what->settings + used, sizeof what->settings - used,
                                 ", the first within %g standard errors, %s", over.within, by->settings);
    for (int64_t i = 0; i < over.count; i++)
        used += (size_t)snprintf(what->settings + used, sizeof what->settings - used, " %s", over.entry[i]);
}

static int experiment(lab *self)
{
    int result = columns_check(self, all);
    if (result != EXIT_DONE) return result;
    plan cells = {0};
    int64_t first = self->options.first, end = first + lab_trials(self, FULL_TRIALS, 1);
    for (size_t i = 0; i < BINARY_SETS; i++)
        if (!has_file(self, binary_sets[i].name))
            printf("%s is skipped: it is not in the data folder\n", binary_sets[i].name);
    for (int64_t trial = first; trial < end; trial++)
        for (size_t i = 0; i < BINARY_SETS; i++) {
            const binary_set *set = &binary_sets[i];
            if (!has_file(self, set->name)) continue;
            cell_line of = {
                .row = set->name, .trial = trial, .dims = set->q, .n_dims = 2, .describe = describe};
            columns_plan(self, all, &of, &cells);
        }
    if (cells.count == 0)
        return lab_skip(self, "none of the binary sets is in the data folder (give --data DIR)");
    static const measure measures[] = {{"error", "test error rate of logistic regression on Z", false},
                                       {"error_own", "test error rate of the network's own output", false}};
    const report what = {
        .title = "Table 1: six binary sets",
        .measures = measures,
        .n_measures = 2,
        .columns = all,
        .notes = "stonet: one or two hidden layers, tuned; stonet-paper: the paper's settings; none: "
                 "logistic regression on x.\n"};
    return report_run(self, &cells, &what, compute, NULL);
}

static const cli_option options[] = {LAB_OPTIONS("Splits of each set; 20 when not given (1 with --quick)"),
                                     {.name = "first",
                                      .kind = OPTION_INTEGER,
                                      .offset = offsetof(lab_options, first),
                                      .argument = "K",
                                      .initial = "1",
                                      .low = 1,
                                      .high = 1000000,
                                      .help =
                                          "Number of the first split; those that the data folder does not "
                                          "have are random partitions"}};

static int run(const cli_command *command, int argc, char **argv)
{
    return lab_do(command, argc, argv, experiment);
}

const cli_command table1_command = {
    .program = "stonet-paper",
    .name = "table1",
    .summary = "Six binary sets: StoNet and seven other methods, logistic regression on Z",
    .operands = "",
    .details = "Each method is tuned by the log loss of 5-fold cross-validation inside each training part. "
               "Methods: stonet,\n"
               "stonet-paper, lsmie, gsir, gsave, kdr, sir, save, pca, none.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = "  stonet-paper table1 --data data --out results\n"
                "  stonet-paper table1 --data data --out results --methods stonet,gsir --trials 10\n"
                "  stonet-paper table1 --data data --out other --first 201",
    .run = run,
};
