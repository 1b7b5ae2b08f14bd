/*
 * The contract of an engine: where Algorithm 1's two steps are computed.
 *
 * Iteration k on a mini-batch S of rows:
 *
 *  1. impute. Start at Y_i = mu_i (forward pass; start = mode adds s_i g_i with g_i from one backward pass,
 *     r_{h+1} at the forward pass, r_i = g_i), v_i = 0. For sweep l = 1..T, for i = h..1, newest Y_{i+1}:
 *         r_{i+1} = (Y_{i+1} - mu_{i+1}(Y_i)) / s_{i+1}      (class layer: (onehot(y) - softmax(mu)) / s_out)
 *         g_i = psi'(Y_i) . (w_{i+1}' r_{i+1}) - (Y_i - mu_i) / s_i
 *         symplectic: v_i <- (1 - alpha_i) v_i + eps_i g_i + sqrt(2 alpha_i) xi;  Y_i <- Y_i + eps_i v_i
 *         euler:      Y_i <- Y_i + eps_i v_i(old), the same v_i update from g_i at the old Y_i
 *     xi = sn_noise_normal(seed, SN_STREAM_IMPUTE, row, layer i, unit, iteration, sweep), row the index
 *     into the data, layer 1-based, sweep 0-based. mu_i uses the current Y_{i-1}.
 *  2. update, for every layer i with mu_i at the final Y_{i-1}:
 *         D_w = scale_i mean_S[ r_i psi(Y_{i-1})' ] - decay w_i,      D_b = scale_i mean_S[ r_i ]
 *         u <- momentum u + D,   theta <- theta + rate_i u,   then |w| shrinks by rate_i l1 towards 0
 *     (r_i as above: residual over s_i.) rate_i scale_i = gamma_i n of the paper's formula.
 *
 * Sums over the batch run over fixed blocks in fixed order: the same bits for any number of threads.
 * `ref` is double precision in plain loops, to be read; every other engine is tested against it.
 */
#ifndef SN_ENGINE_ENGINE_H
#define SN_ENGINE_ENGINE_H

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
} sn_dynamics;

typedef struct sn_update {
    double rate[SN_MAX_LAYERS];
    double scale[SN_MAX_LAYERS];
    double momentum;
    double decay; /* weights only */
    double l1;    /* weights only */
} sn_update;

typedef struct sn_iteration {
    const int64_t *rows; /* indices into the data; NULL: all rows */
    int64_t count;
    uint32_t number; /* k, keys the noise */
    const sn_dynamics *dynamics;
    const sn_update *update;
} sn_iteration;

typedef struct sn_step_report {
    double loss; /* mean output loss of the batch at the forward pass, before the update */
    int finite;  /* 0: a latent, a gradient or a parameter became NaN or Inf; parameters are then undefined */
} sn_step_report;

typedef struct sn_engine sn_engine; /* each engine's own struct begins with its ops pointer */

typedef struct sn_engine_ops {
    const char *name;
    /* problem must outlive the engine. Parameters start at 0, momentum at 0. */
    stonet_status (*create)(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                            sn_engine **out);
    void (*free)(sn_engine *engine);
    void (*set_parameters)(sn_engine *engine, const float *theta); /* also zeroes the momentum */
    void (*get_parameters)(const sn_engine *engine, float *theta);
    stonet_status (*step)(sn_engine *engine, const sn_iteration *iteration, sn_step_report *report);
    /* Step 1 alone: the imputed Y_layer (1..h) of the batch, out count x d_layer, in the order of rows. */
    stonet_status (*impute)(sn_engine *engine, const sn_iteration *iteration, int layer, float *out);
    /* For tests: D (before momentum, as above) of the last step or NULL if the engine does not keep it. */
    const double *(*last_direction)(const sn_engine *engine);
} sn_engine_ops;

struct sn_engine {
    const sn_engine_ops *ops;
};

extern const sn_engine_ops sn_engine_ref;
extern const sn_engine_ops sn_engine_cpu;

#endif
