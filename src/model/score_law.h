/* Scores of times and counts (stats/law.h). */
#pragma once

#include "model/model.h"

/* predicted: what stonet_predict gives. */
stonet_status sn_score_law(const stonet_model *model, const stonet_data *data, const stonet_use_options *how,
                           const double *predicted, stonet_scores *scores);
