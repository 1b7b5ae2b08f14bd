/*
 * The reference engine: Algorithm 1 in double precision, one row after the other, in plain loops. It is here
 * to be read and to be trusted; every other engine is tested against it.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "engine/engine.h"
#include "math/noise.h"
#include "net/activation.h"

typedef struct ref_engine {
    sn_engine base;
    sn_shape shape;
    const sn_problem *problem;
    uint64_t seed;
    double *theta, *velocity, *direction; /* shape.parameters each */
    /* One row's state, layer i at index i (1..h+1); layer 0 is the input. Each points into `work`. */
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

/* r_i: (Y_i - mu_i)/s_i, or for the response of data row `row` (y - mu)/s or (onehot - softmax(mu))/s. */
static void compute_pull(ref_engine *e, int i, int64_t row, const double *s)
{
    const int64_t d = e->shape.width[i];
    if (i < top(e)) {
        for (int64_t a = 0; a < d; a++) e->pull[i][a] = (e->latent[i][a] - e->mean[i][a]) / s[i - 1];
        return;
    }
    if (e->shape.task == SN_REGRESSION) {
        for (int64_t a = 0; a < d; a++)
            e->pull[i][a] = (e->problem->y[row * d + a] - e->mean[i][a]) / s[i - 1];
        return;
    }
    double largest = e->mean[i][0], sum = 0.0;
    for (int64_t a = 1; a < d; a++) largest = fmax(largest, e->mean[i][a]);
    for (int64_t a = 0; a < d; a++) sum += exp(e->mean[i][a] - largest);
    for (int64_t a = 0; a < d; a++)
        e->pull[i][a] = ((a == e->problem->label[row]) - exp(e->mean[i][a] - largest) / sum) / s[i - 1];
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

/* Y_i = mu_i from the input up; the response's mean too. */
static void forward(ref_engine *e, int64_t row)
{
    for (int64_t j = 0; j < e->shape.width[0]; j++)
        e->psi[0][j] = sn_psi(e->shape.input_activation, (double)e->problem->x[row * e->shape.width[0] + j]);
    for (int i = 1; i <= top(e); i++) {
        compute_mean(e, i);
        if (i == top(e)) break;
        memcpy(e->latent[i], e->mean[i], (size_t)e->shape.width[i] * sizeof(double));
        compute_psi(e, i);
    }
}

/* Mode start: r_i = g_i by one backward pass at the forward state, then Y_i = mu_i + s_i g_i with mu_i from
   the forward pass. */
static void move_to_mode(ref_engine *e, int64_t row, const double *s)
{
    compute_pull(e, top(e), row, s);
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
static void move(ref_engine *e, int i, int64_t row, const sn_iteration *it, int sweep)
{
    const sn_dynamics *dyn = it->dynamics;
    const double epsilon = dyn->epsilon[i - 1], alpha = dyn->alpha[i - 1];
    compute_mean(e, i + 1);
    compute_pull(e, i + 1, row, dyn->s);
    pull_back(e, i);
    compute_mean(e, i);
    for (int64_t a = 0; a < e->shape.width[i]; a++) {
        double *y = &e->latent[i][a], *v = &e->speed[i][a];
        const double g = e->force[i][a] - (*y - e->mean[i][a]) / dyn->s[i - 1];
        const double noise = sn_noise_normal(e->seed, SN_STREAM_IMPUTE, (uint32_t)row, (uint32_t)i,
                                             (uint32_t)a, it->number, (uint32_t)sweep);
        const double before = *v;
        *v = (1.0 - alpha) * before + epsilon * g + sqrt(2.0 * alpha) * noise;
        *y += epsilon * (dyn->integrator == SN_SYMPLECTIC ? *v : before);
    }
    compute_psi(e, i);
}

static double output_loss(const ref_engine *e, int64_t row)
{
    const int64_t d = e->shape.width[top(e)];
    const double *mu = e->mean[top(e)];
    double sum = 0.0;
    if (e->shape.task == SN_REGRESSION) {
        for (int64_t a = 0; a < d; a++) sum += pow(e->problem->y[row * d + a] - mu[a], 2.0);
        return sum / 2.0;
    }
    double largest = mu[0];
    for (int64_t a = 1; a < d; a++) largest = fmax(largest, mu[a]);
    for (int64_t a = 0; a < d; a++) sum += exp(mu[a] - largest);
    return log(sum) + largest - mu[e->problem->label[row]];
}

/* Step 1 for one row; returns its output loss at the forward pass. */
static double impute_row(ref_engine *e, int64_t row, const sn_iteration *it)
{
    forward(e, row);
    const double loss = output_loss(e, row);
    if (it->dynamics->start == SN_START_MODE) move_to_mode(e, row, it->dynamics->s);
    for (int i = 1; i < top(e); i++) memset(e->speed[i], 0, (size_t)e->shape.width[i] * sizeof(double));
    for (int sweep = 0; sweep < it->dynamics->sweeps; sweep++)
        for (int i = top(e) - 1; i >= 1; i--) move(e, i, row, it, sweep);
    return loss;
}

/* Adds this row's r_i psi_{i-1}' and r_i of every layer to the direction. */
static void add_gradient(ref_engine *e, int64_t row, const double *s)
{
    for (int i = 1; i <= top(e); i++) {
        const int64_t in = e->shape.width[i - 1], out = e->shape.width[i];
        double *dw = e->direction + e->shape.weight_at[i - 1], *db = e->direction + e->shape.bias_at[i - 1];
        compute_mean(e, i);
        compute_pull(e, i, row, s);
        for (int64_t a = 0; a < out; a++) {
            for (int64_t j = 0; j < in; j++) dw[a * in + j] += e->pull[i][a] * e->psi[i - 1][j];
            db[a] += e->pull[i][a];
        }
    }
}

static double shrink(double w, double by)
{
    return w > by ? w - by : w < -by ? w + by : 0.0;
}

/* Step 2, from the summed gradient in `direction`; returns whether all parameters are finite. */
static bool apply_update(ref_engine *e, const sn_update *up, int64_t count)
{
    bool finite = true;
    for (int i = 0; i < e->shape.layers; i++) {
        const int64_t weights = e->shape.width[i] * e->shape.width[i + 1];
        for (int64_t j = 0; j < weights + e->shape.width[i + 1]; j++) { /* biases follow their weights */
            const int64_t at = e->shape.weight_at[i] + j;
            const bool is_weight = j < weights;
            double *theta = &e->theta[at], *d = &e->direction[at], *u = &e->velocity[at];
            *d = up->scale[i] * *d / (double)count - (is_weight ? up->decay * *theta : 0.0);
            *u = up->momentum * *u + *d;
            *theta += up->rate[i] * *u;
            if (is_weight && up->l1 > 0.0) *theta = shrink(*theta, up->rate[i] * up->l1);
            finite = finite && isfinite(*theta);
        }
    }
    return finite;
}

static stonet_status ref_step(sn_engine *engine, const sn_iteration *it, sn_step_report *report)
{
    ref_engine *e = (ref_engine *)engine;
    memset(e->direction, 0, (size_t)e->shape.parameters * sizeof(double));
    double loss = 0.0;
    for (int64_t k = 0; k < it->count; k++) {
        const int64_t row = it->rows != NULL ? it->rows[k] : k;
        loss += impute_row(e, row, it);
        add_gradient(e, row, it->dynamics->s);
    }
    report->loss = loss / (double)it->count;
    report->finite = apply_update(e, it->update, it->count) && isfinite(report->loss);
    return STONET_OK;
}

static stonet_status ref_impute(sn_engine *engine, const sn_iteration *it, int layer, float *out)
{
    ref_engine *e = (ref_engine *)engine;
    const int64_t d = e->shape.width[layer];
    for (int64_t k = 0; k < it->count; k++) {
        impute_row(e, it->rows != NULL ? it->rows[k] : k, it);
        for (int64_t a = 0; a < d; a++) out[k * d + a] = (float)e->latent[layer][a];
    }
    return STONET_OK;
}

static void ref_free(sn_engine *engine)
{
    ref_engine *e = (ref_engine *)engine;
    if (e == NULL) return;
    sn_free(e->theta);
    sn_free(e->velocity);
    sn_free(e->direction);
    sn_free(e->work);
    sn_free(e);
}

static stonet_status allocate(ref_engine *e)
{
    int64_t units = 0;
    for (int i = 0; i <= e->shape.layers; i++) units += e->shape.width[i];
    SN_TRY(SN_NEW(e->theta, e->shape.parameters));
    SN_TRY(SN_NEW(e->velocity, e->shape.parameters));
    SN_TRY(SN_NEW(e->direction, e->shape.parameters));
    SN_TRY(SN_NEW(e->work, 6 * units));
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
    (void)threads; /* one row after the other */
    ref_engine *e;
    SN_TRY(SN_NEW(e, 1));
    e->base.ops = &sn_engine_ref;
    e->shape = *shape;
    e->problem = problem;
    e->seed = seed;
    stonet_status status = allocate(e);
    if (status != STONET_OK) {
        ref_free(&e->base);
        return status;
    }
    *out = &e->base;
    return STONET_OK;
}

static void ref_set_parameters(sn_engine *engine, const float *theta)
{
    ref_engine *e = (ref_engine *)engine;
    for (int64_t j = 0; j < e->shape.parameters; j++) e->theta[j] = (double)theta[j];
    memset(e->velocity, 0, (size_t)e->shape.parameters * sizeof(double));
}

static void ref_get_parameters(const sn_engine *engine, float *theta)
{
    const ref_engine *e = (const ref_engine *)engine;
    for (int64_t j = 0; j < e->shape.parameters; j++) theta[j] = (float)e->theta[j];
}

static const double *ref_last_direction(const sn_engine *engine)
{
    return ((const ref_engine *)engine)->direction;
}

const sn_engine_ops sn_engine_ref = {
    .name = "ref",
    .create = ref_create,
    .free = ref_free,
    .set_parameters = ref_set_parameters,
    .get_parameters = ref_get_parameters,
    .step = ref_step,
    .impute = ref_impute,
    .last_direction = ref_last_direction,
};
