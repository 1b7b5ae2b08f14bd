/*
 * The reference engine: Algorithm 1 in double precision, one row after the other, in plain loops. It is here
 * to be read and to be trusted; every other engine is tested against it.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "engine/engines.h"
#include "math/noise.h"
#include "net/activation.h"
#include "net/loss.h"

typedef struct ref_engine {
    sn_engine base;
    sn_shape shape;
    const sn_problem *problem;
    uint64_t seed;
    double *theta, *velocity; /* shape.parameters each */
    uint32_t iteration;
    sn_sums sums; /* of a step */
    /* The row that is worked on, a batch of one. */
    float *x;
    double *y;
    int32_t label;
    float weight;
    int64_t number; /* keys its noise */
    /* Its state, layer i at index i (1..h+1); layer 0 is the input. Each points into `work`. */
    double *latent[SN_MAX_LAYERS + 1]; /* Y_i */
    double *mean[SN_MAX_LAYERS + 1];   /* mu_i */
    double *psi[SN_MAX_LAYERS + 1];    /* psi(Y_i); psi[0] = psi_0(x) */
    double *speed[SN_MAX_LAYERS + 1];  /* v_i */
    double *pull[SN_MAX_LAYERS + 1];   /* r_i, the residual over s_i */
    double *force[SN_MAX_LAYERS + 1];  /* g_i */
    double *work;
} ref_engine;

static int top(const ref_engine *e)
{
    return e->shape.layers; /* h + 1 */
}

/* mu_i = b_i + w_i psi_{i-1} */
static void compute_mean(ref_engine *e, int i)
{
    const int64_t in = e->shape.width[i - 1], out = e->shape.width[i];
    const double *w = e->theta + e->shape.weight_at[i - 1], *b = e->theta + e->shape.bias_at[i - 1];
    for (int64_t a = 0; a < out; a++) {
        double sum = b[a];
        for (int64_t j = 0; j < in; j++) sum += w[a * in + j] * e->psi[i - 1][j];
        e->mean[i][a] = sum;
    }
}

static void compute_psi(ref_engine *e, int i)
{
    for (int64_t a = 0; a < e->shape.width[i]; a++)
        e->psi[i][a] = sn_psi(e->shape.activation, e->latent[i][a]);
}

/* Makes a row of the problem the one that is worked on; with_response: not its features alone. */
static void fetch_row(ref_engine *e, int64_t row, uint32_t draw, bool with_response)
{
    const sn_rows rows = sn_rows_range(row, 1);
    sn_batch batch = {
        .x = e->x, .x_stride = e->shape.width[0], .row = &e->number, .weight = &e->weight, .draw = draw};
    if (with_response && e->shape.task == SN_CLASSIFICATION) batch.label = &e->label;
    if (with_response && e->shape.task == SN_REGRESSION) batch.y = e->y;
    sn_batch_fetch(e->problem, &rows, &batch);
}

/* r of location and scale, from mu and eta of each target. */
static void compute_spread_pull(ref_engine *e, const sn_dynamics *dyn)
{
    const int i = top(e);
    const int64_t m = e->shape.width[i] / 2;
    for (int64_t a = 0; a < m; a++) {
        sn_spread_pull(e->y[a], e->mean[i][a], e->mean[i][m + a], dyn->beta, &e->pull[i][a],
                       &e->pull[i][m + a]);
        e->pull[i][a] /= dyn->s[i - 1];
        e->pull[i][m + a] *= dyn->spread / dyn->s[i - 1];
    }
}

/* r_i: (Y_i - mu_i)/s_i, or for the response (y - mu)/s or (onehot - softmax(mu))/s. */
static void compute_pull(ref_engine *e, int i, const sn_dynamics *dyn)
{
    const double *s = dyn->s;
    const int64_t d = e->shape.width[i];
    if (i < top(e)) {
        for (int64_t a = 0; a < d; a++) e->pull[i][a] = (e->latent[i][a] - e->mean[i][a]) / s[i - 1];
        return;
    }
    if (e->shape.spread) {
        compute_spread_pull(e, dyn);
        return;
    }
    if (e->shape.task == SN_REGRESSION) {
        for (int64_t a = 0; a < d; a++) e->pull[i][a] = (e->y[a] - e->mean[i][a]) / s[i - 1];
        return;
    }
    double largest = e->mean[i][0], sum = 0.0;
    for (int64_t a = 1; a < d; a++) largest = fmax(largest, e->mean[i][a]);
    for (int64_t a = 0; a < d; a++) sum += exp(e->mean[i][a] - largest);
    for (int64_t a = 0; a < d; a++)
        e->pull[i][a] = ((a == e->label) - exp(e->mean[i][a] - largest) / sum) / s[i - 1];
}

/* psi'(Y_i) . (w_{i+1}' r_{i+1}) into force[i] */
static void pull_back(ref_engine *e, int i)
{
    const int64_t d = e->shape.width[i], above = e->shape.width[i + 1];
    const double *w = e->theta + e->shape.weight_at[i];
    for (int64_t a = 0; a < d; a++) {
        double sum = 0.0;
        for (int64_t j = 0; j < above; j++) sum += w[j * d + a] * e->pull[i + 1][j];
        e->force[i][a] = sum * sn_psi_slope(e->shape.activation, e->latent[i][a], e->psi[i][a]);
    }
}

/* Y_i ~ N(mu_i, s_i) of draw `draw`, or Y_i = mu_i without s, from the input up to `layer`; the response's
   mean too if that is the last one. */
static void forward(ref_engine *e, int layer, const double *s, uint32_t draw)
{
    for (int64_t j = 0; j < e->shape.width[0]; j++)
        e->psi[0][j] = sn_psi(e->shape.input_activation, (double)e->x[j]);
    for (int i = 1; i <= layer; i++) {
        compute_mean(e, i);
        if (i == top(e)) break;
        memcpy(e->latent[i], e->mean[i], (size_t)e->shape.width[i] * sizeof(double));
        for (int64_t a = 0; s != NULL && a < e->shape.width[i]; a++)
            e->latent[i][a] += sqrt(s[i - 1]) * sn_noise_normal(e->seed, SN_STREAM_DRAWS, (uint32_t)e->number,
                                                                (uint32_t)i, (uint32_t)a, draw, 0);
        compute_psi(e, i);
    }
}

/* Mode start: r_i = g_i by one backward pass at the forward state, then Y_i = mu_i + s_i g_i with mu_i from
   the forward pass. */
static void move_to_mode(ref_engine *e, const sn_dynamics *dyn)
{
    const double *s = dyn->s;
    compute_pull(e, top(e), dyn);
    for (int i = top(e) - 1; i >= 1; i--) {
        pull_back(e, i);
        memcpy(e->pull[i], e->force[i], (size_t)e->shape.width[i] * sizeof(double));
    }
    for (int i = 1; i < top(e); i++) {
        for (int64_t a = 0; a < e->shape.width[i]; a++) e->latent[i][a] += s[i - 1] * e->force[i][a];
        compute_psi(e, i);
    }
}

/* One SGHMC update of layer i. */
static void move(ref_engine *e, int i, const sn_iteration *it, int sweep)
{
    const sn_dynamics *dyn = it->dynamics;
    const double epsilon = dyn->epsilon[i - 1], alpha = dyn->alpha[i - 1];
    compute_mean(e, i + 1);
    compute_pull(e, i + 1, dyn);
    pull_back(e, i);
    compute_mean(e, i);
    for (int64_t a = 0; a < e->shape.width[i]; a++) {
        double *y = &e->latent[i][a], *v = &e->speed[i][a];
        const double g = e->force[i][a] - (*y - e->mean[i][a]) / dyn->s[i - 1];
        const double noise = sn_noise_normal(e->seed, SN_STREAM_IMPUTE, (uint32_t)e->number, (uint32_t)i,
                                             (uint32_t)a, it->number, (uint32_t)sweep);
        const double before = *v;
        *v = (1.0 - alpha) * before + epsilon * g + sqrt(2.0 * alpha) * noise;
        *y += epsilon * (dyn->integrator == SN_SYMPLECTIC ? *v : before);
    }
    compute_psi(e, i);
}

/* The loss of one row at mu_{h+1}. Numbers: |y - mu|^2 / 2. Classes: log sum_c exp(mu_c) - mu_y, less the
   largest mu against overflow. Location and scale: net/loss.h. */
static double output_loss(const ref_engine *e)
{
    const int64_t d = e->shape.width[top(e)];
    const double *mu = e->mean[top(e)];
    double sum = 0.0, pull[2];
    if (e->shape.spread) {
        for (int64_t a = 0; a < d / 2; a++)
            sum += sn_spread_pull(e->y[a], mu[a], mu[d / 2 + a], 0.0, &pull[0], &pull[1]);
        return sum;
    }
    if (e->shape.task == SN_REGRESSION) {
        for (int64_t a = 0; a < d; a++) sum += pow(e->y[a] - mu[a], 2.0);
        return sum / 2.0;
    }
    double largest = mu[0];
    for (int64_t a = 1; a < d; a++) largest = fmax(largest, mu[a]);
    for (int64_t a = 0; a < d; a++) sum += exp(mu[a] - largest);
    return log(sum) + largest - mu[e->label];
}

/* Step 1 for one row; returns its output loss at the forward pass. */
static double impute_row(ref_engine *e, int64_t row, const sn_iteration *it)
{
    fetch_row(e, row, it->draw, true);
    forward(e, top(e), NULL, 0);
    const double loss = output_loss(e);
    if (it->dynamics->start == SN_START_MODE) move_to_mode(e, it->dynamics);
    for (int i = 1; i < top(e); i++) memset(e->speed[i], 0, (size_t)e->shape.width[i] * sizeof(double));
    for (int sweep = 0; sweep < it->dynamics->sweeps; sweep++)
        for (int i = top(e) - 1; i >= 1; i--) move(e, i, it, sweep);
    return loss;
}

/* Adds this row's a r_i psi_{i-1}' and a r_i of every layer to the gradient. */
static void add_gradient(ref_engine *e, const sn_dynamics *dyn, double *gradient)
{
    for (int i = 1; i <= top(e); i++) {
        const int64_t in = e->shape.width[i - 1], out = e->shape.width[i];
        double *dw = gradient + e->shape.weight_at[i - 1], *db = gradient + e->shape.bias_at[i - 1];
        compute_mean(e, i);
        compute_pull(e, i, dyn);
        for (int64_t a = 0; a < out; a++) {
            const double pull = (double)e->weight * e->pull[i][a];
            for (int64_t j = 0; j < in; j++) dw[a * in + j] += pull * e->psi[i - 1][j];
            db[a] += pull;
        }
    }
}

static double shrink(double w, double by)
{
    return w > by ? w - by : w < -by ? w + by : 0.0;
}

/* The group penalty of layer 1. */
static void shrink_columns(ref_engine *e, const sn_update *up)
{
    const int64_t inputs = e->shape.width[0], units = e->shape.width[1];
    double *w = e->theta + e->shape.weight_at[0], *factor = e->force[0]; /* x has none */
    memset(factor, 0, (size_t)inputs * sizeof *factor);
    for (int64_t a = 0; a < units; a++)
        for (int64_t j = 0; j < inputs; j++) factor[j] += w[a * inputs + j] * w[a * inputs + j];
    sn_group_factors(e->problem, units, up, factor);
    for (int64_t a = 0; a < units; a++)
        for (int64_t j = 0; j < inputs; j++) w[a * inputs + j] *= factor[j];
}

/* Step 2, from the sums G and A; returns whether all parameters are finite. */
static bool apply_update(ref_engine *e, const sn_update *up, const sn_root *sum)
{
    bool finite = true;
    for (int i = 0; i < e->shape.layers; i++) {
        const int64_t weights = e->shape.width[i] * e->shape.width[i + 1];
        for (int64_t j = 0; j < weights + e->shape.width[i + 1]; j++) { /* biases follow their weights */
            const int64_t at = e->shape.weight_at[i] + j;
            const bool is_weight = j < weights;
            double *theta = &e->theta[at], *u = &e->velocity[at];
            const double d =
                up->scale[i] * sum->gradient[at] / sum->weight - (is_weight ? up->decay * *theta : 0.0);
            *u = up->momentum * *u + d;
            *theta += up->rate[i] * *u;
            if (is_weight && up->l1 > 0.0) *theta = shrink(*theta, up->rate[i] * up->l1);
            finite = finite && isfinite(*theta);
        }
    }
    if (up->group > 0.0) shrink_columns(e, up);
    return finite;
}

/* Step 1 for every row, and the sums of step 2 shard by shard, in the order of the rows. sn_sums_close adds
   finished shards up the tree. */
static stonet_status ref_accumulate(sn_engine *engine, const sn_iteration *it, sn_sums *sums)
{
    ref_engine *e = (ref_engine *)engine;
    sn_shards one;
    const sn_shards *shards = sn_engine_shards(&it->rows, it->shards, &one);
    SN_TRY(sn_batch_prepare(e->problem, &it->rows));
    sn_sums_reset(sums, shards->total);
    for (int v = 0; v < shards->count; v++) {
        SN_TRY(sn_sums_open(sums, shards->first + v));
        sn_root *sum = &sums->root[sums->roots - 1];
        for (int64_t k = shards->border[v]; k < shards->border[v + 1]; k++) {
            const double loss = impute_row(e, sn_rows_at(&it->rows, k), it);
            add_gradient(e, it->dynamics, sum->gradient);
            sum->loss += (double)e->weight * loss;
            sum->weight += (double)e->weight;
        }
        sn_sums_close(sums);
    }
    return STONET_OK;
}

static stonet_status ref_apply(sn_engine *engine, const sn_iteration *it, const sn_sums *sums,
                               sn_step_report *report)
{
    ref_engine *e = (ref_engine *)engine;
    SN_TRY(sn_sums_check(sums));
    report->loss = sums->root[0].loss / sums->root[0].weight;
    report->finite = apply_update(e, it->update, &sums->root[0]) && isfinite(report->loss);
    e->iteration = it->number + 1;
    return STONET_OK;
}

static stonet_status ref_step(sn_engine *engine, const sn_iteration *it, sn_step_report *report)
{
    ref_engine *e = (ref_engine *)engine;
    SN_TRY(ref_accumulate(engine, it, &e->sums));
    return ref_apply(engine, it, &e->sums, report);
}

static stonet_status ref_impute(sn_engine *engine, const sn_iteration *it, int layer, float *out)
{
    ref_engine *e = (ref_engine *)engine;
    const int64_t d = e->shape.width[layer];
    SN_TRY(sn_batch_prepare(e->problem, &it->rows));
    for (int64_t k = 0; k < it->rows.n; k++) {
        impute_row(e, sn_rows_at(&it->rows, k), it);
        for (int64_t a = 0; a < d; a++) out[k * d + a] = (float)e->latent[layer][a];
    }
    return STONET_OK;
}

static stonet_status ref_forward(sn_engine *engine, const sn_pass *pass, float *out)
{
    ref_engine *e = (ref_engine *)engine;
    const int64_t d = e->shape.width[pass->layer];
    SN_TRY(sn_batch_prepare(e->problem, &pass->rows));
    for (int64_t k = 0; k < pass->rows.n; k++) {
        fetch_row(e, sn_rows_at(&pass->rows, k), 0, false);
        forward(e, pass->layer, pass->s, pass->draw);
        const double *from = pass->layer == top(e) ? e->mean[pass->layer] : e->latent[pass->layer];
        for (int64_t a = 0; a < d; a++)
            out[k * d + a] = (float)(pass->activated ? sn_psi(e->shape.activation, from[a]) : from[a]);
    }
    return STONET_OK;
}

static void ref_free(sn_engine *engine)
{
    ref_engine *e = (ref_engine *)engine;
    if (e == NULL) return;
    SN_FREE_ALL(e->theta, e->velocity, e->work, e->x, e->y);
    sn_sums_clear(&e->sums);
    sn_free(e);
}

/* The numbers of one row lie in one block, `work`: six arrays for each layer, 0 .. h+1. */
static stonet_status allocate(ref_engine *e)
{
    int64_t units = 0;
    for (int i = 0; i <= e->shape.layers; i++) units += e->shape.width[i];
    SN_TRY(SN_NEW(e->theta, e->shape.parameters));
    SN_TRY(SN_NEW(e->velocity, e->shape.parameters));
    SN_TRY(SN_NEW(e->work, 6 * units));
    SN_TRY(SN_NEW(e->x, e->shape.width[0]));
    SN_TRY(SN_NEW(e->y, e->shape.width[e->shape.layers]));
    e->sums = sn_sums_empty(e->shape.parameters, false);
    double *at = e->work;
    for (int i = 0; i <= e->shape.layers; i++) {
        double **const part[] = {&e->latent[i], &e->mean[i], &e->psi[i],
                                 &e->speed[i],  &e->pull[i], &e->force[i]};
        for (int k = 0; k < 6; k++, at += e->shape.width[i]) *part[k] = at;
    }
    return STONET_OK;
}

static stonet_status ref_create(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                                sn_engine **out)
{
    SN_TRY(sn_engine_check(shape, problem, threads));
    ref_engine *e;
    SN_TRY(SN_NEW(e, 1));
    SN_AUTO(sn_engine) *made = &e->base;
    made->ops = &sn_engine_ref;
    e->shape = *shape;
    e->problem = problem;
    e->seed = seed;
    SN_TRY(allocate(e));
    return SN_GIVE(made, out);
}

static void ref_start(sn_engine *engine, const float *theta)
{
    ref_engine *e = (ref_engine *)engine;
    for (int64_t j = 0; j < e->shape.parameters; j++) e->theta[j] = (double)theta[j];
    memset(e->velocity, 0, (size_t)e->shape.parameters * sizeof(double));
    e->iteration = 0;
}

static void ref_get_state(const sn_engine *engine, sn_engine_state *state)
{
    const ref_engine *e = (const ref_engine *)engine;
    memcpy(state->parameters, e->theta, (size_t)e->shape.parameters * sizeof(double));
    memcpy(state->momentum, e->velocity, (size_t)e->shape.parameters * sizeof(double));
    state->iteration = e->iteration;
}

static void ref_set_state(sn_engine *engine, const sn_engine_state *state)
{
    ref_engine *e = (ref_engine *)engine;
    memcpy(e->theta, state->parameters, (size_t)e->shape.parameters * sizeof(double));
    memcpy(e->velocity, state->momentum, (size_t)e->shape.parameters * sizeof(double));
    e->iteration = state->iteration;
}

static void ref_get_parameters(const sn_engine *engine, float *theta)
{
    const ref_engine *e = (const ref_engine *)engine;
    for (int64_t j = 0; j < e->shape.parameters; j++) theta[j] = (float)e->theta[j];
}

const sn_engine_ops sn_engine_ref = {
    .name = "ref",
    .in_double = true,
    .create = ref_create,
    .free = ref_free,
    .start = ref_start,
    .get_parameters = ref_get_parameters,
    .get_state = ref_get_state,
    .set_state = ref_set_state,
    .step = ref_step,
    .accumulate = ref_accumulate,
    .apply = ref_apply,
    .impute = ref_impute,
    .forward = ref_forward,
};
