/*
 * The training on all rows, tried from other starts when it gets stuck.
 *
 * It begins where the held-out fit that won began (settings that are given: at random, or at the winner of a
 * race). That can still get stuck: then it begins at another start, and at last at the network that won. The
 * best is kept, and every trial in the checkpoint.
 */
#ifndef SN_STONET_TRIALS_H
#define SN_STONET_TRIALS_H

#include "stonet/fit.h"
#include "stonet/train.h"

/* The held-out fit that won. */
typedef struct sn_won {
    const float *start,
        *theta;  /* where it began and what it came to; NULL: none that sees the same features */
    double loss; /* over the rows of the job; NaN: the settings were given */
} sn_won;

/* Fills in network, history, loss and whether it is stuck. */
stonet_status sn_train_on_all(const sn_stage_job *job, sn_stonet *net, const sn_won *won,
                              sn_train_report *report);

/* Puts another network into the place of the one there is, with its loss over the rows of the job. theta is
   freed after a failure. */
stonet_status sn_take_network(const sn_stage_job *job, const sn_shape *shape, float *theta, sn_stonet *net);

/* The mean loss of a network over the rows of the job. */
stonet_status sn_loss_on(const sn_stage_job *job, const sn_shape *shape, const float *theta, double *loss);

#endif
