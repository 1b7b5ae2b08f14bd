/* The parameters of a fitted StoNet. */
#ifndef PAPER_WEIGHTS_H
#define PAPER_WEIGHTS_H

#include <stonet/stonet.h>

typedef struct layer {
    int64_t outputs, inputs;
    double *w; /* outputs x inputs; b lies behind it */
    double *b;
} layer;

/* Layer number 1.. of a StoNet. */
stonet_status weights_layer(const stonet_model *model, int number, layer *out);
void layer_free(layer *self);

/* The same model with other variances s_1 .. s_{h+1}. */
stonet_status weights_with_variances(const stonet_model *model, const double *s, int64_t count,
                                     stonet_model **out);

/* Mean and standard deviation that the response was scaled by. */
stonet_status weights_response_scale(const stonet_model *model, double *mean, double *sd);

#endif
