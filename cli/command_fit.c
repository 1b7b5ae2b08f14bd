/* stonet fit: from data to a model file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/plot_z.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/say.h"
#include "cli/show.h"

typedef struct fit_values {
    target_options target;
    spec_options spec;
    run_options run;
    checkpoint_options checkpoint;
    const char *dim, *log, *plot, *out;
    bool calibrate, json;
} fit_values;

static const cli_option options[] = {
    TARGET_OPTIONS(fit_values, target),
    GROUP_OPTION(fit_values, target.group),
    COLUMN_OPTIONS(fit_values, target.columns),
    TEXT_OPTION(fit_values, dim, "dim", "Q",
                "The number of reduced variables, the columns of Z; auto: as 'stonet order' chooses it"),
    SPEC_OPTIONS(fit_values, spec),
    RUN_OPTIONS(fit_values, run),
    CHECKPOINT_OPTIONS(fit_values, checkpoint),
    {.name = "log",
     .kind = OPTION_TEXT,
     .offset = offsetof(fit_values, log),
     .argument = "FILE.csv",
     .writes = true,
     .help = "Write the training history, one row an epoch"},
    FLAG_OPTION(fit_values, calibrate, "calibrate",
                "Also learn how sure predictions are, by ten refits (one from 5000 rows on): for 'predict "
                "--interval' and '--sets', and better probabilities"),
    PLOT_OPTION(fit_values, plot, "Draw Z of the training rows by the response, and the training curve"),
    FLAG_OPTION(fit_values, json, "json", "Print what 'stonet info --json' says of the model"),
    OUT_OPTION(fit_values, out, "The model file to write (safetensors); - is standard output"),
};

static int check_values(const cli_command *command, const fit_values *values)
{
    bool needs_dim = values->spec.method == NULL || strcmp(values->spec.method, "none") != 0;
    if (values->dim == NULL && values->spec.config == NULL && needs_dim) {
        say_usage(command, "the dimension is missing: give --dim Q");
        return EXIT_USAGE;
    }
    if (values->out == NULL) {
        say_usage(command, "the model file is missing: give --out MODEL");
        return EXIT_USAGE;
    }
    if (values->json && strcmp(values->out, "-") == 0) {
        say_usage(command, "--json and --out - would both write to standard output");
        return EXIT_USAGE;
    }
    if (ends_with(values->out, ".gz")) {
        say_usage(command, "model files are not compressed: choose a name for --out without .gz");
        return EXIT_USAGE;
    }
    int result = output_check(command, values->out);
    if (result == EXIT_DONE && values->log != NULL) result = output_check(command, values->log);
    if (result == EXIT_DONE && values->plot != NULL) result = output_check(command, values->plot);
    return result;
}

static int write_log(const cli_command *command, const fit_values *values, const stonet_model *model)
{
    if (values->log == NULL) return EXIT_DONE;
    errno = 0;
    char *history = stonet_model_history_csv(model);
    if (history == NULL && errno == ENOMEM) return say_failure(command, STONET_ERROR_MEMORY);
    if (history == NULL) {
        fprintf(stderr, "note: this method has no training history, so %s is not written\n", values->log);
        return EXIT_DONE;
    }
    int result = output_text(command, values->log, history);
    stonet_string_free(history);
    return result;
}

static int draw(const cli_command *command, const fit_values *values, const stonet_model *model,
                const stonet_data *train)
{
    if (values->plot == NULL) return EXIT_DONE;
    const stonet_use_options how = {.size = sizeof how, .threads = (int)values->run.threads, .seed = 1};
    float *z = malloc((size_t)(stonet_data_rows(train) * stonet_model_dim(model) + 1) * sizeof *z);
    stonet_status status = z != NULL ? stonet_transform(model, train, &how, z)
                                     : stonet_fail(STONET_ERROR_MEMORY, "memory ran out");
    int result = status == STONET_OK ? plot_reduction(command, values->plot, model, train, z, true)
                                     : say_failure(command, status);
    free(z);
    return result;
}

/* Some rows of a very large table, evenly from all of it, that tell its score to three digits; NULL: take
 * all. */
static stonet_data *rows_to_score(const stonet_data *train)
{
    enum { NUMBERS = 1 << 26, PART = 1 << 22 };
    const int64_t n = stonet_data_rows(train), columns = stonet_data_columns(train);
    if (columns < 1 || n <= NUMBERS / columns || PART / columns < 1) return NULL;
    const int64_t count = PART / columns;
    int64_t *rows = malloc((size_t)count * sizeof *rows);
    stonet_data *part = NULL;
    for (int64_t i = 0; rows != NULL && i < count; i++)
        rows[i] = (int64_t)((double)i / (double)count * (double)n);
    if (rows != NULL && stonet_data_subset(train, rows, count, &part) != STONET_OK) part = NULL;
    free(rows);
    return part;
}

static void say_training_score(const fit_values *values, const stonet_model *model, const stonet_data *train)
{
    stonet_use_options how = {
        .size = sizeof how, .threads = (int)values->run.threads, .team = program_team()};
    stonet_scores scores = STONET_SCORES_INIT;
    stonet_data *part = rows_to_score(train);
    const stonet_status status = stonet_score(model, part != NULL ? part : train, &how, &scores);
    if (status == STONET_OK && scores.is_classifier) /* without a learner there is none */
        fprintf(stderr, "training error rate %.4g, log loss %.4g", scores.error_rate, scores.log_loss);
    else if (status == STONET_OK)
        fprintf(stderr, "training mse %.4g, R2 %.4g", scores.mse, scores.r2);
    if (status == STONET_OK && part != NULL)
        fprintf(stderr, ", of %lld rows\n", (long long)stonet_data_rows(part));
    else if (status == STONET_OK)
        fputc('\n', stderr);
    stonet_data_free(part);
}

/* A number of the fit's own, or NaN. */
static double fact(const json_t *fitted, const char *key)
{
    const json_t *value = json_object_get(fitted, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* ", SCORE for WHOM"; nothing where it was not measured. */
static void say_other(const char *whom, double score)
{
    if (isfinite(score)) fprintf(stderr, ", %s %.4g", whom, score);
}

/* What the chosen settings reach on rows they were not fitted on, where that was measured: "held-out error
   rate 0.101 (standard error 0.015, 400 rows), constant guess 0.33, linear regression 0.14". False: it was
   not. */
static bool say_held_out_score(const stonet_model *model, const json_t *fitted)
{
    const bool classes = stonet_model_is_classifier(model);
    const char *const key[] = {classes ? "held_out_error" : "held_out_loss",
                               classes ? "held_out_error_se" : "held_out_loss_se",
                               classes ? "held_out_constant_error" : "held_out_constant_loss",
                               classes ? "held_out_linear_error" : "held_out_linear_loss"};
    /* The loss is the sum over the network's outputs, of variance 1, of half the squared error. */
    const json_t *widths = json_object_get(fitted, "widths"), *last;
    last = json_array_get(widths, json_array_size(widths) - 1);
    const double unit = classes || !json_is_integer(last)
                            ? 1.0
                            : 2.0 / (double)json_integer_value(
                                        last); /* also of mu and eta: .5 a target at the best constant */
    const bool functions = strcmp(json_text(fitted, "response"), "ensemble") == 0;
    const bool likelihood = strcmp(json_text(fitted, "response"), "location-scale") == 0;
    const double score = unit * fact(fitted, key[0]);
    if (!isfinite(score)) return false;
    fprintf(stderr, "held-out %s %.4g (standard error %.2g, %lld rows)",
            classes      ? "error rate"
            : functions  ? "mse of the response functions, whose variance is 1,"
            : likelihood ? "minus log likelihood, .5 for a constant guess,"
                         : "mse in units of the variance",
            score, unit * fact(fitted, key[1]),
            (long long)json_integer_value(json_object_get(fitted, "held_out_rows")));
    say_other("constant guess", unit * fact(fitted, key[2]));
    if (!likelihood) say_other("linear regression", unit * fact(fitted, key[3]));
    fputc('\n', stderr);
    return true;
}

/* "network 21-16-2-2", for the methods that have one. */
static void say_network(const json_t *about)
{
    const json_t *widths = json_object_get(json_object_get(about, "fitted"), "widths");
    for (size_t i = 0; i < json_array_size(widths); i++)
        fprintf(stderr, "%s%lld", i > 0 ? "-" : "network ",
                (long long)json_integer_value(json_array_get(widths, i)));
    if (json_array_size(widths) > 0) fputc('\n', stderr);
}

/* "chosen: tanh network, weight decay 0.01, 300 updates; held-out loss 0.23", and the lines of the table that
   came next. */
static void say_choice(const json_t *about)
{
    enum { LINES = 3 };
    const json_t *lines = json_object_get(json_object_get(about, "fitted"), "choice");
    for (size_t k = 0; k < json_array_size(lines) && k < LINES; k++) {
        fputs(k == 0 ? "chosen: " : "next: ", stderr);
        show_text(stderr, json_string_value(json_array_get(lines, k)));
        fputc('\n', stderr);
    }
}

/* "looks at 5 of 200 columns: x1, x2, .." where the fit has left some out. */
static void say_support(const json_t *about)
{
    enum { MOST_NAMES = 30 };
    const json_t *support = json_object_get(about, "support");
    const size_t count = json_array_size(support), all = json_array_size(json_object_get(about, "inputs"));
    if (count == all) return;
    fprintf(stderr, "looks at %zu of %zu columns:", count, all);
    for (size_t k = 0; k < count && k < MOST_NAMES; k++) {
        fputs(k > 0 ? ", " : " ", stderr);
        const char *name = json_string_value(json_array_get(support, k)); /* NULL: no UTF-8 */
        show_text(stderr, name != NULL ? name : "?");
    }
    fputs(count > MOST_NAMES ? ", ..\n" : "\n", stderr);
}

/* What is next to nothing has no digits worth reading. */
static void print_share(double share)
{
    if (share > 0.0 && share < 0.001)
        fputs(" <0.1%", stderr);
    else
        fprintf(stderr, " %.3g%%", 100.0 * share);
}

/* "share of the effect on the output, column by column of Z: 93.1% 6.2% 0.7%", where it was found. */
static void say_shares(const json_t *about)
{
    enum { MOST_SHARES = 10 };
    const json_t *shares = json_object_get(json_object_get(about, "fitted"), "explained_share");
    const size_t count = json_array_size(shares);
    if (count == 0) return;
    fputs("share of the effect on the output, column by column of Z:", stderr);
    for (size_t k = 0; k < count && k < MOST_SHARES; k++)
        print_share(json_number_value(json_array_get(shares, k)));
    fputs(count > MOST_SHARES ? " ..\n" : "\n", stderr);
}

/* Those that are features; the others were left out. */
static long long used_columns(const json_t *about)
{
    const json_t *kinds = json_object_get(about, "input_kinds"), *kind;
    long long used = 0;
    size_t j;
    json_array_foreach(kinds, j, kind) used += strcmp(json_string_value(kind), "none") != 0;
    return used;
}

/* "stonet: 400 rows, 21 columns reduced to 2, 2 classes, in 1.2 s" */
static void say_summary(const cli_command *command, const fit_values *values, const stonet_model *model,
                        const stonet_data *train, double seconds)
{
    json_t *about = take_json(command, stonet_model_json(model));
    char spent[32];
    progress_duration(seconds, spent);
    long long outputs = (long long)stonet_model_outputs(model);
    fprintf(stderr, "%s: %lld rows, %lld columns reduced to %lld, ", json_text(about, "method"),
            (long long)stonet_data_rows(train), used_columns(about), (long long)stonet_model_dim(model));
    if (outputs == 0)
        fprintf(stderr, "no response, in %s\n", spent);
    else if (stonet_model_is_classifier(model))
        fprintf(stderr, "%lld classes, in %s\n", outputs, spent);
    else
        fprintf(stderr, "%lld numeric response%s, in %s\n", outputs, outputs > 1 ? "s" : "", spent);
    say_support(about);
    say_network(about);
    say_choice(about);
    say_shares(about);
    if (!say_held_out_score(model, json_object_get(about, "fitted")))
        say_training_score(values, model, train);
    json_decref(about);
    if (strcmp(values->out, "-") != 0) fprintf(stderr, "model written to %s\n", values->out);
}

/* --calibrate: the model is saved before, so that a calibration that fails or is stopped does not lose it. */
static bool saves_first(const fit_values *values, const stonet_model *model)
{
    return values->calibrate && stonet_model_outcome(model) == STONET_DONE && strcmp(values->out, "-") != 0 &&
           program_writes();
}

static void say_saved_first(const fit_values *values)
{
    fprintf(stderr, "note: the model was saved in %s, without a calibration\n", values->out);
}

static int finish(const cli_command *command, const fit_values *values, const stonet_model *model,
                  const stonet_data *train, double seconds)
{
    int result = program_writes() ? write_model(command, values->out, model) : EXIT_DONE;
    if (result != EXIT_DONE && saves_first(values, model)) say_saved_first(values);
    if (result != EXIT_DONE) return result;
    result = write_log(command, values, model);
    if (result == EXIT_DONE) result = draw(command, values, model, train);
    if (result != EXIT_DONE) return result;
    switch (stonet_model_outcome(model)) {
    case STONET_STOPPED:
        say_error(command, "stopped before the end; the model so far was saved in %s", values->out);
        return EXIT_FAILED;
    case STONET_DIVERGED:
        say_error(command,
                  "the training diverged; the last good model was saved in %s; a smaller lr may help",
                  values->out);
        return EXIT_FAILED;
    case STONET_DONE:
        break;
    }
    if (!values->run.quiet) say_summary(command, values, model, train, seconds);
    if (!values->json) return EXIT_DONE;
    json_t *about = take_json(command, stonet_model_json(model));
    return about != NULL ? output_json(command, NULL, about) : EXIT_FAILED;
}

static int calibrate(const cli_command *command, const fit_values *values, const stonet_data *train,
                     const stonet_run *run, stonet_model *model)
{
    if (!values->calibrate || stonet_model_outcome(model) != STONET_DONE) return EXIT_DONE;
    stonet_status status = saves_first(values, model) ? stonet_model_save(model, values->out) : STONET_OK;
    if (status != STONET_OK) return say_failure(command, status);
    status = stonet_calibrate(model, train, NULL, run);
    progress_clear();
    if (status == STONET_OK) {
        if (!values->run.quiet) say_calibration(model);
        return EXIT_DONE;
    }
    if (saves_first(values, model)) say_saved_first(values);
    return say_failure(command, status);
}

static bool is_open(const fit_values *values)
{
    return values->dim != NULL && strcmp(values->dim, "auto") == 0;
}

/* --dim auto: the dimension by the rule that suits the method. */
static int choose_dim(const cli_command *command, const fit_values *values, const stonet_data *train,
                      stonet_run *run, stonet_spec *spec)
{
    stonet_order_result *found = NULL;
    stonet_status status = stonet_order(spec, train, NULL, run, &found);
    progress_clear();
    if (status == STONET_OK) {
        const long long chosen = (long long)stonet_order_chosen(found);
        char text[24];
        snprintf(text, sizeof text, "%lld", chosen > 0 ? chosen : 1);
        if (chosen == 0)
            fprintf(stderr,
                    "warning: %s says that x tells nothing about the response (%s); one dimension is "
                    "fitted all the same\n",
                    stonet_order_rule_name(found), stonet_order_reason(found));
        else if (!values->run.quiet)
            fprintf(stderr, "dimension %lld, chosen by %s: %s\n", chosen, stonet_order_rule_name(found),
                    stonet_order_reason(found));
        status = stonet_spec_set(spec, "dim", text);
    }
    stonet_order_free(found);
    return status == STONET_OK ? EXIT_DONE : say_failure(command, status);
}

static int fit(const cli_command *command, const cli_arguments *given, void *parsed)
{
    const fit_values *values = parsed;
    const char *path = given->operand[0];
    stonet_spec *spec = NULL;
    stonet_data *train = NULL;
    stonet_model *model = NULL;
    int result = make_spec(command, &values->spec, is_open(values) ? NULL : values->dim, &spec);
    if (result == EXIT_DONE && (stonet_spec_needs_response(spec) || has_target(&values->target)))
        result = require_target(command, &values->target);
    if (result == EXIT_DONE) result = check_values(command, values);
    if (result == EXIT_DONE) result = read_data(command, path, &values->target, values->run.threads, &train);
    stonet_run run;
    start_run(&values->run, &run);
    double start = progress_clock();
    if (result == EXIT_DONE) result = open_checkpoint(command, &values->checkpoint, &run);
    if (result == EXIT_DONE && is_open(values)) result = choose_dim(command, values, train, &run, spec);
    if (result == EXIT_DONE) {
        stonet_status status = stonet_fit(spec, train, &run, &model);
        progress_clear();
        result = status == STONET_OK ? calibrate(command, values, train, &run, model)
                                     : say_failure(command, status);
        if (result == EXIT_DONE) result = finish(command, values, model, train, progress_clock() - start);
    }
    result = close_checkpoint(command, &run, result);
    stonet_model_free(model);
    stonet_data_free(train);
    stonet_spec_free(spec);
    return result;
}

const cli_command fit_command = {
    .name = "fit",
    .summary = "Fit a model: data, a response, a dimension",
    .on_ranks = true,
    .operands = "DATA",
    .required = "(--target COL | --target-file FILE) --dim Q --out MODEL",
    .details =
        "DATA is a table of text (.csv, .tsv, .txt, .asc: comma, semicolon, tab or blanks, with or without\n"
        "header), .npy or .npz, IDX or svmlight (which stays sparse). Each may be gzipped, "
        "and - is\n"
        "standard input. The content tells which it is, not the name.\n"
        "\n"
        "Text labels or few whole numbers are classes (--set task=... decides). Methods that do not look at "
        "the\n"
        "response (pca, autoencoder) do without, and the model then gives Z alone. Ctrl-C stops the fit and "
        "saves\n"
        "the model so far; a second Ctrl-C ends at once. With --checkpoint the same command goes on "
        "afterwards.",
    OPTIONS_OF(options, fit_values),
    .examples =
        "  stonet fit train.csv --target y --dim 2 --out my.model\n"
        "  stonet fit train.csv --target y --dim 2 --set hidden=64,32 --set epochs=50 --out my.model\n"
        "  stonet fit x.asc --target-file y.asc --dim 3 --method gsir --learner logistic --out gsir.model\n"
        "  stonet fit x.csv --dim 2 --method pca --out pca.model",
    .run = fit,
};
