/*
 * The cuda engine: float arithmetic on a GPU, in a module of its own that is loaded at run time
 * (cuda_module.h). This file is the contract's side of it: which rows, shards and weights, what is handed
 * out, and what a failure means.
 *
 * Sums run shard by shard and up the tree as in every engine, on the device where it has all shards. Where
 * the contract leaves no way to report a failure (parameters in and out), the next call reports it, and
 * parameters that could not be had are NaN.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/cuda_load.h"
#include "engine/cuda_rows.h"
#include "engine/engines.h"

enum {
    PASS_ROWS = 1 << 16, /* rows that pass through a window at a time */
    LONG_PIECE = 4,      /* steps started together, when their batches are of at least */
    LONG_BATCH = 16384   /* rows, whose lists take a while */
};

typedef struct cuda_engine {
    sn_engine base;
    sn_shape shape;
    const sn_problem *problem;
    int threads;
    const sn_cuda_api *api;
    sn_cuda_net *net;
    sn_cuda_data *all; /* rows on the device; NULL: not yet, or they do not fit */
    bool own_rows, looked;
    sn_cuda_window
        window[2];       /* for rows that are not there; two, so that one is filled while the other is used */
    sn_cuda_step *steps; /* SN_CUDA_QUEUE */
    float *floats;       /* parameters, and as much again */
    float *gradients;    /* of shards, when they are to be handed out */
    int64_t gradient_count;
    uint32_t iteration;
    int trouble; /* that has not been reported yet; no call follows it until it is */
    sn_cuda_words words;
} cuda_engine;

/* What the module answered, with e->words beside it. */
static stonet_status said(const cuda_engine *e, int trouble, const char *doing)
{
    return sn_cuda_check(trouble, &e->words, doing);
}

/* What went wrong in a call that could not say so. */
static stonet_status earlier_trouble(const cuda_engine *e)
{
    return said(e, e->trouble, "parameters were copied");
}

static void cuda_free(sn_engine *engine)
{
    cuda_engine *e = (cuda_engine *)engine;
    if (e == NULL) return;
    if (e->net != NULL) e->api->net_free(e->net);
    if (e->own_rows && e->all != NULL) e->api->data_free(e->all);
    for (int k = 0; k < 2; k++) sn_cuda_window_clear(e->api, &e->window[k]);
    SN_FREE_ALL(e->steps, e->floats, e->gradients, e);
}

/* The shape in plain numbers, as the module knows nothing of the library. *border (groups + 1) has the first
   feature of each column, for the group penalty; the caller frees it. */
static stonet_status fill_shape(const cuda_engine *e, uint64_t seed, sn_cuda_shape *out, int32_t **border)
{
    const sn_shape *shape = &e->shape;
    const sn_problem *problem = e->problem;
    *out = (sn_cuda_shape){.layers = shape->layers,
                           .parameters = shape->parameters,
                           .activation = (int)shape->activation,
                           .input_activation = (int)shape->input_activation,
                           .classes = shape->task == SN_CLASSIFICATION,
                           .spread = shape->spread,
                           .seed = seed};
    for (int i = 0; i <= shape->layers; i++) out->width[i] = (int32_t)shape->width[i];
    for (int i = 0; i < shape->layers; i++) {
        out->weight_at[i] = shape->weight_at[i];
        out->bias_at[i] = shape->bias_at[i];
    }
    out->groups = (int32_t)(problem->group != NULL ? problem->groups : problem->p);
    SN_TRY(SN_NEW(*border, out->groups + 1));
    for (int32_t g = 0; g <= out->groups; g++)
        (*border)[g] = problem->group != NULL ? (int32_t)problem->group[g] : g;
    out->border = *border;
    return STONET_OK;
}

/* Loads the module and makes the network on the device. A network that cannot fit is refused first, with its
   size, as an error of CUDA names none. */
static stonet_status open_net(cuda_engine *e, uint64_t seed)
{
    sn_cuda_device device;
    sn_cuda_shape shape;
    SN_BLOCK int32_t *border = NULL;
    SN_TRY(sn_cuda_load(&e->api, &device));
    SN_TRY(fill_shape(e, seed, &shape, &border));
    const uint64_t bytes = e->api->net_bytes(&shape, 1);
    if (bytes > device.free_bytes)
        return sn_fail(
            STONET_ERROR_MEMORY,
            "engine=cuda: the network takes about %.1f GB of the GPU's memory, of which %.1f GB are "
            "free: make the hidden layers narrower, or use engine=cpu",
            (double)bytes / 1e9, (double)device.free_bytes / 1e9);
    return said(e, e->api->net_new(&shape, &e->net, &e->words), "making room for the network");
}

/* The engine without rows: these are sent to the device at the first use, and only if they fit. */
static stonet_status cuda_create(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                                 sn_engine **out)
{
    SN_TRY(sn_engine_check(shape, problem, threads));
    cuda_engine *e;
    SN_TRY(SN_NEW(e, 1));
    SN_AUTO(sn_engine) *made = &e->base;
    made->ops = &sn_engine_cuda;
    e->shape = *shape;
    e->problem = problem;
    e->threads = threads;
    SN_TRY(SN_NEW(e->steps, SN_CUDA_QUEUE));
    SN_TRY(SN_NEW(e->floats, 2 * shape->parameters));
    SN_TRY(open_net(e, seed));
    return SN_GIVE(made, out);
}

/* ---- parameters in and out --------------------------------------------------------------------------- */

static void cuda_start(sn_engine *engine, const float *theta)
{
    cuda_engine *e = (cuda_engine *)engine;
    e->trouble = e->api->net_put(e->net, theta, NULL, &e->words);
    e->iteration = 0;
}

/* Both from the device; NaN where that fails, which the next call reports. */
static void fetch_state(const cuda_engine *engine, float *theta, float *momentum)
{
    cuda_engine *e = (cuda_engine *)engine;
    if (e->trouble == SN_CUDA_FINE) e->trouble = e->api->net_get(e->net, theta, momentum, &e->words);
    for (int64_t j = 0; e->trouble != SN_CUDA_FINE && j < e->shape.parameters; j++) {
        theta[j] = NAN;
        if (momentum != NULL) momentum[j] = NAN;
    }
}

static void cuda_get_parameters(const sn_engine *engine, float *theta)
{
    fetch_state((const cuda_engine *)engine, theta, NULL);
}

static void cuda_get_state(const sn_engine *engine, sn_engine_state *state)
{
    const cuda_engine *e = (const cuda_engine *)engine;
    const int64_t count = e->shape.parameters;
    fetch_state(e, e->floats, e->floats + count);
    for (int64_t j = 0; j < count; j++) {
        state->parameters[j] = (double)e->floats[j];
        state->momentum[j] = (double)e->floats[count + j];
    }
    state->iteration = e->iteration;
}

static void cuda_set_state(sn_engine *engine, const sn_engine_state *state)
{
    cuda_engine *e = (cuda_engine *)engine;
    const int64_t count = e->shape.parameters;
    for (int64_t j = 0; j < count; j++) {
        e->floats[j] = (float)state->parameters[j];
        e->floats[count + j] = (float)state->momentum[j];
    }
    e->trouble = e->api->net_put(e->net, e->floats, e->floats + count, &e->words);
    e->iteration = state->iteration;
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* Has all rows on the device, if they fit: `keen` once they are worth more than one pass. */
static stonet_status look_for_rows(cuda_engine *e, bool keen)
{
    if (e->looked || !(keen || e->problem->keep != NULL)) return STONET_OK;
    SN_TRY(sn_cuda_rows_all(e->api, e->problem, e->threads, &e->all, &e->own_rows));
    e->looked = true;
    return STONET_OK;
}

/* Rows of the problem as the module sees them: on the device already, or in a window. */
static sn_cuda_rows rows_on_device(const cuda_engine *e, const sn_rows *rows, const sn_cuda_window *window)
{
    if (window == NULL)
        return (sn_cuda_rows){.n = rows->n,
                              .list = rows->list,
                              .first = rows->first,
                              .offset = (uint32_t)e->problem->first_row};
    return (sn_cuda_rows){.n = rows->n, .number = window->number};
}

static sn_cuda_data *data_of(const cuda_engine *e, const sn_cuda_window *window)
{
    return window != NULL ? window->data : e->all;
}

static stonet_status fill_window(const cuda_engine *e, const sn_rows *rows, bool with_response, uint32_t draw,
                                 sn_cuda_window *window)
{
    if (window == NULL) return STONET_OK;
    return sn_cuda_window_fill(e->api, e->problem, rows, with_response, draw, e->threads, window);
}

/* Whether a batch's features differ from those on the device: drawn missing cells do. */
static bool is_drawn(const cuda_engine *e, const sn_iteration *it)
{
    return it->moving || (it->draw > 0 && e->problem->source != NULL);
}

/* ---- an iteration ------------------------------------------------------------------------------------ */

static void fill_dynamics(const sn_shape *shape, const sn_dynamics *from, sn_cuda_dynamics *to)
{
    to->sweeps = from->sweeps;
    to->euler = from->integrator == SN_EULER;
    to->mode_start = from->start == SN_START_MODE;
    to->beta = (float)from->beta;
    to->spread = (float)from->spread;
    for (int i = 0; i < shape->layers; i++) {
        to->epsilon[i] = (float)from->epsilon[i];
        to->keep[i] = (float)(1.0 - from->alpha[i]);
        to->kick[i] = (float)sqrt(2.0 * from->alpha[i]);
        to->over_s[i] = (float)(1.0 / from->s[i]);
        to->variance[i] = (float)from->s[i];
    }
}

static void fill_update(const sn_shape *shape, const sn_update *from, double weight, sn_cuda_step *step)
{
    sn_cuda_update *to = &step->update;
    step->group_factor = from->group_factor;
    to->momentum = (float)from->momentum;
    to->decay = (float)from->decay;
    to->group = from->rate[0] * from->group;
    for (int i = 0; i < shape->layers; i++) {
        to->rate[i] = (float)from->rate[i];
        to->factor[i] = (float)(from->scale[i] / weight);
        to->shrink[i] = (float)(from->rate[i] * from->l1);
    }
}

static void fill_step(const cuda_engine *e, const sn_iteration *it, const sn_shards *shards,
                      const sn_cuda_window *window, sn_cuda_step *step)
{
    step->rows = rows_on_device(e, &it->rows, window);
    step->total = shards->total;
    step->shards = shards->count;
    for (int v = 0; v <= shards->count; v++) step->border[v] = shards->border[v];
    step->iteration = it->number;
    fill_dynamics(&e->shape, it->dynamics, &step->dynamics);
}

/* All that can be wrong with a batch, before anything of it is sent. *weight: the sum of the weights of its
   rows, by which the gradient is divided. */
static stonet_status check_batch(const cuda_engine *e, const sn_iteration *it, const sn_shards *shards,
                                 double *weight)
{
    sn_sums sums = {0};
    SN_TRY(earlier_trouble(e));
    if (it->rows.n < 1) return sn_fail(STONET_ERROR_ARGUMENT, "a batch needs at least one row");
    SN_TRY(sn_batch_prepare(e->problem, &it->rows));
    if (it->rows.n > INT32_MAX)
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "engine=cuda takes at most %d rows at once: use engine=cpu for the full-data stage, or "
            "sdr_iterations=0",
            INT32_MAX);
    if (shards->count > SN_CUDA_SHARDS || shards->border[shards->count] != it->rows.n)
        return sn_fail(STONET_ERROR_ARGUMENT, "the shards of a batch must have all its rows");
    SN_TRY(sn_engine_sum_shards(e->problem, &it->rows, shards, NULL, NULL, &sums));
    SN_TRY(sn_sums_check(&sums));
    *weight = sums.root[0].weight;
    return STONET_OK;
}

static stonet_status take_report(cuda_engine *e, const sn_iteration *it, const sn_cuda_report *from,
                                 sn_step_report *report)
{
    sn_shards one;
    sn_sums sums = {0};
    SN_TRY(sn_engine_sum_shards(e->problem, &it->rows, sn_engine_shards(&it->rows, it->shards, &one),
                                from->loss, NULL, &sums));
    report->loss = sums.root[0].loss / sums.root[0].weight;
    report->finite = from->finite && isfinite(report->loss);
    e->iteration = it->number + 1;
    return STONET_OK;
}

/* Asks the device for some steps. window: for the rows of one step, when they are not on the device. */
static stonet_status begin_steps(cuda_engine *e, const sn_iteration *it, int count, sn_cuda_window *window)
{
    const sn_cuda_step *list[SN_CUDA_QUEUE];
    SN_TRY(fill_window(e, &it->rows, true, it->draw, window));
    for (int k = 0; k < count; k++) {
        sn_shards one;
        const sn_shards *shards = sn_engine_shards(&it[k].rows, it[k].shards, &one);
        double weight = 0.0;
        SN_TRY(check_batch(e, &it[k], shards, &weight));
        fill_step(e, &it[k], shards, window, &e->steps[k]);
        fill_update(&e->shape, it[k].update, weight, &e->steps[k]);
        list[k] = &e->steps[k];
    }
    return said(e, e->api->net_begin(e->net, data_of(e, window), list, count, &e->words), "a step was begun");
}

static stonet_status wait_for_steps(cuda_engine *e, const sn_iteration *it, int count,
                                    sn_step_report *reports)
{
    sn_cuda_report found[SN_CUDA_QUEUE];
    SN_TRY(said(e, e->api->net_wait(e->net, found, &e->words), "a step was computed"));
    for (int k = 0; k < count; k++) SN_TRY(take_report(e, &it[k], &found[k], &reports[k]));
    return STONET_OK;
}

/* Steps in pieces: the next piece is prepared while the device is at the last one. streams: the rows are not
   on the device, and a piece is one step whose rows pass through one of the windows in turn. */
static stonet_status run_steps(cuda_engine *e, const sn_iteration *it, int count, bool streams,
                               sn_step_report *reports)
{
    const int most = streams ? 1 : it[0].rows.n >= LONG_BATCH ? LONG_PIECE : SN_CUDA_QUEUE;
    int begun = 0, last = 0; /* `last`: how many were started in the newest call */
    stonet_status status = STONET_OK;
    for (int done = 0; done < count;) {
        const int next = status != STONET_OK ? 0 : count - begun < most ? count - begun : most;
        const int before = last;
        if (next > 0) status = begin_steps(e, it + begun, next, streams ? &e->window[begun % 2] : NULL);
        last = status == STONET_OK ? next : 0;
        if (before > 0) {
            const stonet_status waited = wait_for_steps(e, it + done, before, reports + done);
            if (status == STONET_OK) status = waited;
        }
        done += before;
        begun += last;
        if (status != STONET_OK && last == 0) return status;
    }
    return status;
}

static stonet_status cuda_steps(sn_engine *engine, const sn_iteration *it, int count, sn_step_report *reports)
{
    cuda_engine *e = (cuda_engine *)engine;
    if (count > 0 && !it[0].moving) SN_TRY(look_for_rows(e, true));
    bool streams = e->all == NULL;
    for (int k = 0; k < count; k++) streams = streams || is_drawn(e, &it[k]);
    return run_steps(e, it, count, streams, reports);
}

static stonet_status cuda_step(sn_engine *engine, const sn_iteration *it, sn_step_report *report)
{
    return cuda_steps(engine, it, 1, report);
}

/* ---- an iteration in two ----------------------------------------------------------------------------- */

/* The gradients of all shards come back as floats (shards x parameters) into a block that is kept for the
   next iteration. They are added up by the tree, in double. */
static stonet_status cuda_accumulate(sn_engine *engine, const sn_iteration *it, sn_sums *sums)
{
    cuda_engine *e = (cuda_engine *)engine;
    sn_shards one;
    const sn_shards *shards = sn_engine_shards(&it->rows, it->shards, &one);
    double loss[SN_CUDA_SHARDS];
    SN_TRY(earlier_trouble(e));
    if (it->rows.n < 1) return sn_fail(STONET_ERROR_ARGUMENT, "a batch needs at least one row");
    if (!it->moving) SN_TRY(look_for_rows(e, true));
    sn_cuda_window *window = e->all == NULL || is_drawn(e, it) ? &e->window[0] : NULL;
    SN_TRY(fill_window(e, &it->rows, true, it->draw, window));
    if (e->gradient_count < shards->count) {
        SN_FREE(e->gradients);
        e->gradient_count = 0;
        SN_TRY(SN_NEW_RAW(e->gradients, shards->count * e->shape.parameters));
        e->gradient_count = shards->count;
    }
    fill_step(e, it, shards, window, &e->steps[0]);
    SN_TRY(said(e, e->api->net_sums(e->net, data_of(e, window), &e->steps[0], e->gradients, loss, &e->words),
                "sums were computed"));
    return sn_engine_sum_shards(e->problem, &it->rows, shards, loss, e->gradients, sums);
}

static stonet_status cuda_apply(sn_engine *engine, const sn_iteration *it, const sn_sums *sums,
                                sn_step_report *report)
{
    cuda_engine *e = (cuda_engine *)engine;
    sn_cuda_step *step = &e->steps[0];
    int finite = 0;
    SN_TRY(earlier_trouble(e));
    SN_TRY(sn_sums_check(sums));
    fill_update(&e->shape, it->update, sums->root[0].weight, step);
    for (int64_t j = 0; j < e->shape.parameters; j++) e->floats[j] = (float)sums->root[0].gradient[j];
    SN_TRY(
        said(e, e->api->net_apply(e->net, step, e->floats, &finite, &e->words), "parameters were updated"));
    report->loss = sums->root[0].loss / sums->root[0].weight;
    report->finite = finite && isfinite(report->loss);
    e->iteration = it->number + 1;
    return STONET_OK;
}

/* ---- rows through, numbers out ----------------------------------------------------------------------- */

/* One stretch of rows, all on the device or through the window: what is done with them. */
typedef struct through {
    sn_cuda_step *step; /* impute, or */
    sn_cuda_pass *pass; /* a pass */
    int layer;          /* that is handed out */
    uint32_t draw;      /* of missing cells */
    bool response, drawn;
} through;

/* Rows that are all on the device are named by their numbers. Others, and rows with drawn cells, are first
   copied into the window. what->pass: a forward pass; else what->step: an imputation. */
static stonet_status send_part(cuda_engine *e, const through *what, const sn_rows *rows, float *out)
{
    sn_cuda_window *window = e->all == NULL || what->drawn ? &e->window[0] : NULL;
    SN_TRY(sn_batch_prepare(e->problem, rows));
    SN_TRY(fill_window(e, rows, what->response, what->draw, window));
    const sn_cuda_rows places = rows_on_device(e, rows, window);
    if (what->pass != NULL) {
        what->pass->rows = places;
        return said(e, e->api->net_forward(e->net, data_of(e, window), what->pass, out, &e->words),
                    "rows passed through");
    }
    what->step->rows = places;
    return said(e, e->api->net_impute(e->net, data_of(e, window), what->step, what->layer, out, &e->words),
                "latents were imputed");
}

static stonet_status send_all(cuda_engine *e, const through *what, const sn_rows *rows, float *out)
{
    SN_TRY(earlier_trouble(e));
    SN_TRY(look_for_rows(e, false));
    const int64_t d = e->shape.width[what->layer];
    const int64_t most = e->all != NULL && !what->drawn ? rows->n : PASS_ROWS;
    for (int64_t first = 0; first < rows->n; first += most) {
        const sn_rows part = sn_rows_part(rows, first, rows->n - first < most ? rows->n - first : most);
        SN_TRY(send_part(e, what, &part, out + first * d));
    }
    return STONET_OK;
}

static stonet_status cuda_impute(sn_engine *engine, const sn_iteration *it, int layer, float *out)
{
    cuda_engine *e = (cuda_engine *)engine;
    sn_cuda_step *step = &e->steps[0];
    step->shards = 0;
    step->iteration = it->number;
    fill_dynamics(&e->shape, it->dynamics, &step->dynamics);
    const through what = {
        .step = step, .layer = layer, .draw = it->draw, .response = true, .drawn = is_drawn(e, it)};
    return send_all(e, &what, &it->rows, out);
}

static stonet_status cuda_forward(sn_engine *engine, const sn_pass *pass, float *out)
{
    cuda_engine *e = (cuda_engine *)engine;
    sn_cuda_pass given = {
        .layer = pass->layer, .activated = pass->activated, .noisy = pass->s != NULL, .draw = pass->draw};
    for (int i = 0; pass->s != NULL && i + 1 < e->shape.layers; i++) given.sigma[i] = (float)sqrt(pass->s[i]);
    const through what = {.pass = &given, .layer = pass->layer};
    return send_all(e, &what, &pass->rows, out);
}

static stonet_status cuda_available(void)
{
    const sn_cuda_api *api;
    sn_cuda_device device;
    return sn_cuda_load(&api, &device);
}

const sn_engine_ops sn_engine_cuda = {
    .name = "cuda",
    .available = cuda_available,
    .create = cuda_create,
    .free = cuda_free,
    .start = cuda_start,
    .get_parameters = cuda_get_parameters,
    .get_state = cuda_get_state,
    .set_state = cuda_set_state,
    .step = cuda_step,
    .steps = cuda_steps,
    .accumulate = cuda_accumulate,
    .apply = cuda_apply,
    .impute = cuda_impute,
    .forward = cuda_forward,
};
