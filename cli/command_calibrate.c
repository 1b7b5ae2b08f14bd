/* stonet calibrate: intervals and sets for a model that has none. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/say.h"

typedef struct calibrate_values {
    target_options target;
    run_options run;
    bool fresh, json;
    int64_t folds;
    const char *score, *out;
} calibrate_values;

static const cli_option options[] = {
    TARGET_OPTIONS(calibrate_values, target),
    GROUP_OPTION(calibrate_values, target),
    FLAG_OPTION(calibrate_values, json, "json", "Print what 'stonet info --json' says of the model"),
    OUT_OPTION(calibrate_values, out, "The calibrated model"),
    FLAG_OPTION(calibrate_values, fresh, "fresh",
                "DATA are rows that the model has not been fitted on: nothing is fitted. Training rows given "
                "so make intervals that are too narrow"),
    NUMBER_OPTION(calibrate_values, folds, "folds", "K", "0", 0, 1000,
                  "Refits, each without one of K parts of the rows (0: 10, or one refit without a fifth from "
                  "5000 rows on)"),
    WORD_OPTION(
        calibrate_values, score, "score", "aps|lac", "aps",
        "What sets of classes are made by. aps: larger for hard rows, smaller for easy ones; lac: the "
        "smallest on average"),
    RUN_OPTIONS(calibrate_values, run),
};

static int take_options(const cli_command *command, const calibrate_values *values,
                        stonet_calibrate_options *how)
{
    if (values->folds > 0) how->kind = STONET_CALIBRATION_CV;
    how->folds = (int)values->folds;
    if (values->fresh && values->folds > 0)
        return say_usage(command, "--folds is for refits, and with --fresh there are none");
    if (values->fresh) how->kind = STONET_CALIBRATION_FRESH;
    if (strcmp(values->score, "lac") == 0) {
        how->sets = STONET_SETS_LAC;
    } else if (strcmp(values->score, "aps") != 0)
        return say_usage(command, "--score is aps or lac, not '%s'", values->score);
    if (values->out == NULL)
        return say_usage(command, "the file for the calibrated model is missing: give --out MODEL");
    return output_check(command, values->out);
}

/* The operands are the model and the rows. The response has the name it had in the fit, unless --target names
   another column. */
static int calibrate(const cli_command *command, const cli_arguments *given, void *parsed)
{
    const calibrate_values *values = parsed;
    stonet_calibrate_options how = STONET_CALIBRATE_OPTIONS_INIT;
    target_options target = values->target;
    AUTO(stonet_model) *model = NULL;
    AUTO(stonet_data) *data = NULL;
    TRY(take_options(command, values, &how));
    TRY(require_target_of_model(command, &target));
    TRY(read_model(command, given->operand[0], &model));
    TRY(read_data_for(command, model, given->operand[1], &target, values->run.threads, &data));
    stonet_run run = run_of(&values->run);
    TRY(outcome(command, stonet_calibrate(model, data, &how, &run)));
    TRY(write_model(command, values->out, model));
    if (!values->run.quiet) {
        say_calibration(model);
        fprintf(stderr, "model written to %s\n", values->out);
    }
    return values->json ? output_made_json(command, NULL, stonet_model_json(model)) : EXIT_DONE;
}

const cli_command calibrate_command = {
    .name = "calibrate",
    .summary = "Learn how sure predictions are: intervals, sets, probabilities",
    .operands = "MODEL DATA",
    .required = "--out MODEL",
    .details =
        "DATA are the rows the model was fitted on. The model is fitted again without parts of them, and "
        "these parts tell how far predictions are from the truth ('fit --calibrate' does the same). With "
        "--fresh DATA are rows that the model has not seen, and nothing is fitted. The model then has "
        "'predict --interval' or '--sets', and its probabilities are corrected by a temperature. Settings "
        "that were chosen with the same rows beforehand ('stonet tune') make refits look better than they "
        "are: calibrate on fresh rows then.",
    OPTIONS_OF(options, calibrate_values),
    .examples = "  stonet calibrate my.model train.csv --out calibrated.model\n"
                "  stonet calibrate my.model new.csv --fresh --out calibrated.model",
    .run = calibrate,
};
