/* The mean of the chosen network and kernel regression (stonet/blend.h) as a candidate of the search. */
#ifndef SN_STONET_BLEND_POINT_H
#define SN_STONET_BLEND_POINT_H

#include "stonet/kernel_point.h"

typedef struct sn_blend_point {
    sn_front *front; /* kernel features and x; NULL: it was not measured */
    sn_held_out cost;
} sn_blend_point;

/* Whether it is worth a look: neither is clearly better than the other, by their held-out losses. */
bool sn_blend_point_fits(const sn_stage_job *job, const sn_holdout *holdout, const sn_held_out *network,
                         const sn_kernel_point *kernel);
/* theta: the network of each fold, of job->shape. Free also after a failure. */
stonet_status sn_blend_point_measure(const sn_stage_job *job, const sn_holdout *holdout, float *const *theta,
                                     const sn_kernel_point *kernel, sn_blend_point *out);
void sn_blend_point_free(sn_blend_point *point);

/* The two fitted on rows of a job, as one: kernel regression by a penalty on u, what the front shows of the
   rows; the network as it is. found: false, and there is nothing to free, when fewer than two classes have
   rows. */
typedef struct sn_blend_fit {
    const sn_stage_job *job; /* problem: x; its shape, and theta, are the network's */
    const float *theta;
    const sn_front *front;
    const sn_problem *u;
    sn_rows rows;
    double penalty;  /* l2 / n */
    double enough;   /* math/softmax_newton.h */
    int64_t visible; /* features of the front that kernel regression is given, the first ones */
} sn_blend_fit;

stonet_status sn_blend_fit_make(const sn_blend_fit *fit, sn_shape *shape, float **theta, bool *found);

#endif
