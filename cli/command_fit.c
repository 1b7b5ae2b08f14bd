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
    bool calibrate, stability, json;
} fit_values;

/* Where the dimension goes in the name of a file. */
static const char DIM[] = "{dim}";

static const cli_option options[] = {
    TARGET_OPTIONS(fit_values, target),
    RESPONSE_OPTIONS(fit_values, target),
    GROUP_OPTION(fit_values, target),
    COLUMN_OPTIONS(fit_values, target),
    TEXT_OPTION(fit_values, dim, "dim", "Q,..",
                "The number of reduced variables, the columns of Z; auto: as 'stonet order' chooses it. With "
                "several a model is written for each, from one training: --dim 1,2,5 --out my-{dim}.model"),
    SPEC_OPTIONS(fit_values, spec),
    RUN_OPTIONS(fit_values, run),
    CHECKPOINT_OPTIONS(fit_values, checkpoint),
    FILE_OPTION(fit_values, log, "log", "FILE.csv", "Write the training history, one row an epoch"),
    FLAG_OPTION(fit_values, calibrate, "calibrate",
                "Also learn how sure predictions are, by ten refits (one from 5000 rows on): for 'predict "
                "--interval' and '--sets', and better probabilities"),
    FLAG_OPTION(fit_values, stability, "stability",
                "Also fit by two other seeds, and print the correlation of every column of Z with theirs"),
    PLOT_OPTION(fit_values, plot, "Draw Z of the training rows by the response, and the training curve"),
    FLAG_OPTION(fit_values, json, "json", "Print what 'stonet info --json' says of the model"),
    OUT_OPTION(fit_values, out, "The model file to write (safetensors); - is standard output"),
};

static bool has_several(const fit_values *values)
{
    return values->dim != NULL && strchr(values->dim, ',') != NULL;
}

/* A file that is written for every dimension needs a name for each. */
static int check_output(const cli_command *command, const fit_values *values, const char *option,
                        const char *path)
{
    if (path == NULL) return EXIT_DONE;
    if (has_several(values) && strstr(path, DIM) == NULL)
        return say_usage(command, "%s is one file, and --dim %s asks for several: put %s into its name",
                         option, values->dim, DIM);
    return output_check(command, path);
}

static int check_values(const cli_command *command, const fit_values *values)
{
    bool needs_dim = values->spec.method == NULL || strcmp(values->spec.method, "none") != 0;
    if (values->dim == NULL && values->spec.config == NULL && needs_dim)
        return say_usage(command, "the dimension is missing: give --dim Q");
    if (values->out == NULL) return say_usage(command, "the model file is missing: give --out MODEL");
    if (values->json && strcmp(values->out, "-") == 0)
        return say_usage(command, "--json and --out - would both write to standard output");
    if (ends_with(values->out, ".gz"))
        return say_usage(command, "model files are not compressed: choose a name for --out without .gz");
    TRY(check_output(command, values, "--out", values->out));
    TRY(check_output(command, values, "--log", values->log));
    return check_output(command, values, "--plot", values->plot);
}

static int write_log(const cli_command *command, const fit_values *values, const stonet_model *model)
{
    if (values->log == NULL) return EXIT_DONE;
    errno = 0;
    BLOCK char *history = stonet_model_history_csv(model);
    if (history == NULL && errno == ENOMEM) must_have(NULL);
    if (history == NULL) {
        fprintf(stderr, "note: this method has no training history, so %s is not written\n", values->log);
        return EXIT_DONE;
    }
    return output_text(command, values->log, history);
}

static int draw(const cli_command *command, const fit_values *values, const stonet_model *model,
                const stonet_data *train)
{
    if (values->plot == NULL) return EXIT_DONE;
    const stonet_use_options how = {.size = sizeof how, .threads = (int)values->run.threads, .seed = 1};
    BLOCK float *z = room_for(stonet_data_rows(train) * stonet_model_dim(model) + 1, sizeof *z);
    TRY(outcome(command, stonet_transform(model, train, &how, z)));
    return plot_reduction(command, values->plot, model, train, &(z_picture){z, true, NULL});
}

/* Some rows of a very large table, evenly from all of it, that tell its score to three digits; NULL: take
 * all. */
static stonet_data *rows_to_score(const stonet_data *train)
{
    enum { NUMBERS = 1 << 26, PART = 1 << 22 };
    const int64_t n = stonet_data_rows(train), columns = stonet_data_columns(train);
    if (columns < 1 || n <= NUMBERS / columns || PART / columns < 1) return NULL;
    const int64_t count = PART / columns;
    BLOCK int64_t *rows = room_for(count, sizeof *rows);
    stonet_data *part = NULL;
    for (int64_t i = 0; i < count; i++) rows[i] = (int64_t)((double)i / (double)count * (double)n);
    if (stonet_data_subset(train, rows, count, &part) != STONET_OK) part = NULL;
    return part;
}

/* Says the score on the training rows to standard error, without a word if the model predicts nothing. Scores
   of training rows are too good; they only show that the fit found something. */
static void say_training_score(const fit_values *values, const stonet_model *model, const stonet_data *train)
{
    stonet_use_options how = {
        .size = sizeof how, .threads = (int)values->run.threads, .team = program_team()};
    stonet_scores scores = STONET_SCORES_INIT;
    AUTO(stonet_data) *part = rows_to_score(train);
    const stonet_status status = stonet_score(model, part != NULL ? part : train, &how, &scores);
    if (status == STONET_OK && scores.is_classifier) /* without a learner there is none */
        fprintf(stderr, "training error rate %.4g, log loss %.4g", scores.error_rate, scores.log_loss);
    else if (status == STONET_OK && isfinite(scores.concordance))
        fprintf(stderr, "training concordance %.4g", scores.concordance);
    else if (status == STONET_OK && isfinite(scores.log_likelihood))
        fprintf(stderr, "training log likelihood %.4g", scores.log_likelihood);
    else if (status == STONET_OK)
        fprintf(stderr, "training mse %.4g, R2 %.4g", scores.mse, scores.r2);
    if (status == STONET_OK && part != NULL)
        fprintf(stderr, ", of %lld rows\n", (long long)stonet_data_rows(part));
    else if (status == STONET_OK)
        fputc('\n', stderr);
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

/* What the loss of a response with a law is. */
static const char *law_loss_name(const char *task)
{
    if (strcmp(task, "count") == 0) return "minus log likelihood of a count";
    return strcmp(task, "ordinal") == 0 ? "log loss" : "minus log likelihood of the scaled log time";
}

/* What the chosen settings reach on rows they were not fitted on, where that was measured: "held-out error
   rate 0.101 (95 % interval 0.075 to 0.134, 400 rows), constant guess 0.33, linear model 0.14". False:
   it was not. */
static bool say_held_out_score(const stonet_model *model, const json_t *fitted)
{
    const char *task = stonet_model_task(model);
    const bool law = strcmp(task, "regression") != 0 && strcmp(task, "classification") != 0;
    const bool classes = stonet_model_is_classifier(model) && !law;
    const char *const key[] = {classes ? "held_out_error" : "held_out_loss",
                               classes ? "held_out_constant_error" : "held_out_constant_loss",
                               classes ? "held_out_linear_error" : "held_out_linear_loss"};
    /* The loss is the sum over the network's outputs, of variance 1, of half the squared error. */
    const json_t *widths = json_object_get(fitted, "widths"), *last;
    last = json_array_get(widths, json_array_size(widths) - 1);
    const double unit = classes || law || !json_is_integer(last)
                            ? 1.0
                            : 2.0 / (double)json_integer_value(
                                        last); /* also of mu and eta: .5 a target at the best constant */
    const bool functions = strcmp(json_text(fitted, "response"), "ensemble") == 0;
    const bool likelihood = strcmp(json_text(fitted, "response"), "location-scale") == 0;
    const double score = unit * fact(fitted, key[0]);
    if (!isfinite(score)) return false;
    char of_loss[32] = "";
    if (unit != 1.0) snprintf(of_loss, sizeof of_loss, " = %.3g x loss", unit);
    fprintf(stderr, "held-out %s %.4g%s (95 %% interval %.3g to %.3g, %lld rows)",
            law          ? law_loss_name(task)
            : classes    ? "error rate"
            : functions  ? "mse of the response functions, whose variance is 1,"
            : likelihood ? "minus log likelihood, .5 for a constant guess,"
                         : "mse in units of the variance",
            score, of_loss, unit * fact(fitted, "held_out_low"), unit * fact(fitted, "held_out_high"),
            (long long)json_integer_value(json_object_get(fitted, "held_out_rows")));
    say_other("constant guess", unit * fact(fitted, key[1]));
    if (!likelihood) say_other("linear model", unit * fact(fitted, key[2]));
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

/* "stonet: 400 rows, 21 columns reduced to 2, 2 classes, in 1.2 s"; "200 of 400 rows" where the others have
   weight 0 or were dropped. */
static void say_summary(const fit_values *values, const stonet_model *model, const stonet_data *train,
                        double seconds)
{
    AUTO(json_t) *about = take_json(stonet_model_json(model));
    char spent[32];
    progress_duration(seconds, spent);
    long long outputs = (long long)stonet_model_outputs(model);
    const long long columns = used_columns(about);
    const long long rows = json_integer_value(json_object_get(about, "rows")),
                    given = stonet_data_rows(train);
    fprintf(stderr, "%s: %lld ", json_text(about, "method"), rows);
    if (rows != given) fprintf(stderr, "of %lld ", given);
    fprintf(stderr, "rows, %lld column%s reduced to %lld, ", columns, columns == 1 ? "" : "s",
            (long long)stonet_model_dim(model));
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

/* What all fits of a command share. */
typedef struct fitting {
    const cli_command *command;
    const fit_values *values;
    stonet_spec *spec;
    const stonet_data *train;
    const stonet_run *run;
    json_t *told; /* gets what is known of each model; NULL: without --json */
} fitting;

/* "correlation with Z of other seeds, column by column: 0.998 0.41" */
static int say_stability(const fitting *self, const stonet_model *model)
{
    const int64_t q = stonet_model_dim(model);
    BLOCK double *r = room_for(q, sizeof *r);
    TRY(outcome(self->command, stonet_stability(model, self->train, 0, self->run, r)));
    fputs("correlation with Z of other seeds, column by column:", stderr);
    for (int64_t k = 0; k < q; k++) fprintf(stderr, " %.3f", r[k]);
    fputc('\n', stderr);
    return EXIT_DONE;
}

/* values: with the names of the files of this model. */
static int finish(const fitting *self, const fit_values *values, const stonet_model *model, double seconds)
{
    const cli_command *command = self->command;
    const int result = program_writes() ? write_model(command, values->out, model) : EXIT_DONE;
    if (result != EXIT_DONE && saves_first(values, model)) say_saved_first(values);
    TRY(result);
    TRY(write_log(command, values, model));
    TRY(draw(command, values, model, self->train));
    switch (stonet_model_outcome(model)) {
    case STONET_STOPPED:
        return say_error(command, "stopped before the end; the model so far was saved in %s", values->out);
    case STONET_DIVERGED:
        return say_error(command,
                         "the training diverged; the last good model was saved in %s; a smaller lr may help",
                         values->out);
    case STONET_DONE:
        break;
    }
    if (!values->run.quiet) say_summary(values, model, self->train, seconds);
    if (self->told != NULL) json_add(self->told, take_json(stonet_model_json(model)));
    return EXIT_DONE;
}

static int calibrate(const fitting *self, const fit_values *values, stonet_model *model)
{
    if (!values->calibrate || stonet_model_outcome(model) != STONET_DONE) return EXIT_DONE;
    const bool saved = saves_first(values, model);
    if (saved) TRY(outcome(self->command, stonet_model_save(model, values->out)));
    const stonet_status status = stonet_calibrate(model, self->train, NULL, self->run);
    progress_clear();
    if (status != STONET_OK && saved) say_saved_first(values);
    TRY(outcome(self->command, status));
    if (!values->run.quiet) say_calibration(model);
    return EXIT_DONE;
}

/* The dimensions of --dim 1,2,5. */
typedef struct dim_list {
    char *text, *dim[64];
    int count;
} dim_list;

static void free_dims(dim_list *list)
{
    free(list->text);
}

static int list_dims(const cli_command *command, const char *dims, stonet_spec *spec, dim_list *list)
{
    enum { MOST = sizeof list->dim / sizeof *list->dim };
    if (dims == NULL) return EXIT_DONE;
    list->text = copy_of(dims);
    for (char *at = list->text; at != NULL; list->count++) {
        if (list->count == MOST) return say_usage(command, "--dim takes at most %d dimensions", MOST);
        list->dim[list->count] = strsep(&at, ",");
        TRY(outcome(command, stonet_spec_set(spec, "dim", list->dim[list->count])));
    }
    return EXIT_DONE;
}

static bool is_open(const fit_values *values)
{
    return values->dim != NULL && strcmp(values->dim, "auto") == 0;
}

/* --dim auto: the dimension by the rule that suits the method. */
static int choose_dim(const fitting *self)
{
    AUTO(stonet_order_result) *found = NULL;
    TRY(outcome(self->command, stonet_order(self->spec, self->train, NULL, self->run, &found)));
    const long long chosen = (long long)stonet_order_chosen(found);
    char text[24];
    snprintf(text, sizeof text, "%lld", chosen > 0 ? chosen : 1);
    if (chosen == 0)
        fprintf(stderr,
                "warning: %s says that x tells nothing about the response (%s); one dimension is "
                "fitted all the same\n",
                stonet_order_rule_name(found), stonet_order_reason(found));
    else if (!self->values->run.quiet)
        fprintf(stderr, "dimension %lld, chosen by %s: %s\n", chosen, stonet_order_rule_name(found),
                stonet_order_reason(found));
    return outcome(self->command, stonet_spec_set(self->spec, "dim", text));
}

/* A name with the dimension in its place; to be freed. NULL: there is none. */
static char *name_for(const char *name, const char *dim)
{
    if (name == NULL) return NULL;
    const char *at = strstr(name, DIM);
    return at == NULL ? copy_of(name) : text_of("%.*s%s%s", (int)(at - name), name, dim, at + sizeof DIM - 1);
}

/* What a model is good for: calibrated and written to files of its own. */
static int use(const fitting *self, double start, const char *dim, stonet_model *model)
{
    const fit_values *values = self->values;
    fit_values own = *values;
    BLOCK char *out = name_for(values->out, dim);
    BLOCK char *log = name_for(values->log, dim);
    BLOCK char *plot = name_for(values->plot, dim);
    own.out = out;
    own.log = log;
    own.plot = plot;
    TRY(calibrate(self, &own, model));
    TRY(finish(self, &own, model, progress_clock() - start));
    return values->stability && program_writes() ? say_stability(self, model) : EXIT_DONE;
}

/* dim: as --dim has it; NULL: as the settings have it. */
static int fit_dim(const fitting *self, const char *dim)
{
    AUTO(stonet_model) *model = NULL;
    char chosen[24];
    const double start = progress_clock();
    if (dim != NULL) TRY(outcome(self->command, stonet_spec_set(self->spec, "dim", dim)));
    TRY(outcome(self->command, stonet_fit(self->spec, self->train, self->run, &model)));
    snprintf(chosen, sizeof chosen, "%lld", (long long)stonet_model_dim(model));
    return use(self, start, dim != NULL ? dim : chosen, model);
}

static void drop_notes(stonet_level level, const char *text, void *user)
{
    if (level == STONET_WARNING) say_message(level, text, user);
}

/* The fits of all dimensions of the list, which share what they can of their training. */
static int fit_list(const fitting *self, const dim_list *list)
{
    stonet_run run = *self->run;
    fitting each = *self;
    each.run = &run;
    if (self->run->checkpoint == NULL)
        TRY(outcome(self->command, stonet_checkpoint_open(NULL, -1.0, &run.checkpoint)));
    int result = EXIT_DONE;
    for (int k = 0; k < list->count && result == EXIT_DONE; k++) {
        result = fit_dim(&each, list->dim[k]);
        if (run.on_message != NULL) run.on_message = drop_notes; /* they have been said */
    }
    if (self->run->checkpoint == NULL) stonet_checkpoint_free(run.checkpoint);
    return result;
}

static int fit_all(const cli_command *command, const fit_values *values, stonet_spec *spec,
                   const stonet_data *train, const stonet_run *run, const dim_list *list)
{
    AUTO(json_t) *told = values->json ? json_array() : NULL;
    const fitting self = {command, values, spec, train, run, told};
    if (is_open(values)) TRY(choose_dim(&self));
    TRY(list->count > 1 ? fit_list(&self, list) : fit_dim(&self, NULL));
    if (!values->json) return EXIT_DONE;
    return output_json(command, NULL, json_incref(list->count > 1 ? told : json_array_get(told, 0)));
}

/* The spec is complete, and all options are checked, before the data are read: reading may take minutes. */
static int fit(const cli_command *command, const cli_arguments *given, void *parsed)
{
    fit_values *values = parsed;
    BLOCK char *response = NULL;
    AUTO(stonet_spec) *spec = NULL;
    AUTO(stonet_data) *train = NULL;
    __attribute__((cleanup(free_dims))) dim_list list = {0};
    TRY(make_spec(command, &values->spec, NULL, &spec));
    TRY(name_response(command, &values->target, spec, &response));
    if (!is_open(values)) TRY(list_dims(command, values->dim, spec, &list));
    if (stonet_spec_needs_response(spec) || has_target(&values->target))
        TRY(require_target(command, &values->target));
    TRY(check_values(command, values));
    TRY(read_data(command, given->operand[0], &values->target, values->run.threads, &train));
    stonet_run run = run_of(&values->run);
    int result = open_checkpoint(command, &values->checkpoint, &run);
    if (result == EXIT_DONE) result = fit_all(command, values, spec, train, &run, &list);
    return close_checkpoint(command, &run, result);
}

const cli_command fit_command = {
    .name = "fit",
    .summary = "Fit a model: data, a response, a dimension",
    .on_ranks = true,
    .operands = "DATA",
    .required = "(--target COL | --target-file FILE) --dim Q --out MODEL",
    .details =
        "DATA is a table of text (.csv, .tsv, .txt, .asc: comma, semicolon, tab or blanks, with or without "
        "header), .npy or .npz, IDX or svmlight (which stays sparse). Each may be gzipped, and - is standard "
        "input. The content tells which it is, not the name.\n\n"
        "Text labels or few whole numbers are classes (--set task=... decides). Methods that do not look at "
        "the response (pca, autoencoder) do without, and the model then gives Z alone. Ctrl-C stops the fit "
        "and saves the model so far; a second Ctrl-C ends at once. With --checkpoint the same command goes "
        "on afterwards.",
    OPTIONS_OF(options, fit_values),
    .examples =
        "  stonet fit train.csv --target y --dim 2 --out my.model\n"
        "  stonet fit train.csv --target y --dim 2 --set hidden=64,32 --set epochs=50 --out my.model\n"
        "  stonet fit train.csv --target y --dim 1,2,5 --out my-{dim}.model\n"
        "  stonet fit x.asc --target-file y.asc --dim 3 --method gsir --learner logistic --out gsir.model\n"
        "  stonet fit x.csv --dim 2 --method pca --out pca.model",
    .run = fit,
};
