/* A fitted StoNet: what is needed to use it, and how it came about. */
#pragma once

#include "base/memory.h"
#include "engine/engine.h"
#include "front/front.h"
#include "net/network.h"
#include "stonet/axes.h"
#include "stonet/response.h"

/* An estimate for people. */
typedef struct sn_estimate {
    double loss, loss_se;   /* on held-out rows; NaN: not measured */
    double error, error_se; /* classification: share of wrong classes; else NaN */
    double low, high;       /* 95 % interval of the error, without classes of the loss */
} sn_estimate;
extern const sn_estimate sn_no_estimate;

typedef struct sn_stonet {
    const sn_engine_ops *engine; /* that it was trained and is used with */
    sn_front *front;             /* what the network sees instead of x; NULL: x */
    sn_network network;
    double *folded;       /* layer 1 straight from x (front/front.h); NULL: by way of the features */
    sn_response response; /* what its outputs are */
    sn_axes axes;         /* of its Z; none in files before 0.2 */
    sn_dynamics dynamics; /* of the last iteration, for stochastic passes and imputation */
    /* How it came about, for people. */
    double lr, weight_decay, epochs;
    int64_t batch, iterations;
    double training_loss; /* over all rows */
    bool stuck;           /* next to a constant guess, with settings that were given */
    char *neighbours;     /* the lines of the choice that came furthest (choice/halving.h); NULL: none */
    sn_estimate held_out; /* of the choice; NaN when nothing was left to choose */
    sn_estimate held_out_constant, held_out_linear;
    int64_t held_out_rows;
    int64_t settings_tried;
    double residual_p;     /* of held-out residuals whose size does not depend on x; NaN: not looked at */
    double select_penalty; /* at which select=group kept the columns of the front; 0: it kept all, or was not
                              asked for */
    double smallest_step;  /* of the step safeguard */
} sn_stonet;

void sn_stonet_free(sn_stonet *net);
SN_DROP(sn_stonet, sn_stonet_free)

/* The rows of a problem in what follows: its targets are those of the data; the response is looked at by
   impute alone. */
/* Prepares the use of a network whose parameters are final; sn_stonet_turn does it too. */
stonet_status sn_stonet_fold(sn_stonet *net);
/* Columns of Z. */
int64_t sn_stonet_dim(const sn_stonet *net);
/* Learns the axes of Z (stonet/axes.h), q of them, from these rows or many of them; and the head of a
   response that needs one. */
stonet_status sn_stonet_turn(sn_stonet *net, const sn_problem *problem, int64_t q, sn_units of, int threads);
/* The answer E(Y|x) in scaled units, or class probabilities: out n x targets or classes. z: what
   sn_stonet_reduce gives, from the same pass through the front; NULL: not wanted. */
stonet_status sn_stonet_predict(const sn_stonet *net, const sn_problem *problem, int threads, float *z,
                                double *out);
/* The standard deviation of Y given x, in scaled units, of response=location-scale: out n x targets. Of a law
   its scale (log times) or dispersion (counts), the same for all rows, which are not looked at. */
stonet_status sn_stonet_spread(const sn_stonet *net, const sn_problem *problem, int threads, double *out);
/* Z on its axes, out n x q; activated: psi of the network's own Z instead, as the output layer sees it. */
stonet_status sn_stonet_reduce(const sn_stonet *net, const sn_problem *problem, bool activated, int threads,
                               float *z);
/* The same of stochastic forward passes, Y_i ~ N(mu_i, s_i): row i of draw first + d at
   out + (d apart + i) q. */
typedef struct sn_draws {
    int64_t first, count, apart;
    bool activated;
    uint64_t seed;
} sn_draws;
stonet_status sn_stonet_draw(const sn_stonet *net, const sn_problem *problem, const sn_draws *wanted,
                             int threads, float *out);
/* The same of the imputed Y_h, given the response in problem: out n x q. */
stonet_status sn_stonet_impute(const sn_stonet *net, const sn_problem *problem, bool activated, uint64_t seed,
                               int threads, float *out);
