/*
 * What a method is fitted on: the encoded, scaled features and the encoded response. Produced by the schema
 * (data/schema.h) from a stonet_data; methods never see files, names or raw units.
 */
#ifndef SN_DATA_PROBLEM_H
#define SN_DATA_PROBLEM_H

#include "base/status.h"

typedef enum sn_task { SN_REGRESSION, SN_CLASSIFICATION } sn_task;

typedef struct sn_problem {
    int64_t n, p;
    const float *x; /* n x p, row-major, scaled */
    sn_task task;
    int64_t outputs;      /* classes C, or numeric targets m */
    const int32_t *label; /* classification: n codes 0..C-1; else NULL */
    const double *y;      /* regression: n x m, each column with mean 0 and variance 1; else NULL */
} sn_problem;

#endif
