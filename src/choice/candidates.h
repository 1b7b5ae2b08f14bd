/*
 * The table of candidates: every kind of StoNet that a fit may become, and how many of them stay how long in
 * the choice among them (choice/halving.h). All numbers that the choice depends on stand below.
 *
 *     family     layer 1 sees    units       open
 *     network    x               tanh, relu  weight decay
 *     kernel     kernel features tanh        width of the kernel, weight decay
 *     linear     x               identity    weight decay
 *     few        columns         tanh        how many columns, weight decay
 *     few        components      tanh, identity   weight decay
 *
 * The last lines are for tables with many more columns than rows, which leave out those that see all of x.
 * What the user set takes the lines away that have something else.
 */
#pragma once

#include "stonet/config.h"

/* ---- every number that the choice depends on ----------------------------------------------------------- */

/* Lengths of training, weight decays and widths of kernels that are tried lie this far apart: closer ones are
   seldom told apart by held-out rows. */
enum { SN_STEP = 3 };
/* The strongest weight decay: all but constant outputs. Linear units have fewer weights, and bear more. */
#define SN_NETWORK_DECAY 0.1
#define SN_LINEAR_DECAY  1.0
enum { SN_DECAYS = 7 }; /* down to 1e-4 of networks: weaker ones are as none */
/* Widths of the kernel: c = 1 has the mean distance of two rows for its standard deviation. */
#define SN_LEAST_COMPLEXITY 0.5
enum {
    SN_COMPLEXITIES = 4, /* up to 13.5, where a row has hardly a neighbour in ten columns */
    SN_COLUMNS_STEP = 2, /* 2, 4, .. columns, finer: each one counts */
    SN_COLUMN_COUNTS = 5,
    SN_COMPONENTS = 100,         /* principal components, at most */
    SN_MANY_COLUMNS = 200,       /* from which a table may have too many for its rows, ... */
    SN_COLUMNS_A_ROW = 2,        /* ... and does where it has so many for each row */
    SN_ROWS_A_LANDMARK = 10,     /* of a kernel, of which there are SN_MANY_COLUMNS at the least and */
    SN_MOST_LANDMARKS = 1000,    /* at the most so many: their products are to stay quick */
    SN_MOST_KERNEL_ROWS = 20000, /* above, kernel features of all rows cost more memory than they are worth */
    SN_FIRST_UPDATES = 100,      /* of the first rung: about what linear units need */
    SN_RUNGS = 6,                /* up to 24,300 updates */
    SN_FOLDS = 5,                /* the usual number: a fit on four fifths is nearly one on all rows */
    SN_FEW_FOLDS = 2,            /* on which a longer training is tried first */
    SN_MOST_PASSES = 1500,       /* over the rows, and rows seen in all: longer trainings are left out */
    SN_MOST_SEEN = 2000000,
    SN_ENOUGH_HELD_OUT = 1000, /* rows: an error rate is known to .01; folds beyond them are left out, ... */
    SN_MOST_HELD_OUT = 10000   /* ... and no fold holds out more than this */
};
/* Penalty of the regression that linear units begin at, as a part of the weight decay: to begin near it, and
   not below. */
#define SN_REGRESSION_PENALTY 0.1
#define SN_COVERED            0.95 /* by an interval; and the level of a test */

/* ---- the table ----------------------------------------------------------------------------------------- */

/* The best of a family is compared with the best of another at the end alone: some are slow at first. */
typedef enum sn_family {
    SN_FAMILY_NETWORK, /* tanh, or the units that were given */
    SN_FAMILY_RELU,
    SN_FAMILY_KERNEL,
    SN_FAMILY_LINEAR,
    SN_FAMILY_FEW
} sn_family;
enum { SN_FAMILIES = 5 };

typedef struct sn_line {
    sn_family family;
    sn_net_kind kind;
} sn_line;

/* The table for a problem and q columns of Z, in a fixed order; *open: whether there is anything to choose.
   Where epochs and weight decay are both given there is one line. */
enum { SN_MOST_LINES = 64 };
stonet_status sn_lines_for(const sn_settings *settings, const sn_problem *problem, int64_t q, sn_line *lines,
                           int *count, bool *open);

/* A rung of the choice: lines go on to so many updates, on so many folds (one, a few, all). */
int64_t sn_rung_updates(int rung);
int sn_rung_most_folds(int rung);

/* "tanh network, weight decay 0.01", at most `size` bytes. */
void sn_line_tell(const sn_line *line, char *text, size_t size);
