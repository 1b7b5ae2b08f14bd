/* Words for the user, all on stderr. */
#pragma once

#include <stonet/stonet.h>

#include "cli/options.h"

/* The exit statuses of every command. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* "stonet COMMAND: SENTENCE"; gives EXIT_FAILED. */
int say_error(const cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, and where to find the help; gives EXIT_USAGE. */
int say_usage(const cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of its own: a note, a warning. */
void say_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says stonet_last_error() and gives the exit status that belongs to `status`. */
int say_failure(const cli_command *command, stonet_status status);
/* The same, but for STONET_OK EXIT_DONE and no word. A line of progress is taken away. */
int outcome(const cli_command *command, stonet_status status);
