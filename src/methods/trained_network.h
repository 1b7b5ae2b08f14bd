/* The state of the methods that are one plain network (autoencoder, nnsdr). */
#ifndef SN_METHODS_TRAINED_NETWORK_H
#define SN_METHODS_TRAINED_NETWORK_H

#include "net/network.h"

typedef struct sn_trained_network {
    sn_network net;
    char *history; /* of the training, as in sn_method; not saved */
} sn_trained_network;

/* Entries of sn_method. */
void sn_trained_network_free(void *state);
stonet_status sn_trained_network_save(const void *state, sn_store *store);
const char *sn_trained_network_history(const void *state);
/* What the method's load is made of: STONET_ERROR_FORMAT when the network has another number of layers. */
stonet_status sn_trained_network_load(const sn_store *store, const char *method, int layers, void **state);

#endif
