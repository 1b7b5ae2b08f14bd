/* The activations: in double, element by element, and in float for whole arrays. */
#pragma once

#include <math.h>

#include "net/shape.h"

static inline double sn_psi(sn_activation activation, double y)
{
    switch (activation) {
    case SN_TANH:
        return tanh(y);
    case SN_RELU:
        return y > 0.0 ? y : 0.0;
    case SN_SIGMOID:
        return 1.0 / (1.0 + exp(-y));
    case SN_IDENTITY:
        break;
    }
    return y;
}

/* psi'(y), given also psi = psi(y). relu has derivative 0 at 0. */
static inline double sn_psi_slope(sn_activation activation, double y, double psi)
{
    switch (activation) {
    case SN_TANH:
        return 1.0 - psi * psi;
    case SN_RELU:
        return y > 0.0 ? 1.0 : 0.0;
    case SN_SIGMOID:
        return psi * (1.0 - psi);
    case SN_IDENTITY:
        break;
    }
    return 1.0;
}

/*
 * tanh(x) = x p(x^2) / q(x^2) to an absolute error of 5e-7, for |x| up to SN_TANH_LIMIT, beyond which it is 1
 * in float; the highest power first. It has no branches, so compilers make vectors of it, which they cannot
 * of tanhf.
 */
#define SN_TANH_LIMIT 7.9F
static const float sn_tanh_p[] = {1.1414695e-05F, 0.0029485133F, 0.12922688F, 0.9999994F};
static const float sn_tanh_q[] = {2.4572458e-07F, 0.00023839565F, 0.023803519F, 0.4625581F, 1.0F};

/* values <- psi(values). */
void sn_activate(sn_activation activation, int64_t count, float *values);
