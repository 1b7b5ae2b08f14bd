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
#ifndef SN_STONET_FRONT_KERNEL_H
#define SN_STONET_FRONT_KERNEL_H

#include "base/run.h"
#include "stonet/front.h"

typedef struct sn_kernel_setting {
    double complexity; /* c */
    double linear;     /* rho */
    int64_t landmarks; /* m at most; never more than there are rows */
} sn_kernel_setting;

/* From rows of a problem, whose response is not looked at. */
stonet_status sn_front_kernel_create(const sn_problem *problem, const sn_rows *rows,
                                     const sn_kernel_setting *setting, uint64_t seed, sn_front **out);
sn_kernel_setting sn_front_kernel_setting(const sn_front *front);

/* Where x is among the features of a kernel front with a linear part: u_(first + j) = factor x_j - mean_j. */
typedef struct sn_kernel_inputs {
    int64_t first;
    double factor;
    const double *mean;
} sn_kernel_inputs;

sn_kernel_inputs sn_front_kernel_inputs(const sn_front *front);
/* A copy that has x among its features: where the front has no linear part, the copy gets one behind the
   features that are there, which stay as they are. The rows are those the front was made from. */
stonet_status sn_front_kernel_with_inputs(const sn_front *front, const sn_problem *problem,
                                          const sn_rows *rows, sn_front **out);

/*
 * Fills in what is NaN in a setting: of c = .5, 1.5, 4 (of 1,000 rows and more, 12 too) and rho = 0, .5 those
 * with the least squared error of rows left out one at a time by ridge regression of the response (numbers,
 * or indicators of the classes) on u, at the best of eight penalties. At most 1,000 of the rows and 200
 * landmarks are looked at.
 */
stonet_status sn_kernel_choose(const sn_problem *problem, const sn_rows *rows, uint64_t seed,
                               const stonet_run *run, sn_kernel_setting *setting);

#endif
