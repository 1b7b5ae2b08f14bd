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
    int threads = sn_threads(NULL);
    if (net->scaling.columns == 0)
        return sn_forward(&net->shape, net->theta, x, NULL, n, layer, activated, threads, out);
    int64_t p = net->shape.width[0];
    stonet_status status = STONET_OK;
    float *scaled;
    SN_TRY(SN_NEW_RAW(scaled, (n < BLOCK_ROWS ? n : BLOCK_ROWS) * p));
    for (int64_t first = 0; first < n && status == STONET_OK; first += BLOCK_ROWS) {
        int64_t rows = n - first < BLOCK_ROWS ? n - first : BLOCK_ROWS;
        sn_scaling_apply(&net->scaling, x + first * p, rows, scaled);
        status = sn_forward(&net->shape, net->theta, scaled, NULL, rows, layer, activated, threads,
                            out + first * net->shape.width[layer]);
    }
    sn_free(scaled);
    return status;
}

stonet_status sn_network_predict(const sn_network *net, const float *x, int64_t n, double *out)
{
    int64_t m = net->shape.width[net->shape.layers];
    float *mu;
    SN_TRY(SN_NEW_RAW(mu, n * m));
    stonet_status status = sn_network_forward(net, x, n, net->shape.layers, false, mu);
    for (int64_t i = 0; i < n * m && status == STONET_OK; i++) out[i] = (double)mu[i];
    if (status == STONET_OK && net->shape.task == SN_CLASSIFICATION) sn_softmax(n, m, out);
    sn_free(mu);
    return status;
}

stonet_status sn_network_save(const sn_network *net, sn_store *store)
{
    const sn_shape *shape = &net->shape;
    SN_TRY(sn_store_put_vector(store, "widths", SN_I64, shape->layers + 1, shape->width));
    SN_TRY(sn_store_put_vector(store, "theta", SN_F32, shape->parameters, net->theta));
    SN_TRY(sn_store_put_int(store, "activation", shape->activation));
    SN_TRY(sn_store_put_int(store, "task", shape->task));
    SN_TRY(sn_store_put_int(store, "scaled", net->scaling.columns > 0));
    return net->scaling.columns > 0 ? sn_scaling_save(&net->scaling, store) : STONET_OK;
}

stonet_status sn_network_load(const sn_store *store, sn_network *net)
{
    sn_shape *shape = &net->shape;
    const sn_tensor *widths, *theta;
    int64_t activation, task, scaled;
    SN_TRY(sn_store_get_vector(store, "widths", SN_I64, -1, &widths));
    if (widths->shape[0] < 2 || widths->shape[0] > SN_MAX_LAYERS + 1)
        return sn_fail(STONET_ERROR_FORMAT, "%lld layer widths are stored; a network has 2 to %d",
                       (long long)widths->shape[0], SN_MAX_LAYERS + 1);
    shape->layers = (int)widths->shape[0] - 1;
    memcpy(shape->width, widths->data, (size_t)widths->shape[0] * sizeof *shape->width);
    SN_TRY(sn_store_get_int(store, "activation", SN_IDENTITY, SN_SIGMOID, &activation));
    SN_TRY(sn_store_get_int(store, "task", SN_REGRESSION, SN_CLASSIFICATION, &task));
    shape->activation = (sn_activation)activation;
    shape->task = (sn_task)task;
    if (sn_shape_layout(shape) != STONET_OK) return STONET_ERROR_FORMAT;
    SN_TRY(sn_store_get_vector(store, "theta", SN_F32, shape->parameters, &theta));
    SN_TRY(SN_NEW(net->theta, shape->parameters));
    memcpy(net->theta, theta->data, (size_t)shape->parameters * sizeof *net->theta);
    SN_TRY(sn_store_get_int(store, "scaled", 0, 1, &scaled));
    return scaled ? sn_scaling_load(store, shape->width[0], &net->scaling) : STONET_OK;
}

void sn_network_clear(sn_network *net)
{
    sn_scaling_clear(&net->scaling);
    sn_free(net->theta);
    memset(net, 0, sizeof *net);
}
