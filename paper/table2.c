/* Table 2: MNIST. A DNN and multinomial regression on Z, the network's own output, and times. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/say.h"
#include "paper/datasets.h"
#include "paper/experiments.h"
#include "paper/heads.h"
#include "paper/presets.h"
#include "paper/report.h"

/* The weight decay is the best of 0, .001, .003 and .01 by cross-validation on the training images, with one
   hidden layer (q = 49) and with two (q = 10). */
#define RELU_NETWORK                                                                                         \
    "activation=relu lr=0.02 epochs=20 batch=128 s_out=1e-4 rho=0.1 tau=0.1 weight_decay=0.003 scale=common"

/* GSIR and GSAVE with all pairs of the 20,000 images, which takes 3 and 7 GiB; of 60,000 they would take nine
   times as much. In the quick form LSMIE's long search is left out. */
static const column columns[] = {
    {"stonet", "stonet", "hidden=none " RELU_NETWORK, COLUMN_QUICK | COLUMN_LARGE},
    {"stonet-deep", "stonet", "hidden=200 " RELU_NETWORK, COLUMN_QUICK | COLUMN_LARGE},
    {"stonet-paper", "stonet", preset_mnist, COLUMN_QUICK | COLUMN_LARGE},
    {"lsmie", "lsmie", "learner=none scale=common", 0},
    {"gsir", "gsir", "learner=none ex=0.1 scale=common", COLUMN_QUICK | COLUMN_NESTED},
    {"gsave", "gsave", "learner=none scale=common", COLUMN_QUICK | COLUMN_NESTED},
    {"autoencoder", "autoencoder", "learner=none hidden=400 epochs=20 batch=128 rate=0.001 scale=common",
     COLUMN_QUICK | COLUMN_LARGE},
    {"pca", "pca", "learner=none scale=common", COLUMN_QUICK | COLUMN_LARGE | COLUMN_NESTED},
    {"none", "none", "learner=none scale=common", COLUMN_QUICK | COLUMN_LARGE},
};
static const column_list all = {columns, sizeof columns / sizeof *columns};

/* The paper's DNN. */
#define DNN(epochs)                                                                                          \
    "learner=mlp learner.hidden=50 learner.epochs=" epochs " learner.batch=128 learner.rate=0.01"
static const heads full = {DNN("300"), "learner=logistic"}, quick = {DNN("30"), "learner=logistic"};

/* The images of the row at work, and their last reduction. */
typedef struct images {
    char row[ROW_SIZE];
    split parts;
    kept_reduction reduction;
} images;

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

static const heads *heads_of(const lab *self)
{
    return self->options.quick ? &quick : &full;
}

static stonet_status compute(lab *self, const cell *what, void *user, json_t *values)
{
    images *held = user;
    head_scores scores;
    stonet_status status = load_row(self, what->row, held);
    if (status == STONET_OK)
        status = heads_score(self, what, columns_find(all, what->method), heads_of(self), &held->parts,
                             &held->reduction, &scores);
    if (status == STONET_OK) status = put_value(values, "seconds_reduction", scores.seconds);
    if (status == STONET_OK) status = put_value(values, "processor_reduction", scores.processor_seconds);
    if (status == STONET_OK && scores.has_own) status = put_value(values, "error_own", scores.own.error_rate);
    if (status == STONET_OK) status = put_value(values, "error_dnn", scores.dnn.error_rate);
    if (status == STONET_OK) status = put_value(values, "error_logistic", scores.plain.error_rate);
    return status;
}

static void add_cells(const lab *self, const char *row, int64_t trial, unsigned needs, plan *cells)
{
    static const int64_t dims[] = {392, 196, 98, 49, 10};
    enum { N_DIMS = sizeof dims / sizeof *dims };
    size_t skipped = self->options.quick ? N_DIMS - 2 : 0;
    cell_line of = {
        .row = row, .trial = trial, .dims = dims + skipped, .n_dims = N_DIMS - skipped, .needs = needs};
    columns_plan(self, all, &of, cells);
}

static int experiment(lab *self)
{
    int result = columns_check(self, all);
    if (result != EXIT_DONE) return result;
    if (!has_file(self, "mnist/train-images-idx3-ubyte.gz"))
        return lab_skip(self, "MNIST is not in the data folder (give --data DIR)");
    plan cells = {0};
    int64_t trials = lab_trials(self, 1, 1);
    for (int64_t trial = 1; trial <= trials; trial++) {
        add_cells(self, self->options.quick ? "5000" : "20000", trial, 0, &cells);
        if (!self->options.quick) add_cells(self, "60000", trial, COLUMN_LARGE, &cells);
    }
    static const measure measures[] = {
        {"error_dnn", "test error rate of the DNN (50 tanh units) on Z", false},
        {"error_logistic", "test error rate of multinomial regression on Z", false},
        {"error_own", "test error rate of the network's own output", false},
        {"seconds_reduction", "seconds to fit the reduction", false},
        {"processor_reduction", "processor seconds to fit the reduction, all cores together", false}};
    const report what = {
        .title = "Table 2: MNIST",
        .measures = measures,
        .n_measures = sizeof measures / sizeof *measures,
        .columns = all,
        .notes = "stonet: one hidden layer of q relu units; stonet-deep: 200 units before it; "
                 "stonet-paper: the paper's settings;\nnone: the DNN on the images. Rows: number of "
                 "training images. The paper's average times: StoNet 96 s, GSIR 16006 s,\nGSAVE 22154 s, "
                 "autoencoder 1809 s, PCA 5 s.\n"};
    images held = {0};
    result = report_run(self, &cells, &what, compute, &held);
    kept_reduction_free(&held.reduction);
    split_free(&held.parts);
    return result;
}

static const cli_option options[] = {LAB_OPTIONS("Fits with different random numbers; 1 when not given")};

static int run(const cli_command *command, int argc, char **argv)
{
    return lab_do(command, argc, argv, experiment);
}

const cli_command table2_command = {
    .program = "stonet-paper",
    .name = "table2",
    .summary = "MNIST: 20,000 and 60,000 images, a DNN on Z",
    .operands = "",
    .details = "Methods: stonet, stonet-deep, stonet-paper, lsmie, gsir, gsave, autoencoder, pca, none. With "
               "--quick:\n"
               "5,000 images, q = 49 and 10.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = "  stonet-paper table2 --data data --out results --methods stonet,pca,none",
    .run = run,
};
