/* A reduction and the two learners on its Z: a cell of tables 2 and 3. */
#ifndef PAPER_HEADS_H
#define PAPER_HEADS_H

#include "paper/columns.h"
#include "paper/fits.h"

/* The settings of the learners: the paper's DNN, and the regression that the theory says is enough. */
typedef struct heads {
    const char *dnn, *plain;
} heads;

/* The last reduction, with all its columns; the next cell of a nested column takes them from here. */
typedef struct kept_reduction {
    char row[ROW_SIZE], method[METHOD_SIZE];
    int64_t trial, dim;
    reduced_split z;
    stonet_scores own; /* of the model itself, where it is a StoNet */
    double seconds;    /* of the fit, by the clock */
    double processor_seconds;
} kept_reduction;

typedef struct head_scores {
    bool has_own;
    stonet_scores own, dnn, plain;
    double seconds, processor_seconds;
} head_scores;

void kept_reduction_free(kept_reduction *self);

/* Fits the column's method at the cell's dimension, unless `kept` has it, and the two learners on Z (psi(Z)
   of a StoNet). */
stonet_status heads_score(lab *self, const cell *what, const column *by, const heads *on, const split *parts,
                          kept_reduction *kept, head_scores *out);

/* The settings text of a cell: those of the reduction and of the learners. */
void heads_describe(const column *by, const heads *on, cell *what);

#endif
