/*
 * The fit of a StoNet: the choice of what is left open, the training on all rows, and Z.
 *
 * One training serves every number of columns: the last hidden layer has ten units at least, and Z is made of
 * the leading axes of their effect. Where q columns leave out a part of the effect, training goes on with a
 * layer of q units (stonet/narrow.h).
 */
#pragma once

#include "base/params.h"
#include "stonet/fitted.h"

stonet_status sn_stonet_fit(const sn_problem *problem, int64_t q, const sn_settings *settings,
                            const stonet_run *run, sn_stonet **out, stonet_outcome *outcome);
/* Trains on other rows, `share` of all so far, from the present parameters. Epochs, lr and weight decay are
   those of the first fit. There is no final stage, which would fit these rows alone. If the first fit chose
   its epochs, the parameters then go twice `share` of the way from before to there (at most all of it). The
   history is of this training only. */
stonet_status sn_stonet_fit_more(sn_stonet *net, const sn_problem *problem, double share,
                                 const sn_settings *settings, const stonet_run *run, stonet_outcome *outcome);
