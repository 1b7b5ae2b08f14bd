/* The files that a command is told to read and to write. */
#pragma once

#include "cli/options.h"

/*
 * Whether no file that is written is also read or written a second time, whatever names and links lead to it.
 * Says so otherwise: data would be lost, or one result would replace another. Devices and pipes may be named
 * twice.
 */
bool files_are_apart(const cli_command *command, const void *values, const cli_arguments *given);
