/* The files that a command is told to read and to write. */
#pragma once

#include "cli/options.h"

/*
 * Whether every file that is written is another one than those that are read and than the other ones written,
 * whatever names and links lead to it. Says so otherwise: the data would be gone, or one result under
 * another. Devices and pipes may be named twice.
 */
bool files_are_apart(const cli_command *command, const void *values, const cli_arguments *given);
