/* stonet score: how well a model predicts data whose response is known. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"

typedef struct score_values {
    target_options target;
    run_options run;
    bool json, sufficiency;
} score_values;

static const cli_option options[] = {
    TARGET_OPTIONS(score_values, target),
    JSON_OPTION(score_values, json),
    {.name = "sufficiency",
     .kind = OPTION_FLAG,
     .offset = offsetof(score_values, sufficiency),
     .help = "Also test whether Z keeps all that x says about the response: a small p-value says it does "
             "not; 'lost' "
             "says how much"},
    RUN_OPTIONS(score_values, run),
};

typedef struct named_number {
    const char *name;
    double value;
} named_number;

enum { MAX_NUMBERS = 12 };

static int name_scores(const stonet_scores *scores, named_number number[MAX_NUMBERS])
{
    if (scores->is_classifier) {
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
}

static int print_numbers(const cli_command *command, int64_t n, const named_number *number, int count,
                         bool as_json)
{
    if (as_json) {
        json_t *object = json_object();
        json_object_set_new(object, "n", json_integer(n));
        for (int i = 0; i < count; i++)
            json_object_set_new(object, number[i].name, json_number(number[i].value));
        return output_json(command, NULL, object);
    }
    output out;
    int result = output_open(command, NULL, &out);
    if (result != EXIT_DONE) return result;
    fprintf(out.stream, "%-22s %lld\n", "n", (long long)n);
    for (int i = 0; i < count; i++) fprintf(out.stream, "%-22s %.6g\n", number[i].name, number[i].value);
    return output_close(command, &out);
}

static int score(const cli_command *command, const score_values *values, const stonet_model *model,
                 const stonet_data *data)
{
    stonet_scores scores;
    stonet_use_options how = {.size = sizeof how, .threads = (int)values->run.threads};
    stonet_status status = stonet_score(model, data, &how, &scores);
    if (status != STONET_OK) return say_failure(command, status);
    named_number number[MAX_NUMBERS];
    int count = name_scores(&scores, number);
    if (values->sufficiency) {
        stonet_run run;
        start_run(&values->run, &run);
        stonet_sufficiency_result test;
        status = stonet_sufficiency(model, data, NULL, &run, &test);
        if (status != STONET_OK) return say_failure(command, status);
        number[count++] = (named_number){"sufficiency_statistic", test.statistic};
        number[count++] = (named_number){"sufficiency_p_value", test.p_value};
        number[count++] = (named_number){"prediction_p_value", test.gain.p_value};
        number[count++] = (named_number){"explained_by_z", test.gain.explained_z};
        number[count++] = (named_number){"explained_by_z_and_x", test.gain.explained_zx};
        number[count++] = (named_number){"lost", test.gain.explained_zx - test.gain.explained_z};
    }
    return print_numbers(command, scores.n, number, count, values->json);
}

static int run(const cli_command *command, int argc, char **argv)
{
    score_values values = {0};
    cli_arguments given;
    parse_result parsed = options_parse(command, argc, argv, &values, &given);
    if (parsed != PARSE_OK) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    stonet_model *model = NULL;
    stonet_data *data = NULL;
    int result = require_target(command, &values.target);
    if (result == EXIT_DONE) result = read_model(command, given.operand[0], &model);
    if (result == EXIT_DONE)
        result = read_data_for(command, model, given.operand[1], &values.target, values.run.threads, &data);
    if (result == EXIT_DONE) result = score(command, &values, model, data);
    stonet_data_free(data);
    stonet_model_free(model);
    return result;
}

const cli_command score_command = {
    .program = "stonet",
    .name = "score",
    .summary = "Score predictions: error rate and log loss, or MSE, R2 and correlation",
    .operands = "MODEL DATA",
    .required = "(--target COL | --target-file FILE)",
    .details =
        "mse is in units of y, mse_scaled is divided by the variance of y in training.\n"
        "With --sufficiency: sufficiency_p_value is that of the response being independent of x given Z;\n"
        "prediction_p_value that of x adding nothing to Z for a learner on held-out rows; lost is the share\n"
        "of the variation of the response (location, spread, skewness) that x explains there and Z does\n"
        "not. With many rows the tests reject for losses too small to matter: look at lost.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = "  stonet score my.model test.csv --target y\n"
                "  stonet score my.model x.asc --target-file y.asc --json",
    .run = run,
};
