/* The commands, in the order of the help. */
#include "cli/commands.h"

#include <string.h>

static const cli_command *const commands[] = {
    &fit_command,     &transform_command,    &predict_command,    &score_command,    &tune_command,
    &compare_command, &order_command,        &importance_command, &coef_command,     &calibrate_command,
    &report_command,  &independence_command, &impute_command,     &generate_command, &shard_command,
    &methods_command, &info_command,         &export_command,     &demo_command,     &completion_command,
};
// NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
enum { N_COMMANDS = sizeof commands / sizeof *commands };

const char cli_example[] = "  stonet generate waveform --rows 400 --out train.csv\n"
                           "  stonet generate waveform --rows 2000 --seed 2 --out test.csv\n"
                           "  stonet fit train.csv --target y --dim 2 --out waveform.model\n"
                           "  stonet score waveform.model test.csv\n"
                           "  stonet transform waveform.model test.csv --out z.csv\n";

size_t cli_command_count(void)
{
    return N_COMMANDS;
}

const cli_command *cli_command_at(size_t index)
{
    return commands[index];
}

const cli_command *cli_command_named(const char *name)
{
    for (size_t i = 0; i < cli_command_count(); i++)
        if (strcmp(cli_command_at(i)->name, name) == 0) return cli_command_at(i);
    return NULL;
}
