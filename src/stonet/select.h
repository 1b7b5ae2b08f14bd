/*
 * Choosing weight decay and training length from the training data alone.
 *
 * Settings are points of a grid, weight decay by number of updates, both on a logarithmic scale. Each is
 * scored by the loss on held-out rows (k-fold cross-validation for small data, one held-out part for large).
 * The search climbs from the middle of the grid to a point that no neighbour beats. What the user fixed is
 * not searched.
 */
#ifndef SN_STONET_SELECT_H
#define SN_STONET_SELECT_H

#include "stonet/train.h"

typedef struct sn_selection {
    double loss;            /* held-out loss of the chosen setting */
    double error_rate;      /* classification; else NaN */
    int64_t held_out;       /* rows it was measured on */
    int64_t tried;          /* settings scored */
    stonet_outcome outcome; /* STONET_STOPPED: cut short; `theta` is then the model to keep */
} sn_selection;

/*
 * Fills in config->epochs and config->weight_decay and shape->activation. job->config is only a template;
 * job->shape must point to *shape. theta (shape->parameters) gets the parameters of the best setting's first
 * held-out fit: a usable model if the run is stopped here.
 */
stonet_status sn_select(const sn_stage_job *job, sn_shape *shape, sn_config *config, float *theta,
                        sn_selection *selection);

#endif
