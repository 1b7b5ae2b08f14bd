/*
 * The criterion of kernel dimension reduction and its gradient:
 *
 *     J(B) = Tr[ G_Y (G_Z + n epsilon I)^{-1} ],   Z = X B,   G_Y = Q K_Y Q,   G_Z = Q K_Z Q.
 */
#pragma once

#include "methods/kernel_input.h"

typedef struct sn_kdr {
    const sn_kernel_input *input; /* rows and landmarks; its gamma is not used */
    int64_t d;
    double mu;       /* n epsilon */
    int64_t rank;    /* columns of f */
    const double *f; /* n x rank, centred: G_Y = f f' */
    /* Work space. */
    double *z, *u;   /* n x d, m x d: projected rows and landmarks */
    double *k, *a;   /* n x m (n x n when exact) */
    double *s;       /* n x rank */
    double *dz, *du; /* gradients with respect to z and u */
} sn_kdr;

/* The work space lies in `keep`. */
stonet_status sn_kdr_create(const sn_kernel_input *input, int64_t d, double epsilon, int64_t rank,
                            const double *f, sn_workspace *keep, sn_kdr *kdr);
/* J at B (p x d) for the kernel exp(-gamma |z - z'|^2), and dJ/dB (p x d) unless gradient is NULL. */
stonet_status sn_kdr_value(sn_kdr *kdr, const double *b, double gamma, double *value, double *gradient);
