/* Intervals and sets of a calibrated model, for stonet predict. Functions give an exit status. */
#pragma once

#include <stonet/stonet.h>

#include "cli/output.h"

/* Columns prediction, low, high, for several responses prediction1, low1, high1, prediction2, .. */
int write_intervals(const cli_command *command, const rows_output *to, const stonet_model *model,
                    const stonet_use_options *how);
/* A column for each class: 1 for the classes in the set of the row, else 0. */
int write_sets(const cli_command *command, const rows_output *to, const stonet_model *model,
               const stonet_use_options *how);
