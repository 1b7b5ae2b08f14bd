#include "methods/network_state.h"

stonet_status sn_encoder_transform(const void *state, const float *x, int64_t n,
                                   const sn_transform_request *request, float *z)
{
    (void)request;
    const sn_network *net = state;
    return sn_network_forward(net, x, n, net->shape.layers, false, z);
}

stonet_status sn_encoder_load(const sn_store *store, void **state)
{
    SN_TRY(sn_network_load(store, state));
    const sn_network *net = *state;
    if (net->shape.linear_layer == 0 && net->shape.task == SN_REGRESSION) return STONET_OK;
    sn_network_free(*state);
    *state = NULL;
    return sn_fail(STONET_ERROR_FORMAT, "the model's network is not one that gives Z");
}

sn_sizes sn_encoder_sizes(const void *state)
{
    const sn_shape *shape = &((const sn_network *)state)->shape;
    return (sn_sizes){.inputs = shape->width[0], .dim = shape->width[shape->layers]};
}
