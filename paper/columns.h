/* The columns of a table: the method behind each name, and the cells of its lines. */
#ifndef PAPER_COLUMNS_H
#define PAPER_COLUMNS_H

#include "paper/lab.h"

enum {
    COLUMN_QUICK = 1,  /* in the quick form too */
    COLUMN_LARGE = 2,  /* on the largest data too */
    COLUMN_NESTED = 4, /* Z of a smaller q is the first columns of Z of a larger one: one fit serves all */
};

typedef struct column {
    const char *name, *method;
    const char *settings; /* NULL: they depend on the row */
    unsigned flags;
} column;

typedef struct column_list {
    const column *at;
    size_t count;
} column_list;

/* The column of a cell. */
const column *columns_find(column_list columns, const char *name);
bool column_is_stonet(const column *self);
/* Says which names of --methods are none of these; EXIT_USAGE then. */
int columns_check(const lab *self, column_list columns);

/* Writes the settings text of a cell. */
typedef void (*describe_function)(const lab *self, const column *by, cell *what);

/* The cells of one row in one trial: each wanted column at each dimension, and once with q = 0 where there is
   no dimension to choose. */
typedef struct cell_line {
    const char *row;
    int64_t trial;
    const int64_t *dims;
    size_t n_dims;
    unsigned needs;             /* flags that a column must have; COLUMN_QUICK comes with --quick */
    describe_function describe; /* NULL: the column's settings as they are */
} cell_line;
void columns_plan(const lab *self, column_list columns, const cell_line *of, plan *cells);

#endif
