/* Table 2: MNIST. A DNN and multinomial regression on Z, the network's own output, and times. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/say.h"
#include "paper/datasets.h"
#include "paper/experiments.h"
#include "paper/presets.h"
#include "paper/report.h"

/* The weight decay is the best of 0, .001, .003 and .01 by cross-validation on the training images, with one
   hidden layer (q = 49) and with two (q = 10). */
#define RELU_NETWORK                                                                                         \
    "activation=relu lr=0.02 epochs=20 batch=128 s_out=1e-4 rho=0.1 tau=0.1 weight_decay=0.003 scale=common"

/* The kernel methods take 2000 landmarks: all pairs of 20,000 images would not fit into memory. */
static const struct {
    const char *name, *method, *settings;
    bool scales; /* to all 60,000 images */
} columns[] = {
    {"stonet", "stonet", "hidden=none " RELU_NETWORK, true},
    {"stonet-deep", "stonet", "hidden=200 " RELU_NETWORK, true},
    {"stonet-paper", "stonet", preset_mnist, true},
    {"gsir", "gsir", "learner=none landmarks=2000 scale=common", true},
    {"gsave", "gsave", "learner=none landmarks=2000 scale=common", false},
    {"autoencoder", "autoencoder", "learner=none hidden=400 epochs=20 batch=128 rate=0.001 scale=common",
     true},
    {"pca", "pca", "learner=none scale=common", true},
    {"none", "none", "learner=none scale=common", true},
    {"lsmie", "lsmie", "learner=none scale=common", false},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* The images of the row at work. */
typedef struct images {
    char row[ROW_SIZE];
    split parts;
} images;

static size_t find_column(const char *name)
{
    size_t at = 0;
    while (at + 1 < N_COLUMNS && strcmp(columns[at].name, name) != 0) at++;
    return at;
}

static stonet_status load_row(const lab *self, const char *row, images *held)
{
    if (strcmp(held->row, row) == 0) return STONET_OK;
    split_free(&held->parts);
    held->row[0] = '\0';
    int64_t per_class = strcmp(row, "60000") == 0 ? 0 : strcmp(row, "20000") == 0 ? 2000 : 500;
    stonet_status status = mnist_split(self, per_class, &held->parts);
    if (status == STONET_OK) snprintf(held->row, sizeof held->row, "%s", row);
    return status;
}

static stonet_status score_heads(lab *self, const cell *what, const stonet_model *model, const split *parts,
                                 json_t *values)
{
    static const char full[] =
        "learner=mlp learner.hidden=50 learner.epochs=300 learner.batch=128 learner.rate=0.01";
    static const char quick[] =
        "learner=mlp learner.hidden=50 learner.epochs=30 learner.batch=128 learner.rate=0.01";
    bool is_stonet = strcmp(columns[find_column(what->method)].method, "stonet") == 0;
    stonet_scores scores;
    stonet_status status = STONET_OK;
    if (is_stonet) status = stonet_score(model, parts->test, &scores);
    if (status == STONET_OK && is_stonet) put_value(values, "error_own", scores.error_rate);
    reduced_split reduced = {0};
    if (status == STONET_OK) status = fits_reduce(model, parts, is_stonet, &reduced);
    if (status == STONET_OK)
        status = fits_head(self, &reduced.parts, self->options.quick ? quick : full, &scores);
    if (status == STONET_OK) put_value(values, "error_dnn", scores.error_rate);
    if (status == STONET_OK && is_stonet) {
        status = fits_head(self, &reduced.parts, "learner=logistic", &scores);
        if (status == STONET_OK) put_value(values, "error_logistic", scores.error_rate);
    }
    reduced_split_free(&reduced);
    return status;
}

static stonet_status compute(lab *self, const cell *what, void *user, json_t *values)
{
    images *held = user;
    size_t column = find_column(what->method);
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    stonet_status status = load_row(self, what->row, held);
    if (status != STONET_OK) return status;
    int64_t q = what->q > 0 ? what->q : stonet_data_columns(held->parts.train);
    status = fits_spec(columns[column].method, q, columns[column].settings, &spec);
    stonet_run run = lab_stonet_run(self, 2);
    double start = progress_clock();
    if (status == STONET_OK) status = stonet_fit(spec, held->parts.train, &run, &model);
    if (status == STONET_OK) put_value(values, "seconds_reduction", progress_clock() - start);
    if (status == STONET_OK) status = score_heads(self, what, model, &held->parts, values);
    stonet_model_free(model);
    stonet_spec_free(spec);
    return status;
}

static void add_cells(const lab *self, const char *row, int64_t trial, plan *cells)
{
    static const int64_t dims[] = {392, 196, 98, 49, 10};
    bool all = strcmp(row, "60000") == 0;
    for (size_t m = 0; m < N_COLUMNS; m++) {
        if (!lab_wants(self, columns[m].name) || (all && !columns[m].scales)) continue;
        if (self->options.quick && strcmp(columns[m].name, "lsmie") == 0) continue;
        bool reduces = strcmp(columns[m].method, "none") != 0;
        for (size_t k = self->options.quick && reduces ? 3 : 0; k < (reduces ? 5 : 1); k++) {
            cell what = {.q = reduces ? dims[k] : 0, .trial = trial};
            snprintf(what.row, sizeof what.row, "%s", row);
            snprintf(what.method, sizeof what.method, "%s", columns[m].name);
            snprintf(what.settings, sizeof what.settings, "%s", columns[m].settings);
            plan_add(cells, &what);
        }
    }
}

static int experiment(lab *self)
{
    const char *names[N_COLUMNS];
    for (size_t m = 0; m < N_COLUMNS; m++) names[m] = columns[m].name;
    int result = lab_check_methods(self, names, N_COLUMNS);
    if (result != EXIT_DONE) return result;
    if (!has_file(self, "mnist/train-images-idx3-ubyte.gz"))
        return lab_skip(self, "MNIST is not in the data folder (give --data DIR)");
    plan cells = {0};
    int64_t trials = lab_trials(self, 1, 1);
    for (int64_t trial = 1; trial <= trials; trial++) {
        add_cells(self, self->options.quick ? "5000" : "20000", trial, &cells);
        if (!self->options.quick) add_cells(self, "60000", trial, &cells);
    }
    static const measure measures[] = {
        {"error_dnn", "test error rate of the DNN (50 tanh units) on Z", false},
        {"error_logistic", "test error rate of multinomial regression on Z", false},
        {"error_own", "test error rate of the network's own output", false},
        {"seconds_reduction", "seconds to fit the reduction", false}};
    const report what = {
        .title = "Table 2: MNIST",
        .measures = measures,
        .n_measures = 4,
        .methods = names,
        .n_methods = N_COLUMNS,
        .notes = "stonet: one hidden layer of q relu units; stonet-deep: 200 units before it; "
                 "stonet-paper: the paper's settings;\nnone: the DNN on the images. Rows: number of "
                 "training images. The paper's average times: StoNet 96 s, GSIR 16006 s,\nGSAVE 22154 s, "
                 "autoencoder 1809 s, PCA 5 s.\n"};
    images held = {0};
    result = lab_run(self, &cells, compute, &held);
    split_free(&held.parts);
    int written = report_write(self, &cells, &what);
    plan_free(&cells);
    return result != EXIT_DONE ? result : written;
}

static const cli_option options[] = {LAB_OPTIONS("Fits with different random numbers; 1 when not given")};

static int run(const cli_command *command, int argc, char **argv)
{
    lab self;
    int result;
    if (lab_open(&self, command, argc, argv, &result)) result = experiment(&self);
    lab_close(&self);
    return result;
}

const cli_command table2_command = {
    .program = "stonet-paper",
    .name = "table2",
    .summary = "MNIST: 20,000 and 60,000 images, a DNN on Z",
    .operands = "",
    .details = "Methods: stonet, stonet-deep, stonet-paper, gsir, gsave, autoencoder, pca, none, lsmie. With "
               "--quick:\n"
               "5,000 images, q = 49 and 10.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = "  stonet-paper table2 --data data --out results --methods stonet,pca,none",
    .run = run,
};
