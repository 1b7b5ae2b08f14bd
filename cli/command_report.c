/* stonet report: a page to look at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"

typedef struct report_values {
    target_options target;
    run_options run;
    const char *importance, *order, *out;
    int64_t points;
    bool json;
} report_values;

static const cli_option options[] = {
    TARGET_OPTIONS(report_values, target),
    OUT_OPTION(report_values, out, "The page to write (.html)"),
    WORD_OPTION(
        report_values, importance, "importance", "KIND", "permutation",
        "Importance of the variables, measured on at most 2000 rows: permutation, gradient, shapley, or "
        "none"),
    TEXT_OPTION(report_values, order, "order", "FILE.json",
                "Show the dimensions that 'stonet order --json' has compared"),
    NUMBER_OPTION(report_values, points, "points", "N", "20000", 1, 200000,
                  "Rows that are shown one by one, at the most: those of more are drawn at random, while "
                  "scores, tables and curves are of all"),
    FLAG_OPTION(report_values, json, "json", "Print what was written as JSON"),
    RUN_OPTIONS(report_values, run),
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The table of 'stonet order --json', as it was printed, to be freed. */
static int read_order(const cli_command *command, const char *path, char **text)
{
    if (path == NULL) return EXIT_DONE;
    json_error_t error = {.text = ""};
    AUTO(json_t) *order = json_load_file(path, 0, &error);
    if (order == NULL && (json_error_code(&error) == json_error_out_of_memory || error.text[0] == '\0'))
        must_have(NULL);
    if (order == NULL)
        return say_error(command, "%s is not what 'stonet order --json' prints: %s", path, error.text);
    *text = json_print(order, JSON_COMPACT);
    return EXIT_DONE;
}

/* The page names the model and the data by their files, without folders. --json prints its name and size, for
   scripts. */
static int write_page(const cli_command *command, const cli_arguments *given, const report_values *values,
                      const stonet_model *model, const stonet_data *data)
{
    stonet_report_options how = STONET_REPORT_OPTIONS_INIT;
    BLOCK char *order = NULL;
    BLOCK char *page = NULL;
    TRY(read_order(command, values->order, &order));
    how.model_name = base_name(given->operand[0]);
    how.data_name = base_name(given->operand[1]);
    how.importance = values->importance;
    how.order = order;
    how.points = values->points;
    stonet_run run = run_of(&values->run);
    TRY(outcome(command, stonet_report(model, data, &how, &run, &page)));
    TRY(output_text(command, values->out, page));
    if (!values->run.quiet) fprintf(stderr, "page written to %s\n", values->out);
    if (!values->json) return EXIT_DONE;
    return output_json(command, NULL,
                       json_pack("{s:s, s:I, s:I}", "file", values->out, "rows",
                                 (json_int_t)stonet_data_rows(data), "bytes", (json_int_t)strlen(page)));
}

static int check_values(const cli_command *command, const report_values *values)
{
    stonet_importance_kind kind;
    if (values->out == NULL) return say_usage(command, "the page is missing: give --out FILE.html");
    if (strcmp(values->importance, "none") != 0 &&
        stonet_importance_kind_find(values->importance, &kind) != STONET_OK)
        return say_usage(command, "%s", stonet_last_error());
    if (values->json && strcmp(values->out, "-") == 0)
        return say_usage(command, "--json and --out - would both write to standard output");
    return output_check(command, values->out);
}

static int report(const cli_command *command, const cli_arguments *given, void *parsed)
{
    const report_values *values = parsed;
    target_options target = values->target;
    AUTO(stonet_model) *model = NULL;
    AUTO(stonet_data) *data = NULL;
    TRY(check_values(command, values));
    TRY(read_model(command, given->operand[0], &model));
    if (stonet_model_outputs(model) > 0) TRY(require_target_of_model(command, &target));
    TRY(read_data_for(command, model, given->operand[1], &target, values->run.threads, &data));
    TRY(say_met(command, model, data, values->run.quiet));
    return write_page(command, given, values, model, data);
}

const cli_command report_command = {
    .name = "report",
    .summary = "Make a page to look at: Z, predictions, variables",
    .operands = "MODEL DATA",
    .required = "--out FILE.html",
    .details =
        "One HTML file that a browser opens from disk; nothing is fetched. It shows Z by response (choose "
        "axes, point at rows, drag to select some), calibration, residuals, importance, coefficients, the "
        "training curve and the settings. Classes have the confusion table, numbers predicted against "
        "observed. DATA should be rows the model was not fitted on.",
    OPTIONS_OF(options, report_values),
    .examples = "  stonet report my.model test.csv --target y --out report.html\n"
                "  stonet order train.csv --target y --json > order.json\n"
                "  stonet report my.model test.csv --target y --order order.json --out report.html",
    .run = report,
};
