#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "cli/progress.h"
#include "cli/show.h"

static void say(const cli_command *command, const char *format, va_list values)
{
    char sentence[2048];
    vsnprintf(sentence, sizeof sentence, format, values);
    progress_clear();
    if (command != NULL) fprintf(stderr, "%s %s: ", command->program, command->name);
    show_text(stderr, sentence);
    fputc('\n', stderr);
}

void say_line(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say(NULL, format, values);
    va_end(values);
}

int say_error(const cli_command *command, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say(command, format, values);
    va_end(values);
    return EXIT_FAILED;
}

int say_usage(const cli_command *command, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say(command, format, values);
    va_end(values);
    fprintf(stderr, "Try '%s %s --help'.\n", command->program, command->name);
    return EXIT_USAGE;
}

int say_failure(const cli_command *command, stonet_status status)
{
    const char *sentence = stonet_last_error();
    say_error(command, "%s", sentence[0] != '\0' ? sentence : stonet_status_name(status));
    return status == STONET_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
}

int outcome(const cli_command *command, stonet_status status)
{
    if (status != STONET_OK) return say_failure(command, status);
    progress_clear();
    return EXIT_DONE;
}
