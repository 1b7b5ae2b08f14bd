/* After the training on all rows: the network and kernel regression as one (stonet/blend.h). */
#ifndef SN_STONET_BLEND_IN_H
#define SN_STONET_BLEND_IN_H

#include "stonet/fit.h"
#include "stonet/select.h"
#include "stonet/train.h"

/* Puts both into the place of the network, which job->shape is that of, and says so. They are behind
   selection->front, which stays the caller's. */
stonet_status sn_blend_in(const sn_stage_job *job, const sn_selection *selection, sn_stonet *net);

#endif
