/*
 * Mini-batch training of a network without latent noise: shuffled epochs, one of three update rules. A
 * trainer of its own, since engines do not differentiate through layers: they impute the units and fit each
 * layer to them.
 *
 * g is the gradient of the mean loss (net/loss.h), for a squared loss times 2 / outputs: the rates of such
 * networks are those of the mean square error, whose usual values do not depend on the number of outputs.
 */
#pragma once

#include "base/params.h"
#include "base/run.h"
#include "net/backprop.h"
#include "net/network.h"

typedef enum sn_rule {
    SN_SGD,     /* v <- momentum v + g,  theta <- theta - rate v */
    SN_RMSPROP, /* s <- 0.9 s + 0.1 g^2,  theta <- theta - rate g / (sqrt(s) + 1e-7) */
    SN_ADAM     /* v and s as running means (momentum, 0.999), both corrected for their start */
} sn_rule;

typedef struct sn_training {
    const char *stage; /* for the history, progress and messages, e.g. "mlp" */
    sn_rule rule;
    double rate, momentum;
    double decay; /* weights also shrink: SGD by adding decay w to g, the others by rate decay w */
    double dropout;
    int64_t batch, epochs;
    const sn_batch_loss *joint; /* a loss of each batch as a whole; NULL: that of net/loss.h */
    /* Called after every update, e.g. to put a constraint back; may be NULL. */
    void (*after_step)(void *user, float *theta);
    void *user;
} sn_training;

/* What the settings rate, epochs and batch say, and momentum (else 0.9), decay and dropout (else 0) where the
   method has them; batch=auto: `usual`. */
sn_training sn_training_of(const sn_settings *settings, const char *stage, sn_rule rule, int64_t usual);

/*
 * Trains the network's parameters, from where they are, on all rows of the problem (with neither label nor y:
 * to give back its scaled input); each epoch's batches are of equal size within one row. Every epoch kept
 * adds a row to the network's history. When the loss stops being finite the parameters go back to the last
 * good epoch and *outcome says so; in the first epoch that is an error. Stops between epochs when run asks
 * to.
 */
stonet_status sn_network_train(sn_network *net, const sn_problem *problem, const sn_training *training,
                               const stonet_run *run, stonet_outcome *outcome);
