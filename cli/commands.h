/* The commands, one file each. */
#pragma once

#include "cli/options.h"

extern const cli_command fit_command;
extern const cli_command transform_command;
extern const cli_command predict_command;
extern const cli_command score_command;
extern const cli_command tune_command;
extern const cli_command compare_command;
extern const cli_command order_command;
extern const cli_command importance_command;
extern const cli_command coef_command;
extern const cli_command calibrate_command;
extern const cli_command report_command;
extern const cli_command independence_command;
extern const cli_command impute_command;
extern const cli_command generate_command;
extern const cli_command shard_command;
extern const cli_command methods_command;
extern const cli_command info_command;
extern const cli_command export_command;
extern const cli_command demo_command;
extern const cli_command completion_command;

/* All of them, in the order of the help. */
size_t cli_command_count(void);
/* NULL: there is none. */
const cli_command *cli_command_named(const char *name);
const cli_command *cli_command_at(size_t index);
/* From data to Z, in lines to be typed. */
extern const char cli_example[];
