/* From a config to what the engine is told in one iteration, with the step safeguard. */
#pragma once

#include "stonet/config.h"

/* s_i, eps_i and alpha_i of a run at full step. */
void sn_dynamics_from(const sn_config *config, const sn_shape *shape, sn_dynamics *dynamics);

/*
 * Keeps the sampler stable: the target of layer i has curvature at most
 *     c_i = 1/s_i + |w_{i+1}|^2 L^2 / s_{i+1}           (class layer above: |w|^2 L^2 / (2 s_out); location
 * and scale: times the largest information of mu and eta) and the step must satisfy eps_i^2 c_i < 1. |w| is
 * the spectral norm, by power iteration from the flat parameters. Shrinks eps_i (and alpha_i with it, eta
 * being fixed) where needed; *factor is the smallest one applied, 1 when nothing was.
 */
stonet_status sn_dynamics_safeguard(const sn_shape *shape, const float *theta, sn_dynamics *dynamics,
                                    double *factor);

/* rate_i and scale_i for n training rows; factor is the schedule's. */
void sn_update_from(const sn_config *config, const sn_shape *shape, const sn_dynamics *dynamics, int64_t n,
                    double factor, sn_update *update);

/* *out: spectral norm of w (rows x cols, float, row-major). */
stonet_status sn_spectral_norm(const float *w, int64_t rows, int64_t cols, double *out);
