/* The state of the methods whose Z is the output of a plain network: one sn_network, p to dim. */
#pragma once

#include "methods/method.h"
#include "net/network.h"

stonet_status sn_encoder_transform(const void *state, const float *x, int64_t n,
                                   const sn_transform_request *request, float *z);
stonet_status sn_encoder_load(const sn_store *store, void **state);
sn_sizes sn_encoder_sizes(const void *state);

/* The entries of an sn_method whose state is an encoder. */
#define SN_ENCODER_STATE                                                                                     \
    .transform = sn_encoder_transform, .save = sn_network_save, .load = sn_encoder_load,                     \
    .free = sn_network_free, .sizes = sn_encoder_sizes, .history = sn_network_history
