/* Scores of times and counts (stats/law.h). predicted: what stonet_predict gives. */
#pragma once

#include "model/model.h"

stonet_status sn_score_law(const stonet_model *model, const stonet_data *data, const double *predicted,
                           stonet_scores *scores);
/* Minus the log likelihood of each of n rows, in the units of the table; seen: by sn_schema_encode_law. */
stonet_status sn_law_losses(const stonet_model *model, int64_t n, const double *seen, const double *predicted,
                            double *loss);
/* Randomised quantile residuals of counts (Dunn and Smyth 1996): the normal quantile of a number drawn evenly
   between P(K < k) and P(K <= k); standard normal where the law is right. */
stonet_status sn_quantile_residuals(const stonet_model *model, int64_t n, const double *seen,
                                    const double *predicted, uint64_t seed, double *out);
/* The standard deviation of each count, for an exposure of 1. */
stonet_status sn_count_spread(const stonet_model *model, int64_t n, const double *predicted, double *out);
/* Losses by the model's law alone, fitted to the rows of `train` without x. */
stonet_status sn_law_losses_without(const stonet_model *model, const stonet_data *train,
                                    const stonet_data *data, double *loss);
