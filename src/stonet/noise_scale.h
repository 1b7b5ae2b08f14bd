/*
 * The gradient noise scale of a training (McCandlish, Kaplan and Amodei 2018): with d_i the step of row i
 * alone, drawn latents included,
 *
 *     B* = tr Cov(d_i) / |E d_i|^2,
 *
 * the rows of a batch whose mean step is as much noise as signal. Much smaller batches halve the updates that
 * are needed when they are doubled; much larger ones save next to nothing.
 *
 * It is estimated from the sums of the virtual shards of batches (engine/sums.h). Shard v has the sum D_v of
 * the steps of its rows and the sum A_v of their weights; with A and D the sums over the V shards,
 *
 *     T = (sum_v |D_v|^2 / A_v - |D|^2 / A) / (V - 1)     is tr Cov on average,
 *     |D|^2 / A^2 - T / A                                  is |E d_i|^2,
 *
 * and both are averaged over batches before one is divided by the other. All that is summed runs by the fixed
 * tree of the shards: the same bits for any number of ranks and threads.
 */
#pragma once

#include "stonet/train.h"

/* Sums over the batches so far. */
typedef struct sn_noise_scale {
    double variance; /* of tr Cov(d_i) */
    double square;   /* of |E d_i|^2; noise may make it negative */
} sn_noise_scale;

/* Takes in a batch: the sum over V shards of D_v, of |D_v|^2 / A_v, of A_v and of the shards that have
 * weight. */
void sn_noise_scale_add(sn_noise_scale *noise, int64_t parameters, const double *sum, double squares,
                        double weight, double shards);
/* B*; infinite where no gradient stands out of the noise. */
double sn_noise_scale_rows(const sn_noise_scale *noise);

/* Measures it at theta: over `batches` batches of SN_MAX_SHARDS * SN_SHARD_ROWS rows of the job, or of all
 * its rows if there are fewer. */
stonet_status sn_noise_scale_measure(const sn_stage_job *job, const float *theta, int batches,
                                     sn_noise_scale *noise);
