/*
 * Autoencoder p - h - q - h - p: tanh layers and a linear output, trained to give back its standardised input
 * in the mean-squared sense. Z is the bottleneck's q activations, what the decoder sees.
 *
 * The comparator of the StoNet paper has tanh on the output too, and so needs data squeezed into (-1, 1);
 * here the inputs are standardised and the output is linear, which loses no range. It is trained by Adam
 * rather than plain descent: with the loss averaged over p outputs, plain steps of a usual size hardly move
 * when p is large.
 */
#include "base/memory.h"
#include "methods/method.h"
#include "net/plain_train.h"

enum { LAYERS = 4, BOTTLENECK = 2, USUAL_HIDDEN = 200 };

static const sn_param params[] = {
    {"hidden", SN_INTEGER, "auto", 1, 1e6, "auto",
     "units between input and bottleneck (auto: (p + q) / 2, at most 200 but no fewer than q)"},
    {"epochs", SN_INTEGER, "100", 1, 1e7, NULL, "passes over the training rows"},
    {"batch", SN_INTEGER, "128", 1, 1e7, NULL, "rows of a mini-batch"},
    {"rate", SN_REAL, "0.001", 1e-12, 1e3, NULL, "learning rate (Adam)"},
    {"momentum", SN_REAL, "0.9", 0, 0.9999, NULL, "momentum of the gradient (Adam's first moment)"},
    {"decay", SN_REAL, "0", 0, 1e3, NULL, "weight decay: each step also takes rate x decay off the weights"},
};

/* The input is also the target: `itself` has p outputs and no y, which the trainer reads as its standardised
   x. The response of the problem is not used. */
static stonet_status autoencoder_fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                                     const stonet_run *run, sn_fit_result *result)
{
    const int64_t p = problem->p, middle = (p + dim) / 2 < USUAL_HIDDEN ? (p + dim) / 2 : USUAL_HIDDEN,
                  hidden = !sn_is(settings, "hidden", "auto") ? sn_int(settings, "hidden")
                           : middle > dim                     ? middle
                                                              : dim;
    SN_AUTO(sn_network) *net = NULL;
    if (problem->n < 1) return sn_fail(STONET_ERROR_DATA, "autoencoder: there are no rows to fit on");
    SN_TRY(SN_NEW(net, 1));
    net->shape = (sn_shape){.layers = LAYERS, .width = {p, hidden, dim, hidden, p}, .activation = SN_TANH};
    SN_TRY(sn_network_start(net, run->seed));
    SN_TRY(sn_scaling_learn(&net->scaling, problem->x, problem->n, p));
    sn_problem itself = {.n = problem->n, .p = p, .x = problem->x, .outputs = p};
    const sn_training training = sn_training_of(settings, "autoencoder", SN_ADAM, 0);
    SN_TRY(sn_network_train(net, &itself, &training, run, &result->outcome));
    result->dim = dim;
    return SN_GIVE(net, &result->state);
}

static stonet_status autoencoder_transform(const void *state, const float *x, int64_t n,
                                           const sn_transform_request *request, float *z)
{
    (void)request;
    return sn_network_forward(state, x, n, BOTTLENECK, true, z);
}

static stonet_status autoencoder_load(const sn_store *store, void **state)
{
    return sn_network_load_as(store, "autoencoder", LAYERS, false, state);
}

static sn_sizes autoencoder_sizes(const void *state)
{
    const int64_t *width = ((const sn_network *)state)->shape.width;
    return (sn_sizes){.inputs = width[0], .dim = width[BOTTLENECK]};
}

const sn_method sn_method_autoencoder = {
    .name = "autoencoder",
    .title = "Autoencoder with one hidden layer on each side of the bottleneck",
    .python = "Autoencoder",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .unsupervised = true,
    SN_PARAMS_OF(params),
    .grid = {{"hidden=auto,50", SN_TASK_BOTH}, {"rate=0.001,0.01", SN_TASK_BOTH}},
    .fit = autoencoder_fit,
    .transform = autoencoder_transform,
    .save = sn_network_save,
    .load = autoencoder_load,
    .free = sn_network_free,
    .sizes = autoencoder_sizes,
    .history = sn_network_history,
};
