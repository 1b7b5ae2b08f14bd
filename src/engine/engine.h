/*
 * The contract of an engine: where Algorithm 1's two steps are computed.
 *
 * Iteration k on a mini-batch S of rows:
 *
 *  1. impute. Start at Y_i = mu_i (forward pass; start = mode adds s_i g_i with g_i from one backward pass,
 *     r_{h+1} at the forward pass, r_i = g_i), v_i = 0. For sweep l = 1..T, for i = h..1, newest Y_{i+1}:
 *         r_{i+1} = (Y_{i+1} - mu_{i+1}(Y_i)) / s_{i+1}      (class layer: (onehot(y) - softmax(mu)) / s_out;
 *                                                            location and scale: net/loss.h, / s_out)
 *         g_i = psi'(Y_i) . (w_{i+1}' r_{i+1}) - (Y_i - mu_i) / s_i
 *         symplectic: v_i <- (1 - alpha_i) v_i + eps_i g_i + sqrt(2 alpha_i) xi;  Y_i <- Y_i + eps_i v_i
 *         euler:      Y_i <- Y_i + eps_i v_i(old), the same v_i update from g_i at the old Y_i
 *     xi = sn_noise_normal(seed, SN_STREAM_IMPUTE, row, layer i, unit, iteration, sweep), row the number
 *     of the row in the whole data, layer 1-based, sweep 0-based. mu_i uses the current Y_{i-1}.
 *  2. update, for every layer i with mu_i at the final Y_{i-1} and row weights a (1 unless the data says
 *     otherwise):
 *         G_w = sum_S a r_i psi(Y_{i-1})',   G_b = sum_S a r_i,   A = sum_S a
 *         D_w = scale_i G_w / A - decay w_i,      D_b = scale_i G_b / A
 *         u <- momentum u + D,   theta <- theta + rate_i u,   then |w| shrinks by rate_i l1 towards 0
 *     (r_i as above: residual over s_i.) rate_i scale_i = gamma_i n of the paper's formula.
 *     At last layer 1 alone, where `group` is not 0: c, the weights of all units on the m features of one
 *     column (problem->group), becomes c max(0, 1 - t / |c|), t = rate_1 group sqrt(m d_1) times the column's
 *     factor. u is left as it is: a column that is 0 comes back when its mean gradient is worth it, and not
 *     for that of one batch.
 *
 * The sums over the batch run over its virtual shards (engine/sums.h): in the order of the rows inside a
 * shard, over the shards by a fixed binary tree. They depend on the batch alone: the same bits for any number
 * of threads, and for any number of engines that share the shards out among them. Such engines each
 * `accumulate` their own shards, a hook joins the sums, and each applies the whole; an engine that works
 * alone does both at once in `step`, to the same bits.
 *
 * `ref` is double precision in plain loops, to be read; every other engine is tested against it. To add an
 * engine: one file, and one line in engine/engines.h.
 */
#pragma once

#include <stdbool.h>

#include "base/memory.h"
#include "engine/sums.h"
#include "net/shape.h"

typedef enum sn_integrator { SN_SYMPLECTIC, SN_EULER } sn_integrator;
#define SN_INTEGRATOR_WORDS(between) "symplectic" between "euler"
extern const sn_words sn_integrator_words;
typedef enum sn_start { SN_START_FORWARD, SN_START_MODE } sn_start;
#define SN_START_WORDS(between) "forward" between "mode"
extern const sn_words sn_start_words;

typedef struct sn_dynamics {
    int sweeps;
    sn_integrator integrator;
    sn_start start;
    double s[SN_MAX_LAYERS];       /* s_1 .. s_{h+1} */
    double epsilon[SN_MAX_LAYERS]; /* eps_1 .. eps_h */
    double alpha[SN_MAX_LAYERS];   /* alpha_1 .. alpha_h */
    double beta;                   /* of shape.spread: weights v^beta (net/loss.h) */
    double spread;                 /* the same: what the pull of the log variances is multiplied by */
} sn_dynamics;

typedef struct sn_update {
    double rate[SN_MAX_LAYERS];
    double scale[SN_MAX_LAYERS];
    double momentum;
    double decay;               /* weights only */
    double l1;                  /* weights only */
    double group;               /* weights of layer 1, column by column, ... */
    const double *group_factor; /* ... times this for each of the columns; NULL: 1 */
} sn_update;

typedef struct sn_iteration {
    sn_rows rows;            /* of the problem, shard after shard */
    const sn_shards *shards; /* where each shard's rows lie among them; NULL: all are one shard */
    uint32_t number;         /* k, keys the noise */
    uint32_t draw;           /* of the missing cells of x: sn_batch.draw (data/rows.h) */
    bool moving;             /* x itself changes from one iteration to the next: no copy may be kept */
    const sn_dynamics *dynamics;
    const sn_update *update; /* not used by impute and accumulate */
} sn_iteration;

typedef struct sn_step_report {
    double loss; /* weighted mean output loss of the batch at the forward pass, before the update */
    int finite;  /* 0: a latent, a gradient or a parameter became NaN or Inf; parameters are then undefined */
} sn_step_report;

/* A pass through the network without looking at the response. */
typedef struct sn_pass {
    sn_rows rows;
    int layer;       /* 1 .. h+1: whose mu is wanted */
    bool activated;  /* psi of it; of hidden layers alone */
    const double *s; /* NULL: noise-free; else Y_i ~ N(mu_i, s_i) in hidden layers up to `layer`, with normals
                        sn_noise_normal(seed, SN_STREAM_DRAWS, row, i, unit, draw, 0) */
    uint32_t draw;
} sn_pass;

/* All that an engine carries from one iteration to the next, in the order of the shape's flat array. Double,
   so that every engine gets back the bits it gave. */
typedef struct sn_engine_state {
    double *parameters, *momentum; /* shape.parameters each */
    uint32_t iteration;            /* the number after that of the last update; 0: none so far */
} sn_engine_state;

typedef struct sn_engine sn_engine; /* each engine's own struct begins with its ops pointer */

typedef struct sn_engine_ops {
    const char *name;
    bool in_double; /* it computes so; else in float, and its sums are floats */
    /* Whether it can be used here, or the sentence why not; NULL: always. */
    stonet_status (*available)(void);
    /* The problem is the source of rows and must outlive the engine; its features, or its response when only
       `forward` will be called, need not lie in memory. Parameters and momentum start at 0. */
    stonet_status (*create)(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                            sn_engine **out);
    void (*free)(sn_engine *engine);
    /* Parameters as given, no momentum, iteration 0. */
    void (*start)(sn_engine *engine, const float *theta);
    void (*get_parameters)(const sn_engine *engine, float *theta);
    void (*get_state)(const sn_engine *engine, sn_engine_state *state);
    void (*set_state)(sn_engine *engine, const sn_engine_state *state);
    /* Both steps, on a batch with all its shards. */
    stonet_status (*step)(sn_engine *engine, const sn_iteration *iteration, sn_step_report *report);
    /* Several iterations, as if one after the other by `step`; NULL: there is nothing to gain by it. When one
       of them is not finite, those after it are worth nothing. */
    stonet_status (*steps)(sn_engine *engine, const sn_iteration *iterations, int count,
                           sn_step_report *reports);
    /* The same in two: the sums of the shards that are there, which replace those in `sums`; and the update
       from the sums of all shards (sums with one root). */
    stonet_status (*accumulate)(sn_engine *engine, const sn_iteration *iteration, sn_sums *sums);
    stonet_status (*apply)(sn_engine *engine, const sn_iteration *iteration, const sn_sums *sums,
                           sn_step_report *report);
    /* Step 1 alone: the imputed Y_layer (1..h) of the batch, out n x d_layer, in the order of rows. */
    stonet_status (*impute)(sn_engine *engine, const sn_iteration *iteration, int layer, float *out);
    /* out n x d_layer, in the order of rows. */
    stonet_status (*forward)(sn_engine *engine, const sn_pass *pass, float *out);
} sn_engine_ops;

struct sn_engine {
    const sn_engine_ops *ops;
};

static inline void sn_engine_free(sn_engine *engine)
{
    if (engine != NULL) engine->ops->free(engine);
}
SN_DROP(sn_engine, sn_engine_free)

/* How sums of several engines become one: `join` gets those of this engine's shards and leaves the root of
   all shards. */
typedef struct sn_reduce {
    stonet_status (*join)(void *user, sn_sums *sums);
    void *user;
} sn_reduce;

/* One iteration: `step`, or with a hook accumulate, join and apply, with `sums` as the room for it. */
stonet_status sn_engine_iterate(sn_engine *engine, const sn_iteration *iteration, const sn_reduce *reduce,
                                sn_sums *sums, sn_step_report *report);

/* A guess at the time that a row takes on one thread, in nanoseconds. */
double sn_engine_row_cost(const sn_shape *shape, int sweeps);

/* What the outputs mu of the last layer cost for a row, and whether the class is wrong; room: of one
 * response. */
double sn_row_loss(const sn_shape *shape, const sn_problem *problem, int64_t row, const float *mu,
                   double *room, bool *wrong);
/* A network and rows to pass through it. */
typedef struct sn_use {
    const sn_problem *problem;
    const sn_engine_ops *engine;
    const sn_shape *shape;
    const float *theta;
    int threads;
} sn_use;
/* One forward pass, by an engine of its own. */
stonet_status sn_engine_forward(const sn_use *use, const sn_pass *pass, float *out);
/* The weighted mean loss of the noise-free pass over these rows; by a law whose parameters follow from them.
   team: ranks that share the rows out; NULL: none do. */
stonet_status sn_engine_loss(const sn_use *use, const sn_rows *rows, stonet_team *team, double *loss);

/* The group penalty of layer 1: squares (p) has the sums of squares of each input's weights over the `units`
   and gets what they are to be multiplied by, 1 - t / |c| or 0. */
void sn_group_factors(const sn_problem *problem, int64_t units, const sn_update *update, double *squares);

/* The sums over the shards of a batch: their roots, with the losses (one a shard; NULL: 0), the weights and,
   where `sums` has parameters, the gradients ([shard][parameter]). */
stonet_status sn_engine_sum_shards(const sn_problem *problem, const sn_rows *rows, const sn_shards *shards,
                                   const double *loss, const float *gradients, sn_sums *sums);

/* The shards of an iteration; `one`: room for those of a batch without, which is a shard by itself. */
static inline const sn_shards *sn_engine_shards(const sn_rows *batch, const sn_shards *shards, sn_shards *one)
{
    if (shards != NULL) return shards;
    one->total = one->count = 1;
    one->first = 0;
    one->border[0] = 0;
    one->border[1] = batch->n;
    return one;
}

/* The checks of `create` that are the same for every engine. */
stonet_status sn_engine_check(const sn_shape *shape, const sn_problem *problem, int threads);
