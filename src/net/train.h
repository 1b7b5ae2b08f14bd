/* Mini-batch training of a plain network: shuffled epochs, one of three update rules. */
#ifndef SN_NET_TRAIN_H
#define SN_NET_TRAIN_H

#include "base/run.h"
#include "net/backprop.h"

typedef enum sn_rule {
    SN_SGD,     /* v <- momentum v + g,  theta <- theta - rate v */
    SN_RMSPROP, /* s <- 0.9 s + 0.1 g^2,  theta <- theta - rate g / (sqrt(s) + 1e-7) */
    SN_ADAM     /* v and s as running means (momentum, 0.999), both corrected for their start */
} sn_rule;

typedef struct sn_training {
    const char *stage; /* for progress and messages, e.g. "mlp" */
    sn_rule rule;
    double rate, momentum;
    double decay; /* weights also shrink: SGD by adding decay w to g, the others by rate decay w */
    double dropout;
    bool linear_first; /* see backprop.h */
    int64_t batch, epochs;
    /* Called after every update, e.g. to put a constraint back; may be NULL. */
    void (*after_step)(void *user, float *theta);
    void *user;
} sn_training;

/*
 * Trains theta (shape->parameters floats, from where it is) on all examples; each epoch's batches are of
 * equal size within one row. losses (epochs doubles, or NULL) gets each epoch's mean loss, *done the number
 * of epochs kept. When the loss stops being finite theta goes back to the last good epoch and *outcome says
 * so; in the first epoch that is an error. Stops between epochs when run asks to.
 */
stonet_status sn_train(const sn_shape *shape, const sn_examples *examples, const sn_training *training,
                       const stonet_run *run, float *theta, double *losses, int64_t *done,
                       stonet_outcome *outcome);
/* The losses as CSV text, "epoch,stage,loss"; stages are written one after the other with sn_history_add. */
stonet_status sn_history_add(char **history, const char *stage, const double *losses, int64_t count);

#endif
