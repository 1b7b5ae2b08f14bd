/* Column means and standard deviations learned from data, applied to rows on their way into a network. */
#pragma once

#include "base/store.h"

typedef struct sn_scaling {
    int64_t columns;
    double *mean;
    double *factor; /* 1 / sd, or 0 for a constant column */
} sn_scaling;

/* From x n x columns. */
stonet_status sn_scaling_learn(sn_scaling *scaling, const float *x, int64_t n, int64_t columns);
/* to = (from - mean) factor for n rows; from may be to. */
void sn_scaling_apply(const sn_scaling *scaling, const float *from, int64_t n, float *to);
/* As "mean" and "factor". */
stonet_status sn_scaling_save(const sn_scaling *scaling, sn_store *store);
stonet_status sn_scaling_load(const sn_store *store, int64_t columns, sn_scaling *scaling);
void sn_scaling_clear(sn_scaling *scaling);
