/* Kernel regression as a candidate of the search: a linear layer on kernel features (stonet/front_kernel.h),
   fitted exactly, as the linear model on x is. */
#ifndef SN_STONET_KERNEL_POINT_H
#define SN_STONET_KERNEL_POINT_H

#include "stonet/front.h"
#include "stonet/holdout.h"

typedef struct sn_kernel_point {
    sn_front *front; /* of all rows of the job; NULL: there was nothing to find */
    sn_held_out cost;
    double penalty; /* l2 / n */
    int64_t tried;
} sn_kernel_point;

/* Whether it is worth the time: rows, columns and classes are few enough, and q holds it. */
bool sn_kernel_point_fits(const sn_stage_job *job);
/* Kernel and penalty by the training rows. The landmarks are drawn from all rows, whose responses have no say
   in that. Free also after a failure. */
stonet_status sn_kernel_point_find(const sn_stage_job *job, const sn_holdout *holdout,
                                   const sn_held_out *rival, sn_kernel_point *out);
void sn_kernel_point_free(sn_kernel_point *point);

#endif
