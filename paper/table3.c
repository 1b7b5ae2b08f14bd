/*
 * Table 3: regression. The CT slices where the data folder has all of them, split by rows as in the paper and
 * by patient; otherwise the same experiment on two other sets. A DNN and linear regression on Z.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/say.h"
#include "paper/datasets.h"
#include "paper/experiments.h"
#include "paper/presets.h"
#include "paper/report.h"

static const struct {
    const char *name, *method, *settings;
} columns[] = {
    {"stonet", "stonet", "activation=tanh lr=0.05"},
    {"stonet-paper", "stonet", preset_ct},
    {"autoencoder", "autoencoder", "learner=none hidden=200 epochs=20 batch=800 rate=0.01"},
    {"pca", "pca", "learner=none"},
    {"none", "none", "learner=none"},
};
enum {
    N_COLUMNS = sizeof columns / sizeof *columns,
    FULL_TRIALS = 10,
    FOLDS = 3,
    QUICK_POINTS = 2,
    STARTS = 3
};

/* The split at work, and the CT slices when they are there. */
typedef struct held_data {
    char row[ROW_SIZE];
    int64_t trial;
    split parts;
    ct_table ct;
} held_data;

static size_t find_column(const char *name)
{
    size_t at = 0;
    while (at + 1 < N_COLUMNS && strcmp(columns[at].name, name) != 0) at++;
    return at;
}

static stonet_status load(const lab *self, const cell *what, held_data *held)
{
    if (held->trial == what->trial && strcmp(held->row, what->row) == 0) return STONET_OK;
    split_free(&held->parts);
    held->trial = 0;
    stonet_status status;
    if (strncmp(what->row, "ct-", 3) == 0)
        status = ct_split(self, &held->ct, strcmp(what->row, "ct-patients") == 0, what->trial, &held->parts);
    else
        status = uci_fold(self, what->row, what->trial, &held->parts);
    if (status != STONET_OK) return status;
    held->trial = what->trial;
    memcpy(held->row, what->row, sizeof held->row);
    return STONET_OK;
}

/* The squared range of the response, for an MSE of a response scaled to 0..1. */
static double squared_range(const stonet_data *data)
{
    int64_t m = 0, n = stonet_data_rows(data);
    const double *y = stonet_data_targets(data, &m);
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (int64_t i = 0; i < n; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    return (high - low) * (high - low);
}

static stonet_status score_heads(lab *self, const cell *what, const stonet_model *model, const split *parts,
                                 json_t *values)
{
    static const char full[] =
        "learner=mlp learner.hidden=100 learner.epochs=300 learner.batch=32 learner.rate=0.03 "
        "learner.momentum=0";
    static const char quick[] =
        "learner=mlp learner.hidden=100 learner.epochs=10 learner.batch=32 learner.rate=0.03 "
        "learner.momentum=0";
    bool is_stonet = strcmp(columns[find_column(what->method)].method, "stonet") == 0;
    stonet_scores scores;
    stonet_status status = STONET_OK;
    if (is_stonet) status = stonet_score(model, parts->test, &scores);
    if (status == STONET_OK && is_stonet) put_value(values, "mse_own", scores.mse_scaled);
    reduced_split reduced = {0};
    if (status == STONET_OK) status = fits_reduce(model, parts, is_stonet, &reduced);
    if (status == STONET_OK)
        status = fits_head(self, &reduced.parts, self->options.quick ? quick : full, &scores);
    if (status == STONET_OK) {
        put_value(values, "mse", scores.mse_scaled);
        put_value(values, "mse_unit", scores.mse / squared_range(parts->train));
        put_value(values, "correlation", scores.correlation);
    }
    if (status == STONET_OK && is_stonet) {
        status = fits_head(self, &reduced.parts, "learner=linear", &scores);
        if (status == STONET_OK) put_value(values, "mse_linear", scores.mse_scaled);
    }
    reduced_split_free(&reduced);
    return status;
}

/* The fit with the smallest training error of a few starts: now and then one stays at the constant. */
static stonet_status fit_best(lab *self, const stonet_spec *spec, const stonet_data *train, int starts,
                              stonet_model **out)
{
    stonet_status status = STONET_OK;
    double best = (double)INFINITY;
    for (int k = 0; k < starts && status == STONET_OK; k++) {
        stonet_model *model = NULL;
        stonet_run run = lab_stonet_run(self, 20 + (uint64_t)k);
        stonet_scores scores = {0};
        status = stonet_fit(spec, train, &run, &model);
        if (status == STONET_OK && starts > 1) status = stonet_score(model, train, &scores);
        if (status != STONET_OK || !(scores.mse < best)) {
            stonet_model_free(model);
            continue;
        }
        best = scores.mse;
        stonet_model_free(*out);
        *out = model;
    }
    return status;
}

static stonet_status compute(lab *self, const cell *what, void *user, json_t *values)
{
    held_data *held = user;
    size_t column = find_column(what->method);
    static const grid nothing = {0};
    const tuning by = {.folds = FOLDS, .points = self->options.quick ? QUICK_POINTS : 0};
    const grid *over = strcmp(what->method, "stonet") == 0 ? &table3_grid : &nothing;
    stonet_spec *start = NULL, *spec = NULL;
    stonet_model *model = NULL;
    stonet_status status = load(self, what, held);
    if (status != STONET_OK) return status;
    int64_t q = what->q > 0 ? what->q : stonet_data_columns(held->parts.train);
    status = fits_spec(columns[column].method, q, columns[column].settings, &start);
    if (status == STONET_OK) status = fits_tuned(self, start, held->parts.train, over, &by, &spec);
    if (status == STONET_OK)
        status = fit_best(self, spec, held->parts.train, over->count > 0 ? STARTS : 1, &model);
    if (status == STONET_OK) status = score_heads(self, what, model, &held->parts, values);
    stonet_model_free(model);
    stonet_spec_free(spec);
    stonet_spec_free(start);
    return status;
}

static void describe(const lab *self, size_t column, cell *what)
{
    size_t used = (size_t)snprintf(what->settings, sizeof what->settings, "%s", columns[column].settings);
    if (strcmp(what->method, "stonet") != 0) return;
    used += (size_t)snprintf(what->settings + used, sizeof what->settings - used,
                             " tuned by %d folds%s, best of %d starts:", FOLDS,
                             self->options.quick ? ", 2 points" : "", STARTS);
    for (int64_t i = 0; i < table3_grid.count; i++)
        used += (size_t)snprintf(what->settings + used, sizeof what->settings - used, " %s",
                                 table3_grid.entry[i]);
}

static void add_cells(const lab *self, const char *row, int64_t trial, plan *cells)
{
    static const int64_t ct_dims[] = {192, 96, 48, 24, 12, 6, 3}, other_dims[] = {12, 6, 3, 2, 1};
    bool is_ct = strncmp(row, "ct-", 3) == 0;
    const int64_t *dims = is_ct ? ct_dims : other_dims;
    size_t n_dims = is_ct ? 7 : 5;
    for (size_t m = 0; m < N_COLUMNS; m++) {
        if (!lab_wants(self, columns[m].name)) continue;
        if (self->options.quick && strcmp(columns[m].name, "stonet-paper") == 0) continue;
        bool reduces = strcmp(columns[m].method, "none") != 0;
        for (size_t k = self->options.quick && reduces ? n_dims - 2 : 0; k < (reduces ? n_dims : 1); k++) {
            cell what = {.q = reduces ? dims[k] : 0, .trial = trial};
            snprintf(what.row, sizeof what.row, "%s", row);
            snprintf(what.method, sizeof what.method, "%s", columns[m].name);
            describe(self, m, &what);
            plan_add(cells, &what);
        }
    }
}

/* The data sets that are there; gives how many. */
static size_t choose_rows(const lab *self, held_data *held, const char *rows[2])
{
    if (ct_read(self, &held->ct) == STONET_OK) {
        rows[0] = "ct-rows";
        rows[1] = "ct-patients";
        return 2;
    }
    printf("%s: other regression sets take their place\n", stonet_last_error());
    size_t count = 0;
    if (has_file(self, "uci-pumadyn32nm/data.csv.gz")) rows[count++] = "pumadyn32nm";
    if (has_file(self, "uci-keggundirected/data.csv.gz") && !self->options.quick)
        rows[count++] = "keggundirected";
    return count;
}

static int experiment(lab *self)
{
    const char *names[N_COLUMNS], *rows[2];
    for (size_t m = 0; m < N_COLUMNS; m++) names[m] = columns[m].name;
    int result = lab_check_methods(self, names, N_COLUMNS);
    if (result != EXIT_DONE) return result;
    held_data held = {0};
    size_t n_rows = choose_rows(self, &held, rows);
    if (n_rows == 0) return lab_skip(self, "the data folder has no regression set (give --data DIR)");
    plan cells = {0};
    int64_t trials = lab_trials(self, FULL_TRIALS, 1);
    for (size_t i = 0; i < n_rows; i++)
        for (int64_t trial = 1; trial <= trials; trial++) add_cells(self, rows[i], trial, &cells);
    static const measure measures[] = {
        {"mse", "test MSE of the DNN (100 tanh units) on Z, in units of the variance of y", false},
        {"mse_unit", "the same for y scaled to 0..1, as the paper has it", false},
        {"correlation", "correlation of the DNN's prediction with y", true},
        {"mse_linear", "test MSE of linear regression on Z, in units of the variance of y", false},
        {"mse_own", "test MSE of the network's own output, in units of the variance of y", false}};
    const report what = {.title = "Table 3: regression",
                         .measures = measures,
                         .n_measures = sizeof measures / sizeof *measures,
                         .methods = names,
                         .n_methods = N_COLUMNS,
                         .notes =
                             "stonet: two hidden layers, tuned by cross-validation inside the training part, "
                             "the best of three starts by training error; "
                             "stonet-paper: the paper's\nsettings for the CT slices; none: the DNN on x.\n"};
    result = lab_run(self, &cells, compute, &held);
    split_free(&held.parts);
    ct_free(&held.ct);
    int written = report_write(self, &cells, &what);
    plan_free(&cells);
    return result != EXIT_DONE ? result : written;
}

static const cli_option options[] = {
    LAB_OPTIONS("Splits or folds, at most 10 for the sets with folds; 10 (1 with "
                "--quick) when not given")};

static int run(const cli_command *command, int argc, char **argv)
{
    lab self;
    int result;
    if (lab_open(&self, command, argc, argv, &result)) result = experiment(&self);
    lab_close(&self);
    return result;
}

const cli_command table3_command = {
    .program = "stonet-paper",
    .name = "table3",
    .summary = "Regression: CT slices, or pumadyn32nm and keggundirected, a DNN on Z",
    .operands = "",
    .details = "Methods: stonet, stonet-paper, autoencoder, pca, none.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = "  stonet-paper table3 --data data --out results --trials 1",
    .run = run,
};
