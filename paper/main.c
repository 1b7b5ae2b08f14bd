/* stonet-paper: the experiments of Liang, Sun and Liang (2022), one command each. */
#include <stdio.h>
#include <string.h>

#include "cli/say.h"
#include "paper/experiments.h"

static const cli_command *const commands[] = {
    &m1_command,     &table1_command,      &table2_command,           &table3_command,
    &theory_command, &sufficiency_command, &sufficiency_level_command};
// NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *stream)
{
    fprintf(stream, "stonet-paper: the experiments of 'Nonlinear Sufficient Dimension Reduction with a "
                    "Stochastic Neural\n"
                    "Network' (Liang, Sun and Liang 2022), with the printed numbers beside ours\n\n"
                    "Usage: stonet-paper EXPERIMENT [options]\n\nExperiments:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(stream, "  %-18s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(
        stream,
        "\n'stonet-paper EXPERIMENT --help' shows the options. A run that was stopped goes on where it was\n"
        "when the same command is given again.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, argv[1]) == 0) return commands[i]->run(commands[i], argc - 1, argv + 1);
    fprintf(stderr, "stonet-paper: there is no experiment '%s'; 'stonet-paper --help' lists them\n", argv[1]);
    return EXIT_USAGE;
}
