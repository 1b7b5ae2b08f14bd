/* What a trainer (stonet/train.h) has come to, and how it is carried over a pause of the program. */
#pragma once

#include "stonet/batches.h"
#include "stonet/train.h"

/* Where a training stands, as it is written to a checkpoint. */
typedef struct sn_train_numbers {
    int64_t parameters;
    int64_t until; /* of the present piece, or the last one */
    int64_t iteration;
    int64_t draw;               /* of missing cells: another one every epoch */
    int64_t from, every, count; /* schedule=averaged: the iterates after `from`, every `every` of them */
    int64_t epoch_rows;
    int64_t is_full;    /* 1: in the full-data stage, ... */
    int64_t full_done;  /* ... with so many iterations done ... */
    double full_factor; /* ... at this part of the step */
    double first_loss;
    double epoch_loss; /* sum over the rows of this epoch so far */
    sn_train_report report;
} sn_train_numbers;

struct sn_trainer {
    const sn_stage_job *job;
    struct sn_joint *joint;       /* the missing cells, where they are drawn given the response; else NULL */
    struct sn_latent *latent;     /* a response that is seen in part, and drawn; else NULL */
    struct sn_learning *learning; /* of a front that learns; else NULL */
    sn_engine *engine;
    sn_reduce reduce;           /* how the sums of several ranks become one */
    sn_dynamics full, dynamics; /* at full step, and with safeguard and schedule applied */
    float *good;                /* the last parameters known to be good */
    double *sum;                /* schedule=averaged: of iterates, */
    float *iterate;             /* and the latest one taken in */
    sn_batches batches;
    struct sn_queue *queue; /* of iterations; NULL: one after the other */
    sn_sums sums;           /* room for those of an iteration that are to be joined */
    int64_t total;          /* iterations of the whole run, for the schedule */
    sn_train_numbers at;
    double started;
    const char *key; /* in the checkpoint; NULL: none */
    double kept;     /* when it was last put there */
};

/* Batches of about `size` rows of a job's rows, of which this rank draws its share. */
stonet_status sn_stage_batches(const sn_stage_job *job, int64_t size, sn_batches *out);
/* The step for the weights at the beginning of the epoch, t->good. */
stonet_status sn_trainer_refresh(sn_trainer *t);
/* Puts it into the checkpoint, if it has a key, when that is due or wanted now. Between two iterations, and
   not between the last one of an epoch and the row for it in the history. */
stonet_status sn_trainer_keep(sn_trainer *t, bool now);
/* Takes it out of the checkpoint again. */
void sn_trainer_drop(sn_trainer *t);
