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

/* A walk, at one of its steps. */
typedef struct sn_sparse_path {
    int step; /* 0: all columns are in; 1 .. SN_SPARSE_STEPS; -1: it has not begun */
    int64_t columns;
    double *length; /* of each column's weights; 0: it is out */
    sn_shape shape; /* of the path's network */
    float *theta;
    /* how it goes on: */
    sn_config config;
    sn_stage_job job;
    sn_trainer *trainer;
    int64_t dense; /* updates before the first step */
    sn_sparse_groups groups;
    double *effect, *factor; /* of each column */
    sn_workspace room;
} sn_sparse_path;

/* `updates`, or as many as make `epochs` passes over n rows if that is less, but SN_SPARSE_LEAST at least:
   few rows would be learned by heart. */
int64_t sn_sparse_updates(const sn_config *config, int64_t n, int64_t updates, int64_t epochs);

/* The penalty of a step, for a column with the longest weights, and the first step (1 ..) with at least this
   penalty. */
double sn_sparse_penalty(int step);
int sn_sparse_step_of(double penalty);

/* A path on the rows of a job, whose shape and config say what the response and the engine are; every other
   setting is the path's own. It must stay where it is. End also after a failure. */
stonet_status sn_sparse_begin(const sn_stage_job *job, sn_sparse_path *path);
/* Goes to the next step. *there: false when nothing is left, the caller wants to stop, the step diverges, or
   it was the last one. */
stonet_status sn_sparse_next(sn_sparse_path *path, bool *there);
void sn_sparse_end(sn_sparse_path *path);
