/* stonet-paper: the experiments of Liang, Sun and Liang (2022), one command each. */
#include "paper/paper.h"

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    const bool helps = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
    for (size_t i = 0; i < n_experiments; i++)
        if (strcmp(experiments[i]->name, word) == 0) return lab_main(experiments[i], argc - 1, argv + 1);
    if (argc > 1 && !helps) {
        fprintf(stderr, "stonet-paper: there is no experiment '%s'; 'stonet-paper --help' lists them\n",
                word);
        return EXIT_USAGE;
    }
    FILE *stream = helps ? stdout : stderr;
    fprintf(stream, "stonet-paper: the experiments of 'Nonlinear Sufficient Dimension Reduction with a "
                    "Stochastic Neural\n"
                    "Network' (Liang, Sun and Liang 2022), with the printed numbers beside ours\n\n"
                    "Usage: stonet-paper EXPERIMENT [options]\n\nExperiments:\n");
    for (size_t i = 0; i < n_experiments; i++)
        fprintf(stream, "  %-18s %s\n", experiments[i]->name, experiments[i]->summary);
    fprintf(stream,
            "\n'stonet-paper EXPERIMENT --help' shows the options. A run that was stopped goes on where "
            "it was\nwhen the same command is given again.\n");
    return helps ? EXIT_DONE : EXIT_USAGE;
}
