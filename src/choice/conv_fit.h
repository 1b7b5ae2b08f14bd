/* front=conv: a convolutional network that learns with the StoNet behind it (front/front_gradient.h). */
#pragma once

#include "choice/train_folds.h"

/* The front that the settings describe, not trained yet. */
stonet_status sn_conv_front(const sn_choice_job *job, sn_front **out);
/* Fills in what was left open, measures it on held-out rows, and trains on all: network, front and estimates.
   A convolution takes too long for a search over settings. */
stonet_status sn_conv_fit(const sn_stage_job *job, sn_config *config, sn_stonet *net,
                          sn_train_report *report);
