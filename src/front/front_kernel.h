/*
 * Kernel features (Nystrom) and the linear part in front of layer 1:
 *
 *     u(x) = [ sqrt(1 - rho) k_m(x)' V L^(-1/2) ,  sqrt(rho / p) x ]  less its mean over the training rows
 *
 * with k_m(x) the values k(x, x_j) = exp(-c |x - x_j|^2 / (2 s^2)) at m landmarks x_j, which are rows drawn
 * at random, K_mm = V L V', and s the mean distance between two rows. |u|^2 is at most about 1: the variances
 * of the columns carry the prior of the kernel and are not to be made equal. A linear function of u with an
 * L2 penalty is kernel regression; with one hidden layer Z is then a kernel function of x.
 */
#pragma once

#include "base/run.h"
#include "front/front.h"

/* From rows of a problem, whose response is not looked at. The recipe has c, rho and m (never more than there
   are rows). */
stonet_status sn_front_kernel_create(const sn_problem *problem, const sn_rows *rows,
                                     const sn_front_recipe *recipe, uint64_t seed, sn_front **out);
