/* What one direction of gmddnet is trained by: the loss of a batch and its gradient. */
#pragma once

#include "data/problem.h"

/* rho of two numeric responses d apart: d, log(1 + d^2/2), d^2/(1 + d^2), 1 - exp(-d^2/2), d^1.5. Of classes
   it is 1{y != y'}, whatever the kind. */
typedef enum sn_distance {
    SN_DISTANCE_ABSOLUTE,
    SN_DISTANCE_LOGARITHM,
    SN_DISTANCE_CAUCHY,
    SN_DISTANCE_GAUSSIAN,
    SN_DISTANCE_POWER
} sn_distance;

/*
 * Of b rows with outputs z, zc = z - mean z, and the directions z_j that are done,
 *
 *     1/b^2 sum_kl zc_k zc_l rho(y_k, y_l) + penalty (var z - 1)^2 + ortho sum_j cov(z, z_j)^2
 *
 * with variances and covariances that divide by b - 1.
 */
typedef struct sn_divergence {
    sn_distance kind;
    int64_t before; /* directions that are done */
    const float *z; /* n x before: theirs, with mean 0 and variance 1 */
    double penalty, ortho;
    double *centred; /* room for the rows of a batch: z - mean z */
    double *pull;    /* the same: sum_l rho(y_k, y_l) zc_l */
} sn_divergence;

/* An sn_batch_loss (net/plain_train.h) whose user is an sn_divergence; slope is the gradient. */
double sn_divergence_batch(void *user, const sn_problem *problem, const int64_t *rows, int64_t count,
                           const float *mu, float *slope);
/* The first term alone. */
double sn_divergence_dependence(const sn_divergence *d, const sn_problem *problem, const int64_t *rows,
                                int64_t count, const float *z);
