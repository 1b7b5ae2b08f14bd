/* Pictures of a reduction: Z by the response, and the training curve beside it. */
#pragma once

#include "cli/common.h"

// NOLINTBEGIN(bugprone-macro-parentheses): types and members cannot stand in parentheses
#define PLOT_OPTION(type, field, text) FILE_OPTION(type, field, "plot", "FILE.svg", text)

// NOLINTEND(bugprone-macro-parentheses)

/* "Z1 (98.2% of the effect on the output)", where the model knows that share. */
void z_axis_label(const json_t *about, size_t k, char label[96]);

/* Draws Z (one row a row of data) by the response, which may be missing; with_curve: and the training loss,
   where there is one. Gives an exit status. */
int plot_reduction(const cli_command *command, const char *path, const stonet_model *model,
                   const stonet_data *data, const float *z, bool with_curve);
