/* Fits of a network whose front learns with it (stonet/learning.h): a convolution, for images. */
#ifndef SN_STONET_LEARNED_H
#define SN_STONET_LEARNED_H

#include "stonet/fit.h"

/* The front that the settings ask for, at its start; says what it is, or why it cannot be. */
stonet_status sn_learned_front(const sn_stage_job *job, const sn_settings *settings, sn_front **out);

/*
 * Trains network and front (job->learns, net->front) once. Nothing is searched: what was left open follows
 * from the number of rows, and so the error on held-out rows, of a training on the others before that on all,
 * is an honest one. There is none when epochs and weight decay are given.
 */
stonet_status sn_learned_fit(const sn_stage_job *job, sn_config *config, sn_stonet *net,
                             sn_train_report *report);

#endif
