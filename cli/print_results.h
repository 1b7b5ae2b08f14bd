/* The rows that tune and compare give: as a table for people, CSV or JSON. */
#pragma once

#include "cli/common.h"
#include "cli/table.h"

typedef struct results_options {
    bool json, csv;
    const char *out;
} results_options;

// NOLINTBEGIN(bugprone-macro-parentheses): types and members cannot stand in parentheses
#define RESULTS_OPTIONS(type, field)                                                                         \
    JSON_OPTION(type, field.json), FLAG_OPTION(type, field.csv, "csv", "Print CSV"),                         \
        OUT_OPTION(type, field.out, "Write the rows to a file; .json and .csv choose the format")
#define CRITERION_OPTION(type, field)                                                                        \
    WORD_OPTION(type, field, "criterion", "NAME", "auto",                                                    \
                "What to compare: error_rate, log_loss, mse, discordance (of times, 1 - Harrell's C) or "    \
                "deviance (of counts); auto: by the task")

// NOLINTEND(bugprone-macro-parentheses)

typedef enum results_format { RESULTS_TABLE, RESULTS_CSV, RESULTS_JSON } results_format;

int check_results_options(const cli_command *command, const results_options *options);
/* By --json or --csv, or by the ending of the file. */
results_format results_format_of(const results_options *options);
/* The rows for people, in order of their mean when `best_first`. */
table *results_table(const stonet_results *results, bool best_first);
int output_results(const cli_command *command, const results_options *options, const stonet_results *results,
                   bool best_first);
