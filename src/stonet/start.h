/*
 * Where training starts from.
 *
 * Random weights (net/shape.h) can leave a unit on the flat side of its activation for every row, where it
 * learns nothing ever after; with a bottleneck of one or two units that is the end of the fit. So starts are
 * scaled by the data. From some starts training comes to rest at half a solution: with restarts=N several are
 * trained briefly, and the one that fits its own training rows best goes on.
 */
#pragma once

#include "stonet/train.h"

/* Random weights for the seed of the job; units of a relu network above the first layer are moved and scaled
   so that each has mean 0 and variance 1 over (some of) the rows. */
stonet_status sn_start_weights(const sn_stage_job *job, float *theta);

/* A race of `starts` starts over the job's rows, each trained briefly at little weight decay; theta gets the
   one that fits its training rows best. */
stonet_status sn_race(const sn_stage_job *job, int starts, float *theta);

/* The start that belongs to a number 0, 1, ..: 0 is the seed itself. */
uint64_t sn_start_seed(uint64_t seed, int number);
