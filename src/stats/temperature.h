/* One number that makes probabilities as sure as they are right. */
#pragma once

#include <stdint.h>

/*
 * The temperature T that minimises over t = log T in [-3, 3]
 *
 *     mean_i -log q_i(T)[label_i] + t^2 / (2 n),   q_i(T) = softmax(log p_i / T)
 *
 * for probabilities p (n x classes, row-major) of rows that the model was not fitted on. The second term, a
 * normal prior on t worth one row, only matters when the classes are (nearly) separated: without it T would
 * be 0, and the first error on new rows cost an infinite loss. 1 for n = 0. A probability
 * of the class itself that is 0 counts as 1e-300. weight: what each row counts (mean and n are then of the
 * weights); NULL: 1.
 */
double sn_temperature_fit(int64_t n, int64_t classes, const double *p, const int32_t *label,
                          const double *weight);
/* p <- softmax(log p / T), for n rows. The order of the classes stays. */
void sn_temperature_apply(int64_t n, int64_t classes, double temperature, double *p);
