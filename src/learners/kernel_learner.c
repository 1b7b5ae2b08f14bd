/*
 * Ridge or logistic regression on kernel features of Z: with z standardised and u(z) the features of
 * front/front_kernel.h, Gaussian kernels at landmarks and z itself,
 *
 *     min  sum_i w_i loss(y_i, W u(z_i) + b) + penalty/2 |W|^2
 *
 * with loss |y - mu|^2 / 2 for numbers and the cross-entropy for classes. It follows smooth links of a few
 * variables; learner=auto chooses it where that helps (learners/choose_learner.c).
 */
#include "learners/kernel_learner.h"

#include "base/memory.h"
#include "learners/learner.h"
#include "math/kernel.h"
#include "net/network.h"
#include "net/regression.h"

enum {
    MOST_ROWS = 10000, /* of a fit: with 100 landmarks the variance of W is then 1 % of the noise's */
    SUBSTREAM = 311    /* of the seed, for these rows */
};
static const double LINEAR = 0.5;   /* share of z itself in the features */
static const double ENOUGH = 1e-6;  /* part of the logistic loss that a last step may gain */
static const double CERTAIN = 30.0; /* logit of the only class that has rows */

static const sn_param params[] = {
    {"complexity", SN_REAL, "4", 1e-6, 1e6, NULL,
     "c of the kernels exp(-c |z - z'|^2 / (2 s^2)), s the mean distance between rows"},
    {"penalty", SN_REAL, "0.1", 1e-8, 1e12, NULL,
     "penalty/2 |w|^2 on the coefficients, against the sum of losses"},
    {"landmarks", SN_INTEGER, "100", 1, 2000, NULL, "kernels, at rows drawn at random"},
};

sn_front_recipe sn_kernel_learner_setting(const sn_settings *settings)
{
    return (sn_front_recipe){.complexity = sn_real(settings, "complexity"),
                             .linear = LINEAR,
                             .size = sn_int(settings, "landmarks")};
}

typedef struct kernel_state {
    sn_scaling scaling; /* of z */
    sn_front *front;
    sn_network net; /* the one layer after it */
    double *folded; /* both as one sum of kernels */
} kernel_state;

static void kernel_free(void *opaque)
{
    kernel_state *state = opaque;
    if (state == NULL) return;
    sn_scaling_clear(&state->scaling);
    sn_front_free(state->front);
    sn_network_clear(&state->net);
    SN_FREE_ALL(state->folded, state);
}
SN_DROP(kernel_state, kernel_free)

/* Scaling from all rows, front and layer from some of them. */
static stonet_status kernel_fit(const sn_problem *problem, const sn_settings *settings, const stonet_run *run,
                                void **out)
{
    SN_AUTO(kernel_state) *state = NULL;
    if (problem->n < 1) return sn_fail(STONET_ERROR_DATA, "kernel: there are no rows to fit on");
    SN_TRY(SN_NEW(state, 1));
    const uint64_t seed = run != NULL ? run->seed : 1;
    const sn_front_recipe setting = sn_kernel_learner_setting(settings);
    const int64_t n = problem->n < MOST_ROWS ? problem->n : MOST_ROWS, p = problem->p;
    SN_ARRAY(problem->n * p, float, scaled);
    SN_ARRAY(n, int64_t, list);
    SN_TRY(sn_choose_rows(problem->n, n, seed, SUBSTREAM, list));
    SN_TRY(sn_scaling_learn(&state->scaling, problem->x, problem->n, p));
    sn_scaling_apply(&state->scaling, problem->x, problem->n, scaled);
    sn_problem of = *problem;
    of.x = scaled;
    const sn_rows rows = sn_rows_list(list, n);
    SN_TRY(sn_front_kernel_create(&of, &rows, &setting, seed, &state->front));
    const sn_front *front = state->front;
    sn_shape *shape = &state->net.shape;
    *shape = (sn_shape){.layers = 1, .width = {front->outputs, problem->outputs}, .task = problem->task};
    SN_TRY(sn_network_start(&state->net, seed));
    SN_ARRAY(n * p, float, z);
    SN_ARRAY(n * front->outputs, float, u);
    sn_batch_fetch(&of, &rows, &(sn_batch){.x = z, .x_stride = p});
    SN_TRY(front->ops->apply(front, n, z, u));
    const sn_regression job = {&of, &rows, front->outputs, u, sn_real(settings, "penalty"), ENOUGH};
    bool found;
    SN_ZEROS(problem->outputs * front->outputs, double, coef);
    SN_ZEROS(problem->outputs, double, intercept);
    SN_TRY(sn_regress(&job, run, coef, intercept, &found));
    for (int64_t i = 0; !found && i < n; i++) /* one class alone has rows */
        if (sn_problem_weight(problem, list[i]) > 0.0)
            intercept[sn_problem_label(problem, list[i])] = CERTAIN;
    for (int64_t k = 0; k < problem->outputs * front->outputs; k++)
        state->net.theta[shape->weight_at[0] + k] = (float)coef[k];
    for (int64_t k = 0; k < problem->outputs; k++)
        state->net.theta[shape->bias_at[0] + k] = (float)intercept[k];
    SN_TRY(front->ops->fold(front, shape, state->net.theta, &state->folded));
    return SN_GIVE(state, out);
}

static stonet_status kernel_predict(const void *opaque, const float *z, int64_t n, double *out)
{
    const kernel_state *state = opaque;
    const sn_shape *shape = &state->net.shape;
    SN_ARRAY(n * state->front->inputs, float, scaled);
    SN_ARRAY(n * shape->width[1], float, mu);
    sn_scaling_apply(&state->scaling, z, n, scaled);
    SN_TRY(state->front->ops->first_layer(state->front, shape, state->folded, n, scaled, mu));
    sn_network_output(&state->net, mu, n, out);
    return STONET_OK;
}

static stonet_status kernel_save(const void *opaque, sn_store *store)
{
    const kernel_state *state = opaque;
    SN_TRY(sn_scaling_save(&state->scaling, store));
    SN_TRY(sn_front_put(state->front, store));
    return sn_network_put(&state->net, store);
}

static stonet_status kernel_load(const sn_store *store, void **out)
{
    SN_AUTO(kernel_state) *state = NULL;
    SN_TRY(SN_NEW(state, 1));
    SN_TRY(sn_network_get(store, &state->net));
    SN_TRY(sn_front_get(store, &state->front));
    if (state->front == NULL || state->front->ops != &sn_front_kernel || state->net.shape.layers != 1 ||
        state->net.shape.width[0] != state->front->outputs || state->net.scaling.columns > 0)
        return sn_fail(STONET_ERROR_FORMAT, "kernel: the features and the coefficients do not fit together");
    SN_TRY(sn_scaling_load(store, state->front->inputs, &state->scaling));
    SN_TRY(state->front->ops->fold(state->front, &state->net.shape, state->net.theta, &state->folded));
    return SN_GIVE(state, out);
}

static sn_sizes kernel_sizes(const void *opaque)
{
    const kernel_state *state = opaque;
    return (sn_sizes){.inputs = state->front->inputs, .outputs = state->net.shape.width[1]};
}

const sn_learner sn_learner_kernel = {
    .name = "kernel",
    .title = "Ridge or logistic regression on kernel features",
    .tasks = SN_TASK_BOTH,
    .weighted = true,
    SN_PARAMS_OF(params),
    .fit = kernel_fit,
    .predict = kernel_predict,
    .save = kernel_save,
    .load = kernel_load,
    .free = kernel_free,
    .sizes = kernel_sizes,
};
