/*
 * A network: its shape, its parameters, the scaling of its inputs and how its training went. What the StoNet,
 * mlp, nnsdr and the autoencoder are made of, and save (docs/model-file.md).
 */
#pragma once

#include <stdbool.h>

#include "base/memory.h"
#include "net/epoch_log.h"
#include "net/scaling.h"
#include "net/shape.h"

typedef struct sn_network {
    sn_shape shape;
    sn_scaling scaling; /* columns 0: inputs are used as they are */
    float *theta;
    sn_epoch_log history; /* not saved with the network: the model keeps it */
} sn_network;

/* Lays out net->shape (already filled in) and sets the parameters to their start for this seed. */
stonet_status sn_network_start(sn_network *net, uint64_t seed);
/* mu_layer, or psi of it, of n rows of x: out n x d_layer, as sn_forward. */
stonet_status sn_network_forward(const sn_network *net, const float *x, int64_t n, int layer, bool activated,
                                 float *out);
/* The outputs in double from mu of the last layer (n x outputs): class probabilities or numbers. */
void sn_network_output(const sn_network *net, const float *mu, int64_t n, double *out);
/* The same from n rows of x. out n x outputs. */
stonet_status sn_network_predict(const void *opaque, const float *x, int64_t n, double *out);
void sn_network_clear(sn_network *net);

/* Shape, parameters and scaling to a store and back: the entries widths, activation, input_activation,
   first_layer, task, scaling, w1, b1, .. and mean, factor. Reading takes nothing on trust: what is missing,
   of another shape, unknown or not finite is named. The network must be zeroed before. */
stonet_status sn_network_put(const sn_network *net, sn_store *store);
stonet_status sn_network_get(const sn_store *store, sn_network *net);
/* The layers and the layout of a shape from the entry widths. */
stonet_status sn_network_get_widths(const sn_store *store, sn_shape *shape);

/* Entries of sn_method and sn_learner for those whose state is one sn_network. */
void sn_network_free(void *state);
SN_DROP(sn_network, sn_network_free)
stonet_status sn_network_save(const void *state, sn_store *store);
stonet_status sn_network_load(const sn_store *store, void **state);
const char *sn_network_history(const void *state);
/* What their load is made of when the network must have this form: STONET_ERROR_FORMAT for any other. */
stonet_status sn_network_load_as(const sn_store *store, const char *method, int layers, bool linear_first,
                                 void **state);
