#include "net/network.h"

#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "net/forward.h"

enum { BLOCK_ROWS = 4096 };

stonet_status sn_network_start(sn_network *net, uint64_t seed)
{
    SN_TRY(sn_shape_layout(&net->shape));
    SN_TRY(SN_NEW(net->theta, net->shape.parameters));
    sn_shape_start(&net->shape, seed, net->theta);
    return STONET_OK;
}

stonet_status sn_network_forward(const sn_network *net, const float *x, int64_t n, int layer, bool activated,
                                 float *out)
{
    const sn_forward_job to = {&net->shape, net->theta, layer, activated, sn_threads(NULL)};
    if (net->scaling.columns == 0) return sn_forward(&to, n, x, out);
    int64_t p = net->shape.width[0];
    SN_ARRAY((n < BLOCK_ROWS ? n : BLOCK_ROWS) * p, float, scaled);
    for (int64_t first = 0; first < n; first += BLOCK_ROWS) {
        int64_t rows = n - first < BLOCK_ROWS ? n - first : BLOCK_ROWS;
        sn_scaling_apply(&net->scaling, x + first * p, rows, scaled);
        SN_TRY(sn_forward(&to, rows, scaled, out + first * net->shape.width[layer]));
    }
    return STONET_OK;
}

void sn_network_output(const sn_network *net, const float *mu, int64_t n, double *out)
{
    const int64_t m = net->shape.width[net->shape.layers];
    for (int64_t i = 0; i < n * m; i++) out[i] = (double)mu[i];
    if (net->shape.task == SN_CLASSIFICATION) sn_softmax(n, m, out);
}

stonet_status sn_network_predict(const void *opaque, const float *x, int64_t n, double *out)
{
    const sn_network *net = opaque;
    int64_t m = net->shape.width[net->shape.layers];
    SN_ARRAY(n * m, float, mu);
    SN_TRY(sn_network_forward(net, x, n, net->shape.layers, false, mu));
    sn_network_output(net, mu, n, out);
    return STONET_OK;
}

void sn_network_clear(sn_network *net)
{
    sn_scaling_clear(&net->scaling);
    sn_free(net->theta);
    sn_epoch_log_free(&net->history);
    memset(net, 0, sizeof *net);
}

void sn_network_free(void *state)
{
    if (state != NULL) sn_network_clear(state);
    sn_free(state);
}

stonet_status sn_network_save(const void *state, sn_store *store)
{
    return sn_network_put(state, store);
}

stonet_status sn_network_load(const sn_store *store, void **state)
{
    SN_AUTO(sn_network) *net = NULL;
    *state = NULL;
    SN_TRY(SN_NEW(net, 1));
    SN_TRY(sn_network_get(store, net));
    return SN_GIVE(net, state);
}

stonet_status sn_network_load_as(const sn_store *store, const char *method, int layers, bool linear_first,
                                 void **state)
{
    SN_TRY(sn_network_load(store, state));
    const sn_shape *shape = &((const sn_network *)*state)->shape;
    if (shape->layers == layers && (shape->linear_layer == 1) == linear_first) return STONET_OK;
    sn_network_free(*state);
    *state = NULL;
    return sn_fail(STONET_ERROR_FORMAT, "the model's network is not one of %s: %d layers%s are wanted",
                   method, layers, linear_first ? ", the first linear," : "");
}

const char *sn_network_history(const void *state)
{
    const sn_network *net = state;
    return net->history.text;
}
