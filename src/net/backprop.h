/*
 * The loss of a mini-batch and its gradient by back-propagation, for the networks without latent noise.
 *
 *     a_0 = psi_0(scaled x),   mu_i = b_i + w_i a_{i-1},   a_i = psi_i(mu_i), a_h also times its dropout mask
 *     loss = mean over rows of the loss of net/loss.h at mu_{h+1}
 *
 * or the loss of a batch as a whole (sn_batch_loss), for losses that compare rows with each other.
 *
 * Float with BLAS over fixed blocks of rows, block sums added in fixed order: the same bits for any number of
 * threads.
 */
#pragma once

#include <stdbool.h>

#include "net/scaling.h"
#include "net/shape.h"

enum { SN_BACKPROP_BLOCKS = 8 };

/* A loss of the outputs mu (count x outputs) of a batch as a whole: returns it, writes d loss / d mu. */
typedef struct sn_batch_loss {
    double (*slope)(void *user, const sn_problem *problem, const int64_t *rows, int64_t count,
                    const float *mu, float *slope);
    void *user;
} sn_batch_loss;

typedef struct sn_backprop {
    const sn_shape *shape;
    const sn_scaling *scaling;  /* NULL: x as it is */
    double gain;                /* the gradient is that of gain x loss */
    const sn_batch_loss *joint; /* in place of the loss of net/loss.h; NULL: that */
    double dropout;             /* share of the last hidden layer's units left out of each row */
    uint64_t seed;              /* of the dropout masks */
    int threads;
    float *gradient; /* of the last call: parameters floats */
    /* Work space. */
    int64_t capacity;
    float *value[SN_MAX_LAYERS + 1]; /* capacity x d_i: a_i, and mu of the last layer */
    float *delta[SN_MAX_LAYERS + 1]; /* capacity x d_i: d loss / d mu_i */
    float *keep;                     /* capacity x d_h: 0 or 1 / (1 - dropout) */
    float *partial;                  /* blocks x parameters; gradient is the first */
} sn_backprop;

/* Zero the struct, set shape, scaling, gain, dropout, seed and threads, then call this; batches have at most
   `capacity` rows. */
stonet_status sn_backprop_create(sn_backprop *b, int64_t capacity);
void sn_backprop_clear(sn_backprop *b);
/* Returns the mean loss of the rows (of the problem), or their joint one, at theta and leaves the gradient in
   b->gradient. A problem with neither label nor y asks for the scaled input itself as the output. `iteration`
   keys the dropout masks. */
double sn_backprop_gradient(sn_backprop *b, const sn_problem *problem, const int64_t *rows, int64_t count,
                            const float *theta, uint32_t iteration);
