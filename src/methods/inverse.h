/* What the inverse regression methods (sir, save, dr) share: whitened data seen slice by slice. */
#ifndef SN_METHODS_INVERSE_H
#define SN_METHODS_INVERSE_H

#include "methods/slicing.h"
#include "methods/whitening.h"

/* The settings sn_inverse_fit reads. */
#define SN_PARAM_SLICES                                                                                      \
    {                                                                                                        \
        "slices", SN_INTEGER, "10", 2, 10000, NULL,                                                          \
            "slices of a numeric target (a class target has one slice a class)"                              \
    }
#define SN_PARAM_RIDGE                                                                                       \
    {                                                                                                        \
        "ridge", SN_REAL, "0", 0, 1e6, NULL,                                                                 \
            "added to the diagonal of the correlation matrix of x; needed when p > n"                        \
    }

typedef struct sn_inverse {
    sn_whitening whitening;
    sn_slices slices;
    double *weight; /* slices.count: share of the rows */
    double *mean;   /* slices.count x rank: slice means of z */
} sn_inverse;

/* Whitens with the setting "ridge" and, when p >= n and it is 0, warns that it should not be. */
stonet_status sn_whiten_problem(const sn_problem *problem, const char *method, double ridge,
                                const stonet_run *run, sn_whitening *out);
/* STONET_ERROR_DATA when the response has a single slice. */
stonet_status sn_inverse_fit(const sn_problem *problem, const char *method, const sn_settings *settings,
                             const stonet_run *run, sn_inverse *out);
void sn_inverse_clear(sn_inverse *inverse);
/* E[Z Z' | slice h] (rank x rank, divisor n_h). */
stonet_status sn_inverse_second(const sn_inverse *inverse, const float *x, int64_t h, double *second);

#endif
