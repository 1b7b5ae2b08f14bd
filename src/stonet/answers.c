/* A fitted network at work, through its engine: passes, draws, and imputation given the response. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/settle.h"
#include "net/activation.h"
#include "net/loss.h"
#include "stonet/fitted.h"

const sn_estimate sn_no_estimate = {NAN, NAN, NAN, NAN, NAN, NAN};

void sn_stonet_free(sn_stonet *net)
{
    if (net == NULL) return;
    sn_front_free(net->front);
    sn_network_clear(&net->network);
    sn_free(net->folded);
    sn_axes_free(&net->axes);
    sn_response_free(&net->response);
    sn_free(net->neighbours);
    sn_free(net);
}

int64_t sn_stonet_dim(const sn_stonet *net)
{
    return net->axes.q > 0 ? net->axes.q : net->network.shape.width[net->network.shape.layers - 1];
}

/* A network that has been given parameters and rows. */
typedef struct awake {
    const sn_problem *rows;
    sn_problem seen; /* as the front shows them */
    sn_engine *engine;
} awake;

static void let_go(awake *at)
{
    sn_engine_free(at->engine);
    if (at->rows != NULL) sn_front_problem_free(at->rows, &at->seen);
}
#define AWAKE(name) SN_FREED_BY(let_go) awake name = {0}

/* y: the response as the network sees it, or NULL. */
static stonet_status wake(const sn_stonet *net, const sn_problem *problem, const double *y, uint64_t seed,
                          int threads, awake *out)
{
    sn_problem rows = *problem;
    rows.task = net->network.shape.task;
    rows.outputs = net->network.shape.width[net->network.shape.layers];
    rows.y = y;
    if (y != NULL) rows.raw = NULL;
    SN_TRY(sn_front_problem(net->front, &rows, NULL, &out->seen));
    out->rows = problem;
    SN_TRY(net->engine->create(&net->network.shape, &out->seen, seed, threads, &out->engine));
    net->engine->start(out->engine, net->network.theta);
    return STONET_OK;
}

/* mu_layer given mu_1: the layers after the first one are a network whose inputs are mu_1 and whose
   parameters are the last ones. */
static stonet_status forward_rest(const sn_stonet *net, const sn_problem *problem, const float *mu, int layer,
                                  bool activated, int threads, float *out)
{
    const sn_shape *shape = &net->network.shape;
    const sn_pass pass = {.rows = sn_rows_range(0, problem->n), .layer = layer - 1, .activated = activated};
    const sn_problem rows = {.task = shape->task,
                             .n = problem->n,
                             .p = shape->width[1],
                             .outputs = shape->width[shape->layers],
                             .x = mu};
    sn_shape rest = *shape;
    rest.layers--;
    memmove(rest.width, rest.width + 1, sizeof rest.width - sizeof *rest.width);
    rest.input_activation = sn_shape_activation(shape, 1);
    rest.linear_layer = shape->linear_layer > 1 ? shape->linear_layer - 1 : 0;
    SN_TRY(sn_shape_layout(&rest));
    const float *theta = net->network.theta + shape->weight_at[1];
    return sn_engine_forward(&(sn_use){&rows, net->engine, &rest, theta, threads}, &pass, out);
}

stonet_status sn_stonet_fold(sn_stonet *net)
{
    const sn_shape *shape = &net->network.shape;
    sn_free(net->folded);
    net->folded = NULL;
    if (net->front == NULL || net->front->ops->fold == NULL || shape->input_activation != SN_IDENTITY)
        return STONET_OK;
    return net->front->ops->fold(net->front, shape, net->network.theta, &net->folded);
}

/* Rows on their way through a network. A front that can gives mu_1 without its features, which may be many;
   otherwise the engine is given the features. Several layers of the same rows share what is made here. */
typedef struct way {
    const sn_stonet *net;
    const sn_problem *problem;
    int threads;
    float *mu; /* mu_1; NULL: by the features */
    awake at;
} way;

static void let_way_go(way *w)
{
    sn_free(w->mu);
    let_go(&w->at);
}

/* Layer `layer` of all rows. */
static stonet_status pass_on(way *w, int layer, bool activated, float *out)
{
    const sn_shape *shape = &w->net->network.shape;
    const sn_pass pass = {.rows = sn_rows_range(0, w->problem->n), .layer = layer, .activated = activated};
    if (w->mu == NULL) return w->net->engine->forward(w->at.engine, &pass, out);
    if (layer > 1) return forward_rest(w->net, w->problem, w->mu, layer, activated, w->threads, out);
    const int64_t units = w->problem->n * shape->width[1];
    memcpy(out, w->mu, (size_t)units * sizeof *out);
    if (activated) sn_activate(sn_shape_activation(shape, 1), units, out);
    return STONET_OK;
}

static stonet_status set_out(const sn_stonet *net, const sn_problem *problem, int threads, way *w)
{
    *w = (way){.net = net, .problem = problem, .threads = threads};
    if (net->folded == NULL || problem->x == NULL) return wake(net, problem, NULL, 0, threads, &w->at);
    SN_TRY(SN_NEW_RAW(w->mu, problem->n * net->network.shape.width[1]));
    return net->front->ops->first_layer(net->front, &net->network.shape, net->folded, problem->n, problem->x,
                                        w->mu);
}

/* Rows that axes are learned from, evenly over the table: at most so many, and so many numbers of Z, but some
   for each of the width^2 numbers that are estimated. Beyond that they cost time and change nothing. */
enum { AXES_ROWS = 100000, AXES_NUMBERS = 1 << 21, ROWS_A_UNIT = 20 };
enum { AXES_STEP = 1024 }; /* of them at a time: those of a table on disk lie far apart, and may rest again */

static int64_t rows_for_axes(int64_t n, int64_t width)
{
    const int64_t enough = ROWS_A_UNIT * width, affordable = AXES_NUMBERS / width;
    const int64_t most = enough > affordable ? enough : affordable, some = n < AXES_ROWS ? n : AXES_ROWS;
    return some < most ? some : most;
}

/* The axes, and the head, from the units of the rows. */
static stonet_status learn(sn_stonet *net, const sn_problem *problem, const sn_rows *rows, int64_t q,
                           sn_units of, const float *units)
{
    const sn_shape *shape = &net->network.shape;
    SN_TRY(sn_axes_learn(shape, net->network.theta, rows->n, units, of, q, &net->axes));
    if (net->axes.q == 0)
        return sn_fail(
            STONET_ERROR_NUMERIC,
            "all units of the last hidden layer are constant, so there is no Z: set a smaller weight_decay, unless all rows have the same features");
    if (net->response.kind != SN_RESPONSE_ENSEMBLE || net->response.law != NULL) return STONET_OK;
    return sn_response_fit_head(&net->response, problem, rows, shape->width[shape->layers - 1], units);
}

stonet_status sn_stonet_turn(sn_stonet *net, const sn_problem *problem, int64_t q, sn_units of, int threads)
{
    const int h = net->network.shape.layers - 1;
    const int64_t width = net->network.shape.width[h], n = rows_for_axes(problem->n, width);
    AWAKE(at);
    sn_axes_free(&net->axes);
    SN_ARRAY(n, int64_t, list);
    SN_ARRAY(n * width, float, units);
    SN_TRY(wake(net, problem, NULL, 0, threads, &at));
    const sn_rows all = sn_rows_range(0, problem->n), rows = sn_rows_evenly(&all, n, list);
    for (int64_t first = 0; first < n; first += AXES_STEP) {
        const sn_rows some = sn_rows_part(&rows, first, n - first < AXES_STEP ? n - first : AXES_STEP);
        const sn_pass pass = {.rows = some, .layer = h, .activated = of == SN_UNITS_ACTIVATED};
        SN_TRY(net->engine->forward(at.engine, &pass, units + first * width));
        sn_batch_expect(&at.seen, &some, 0, some.n, SN_ROWS_REST);
    }
    SN_TRY(learn(net, problem, &rows, q, of, units));
    sn_problem settled = *problem;
    settled.functions = NULL; /* predictions have one scale */
    if (net->response.law != NULL)
        SN_TRY(sn_settle(at.engine, h + 1, &settled, &all, SN_SETTLE_ROWS, true, net->response.parameter));
    return sn_stonet_fold(net);
}

static int64_t units_of(const sn_stonet *net)
{
    return net->network.shape.width[net->network.shape.layers - 1];
}

/* Whether units are wanted activated from the engine; `activated` for its own sake is only for a network
   whose units are as many as the columns of Z. */
static stonet_status choose_units(const sn_stonet *net, bool activated, bool *through_psi)
{
    const int64_t width = units_of(net);
    *through_psi = activated || net->axes.of == SN_UNITS_ACTIVATED;
    if (activated && net->axes.of == SN_UNITS_ACTIVATED)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "Z is made of activated units already: leave 'activated' out, or name the layers "
                       "(hidden=20) in the fit");
    if (activated && sn_stonet_dim(net) != width) /* units were added (stonet/spare_units.h) */
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "Z has %lld columns, made of %lld units: leave 'activated' out",
                       (long long)sn_stonet_dim(net), (long long)width);
    return STONET_OK;
}

/* Z from units; `activated` units are handed out as they are. */
static stonet_status hand_out(const sn_stonet *net, int64_t n, bool activated, const float *units, float *z)
{
    if (!activated && net->axes.q > 0) return sn_axes_apply(&net->axes, n, units, z);
    memcpy(z, units, (size_t)(n * units_of(net)) * sizeof *z);
    return STONET_OK;
}

static stonet_status reduce(way *w, bool activated, float *z)
{
    const sn_stonet *net = w->net;
    bool through_psi;
    SN_TRY(choose_units(net, activated, &through_psi));
    SN_ARRAY(w->problem->n * units_of(net), float, units);
    SN_TRY(pass_on(w, net->network.shape.layers - 1, through_psi, units));
    return hand_out(net, w->problem->n, activated, units, z);
}

stonet_status sn_stonet_reduce(const sn_stonet *net, const sn_problem *problem, bool activated, int threads,
                               float *z)
{
    SN_FREED_BY(let_way_go) way w = {0};
    SN_TRY(set_out(net, problem, threads, &w));
    return reduce(&w, activated, z);
}

stonet_status sn_stonet_draw(const sn_stonet *net, const sn_problem *problem, const sn_draws *wanted,
                             int threads, float *out)
{
    bool through_psi;
    AWAKE(at);
    SN_TRY(choose_units(net, wanted->activated, &through_psi));
    SN_ARRAY(problem->n * units_of(net), float, units);
    SN_TRY(wake(net, problem, NULL, wanted->seed, threads, &at));
    for (int64_t draw = 0; draw < wanted->count; draw++) {
        const sn_pass pass = {.rows = sn_rows_range(0, problem->n),
                              .layer = net->network.shape.layers - 1,
                              .activated = through_psi,
                              .s = net->dynamics.s,
                              .draw = (uint32_t)(wanted->first + draw)};
        SN_TRY(net->engine->forward(at.engine, &pass, units));
        SN_TRY(hand_out(net, problem->n, wanted->activated, units,
                        out + draw * wanted->apart * sn_stonet_dim(net)));
    }
    return STONET_OK;
}

stonet_status sn_stonet_impute(const sn_stonet *net, const sn_problem *problem, bool activated, uint64_t seed,
                               int threads, float *out)
{
    bool through_psi;
    AWAKE(at);
    SN_BLOCK double *y = NULL;
    SN_TRY(choose_units(net, activated, &through_psi));
    if (net->response.law != NULL)
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "Z is imputed given plain numbers or classes, and this model has a response of task=%s",
            sn_words_name(&sn_law_kind_words, sn_law_kind_of(net->response.law)));
    if (problem->y != NULL) {
        SN_TRY(SN_NEW_RAW(y, problem->n * net->response.outputs));
        SN_TRY(sn_response_encode(&net->response, problem->n, problem->y, y));
    }
    const int64_t count = problem->n * units_of(net);
    SN_ARRAY(count, float, units);
    SN_TRY(wake(net, problem, y, seed, threads, &at));
    const sn_iteration it = {.rows = sn_rows_range(0, problem->n), .dynamics = &net->dynamics};
    SN_TRY(net->engine->impute(at.engine, &it, net->network.shape.layers - 1, units));
    for (int64_t k = 0; through_psi && k < count; k++)
        units[k] = (float)sn_psi(net->network.shape.activation, (double)units[k]);
    return hand_out(net, problem->n, activated, units, out);
}

/* The outputs in float, or of the ensemble the units that its head is on. */
static stonet_status answer(way *w, bool by_head, float **out)
{
    const sn_shape *shape = &w->net->network.shape;
    const int layer = shape->layers - (by_head ? 1 : 0);
    SN_TRY(SN_NEW_RAW(*out, w->problem->n * shape->width[layer]));
    return pass_on(w, layer, by_head, *out);
}

stonet_status sn_stonet_predict(const sn_stonet *net, const sn_problem *problem, int threads, float *z,
                                double *out)
{
    SN_FREED_BY(let_way_go) way w = {0};
    const sn_law *law = net->response.law;
    const bool by_head = net->response.kind == SN_RESPONSE_ENSEMBLE && law == NULL;
    const int64_t t = net->response.targets, m = net->response.outputs;
    SN_BLOCK float *mu = NULL;
    SN_TRY(set_out(net, problem, threads, &w));
    if (z != NULL) SN_TRY(reduce(&w, false, z));
    SN_TRY(answer(&w, by_head, &mu));
    if (law != NULL)
        for (int64_t i = 0; i < problem->n; i++) {
            double own[2], at;
            const double *parameter = sn_law_read(m, mu + i * m, net->response.parameter, own, &at);
            law->answer(law, at, parameter, t, out + i * t);
        }
    else if (by_head)
        sn_response_predict(&net->response, problem->n, mu, out);
    else if (net->response.kind == SN_RESPONSE_MEAN)
        sn_network_output(&net->network, mu, problem->n, out);
    else
        for (int64_t k = 0; k < problem->n * t; k++) out[k] = (double)mu[k / t * 2 * t + k % t];
    return STONET_OK;
}

stonet_status sn_stonet_spread(const sn_stonet *net, const sn_problem *problem, int threads, double *out)
{
    const int64_t t = net->response.targets;
    SN_FREED_BY(let_way_go) way w = {0};
    SN_BLOCK float *mu = NULL;
    if (net->response.law != NULL) {
        for (int64_t i = 0; i < problem->n; i++)
            out[i] = sn_law_scale(net->response.law, net->response.parameter);
        return STONET_OK;
    }
    if (net->response.kind != SN_RESPONSE_LOCATION_SCALE)
        return sn_fail(STONET_ERROR_UNSUPPORTED, "this model has no spread of its own: fit it with "
                                                 "response=location-scale");
    SN_TRY(set_out(net, problem, threads, &w));
    SN_TRY(answer(&w, false, &mu));
    for (int64_t k = 0; k < problem->n * t; k++)
        out[k] = exp(0.5 * sn_eta((double)mu[k / t * 2 * t + t + k % t]));
    return STONET_OK;
}
