#include "methods/trained_network.h"

#include "base/memory.h"

void sn_trained_network_free(void *state)
{
    sn_trained_network *model = state;
    if (model == NULL) return;
    sn_network_clear(&model->net);
    sn_free(model->history);
    sn_free(model);
}

stonet_status sn_trained_network_save(const void *state, sn_store *store)
{
    const sn_trained_network *model = state;
    return sn_network_save(&model->net, store);
}

const char *sn_trained_network_history(const void *state)
{
    const sn_trained_network *model = state;
    return model->history;
}

stonet_status sn_trained_network_load(const sn_store *store, const char *method, int layers, void **state)
{
    sn_trained_network *model;
    *state = NULL;
    SN_TRY(SN_NEW(model, 1));
    stonet_status status = sn_network_load(store, &model->net);
    if (status == STONET_OK && model->net.shape.layers != layers)
        status = sn_fail(STONET_ERROR_FORMAT, "%s: the network has %d layers instead of %d", method,
                         model->net.shape.layers, layers);
    if (status != STONET_OK) {
        sn_trained_network_free(model);
        return status;
    }
    *state = model;
    return STONET_OK;
}
