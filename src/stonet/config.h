/*
 * The settings of a StoNet as numbers: the parameter table, and what it leaves to the kind of network that a
 * line of the table of candidates (choice/candidates.h) is.
 */
#pragma once

#include <stdbool.h>

#include "base/params.h"
#include "engine/engine.h"
#include "front/front.h"

/* A factor that multiplies a starting step. */
typedef enum sn_schedule_kind {
    SN_CONSTANT, /* 1 */
    SN_AVERAGED, /* (1 + k/steady)^(-3/4), whatever the length; the iterates are averaged (stonet/train.h) */
    SN_LINEAR,   /* falls linearly to a tenth at the last step */
    SN_POWER     /* (c + 1) / (c + k^a), k = 1, 2, ..: the paper's C / (c + k^a) with C = start (c + 1) */
} sn_schedule_kind;

typedef struct sn_schedule {
    sn_schedule_kind kind;
    double c, a;   /* of SN_POWER */
    double steady; /* of SN_AVERAGED: updates before the step falls in earnest */
    double warm; /* not 0: over the first twentieth of the steps the factor grows, from this part of itself */
} sn_schedule;

/* The factor of step k = 1..total. */
double sn_schedule_factor(const sn_schedule *schedule, int64_t k, int64_t total);

enum { SN_STONET_PARAMS = 40 };
extern const sn_param sn_stonet_params[SN_STONET_PARAMS];

typedef struct sn_config {
    const sn_engine_ops *engine;
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
    int restarts;  /* starts of a race (stonet/start.h); 1: none */
    double epochs; /* passes over the rows; may be a fraction of one */
    int64_t sdr_iterations;
    sn_schedule sdr_schedule;
    bool refit_output; /* fit the output layer anew at the end */
    /* What the user left open. */
    bool auto_epochs, auto_decay, auto_lr;
    bool auto_batch; /* of a training of given length (stonet/batch_size.h) */
} sn_config;

/* A kind of StoNet. */
typedef struct sn_net_kind {
    sn_front_recipe front;    /* what layer 1 sees */
    sn_activation activation; /* of the hidden layers; identity: the linear model, in one hidden layer */
    double weight_decay;
} sn_net_kind;

/* Whether a setting was given by hand, and not left to "auto". */
bool sn_config_given(const sn_settings *settings, const char *name);
/* The number that was given, or this one. */
double sn_config_or(const sn_settings *settings, const char *name, double otherwise);
/* The engine that the settings name; auto: the one that can be used here. */
const sn_engine_ops *sn_config_engine(const sn_settings *settings);
/* Units of the last hidden layer for q columns of Z: q where the user named the layers, else ten at least,
   for a narrow layer gets stuck while it is trained; the columns of Z are then axes of the units. */
int64_t sn_config_units(const sn_settings *settings, int64_t q);
/* Network shape for a problem, whose features are those that the kind's front shows, and `units` in the last
   hidden layer. */
stonet_status sn_config_shape(const sn_settings *settings, const sn_net_kind *kind, const sn_problem *problem,
                              int64_t units, sn_shape *shape);
/* Everything else; per-layer lists must fit the shape. "auto" values get the defaults that depend on n, p,
   the task and the kind alone; epochs stay 0. */
stonet_status sn_config_resolve(const sn_settings *settings, const sn_net_kind *kind,
                                const sn_problem *problem, const sn_shape *shape, sn_config *config);

/* What all settings at their defaults give, for networks that are not the user's; nothing is left open. */
stonet_status sn_config_default(const sn_engine_ops *engine, const sn_problem *problem, const sn_shape *shape,
                                sn_config *config);
