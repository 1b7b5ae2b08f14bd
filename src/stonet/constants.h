/*
 * Every number that the choice of a default fit depends on. What each training takes beside them, as its
 * step, its batch and its noise, are defaults of settings (stonet/config.c).
 */
#pragma once

/* Lengths of training, weight decays and widths of kernels that are tried lie this far apart: closer ones are
   seldom told apart by held-out rows. A training that diverged begins again with a step so much smaller. */
enum {
    SN_STEP = 3,
    SN_TRIES = 4 /* widths of a kernel, and smaller steps */
};
/* The strongest weight decay of networks: all but constant outputs. */
#define SN_NETWORK_DECAY 0.1
enum { SN_DECAYS = 7 }; /* down to 1e-4: weaker ones are as none */
/* Linear units begin at a regression, whose penalty is this part of their weight decay: near where they end,
   and not below. They have fewer weights than networks and bear a stronger decay, up to the same penalty. */
#define SN_REGRESSION_PENALTY 0.1
#define SN_LINEAR_DECAY       (SN_NETWORK_DECAY / SN_REGRESSION_PENALTY)
/* Widths of the kernel: c = 1 has the mean distance of two rows for its standard deviation; at c = 13.5 a row
   has hardly a neighbour in ten columns. */
#define SN_LEAST_COMPLEXITY   0.5
/* Units of the first of two hidden layers for the root of the rows: what the rows can support. */
#define SN_WIDTH_A_ROOT       1.5
enum {
    SN_LEAST_WIDTH = 16, /* there, */
    SN_MOST_WIDTH = 256, /* and at the most */
    /* Units of the last hidden layer at the least, where nobody named the layers: two spirals in twelve
       columns are found from every second start by one or two units, and from every start by five. */
    SN_LEAST_UNITS = 10,
    SN_FEW_STEP = 2,       /* 2, 4, .. columns: each one counts; with every second weight decay */
    SN_COLUMN_COUNTS = 5,  /* up to 32 */
    SN_MANY_COLUMNS = 200, /* from which a table may have too many for its rows, ... */
    SN_COLUMNS_A_ROW = 2,  /* ... and does where it has so many for each row */
    /* Enough rows: held out, for an error rate is known to .01, and more folds are left out; and as landmarks
       of a kernel, for their products are to stay quick. */
    SN_ENOUGH_ROWS = 1000,
    /* Many rows: no fold holds out more, and from here on kernels have all their landmarks. */
    SN_MANY_ROWS = 10000,
    SN_MOST_KERNEL_ROWS = 20000, /* above, kernel features of all rows cost more memory than they are worth */
    SN_FIRST_UPDATES = 100,      /* of the first rung: about what linear units need */
    SN_RUNGS = 6,                /* up to 24,300 updates */
    SN_FOLDS = 5,                /* the usual number: a fit on four fifths is nearly one on all rows */
    SN_FEW_FOLDS = 2,            /* on which a longer training is tried first */
    SN_MOST_PASSES = 1500,       /* over the rows, and rows seen in all: longer trainings are left out */
    SN_MOST_SEEN = 2000000
};
/* Landmarks of a kernel: one for so many rows, SN_MANY_COLUMNS at the least. */
enum { SN_ROWS_A_LANDMARK = SN_MANY_ROWS / SN_ENOUGH_ROWS };
/* Principal components, at most: of so many rows at the least are SN_MANY_COLUMNS not too many. */
enum { SN_COMPONENTS = SN_MANY_COLUMNS / SN_COLUMNS_A_ROW };
/* The part of an effect that a Z may leave out without more training, or that a fit must explain not to be
   next to a constant. */
#define SN_LITTLE  0.01
#define SN_COVERED 0.95 /* by an interval; and the level of a test */
