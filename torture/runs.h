/* Runs of a command in a folder of their own, and what they leave behind. */
#ifndef TORTURE_RUNS_H
#define TORTURE_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "torture/commands.h"

typedef struct content {
    char *bytes; /* NULL: there is no such file */
    size_t size;
} content;

/* What a command left behind. */
typedef struct outcome {
    int status; /* exit status, or 128 + signal */
    double seconds;
    content out, err, file[MAX_OUTPUTS];
} outcome;

enum { COUNTED = 8, FAILING = 7 }; /* the end of the program, the last one, cannot fail */

/* How many calls of each kind (see faults.c) a run makes. */
typedef struct counts {
    char kind[COUNTED][16];
    long calls[COUNTED];
} counts;

void give_up(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Goes to a new folder and makes the files that the commands read; back again, the folder is removed. */
void runs_begin(const char *program);
void runs_end(void);

/* Runs a command over old files ("old" in a line; where a folder is to be, nothing is), with STONET_FAULT as
   told, or, when that is NULL, counting its calls. It is killed after `seconds`; never when that is 0. */
outcome run(const torture_command *command, const char *fault, double seconds);
void outcome_free(outcome *o);
/* The undisturbed run, which must succeed (twice: and give the same again), and how many calls it makes. */
outcome undisturbed(const torture_command *command, counts *made, bool twice);

bool is_same(const content *a, const content *b);
/* Whether output k is still the old file, or the one of the undisturbed run. */
bool is_old(const outcome *o, int k);
bool is_right(const outcome *o, const outcome *right, int k);
/* Whether it is the other file that it may be. */
bool is_also(const torture_command *command, const outcome *o, int k);
bool has_temporary(void);
/* What is wrong with what a call that failed led to; NULL: nothing. */
const char *judge(const torture_command *command, const char *fault, const outcome *o, const outcome *right);
/* Prints that. */
void complain(const torture_command *command, const char *fault, const outcome *o, const char *complaint);

/* Random numbers from 0 to count - 1. */
void draw_from(unsigned long seed);
long draw(long count);

#endif
