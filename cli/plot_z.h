/* Pictures of a reduction: Z by the response, and the training curve beside it. */
#pragma once

#include "cli/common.h"

// NOLINTBEGIN(bugprone-macro-parentheses): types and members cannot stand in parentheses
#define PLOT_OPTION(type, field, text) FILE_OPTION(type, field, "plot", "FILE.svg", text)

// NOLINTEND(bugprone-macro-parentheses)

/* What stands over a picture, and before the names of classes. */
typedef struct z_caption {
    const char *title, *subtitle, *before_class;
} z_caption;

typedef struct z_picture {
    const float *z;           /* one row a row of the data */
    bool with_curve;          /* and the training loss, where there is one */
    const z_caption *caption; /* NULL: the method and the rows */
} z_picture;

/* Draws Z by the response, which may be missing. Gives an exit status. */
int plot_reduction(const cli_command *command, const char *path, const stonet_model *model,
                   const stonet_data *data, const z_picture *picture);
