/* A network as entries of a store, and back. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "net/network.h"

/* What layer 1 is; the words of sn_shape.linear_layer. */
enum { ACTIVATED, LINEAR };
#define FIRST_LAYER_WORDS(between) "activated" between "linear"
SN_DEFINE_WORDS(sn_first_layer_words, "kind of first layer", LINEAR, FIRST_LAYER_WORDS);

/* What happens to the inputs before layer 1. */
enum { NONE, STANDARD };
#define SCALING_WORDS(between) "none" between "standard"
SN_DEFINE_WORDS(sn_scaling_words, "scaling", STANDARD, SCALING_WORDS);

enum { NAME = 16 };

/* "w3" or "b3". */
static const char *layer_name(char letter, int layer, char *name)
{
    snprintf(name, NAME, "%c%d", letter, layer);
    return name;
}

static stonet_status put_layers(const sn_network *net, sn_store *store)
{
    const sn_shape *shape = &net->shape;
    char name[NAME];
    for (int i = 0; i < shape->layers; i++) {
        SN_TRY(sn_store_put_matrix(store, layer_name('w', i + 1, name), SN_F32, shape->width[i + 1],
                                   shape->width[i], net->theta + shape->weight_at[i]));
        SN_TRY(sn_store_put_vector(store, layer_name('b', i + 1, name), SN_F32, shape->width[i + 1],
                                   net->theta + shape->bias_at[i]));
    }
    return STONET_OK;
}

stonet_status sn_network_put(const sn_network *net, sn_store *store)
{
    const sn_shape *shape = &net->shape;
    const bool scaled = net->scaling.columns > 0;
    if (shape->linear_layer > 1)
        return sn_fail(STONET_ERROR_ARGUMENT, "a network with a linear layer %d cannot be saved",
                       shape->linear_layer);
    SN_TRY(sn_store_put_vector(store, "widths", SN_I64, shape->layers + 1, shape->width));
    SN_TRY(sn_words_put(&sn_activation_words, store, "activation", shape->activation));
    SN_TRY(sn_words_put(&sn_activation_words, store, "input_activation", shape->input_activation));
    SN_TRY(sn_words_put(&sn_first_layer_words, store, "first_layer",
                        shape->linear_layer == 1 ? LINEAR : ACTIVATED));
    SN_TRY(sn_words_put(&sn_task_words, store, "task", shape->task));
    SN_TRY(sn_words_put(&sn_scaling_words, store, "scaling", scaled ? STANDARD : NONE));
    SN_TRY(put_layers(net, store));
    return scaled ? sn_scaling_save(&net->scaling, store) : STONET_OK;
}

static stonet_status get_words(const sn_store *store, sn_shape *shape, bool *scaled)
{
    int activation, input_activation, first_layer, task, scaling;
    SN_TRY(sn_words_get(&sn_activation_words, store, "activation", &activation));
    SN_TRY(sn_words_get(&sn_activation_words, store, "input_activation", &input_activation));
    SN_TRY(sn_words_get(&sn_first_layer_words, store, "first_layer", &first_layer));
    SN_TRY(sn_words_get(&sn_task_words, store, "task", &task));
    SN_TRY(sn_words_get(&sn_scaling_words, store, "scaling", &scaling));
    shape->activation = (sn_activation)activation;
    shape->input_activation = (sn_activation)input_activation;
    shape->linear_layer = first_layer == LINEAR ? 1 : 0;
    shape->task = (sn_task)task;
    *scaled = scaling == STANDARD;
    return STONET_OK;
}

stonet_status sn_network_get_widths(const sn_store *store, sn_shape *shape)
{
    const sn_tensor *widths;
    SN_TRY(sn_store_get_vector(store, "widths", SN_I64, -1, &widths));
    if (widths->shape[0] < 2 || widths->shape[0] > SN_MAX_LAYERS + 1)
        return sn_fail(STONET_ERROR_FORMAT,
                       "the model's tensor '%s' has %lld layer widths; a network has 2 to %d", widths->name,
                       (long long)widths->shape[0], SN_MAX_LAYERS + 1);
    shape->layers = (int)widths->shape[0] - 1;
    memcpy(shape->width, widths->data, (size_t)widths->shape[0] * sizeof *shape->width);
    if (sn_shape_layout(shape) == STONET_OK) return STONET_OK;
    return sn_fail_prefix(STONET_ERROR_FORMAT, "the model's tensor '%s'", widths->name);
}

/* w1 (d_1 x d_0), b1, w2, .. of the file into the one flat array of the network. */
static stonet_status get_layers(const sn_store *store, sn_network *net)
{
    const sn_shape *shape = &net->shape;
    const sn_tensor *w[SN_MAX_LAYERS], *b[SN_MAX_LAYERS];
    char name[NAME];
    for (int i = 0; i < shape->layers; i++) { /* all must be there before memory is reserved */
        SN_TRY(sn_store_get_matrix(store, layer_name('w', i + 1, name), SN_F32, shape->width[i + 1],
                                   shape->width[i], &w[i]));
        SN_TRY(sn_store_get_vector(store, layer_name('b', i + 1, name), SN_F32, shape->width[i + 1], &b[i]));
        SN_TRY(sn_tensor_check_finite(w[i]));
        SN_TRY(sn_tensor_check_finite(b[i]));
    }
    SN_TRY(SN_NEW(net->theta, shape->parameters));
    for (int i = 0; i < shape->layers; i++) {
        memcpy(net->theta + shape->weight_at[i], w[i]->data,
               (size_t)sn_tensor_count(w[i]) * sizeof *net->theta);
        memcpy(net->theta + shape->bias_at[i], b[i]->data,
               (size_t)sn_tensor_count(b[i]) * sizeof *net->theta);
    }
    return STONET_OK;
}

stonet_status sn_network_get(const sn_store *store, sn_network *net)
{
    bool scaled;
    SN_TRY(get_words(store, &net->shape, &scaled));
    SN_TRY(sn_network_get_widths(store, &net->shape));
    SN_TRY(get_layers(store, net));
    return scaled ? sn_scaling_load(store, net->shape.width[0], &net->scaling) : STONET_OK;
}
