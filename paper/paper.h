/*
 * An experiment is data (`experiment`): columns, rows, measures, and the function that computes a cell. One
 * runner serves all of them: options, the plan of cells, finished cells on disk, trials dealt to threads,
 * tables with standard errors and paired tests, the printed numbers beside ours.
 *
 * A cell is one number of a table before averaging: a column on one row (data set) at one dimension in one
 * trial. Finished cells are lines of JSON in OUT/EXPERIMENT-cells.jsonl. A cell whose line is there, or in a
 * folder copied into OUT, is not computed again.
 */
#ifndef PAPER_PAPER_H
#define PAPER_PAPER_H

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <stonet/stonet.h>
#include <string.h>

#include "cli/say.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
/* Leaves the function with a status that is not STONET_OK. Variables of AUTO and ROOM are freed on every way
 * out. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        stonet_status tried = (call);                                                                        \
        if (tried != STONET_OK) return tried;                                                                \
    } while (0)
#define AUTO(type) __attribute__((cleanup(drop_##type))) type
// NOLINTBEGIN(bugprone-macro-parentheses): a type has none
#define DROP(type)                                                                                           \
    static inline void drop_##type(type **self)                                                              \
    {                                                                                                        \
        type##_free(*self);                                                                                  \
    }
// NOLINTEND(bugprone-macro-parentheses)
DROP(stonet_data)
DROP(stonet_model)
DROP(stonet_spec)
DROP(stonet_tensors)
DROP(stonet_results)
static inline void drop_room(void *room)
{
    free(*(void **)room);
}
#define ROOM __attribute__((cleanup(drop_room)))
/* Zeros, for ROOM; NULL when there is no memory. */
void *make_room(size_t count, size_t size);

typedef struct lab_options {
    const char *data, *out, *methods, *rows, *dims, *page;
    int64_t trials, first, seed, threads, jobs;
    bool quick, report;
} lab_options;

enum { ROW_SIZE = 32, METHOD_SIZE = 24, SETTINGS_SIZE = 512, KEY_SIZE = SETTINGS_SIZE + 256 };

/* Flags of columns and rows. */
enum {
    IN_QUICK = 1, /* the quick form has it */
    IN_FULL = 2,  /* rows: the full form has it */
    LARGE = 4,    /* rows: too large for most columns; columns: fit for them */
    NESTED = 8,   /* Z of a smaller q is the first columns of Z of a larger one: one fit serves all */
    BY_ROW = 16,  /* columns: the settings are the row's */
    ASKED = 32,   /* columns: only where --methods names them */
};

typedef struct column {
    const char *name, *method;
    const char *settings; /* NULL: nothing is set but q, and the model's own output is scored */
    unsigned flags;
    const char *head; /* the learner on Z, where it is not the experiment's */
    int64_t full;     /* trials at most; 0: as many as there are */
} column;

typedef struct row {
    const char *name;
    const char *dims; /* "8 4 | 2 1", of which the quick form has those behind the bar; "": none to choose */
    unsigned flags;
    const char *file;    /* that the data folder must have; NULL: none */
    const char *paper;   /* the paper's settings, or the generator */
    int64_t number;      /* sufficient predictors; column of the target; what a dimension is divided by */
    int64_t full, quick; /* trials at most; 0: as many as there are */
} row;

/* Of lists of them; further members may follow. */
#define COLUMN(a, by, text, bits, ...)                                                                       \
    {                                                                                                        \
        .name = a, .method = by, .settings = text, .flags = bits, __VA_ARGS__                                \
    }
#define LISTS(name)                                                                                          \
    .columns = name##_columns, .n_columns = COUNT(name##_columns), .rows = name##_rows,                      \
    .n_rows = COUNT(name##_rows), .measures = name##_measures, .n_measures = COUNT(name##_measures)
#define ROW(a, list, bits, ...)                                                                              \
    {                                                                                                        \
        .name = a, .dims = list, .flags = bits, __VA_ARGS__                                                  \
    }

typedef struct measure {
    const char *field; /* of the cells' values, and of the printed numbers */
    const char *title;
    bool higher_is_better;
    size_t from; /* tables 1 to 3: offset in `scored` */
} measure;

typedef struct cell {
    char row[ROW_SIZE];
    int64_t q;
    char method[METHOD_SIZE];
    int64_t trial;                /* from 1 */
    char settings[SETTINGS_SIZE]; /* all that the result depends on, beyond the names above */
    const column *by;             /* behind the names */
    const row *on;
} cell;

typedef struct plan {
    size_t count;
    cell *cell;
    bool broken; /* memory ran out on the way */
} plan;

typedef struct split {
    stonet_data *train, *test;
} split;

/* Z of the training and test rows, and how the model itself did. */
typedef struct reduction {
    const column *by;
    int64_t q, width; /* asked for, and columns of z */
    float *z[2];
    stonet_scores own;
    double seconds, processor_seconds;
} reduction;

/* One cell at work. The data and the last reduction stay for the next cell of the same row and trial. */
typedef struct job {
    struct lab *lab;
    const cell *what;
    size_t number; /* in the plan */
    int threads;
    split parts;
    reduction kept;
} job;

typedef struct lab {
    cli_command command;
    const struct experiment *about;
    lab_options options;
    json_t *finished; /* key of a cell -> its record */
    plan cells;
    stonet_data *ct; /* table 3: the CT slices, where they are whole */
} lab;

/* The scores of a cell of tables 1 to 3; of the model itself NaN where they are no column. */
typedef struct scored {
    stonet_scores own, dnn, plain;
    double mse_unit; /* of the DNN, for a response scaled to 0..1 */
    double seconds, processor_seconds;
} scored;

/* A grid, entries as stonet_tune takes them, and how to choose from it. */
typedef struct tuning {
    const char *entry[3];
    int64_t count;
    double within; /* take the first point within so many standard errors of the best; 0: the best */
    int folds;
    int64_t points; /* of the grid, drawn at random; 0: all of them */
    char room[64];  /* for an entry that depends on the rows */
} tuning;

typedef struct experiment {
    const char *name, *title, *summary, *details, *examples, *notes;
    const char *lines; /* what stands in the place of the dimension; NULL: q */
    const column *columns;
    size_t n_columns;
    const row *rows;
    size_t n_rows;
    const measure *measures;
    size_t n_measures;
    int64_t full_trials, quick_trials;
    int64_t jobs;      /* trials at a time when --jobs is not given; 0: one a core */
    const char *paper; /* the column with the paper's settings; NULL: not in the summary */
    /* The data of a row and trial; NULL: compute makes its own. */
    stonet_status (*load)(const lab *self, const cell *what, split *out);
    /* Computes a cell. Several threads call it at once. A cell that fails is kept with the reason. */
    stonet_status (*compute)(job *self, json_t *values);
    /* Of tables 1 to 3: the learners on Z, and the grid. */
    const char *dnn, *quick_dnn, *plain;
    void (*grid)(const lab *self, const char *method, int64_t n, tuning *out);
    /* Words at the end of the report; NULL: notes alone. */
    void (*conclude)(const lab *self, FILE *markdown);
    bool logs; /* figures of logarithms */
} experiment;

/* The program's commands, in order. */
extern const experiment *const experiments[];
extern const size_t n_experiments;

/* Parses the options and makes OUT. False: leave with *leave, all has been said. */
bool lab_open(lab *self, const experiment *about, int argc, char **argv, int *leave);
/* Reads the finished cells and plans. EXIT_DONE, or what to exit with. */
int lab_plan(lab *self);
void lab_close(lab *self);
/* The whole command: open, plan, compute, report. Gives an exit status. */
int lab_main(const experiment *about, int argc, char **argv);

/* Whether a name is in a list "a,b,c"; no list has them all. */
bool is_listed(const char *list, const char *name);
/* A run for one cell; `stream` separates the randomness of its parts. */
stonet_run job_run(job *self, uint64_t stream);
/* The last data and reduction go. */
void job_free(job *self);

/* All that identifies a cell, as one text. */
void cell_key(const cell *what, int64_t seed, char key[KEY_SIZE]);
/* A value of a finished cell ("seconds": how long it took); NaN when the cell or the value is not there. */
double lab_value(const lab *self, const cell *what, const char *field);

/* OUT/EXPERIMENT-SUFFIX, to be freed; NULL when memory ran out. */
char *lab_path(const lab *self, const char *suffix);
int lab_no_memory(const lab *self);

/* ---- data.c: the data folder --------------------------------------------------------------------- */

/* Whether the folder has the data of a row; says so if not. */
bool data_is_there(lab *self, const row *on);
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

/* A cell of tables 1 to 3: a reduction, tuned where there is a grid, and the learners on its Z (psi(Z) of a
   StoNet). Where there are no learners, and in the default column, the model's own output stands for them. */
stonet_status fits_compute(job *self, json_t *values);
/* Writes down all that a cell depends on, beyond its names: settings, learners, grid. */
void fits_describe(const lab *self, cell *what);
void reduction_free(reduction *self);

/* values[name] = number, left out when it is not finite. */
stonet_status put_value(json_t *values, const char *name, double number);
/* Says so, and gives the status for it. */
stonet_status out_of_memory(void);

/* ---- report.c: means over trials ----------------------------------------------------------------- */

/* A number printed in the paper; NaN where it has none. */
typedef struct printed {
    double mean, spread;
} printed;
printed printed_number(const char *name, const char *field, const char *on, int64_t q, const char *method);

typedef struct entry {
    int64_t n;       /* trials that are finished */
    double mean, se; /* NaN with too few */
    double seconds;  /* mean over the trials */
    double p_value;  /* paired t-test against the best of the line; NaN for the best and without one */
    bool best, bold;
    bool baseline; /* no reduction */
    printed paper;
    double *values; /* by trial, NaN where there is none */
} entry;

/* A line of a table. The paired t-test is that of the default column against the best other reduction. */
typedef struct line {
    const cell *at; /* the first of its cells: row and q */
    int64_t most;   /* trials of its longest column */
    entry *entries; /* one a column */
    const entry *other;
    const char *other_name;        /* NULL: none */
    double difference, se, p_test; /* default - other; NaN without two trials of both */
} line;

typedef struct table {
    size_t n_lines;
    line *lines;
    entry *entries;
    double *values;
} table;

/* One measure of all finished cells of the plan. False when memory ran out. */
bool table_make(const lab *self, const measure *about, table *out);
void table_free(table *self);
/* Tables (CSV, Markdown) and figures of all measures, in OUT. Gives an exit status. */
int report_write(const lab *self);
/* Writes a text to OUT/EXPERIMENT-SUFFIX and says so. NULL: memory ran out. Gives an exit status. */
int report_file(const lab *self, const char *suffix, const char *text);

extern const experiment theory, level;
/* stonet-paper summary: one table of all experiments that have a default column. */
int summary_main(int argc, char **argv);
void table1_grid(const lab *self, const char *method, int64_t n, tuning *out);

#endif
