/* stonet order: how many dimensions are enough. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"
#include "cli/svg.h"

typedef struct order_values {
    target_options target;
    spec_options spec;
    run_options run;
    const char *rule, *plot;
    int64_t max, resamples, folds;
    double level;
    bool json;
} order_values;

static const cli_option options[] = {
    TARGET_OPTIONS(order_values, target),
    RESPONSE_OPTIONS(order_values, target),
    GROUP_OPTION(order_values, target),
    COLUMN_OPTIONS(order_values, target),
    WORD_OPTION(
        order_values, rule, "rule", "NAME", "auto",
        "cv: held-out loss, near the best; ladle: eigenvalues and how eigenvectors "
        "move in resamples; augmentation: eigenvectors on added noise; tests: in sequence; bic: "
        "penalised eigenvalues; independence: tests of sufficiency. auto: ladle for pca, sir, save, dr "
        "and phd (augmentation when wide), else cv"),
    NUMBER_OPTION(order_values, max, "max", "K", "0", 0, 100000,
                  "The largest dimension to look at; 0: as many as the rule and the data allow"),
    REAL_OPTION(order_values, level, "level", "A", "0.05", 0, 1, "Level of the tests"),
    NUMBER_OPTION(order_values, resamples, "resamples", "B", "0", 0, 1000000,
                  "Resamples of ladle (200), augmentation (10) and permutation tests (199); 0: those"),
    NUMBER_OPTION(order_values, folds, "folds", "K", "5", 2, 1000,
                  "Parts of the cross-validation of rule cv"),
    JSON_OPTION(order_values, json),
    FILE_OPTION(order_values, plot, "plot", "FILE.svg", "Draw the criterion over the dimensions"),
    SPEC_OPTIONS(order_values, spec),
    RUN_OPTIONS(order_values, run),
};

static void cell_text(double value, int64_t column, char text[32])
{
    if (isnan(value))
        snprintf(text, 32, "-");
    else if (column == 0)
        snprintf(text, 32, "%.0f", value);
    else
        snprintf(text, 32, "%.4g", value);
}

/* k, the columns of the rule, and a mark at the chosen k. Below the table stands the reason. */
static int print_table(const cli_command *command, const stonet_order_result *found)
{
    output out;
    output_open(NULL, &out);
    enum { MOST_COLUMNS = 16 };
    const int64_t columns = stonet_order_columns(found), chosen = stonet_order_chosen(found);
    char align[MOST_COLUMNS + 2] = "";
    for (int64_t c = 0; c < columns && c < MOST_COLUMNS; c++) {
        align[c] = 'r';
        align[c + 1] = 'l'; /* the mark of the chosen one */
    }
    AUTO(table) *printed = table_create(align);
    for (int64_t c = 0; c < columns; c++) table_add(printed, "%s", stonet_order_column_name(found, c));
    table_add(printed, "%s", "");
    for (int64_t i = 0; i < stonet_order_rows(found); i++) {
        for (int64_t c = 0; c < columns; c++) {
            char text[32];
            cell_text(stonet_order_value(found, i, c), c, text);
            table_add(printed, "%s", text);
        }
        table_add(printed, "%s", (int64_t)stonet_order_value(found, i, 0) == chosen ? "<- chosen" : "");
    }
    table_print(printed, true, out.stream);
    fprintf(out.stream, "\nchosen: %lld (%s): %s.\n", (long long)chosen, stonet_order_rule_name(found),
            stonet_order_reason(found));
    return output_close(command, &out);
}

/* The column that the rule decides by, over k. */
static int draw(const cli_command *command, const char *path, const stonet_order_result *found)
{
    const int64_t rows = stonet_order_rows(found);
    BLOCK double *x = room_for(3 * rows, sizeof *x);
    double *y = x + rows, *error = y + rows;
    const bool has_error =
        stonet_order_columns(found) > 2 && strcmp(stonet_order_column_name(found, 2), "se") == 0;
    const double at = (double)stonet_order_chosen(found);
    double height = (double)NAN;
    for (int64_t i = 0; i < rows; i++) {
        x[i] = stonet_order_value(found, i, 0);
        y[i] = stonet_order_value(found, i, 1);
        if (has_error) error[i] = stonet_order_value(found, i, 2);
        if (x[i] == at) height = y[i];
    }
    const char *criterion = stonet_order_column_name(found, 1);
    const svg_series series[] = {
        {.label = criterion, .n = rows, .x = x, .y = y, .error = has_error ? error : NULL},
        {.label = "chosen", .n = 1, .x = &at, .y = &height, .open = true},
    };
    const svg_panel panel = {
        .kind = SVG_LINE, .x_label = "dimension k", .y_label = criterion, .series = series, .n_series = 2};
    char title[96];
    snprintf(title, sizeof title, "dimension by %s: %lld", stonet_order_rule_name(found),
             (long long)stonet_order_chosen(found));
    const svg_figure figure = {.title = title, .panels = &panel, .n_panels = 1, .columns = 1};
    return output_plot(command, path, svg_render(&figure));
}

static int finish(const cli_command *command, const order_values *values, const stonet_order_result *found)
{
    if (values->plot != NULL) TRY(draw(command, values->plot, found));
    return values->json ? output_made_json(command, NULL, stonet_order_json(found))
                        : print_table(command, found);
}

/* A response is needed if the method uses one. Methods without one (pca) are still given --target, if it is
   there, so that it is no column of x. */
static int choose(const cli_command *command, const cli_arguments *given, void *parsed)
{
    order_values *values = parsed;
    BLOCK char *response = NULL;
    stonet_order_options how = STONET_ORDER_OPTIONS_INIT;
    how.max = values->max;
    how.level = values->level;
    how.resamples = values->resamples;
    how.folds = (int)values->folds;
    AUTO(stonet_spec) *spec = NULL;
    AUTO(stonet_data) *data = NULL;
    AUTO(stonet_order_result) *found = NULL;
    if (stonet_order_rule_find(values->rule, &how.rule) != STONET_OK)
        return say_usage(command, "%s", stonet_last_error());
    TRY(make_spec(command, &values->spec, NULL, &spec));
    TRY(name_response(command, &values->target, spec, &response));
    if (stonet_spec_needs_response(spec) || has_target(&values->target))
        TRY(require_target(command, &values->target));
    TRY(output_check(command, values->plot));
    TRY(read_data(command, given->operand[0], &values->target, values->run.threads, &data));
    stonet_run run = run_of(&values->run);
    TRY(outcome(command, stonet_order(spec, data, &how, &run, &found)));
    return finish(command, values, found);
}

const cli_command order_command = {
    .name = "order",
    .summary = "Choose how many reduced variables are enough",
    .operands = "DATA",
    .required = "(--target COL | --target-file FILE)",
    .details =
        "Prints a table over k = 0, 1, .. and the dimension that the rule chooses from it. 0 means that x "
        "was found to say nothing about the response. For linear methods this is the structural dimension. "
        "For a flexible network one number can hold the mean, and one fewer than the classes hold the "
        "classes. Its order depends on the rows at hand.",
    OPTIONS_OF(options, order_values),
    .examples = "  stonet order table.csv --target y --method sir\n"
                "  stonet order table.csv --target y --method dr --rule tests --json\n"
                "  stonet order table.csv --target y --rule cv --max 4 --plot order.svg",
    .run = choose,
};
