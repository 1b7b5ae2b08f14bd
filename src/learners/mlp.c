/*
 * A plain network of tanh layers trained by stochastic gradient descent with momentum: one hidden layer of 50
 * units unless told otherwise, cross-entropy for classes, mean squared error for numbers, inputs
 * standardised.
 */
#include "base/memory.h"
#include "learners/learner.h"
#include "net/plain_train.h"

static const sn_param params[] = {
    {"hidden", SN_INTEGERS, "50", 1, 1e6, NULL, "units of the hidden layers, first layer first"},
    {"epochs", SN_INTEGER, "300", 1, 1e7, NULL, "passes over the training rows"},
    {"batch", SN_INTEGER, "128", 1, 1e7, NULL, "rows of a mini-batch"},
    {"rate", SN_REAL, "0.01", 1e-12, 1e3, NULL, "learning rate"},
    {"momentum", SN_REAL, "0.9", 0, 0.9999, NULL, "momentum of the gradient descent"},
    {"decay", SN_REAL, "0", 0, 1e3, NULL,
     "weight decay (half the weight of the squared weights in the loss)"},
};

static stonet_status mlp_fit(const sn_problem *problem, const sn_settings *settings, const stonet_run *run,
                             void **state)
{
    SN_AUTO(sn_network) *net = NULL;
    stonet_outcome outcome;
    size_t hidden;
    const double *widths = sn_list(settings, "hidden", &hidden);
    if (problem->n < 1) return sn_fail(STONET_ERROR_DATA, "mlp: there are no rows to fit on");
    if (hidden + 1 > SN_MAX_LAYERS)
        return sn_fail(STONET_ERROR_ARGUMENT, "mlp: hidden lists %zu layers; at most %d are possible", hidden,
                       SN_MAX_LAYERS - 1);
    SN_TRY(SN_NEW(net, 1));
    net->shape = (sn_shape){
        .layers = (int)hidden + 1, .width = {problem->p}, .activation = SN_TANH, .task = problem->task};
    for (size_t i = 0; i < hidden; i++) net->shape.width[i + 1] = (int64_t)widths[i];
    net->shape.width[hidden + 1] = problem->outputs;
    SN_TRY(sn_network_start(net, run != NULL ? run->seed : 1));
    SN_TRY(sn_scaling_learn(&net->scaling, problem->x, problem->n, problem->p));
    const sn_training training = sn_training_of(settings, "mlp", SN_SGD, 0);
    SN_TRY(sn_network_train(net, problem, &training, run, &outcome));
    return SN_GIVE(net, state);
}

static sn_sizes mlp_sizes(const void *state)
{
    const sn_network *net = state;
    return (sn_sizes){.inputs = net->shape.width[0], .outputs = net->shape.width[net->shape.layers]};
}

const sn_learner sn_learner_mlp = {
    .name = "mlp",
    .title = "Neural network of tanh layers by stochastic gradient descent",
    .tasks = SN_TASK_BOTH,
    SN_PARAMS_OF(params),
    .fit = mlp_fit,
    .predict = sn_network_predict,
    .save = sn_network_save,
    .load = sn_network_load,
    .free = sn_network_free,
    .sizes = mlp_sizes,
};
