/*
 * An experiment is data (`experiment`): columns, rows, measures, and the function that computes a cell. One
 * runner serves all of them: options, the plan of cells, finished cells on disk, trials dealt to threads,
 * tables with standard errors and paired tests, the printed numbers beside ours.
 *
 * A cell is one number of a table before averaging: a column on one row (data set) at one dimension in one
 * trial. Finished cells are lines of JSON in OUT/EXPERIMENT-cells.jsonl. A cell whose line is there, or in a
 * folder copied into OUT, is not computed again.
 */
#pragma once

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/common.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

typedef struct lab_options {
    const char *data, *out, *methods, *rows, *dims, *page;
    int64_t trials, first, seed, threads, jobs;
    bool quick, report;
} lab_options;

enum { MOST_DIMS = 8, MOST_COLUMNS = 16 };

/* Flags of columns and rows. */
enum {
    FULL_ALONE = 1,  /* not in the quick form */
    QUICK_ALONE = 2, /* rows: not in the full form */
    LARGE = 4,       /* rows: too large for most columns; columns: fit for them */
    NESTED = 8,      /* columns: Z of a smaller q is the first columns of Z of a larger one */
    BY_ROW = 16,     /* columns: the settings are the row's */
    ASKED = 32,      /* columns: only where --methods names them */
};

typedef struct column {
    const char *name, *method;
    const char *settings; /* NULL: nothing is set but q, and the model's own output is scored */
    unsigned flags;
    const char *head;    /* the learner on Z, where it is not the experiment's */
    const char *grid[3]; /* chosen from by cross-validation, entries as stonet_tune takes them */
    double within;       /* take the first point within so many standard errors of the best; 0: the best */
    int64_t full;        /* trials at most; 0: as many as there are */
} column;

/* One row, or several that are alike but for their names. */
typedef struct row {
    const char *names;      /* separated by blanks */
    const char *dims;       /* "8 4 2 1"; "": none to choose */
    const char *quick_dims; /* of the quick form; NULL: the same */
    unsigned flags;
    const char *file;    /* that the data folder must have; NULL: a folder of the row's name */
    const char *paper;   /* the paper's settings */
    int64_t number;      /* sufficient predictors; column of the target; what a dimension is divided by */
    int64_t full, quick; /* trials at most; 0: as many as there are */
} row;

typedef struct measure {
    const char *field; /* of the cells' values, and of the printed numbers */
    const char *title;
    bool higher_is_better;
    size_t from; /* tables 1 to 3: offset in `scored` */
} measure;

/* A row at one of its dimensions. */
typedef struct line {
    const row *on;
    char name[32];
    int64_t q; /* 0: none to choose */
} line;

typedef struct cell {
    const line *at; /* the first that shows it */
    const column *by;
    int64_t q, trial; /* q 0: no reduction, or none to choose; trials from 1 */
    json_t *record;   /* NULL: not finished */
} cell;

typedef struct split {
    stonet_data *train, *test;
} split;

/* The scores of a cell of tables 1 to 3; of the model itself NaN where they are no column. */
typedef struct scored {
    stonet_scores own, dnn, plain;
    double mse_unit; /* of the DNN, for a response scaled to 0..1 */
    double seconds, processor_seconds;
} scored;

/* One cell at work. The data and the last reduction stay for the next cell of the same row and trial. */
typedef struct job {
    struct lab *lab;
    const cell *what;
    int threads;
    split parts;
    stonet_model *model; /* of tables 1 to 3, with the column and the dimension that it was fitted for */
    const column *by;
    int64_t q;
    scored found; /* of the model itself */
} job;

typedef struct lab {
    cli_command command;
    const struct experiment *about;
    lab_options options;
    line *lines;
    cell *cells; /* by trial, row, column and dimension */
    size_t n_lines, n_cells, done;
    int64_t trials;  /* the most that a column has */
    bool is_there;   /* the data of a row */
    bool broken;     /* a cell could not be kept, or the user stops */
    stonet_data *ct; /* table 3: the CT slices, where they are whole */
} lab;

typedef struct experiment {
    const char *name, *title, *summary, *details, *examples, *notes;
    const char *lines; /* what stands in the place of the dimension; NULL: q */
    const column *columns;
    const row *rows;
    const measure *measures;
    size_t n_columns, n_rows, n_measures;
    int64_t full_trials, quick_trials;
    int64_t jobs;      /* trials at a time when --jobs is not given; 0: one a core */
    const char *paper; /* the column with the paper's settings; NULL: not in the summary */
    /* The data of a row and trial; NULL: compute makes its own. */
    stonet_status (*load)(const lab *self, const cell *what, split *out);
    /* Computes a cell. Several threads call it at once. A cell that fails is kept with the reason. NULL: the
       summary. */
    stonet_status (*compute)(job *self, json_t *values);
    const char *dnn, *quick_dnn, *plain; /* of tables 1 to 3: the learners on Z */
    /* Words at the end of the report; NULL: notes alone. */
    void (*conclude)(const lab *self, FILE *markdown);
    bool logs; /* figures of logarithms */
} experiment;

#define LISTS(name)                                                                                          \
    .columns = name##_columns, .n_columns = COUNT(name##_columns), .rows = name##_rows,                      \
    .n_rows = COUNT(name##_rows), .measures = name##_measures, .n_measures = COUNT(name##_measures)

/* The program's commands, in order. */
extern const experiment *const experiments[];
extern const size_t n_experiments;
extern const experiment level, theory, summary;

/* ---- lab.c: from the command to the finished cells ----------------------------------------------- */

/* The whole command: plans, computes, reports. Gives an exit status. */
int lab_main(const experiment *about, int argc, char **argv);
/* Plans, and finds what is finished. EXIT_DONE, or what to exit with. */
int lab_plan(lab *self);
/* Lines and cells go. */
void lab_clear(lab *self);
/* A value of a finished cell ("seconds": how long it took); NaN when the cell or the value is not there. */
double cell_value(const cell *self, const char *field);
/* OUT/EXPERIMENT-SUFFIX, to be freed. */
char *lab_path(const lab *self, const char *suffix);
/* Whether a name is in a list "a,b,c"; no list has them all. */
bool is_listed(const char *list, const char *name);
bool is_same_row(const line *a, const line *b);
/* Whether a column has no reduction: one cell stands in all lines of its row. */
bool is_none(const column *by);
/* A run for one cell; `stream` separates the randomness of its parts. */
stonet_run job_run(job *self, uint64_t stream);
void split_free(split *self);
/* object[name] = value, which is the object's from then on. As in room_for, a program without memory ends. */
void put(json_t *object, const char *name, json_t *value);
/* The same for a number, left out when it is not finite. */
void put_value(json_t *values, const char *name, double number);

/* ---- data.c: the data folder --------------------------------------------------------------------- */

/* Whether the folder has the data of a row; says so if not. */
bool data_is_there(lab *self, const row *on, const char *name);
/* Split number `trial` of one of the six binary sets: the given ones as far as they go, then random
   partitions of the same rows in the same sizes. */
stonet_status binary_split(const lab *self, const cell *what, split *out);
/* The first training images of each digit, as many in all as the row's name says; the 10,000 test images. */
stonet_status mnist_split(const lab *self, const cell *what, split *out);
/* The fold of a UCI set by its mask; of the CT slices a fifth of the rows at random, or by patient: all rows
   of a tenth of the patients. */
stonet_status regression_split(const lab *self, const cell *what, split *out);

/* ---- fits.c: steps of an experiment in terms of the public calls --------------------------------- */

/* A spec with settings "NAME=VALUE NAME=VALUE ..", numbers kept as numbers and no front, as in the paper;
   settings NULL: nothing is set but the dimension. */
stonet_status fits_spec(const char *method, int64_t dim, const char *settings, stonet_spec **out);
/* The same, fitted with the randomness of `stream`. */
stonet_status fits_model(job *self, const char *method, int64_t dim, const char *settings,
                         const stonet_data *data, uint64_t stream, stonet_model **out);
/* An entry of a grid whose epochs stand for updates with batches of 64: with n rows they are others. */
#define UPDATES(few, many) "epochs/lr=" few "/0.05," few "/0.1," many "/0.1"
const char *updates_to_epochs(const char *choices, int64_t n, char room[64]);
/* A cell of tables 1 to 3: a reduction, tuned where there is a grid, and the learners on its Z (psi(Z) of a
   StoNet). Where there are no learners, and in the default column, the model's own output stands for them. */
stonet_status fits_compute(job *self, json_t *values);
/* All that a cell depends on, beyond its names: settings, learners, grid. To be freed. */
char *fits_describe(const lab *self, const cell *what);

/* ---- report.c: means over trials ----------------------------------------------------------------- */

/* A mean with its standard error; a number printed in the paper with its spread. NaN: there is none. */
typedef struct estimate {
    double mean, se;
} estimate;
estimate printed_number(const char *name, const char *field, const char *on, int64_t q, const char *method);

/* What a line shows in one column. */
typedef struct entry {
    int64_t n;      /* trials that are finished */
    estimate found; /* with too few NaN */
    double seconds; /* mean over the trials */
    double p_value; /* of a paired t-test against the best of the line; NaN for the best and without one */
    bool bold;      /* the best, or not told from it */
    estimate printed;
} entry;

/* What a line shows of a measure, by columns. */
typedef struct entries {
    entry by[MOST_COLUMNS];
    int64_t most;           /* trials of its longest column */
    const entry *other;     /* the best other reduction */
    const char *other_name; /* NULL: none */
    /* The default less the best other, over the trials that both have, and p of a paired t-test; NaN with
       fewer than two of them. */
    estimate difference;
    double p_difference;
} entries;

/* One measure of all finished cells, a struct for each line, to be freed. */
entries *table_make(const lab *self, const measure *about);
/* Tables (CSV, Markdown) and figures of all measures, in OUT. Gives an exit status. */
int report_write(const lab *self);
/* The command "summary": one table of all experiments that have a default column. Gives an exit status. */
int summary_write(const lab *self);
