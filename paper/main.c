/* stonet-paper: the experiments of Liang, Sun and Liang (2022), one command each. */
#include "paper/paper.h"

static int print_help(FILE *stream, int result)
{
    fprintf(stream, "stonet-paper: the experiments of 'Nonlinear Sufficient Dimension Reduction with a "
                    "Stochastic Neural\n"
                    "Network' (Liang, Sun and Liang 2022), with the printed numbers beside ours\n\n"
                    "Usage: stonet-paper EXPERIMENT [options]\n\nExperiments:\n");
    for (size_t i = 0; i < n_experiments; i++)
        fprintf(stream, "  %-18s %s\n", experiments[i]->name, experiments[i]->summary);
    fprintf(
        stream,
        "\n'stonet-paper EXPERIMENT --help' shows the options. A run that was stopped goes on where it was\n"
        "when the same command is given again.\n");
    return result;
}

int main(int argc, char **argv)
{
    if (argc < 2) return print_help(stderr, EXIT_USAGE);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return print_help(stdout, EXIT_DONE);
    for (size_t i = 0; i < n_experiments; i++)
        if (strcmp(experiments[i]->name, argv[1]) == 0) return lab_main(experiments[i], argc - 1, argv + 1);
    fprintf(stderr, "stonet-paper: there is no experiment '%s'; 'stonet-paper --help' lists them\n", argv[1]);
    return EXIT_USAGE;
}
