/* Step-size schedules: a factor that multiplies a starting value. */
#pragma once

#include <stdint.h>

typedef enum sn_schedule_kind {
    SN_CONSTANT, /* 1 */
    SN_AVERAGED, /* (1 + k/steady)^(-3/4), whatever the length; the iterates are averaged (stonet/train.h) */
    SN_LINEAR,   /* falls linearly to a tenth at the last step */
    SN_POWER     /* (c + 1) / (c + k^a), k = 1, 2, ..: the paper's C / (c + k^a) with C = start (c + 1) */
} sn_schedule_kind;

typedef struct sn_schedule {
    sn_schedule_kind kind;
    double c, a;   /* of SN_POWER */
    double steady; /* of SN_AVERAGED: updates before the step falls in earnest */
    double warm; /* not 0: over the first twentieth of the steps the factor grows, from this part of itself */
} sn_schedule;

/* The factor of step k = 1..total. */
double sn_schedule_factor(const sn_schedule *schedule, int64_t k, int64_t total);
