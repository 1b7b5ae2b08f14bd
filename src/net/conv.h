/*
 * A convolutional network without an output layer: from an image to features.
 *
 * A_0 is the image, height x width x channels. Stage l = 1 .. L takes A_{l-1} (H x W x C) to A_l:
 *
 *     O[y, x, f]   = b_f + sum over i, j < k and d < C of  A_{l-1}[y + i, x + j, d] K[(i, j, d), f]
 *     A_l[y, x, f] = max(0, the largest O[s y + a, s x + b, f], a, b < s)
 *
 * O is (H - k + 1) x (W - k + 1), and what is left over of it by the cells of s x s is not looked at. The
 * features are u = A_L, flat. One image's patches P ((H-k+1)(W-k+1) x k k C), laid out one after the other
 * (im2col), make all of it products of matrices:
 *
 *     O = P K + b,     dK = P' dO,     db = 1' dO,     dP = dO K'  (added up where patches overlap: dA_{l-1})
 *
 * Images go through one by one, so the numbers of an image do not depend on which others are with it. The
 * gradients of a batch are summed over a few runs of images, and then over the runs, in this order: the same
 * bits for any number of threads.
 */
#pragma once

#include "base/memory.h"
#include "base/status.h"
#include "data/image.h"

enum { SN_CONV_STAGES = 6 };

typedef struct sn_conv_stage {
    int64_t height, width, channels;   /* of A_{l-1} */
    int64_t kernel, pool;              /* k, s */
    int64_t rows, columns, filters;    /* of O */
    int64_t out_height, out_width;     /* of A_l */
    int64_t kernel_at, bias_at;        /* in the flat array */
    int64_t patch, positions, out, in; /* k k C, positions of O, numbers of A_l and of A_{l-1} */
    int64_t in_at, out_at,
        which_at; /* where A_{l-1}, A_l and the cells of A_l are among the numbers of an image */
} sn_conv_stage;

typedef struct sn_conv_shape {
    int stages;
    sn_conv_stage stage[SN_CONV_STAGES];
    bool channels_first; /* of the image as it comes */
    int64_t inputs, outputs, parameters;
} sn_conv_shape;

/*
 * The stages for images: filters as given (count of them), or (count 0) 16, 32, 64, 64, .. as long as a side
 * is longer than 8, two stages at least where the image has room for them. k is 5 where the shorter side is
 * 12 or more, else 3; s is 2 where O has room for it. Of three extents the channels are the smaller of the
 * first and the last, or the last. Fails for images that are too small.
 */
stonet_status sn_conv_layout(const sn_image *image, int count, const int64_t *filters, sn_conv_shape *shape);
/* Kernels N(0, 2 / (k k C)), biases 0, keyed by the seed. */
void sn_conv_start(const sn_conv_shape *shape, uint64_t seed, float *theta);
/* Scales the kernels of parameters without biases so that the mean square of every A_l is `square` over these
   images: the step that a network can take depends on |u|^2. */
stonet_status sn_conv_scale(const sn_conv_shape *shape, int64_t n, const float *x, double square,
                            float *theta);
/* Whether a parameter is one of a kernel. */
bool sn_conv_is_kernel(const sn_conv_shape *shape, int64_t parameter);

/* Room to go through the network: with `capacity` above 0, both ways with so many images at a time. The shape
   must outlive it. */
typedef struct sn_conv_room sn_conv_room;

stonet_status sn_conv_open(const sn_conv_shape *shape, int64_t capacity, int threads, sn_conv_room **out);
void sn_conv_close(sn_conv_room *room); /* NULL is fine */
SN_DROP(sn_conv_room, sn_conv_close)
/* u (n x outputs) of x (n x inputs); n at most the capacity, if that is not 0. */
void sn_conv_forward(sn_conv_room *room, const float *theta, int64_t n, const float *x, float *u);
/* gradient (parameters) = the sum over the images of the last forward of J' du; du n x outputs. */
void sn_conv_backward(sn_conv_room *room, const float *theta, const float *du, float *gradient);
