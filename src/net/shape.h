/*
 * The shape of a network and its one flat parameter array.
 *
 * Layers i = 1..h+1 with widths d_0 = p, d_1, .., d_h = q, d_{h+1} = outputs:
 *
 *     mu_1 = b_1 + w_1 psi_0(x),   mu_i = b_i + w_i psi_{i-1}(Y_{i-1})      w_i is d_i x d_{i-1}, row-major
 *
 * psi_0 is the input activation (by default the identity), psi_i the identity for the one layer that may be
 * linear, and psi the same in all other layers. In arrays, layer i has index i - 1.
 */
#pragma once

#include <stdbool.h>

#include "data/problem.h"

enum { SN_MAX_LAYERS = 32 };

typedef enum sn_activation { SN_IDENTITY, SN_TANH, SN_RELU, SN_SIGMOID } sn_activation;
#define SN_ACTIVATION_WORDS(between) "identity" between "tanh" between "relu" between "sigmoid"
extern const sn_words sn_activation_words;

typedef struct sn_shape {
    int layers;                       /* h + 1 */
    int64_t width[SN_MAX_LAYERS + 1]; /* d_0 .. d_{h+1} */
    sn_activation activation;
    sn_activation input_activation;
    int linear_layer; /* psi of this layer is the identity (1: layer 1 is a linear reduction of the inputs);
                         0: of none */
    sn_task task;
    bool spread; /* regression: the second half of the outputs are log variances of the first (net/loss.h) */
    int64_t weight_at[SN_MAX_LAYERS]; /* where w_{i+1} starts in the flat array */
    int64_t bias_at[SN_MAX_LAYERS];
    int64_t parameters;
} sn_shape;

/* Fills the offsets from layers, width and the rest; fails on widths below 1 or too many layers. */
stonet_status sn_shape_layout(sn_shape *shape);
/* Weights and biases of the units that layer i (from 0) has in both shapes, from theta to out; its inputs are
 * as many. */
void sn_shape_copy_layer(const sn_shape *from, const float *theta, int i, const sn_shape *to, float *out);
/* psi_layer, what mu_layer goes through on its way into the next one; 0: the inputs. */
sn_activation sn_shape_activation(const sn_shape *shape, int layer);
/* Starting parameters: weights N(0, 1/d_{i-1}) (relu: 2/d_{i-1}), biases 0, keyed by the seed; theta has
   shape->parameters floats. */
void sn_shape_start(const sn_shape *shape, uint64_t seed, float *theta);
/* Lipschitz constant of psi. */
double sn_activation_lipschitz(sn_activation activation);
