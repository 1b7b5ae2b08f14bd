/* The state of the methods whose Z is the output of a plain network: one sn_network, p to dim. */
#pragma once

#include "methods/method.h"
#include "net/network.h"

stonet_status sn_encoder_transform(const void *state, const float *x, int64_t n,
                                   const sn_transform_request *request, float *z);
stonet_status sn_encoder_load(const sn_store *store, void **state);
sn_sizes sn_encoder_sizes(const void *state);

/* The entries of an sn_method of any response that `fit` makes an encoder for. */
#define SN_ENCODER_METHOD                                                                                    \
    .tasks = SN_TASK_BOTH, .multi_output = true, SN_PARAMS_OF(params), .fit = fit,                           \
    .transform = sn_encoder_transform, .save = sn_network_save, .load = sn_encoder_load,                     \
    .free = sn_network_free, .sizes = sn_encoder_sizes, .history = sn_network_history
