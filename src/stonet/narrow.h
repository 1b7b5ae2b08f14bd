/*
 * Fewer columns of Z than the effect needs: the last hidden layer (m units) gets a layer of q units behind
 * it.
 *
 *     v_k = Z'_k / sd(Z'_k) + c,  k = 1 .. q        Z': the leading axes of the effect (stonet/axes.h)
 *     f = b + sum_k a_k psi(v_k)                    a, b: so that f is the part of the old output that Z' has
 *
 * Training goes on from there, and bends what the axes can only cut off: ten classes in two columns. psi is
 * taken where it is straight: tanh and the logistic function next to 0, relu above it (c = 2).
 */
#pragma once

#include "stonet/train.h"

/* From a trained network of the job. *out: parameters of the new shape, the caller's; NULL where q axes carry
   all of the effect but a hundredth. */
stonet_status sn_narrow_start(const sn_stage_job *job, const float *theta, int64_t q, sn_shape *shape,
                              float **out);
