/* The commands that are tortured. */
#ifndef TORTURE_COMMANDS_H
#define TORTURE_COMMANDS_H

#include <stddef.h>

enum { MAX_OUTPUTS = 2 };

typedef struct torture_command {
    char command[320]; /* words separated by single blanks */
    const char
        *output[MAX_OUTPUTS]; /* the files it writes, or (ending in /) folders; NULL where there is none */
} torture_command;

/* A shell command that makes the files which the others read; the program is $STONET. */
extern const char torture_preparation[];

/* Another file that an output may be like when the command fails, without being old: a model that was
   saved before it is calibrated. NULL: there is none. */
const char *torture_also(const torture_command *command);

/* All commands, those for each method that the program has included; to be freed. Exits when memory runs out.
 */
torture_command *torture_commands(size_t *count);

#endif
