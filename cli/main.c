/* stonet: the program. Finds the command and lets it run. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/say.h"
#include "cli/team.h"

static const cli_command *const commands[] = {
    &fit_command,     &transform_command,    &predict_command,    &score_command,   &tune_command,
    &compare_command, &order_command,        &importance_command, &coef_command,    &calibrate_command,
    &report_command,  &independence_command, &generate_command,   &methods_command, &info_command,
    &export_command,  &demo_command,
};
// NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *stream)
{
    fprintf(stream,
            "stonet %s: from many variables to the few numbers that keep what they say about a response\n\n"
            "Usage: stonet COMMAND [operands] [options]\n\nCommands:\n",
            stonet_version());
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(stream, "  %-13s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(stream,
            "\n'stonet COMMAND --help' shows the options of a command; 'stonet --version' the version.\n\n"
            "Example:\n"
            "  stonet generate waveform --rows 400 --out train.csv\n"
            "  stonet generate waveform --rows 2000 --seed 2 --out test.csv\n"
            "  stonet fit train.csv --target y --dim 2 --out waveform.model\n"
            "  stonet score waveform.model test.csv --target y\n"
            "  stonet transform waveform.model test.csv --out z.csv\n");
}

static const cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static int say_unknown_command(const char *name)
{
    const char *known[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++) known[i] = commands[i]->name;
    const char *nearest = stonet_nearest(name, known, N_COMMANDS);
    if (nearest != NULL)
        fprintf(stderr, "stonet: there is no command '%s'; did you mean '%s'?\n", name, nearest);
    else
        fprintf(stderr, "stonet: there is no command '%s'; 'stonet --help' lists them\n", name);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("stonet %s\n", stonet_version());
        return EXIT_DONE;
    }
    bool help = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (help && argc == 2)) {
        print_help(stdout);
        return EXIT_DONE;
    }
    const char *name = help ? argv[2] : argv[1];
    const cli_command *found = find_command(name);
    if (found == NULL) return say_unknown_command(name);
    if (help) {
        options_help(found);
        return EXIT_DONE;
    }
    int result = team_begin(found);
    if (result == EXIT_DONE) result = found->run(found, argc - 1, argv + 1);
    return team_end(result);
}
