/* batch=auto: the rows of a mini-batch of a long training. */
#pragma once

#include "stonet/train.h"

/* The limits of the choice. */
typedef struct sn_batch_limits {
    int64_t updates; /* that a training has at least */
    int64_t rows;    /* of a batch at most */
    int64_t pilot;   /* updates with the usual batch before the noise is measured */
} sn_batch_limits;
extern const sn_batch_limits sn_batch_limits_usual;

/*
 * A training of given epochs over many rows has more updates than it needs at the usual batch. Its batch is
 * then the largest power of two that leaves limits->updates updates and is not above the gradient noise scale
 * (stonet/noise_scale.h). Where the step is left open too, it grows with the batch (config->lr and
 * config->schedule.warm). Changes nothing where the batch was given, or its training is not so long. start:
 * parameters that training begins with. What is chosen depends on data and settings alone, and not on how
 * many ranks or threads there are.
 */
stonet_status sn_batch_choose(const sn_stage_job *job, const float *start, const sn_batch_limits *limits,
                              sn_config *config);
