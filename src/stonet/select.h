/*
 * Choosing the activation, the weight decay and the training length from the training data alone, and whether
 * a network is needed at all.
 *
 * Settings are judged by the loss on held-out rows (stonet/holdout.h), against each other and against a
 * constant and the linear model (stonet/baseline.h). Each begins at the winner of a race of starts
 * (stonet/start.h) at next to no weight decay, so that strong decay shrinks a network that has found
 * something, and does not keep it from finding it. One training gives all lengths. The search climbs along
 * the weight decays at a short length, lengthens the training while that pays, and asks for the other
 * activation. What is behind after two folds, or was far behind at a shorter length, is not followed any
 * further (stonet/search.h). What the user fixed is not searched.
 */
#ifndef SN_STONET_SELECT_H
#define SN_STONET_SELECT_H

#include "stonet/baseline.h"
#include "stonet/front.h"

typedef struct sn_estimate {
    double loss, loss_se;   /* on held-out rows; NaN: not measured */
    double error, error_se; /* classification: share of wrong classes; else NaN */
} sn_estimate;

sn_estimate sn_estimate_of(const sn_held_out *cost, int64_t rows);

typedef struct sn_selection {
    sn_estimate chosen, constant, linear;
    int64_t held_out;       /* rows these were measured on */
    int64_t tried;          /* settings scored */
    double residual_p;      /* of residuals whose size does not depend on x (stonet/residuals.h); NaN: none */
    bool take_linear;       /* no network was better than the linear model on x, or on the front's features */
    bool sent_to_0;         /* and the networks, at a weight decay that was given, had found nothing at all */
    bool blend;             /* the mean of the chosen network and kernel regression behind the front */
    int64_t visible;        /* features of the front that kernel regression is given, the first ones */
    double penalty;         /* of the linear model, or kernel regression, l2 / n */
    sn_finds linear_finds;  /* the linear model on x, on held-out rows */
    sn_front *front;        /* of the model that is taken, or kept; NULL: that of the job. The caller's */
    double winner_loss;     /* of the best held-out fit of the chosen settings over all rows; NaN: none */
    float *start;           /* where that fit began, the winner of its race; NULL: none. The caller's */
    stonet_outcome outcome; /* STONET_STOPPED: cut short; `theta` is then the model to keep */
} sn_selection;

/*
 * Fills in config->epochs and config->weight_decay and shape->activation. job->config is only a template;
 * job->shape must point to *shape. theta (shape->parameters) gets the parameters of the best setting's best
 * held-out fit: a usable model if the run is stopped here (behind selection->front, if folds have their own).
 * Kernel regression (stonet/kernel_point.h) comes last: a tie keeps the network. Where neither is clearly
 * better, so does the mean of both (stonet/blend.h).
 */
stonet_status sn_select(const sn_stage_job *job, sn_shape *shape, sn_config *config, float *theta,
                        sn_selection *selection);
/* Which tables settings are chosen by a part of: those of more than `whole` numbers that are not in memory as
   a whole; the part has `part` numbers, and is in memory. */
typedef struct sn_parting {
    int64_t whole, part;
} sn_parting;
extern const sn_parting sn_parting_usual; /* 256 MB, 64 MB */
/* The same for any number of rows: where they are very many, an even part of them is enough to choose by. */
stonet_status sn_select_for(const sn_stage_job *job, const sn_parting *how, sn_shape *shape,
                            sn_config *config, float *theta, sn_selection *selection);

#endif
