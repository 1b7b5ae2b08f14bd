/* Results of several data sets: a block for each as it comes, then a summary over all. As a table for people
   they are written one by one; CSV and JSON are rows of one list, with the data set in each. */
#pragma once

#include "cli/output.h"
#include "cli/print_results.h"

typedef struct report {
    const cli_command *command;
    results_format format;
    output out;
    json_t *rows; /* RESULTS_JSON: those so far */
    int64_t blocks;
} report;

/* A report that was opened is closed, whatever came between. */
void report_open(const cli_command *command, const results_options *options, report *self);
void report_add(report *self, const char *path, const stonet_data *data, const stonet_results *results);
/* Writes the summary of the results given (those that ran to their end; none for fewer than two) and what is
   still to be written. Gives an exit status. */
int report_close(report *self, const stonet_results *const *results, int64_t n_sets);
