/* stonet demo: the built-in waveform data, reduced to 1, 2 and 5 numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/plot_z.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/signals.h"

/* As many rows as in the usual benchmark splits of these data. */
enum { TRAIN_ROWS = 400, TEST_ROWS = 4600 };

typedef struct demo_values {
    run_options run;
    const char *out;
    bool json;
} demo_values;

static const cli_option options[] = {
    WORD_OPTION(demo_values, out, "out", "DIR", ".", "The folder for the plot, demo-waveform.svg"),
    JSON_OPTION(demo_values, json),
    RUN_OPTIONS(demo_values, run),
};

typedef struct demo_data {
    const stonet_data *train, *test;
} demo_data;

/* One line of the table. */
typedef struct demo_fit {
    const char *title, *method;
    const char *learner; /* NULL: the method predicts */
    const char *dim;     /* NULL: all columns */
    bool plotted;
} demo_fit;

/* Two classes need one number, the first column of Z. The second is the next principal axis of the units. */
static const demo_fit fits[] = {
    {"logistic regression on x", "none", "logistic", NULL, false},
    {"StoNet", "stonet", NULL, "1", false},
    {"StoNet", "stonet", NULL, "2", true},
    {"StoNet", "stonet", NULL, "5", false},
};

static int fit_one(const cli_command *command, const demo_values *values, const stonet_data *train,
                   const demo_fit *fit, stonet_model **model)
{
    spec_options what = {.method = fit->method, .learner = fit->learner};
    AUTO(stonet_spec) *spec = NULL;
    TRY(make_spec(command, &what, fit->dim, &spec));
    stonet_run run = run_of(&values->run);
    run.on_message = NULL;
    TRY(outcome(command, stonet_fit(spec, train, &run, model)));
    if (stonet_model_outcome(*model) == STONET_DONE) return EXIT_DONE;
    return say_error(command, signals_stop_wanted() ? "stopped before the end" : "the training diverged");
}

/* ---- the plot ---------------------------------------------------------------------------------- */

static int plot(const cli_command *command, const char *path, const stonet_model *model,
                const stonet_data *test, double error_rate)
{
    BLOCK float *z = room_for(stonet_data_rows(test) * stonet_model_dim(model), sizeof *z);
    BLOCK char *subtitle = text_of("Z of %d test rows, by a StoNet fitted on %d others; error rate %.3f",
                                   TEST_ROWS, TRAIN_ROWS, error_rate);
    TRY(outcome(command, stonet_transform(model, test, NULL, z)));
    const z_caption caption = {"Waveform data: 21 variables reduced to two", subtitle, "class "};
    return plot_reduction(command, path, model, test, &(z_picture){z, false, &caption});
}

/* ---- the fits ---------------------------------------------------------------------------------- */

/* A line of the table, or an entry of `list` where there is one. */
static void tell_fit(const demo_fit *fit, int64_t dim, double error_rate, double seconds, json_t *list)
{
    if (list == NULL) {
        printf("%-26s %4" PRId64 " %12.4f %8.1f s\n", fit->title, dim, error_rate, seconds);
        fflush(stdout);
        return;
    }
    json_add(list, json_pack("{s:s, s:s, s:I, s:f, s:f}", "title", fit->title, "method", fit->method, "dim",
                             (json_int_t)dim, "error_rate", error_rate, "seconds", seconds));
}

static int show_fit(const cli_command *command, const demo_values *values, const demo_data *data,
                    const demo_fit *fit, const char *path, json_t *list)
{
    AUTO(stonet_model) *model = NULL;
    stonet_scores scores = STONET_SCORES_INIT;
    const double start = progress_clock();
    TRY(fit_one(command, values, data->train, fit, &model));
    const double seconds = progress_clock() - start;
    TRY(outcome(command, stonet_score(model, data->test, NULL, &scores)));
    tell_fit(fit, stonet_model_dim(model), scores.error_rate, seconds, list);
    return fit->plotted ? plot(command, path, model, data->test, scores.error_rate) : EXIT_DONE;
}

static int fit_all(const cli_command *command, const demo_values *values, const demo_data *data,
                   const char *path, json_t *list)
{
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++)
        TRY(show_fit(command, values, data, &fits[i], path, list));
    return EXIT_DONE;
}

static int show_json(const cli_command *command, const demo_values *values, const demo_data *data,
                     const char *path)
{
    json_t *list = json_array();
    const int result = fit_all(command, values, data, path, list);
    json_t *all =
        json_pack("{s:i, s:i, s:I, s:o, s:s}", "train_rows", TRAIN_ROWS, "test_rows", TEST_ROWS, "columns",
                  (json_int_t)stonet_data_columns(data->train), "fits", list, "plot", path);
    if (result == EXIT_DONE) return output_json(command, NULL, all);
    json_decref(all);
    return result;
}

static int show_all(const cli_command *command, const demo_values *values, const demo_data *data,
                    const char *path)
{
    if (values->json) return show_json(command, values, data, path);
    printf("Waveform data: %d training rows, %d test rows, %" PRId64 " variables, two classes\n\n",
           TRAIN_ROWS, TEST_ROWS, stonet_data_columns(data->train));
    printf("%-26s %4s %12s %10s\n", "", "q", "test error", "fitted in");
    TRY(fit_all(command, values, data, path, NULL));
    printf("\nThe two reduced variables of the fit with q = 2, by class: %s\n", path);
    return output_text(command, NULL, "");
}

static int demo(const cli_command *command, const cli_arguments *given, void *parsed)
{
    (void)given;
    const demo_values *values = parsed;
    const uint64_t seed = (uint64_t)values->run.seed;
    AUTO(stonet_data) *train = NULL;
    AUTO(stonet_data) *test = NULL;
    const bool here = strcmp(values->out, ".") == 0;
    BLOCK char *path = text_of("%s%sdemo-waveform.svg", here ? "" : values->out, here ? "" : "/");
    TRY(output_check(command, path));
    TRY(outcome(command, stonet_generate("waveform", TRAIN_ROWS, seed, &train)));
    TRY(outcome(command, stonet_generate("waveform", TEST_ROWS, seed + 1, &test)));
    return show_all(command, values, &(demo_data){train, test}, path);
}

const cli_command demo_command = {
    .name = "demo",
    .summary = "Fit the built-in waveform data and draw the result",
    .operands = "",
    OPTIONS_OF(options, demo_values),
    .run = demo,
};
