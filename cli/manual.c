/* The manual pages, in the language of man(7), from the option tables. */
#include "cli/manual.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <stonet/stonet.h>

#include "cli/commands.h"
#include "cli/say.h"

/* Text of a page: dashes as they are typed, no line that begins like a request. */
static void put_text(const char *text)
{
    bool begins = true;
    for (; *text != '\0'; text++) {
        if (begins && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        begins = *text == '\n';
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void put_upper(const char *text)
{
    for (; *text != '\0'; text++) putchar(toupper((unsigned char)*text));
}

static void put_head(const char *name, const char *summary)
{
    fputs(".TH ", stdout);
    put_upper(name);
    printf(" 1 \"\" \"stonet %s\" \"User Commands\"\n.SH NAME\n", stonet_version());
    put_text(name);
    fputs(" \\- ", stdout);
    put_text(summary);
    putchar('\n');
}

/* .TP makes the option a label and what follows its indented text; \fI .. \fR is italic. */
static void put_option(const char *name, const char *argument, const char *help, const char *initial,
                       bool repeats)
{
    printf(".TP\n.B \\-\\-");
    put_text(name);
    if (argument != NULL) {
        fputs(" \\fI", stdout);
        put_text(argument);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    put_text(help);
    if (repeats) fputs(" (may be repeated)", stdout);
    if (initial != NULL) {
        fputs(" [default: ", stdout);
        put_text(initial);
        putchar(']');
    }
    putchar('\n');
}

static void put_paragraphs(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (at[0] == '\n' && at[1] == '\n') {
            fputs("\n.PP", stdout);
            continue;
        }
        const char letter[2] = {*at, '\0'};
        put_text(letter);
    }
    putchar('\n');
}

/* The page of one command: the same texts as its --help, so that they cannot disagree. */
static void put_command(const cli_command *about)
{
    char name[64];
    snprintf(name, sizeof name, "stonet-%s", about->name);
    put_head(name, about->summary);
    printf(".SH SYNOPSIS\n.B stonet %s\n", about->name);
    put_text(about->operands);
    if (about->required != NULL) {
        putchar(' ');
        put_text(about->required);
    }
    puts(" [options]");
    if (about->details != NULL || options_note(about) != NULL) puts(".SH DESCRIPTION");
    if (about->details != NULL) put_paragraphs(about->details);
    if (about->details != NULL && options_note(about) != NULL) puts(".PP");
    if (options_note(about) != NULL) put_paragraphs(options_note(about));
    puts(".SH OPTIONS");
    for (size_t k = 0; k < about->n_options; k++) {
        const cli_option *option = &about->options[k];
        put_option(option->name, option->argument, option->help, option->initial,
                   option->kind == OPTION_TEXTS);
    }
    put_option("help", NULL, "Print this and stop", NULL, false);
    if (about->examples != NULL) {
        puts(".SH EXAMPLES\n.nf");
        put_text(about->examples);
        puts("\n.fi");
    }
    puts(".SH SEE ALSO\n.BR stonet (1)");
}

/* The page stonet(1), which lists the commands and has what no option says: environment and exit status. */
static void put_program(void)
{
    put_head("stonet", "from many variables to the few numbers that keep what they say about a response");
    puts(".SH SYNOPSIS\n.B stonet\nCOMMAND [operands] [options]\n.SH COMMANDS");
    for (size_t i = 0; i < cli_command_count(); i++) {
        printf(".TP\n.BR stonet\\-%s (1)\n", cli_command_at(i)->name);
        put_text(cli_command_at(i)->summary);
        putchar('\n');
    }
    puts(".SH EXAMPLES\n.nf");
    put_text(cli_example);
    puts(".fi\n.SH ENVIRONMENT\n.TP\n.B OMP_NUM_THREADS\nThreads to use, where \\-\\-threads does not say "
         "it.\n"
         ".TP\n.B STONET_PROGRESS\nSeconds between two lines about the progress where standard error is no\n"
         "terminal: 30.\n"
         ".TP\n.B STONET_CPU\nThe vector instructions that are used: portable, avx2 or avx512; the best "
         "that\nthe "
         "processor has, unless said.\n"
         ".TP\n.B STONET_BLAS\nkeep: leave the kernels that OpenBLAS has chosen, slow ones too.\n"
         ".TP\n.B STONET_CUDA\nThe module for engine=cuda, libstonet\\-cuda.so, where it does not lie beside "
         "the\n"
         "program or the library.\n.SH EXIT STATUS\n0: done; 1: failed; 2: wrong usage.");
}

int manual_print(const char *name)
{
    if (name == NULL || strcmp(name, "stonet") == 0) {
        put_program();
        return EXIT_DONE;
    }
    const cli_command *about = cli_command_named(name);
    if (about != NULL) put_command(about);
    if (about == NULL) fprintf(stderr, "stonet: there is no command '%s'\n", name);
    return about != NULL ? EXIT_DONE : EXIT_USAGE;
}
