/* stonet independence: are columns of a table independent of others, perhaps given some more? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/pick_columns.h"
#include "cli/say.h"

typedef struct independence_values {
    const char *x, *y, *given, *event;
    const char *test, *approximation;
    int64_t repeats, permutations, features, given_features;
    target_options target; /* no response: how to read the table alone */
    run_options run;
    bool json;
} independence_values;

static const cli_option options[] = {
    TEXT_OPTION(independence_values, x, "x", "COLS",
                "Columns of one side: names, 1-based numbers or ranges (2-5), by commas"),
    TEXT_OPTION(independence_values, y, "y", "COLS", "Columns of the other side"),
    TEXT_OPTION(independence_values, given, "given", "COLS", "Columns to condition on"),
    TEXT_OPTION(independence_values, event, "event", "COL",
                "Refused: times that were cut short cannot be tested"),
    WORD_OPTION(independence_values, test, "test", "NAME", "auto",
                "rit or dcor; with --given gcm, rcit or rcot (auto: rit, or gcm with --given)"),
    WORD_OPTION(
        independence_values, approximation, "approx", "NAME", "lpb4",
        "Law of the statistic under independence: lpb4, hbe, gamma, chi2 or perm. Permutations replace "
        "the others where few rows decide (rare values, few rows)"),
    NUMBER_OPTION(independence_values, repeats, "repeats", "R", "1", 1, 1000,
                  "Repeat with other random features and combine the p-values"),
    NUMBER_OPTION(independence_values, permutations, "permutations", "B", "1000", 1, 1000000,
                  "Permutations of perm and dcor: no p-value is below 1 / (B + 1)"),
    NUMBER_OPTION(independence_values, features, "features", "M", "5", 1, 40,
                  "Random features of each side (rit, rcit, rcot)"),
    NUMBER_OPTION(independence_values, given_features, "given-features", "M", "0", 0, 1000,
                  "Random features of --given, 0 for a number that suits the columns"),
    JSON_OPTION(independence_values, json),
    READ_OPTIONS(independence_values, target),
    RUN_OPTIONS(independence_values, run),
};

static const word_choice tests[] = {{"auto", STONET_TEST_AUTO}, {"rit", STONET_TEST_RIT},
                                    {"rcit", STONET_TEST_RCIT}, {"rcot", STONET_TEST_RCOT},
                                    {"gcm", STONET_TEST_GCM},   {"dcor", STONET_TEST_DCOR}};
static const word_choice laws[] = {{"lpb4", STONET_NULL_LPB4},
                                   {"hbe", STONET_NULL_HBE},
                                   {"gamma", STONET_NULL_GAMMA},
                                   {"chi2", STONET_NULL_CHI2},
                                   {"perm", STONET_NULL_PERMUTATION}};

static const char *test_name(stonet_test test)
{
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (tests[i].value == (int)test) return tests[i].name;
    }
    return "";
}

static int make_options(const cli_command *command, const independence_values *values,
                        stonet_independence_options *test)
{
    int chosen_test = 0, chosen_law = 0;
    if (values->x == NULL || values->y == NULL)
        return say_usage(command, "--%s COLS is missing", values->x == NULL ? "x" : "y");
    if (values->event != NULL)
        return say_usage(
            command,
            "times that were cut short (--event %s) cannot be tested: where the censoring depends on x, "
            "the cut times do too",
            values->event);
    TRY(FIND_CHOICE(command, "test", tests, values->test, &chosen_test));
    TRY(FIND_CHOICE(command, "approx", laws, values->approximation, &chosen_law));
    test->test = (stonet_test)chosen_test;
    test->null_law = (stonet_null_law)chosen_law;
    test->features = values->features;
    test->condition_features = values->given_features;
    test->repeats = values->repeats;
    test->permutations = values->permutations;
    return EXIT_DONE;
}

/* dcor prints a correlation in place of a statistic and is never repeated: its p-value comes from
   permutations. */
static int print_result(const cli_command *command, const independence_values *values,
                        const stonet_independence_result *found)
{
    bool distance = found->test == STONET_TEST_DCOR;
    const char *law = laws[found->null_law].name;
    if (values->json) {
        json_t *object = json_pack("{s:I, s:s, s:s, s:I, s:o, s:o}", "n", (json_int_t)found->n, "test",
                                   test_name(found->test), "approx", law, "repeats",
                                   (json_int_t)(distance ? 1 : values->repeats), "statistic",
                                   json_number(found->statistic), "p_value", json_number(found->p_value));
        return output_json(command, NULL, object);
    }
    output out;
    output_open(NULL, &out);
    fprintf(out.stream, "%-22s %lld\n%-22s %s (%s)\n%-22s %.6g\n%-22s %.6g\n", "n", (long long)found->n,
            "test", test_name(found->test), law, distance ? "distance_correlation" : "statistic",
            found->statistic, "p_value", found->p_value);
    return output_close(command, &out);
}

/* The columns of the three parts and their numbers; z is not used without --given. */
typedef struct parts {
    column_choice choice[3];
    double *values[3];
    int64_t width[3];
} parts;

static int read_parts(const cli_command *command, const independence_values *values, const stonet_data *data,
                      parts *read)
{
    const char *const option[] = {"x", "y", "given"};
    const char *const text[] = {values->x, values->y, values->given};
    const int count = values->given != NULL ? 3 : 2;
    for (int k = 0; k < count; k++) {
        TRY(columns_parse(command, data, option[k], text[k], &read->choice[k]));
        for (int earlier = 0; earlier < k; earlier++)
            TRY(columns_disjoint(command, data, &read->choice[earlier], &read->choice[k]));
        TRY(columns_matrix(command, data, &read->choice[k], &read->values[k], &read->width[k]));
    }
    return EXIT_DONE;
}

static void free_parts(parts *read)
{
    for (int k = 0; k < 3; k++) {
        columns_free(&read->choice[k]);
        free(read->values[k]);
    }
}

static int test_table(const cli_command *command, const independence_values *values,
                      const stonet_independence_options *test, const stonet_data *data)
{
    __attribute__((cleanup(free_parts))) parts read = {0};
    TRY(read_parts(command, values, data, &read));
    stonet_run run = run_of(&values->run);
    stonet_independence_result found;
    const stonet_sides sides = {.n = stonet_data_rows(data),
                                .dx = read.width[0],
                                .dy = read.width[1],
                                .dz = read.width[2],
                                .x = read.values[0],
                                .y = read.values[1],
                                .z = read.values[2]};
    TRY(outcome(command, stonet_independence(&sides, test, &run, &found)));
    return print_result(command, values, &found);
}

static int run(const cli_command *command, const cli_arguments *given, void *parsed)
{
    independence_values *values = parsed;
    stonet_independence_options test = STONET_INDEPENDENCE_OPTIONS_INIT;
    AUTO(stonet_data) *data = NULL;
    TRY(make_options(command, values, &test));
    TRY(read_data(command, given->operand[0], &values->target, values->run.threads, &data));
    return test_table(command, values, &test, data);
}

const cli_command independence_command = {
    .name = "independence",
    .summary = "Test columns for independence, also given other columns",
    .operands = "DATA",
    .required = "--x COLS --y COLS",
    .details =
        "A small p-value says that x and y depend on each other (beyond what --given explains). Text columns "
        "become indicators of their values. A column of times is tested as it stands, also where some were cut "
        "short.",
    OPTIONS_OF(options, independence_values),
    .examples = "  stonet independence table.csv --x age --y income\n"
                "  stonet independence table.csv --x 1-5 --y y --given z1,z2 --repeats 10 --json",
    .run = run,
};
