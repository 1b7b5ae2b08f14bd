/*
 * Deep nonlinear sufficient dimension reduction by the generalised martingale difference divergence (Chen,
 * Jiao, Qiu and Yu 2024), in its sequential form: direction after direction, a network z = f_i(x) of one
 * output is trained, on batches of b rows, to
 *
 *     minimise  1/b^2 sum_kl zc_k zc_l rho(y_k, y_l) + lambda (var z - 1)^2 + ortho sum_{j<i} cov(z, z_j)^2
 *
 * zc = z - mean z. The first term is at most 0, and 0 only when E(z | y) is constant; rho is |y - y'|, one of
 * the other distances of the table below, or 1{y != y'} for classes. lambda is tiny by default: it
 * only keeps z from growing for ever. Then z is scaled to variance 1. `ortho` is the divergence of the first
 * direction, made larger and the direction fitted anew while the correlations are still large.
 *
 * The networks of all directions are put side by side into one, with zero weights between them: Z is the
 * output of a plain network.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/workspace.h"
#include "methods/gmddnet_loss.h"
#include "methods/network_state.h"
#include "net/plain_train.h"

enum { NARROWEST = 16, WIDEST = 512, MOST_REFITS = 8 };

static const double CORRELATED =
    0.316;                          /* |corr - I|_F / directions from which on a direction is fitted anew */
static const double STRONGER = 2.0; /* what ortho is then multiplied by */

#define DISTANCES "absolute|log|cauchy|gaussian|power"

static const sn_param params[] = {
    {"hidden", SN_INTEGERS, "auto", 1, 1e5, "auto|none",
     "units of the hidden layers (auto: a power of two above p, twice it, and down to 16; none: linear)"},
    {"distance", SN_CHOICE, "absolute", 0, 0, DISTANCES,
     "of two numeric responses d apart: d, log(1+d^2/2), d^2/(1+d^2), 1-exp(-d^2/2), d^1.5"},
    {"penalty", SN_REAL, "1e-6", 0, 1e6, NULL, "lambda: what a variance of Z other than 1 costs in training"},
    {"epochs", SN_INTEGER, "100", 1, 1e7, NULL, "passes over the training rows, each direction"},
    {"batch", SN_INTEGER, "100", 4, 1e5, NULL, "rows of a mini-batch"},
    {"rate", SN_REAL, "0.001", 1e-12, 1e3, NULL, "learning rate (Adam)"},
    {"decay", SN_REAL, "0", 0, 1e3, NULL, "weight decay: each step also takes rate x decay off the weights"},
};

/* ---- one direction ----------------------------------------------------------------------------- */

/* What is shared by the directions of one fit. */
typedef struct stage {
    const sn_problem *problem;
    const sn_settings *settings;
    const stonet_run *run;
    int64_t dim;
    sn_shape shape; /* of one direction */
    sn_divergence loss;
    float *z;             /* n x dim: the directions that are done, in the first columns */
    float *done;          /* n x before: the same, closely packed, for the loss */
    float *now;           /* n: the direction being fitted */
    sn_network *one;      /* dim: of each direction */
    sn_epoch_log history; /* of all directions and refits */
} stage;

/* Layers of one direction: p, hidden, 1. auto: the least power of two above p (16 to 512), twice that, then
   halves down to 16. */
static stonet_status make_shape(const sn_settings *settings, int64_t p, sn_shape *shape)
{
    size_t given;
    const double *units = sn_list(settings, "hidden", &given);
    int layers = 0;
    *shape = (sn_shape){.activation = SN_RELU, .width = {p}};
    if (given > SN_MAX_LAYERS - 1)
        return sn_fail(STONET_ERROR_ARGUMENT, "gmddnet: hidden takes at most %d layers", SN_MAX_LAYERS - 1);
    for (size_t k = 0; k < given; k++) shape->width[++layers] = (int64_t)units[k];
    if (sn_is(settings, "hidden", "auto")) {
        int64_t width = NARROWEST;
        while (width <= p && width < WIDEST) width *= 2;
        shape->width[++layers] = width;
        for (int64_t w = 2 * width; w >= NARROWEST; w /= 2) shape->width[++layers] = w;
    }
    shape->width[++layers] = 1;
    shape->layers = layers;
    return STONET_OK;
}

/* z to mean 0 and variance 1 over the rows, by the last layer's weights and bias; s->now gets it. */
static stonet_status standardise(const stage *s, sn_network *net)
{
    const sn_shape *shape = &net->shape;
    const int64_t n = s->problem->n, last = shape->layers - 1;
    SN_TRY(sn_network_forward(net, s->problem->x, n, shape->layers, false, s->now));
    double mean = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) mean += (double)s->now[i] / (double)n;
    for (int64_t i = 0; i < n; i++) squares += ((double)s->now[i] - mean) * ((double)s->now[i] - mean);
    const double factor = squares > 0.0 ? sqrt((double)n / squares) : 0.0;
    if (!(factor > 0.0) || !isfinite(factor))
        return sn_fail(
            STONET_ERROR_NUMERIC,
            "gmddnet: a direction became constant: the response may not depend on x, or the rate is "
            "too large");
    float *weight = net->theta + shape->weight_at[last], *bias = net->theta + shape->bias_at[last];
    for (int64_t k = 0; k < shape->width[last]; k++) weight[k] = (float)((double)weight[k] * factor);
    *bias = (float)(((double)*bias - mean) * factor);
    return sn_network_forward(net, s->problem->x, n, shape->layers, false, s->now);
}

/* Trains the network of one direction from one start. The history goes on over the directions. */
static stonet_status fit_once(stage *s, uint64_t seed, sn_network *net, stonet_outcome *outcome)
{
    stonet_run own = *s->run;
    char name[32];
    own.seed = seed;
    sn_format(name, sizeof name, "gmddnet direction %lld", (long long)s->loss.before + 1);
    const sn_batch_loss joint = {sn_divergence_batch, &s->loss};
    sn_training training = sn_training_of(s->settings, name, SN_ADAM, 0);
    training.joint = &joint;
    net->shape = s->shape;
    SN_TRY(sn_network_start(net, seed));
    net->history = s->history;
    stonet_status status = sn_network_train(net, s->problem, &training, &own, outcome);
    s->history = net->history;
    net->history = (sn_epoch_log){0};
    return status == STONET_OK ? standardise(s, net) : status;
}

/* The direction after those that are done. */
static stonet_status fit_direction(stage *s, sn_network *net, stonet_outcome *outcome)
{
    for (int refit = 0;; refit++) {
        SN_TRY(fit_once(s, s->run->seed + (uint64_t)s->loss.before, net, outcome));
        /* |corr - I|_F / (before + 1): those that are done are uncorrelated enough among themselves */
        const int64_t n = s->problem->n, before = s->loss.before;
        double squares = 0.0;
        for (int64_t j = 0; j < before; j++) {
            double sum = 0.0;
            for (int64_t i = 0; i < n; i++)
                sum += (double)s->now[i] * (double)s->done[i * before + j] / (double)n;
            squares += 2.0 * sum * sum;
        }
        const double correlated = sqrt(squares) / (double)(before + 1);
        if (correlated < CORRELATED || *outcome != STONET_DONE) return STONET_OK;
        if (refit == MOST_REFITS) {
            sn_message(s->run, STONET_WARNING,
                       "gmddnet: direction %lld is nearly the same as an earlier one (correlation %.2f): the "
                       "response may need fewer dimensions",
                       (long long)s->loss.before + 1, correlated);
            return STONET_OK;
        }
        s->loss.ortho *= STRONGER;
        sn_network_clear(net);
    }
}

/* Notes the direction at hand as done. `ortho` becomes -divergence of the first one, over all rows in pieces
   of a batch. */
static void keep_direction(stage *s)
{
    enum { MOST = 1024 };
    const int64_t n = s->problem->n, before = s->loss.before, batch = sn_int(s->settings, "batch"),
                  piece = batch < MOST ? batch : MOST;
    int64_t rows[MOST], pieces = 0;
    double sum = 0.0;
    for (int64_t first = 0; before == 0 && first < n && (pieces == 0 || first + piece <= n); first += piece) {
        const int64_t count = n - first < piece ? n - first : piece;
        for (int64_t k = 0; k < count; k++) rows[k] = first + k;
        sum -= sn_divergence_dependence(&s->loss, s->problem, rows, count, s->now + first);
        pieces++;
    }
    if (before == 0) s->loss.ortho = fmax(sum / (double)pieces, 1e-6);
    for (int64_t i = 0; i < n; i++) {
        s->z[i * s->dim + before] = s->now[i];
        for (int64_t j = 0; j <= before; j++) s->done[i * (before + 1) + j] = s->z[i * s->dim + j];
    }
    s->loss.before = before + 1;
    s->loss.z = s->done;
}

/* ---- all of them ------------------------------------------------------------------------------- */

/* The `count` directions side by side in one network. */
static stonet_status join(const stage *s, int64_t count, sn_network *all)
{
    const sn_shape *from = &s->one->shape, *to = &all->shape;
    all->shape = s->shape;
    for (int i = 1; i <= s->shape.layers; i++) all->shape.width[i] *= count;
    SN_TRY(sn_shape_layout(&all->shape));
    SN_TRY(SN_NEW(all->theta, all->shape.parameters));
    for (int64_t at = 0; at < count; at++)
        for (int i = 0; i < from->layers; i++) {
            const float *theta = s->one[at].theta;
            const int64_t in = from->width[i], out = from->width[i + 1], column = i == 0 ? 0 : at * in;
            for (int64_t k = 0; k < out; k++) {
                const int64_t row = at * out + k;
                memcpy(all->theta + to->weight_at[i] + row * to->width[i] + column,
                       theta + from->weight_at[i] + k * in, (size_t)in * sizeof *all->theta);
                all->theta[to->bias_at[i] + row] = theta[from->bias_at[i] + k];
            }
        }
    return STONET_OK;
}

static void clear_stage(stage *s)
{
    for (int64_t k = 0; s->one != NULL && k < s->dim; k++) sn_network_clear(s->one + k);
    sn_epoch_log_free(&s->history);
}

/* As many directions as there is time for, side by side in one network. */
static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    static const char *const words[] = {"absolute", "log", "cauchy", "gaussian", "power"};
    if (problem->n < 4)
        return sn_fail(STONET_ERROR_DATA,
                       "gmddnet compares rows with each other and needs at least 4 rows, not %lld",
                       (long long)problem->n);
    SN_WORKSPACE(scratch);
    SN_FREED_BY(clear_stage)
    stage s = {.problem = problem, .settings = settings, .run = run, .dim = dim};
    SN_AUTO(sn_network) *all = NULL;
    SN_TRY(SN_NEW(all, 1));
    SN_TRY(make_shape(settings, problem->p, &s.shape));
    SN_TRY(SN_TAKE_EACH(&scratch, sn_int(settings, "batch"), &s.loss.centred, &s.loss.pull));
    SN_TRY(SN_TAKE(&scratch, s.z, problem->n * dim));
    SN_TRY(SN_TAKE(&scratch, s.done, problem->n * dim));
    SN_TRY(SN_TAKE(&scratch, s.now, problem->n));
    SN_TRY(SN_TAKE_ZERO(&scratch, s.one, dim));
    s.loss.penalty = sn_real(settings, "penalty");
    s.loss.ortho = 1.0;
    for (int k = 0; k < (int)(sizeof words / sizeof *words); k++)
        if (sn_is(settings, "distance", words[k])) s.loss.kind = (sn_distance)k;
    result->outcome = STONET_DONE;
    for (result->dim = 0; result->dim < dim && result->outcome != STONET_STOPPED; result->dim++) {
        stonet_outcome this_one = STONET_DONE;
        SN_TRY(fit_direction(&s, s.one + result->dim, &this_one));
        keep_direction(&s);
        if (this_one != STONET_DONE) result->outcome = this_one;
    }
    SN_TRY(join(&s, result->dim, all));
    all->history = s.history;
    s.history = (sn_epoch_log){0};
    return SN_GIVE(all, &result->state);
}

const sn_method sn_method_gmddnet = {
    .name = "gmddnet",
    .title = "Deep reduction by the generalised martingale difference divergence (Chen, Jiao, Qiu, Yu 2024)",
    .python = "GMDDNet",
    .effort = 1.0,
    .grid = {{"epochs=20,100", SN_TASK_BOTH}, {"decay=0,0.1", SN_TASK_BOTH}},
    SN_ENCODER_METHOD,
};
