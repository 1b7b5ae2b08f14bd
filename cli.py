def sub(p, pairs):
    s=open(p).read()
    for a,b in pairs:
        assert a in s, (p,a)
        s=s.replace(a,b,1)
    open(p,'w').write(s)
sub('cli/commands.h',[('extern const cli_command importance_command;\n','extern const cli_command importance_command;\nextern const cli_command calibrate_command;\n')])
sub('cli/main.c',[('&importance_command,','&importance_command,   &calibrate_command,')])
sub('cli/common.h',[('''/* A run with notes and a progress line''','''/* A share between 0 and 1, both excluded, given to an option; NULL text leaves *level as it is. */
int parse_level(const cli_command *command, const char *option, const char *text, double *level);

/* "calibrated by cv+ with 300 rows, temperature 1.1", on stderr. */
void say_calibration(const stonet_model *model);

/* A run with notes and a progress line''')])
sub('cli/common.c',[('''void start_run(''','''int parse_level(const cli_command *command, const char *option, const char *text, double *level)
{
    if (text == NULL) return EXIT_DONE;
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end != '\\0' || !(value > 0.0 && value < 1.0)) {
        say_usage(command, "--%s takes a share between 0 and 1, such as 0.9, not '%s'", option, text);
        return EXIT_USAGE;
    }
    *level = value;
    return EXIT_DONE;
}

void say_calibration(const stonet_model *model)
{
    char *text = stonet_model_json(model);
    json_t *about = text != NULL ? json_loads(text, 0, NULL) : NULL;
    const json_t *calibration = json_object_get(about, "calibration");
    if (json_is_object(calibration)) {
        fprintf(stderr, "calibrated by %s with %lld rows", json_text(calibration, "kind"),
                (long long)json_integer_value(json_object_get(calibration, "rows")));
        const json_t *temperature = json_object_get(calibration, "temperature");
        if (temperature != NULL)
            fprintf(stderr, ", temperature of the probabilities %.3g", json_number_value(temperature));
        fputc('\\n', stderr);
    }
    json_decref(about);
    stonet_string_free(text);
}

void start_run(''')])
sub('cli/predict.c',[('''    bool proba;
    const char *out;
} predict_values;''','''    bool proba, by_class;
    const char *interval, *sets, *out;
} predict_values;'''),
('''    THREADS_OPTION(predict_values, threads),
};''','''    {.name = "interval",
     .kind = OPTION_TEXT,
     .offset = offsetof(predict_values, interval),
     .argument = "LEVEL",
     .help = "Numbers of a calibrated model: also an interval that has the response in this share of new rows, "
             "0.9 say (columns prediction, low, high)"},
    {.name = "sets",
     .kind = OPTION_TEXT,
     .offset = offsetof(predict_values, sets),
     .argument = "LEVEL",
     .help = "Classes of a calibrated model: the set that has the true class in this share of new rows (a "
             "column for each class, 1 inside and 0 outside)"},
    {.name = "by-class",
     .kind = OPTION_FLAG,
     .offset = offsetof(predict_values, by_class),
     .help = "With --sets: in this share of the rows of every class, rare ones too"},
    THREADS_OPTION(predict_values, threads),
};'''),
('''static int run(const cli_command *command''','''/* How sure, instead of the plain prediction. */
static int predict_sure(const cli_command *command, const predict_values *values, const stonet_model *model,
                        const stonet_data *data)
{
    stonet_use_options how = {
        .size = sizeof how, .threads = (int)values->threads, .by_class = values->by_class};
    if (values->proba || (values->interval != NULL && values->sets != NULL)) {
        say_usage(command, "--proba, --interval and --sets are three different answers: ask for one");
        return EXIT_USAGE;
    }
    int result = parse_level(command, "interval", values->interval, &how.level);
    if (result == EXIT_DONE) result = parse_level(command, "sets", values->sets, &how.level);
    if (result != EXIT_DONE) return result;
    return values->sets != NULL ? write_sets(command, values->out, model, data, &how)
                                : write_intervals(command, values->out, model, data, &how);
}

static int run(const cli_command *command'''),
('''    if (result == EXIT_DONE) result = predict(command, &values, model, data);
''','''    if (result == EXIT_DONE)
        result = values.interval != NULL || values.sets != NULL ? predict_sure(command, &values, model, data)
                                                                : predict(command, &values, model, data);
'''),
('''    int result = values.out != NULL ? output_check(command, values.out) : EXIT_DONE;
''','''    int result = EXIT_DONE;
    if (values.by_class && values.sets == NULL) {
        say_usage(command, "--by-class is for --sets");
        result = EXIT_USAGE;
    }
    if (result == EXIT_DONE && values.out != NULL) result = output_check(command, values.out);
'''),
('''               "passed over.",
    .options''','''               "passed over. Intervals and sets need a model that was calibrated: 'fit --calibrate' or "
               "'stonet calibrate'.",
    .options'''),
('''    .summary = "Predict the response: classes, probabilities or numbers",''','''    .summary = "Predict the response: classes, probabilities, numbers, intervals or sets",'''),
('''--proba --out probabilities.csv",''','''--proba --out probabilities.csv\\n"
                "  stonet predict my.model test.csv --interval 0.9\\n"
                "  stonet predict my.model test.csv --sets 0.9 --by-class",'''),
('#include "cli/common.h"\n','#include "cli/common.h"\n#include "cli/intervals.h"\n'),
])
sub('cli/score.c',[
('''    bool json, sufficiency;
} score_values;''','''    bool json, sufficiency, by_class;
    const char *level;
} score_values;'''),
('''    RUN_OPTIONS(score_values, run),
};''','''    {.name = "level",
     .kind = OPTION_TEXT,
     .offset = offsetof(score_values, level),
     .argument = "LEVEL",
     .help = "Of the intervals or sets of a calibrated model: the share of rows they are to hold (0.9)"},
    {.name = "by-class",
     .kind = OPTION_FLAG,
     .offset = offsetof(score_values, by_class),
     .help = "Sets as of 'predict --sets LEVEL --by-class'"},
    RUN_OPTIONS(score_values, run),
};'''),
('enum { MAX_NUMBERS = 12 };','enum { MAX_NUMBERS = 20, MOST_SHOWN = 20 };'),
('''    if (scores->is_classifier) {
        number[0] = (named_number){"error_rate", scores->error_rate};
        number[1] = (named_number){"accuracy", scores->accuracy};
        number[2] = (named_number){"log_loss", scores->log_loss};
        return 3;
    }
    number[0] = (named_number){"mse", scores->mse};
    number[1] = (named_number){"mse_scaled", scores->mse_scaled};
    number[2] = (named_number){"r2", scores->r2};
    number[3] = (named_number){"correlation", scores->correlation};
    return 4;
}''','''    int count = 0;
    if (scores->is_classifier) {
        number[count++] = (named_number){"error_rate", scores->error_rate};
        number[count++] = (named_number){"accuracy", scores->accuracy};
        number[count++] = (named_number){"balanced_accuracy", scores->balanced_accuracy};
        number[count++] = (named_number){"auc", scores->auc};
        number[count++] = (named_number){"log_loss", scores->log_loss};
        number[count++] = (named_number){"brier", scores->brier};
        number[count++] = (named_number){"calibration_error", scores->calibration_error};
    } else {
        number[count++] = (named_number){"mse", scores->mse};
        number[count++] = (named_number){"mse_scaled", scores->mse_scaled};
        number[count++] = (named_number){"r2", scores->r2};
        number[count++] = (named_number){"correlation", scores->correlation};
    }
    if (isnan(scores->level)) return count; /* not calibrated */
    number[count++] = (named_number){"level", scores->level};
    number[count++] = (named_number){"coverage", scores->coverage};
    number[count++] = (named_number){scores->is_classifier ? "set_size" : "interval_width", scores->width};
    return count;
}

/* How the classes are taken for each other; NULL for numbers. */
typedef struct confusion {
    int64_t classes;
    const stonet_model *model;
    int64_t *table; /* true x predicted */
} confusion;

static int find_confusion(const cli_command *command, const stonet_model *model, const stonet_data *data,
                          int threads, confusion *out)
{
    *out = (confusion){.model = model};
    if (!stonet_model_is_classifier(model)) return EXIT_DONE;
    out->classes = stonet_model_outputs(model);
    out->table = calloc((size_t)(out->classes * out->classes), sizeof *out->table);
    if (out->table == NULL) {
        say_error(command, "memory ran out");
        return EXIT_FAILED;
    }
    stonet_use_options how = {.size = sizeof how, .threads = threads};
    stonet_status status = stonet_confusion(model, data, &how, out->table);
    return status == STONET_OK ? EXIT_DONE : say_failure(command, status);
}

static json_t *confusion_json(const confusion *found)
{
    json_t *rows = json_array();
    for (int64_t i = 0; i < found->classes; i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < found->classes; j++)
            json_array_append_new(row, json_integer(found->table[i * found->classes + j]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *labels_json(const confusion *found)
{
    json_t *labels = json_array();
    for (int64_t c = 0; c < found->classes; c++)
        json_array_append_new(labels, json_string(stonet_model_class_label(found->model, c)));
    return labels;
}

/* Rows are the true classes, columns what they are taken for. */
static int print_confusion(const cli_command *command, const confusion *found)
{
    char align[MOST_SHOWN + 2] = "l";
    if (found->table == NULL || found->classes > MOST_SHOWN) return EXIT_DONE;
    for (int64_t c = 0; c < found->classes; c++) align[c + 1] = 'r';
    table *shown = table_create(align);
    if (shown == NULL) {
        say_error(command, "memory ran out");
        return EXIT_FAILED;
    }
    table_add(shown, "true \\\\ predicted");
    for (int64_t c = 0; c < found->classes; c++)
        table_add(shown, "%s", stonet_model_class_label(found->model, c));
    for (int64_t i = 0; i < found->classes; i++) {
        table_add(shown, "%s", stonet_model_class_label(found->model, i));
        for (int64_t j = 0; j < found->classes; j++)
            table_add(shown, "%lld", (long long)found->table[i * found->classes + j]);
    }
    putchar('\\n');
    int result = output_table(command, NULL, shown, true);
    table_free(shown);
    return result;
}'''),
('''static int print_numbers(const cli_command *command, int64_t n, const named_number *number, int count,
                         bool as_json)''','''static int print_numbers(const cli_command *command, int64_t n, const named_number *number, int count,
                         const confusion *confused, bool as_json)'''),
('''            json_object_set_new(object, number[i].name, json_number(number[i].value));
''','''            json_object_set_new(object, number[i].name, json_number(number[i].value));
        if (confused->table != NULL) {
            json_object_set_new(object, "classes", labels_json(confused));
            json_object_set_new(object, "confusion", confusion_json(confused));
        }
'''),
('''number[i].name, number[i].value);
    return output_close(command, &out);''','''number[i].name, number[i].value);
    result = output_close(command, &out);
    return result == EXIT_DONE ? print_confusion(command, confused) : result;'''),
('''    stonet_use_options how = {.size = sizeof how, .threads = (int)values->run.threads};
    stonet_status status = stonet_score''','''    stonet_use_options how = {
        .size = sizeof how, .threads = (int)values->run.threads, .by_class = values->by_class};
    int result = parse_level(command, "level", values->level, &how.level);
    if (result != EXIT_DONE) return result;
    if ((values->level != NULL || values->by_class) && !stonet_model_is_calibrated(model)) {
        say_error(command, "this model was not calibrated, so it has no intervals or sets to score: fit it with "
                           "--calibrate, or calibrate it with 'stonet calibrate'");
        return EXIT_FAILED;
    }
    stonet_status status = stonet_score'''),
('''    return print_numbers(command, scores.n, number, count, values->json);
''','''    confusion confused;
    result = find_confusion(command, model, data, how.threads, &confused);
    if (result == EXIT_DONE)
        result = print_numbers(command, scores.n, number, count, &confused, values->json);
    free(confused.table);
    return result;
'''),
('#include <stdio.h>\n','#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n'),
('''        "mse is in units of y, mse_scaled is divided by the variance of y in training.\\n"
''','''        "mse is in units of y, mse_scaled is divided by the variance of y in training. brier is the mean of\\n"
        "sum_c (p_c - 1{y = c})^2, calibration_error of |share right - largest probability| over 15 bins of\\n"
        "equal width of the latter; auc for several classes the mean of each against the rest. coverage and\\n"
        "interval_width or set_size are of the intervals or sets of a calibrated model.\\n"
'''),
('''    .summary = "Score predictions: error rate and log loss, or MSE, R2 and correlation",''','''    .summary = "Score predictions: error rate, log loss, AUC .. or MSE, R2 .., coverage",'''),
])
sub('cli/fit.c',[
('''    const char *dim, *log, *out;
} fit_values;''','''    const char *dim, *log, *out;
    bool calibrate;
} fit_values;'''),
('''    OUT_OPTION(fit_values, out, "The model''','''    {.name = "calibrate",
     .kind = OPTION_FLAG,
     .offset = offsetof(fit_values, calibrate),
     .help = "Also learn how sure predictions are, by ten refits (one from 5000 rows on): for 'predict "
             "--interval' and '--sets', and better probabilities"},
    OUT_OPTION(fit_values, out, "The model'''),
('''static bool is_open(''','''/* --calibrate: the model is saved before, so that a calibration that fails or is stopped does not lose it. */
static int calibrate(const cli_command *command, const fit_values *values, const stonet_data *train,
                     const stonet_run *run, stonet_model *model)
{
    if (!values->calibrate || stonet_model_outcome(model) != STONET_DONE) return EXIT_DONE;
    stonet_status status = stonet_model_save(model, values->out);
    if (status != STONET_OK) return say_failure(command, status);
    status = stonet_calibrate(model, train, NULL, run);
    progress_clear();
    if (status == STONET_OK) {
        if (!values->run.quiet) say_calibration(model);
        return EXIT_DONE;
    }
    fprintf(stderr, "note: the model was saved in %s, without a calibration\\n", values->out);
    return say_failure(command, status);
}

static bool is_open('''),
('''        result = status == STONET_OK ? finish(''','''        result = status == STONET_OK ? calibrate(command, values, train, &run, model)
                                     : say_failure(command, status);
        if (result == EXIT_DONE) result = finish('''),
('''progress_clock() - start)
                                     : say_failure(command, status);
''','''progress_clock() - start);
'''),
])
