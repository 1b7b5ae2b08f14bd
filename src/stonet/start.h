/*
 * Where training starts from.
 *
 * Random weights (net/shape.h) can leave a unit on the flat side of its activation for every row, where it
 * learns nothing ever after; with a bottleneck of one or two units that is the end of the fit. And from some
 * starts training comes to rest at half a solution, or at the constant, whatever the settings. So starts are
 * scaled by the data, and several are trained briefly at next to no weight decay, side by side; the one that
 * fits its own training rows best goes on.
 */
#ifndef SN_STONET_START_H
#define SN_STONET_START_H

#include "stonet/train.h"

/* Random weights for the seed of the job; units of a relu network above the first layer are moved and scaled
   so that each has mean 0 and variance 1 over (some of) the rows. */
stonet_status sn_start_weights(const sn_stage_job *job, float *theta);

typedef struct sn_race_report {
    double loss; /* of the winner, over the training rows; Inf when every start diverged */
    int64_t iterations;
    int starts;
} sn_race_report;

/* A race of `starts` starts over the job's rows. theta gets the winner. The job's threads run the starts side
   by side. */
stonet_status sn_race(const sn_stage_job *job, int starts, float *theta, sn_race_report *report);
/* One of them, by its number, on one thread: where it comes to, and its loss over the training rows. */
stonet_status sn_race_start(const sn_stage_job *job, int number, float *theta, double *loss);

/* The start that belongs to a number 0, 1, ..: 0 is the seed itself. */
uint64_t sn_start_seed(uint64_t seed, int number);

#endif
