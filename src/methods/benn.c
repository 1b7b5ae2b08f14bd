/*
 * Belted and ensembled neural network (Tang and Li 2025): an encoder f_D to q numbers, the belt, and a second
 * network f_E from them to many functions of the response at once,
 *
 *     minimise  mean_i |g(y_i) - f_E(f_D(x_i))|^2,    Z = f_D(x)
 *
 *     p - hidden - .. - q (linear) - units - transforms
 *
 * so that Z holds what x says about every g(y), hence about the law of y and not its mean alone. The
 * functions are Gaussians g_j(y) = exp(-(y - t_j)^2 / 2), y with variance 1, t_j uniform on (-2, 2) (several
 * targets take turns); or the powers y, y^2, ..; or, for classes, the indicators. Only the encoder is kept.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/noise.h"
#include "methods/network_state.h"
#include "net/plain_train.h"

enum { USUAL_BATCH = 10000, MOST_ENCODER_LAYERS = 8 };

static const sn_param params[] = {
    {"hidden", SN_INTEGERS, "50,50", 1, 1e5, "none",
     "units of the encoder's hidden layers (none: Z is a linear function of x)"},
    {"units", SN_INTEGER, "2000", 1, 1e6, NULL, "hidden units between Z and the functions of the response"},
    {"ensemble", SN_CHOICE, "gaussian", 0, 0, "gaussian|powers",
     "functions of a numeric response: Gaussians at random places, or y, y^2, .."},
    {"transforms", SN_INTEGER, "1000", 1, 1e5, NULL, "how many of them (powers: at most 10)"},
    {"epochs", SN_INTEGER, "150", 1, 1e7, NULL, "passes over the training rows"},
    {"batch", SN_INTEGER, "auto", 1, 1e7, "auto", "rows of a mini-batch (auto: all, at most 10,000)"},
    {"rate", SN_REAL, "0.001", 1e-12, 1e3, NULL, "learning rate (Adam)"},
    {"decay", SN_REAL, "0", 0, 1e3, NULL, "weight decay: each step also takes rate x decay off the weights"},
};

/* ---- functions of the response ----------------------------------------------------------------- */

static stonet_status fill_gaussians(const sn_problem *problem, int64_t count, uint64_t seed, double *g)
{
    SN_ARRAY(count, double, place);
    sn_random random = sn_random_from(seed, SN_STREAM_FEATURES, 0);
    for (int64_t j = 0; j < count; j++) place[j] = 4.0 * sn_random_uniform(&random) - 2.0;
    for (int64_t i = 0; i < problem->n; i++)
        for (int64_t j = 0; j < count; j++) {
            const double away = problem->y[i * problem->outputs + j % problem->outputs] - place[j];
            g[i * count + j] = exp(-0.5 * away * away);
        }
    return STONET_OK;
}

/* Powers of each target, every one scaled to variance 1: a plain y^3 would outweigh the rest. */
static stonet_status fill_powers(const sn_problem *problem, int64_t count, double *g)
{
    const int64_t n = problem->n, m = problem->outputs;
    for (int64_t j = 0; j < count; j++) {
        const int64_t power = 1 + j / m;
        double sum = 0.0, squares = 0.0;
        for (int64_t i = 0; i < n; i++)
            sum += g[i * count + j] = pow(problem->y[i * m + j % m], (double)power);
        const double mean = sum / (double)n;
        for (int64_t i = 0; i < n; i++) squares += (g[i * count + j] - mean) * (g[i * count + j] - mean);
        if (!(squares > 0.0) || !isfinite(squares))
            return sn_fail(STONET_ERROR_DATA,
                           "benn: power %lld of the response is constant or overflows; use ensemble=gaussian",
                           (long long)power);
        const double sd = sqrt(squares / (double)n);
        for (int64_t i = 0; i < n; i++) g[i * count + j] = (g[i * count + j] - mean) / sd;
    }
    return STONET_OK;
}

/* What the network is to give for each row: *g, an array of `keep`, n x *count. */
static stonet_status make_transforms(const sn_problem *problem, const sn_settings *settings, uint64_t seed,
                                     sn_workspace *keep, int64_t *count, double **g)
{
    const bool classes = problem->task == SN_CLASSIFICATION, powers = sn_is(settings, "ensemble", "powers");
    int64_t wanted = sn_int(settings, "transforms");
    if (powers && !sn_was_set(settings, "transforms")) wanted = 2;
    if (powers && wanted > 10)
        return sn_fail(STONET_ERROR_ARGUMENT, "benn: ensemble=powers takes at most 10 transforms, not %lld",
                       (long long)wanted);
    *count = classes ? problem->outputs : powers ? wanted * problem->outputs : wanted;
    SN_TRY(sn_memory_require(8 * (uint64_t)problem->n * (uint64_t)*count, "the functions of the response",
                             "set transforms lower or use fewer rows"));
    SN_TRY(SN_TAKE(keep, *g, problem->n * *count));
    if (classes) {
        memset(*g, 0, (size_t)(problem->n * *count) * sizeof **g);
        for (int64_t i = 0; i < problem->n; i++) (*g)[i * *count + problem->label[i]] = 1.0;
        return STONET_OK;
    }
    return powers ? fill_powers(problem, *count, *g) : fill_gaussians(problem, *count, seed, *g);
}

/* ---- fit --------------------------------------------------------------------------------------- */

/*
 * Small starting weights and biases, uniform within 1 / sqrt(inputs), a sixth of the variance that the other
 * networks of the house start with: from larger ones the wide network behind the belt fits the rows' noise
 * before the encoder has learnt anything (distance correlation with the truth, docs/sufficiency.md: .2 for
 * .6).
 */
static void start_small(const sn_shape *shape, uint64_t seed, float *theta)
{
    sn_random random = sn_random_from(seed, SN_STREAM_WEIGHTS, 1);
    for (int i = 0; i < shape->layers; i++) {
        const double bound = 1.0 / sqrt((double)shape->width[i]);
        const int64_t end = shape->bias_at[i] + shape->width[i + 1];
        for (int64_t k = shape->weight_at[i]; k < end; k++)
            theta[k] = (float)(bound * (2.0 * sn_random_uniform(&random) - 1.0));
    }
}

/* Trains a network p - hidden - .. - dim - units - functions, with a linear belt, by least squares. The
   layers up to the belt become those of a network of their own. */
static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    if (problem->n < 1) return sn_fail(STONET_ERROR_DATA, "benn: there are no rows to fit on");
    SN_WORKSPACE(scratch);
    SN_AUTO(sn_network) *encoder = NULL;
    SN_FREED_BY(sn_network_clear) sn_network whole = {0};
    SN_TRY(SN_NEW(encoder, 1));
    sn_problem functions = {.n = problem->n, .p = problem->p, .x = problem->x};
    double *g = NULL;
    size_t hidden;
    const double *units = sn_list(settings, "hidden", &hidden);
    SN_TRY(make_transforms(problem, settings, run->seed, &scratch, &functions.outputs, &g));
    functions.y = g;
    if (hidden > MOST_ENCODER_LAYERS)
        return sn_fail(STONET_ERROR_ARGUMENT, "benn: hidden takes at most %d layers", MOST_ENCODER_LAYERS);
    const int belt = (int)hidden + 1;
    sn_shape *shape = &whole.shape;
    *shape =
        (sn_shape){.layers = belt + 2, .width = {problem->p}, .activation = SN_RELU, .linear_layer = belt};
    for (int k = 1; k < belt; k++) shape->width[k] = (int64_t)units[k - 1];
    shape->width[belt] = dim;
    shape->width[belt + 1] = sn_int(settings, "units");
    shape->width[belt + 2] = functions.outputs;
    SN_TRY(sn_network_start(&whole, run->seed));
    start_small(shape, run->seed, whole.theta);
    const int64_t usual = problem->n < USUAL_BATCH ? problem->n : USUAL_BATCH;
    const sn_training training = sn_training_of(settings, "benn", SN_ADAM, usual);
    SN_TRY(sn_network_train(&whole, &functions, &training, run, &result->outcome));
    encoder->shape = *shape;
    encoder->shape.layers = belt;
    encoder->shape.linear_layer = 0;
    SN_TRY(sn_shape_layout(&encoder->shape));
    SN_TRY(SN_NEW(encoder->theta, encoder->shape.parameters));
    memcpy(encoder->theta, whole.theta, (size_t)encoder->shape.parameters * sizeof *encoder->theta);
    encoder->history = whole.history;
    whole.history = (sn_epoch_log){0};
    result->dim = dim;
    return SN_GIVE(encoder, &result->state);
}

const sn_method sn_method_benn = {
    .name = "benn",
    .title = "Belted and ensembled neural network (Tang and Li 2025)",
    .python = "BENN",
    .effort = 2.0,
    .grid = {{"epochs=50,150,500", SN_TASK_BOTH}, {"decay=0,0.1", SN_TASK_BOTH}},
    SN_ENCODER_METHOD,
};
