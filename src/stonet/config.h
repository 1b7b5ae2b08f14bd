/*
 * The settings of a StoNet run as numbers: parsed from the parameter table, with what is still "auto" marked
 * so that the selection (stonet/select.h) can choose it from the training data.
 */
#ifndef SN_STONET_CONFIG_H
#define SN_STONET_CONFIG_H

#include <stdbool.h>

#include "base/params.h"
#include "engine/engine.h"
#include "stonet/front_kernel.h"
#include "stonet/schedule.h"
#include "stonet/wide.h"

enum { SN_STONET_PARAMS = 39 };
extern const sn_param sn_stonet_params[SN_STONET_PARAMS];

typedef struct sn_config {
    const sn_engine_ops *engine;
    bool auto_engine; /* the fastest that can be used */
    /* Sampler. Relative: s_i and eps_i follow from s_out, rho and tau. Absolute: given per layer. */
    int sweeps;
    sn_integrator integrator;
    sn_start start;
    bool absolute;
    double s_out, rho, tau, alpha;
    double sigma2[SN_MAX_LAYERS];  /* absolute: s_1 .. s_{h+1} */
    double epsilon[SN_MAX_LAYERS]; /* absolute: eps_1 .. eps_h */
    /* Parameter step: rate_i scale_i = gamma_i n. */
    double gamma[SN_MAX_LAYERS]; /* absolute: gamma_1 .. gamma_{h+1} */
    bool has_gamma;
    bool residual_step; /* hidden layers learn from their plain residual, not divided by s_i */
    double lr, momentum, weight_decay, l1;
    double group; /* penalty on the columns of layer 1, times a factor of each (stonet/sparse.h) */
    const double *group_factor;
    sn_schedule schedule;
    int64_t batch;
    int restarts;  /* starts of a race (stonet/start.h) */
    double epochs; /* passes over the rows; may be a fraction of one */
    int64_t sdr_iterations;
    sn_schedule sdr_schedule;
    bool refit_output; /* fit the output layer anew at the end */
    /* What the user left to the selection. */
    bool auto_epochs, auto_decay, auto_activation, auto_lr;
    bool auto_batch; /* of a training of given length (stonet/batch_size.h) */
    bool gives_way;  /* to the linear model (stonet/linear.h), if there is nothing else to be found: */
    bool linear_may; /* to a network of its own, since none is asked for that it is not, ... */
    bool auto_shape; /* ... and nothing is set that it could not have */
    bool auto_front; /* nor that kernel regression (stonet/kernel_point.h) could not */
} sn_config;

/* Whether a kernel front is asked for, and which; NaN: what the data is to choose. */
bool sn_config_kernel(const sn_settings *settings, const sn_problem *problem, sn_kernel_setting *kernel);
/* Whether one of the fronts for many columns is needed, or asked for; kind: SN_WIDE_NOT while it is to be
   chosen. */
bool sn_config_wide(const sn_settings *settings, const sn_problem *problem, sn_wide *wide);
/* Network shape for a problem and `units` in the last hidden layer. */
stonet_status sn_config_shape(const sn_settings *settings, const sn_problem *problem, int64_t units,
                              sn_shape *shape);
/* Everything else; per-layer lists must fit the shape. "auto" values get the defaults that depend on n, p and
   the task alone. */
stonet_status sn_config_resolve(const sn_settings *settings, const sn_problem *problem, const sn_shape *shape,
                                sn_config *config);

/* What all settings at their defaults give, for networks that are not the user's; nothing is left open. */
stonet_status sn_config_default(const sn_engine_ops *engine, const sn_problem *problem, const sn_shape *shape,
                                sn_config *config);

#endif
