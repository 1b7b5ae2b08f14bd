/*
 * A network and kernel regression as one StoNet, whose output is the mean of theirs:
 *
 *     mu(x) = mu_a(x) / 2 + mu_b(u(x)) / 2
 *
 * a is a network on x with hidden layers 1..h, b the linear model V W u + c on the features u of a kernel
 * front that has x among them. Side by side in layers 1..h are the units of a and r units that carry W u
 * through (stonet/linear.h); layer h + 1 is Z, of as many units as layer h of a has, the first r of which
 * hold
 *
 *     T = U' (mu - its constants)      U outputs x r, orthonormal: the identity or, for classes, what is left
 *                                      of it without a number common to all (Helmert)
 *
 * and the output is U T and the constants. r is the number of responses, or of classes less one; Z is then
 * all that the output depends on.
 */
#ifndef SN_STONET_BLEND_H
#define SN_STONET_BLEND_H

#include "engine/engine.h"
#include "stonet/front.h"

typedef struct sn_half {
    const sn_shape *shape;
    const float *theta;
} sn_half;

typedef struct sn_blend {
    sn_half network, linear; /* linear: of the first features of the front */
    const sn_problem *x, *u; /* the rows as each of them sees them; u has all features of the front */
    const sn_front *front;   /* a kernel front with x among its features */
    sn_rows rows;            /* that it is to be exact on */
    const sn_engine_ops *engine;
    int threads;
} sn_blend;

/* Whether a network of this shape can be one of the two. */
bool sn_blend_fits(const sn_shape *network);
/* The shape of both together, and its parameters (to be freed). */
stonet_status sn_blend_make(const sn_blend *blend, sn_shape *shape, float **theta);

#endif
