/* The activations in double, element by element. */
#ifndef SN_NET_ACTIVATION_H
#define SN_NET_ACTIVATION_H

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

#endif
