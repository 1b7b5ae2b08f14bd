/* stonet score: how well a model predicts data whose response is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/ranks.h"
#include "cli/say.h"

typedef struct score_values {
    target_options target;
    run_options run;
    bool json, sufficiency, by_class;
    const char *level;
} score_values;

static const cli_option options[] = {
    TARGET_OPTIONS(score_values, target),
    JSON_OPTION(score_values, json),
    FLAG_OPTION(score_values, sufficiency, "sufficiency",
                "Also test whether Z keeps all that x says about the response: a small p-value says it does "
                "not; 'lost' says how much"),
    TEXT_OPTION(score_values, level, "level", "LEVEL",
                "Of the intervals or sets of a calibrated model: the share of rows they are to hold (0.9)"),
    FLAG_OPTION(score_values, by_class, "by-class", "Sets as of 'predict --sets LEVEL --by-class'"),
    RUN_OPTIONS(score_values, run),
};

typedef struct named_number {
    const char *name;
    double value;
} named_number;

enum { MAX_NUMBERS = 30, MOST_SHOWN = 20 };

/* Those of times and counts, and what ordered classes have more. */
static int name_law_scores(const stonet_scores *scores, named_number number[MAX_NUMBERS], int count)
{
    const named_number all[] = {{"log_likelihood", scores->log_likelihood},
                                {"concordance", scores->concordance},
                                {"uno_concordance", scores->uno},
                                {"integrated_brier", scores->integrated_brier},
                                {"deviance", scores->deviance},
                                {"deviance_explained", scores->deviance_explained},
                                {"rank_error", scores->rank_error},
                                {"kappa", scores->kappa}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!isnan(all[k].value)) number[count++] = all[k];
    return count;
}

/* Which scores a response has, in the order they are printed. number has room for MAX_NUMBERS; gives how many
   are used. */
static int name_scores(const stonet_scores *scores, named_number number[MAX_NUMBERS])
{
    int count = name_law_scores(scores, number, 0);
    if (!scores->is_classifier && count > 0) { /* a law */
        if (!isnan(scores->calibration_error))
            number[count++] = (named_number){"calibration_error", scores->calibration_error};
    } else if (scores->is_classifier) {
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

/* How often each true class is predicted as each class; table NULL: the model predicts numbers. */
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
    out->table = room_for(out->classes * out->classes, sizeof *out->table);
    stonet_use_options how = {.size = sizeof how, .threads = threads, .team = program_team()};
    return outcome(command, stonet_confusion(model, data, &how, out->table));
}

static json_t *confusion_json(const confusion *found)
{
    json_t *rows = json_array();
    for (int64_t i = 0; i < found->classes; i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < found->classes; j++)
            row = json_add(row, json_integer(found->table[i * found->classes + j]));
        rows = json_add(rows, row);
    }
    return rows;
}

static json_t *labels_json(const confusion *found)
{
    json_t *labels = json_array();
    for (int64_t c = 0; c < found->classes; c++)
        labels = json_add(labels, json_string(stonet_model_class_label(found->model, c)));
    return labels;
}

/* Rows are the true classes, columns the predicted ones. */
static int print_confusion(const cli_command *command, const confusion *found)
{
    char align[MOST_SHOWN + 2] = "l";
    if (found->table == NULL || found->classes > MOST_SHOWN) return EXIT_DONE;
    for (int64_t c = 0; c < found->classes; c++) align[c + 1] = 'r';
    AUTO(table) *shown = table_create(align);
    table_add(shown, "true \\ predicted");
    for (int64_t c = 0; c < found->classes; c++)
        table_add(shown, "%s", stonet_model_class_label(found->model, c));
    for (int64_t i = 0; i < found->classes; i++) {
        table_add(shown, "%s", stonet_model_class_label(found->model, i));
        for (int64_t j = 0; j < found->classes; j++)
            table_add(shown, "%lld", (long long)found->table[i * found->classes + j]);
    }
    putchar('\n');
    return output_table(command, NULL, shown, true);
}

static int print_numbers(const cli_command *command, int64_t n, const named_number *number, int count,
                         const confusion *confused, bool as_json)
{
    if (as_json) {
        json_t *object = json_object();
        object = json_put(object, "n", json_integer(n));
        for (int i = 0; i < count; i++)
            object = json_put(object, number[i].name, json_number(number[i].value));
        if (confused->table != NULL) {
            object = json_put(object, "classes", labels_json(confused));
            object = json_put(object, "confusion", confusion_json(confused));
        }
        return output_json(command, NULL, object);
    }
    output out;
    output_open(NULL, &out);
    fprintf(out.stream, "%-22s %lld\n", "n", (long long)n);
    for (int i = 0; i < count; i++) fprintf(out.stream, "%-22s %.6g\n", number[i].name, number[i].value);
    TRY(output_close(command, &out));
    return print_confusion(command, confused);
}

/* --sufficiency adds the test of whether x says more about the response than Z: "lost" is the share of the
   response that x explains beyond Z. */
static int score(const cli_command *command, const score_values *values, const stonet_model *model,
                 const stonet_data *data)
{
    stonet_scores scores = STONET_SCORES_INIT;
    stonet_use_options how = {.size = sizeof how,
                              .threads = (int)values->run.threads,
                              .by_class = values->by_class,
                              .team = program_team()};
    TRY(parse_level(command, "level", values->level, &how.level));
    if ((values->level != NULL || values->by_class) && !stonet_model_is_calibrated(model))
        return say_error(
            command, "this model was not calibrated, so it has no intervals or sets to score: fit it with "
                     "--calibrate, or calibrate it with 'stonet calibrate'");
    TRY(outcome(command, stonet_score(model, data, &how, &scores)));
    named_number number[MAX_NUMBERS];
    int count = name_scores(&scores, number);
    if (values->sufficiency) {
        stonet_run run = run_of(&values->run);
        stonet_sufficiency_result test;
        TRY(outcome(command, stonet_sufficiency(model, data, NULL, &run, &test)));
        number[count++] = (named_number){"sufficiency_statistic", test.statistic};
        number[count++] = (named_number){"sufficiency_p_value", test.p_value};
        number[count++] = (named_number){"prediction_p_value", test.gain.p_value};
        number[count++] = (named_number){"explained_by_z", test.gain.explained_z};
        number[count++] = (named_number){"explained_by_z_and_x", test.gain.explained_zx};
        number[count++] = (named_number){"lost", test.gain.explained_zx - test.gain.explained_z};
    }
    confusion confused;
    const int result = find_confusion(command, model, data, how.threads, &confused);
    BLOCK int64_t *counts = confused.table;
    TRY(result);
    return print_numbers(command, scores.n, number, count, &confused, values->json);
}

static int run(const cli_command *command, const cli_arguments *given, void *parsed)
{
    score_values *values = parsed;
    AUTO(stonet_model) *model = NULL;
    AUTO(stonet_data) *data = NULL;
    TRY(require_target_of_model(command, &values->target));
    TRY(read_model(command, given->operand[0], &model));
    TRY(read_data_for(command, model, given->operand[1], &values->target, values->run.threads, &data));
    TRY(say_unseen(command, model, data, values->run.quiet));
    TRY(say_met(command, model, data, values->run.quiet));
    return score(command, values, model, data);
}

const cli_command score_command = {
    .name = "score",
    .summary = "Score predictions: error rate, log loss, AUC .. or MSE, R2 .., coverage",
    .on_ranks = true,
    .operands = "MODEL DATA",
    .details =
        "The response is the column that the model was fitted on, unless --target or --target-file says "
        "otherwise. mse is in units of y, mse_scaled is divided by the variance of y in training. brier is "
        "the mean of sum_c (p_c - 1{y = c})^2. calibration_error is the mean of |share right - largest "
        "probability| over 15 bins of equal width of the latter. auc for several classes is the mean of each "
        "against the rest. coverage and interval_width or set_size are of the intervals or sets of a "
        "calibrated model.\n\n"
        "With --sufficiency: sufficiency_p_value tests whether the response is independent of x given Z. "
        "prediction_p_value tests whether x adds something to Z for a learner on held-out rows. lost is the "
        "share of the variation of the response (location, spread, skewness) that x explains there and Z "
        "does not. With many rows the tests reject for losses too small to matter: look at lost.",
    OPTIONS_OF(options, score_values),
    .examples = "  stonet score my.model test.csv\n"
                "  stonet score my.model x.asc --target-file y.asc --json",
    .run = run,
};
