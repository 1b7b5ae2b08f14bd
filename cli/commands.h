/* The commands, one file each. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

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
extern const cli_command generate_command;
extern const cli_command methods_command;
extern const cli_command info_command;
extern const cli_command export_command;
extern const cli_command demo_command;

#endif
