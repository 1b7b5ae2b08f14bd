/* What x adds to a prediction of y from z, on held-out rows. */
#pragma once

#include "stats/gcm.h"

/*
 * Ten folds; in each, the functions of y (gcm.h) are predicted for the rows left out by two ridge regressions
 * with penalties by generalised cross-validation: one on two sets of features of z, one on a set of features
 * of z and a set of features of x. So both have as many random features, and when x is z neither is better.
 * With D_k the difference of their squared errors on fold k,
 *
 *     t = mean D / (sd D sqrt(1/10 + 1/9)),   p = P(t_9 >= t),
 *
 * where the 1/9 makes up for training sets that overlap (Nadeau and Bengio 2003). explained_z and
 * explained_zx are 1 - squared error / squared error of the training mean, over all functions of y and all
 * folds.
 */
stonet_status sn_look_by_prediction(const stonet_sides *sides, const stonet_run *run,
                                    stonet_prediction_gain *out);
