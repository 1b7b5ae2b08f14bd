/* A trained plain network: its shape, its parameters and the scaling of its inputs. */
#ifndef SN_NET_NETWORK_H
#define SN_NET_NETWORK_H

#include <stdbool.h>

#include "base/store.h"
#include "net/scaling.h"
#include "net/shape.h"

typedef struct sn_network {
    sn_shape shape;
    sn_scaling scaling; /* columns 0: inputs are taken as they are */
    float *theta;
} sn_network;

/* Lays out net->shape (already filled in) and sets the parameters to their start for this seed. */
stonet_status sn_network_start(sn_network *net, uint64_t seed);
/* mu_layer, or psi of it, of n rows of x: out n x d_layer, as sn_forward. */
stonet_status sn_network_forward(const sn_network *net, const float *x, int64_t n, int layer, bool activated,
                                 float *out);
/* The outputs in double: class probabilities or numbers. out n x outputs. */
stonet_status sn_network_predict(const sn_network *net, const float *x, int64_t n, double *out);
/* As widths, theta, activation, task, and the scaling if there is one. */
stonet_status sn_network_save(const sn_network *net, sn_store *store);
/* The network must be zeroed. */
stonet_status sn_network_load(const sn_store *store, sn_network *net);
void sn_network_clear(sn_network *net);

#endif
