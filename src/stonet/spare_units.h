/*
 * Units for columns of Z that the output does not need.
 *
 * Weight decay sends what has no effect to 0, and a column of Z made of such units would be constant. Where
 * the last hidden layer (activated) has fewer live directions than `wanted`, units are added to it without
 * any effect on the output: each looks at the next principal axis of what the layer sees, off the directions
 * that are alive, at a standard deviation of 1.
 */
#pragma once

#include "stonet/train.h"

/* Of a trained network of the job. Changes *shape and *theta (which is replaced) where units are added. */
stonet_status sn_spare_units(const sn_stage_job *job, int64_t wanted, sn_shape *shape, float **theta);

/* How many live directions the features of some of the rows have: a linear network has no more columns of Z.
 */
stonet_status sn_feature_directions(const sn_problem *problem, int64_t *count);
