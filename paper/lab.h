/*
 * What all experiments share: the options, the plan of cells to compute, the cells already finished,
 * progress.
 *
 * A cell is one number of a table before averaging: a method on one row (data set) at one dimension in one
 * trial. Finished cells are lines of JSON in OUT/EXPERIMENT-cells.jsonl; a cell whose line is there is not
 * computed again, so a run that was stopped goes on where it was.
 */
#ifndef PAPER_LAB_H
#define PAPER_LAB_H

#include <jansson.h>
#include <stonet/stonet.h>

#include "cli/options.h"

typedef struct lab_options {
    const char *data, *out, *methods, *rows, *dims;
    int64_t trials, seed, threads;
    int64_t first; /* trial to begin with, where an experiment lets it be chosen */
    bool quick, report;
} lab_options;

enum { ROW_SIZE = 32, METHOD_SIZE = 24, SETTINGS_SIZE = 512 };

typedef struct cell {
    char row[ROW_SIZE];
    int64_t q;
    char method[METHOD_SIZE];
    int64_t trial;                /* from 1 */
    char settings[SETTINGS_SIZE]; /* all that the result depends on, beyond the names above */
} cell;

typedef struct plan {
    size_t count, room;
    cell *cell;
    bool broken; /* memory ran out on the way */
} plan;

typedef struct lab {
    const cli_command *command;
    lab_options options;
    json_t *finished; /* key of a cell -> its record */
    /* for progress */
    const plan *plan;
    size_t at;
    double started;
} lab;

/* Parses the options, makes OUT and reads the finished cells. EXIT_DONE: go on; otherwise *leave says what to
   exit with (the help was asked for, or something is wrong and has been said). */
bool lab_open(lab *self, const cli_command *command, int argc, char **argv, int *leave);
void lab_close(lab *self);
/* What every command does: opens the lab, does the experiment, closes. Gives an exit status. */
int lab_do(const cli_command *command, int argc, char **argv, int (*experiment)(lab *self));

/* Whether --methods lets this one through. */
bool lab_wants(const lab *self, const char *method);
/* Whether --rows and --dims do; q = 0, no dimension, goes through any --dims. */
bool lab_wants_line(const lab *self, const char *row, int64_t q);
/* Says which names of --methods are none of these; EXIT_USAGE then. */
int lab_check_methods(const lab *self, const char *const *known, size_t count);
/* --trials, or what the experiment takes when it is not given. */
int64_t lab_trials(const lab *self, int64_t full, int64_t quick);

void plan_add(plan *self, const cell *added);
void plan_free(plan *self);

/* Computes one cell into `values`. Gives STONET_OK, or another status with the reason in stonet_last_error.
 */
typedef stonet_status (*cell_function)(lab *self, const cell *what, void *user, json_t *values);

/* Computes what is not finished; nothing with --report. A cell that fails is kept with the reason; a wish to
 * stop gives EXIT_FAILED.
 */
int lab_run(lab *self, const plan *cells, cell_function compute, void *user);
/* A run for one cell: threads, progress and the wish to stop; `stream` separates the randomness of its parts.
 */
stonet_run lab_stonet_run(lab *self, uint64_t stream);

/* The record of a finished cell, NULL when it is not there. */
const json_t *lab_find(const lab *self, const cell *what);
/* A value of a finished cell; NaN when the cell or the value is not there. */
double lab_value(const lab *self, const cell *what, const char *field);

/* Says that an experiment is left out because its data are not there. Gives EXIT_DONE. */
int lab_skip(const lab *self, const char *why);

/* OUT/EXPERIMENT-SUFFIX, to be freed; NULL when memory ran out. */
char *lab_path(const lab *self, const char *suffix);

#endif
