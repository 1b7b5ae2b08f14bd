/* Pictures of a reduction: Z by the response, and the training curve beside it. */
#ifndef CLI_PLOT_Z_H
#define CLI_PLOT_Z_H

#include "cli/common.h"

// NOLINTBEGIN(bugprone-macro-parentheses): types and members cannot stand in parentheses
#define PLOT_OPTION(type, field, text)                                                                       \
    {                                                                                                        \
        .name = "plot", .kind = OPTION_TEXT, .offset = offsetof(type, field), .argument = "FILE.svg",        \
        .writes = true, .help = text                                                                         \
    }

// NOLINTEND(bugprone-macro-parentheses)

/* "Z1 (98.2% of the effect on the output)", where the model knows that share. */
void z_axis_label(const json_t *about, size_t k, char label[96]);

/* The classes of the rows by the model's numbers, -1 where it does not know one; NULL when memory ran out or
   there is no response. The table may have met the classes in another order, or have numbers, whose texts are
   the labels. To be freed. */
int32_t *model_labels(const stonet_model *model, const stonet_data *data);

/* The training history by column: numbers, or null for an empty or other cell. The text is used up. NULL when
   memory ran out. */
json_t *history_json(char *csv);

/* Draws Z (one row a row of data) by the response, which may be missing; with_curve: and the training loss,
   where there is one. Gives an exit status. */
int plot_reduction(const cli_command *command, const char *path, const stonet_model *model,
                   const stonet_data *data, const float *z, bool with_curve);

#endif
