/* stonet: the program. Finds the command and lets it run. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/manual.h"
#include "cli/ranks.h"
#include "cli/say.h"

/* The title above the first command of a group; NULL: the command belongs to the group before it. */
static const char *title_before(const char *name)
{
    static const char *const TITLES[][2] = {{"fit", "Fit and use a model"},
                                            {"tune", "Choose settings, methods, dimensions"},
                                            {"importance", "Look closer"},
                                            {"generate", "Data, files and help"}};
    for (size_t k = 0; k < sizeof TITLES / sizeof *TITLES; k++)
        if (strcmp(name, TITLES[k][0]) == 0) return TITLES[k][1];
    return NULL;
}

static void print_help(FILE *stream)
{
    fprintf(stream,
            "stonet %s: from many variables to the few numbers that keep what they say\n"
            "about a response\n\n"
            "Usage: stonet COMMAND [operands] [options]\n\nCommands:\n",
            stonet_version());
    for (size_t i = 0; i < cli_command_count(); i++) {
        const char *title = title_before(cli_command_at(i)->name);
        if (title != NULL) fprintf(stream, " %s\n", title);
        const int width = fprintf(stream, "  %-13s ", cli_command_at(i)->name);
        help_wrapped(stream, cli_command_at(i)->summary, width, width);
    }
    fprintf(stream,
            "\n'stonet COMMAND --help' shows the options of a command, 'stonet --version' the\n"
            "version, 'man stonet' the manual.\n\nExample:\n%s",
            cli_example);
}

static int say_unknown_command(const char *name)
{
    enum { MOST = 100 };
    const char *known[MOST];
    int64_t count = 0;
    for (size_t i = 0; i < cli_command_count() && count < MOST; i++) known[count++] = cli_command_at(i)->name;
    const char *nearest = stonet_nearest(name, known, count);
    if (nearest != NULL)
        fprintf(stderr, "stonet: there is no command '%s'; did you mean '%s'?\n", name, nearest);
    else
        fprintf(stderr, "stonet: there is no command '%s'; 'stonet --help' lists them\n", name);
    return EXIT_USAGE;
}

/* "stonet help COMMAND" is "stonet COMMAND --help"; "help --man" prints manual pages, for the build. Ranks of
   mpirun are joined before a command runs and part after it. */
static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("stonet %s\n%s\n", stonet_version(), stonet_blas());
        return EXIT_DONE;
    }
    bool help = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (help && argc == 2)) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (help && strcmp(argv[2], "--man") == 0) return manual_print(argc > 3 ? argv[3] : NULL);
    const char *name = help ? argv[2] : argv[1];
    const cli_command *found = cli_command_named(name);
    if (found == NULL) return say_unknown_command(name);
    if (help) {
        options_help(found);
        return EXIT_DONE;
    }
    int result = team_begin(found);
    if (result == EXIT_DONE) result = options_run(found, argc - 1, argv + 1);
    return team_end(result);
}

/* What was printed may still fail to be written: the disk is full. */
static int end_of_output(int result)
{
    if ((fflush(stdout) == 0 && ferror(stdout) == 0) || result != EXIT_DONE) return result;
    fprintf(stderr, "stonet: cannot write to standard output: %s\n", strerror(errno));
    return EXIT_FAILED;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ,
           SIG_IGN); /* a file over the limit of its size is an error of that write, with a sentence */
    return end_of_output(run(argc, argv));
}
