/* stonet coef: what the columns of Z are made of. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/print_results.h"
#include "cli/progress.h"
#include "cli/say.h"

typedef struct coef_values {
    target_options target;
    run_options run;
    results_options results;
    bool se;
} coef_values;

static const cli_option options[] = {
    FLAG_OPTION(coef_values, se, "se",
                "Standard errors of the directions of a linear method, by fits on 25 pairs of halves of the "
                "rows. DATA are the rows it was fitted on, with the response"),
    TARGET_OPTIONS(coef_values, target),
    GROUP_OPTION(coef_values, target.group),
    RESULTS_OPTIONS(coef_values, results),
    RUN_OPTIONS(coef_values, run),
};

/* The columns of the table for people: what fits on a screen. */
static int print_table(const cli_command *command, const char *path, const stonet_coef_result *found)
{
    enum { MOST_COLUMNS = 20 };
    const int64_t all = stonet_coef_columns(found), shown = all < MOST_COLUMNS ? all : MOST_COLUMNS;
    char align[MOST_COLUMNS + 2] = "l";
    for (int64_t c = 0; c < shown; c++) align[1 + c] = 'r';
    table *printed = table_create(align);
    table_add(printed, "feature");
    for (int64_t c = 0; c < shown; c++) table_add(printed, "%s", stonet_coef_column_name(found, c));
    for (int64_t j = 0; j < stonet_coef_rows(found); j++) {
        table_add(printed, "%s", stonet_coef_feature(found, j));
        for (int64_t c = 0; c < shown; c++) table_add(printed, "%.4g", stonet_coef_value(found, j, c));
    }
    if (isfinite(stonet_coef_share(found, 1))) {
        table_add(printed, "(share)");
        const int64_t first = all - (stonet_coef_columns(found) / 2);
        for (int64_t c = 0; c < shown; c++) {
            if (isfinite(stonet_coef_share(found, c - first + 1)))
                table_add(printed, "%.4g", stonet_coef_share(found, c - first + 1));
            else
                table_add(printed, "%s", "");
        }
    }
    int result = output_table(command, path, printed, true);
    table_free(printed);
    if (result == EXIT_DONE && shown < all)
        fprintf(stderr, "note: %lld of %lld columns are shown; --csv and --json have all\n", (long long)shown,
                (long long)all);
    return result;
}

static int print_csv(const cli_command *command, const char *path, const stonet_coef_result *found)
{
    output out;
    int result = output_open(command, path, &out);
    if (result != EXIT_DONE) return result;
    fprintf(out.stream, "feature");
    for (int64_t c = 0; c < stonet_coef_columns(found); c++)
        fprintf(out.stream, ",%s", stonet_coef_column_name(found, c));
    for (int64_t j = 0; j < stonet_coef_rows(found); j++) {
        fputc('\n', out.stream);
        put_csv_field(out.stream, stonet_coef_feature(found, j));
        for (int64_t c = 0; c < stonet_coef_columns(found); c++) {
            char number[STONET_NUMBER_SIZE];
            stonet_number_text(stonet_coef_value(found, j, c), number);
            fprintf(out.stream, ",%s", number);
        }
    }
    fputc('\n', out.stream);
    return output_close(command, &out);
}

static int print(const cli_command *command, const coef_values *values, const stonet_coef_result *found)
{
    const char *path = values->results.out;
    switch (results_format_of(&values->results)) {
    case RESULTS_JSON: {
        json_t *json = take_json(command, stonet_coef_json(found));
        return json != NULL ? output_json(command, path, json) : EXIT_FAILED;
    }
    case RESULTS_CSV:
        return print_csv(command, path, found);
    case RESULTS_TABLE:
        break;
    }
    return print_table(command, path, found);
}

static int check_values(const cli_command *command, const coef_values *values, const char *data)
{
    const char *wrong = NULL;
    if (data == NULL && values->se)
        wrong = "--se needs the rows the model was fitted on: stonet coef MODEL DATA --se --target COL";
    else if (data == NULL && has_target(&values->target))
        wrong = "a response belongs to DATA, which is not there";
    if (wrong == NULL) return check_results_options(command, &values->results);
    say_usage(command, "%s", wrong);
    return EXIT_USAGE;
}

static int ask(const cli_command *command, const cli_arguments *given, void *parsed)
{
    const coef_values *values = parsed;
    enum { PAIRS = 25 };
    stonet_coef_options how = STONET_COEF_OPTIONS_INIT;
    target_options target = values->target;
    stonet_model *model = NULL;
    stonet_data *data = NULL;
    stonet_coef_result *found = NULL;
    int result = check_values(command, values, given->operand[1]);
    if (result == EXIT_DONE) result = read_model(command, given->operand[0], &model);
    if (result == EXIT_DONE && values->se && stonet_model_outputs(model) > 0)
        result = require_target_of_model(command, &target);
    if (result == EXIT_DONE && given->operand[1] != NULL)
        result = read_data_for(command, model, given->operand[1], &target, values->run.threads, &data);
    if (result == EXIT_DONE) {
        if (values->se) how.pairs = PAIRS;
        stonet_run run;
        start_run(&values->run, &run);
        stonet_status status = stonet_coef(model, data, &how, &run, &found);
        progress_clear();
        result = status == STONET_OK ? print(command, values, found) : say_failure(command, status);
    }
    stonet_coef_free(found);
    stonet_data_free(data);
    stonet_model_free(model);
    return result;
}

const cli_command coef_command = {
    .name = "coef",
    .summary = "Say what the columns of Z are made of",
    .operands = "MODEL [DATA]",
    .details =
        "Linear methods (pca, sir, save, phd, ..): the directions in units of x, Z = constant + sum of x "
        "times\n"
        "them. DATA is needed for --se alone. Other methods: the mean derivatives of each column of Z over "
        "the rows\n"
        "of DATA (z1, ..), and the leading directions of all derivatives together (direction1, ..). Each "
        "direction\n"
        "has its share of the squared derivatives. These are of scaled features, printed in units of x.",
    OPTIONS_OF(options, coef_values),
    .examples = "  stonet coef sir.model\n"
                "  stonet coef sir.model train.csv --target y --se\n"
                "  stonet coef my.model train.csv --csv --out coef.csv",
    .run = ask,
};
