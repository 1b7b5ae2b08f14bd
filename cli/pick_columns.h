/* Columns of a table picked by the user, as numbers. Functions give an exit status. */
#pragma once

#include <stonet/stonet.h>

#include "cli/options.h"

/* The columns named by one option, in the order of the table. */
typedef struct column_choice {
    const char *option; /* without the dashes, for messages */
    bool *chosen;       /* one for each column of the table */
} column_choice;

/* Reads "COLS": names, 1-based numbers and ranges of numbers (2-5), separated by commas. A name is looked for
   first, so that a column called "3" is found by it. */
int columns_parse(const cli_command *command, const stonet_data *data, const char *option, const char *text,
                  column_choice *choice);
void columns_free(column_choice *choice);
/* No column may be in both. */
int columns_disjoint(const cli_command *command, const stonet_data *data, const column_choice *a,
                     const column_choice *b);
/* *values (n x *width, to be freed): numbers as they are, each text column as indicators of its values. */
int columns_matrix(const cli_command *command, const stonet_data *data, const column_choice *choice,
                   double **values, int64_t *width);
