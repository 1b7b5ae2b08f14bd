/*
 * Which columns the network is given (select=group).
 *
 * Every set of columns on the path of a group penalty (choice/sparse_path.h) is trained without penalty, from
 * the weights of its step, and judged by held-out rows. So are all columns, and none. The smallest set within
 * one standard error of the best is chosen. The network of the fit is then trained on these columns alone
 * (front=columns): what is left out has no weight at all, and what is kept is not shrunk.
 *
 * With one held-out part the columns are those of the path that was judged; with several, those that the path
 * of all rows has at the chosen penalty.
 */
#pragma once

#include "front/front.h"
#include "stonet/train.h"

typedef struct sn_sparse {
    int64_t columns, kept;
    double penalty;   /* at which they were kept; 0: all are */
    sn_front *front;  /* of the features kept, the caller's; NULL: all */
    bool better;      /* than no column at all, on held-out rows */
    int64_t held_out; /* rows; 0: the penalty was given */
} sn_sparse;

/* The job as in sn_sparse_begin; penalty NaN: chosen by held-out rows. */
stonet_status sn_sparse_choose(const sn_stage_job *job, double penalty, sn_sparse *out);

/* How long each column stays on the path of the job's rows: the last step it is in, and as a fraction the
   length of its weights there against the longest of that step. */
stonet_status sn_sparse_stay(const sn_stage_job *job, double *stay);
