/* stonet report: a page to look at. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/plot_z.h"
#include "cli/progress.h"
#include "cli/say.h"

typedef struct report_values {
    target_options target;
    run_options run;
    const char *importance, *order, *out;
    int64_t points;
} report_values;

static const cli_option options[] = {
    TARGET_OPTIONS(report_values, target),
    OUT_OPTION(report_values, out, "The page to write (.html)"),
    {.name = "importance",
     .kind = OPTION_TEXT,
     .offset = offsetof(report_values, importance),
     .argument = "KIND",
     .initial = "permutation",
     .help = "Importance of the variables, asked of at most 2000 rows: permutation, gradient, shapley, or "
             "none"},
    {.name = "order",
     .kind = OPTION_TEXT,
     .offset = offsetof(report_values, order),
     .argument = "FILE.json",
     .help = "Show the dimensions that 'stonet order --json' has compared"},
    {.name = "points",
     .kind = OPTION_INTEGER,
     .offset = offsetof(report_values, points),
     .argument = "N",
     .initial = "20000",
     .low = 1,
     .high = 200000,
     .help = "Rows that are shown one by one, at the most: those of more are drawn at random, while scores, "
             "tables and curves are of all"},
    RUN_OPTIONS(report_values, run),
};

/* Enters a part that says itself why it is not there; false, with a sentence said, when it is not. */
static bool keep(const page_subject *about, json_t *content, const char *key, json_t *part)
{
    if (part == NULL) return false;
    if (page_put(content, key, part)) return true;
    say_error(about->command, "memory ran out");
    return false;
}

/* ---- parts that commands of their own print ---------------------------------------------------- */

/* At most `most` rows, drawn by the seed. */
static stonet_status sample(const page_subject *about, int64_t most, stonet_data **out)
{
    enum { STREAM = 15 };
    const int64_t n = stonet_data_rows(about->data);
    int64_t *order = malloc((size_t)(n + 1) * sizeof *order);
    if (order == NULL) return stonet_fail(STONET_ERROR_MEMORY, "memory ran out");
    stonet_status status = stonet_permutation(about->run->seed, STREAM, n, order);
    if (status == STONET_OK) status = stonet_data_subset(about->data, order, n < most ? n : most, out);
    free(order);
    return status;
}

/* {"kind", "asked", "rows"}, largest first. */
static json_t *importance_json(const page_subject *about, const char *kind, const stonet_data *rows)
{
    stonet_importance_options how = STONET_IMPORTANCE_OPTIONS_INIT;
    stonet_importance_result *found = NULL;
    stonet_status status = stonet_importance_kind_find(kind, &how.kind);
    if (status == STONET_OK) status = stonet_importance(about->model, rows, &how, about->run, &found);
    progress_clear();
    json_t *list = NULL;
    if (status == STONET_OK)
        list = take_json(about->command, stonet_importance_json(found));
    else
        say_failure(about->command, status);
    stonet_importance_free(found);
    if (list == NULL) return NULL;
    json_t *all =
        json_pack("{s:s, s:I, s:o}", "kind", kind, "asked", (json_int_t)stonet_data_rows(rows), "rows", list);
    if (all == NULL) say_error(about->command, "memory ran out");
    return all;
}

static json_t *coef_json(const page_subject *about, const stonet_data *rows)
{
    stonet_coef_result *found = NULL;
    stonet_status status = stonet_coef(about->model, rows, NULL, about->run, &found);
    progress_clear();
    json_t *json = NULL;
    if (status == STONET_OK)
        json = take_json(about->command, stonet_coef_json(found));
    else
        say_failure(about->command, status);
    stonet_coef_free(found);
    return json;
}

/* The names of the variables to show beside a row: the most important, or the first. */
static json_t *variables_of(const page_subject *about, const json_t *importance)
{
    enum { MOST = 8 };
    json_t *names = json_array();
    const json_t *rows = json_object_get(importance, "rows");
    for (size_t k = 0; rows != NULL && k < json_array_size(rows) && k < MOST; k++) {
        const json_t *best = NULL;
        for (size_t j = 0; j < json_array_size(rows); j++) {
            const json_t *row = json_array_get(rows, j);
            bool taken = false;
            for (size_t i = 0; i < json_array_size(names); i++)
                taken = taken || json_equal(json_array_get(names, i), json_object_get(row, "variable"));
            if (!taken && (best == NULL || json_number_value(json_object_get(row, "importance")) >
                                               json_number_value(json_object_get(best, "importance"))))
                best = row;
        }
        if (best != NULL) names = page_add(names, json_incref(json_object_get(best, "variable")));
    }
    for (int64_t j = 0; rows == NULL && j < stonet_data_columns(about->data) && j < MOST; j++)
        names = page_add(names, page_text(stonet_data_column_name(about->data, j)));
    return names;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The scores that have a meaning for the response, [name, value] each; NULL, with a sentence said, when that
   fails. */
static json_t *scores_json(const page_subject *about)
{
    stonet_scores scores = STONET_SCORES_INIT;
    const stonet_use_options how = {.size = sizeof how, .threads = about->run->threads, .seed = 1};
    const stonet_status status = stonet_score(about->model, about->data, &how, &scores);
    if (status != STONET_OK) {
        say_failure(about->command, status);
        return NULL;
    }
    const char *sets = scores.is_classifier ? "mean size of the sets" : "mean width of the intervals";
    const struct {
        const char *name;
        double value;
    } all[] = {
        {"error rate", scores.error_rate},
        {"balanced accuracy", scores.balanced_accuracy},
        {"log loss", scores.log_loss},
        {"Brier score", scores.brier},
        {"AUC", scores.auc},
        {"calibration error", scores.calibration_error},
        {"R²", scores.r2},
        {"mean squared error", scores.mse},
        {"correlation", scores.correlation},
        {"asked coverage", scores.level},
        {"coverage", scores.coverage},
        {sets, scores.width},
    };
    json_t *list = json_array();
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!isnan(all[k].value))
            list = page_add(list, json_pack("[s,o]", all[k].name, json_number(all[k].value)));
    if (list == NULL) say_error(about->command, "memory ran out");
    return list;
}

static json_t *class_names(const page_subject *about)
{
    json_t *names = json_array();
    for (int64_t k = 0; stonet_model_is_classifier(about->model) && k < stonet_model_outputs(about->model);
         k++)
        names = page_add(names, page_text(stonet_model_class_label(about->model, k)));
    return names;
}

/* The names of the responses in the JSON of the model: of several numbers a list, else one or none. */
static json_t *target_names(const json_t *about)
{
    const json_t *several = json_object_get(about, "targets"), *one = json_object_get(about, "target");
    json_t *names = json_array();
    for (size_t k = 0; k < json_array_size(several); k++)
        names = page_add(names, json_incref(json_object_get(json_array_get(several, k), "name")));
    if (!json_is_array(several) && json_is_string(one)) names = page_add(names, json_incref((json_t *)one));
    return names;
}

/* What is told of all rows; needs predictions and responses. */
static bool put_tables(json_t *content, const page_rows *rows)
{
    if (rows->predicted == NULL || (rows->label == NULL && rows->response == NULL)) return true;
    if (rows->is_classifier && !page_put(content, "confusion", page_confusion(rows))) return false;
    return page_put(content, "calibration", page_calibration(rows)) &&
           page_put(content, "histogram", page_histogram(rows));
}

static bool put_model(json_t *content, const page_subject *about)
{
    json_t *model = take_json(about->command, stonet_model_json(about->model));
    if (model == NULL) return false;
    bool whole = page_put(content, "targets", target_names(model)) && page_put(content, "about", model);
    errno = 0;
    char *history = stonet_model_history_csv(about->model);
    if (history == NULL && errno == ENOMEM) whole = false;
    if (whole && history != NULL) whole = page_put(content, "history", history_json(history));
    stonet_string_free(history);
    return whole;
}

/* The parts that take time; false when one of them failed, which it has said. */
static bool put_answers(json_t *content, const page_subject *about, const report_values *values)
{
    enum { ASKED = 2000 };
    stonet_data *rows = NULL;
    const stonet_status status = sample(about, ASKED, &rows);
    if (status != STONET_OK) {
        say_failure(about->command, status);
        return false;
    }
    bool whole = keep(about, content, "coef", coef_json(about, rows));
    const bool predicts = json_object_get(content, "calibration") != NULL;
    if (whole && predicts && strcmp(values->importance, "none") != 0)
        whole = keep(about, content, "importance", importance_json(about, values->importance, rows));
    stonet_data_free(rows);
    return whole;
}

/* What is there without asking much. */
static bool put_facts(json_t *content, const page_subject *about, const page_rows *rows)
{
    const char *task = rows->outputs == 0 ? "none" : rows->is_classifier ? "classification" : "regression";
    return page_put(content, "version", json_string(stonet_version())) &&
           page_put(content, "task", json_string(task)) && page_put(content, "rows", json_integer(rows->n)) &&
           put_model(content, about) && page_put(content, "scores", json_array()) &&
           page_put(content, "classes", class_names(about)) && put_tables(content, rows);
}

static bool put_points(json_t *content, const page_subject *about, const page_rows *rows)
{
    int64_t shown = 0;
    json_t *variables = variables_of(about, json_object_get(content, "importance"));
    const bool whole = variables != NULL &&
                       page_put(content, "points", page_points(about, rows, variables, &shown)) &&
                       page_put(content, "shown", json_integer(shown));
    json_decref(variables);
    return whole;
}

static int fill(json_t *content, const page_subject *about, const report_values *values)
{
    page_rows rows;
    int result = page_rows_make(about, &rows);
    if (result == EXIT_DONE && !put_facts(content, about, &rows)) {
        say_error(about->command, "memory ran out");
        result = EXIT_FAILED;
    }
    if (result == EXIT_DONE && rows.predicted != NULL && !keep(about, content, "scores", scores_json(about)))
        result = EXIT_FAILED;
    if (result == EXIT_DONE && !put_answers(content, about, values)) result = EXIT_FAILED;
    if (result == EXIT_DONE && !put_points(content, about, &rows)) {
        say_error(about->command, "memory ran out");
        result = EXIT_FAILED;
    }
    page_rows_free(&rows);
    return result;
}

/* The table of 'stonet order --json', as it was printed. */
static int read_order(const cli_command *command, const char *path, json_t *content)
{
    if (path == NULL) return EXIT_DONE;
    json_error_t error = {.text = "its parts are others"};
    json_t *order = json_load_file(path, 0, &error);
    const bool fits =
        json_is_array(json_object_get(order, "rows")) && json_is_string(json_object_get(order, "rule")) &&
        json_is_string(json_object_get(order, "method")) && json_is_string(json_object_get(order, "reason"));
    if (fits && page_put(content, "order", json_incref(order))) {
        json_decref(order);
        return EXIT_DONE;
    }
    json_decref(order);
    say_error(command, "%s is not what 'stonet order --json' prints: %s", path, error.text);
    return EXIT_FAILED;
}

static int write_page(const cli_command *command, const report_values *values, const page_subject *about,
                      json_t *content)
{
    int result = fill(content, about, values);
    if (result != EXIT_DONE) return result;
    char *page = page_render(content);
    if (page == NULL) {
        say_error(command, "memory ran out while the page was written");
        return EXIT_FAILED;
    }
    result = output_text(command, values->out, page);
    free(page);
    if (result == EXIT_DONE && !values->run.quiet) fprintf(stderr, "page written to %s\n", values->out);
    return result;
}

static int check_values(const cli_command *command, const report_values *values)
{
    stonet_importance_kind kind;
    if (values->out == NULL) {
        say_usage(command, "the page is missing: give --out FILE.html");
        return EXIT_USAGE;
    }
    if (strcmp(values->importance, "none") != 0 &&
        stonet_importance_kind_find(values->importance, &kind) != STONET_OK) {
        say_usage(command, "%s", stonet_last_error());
        return EXIT_USAGE;
    }
    return output_check(command, values->out);
}

static int report(const cli_command *command, const cli_arguments *given, const report_values *values)
{
    stonet_model *model = NULL;
    stonet_data *data = NULL;
    json_t *content = json_object();
    int result = check_values(command, values);
    if (result == EXIT_DONE) result = read_model(command, given->operand[0], &model);
    if (result == EXIT_DONE && stonet_model_outputs(model) > 0)
        result = require_target(command, &values->target);
    if (result == EXIT_DONE) result = read_order(command, values->order, content);
    if (result == EXIT_DONE)
        result =
            read_data_for(command, model, given->operand[1], &values->target, values->run.threads, &data);
    if (result == EXIT_DONE) {
        stonet_run run;
        start_run(&values->run, &run);
        const page_subject about = {
            .command = command, .model = model, .data = data, .run = &run, .most_points = values->points};
        if (page_put(content, "model", page_text(base_name(given->operand[0]))) &&
            page_put(content, "data", page_text(base_name(given->operand[1])))) {
            result = write_page(command, values, &about, content);
        } else {
            say_error(command, "memory ran out");
            result = EXIT_FAILED;
        }
    }
    json_decref(content);
    stonet_data_free(data);
    stonet_model_free(model);
    return result;
}

static int run(const cli_command *command, int argc, char **argv)
{
    report_values values = {0};
    cli_arguments given;
    parse_result parsed = options_parse(command, argc, argv, &values, &given);
    int result = parsed == PARSE_WRONG ? EXIT_USAGE : EXIT_DONE;
    if (parsed == PARSE_OK) result = report(command, &given, &values);
    options_free(command, &values);
    return result;
}

const cli_command report_command = {
    .program = "stonet",
    .name = "report",
    .summary = "Make a page to look at: Z, predictions, variables",
    .operands = "MODEL DATA",
    .required = "(--target COL | --target-file FILE) --out FILE.html",
    .details =
        "One HTML file that a browser opens from disk; nothing is fetched. It shows Z by response (choose "
        "axes,\n"
        "point at rows, drag to select some), predicted against observed or the confusion table, "
        "calibration,\n"
        "residuals, importance, coefficients, the training curve and the settings. DATA should be rows the "
        "model\n"
        "was not fitted on.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = "  stonet report my.model test.csv --target y --out report.html\n"
                "  stonet order train.csv --target y --json > order.json\n"
                "  stonet report my.model test.csv --target y --order order.json --out report.html",
    .run = run,
};
