/*
 * The training on all rows, tried from other starts when it gets stuck.
 *
 * Settings that do well from the starts of the held-out fits can still get stuck from this one: then it
 * begins at another, and at last at the network that won on held-out rows. The best is kept, and every trial
 * in the checkpoint.
 */
#ifndef SN_STONET_TRIALS_H
#define SN_STONET_TRIALS_H

#include "stonet/fit.h"
#include "stonet/train.h"

/* Fills in network, history, loss and whether it is stuck. winner: the network that won, NULL: there is none
   that sees the same features; winner_loss: its loss on these rows, NaN: the settings were given. */
stonet_status sn_train_on_all(const sn_stage_job *job, sn_stonet *net, const float *winner,
                              double winner_loss, sn_train_report *report);

/* The mean loss of a network over the rows of the job. */
stonet_status sn_loss_on(const sn_stage_job *job, const sn_shape *shape, const float *theta, double *loss);

#endif
