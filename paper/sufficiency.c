/*
 * How much of a reduction that is known each method finds, where the spread of the response depends on x too:
 * the models of Tang and Li's BENN. Distance correlation of Z with the truth on fresh rows. The lines of the
 * table are numbers of training rows, in the place of dimensions.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "paper/experiments.h"
#include "paper/fits.h"
#include "paper/report.h"

enum { FRESH_ROWS = 1000, FULL_TRIALS = 20, QUICK_TRIALS = 2 };

static const column columns[] = {
    {"stonet", "stonet", "", COLUMN_QUICK},
    {"ensemble", "stonet", "response=ensemble", COLUMN_QUICK},
    {"location-scale", "stonet", "response=location-scale", COLUMN_QUICK},
    {"gsir", "gsir", "learner=none", COLUMN_QUICK},
    {"gsave", "gsave", "learner=none", 0},
    {"nnsdr", "nnsdr", "", 0},
    {"benn", "benn", "learner=none", 0},
    {"gmddnet", "gmddnet", "learner=none", 0},
    {"sir", "sir", "learner=none", COLUMN_QUICK},
    {"dr", "dr", "learner=none", COLUMN_QUICK},
};
static const column_list all = {columns, sizeof columns / sizeof *columns};

/* The models and the number of their sufficient predictors. */
static const struct {
    const char *generator;
    int64_t dim;
    unsigned needs;
} models[] = {
    {"location-scale", 2, COLUMN_QUICK},
    {"scale", 1, COLUMN_QUICK},
    {"location-scale-ratio", 2, 0},
    {"mean-ratio", 1, 0},
    {"mean-square", 1, 0},
    {"mean-log", 1, 0},
};
enum { N_MODELS = sizeof models / sizeof *models };

static int64_t dim_of(const char *row)
{
    size_t k = 0;
    while (k + 1 < N_MODELS && strcmp(models[k].generator, row) != 0) k++;
    return models[k].dim;
}

/* Distance correlation of the model's Z of fresh rows with their truth. */
static stonet_status recovery(lab *self, const stonet_model *model, const stonet_data *fresh, double *out)
{
    int64_t width = 0;
    const int64_t q = stonet_model_dim(model);
    const double *truth = stonet_data_truth(fresh, &width);
    float *z = malloc((size_t)(FRESH_ROWS * q) * sizeof *z);
    double *wide = malloc((size_t)(FRESH_ROWS * q) * sizeof *wide);
    stonet_status status = z != NULL && wide != NULL ? STONET_OK : out_of_memory();
    if (status == STONET_OK) status = stonet_transform(model, fresh, NULL, z);
    for (int64_t k = 0; k < FRESH_ROWS * q && status == STONET_OK; k++) wide[k] = (double)z[k];
    stonet_independence_options how = STONET_INDEPENDENCE_OPTIONS_INIT;
    how.test = STONET_TEST_DCOR;
    how.permutations = 1; /* the correlation is wanted, not its p-value */
    const stonet_sides sides = {.n = FRESH_ROWS, .dx = q, .dy = width, .x = wide, .y = truth};
    stonet_independence_result found = {0};
    stonet_run run = lab_stonet_run(self, 3);
    if (status == STONET_OK) status = stonet_independence(&sides, &how, &run, &found);
    *out = found.statistic;
    free(z);
    free(wide);
    return status;
}

static stonet_status compute(lab *self, const cell *what, void *user, json_t *values)
{
    (void)user;
    const column *by = columns_find(all, what->method);
    const uint64_t seed = (uint64_t)(self->options.seed * 1000000 + what->trial);
    stonet_data *train = NULL, *fresh = NULL;
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    stonet_scores scores = STONET_SCORES_INIT;
    double found = 0;
    stonet_run run = lab_stonet_run(self, 1);
    stonet_status status = stonet_generate(what->row, what->q, seed, &train);
    if (status == STONET_OK) status = stonet_generate(what->row, FRESH_ROWS, seed + 500000, &fresh);
    if (status == STONET_OK) status = fits_spec(by->method, dim_of(what->row), by->settings, &spec);
    if (status == STONET_OK) status = stonet_fit(spec, train, &run, &model);
    if (status == STONET_OK) status = recovery(self, model, fresh, &found);
    if (status == STONET_OK) status = put_value(values, "distance_correlation", found);
    if (status == STONET_OK && stonet_score(model, fresh, NULL, &scores) == STONET_OK)
        status = put_value(values, "r2", scores.r2);
    stonet_model_free(model);
    stonet_spec_free(spec);
    stonet_data_free(train);
    stonet_data_free(fresh);
    return status;
}

static int experiment(lab *self)
{
    static const int64_t full[] = {1000, 2000, 4000, 8000}, quick[] = {300};
    int result = columns_check(self, all);
    if (result != EXIT_DONE) return result;
    plan cells = {0};
    const bool small = self->options.quick;
    const int64_t first = self->options.first > 0 ? self->options.first : 1;
    const int64_t last = first + lab_trials(self, FULL_TRIALS, QUICK_TRIALS) - 1;
    for (size_t k = 0; k < N_MODELS; k++) {
        if (small && models[k].needs == 0) continue;
        for (int64_t trial = first; trial <= last; trial++)
            columns_plan(self, all,
                         &(cell_line){.row = models[k].generator,
                                      .trial = trial,
                                      .dims = small ? quick : full,
                                      .n_dims = small ? 1 : 4},
                         &cells);
    }
    static const measure measures[] = {{"distance_correlation", "distance correlation with the truth", true},
                                       {"r2", "R2 of the prediction", true}};
    const report what = {
        .title = "Reductions that are known: the models of BENN",
        .measures = measures,
        .n_measures = sizeof measures / sizeof *measures,
        .columns = all,
        .lines = "rows n",
        .notes =
            "1,000 fresh rows; the public numbers are those of Tang and Li's repository (tyy20/BENN-codes, "
            "100 "
            "data sets, BENN with 1000 functions,\nStoNet by its authors' code). location-scale: their D-IV, "
            "scale: E-IV, location-scale-ratio: G-IV, mean-ratio,\nmean-square, mean-log: A, B and C.\n"};
    return report_run(self, &cells, &what, compute, NULL);
}

static const cli_option options[] = {
    LAB_OPTIONS("Data sets; 20 when not given (2 with --quick)"),
    {.name = "first",
     .kind = OPTION_INTEGER,
     .offset = offsetof(lab_options, first),
     .argument = "K",
     .initial = "1",
     .low = 1,
     .high = 100000,
     .help = "The first data set, for runs side by side (join their cells files afterwards)"},
};

static int run(const cli_command *command, int argc, char **argv)
{
    return lab_do(command, argc, argv, experiment);
}

const cli_command sufficiency_command = {
    .program = "stonet-paper",
    .name = "sufficiency",
    .summary = "How much of a known reduction is found where the spread depends on x (the models of BENN)",
    .operands = "",
    .details =
        "Methods: stonet, ensemble and location-scale (the StoNet with that response), gsir, gsave, nnsdr, "
        "benn, gmddnet,\nsir, dr. --dims takes numbers of training rows: 1000, 2000, 4000, 8000. Needs no "
        "data folder.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = "  stonet-paper sufficiency --rows scale --dims 1000,2000 --out results",
    .run = run,
};
