/*
 * Section 4.1: does a deep reduction find the same thing twice? Model M1, 100 rows; two fits from different
 * starting weights; a test whether the two Z are independent. The paper tells of one data set; here it is a
 * rejection rate.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "paper/experiments.h"
#include "paper/fits.h"
#include "paper/report.h"
#include "paper/statistics.h"

static const uint64_t permute_stream = (uint64_t)7 << 32 | 1;

enum { ROWS = 100, FULL_TRIALS = 50, QUICK_TRIALS = 4 };

/* Of "chance" both Z are the true index, one of them with its rows in another order: the level of the test.
 */
static const column columns[] = {
    {"nnsdr", "nnsdr", "hidden=512 learner=none", COLUMN_QUICK},
    {"stonet", "stonet", "hidden=10 activation=tanh", COLUMN_QUICK},
    {"stonet-long", "stonet", "hidden=10 activation=tanh epochs=1000 weight_decay=0", COLUMN_QUICK},
    {"chance", NULL, "permuted index", COLUMN_QUICK},
};
static const column_list all = {columns, sizeof columns / sizeof *columns};

/* Z (n x 1) of a fit from starting weights number `start`. */
static stonet_status fit_once(lab *self, const column *by, const stonet_data *data, uint64_t start, double *z)
{
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    float plain[ROWS];
    stonet_run run = lab_stonet_run(self, start);
    stonet_status status = fits_spec(by->method, 1, by->settings, &spec);
    if (status == STONET_OK) status = stonet_fit(spec, data, &run, &model);
    if (status == STONET_OK) status = stonet_transform(model, data, NULL, plain);
    for (size_t i = 0; i < ROWS && status == STONET_OK; i++) z[i] = (double)plain[i];
    stonet_model_free(model);
    stonet_spec_free(spec);
    return status;
}

static stonet_status permute(uint64_t seed, const double *from, double *to)
{
    int64_t order[ROWS];
    stonet_status status = stonet_permutation(seed, permute_stream, ROWS, order);
    for (size_t i = 0; i < ROWS && status == STONET_OK; i++) to[i] = from[order[i]];
    return status;
}

static stonet_status put_test(lab *self, const double *a, const double *b, json_t *values)
{
    stonet_independence_options how = STONET_INDEPENDENCE_OPTIONS_INIT;
    how.test = STONET_TEST_RIT;
    stonet_independence_result result;
    stonet_run run = lab_stonet_run(self, 9);
    const stonet_sides sides = {.n = ROWS, .dx = 1, .dy = 1, .x = a, .y = b};
    stonet_status status = stonet_independence(&sides, &how, &run, &result);
    if (status == STONET_OK) status = put_value(values, "p_value", result.p_value);
    return status == STONET_OK ? put_value(values, "rejected", result.p_value < 0.05) : status;
}

/* How much of the index T = b'x, and of the regression function cos T, is in the first Z. */
static stonet_status put_recovery(const double *z, const double *truth, json_t *values)
{
    double curve[ROWS];
    for (size_t i = 0; i < ROWS; i++) curve[i] = cos(truth[i]);
    stonet_status status = put_value(values, "index", fabs(correlation(ROWS, z, truth)));
    return status == STONET_OK ? put_value(values, "mean_function", fabs(correlation(ROWS, z, curve)))
                               : status;
}

static stonet_status compute(lab *self, const cell *what, void *user, json_t *values)
{
    (void)user;
    const column *by = columns_find(all, what->method);
    stonet_data *data = NULL;
    int64_t width = 0;
    uint64_t seed = (uint64_t)(self->options.seed * 100000 + what->trial);
    stonet_status status = stonet_generate("m1", ROWS, seed, &data);
    const double *truth = status == STONET_OK ? stonet_data_truth(data, &width) : NULL;
    double first[ROWS], second[ROWS];
    if (status == STONET_OK && by->method == NULL) {
        memcpy(first, truth, sizeof first);
        status = permute(seed, first, second);
    } else {
        if (status == STONET_OK) status = fit_once(self, by, data, 11, first);
        if (status == STONET_OK) status = fit_once(self, by, data, 12, second);
        if (status == STONET_OK) status = put_recovery(first, truth, values);
        if (status == STONET_OK)
            status = put_value(values, "agreement", fabs(correlation(ROWS, first, second)));
    }
    if (status == STONET_OK) status = put_test(self, first, second, values);
    stonet_data_free(data);
    return status;
}

static int experiment(lab *self)
{
    int result = columns_check(self, all);
    if (result != EXIT_DONE) return result;
    plan cells = {0};
    int64_t trials = lab_trials(self, FULL_TRIALS, QUICK_TRIALS);
    for (int64_t trial = 1; trial <= trials; trial++)
        columns_plan(self, all, &(cell_line){.row = "M1", .trial = trial}, &cells);
    static const measure measures[] = {
        {"rejected", "share of data sets in which independence of the two Z is rejected at 0.05", true},
        {"agreement", "absolute correlation of the two Z", true},
        {"index", "absolute correlation of Z with the true index b'x", true},
        {"mean_function", "absolute correlation of Z with cos(b'x)", true},
        {"p_value", "p-value of the test", false}};
    const report what = {
        .title = "Section 4.1: two fits of model M1",
        .measures = measures,
        .n_measures = sizeof measures / sizeof *measures,
        .columns = all,
        .notes = "The paper tells of one data set: p = 0.4068 for nnsdr (not rejected) and p = 0.012 for "
                 "the StoNet (rejected).\nchance: the index against itself in another order, the level "
                 "of the test.\n"};
    return report_run(self, &cells, &what, compute, NULL);
}

static const cli_option options[] = {LAB_OPTIONS("Data sets; 50 when not given (4 with --quick)")};

static int run(const cli_command *command, int argc, char **argv)
{
    return lab_do(command, argc, argv, experiment);
}

const cli_command m1_command = {
    .program = "stonet-paper",
    .name = "m1",
    .summary = "Model M1: do two fits find the same Z? NNSDR and StoNet",
    .operands = "",
    .details = "Methods: nnsdr, stonet (chooses epochs and weight decay itself), stonet-long (1000 epochs, "
               "no decay),\n"
               "chance. Needs no data folder.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = "  stonet-paper m1 --out results",
    .run = run,
};
