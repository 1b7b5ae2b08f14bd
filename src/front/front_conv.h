/*
 * A convolutional network (net/conv.h) in front of layer 1, for images. It learns with the network
 * (front/front_gradient.h), and has no statistics of a batch and no noise: u is a function of x alone.
 */
#pragma once

#include "front/front.h"
#include "net/conv.h"

/* Of images of this shape, whose numbers the features are; filters: count of them, or (0) the usual. */
stonet_status sn_front_conv_create(const sn_image *image, int count, const int64_t *filters, uint64_t seed,
                                   sn_front **out);
const sn_conv_shape *sn_front_conv_shape(const sn_front *front);
/* New random parameters, scaled by n rows x. */
stonet_status sn_front_conv_start(sn_front *front, uint64_t seed, int64_t n, const float *x);
