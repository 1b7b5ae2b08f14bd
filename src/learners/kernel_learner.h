/* The features of the learner `kernel`, for whoever chooses its settings. */
#pragma once

#include "base/params.h"
#include "front/front_kernel.h"

sn_front_recipe sn_kernel_learner_setting(const sn_settings *settings);
