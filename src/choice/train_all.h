/*
 * The training on all rows. It begins where the winning network of the folds began. If it ends with a larger
 * loss than that network has on the same rows, it begins again at that network, and the better result is
 * kept. Every training is kept in the checkpoint.
 */
#pragma once

#include "choice/halving.h"
#include "stonet/fitted.h"

/* Fills in network, history, loss and whether it is stuck. choice NULL: the settings were given. */
stonet_status sn_train_on_all(const sn_stage_job *job, const sn_choice *choice, sn_stonet *net,
                              sn_train_report *report);
/* The same for a network of fewer columns (stonet/narrow.h), which begins at *theta and takes its place. */
stonet_status sn_train_narrow(const sn_stage_job *job, sn_stonet *net, sn_train_report *report);
