/* The three experiments behind `theory`; each computes one point of a curve for one trial. */
#ifndef PAPER_THEORY_PARTS_H
#define PAPER_THEORY_PARTS_H

#include "paper/lab.h"

/*
 * Theorem 2.1. A trained 10-16-4-1 tanh network; noise of standard deviation sigma in every hidden unit.
 * "gap": mean loss with the noise less the mean loss without it; "gap_row": the mean over rows of the
 * absolute difference.
 */
stonet_status theory_loss_gap(lab *self, double sigma, json_t *values);

/*
 * Theorem 3.1. A linear StoNet 3-1-1 with its output layer frozen: the maximum likelihood estimate of the
 * first layer is least squares divided by the frozen weight. "error2": squared distance of the fitted line's
 * coefficients from least squares after k iterations with step gamma_k.
 */
stonet_status theory_theta(lab *self, int64_t iterations, json_t *values);
/* gamma_k / gamma_1. */
double theory_theta_step(int64_t k);

/*
 * Theorem 3.2. A linear StoNet 3-2-1 with given weights: the latents of a row have a Gaussian posterior.
 * "w2": the 2-Wasserstein distance between it and the Gaussian with the mean and covariance of many
 * independent imputations. tau: step in units of sigma; time: sweeps x step, in units of sigma.
 */
stonet_status theory_posterior(lab *self, double tau, double time, int64_t draws, json_t *values);

#endif
