/* stonet predict: the response of new data. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/print_intervals.h"
#include "cli/ranks.h"
#include "cli/say.h"

typedef struct predict_values {
    target_options target; /* no response: how to read the table alone */
    int64_t threads;
    bool json, quiet, proba, by_class, spread, missing_sd;
    const char *interval, *sets, *times, *out;
} predict_values;

static const cli_option options[] = {
    READ_OPTIONS(predict_values, target),
    ID_OPTION(predict_values, target,
              "The column that names the rows, for the output; that of the fit, if it is there"),
    OUT_OPTION(predict_values, out, "Write .csv, .npy (also .gz) or .json instead of CSV to stdout"),
    JSON_OPTION(predict_values, json),
    FLAG_OPTION(predict_values, proba, "proba",
                "The probability of each class instead of the most probable one"),
    TEXT_OPTION(predict_values, interval, "interval", "LEVEL",
                "Numbers of a calibrated model: also an interval that has the response in this share of new "
                "rows, 0.9 say (columns prediction, low, high)"),
    TEXT_OPTION(predict_values, sets, "sets", "LEVEL",
                "Classes of a calibrated model: the set that has the true class in this share of new rows (a "
                "column for each class, 1 inside and 0 outside)"),
    FLAG_OPTION(predict_values, by_class, "by-class",
                "With --sets: in this share of the rows of every class, rare ones too"),
    FLAG_OPTION(predict_values, spread, "spread",
                "The standard deviation beside each number, of a model with response=location-scale"),
    TEXT_OPTION(
        predict_values, times, "times", "T,..",
        "Of a model of times: the median, the probability of being beyond each of these, and the mean "
        "time up to the last"),
    FLAG_OPTION(predict_values, missing_sd, "missing-sd",
                "What missing cells leave open, beside each number or (--proba) probability: its standard "
                "deviation over draws of them, 0 for complete rows"),
    THREADS_OPTION(predict_values, threads),
    QUIET_OPTION(predict_values, quiet),
};

static int64_t most_probable(const double *probability, int64_t classes)
{
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++)
        if (probability[c] > probability[best]) best = c;
    return best;
}

static int write_labels(const cli_command *command, const rows_output *to, const stonet_model *model,
                        const double *probability, int64_t classes)
{
    const int64_t rows = stonet_data_rows(to->data);
    BLOCK const char **labels = room_for(rows, sizeof *labels);
    for (int64_t i = 0; i < rows; i++)
        labels[i] = stonet_model_class_label(model, most_probable(probability + i * classes, classes));
    return output_text_rows(command, to, labels, rows, "prediction");
}

/* NPY has no text: labels that are numbers go as numbers, others not at all. */
static int write_labels_npy(const cli_command *command, const rows_output *to, const stonet_model *model,
                            const double *probability, int64_t classes)
{
    const int64_t rows = stonet_data_rows(to->data);
    static const char *const names[] = {"prediction"};
    BLOCK double *label = room_for(rows, sizeof *label);
    for (int64_t i = 0; i < rows; i++) {
        const char *text = stonet_model_class_label(model, most_probable(probability + i * classes, classes));
        char *end = NULL;
        label[i] = strtod(text, &end);
        if (end == text || *end != '\0')
            return say_error(
                command, "the class '%s' is text, which .npy cannot hold: write .csv or use --proba", text);
    }
    return output_rows(command, to, label, rows, 1, names);
}

/* beside: what the second half of the columns, standard deviations of the first, is called; NULL: there is no
   such half. */
static int write_numbers(const cli_command *command, const rows_output *to, const stonet_model *model,
                         const double *values, int64_t columns, const char *beside)
{
    const bool classifier = stonet_model_is_classifier(model) != 0;
    const int64_t numbers = beside != NULL ? columns / 2 : columns;
    __attribute__((cleanup(names_free))) name_list names = {0};
    for (int64_t j = 0; j < columns; j++) {
        const char *what = j < numbers ? "prediction" : beside;
        const char *label = classifier ? stonet_model_class_label(model, j % numbers) : "";
        names_add(&names, classifier && j < numbers ? copy_of(label)
                          : classifier              ? text_of("%s_%s", label, what)
                          : numbers > 1             ? text_of("%s%" PRId64, what, j % numbers + 1)
                                                    : copy_of(what));
    }
    return output_rows(command, to, values, stonet_data_rows(to->data), columns,
                       (const char *const *)names.text);
}

/* Predictions and standard deviations side by side: of the response, or over draws of missing cells. */
static int predict_spread(const cli_command *command, const predict_values *values, const stonet_model *model,
                          const rows_output *to)
{
    const int64_t rows = stonet_data_rows(to->data), m = stonet_model_outputs(model);
    BLOCK double *both = room_for(4 * rows * m, sizeof *both);
    double *predicted = both + 2 * rows * m, *spread = both + 3 * rows * m;
    stonet_use_options how = {.size = sizeof how, .threads = (int)values->threads, .team = program_team()};
    TRY(outcome(command, stonet_predict(model, to->data, &how, predicted)));
    TRY(outcome(command, values->spread ? stonet_predict_spread(model, to->data, &how, spread)
                                        : stonet_missing_spread(model, to->data, &how, NULL, spread)));
    for (int64_t k = 0; k < rows * m; k++) {
        both[k / m * 2 * m + k % m] = predicted[k];
        both[k / m * 2 * m + m + k % m] = spread[k];
    }
    return write_numbers(command, to, model, both, 2 * m, values->spread ? "spread" : "missing_sd");
}

/* The times of --times, ascending; 0: they are none. */
static int64_t parse_times(const char *text, double *times, int64_t most)
{
    int64_t count = 0;
    for (char *end = NULL; count < most; text = end + 1) {
        times[count++] = strtod(text, &end);
        if (end == text || (*end != ',' && *end != '\0')) return 0;
        if (*end == '\0') return count;
    }
    return 0;
}

/* Median, survival and restricted mean side by side. */
static int predict_times(const cli_command *command, const predict_values *values, const stonet_model *model,
                         const rows_output *to)
{
    enum { MOST = 100 };
    const int64_t n = stonet_data_rows(to->data);
    double times[MOST];
    const int64_t count = parse_times(values->times, times, MOST), columns = count + 2;
    if (count == 0)
        return say_usage(command, "--times takes up to %d numbers, separated by commas, not '%s'", MOST,
                         values->times);
    BLOCK double *all = room_for(n * (2 * columns), sizeof *all);
    double *survival = all + n * columns, *mean = survival + n * count, *median = mean + n;
    stonet_use_options how = {.size = sizeof how, .threads = (int)values->threads};
    TRY(outcome(command, stonet_predict_survival(model, to->data, &how, times, count, survival, mean)));
    TRY(outcome(command, stonet_predict(model, to->data, &how, median)));
    for (int64_t k = 0; k < n * columns; k++) {
        const int64_t i = k / columns, j = k % columns;
        all[k] = j == 0 ? median[i] : j <= count ? survival[i * count + j - 1] : mean[i];
    }
    __attribute__((cleanup(names_free))) name_list names = {0};
    names_add(&names, copy_of("median"));
    for (int64_t j = 0; j < count; j++) names_add(&names, text_of("beyond_%g", times[j]));
    names_add(&names, text_of("mean_to_%g", times[count - 1]));
    return output_rows(command, to, all, n, columns, (const char *const *)names.text);
}

/* predicted: rows x outputs. Classifiers print labels, or with --proba the probabilities of all classes. .npy
   files hold numbers alone, so a label that is no number fails there. */
static int predict(const cli_command *command, const predict_values *values, const stonet_model *model,
                   const rows_output *to)
{
    int64_t rows = stonet_data_rows(to->data);
    int64_t columns = stonet_model_outputs(model);
    bool classifier = stonet_model_is_classifier(model) != 0;
    if (values->proba && !classifier)
        return say_usage(command, "--proba is for classes, and this is a regression model");
    if (values->spread && classifier)
        return say_usage(command, "--spread is for numbers, and this model predicts classes");
    if (values->missing_sd && (values->spread || (classifier && !values->proba)))
        return say_usage(command, "--missing-sd goes with plain numbers or with --proba, not with %s",
                         values->spread ? "--spread" : "labels");
    if (values->spread || values->missing_sd) return predict_spread(command, values, model, to);
    BLOCK double *predicted = room_for(rows * columns, sizeof *predicted);
    stonet_use_options how = {.size = sizeof how, .threads = (int)values->threads, .team = program_team()};
    TRY(outcome(command, stonet_predict(model, to->data, &how, predicted)));
    if (values->proba || !classifier) return write_numbers(command, to, model, predicted, columns, NULL);
    if (values->out != NULL && (ends_with(values->out, ".npy") || ends_with(values->out, ".npy.gz")))
        return write_labels_npy(command, to, model, predicted, columns);
    return write_labels(command, to, model, predicted, columns);
}

/* How sure, instead of the plain prediction. */
static int predict_sure(const cli_command *command, const predict_values *values, const stonet_model *model,
                        const rows_output *to)
{
    stonet_use_options how = {
        .size = sizeof how, .threads = (int)values->threads, .by_class = values->by_class};
    if (values->proba || (values->interval != NULL && values->sets != NULL))
        return say_usage(command, "--proba, --interval and --sets are three different answers: choose one");
    TRY(parse_level(command, "interval", values->interval, &how.level));
    TRY(parse_level(command, "sets", values->sets, &how.level));
    return values->sets != NULL ? write_sets(command, to, model, &how)
                                : write_intervals(command, to, model, &how);
}

static int run(const cli_command *command, const cli_arguments *given, void *parsed)
{
    predict_values *values = parsed;
    AUTO(stonet_model) *model = NULL;
    AUTO(stonet_data) *data = NULL;
    if (values->by_class && values->sets == NULL) return say_usage(command, "--by-class is for --sets");
    TRY(output_check(command, values->out));
    TRY(read_model(command, given->operand[0], &model));
    TRY(read_data_for(command, model, given->operand[1], &values->target, values->threads, &data));
    TRY(say_unseen(command, model, data, values->quiet));
    const rows_output to = {.path = values->out, .json = values->json, .quiet = values->quiet, .data = data};
    if (values->times != NULL) return predict_times(command, values, model, &to);
    return values->interval != NULL || values->sets != NULL ? predict_sure(command, values, model, &to)
                                                            : predict(command, values, model, &to);
}

const cli_command predict_command = {
    .name = "predict",
    .summary = "Predict the response: classes, probabilities, numbers, intervals or sets",
    .on_ranks = true,
    .operands = "MODEL DATA",
    .details =
        "DATA may have the response and other columns that the model does not use, also with blank cells. "
        "Intervals and sets need a model that was calibrated: 'fit --calibrate' or 'stonet calibrate'.",
    OPTIONS_OF(options, predict_values),
    .examples = "  stonet predict my.model test.csv\n"
                "  stonet predict my.model test.csv --proba --out probabilities.csv\n"
                "  stonet predict my.model test.csv --interval 0.9\n"
                "  stonet predict my.model test.csv --sets 0.9 --by-class",
    .run = run,
};
