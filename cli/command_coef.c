/* stonet coef: what the columns of Z are made of. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/print_results.h"
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
    GROUP_OPTION(coef_values, target),
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
    AUTO(table) *printed = table_create(align);
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
    TRY(output_table(command, path, printed, true));
    if (shown < all)
        fprintf(stderr, "note: %lld of %lld columns are shown; --csv and --json have all\n", (long long)shown,
                (long long)all);
    return EXIT_DONE;
}

static int print_csv(const cli_command *command, const char *path, const stonet_coef_result *found)
{
    output out;
    output_open(path, &out);
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
    case RESULTS_JSON:
        return output_made_json(command, path, stonet_coef_json(found));
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
    return wrong != NULL ? say_usage(command, "%s", wrong) : check_results_options(command, &values->results);
}

/* --se needs the training rows with their response, as the directions are fitted again on halves of them.
   Without --se rows are needed only where Z is not linear in x, which the library checks. */
static int ask(const cli_command *command, const cli_arguments *given, void *parsed)
{
    const coef_values *values = parsed;
    enum { PAIRS = 25 };
    stonet_coef_options how = STONET_COEF_OPTIONS_INIT;
    target_options target = values->target;
    AUTO(stonet_model) *model = NULL;
    AUTO(stonet_data) *data = NULL;
    AUTO(stonet_coef_result) *found = NULL;
    TRY(check_values(command, values, given->operand[1]));
    TRY(read_model(command, given->operand[0], &model));
    if (values->se && stonet_model_outputs(model) > 0) TRY(require_target_of_model(command, &target));
    if (given->operand[1] != NULL)
        TRY(read_data_for(command, model, given->operand[1], &target, values->run.threads, &data));
    if (values->se) how.pairs = PAIRS;
    stonet_run run = run_of(&values->run);
    TRY(outcome(command, stonet_coef(model, data, &how, &run, &found)));
    return print(command, values, found);
}

const cli_command coef_command = {
    .name = "coef",
    .summary = "Say what the columns of Z are made of",
    .operands = "MODEL [DATA]",
    .details =
        "Linear methods (pca, sir, save, phd, ..): the directions in units of x, Z = constant + sum of x "
        "times them. DATA is needed for --se alone. Other methods: the mean derivatives of each column of Z "
        "over the rows of DATA (z1, ..), and the leading directions of all derivatives together (direction1, "
        "..). Each direction has its share of the squared derivatives. These are of scaled features, printed "
        "in units of x.",
    OPTIONS_OF(options, coef_values),
    .examples = "  stonet coef sir.model\n"
                "  stonet coef sir.model train.csv --target y --se\n"
                "  stonet coef my.model train.csv --csv --out coef.csv",
    .run = ask,
};
