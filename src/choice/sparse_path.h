/*
 * The path of a group penalty: from a network that uses every column to one that uses few.
 *
 * A network p - 32 - 16 - outputs of tanh units, wider than most Z, is trained with a small penalty on the
 * columns of layer 1 (engine/engine.h). Then every column's penalty is divided by what it adds there (the
 * adaptive form: what is hardly used shrinks most; sparse_groups.h), and raised step by step, each step going
 * on from the weights of the one before, until nothing is left.
 *
 * Upwards, and not down from the penalty that leaves nothing: at weights of 0 a network sees what is linear
 * alone, and a column that matters in a product or a square would never come in.
 */
#pragma once

#include "choice/sparse_groups.h"
#include "stonet/train.h"

enum {
    SN_SPARSE_STEPS = 32,
    SN_SPARSE_LEAST = 300,
    SN_SPARSE_SWEEPS = 2 /* of imputation, from the mode: where latents all but stay at the little noise */
};

/* What is there after a step. */
typedef struct sn_sparse_step {
    int number;            /* 0: all columns are in; 1 .. SN_SPARSE_STEPS */
    double penalty;        /* of a column with the longest weights */
    const sn_shape *shape; /* of the path's network */
    const float *theta;
    int64_t columns;
    const double *length; /* of each column's weights; 0: it is out */
} sn_sparse_step;

typedef struct sn_sparse_visitor {
    /* *enough: set to end the path here. */
    stonet_status (*visit)(void *user, const sn_sparse_step *step, bool *enough);
    void *user;
} sn_sparse_visitor;

/* `updates`, or as many as make `epochs` passes over n rows if that is less, but SN_SPARSE_LEAST at least:
   few rows would be learned by heart. */
int64_t sn_sparse_updates(const sn_config *config, int64_t n, int64_t updates, int64_t epochs);

/* The penalty of a step (1 ..), and the first step with at least this penalty. */
double sn_sparse_penalty(int step);
int sn_sparse_step_of(double penalty);

/* Walks the path on the rows of a job, whose shape and config say what the response and the engine are; every
   other setting is the path's own. Ends early when nothing is left, the caller wants to stop, or a step
   diverges. */
stonet_status sn_sparse_walk(const sn_stage_job *job, const sn_sparse_visitor *visitor);
