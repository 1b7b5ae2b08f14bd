/* The StoNet behind the method interface; the work is in the stonet room. */
#include "choice/fit.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "choice/candidates.h"
#include "engine/engines.h"
#include "front/front_wide.h"
#include "methods/method.h"
#include "stonet/config.h"

static stonet_status stonet_fit_method(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                                       const stonet_run *run, sn_fit_result *result)
{
    sn_stonet *net;
    SN_TRY(sn_stonet_fit(problem, dim, settings, run, &net, &result->outcome));
    sn_axes_trim(&net->axes);
    result->state = net;
    result->dim = sn_stonet_dim(net);
    if (result->dim < dim)
        sn_message(run, STONET_WARNING, "stonet: Z has %lld column%s instead of %lld, since %s",
                   (long long)result->dim, result->dim == 1 ? "" : "s", (long long)dim,
                   net->network.shape.activation == SN_IDENTITY
                       ? "a linear network has no more directions than features: leave 'activation' open"
                       : "the rows do not differ enough for more");
    return STONET_OK;
}

static stonet_status stonet_fit_more_method(void *state, const sn_problem *problem, double share,
                                            const sn_settings *settings, const stonet_run *run,
                                            stonet_outcome *outcome)
{
    return sn_stonet_fit_more(state, problem, share, settings, run, outcome);
}

static int64_t inputs_of(const sn_stonet *net)
{
    return net->front != NULL ? net->front->inputs : net->network.shape.width[0];
}

/* Encoded rows as a problem. */
static sn_problem rows_of(const sn_stonet *net, const float *x, int64_t n)
{
    return (sn_problem){.n = n,
                        .p = inputs_of(net),
                        .x = x,
                        .task = net->network.shape.task,
                        .outputs = net->response.targets};
}

static stonet_status stonet_transform_method(const void *state, const float *x, int64_t n,
                                             const sn_transform_request *request, float *z)
{
    const sn_stonet *net = state;
    const sn_transform_request plain = {0};
    if (request == NULL) request = &plain;
    const int threads = request->threads > 0 ? request->threads : sn_threads(NULL);
    sn_problem rows = rows_of(net, x, n);
    rows.first_row = request->first_row;
    rows.label = request->label;
    rows.y = request->y;
    if (request->impute) return sn_stonet_impute(net, &rows, request->activated, request->seed, threads, z);
    const sn_draws wanted = {request->first_draw, request->draws, request->table, request->activated,
                             request->seed};
    if (wanted.count > 0) return sn_stonet_draw(net, &rows, &wanted, threads, z);
    return sn_stonet_reduce(net, &rows, request->activated, threads, z);
}

static stonet_status stonet_predict_method(const void *state, const float *x, int64_t n, float *z,
                                           double *out)
{
    const sn_stonet *net = state;
    const sn_problem rows = rows_of(net, x, n);
    return sn_stonet_predict(net, &rows, sn_threads(NULL), z, out);
}

static stonet_status stonet_spread_method(const void *state, const float *x, int64_t n, double *out)
{
    const sn_stonet *net = state;
    const sn_problem rows = rows_of(net, x, n);
    return sn_stonet_spread(net, &rows, sn_threads(NULL), out);
}

/* ---- the model file ---------------------------------------------------------------------------------- */

/* One real fact of the fit; NaN (nothing was measured) is left out. */
static stonet_status put_fact(sn_store *store, const char *key, double value)
{
    return isfinite(value) ? sn_store_put_real(store, key, value) : STONET_OK;
}

static stonet_status get_fact(const sn_store *store, const char *key, double *value)
{
    *value = (double)NAN;
    return sn_store_find_text(store, key) != NULL ? sn_store_get_real(store, key, value) : STONET_OK;
}

/* An estimate is up to six facts; files of 0.2 have no interval. */
// NOLINTBEGIN(bugprone-macro-parentheses): a member has none
#define FACT(name)                                                                                           \
    {                                                                                                        \
#name, offsetof(sn_stonet, name)                                                                     \
    }
#define ESTIMATE(name)                                                                                       \
    {#name "_loss", offsetof(sn_stonet, name.loss)}, {#name "_loss_se", offsetof(sn_stonet, name.loss_se)},  \
        {#name "_error", offsetof(sn_stonet, name.error)},                                                   \
        {#name "_error_se", offsetof(sn_stonet, name.error_se)},                                             \
        {#name "_low", offsetof(sn_stonet, name.low)},                                                       \
    {                                                                                                        \
#name "_high", offsetof(sn_stonet, name.high)                                                        \
    }
// NOLINTEND(bugprone-macro-parentheses)
static const struct fact {
    const char *key;
    size_t at;
} facts[] = {FACT(lr),
             FACT(weight_decay),
             FACT(epochs),
             FACT(training_loss),
             ESTIMATE(held_out),
             ESTIMATE(held_out_constant),
             ESTIMATE(held_out_linear)};
enum { FACTS = sizeof facts / sizeof *facts };

/* All that load_into reads. Numbers that are not finite are not written (put_fact), and load as NaN. */
static stonet_status stonet_save_method(const void *state, sn_store *store)
{
    const sn_stonet *net = state;
    const int layers = net->network.shape.layers;
    SN_TRY(sn_network_put(&net->network, store));
    SN_TRY(sn_front_put(net->front, store));
    SN_TRY(sn_response_put(&net->response, store));
    SN_TRY(sn_axes_put(&net->axes, store));
    SN_TRY(sn_store_put_vector(store, "variances", SN_F64, layers, net->dynamics.s));
    SN_TRY(sn_store_put_vector(store, "latent_steps", SN_F64, layers, net->dynamics.epsilon));
    SN_TRY(sn_store_put_vector(store, "frictions", SN_F64, layers, net->dynamics.alpha));
    SN_TRY(sn_store_put_int(store, "sweeps", net->dynamics.sweeps));
    SN_TRY(sn_words_put(&sn_integrator_words, store, "integrator", net->dynamics.integrator));
    SN_TRY(sn_words_put(&sn_start_words, store, "start", net->dynamics.start));
    SN_TRY(sn_store_put_int(store, "batch", net->batch));
    SN_TRY(sn_store_put_int(store, "iterations", net->iterations));
    SN_TRY(sn_store_put_int(store, "settings_tried", net->settings_tried));
    SN_TRY(sn_store_put_text(store, "engine", net->engine->name));
    for (int k = 0; k < FACTS; k++)
        SN_TRY(put_fact(store, facts[k].key, *(const double *)((const char *)net + facts[k].at)));
    if (net->neighbours != NULL) SN_TRY(sn_store_put_text(store, "choice", net->neighbours));
    SN_TRY(sn_store_put_int(store, "held_out_rows", net->held_out_rows));
    SN_TRY(put_fact(store, "residual_p", net->residual_p));
    if (net->select_penalty > 0.0) SN_TRY(put_fact(store, "select_penalty", net->select_penalty));
    return put_fact(store, "smallest_step", net->smallest_step);
}

/* s, epsilon and alpha of each layer, and how latents are imputed, so that a loaded model can impute and draw
   as in training. */
static stonet_status load_dynamics(const sn_store *store, const sn_shape *shape, sn_dynamics *dynamics)
{
    const char *const names[] = {"variances", "latent_steps", "frictions"};
    double *const into[] = {dynamics->s, dynamics->epsilon, dynamics->alpha};
    for (int k = 0; k < 3; k++) {
        const sn_tensor *tensor;
        SN_TRY(sn_store_get_vector(store, names[k], SN_F64, shape->layers, &tensor));
        SN_TRY(sn_tensor_check_finite(tensor));
        memcpy(into[k], tensor->data, (size_t)shape->layers * sizeof(double));
    }
    int64_t sweeps;
    SN_TRY(sn_store_get_int(store, "sweeps", 1, 65535, &sweeps));
    dynamics->sweeps = (int)sweeps;
    int integrator, start;
    SN_TRY(sn_words_get(&sn_integrator_words, store, "integrator", &integrator));
    SN_TRY(sn_words_get(&sn_start_words, store, "start", &start));
    dynamics->integrator = (sn_integrator)integrator;
    dynamics->start = (sn_start)start;
    return STONET_OK;
}

/* The order matters: the network gives the sizes by which all that follows is checked. Keys that older
   versions did not write are optional. */
static stonet_status load_into(const sn_store *store, sn_stonet *net)
{
    const sn_shape *shape = &net->network.shape;
    const char *engine;
    SN_TRY(sn_network_get(store, &net->network));
    if (shape->layers < 2 || shape->linear_layer != 0 || net->network.scaling.columns > 0)
        return sn_fail(STONET_ERROR_FORMAT, "the model's network is not one of a StoNet");
    SN_TRY(sn_front_get(store, &net->front));
    if (net->front != NULL && net->front->outputs != shape->width[0])
        return sn_fail(STONET_ERROR_FORMAT, "the model's front and its network do not fit together");
    const int64_t units = shape->width[shape->layers - 1];
    SN_TRY(sn_response_get(store, shape->width[shape->layers], units, &net->response));
    net->network.shape.spread = net->response.kind == SN_RESPONSE_LOCATION_SCALE;
    SN_TRY(sn_axes_get(store, units, &net->axes));
    const bool made = net->axes.q > 0 && net->axes.of == SN_UNITS_ACTIVATED;
    if (!made && net->response.kind != SN_RESPONSE_MEAN)
        return sn_fail(STONET_ERROR_FORMAT, "the model's response and its Z do not belong together");
    SN_TRY(load_dynamics(store, shape, &net->dynamics));
    SN_TRY(sn_store_get_text(store, "engine", &engine));
    net->engine = sn_engine_find(engine);
    if (net->engine == NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "the model is of the engine '%.40s', which this build does not have", engine);
    if (!sn_engine_usable(net->engine)) net->engine = &sn_engine_cpu; /* it was fitted where there is a GPU */
    SN_TRY(sn_store_get_int(store, "batch", 1, INT64_MAX, &net->batch));
    SN_TRY(sn_store_get_int(store, "iterations", 0, INT64_MAX, &net->iterations));
    SN_TRY(sn_store_get_int(store, "settings_tried", 0, INT64_MAX, &net->settings_tried));
    for (int k = 0; k < FACTS; k++)
        SN_TRY(get_fact(store, facts[k].key, (double *)((char *)net + facts[k].at)));
    SN_TRY(sn_text_copy(sn_store_find_text(store, "choice"), &net->neighbours)); /* not in files of 0.2 */
    if (sn_store_find_text(store, "held_out_rows") != NULL)                      /* not in files of 0.1 */
        SN_TRY(sn_store_get_int(store, "held_out_rows", 0, INT64_MAX, &net->held_out_rows));
    SN_TRY(get_fact(store, "residual_p", &net->residual_p));
    if (sn_store_find_text(store, "select_penalty") != NULL)
        SN_TRY(get_fact(store, "select_penalty", &net->select_penalty));
    SN_TRY(get_fact(store, "smallest_step", &net->smallest_step));
    return sn_stonet_fold(net);
}

static stonet_status stonet_load_method(const sn_store *store, void **state)
{
    SN_AUTO(sn_stonet) *net = NULL;
    SN_TRY(SN_NEW(net, 1));
    SN_TRY(load_into(store, net));
    return SN_GIVE(net, state);
}

static void stonet_free_method(void *state)
{
    sn_stonet_free(state);
}

static sn_sizes stonet_sizes_method(const void *state)
{
    const sn_stonet *net = state;
    return (sn_sizes){.inputs = inputs_of(net), .dim = sn_stonet_dim(net), .outputs = net->response.targets};
}

static void stonet_features_method(const void *state, bool *used)
{
    const sn_stonet *net = state;
    const bool some = net->front != NULL && net->front->ops == &sn_front_columns;
    for (int64_t j = 0; j < inputs_of(net); j++) used[j] = !some;
    for (int64_t k = 0; some && k < net->front->outputs; k++)
        used[sn_front_columns_list(net->front)[k]] = true;
}

static const char *stonet_history_method(const void *state)
{
    return sn_network_history(&((const sn_stonet *)state)->network);
}

const sn_method sn_method_stonet = {
    .name = "stonet",
    .title = "Stochastic neural network (Liang, Sun and Liang 2022)",
    .python = "StoNetClassifier|StoNetRegressor",
    .tasks = SN_TASK_BOTH | SN_TASK_LAWS,
    .multi_output = true,
    .weighted = true,
    .by_rows = true,
    .redraws = true,
    .joins = sn_joint_suits,
    .shares = true,
    .keeps = true,
    .chooses_levels = true,
    .effort = 4.0,
    .params = sn_stonet_params,
    .n_params = SN_STONET_PARAMS,
    /* a fit chooses weight decay, epochs and activation by itself */
    .grid = {{"hidden=auto;none", SN_TASK_BOTH}},
    .fit = stonet_fit_method,
    .fit_more = stonet_fit_more_method,
    .transform = stonet_transform_method,
    .has_draws = true,
    .predict = stonet_predict_method,
    .spread = stonet_spread_method,
    .save = stonet_save_method,
    .load = stonet_load_method,
    .free = stonet_free_method,
    .sizes = stonet_sizes_method,
    .features = stonet_features_method,
    .history = stonet_history_method,
};
