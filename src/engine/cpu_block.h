/*
 * Step 1 of an iteration (engine.h) for one block of rows: gather, forward pass, start, all sweeps of all
 * layers, residuals. Everything of the block stays in the first two caches; nothing is allocated and no other
 * thread is waited for. Included once per instruction set.
 */
#pragma once

#include <math.h>

#include "engine/cpu_kernel.h"
#include "engine/cpu_tile.h"
#include "engine/simd_math.h"
#include "math/noise.h"
#include "net/loss.h"

enum {
    FORCE_UNITS = 24, /* units whose w' r is computed before they move; a multiple of 4 and of TILE_ROWS */
    DEPTH_STEP = 512, /* inputs of the first layer taken at once, so that a panel's part stays in cache */
    FETCH_ROWS = 6,   /* rows prefetched at a time */
    FETCH_LINES = 8,  /* cache lines of a row that are prefetched */
    MAX_VECTORS = SN_PANEL_UNITS / SN_LANES
};

typedef struct block_state {
    const sn_cpu_job *job;
    sn_cpu_scratch *scratch;
    const float *x; /* the block's input rows */
    float *psi[SN_MAX_LAYERS];
    int64_t at, rows;           /* place in the chunk; rows in use */
    int64_t lanes;              /* rows in use rounded up to whole vectors: the rows of [unit][row] arrays */
    int64_t fetched, fetch_end; /* rows of the next block prefetched so far; its end */
    int top;                    /* index of the output layer */
    philox_keys keys;
    noise_state noise[MAX_VECTORS];
    uint32_t row[SN_PANEL_UNITS];   /* the data row of each lane */
    uint32_t label[SN_PANEL_UNITS]; /* its class */
} block_state;

static const float zeros[SN_PANEL_UNITS];

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

typedef float quad __attribute__((vector_size(16)));

/* to[c][r] = from[r][c] for r < rows, c < columns, both multiples of four. */
static void transpose(const float *from, int64_t from_stride, int64_t rows, int64_t columns, float *to,
                      int64_t to_stride)
{
    for (int64_t r = 0; r < rows; r += 4)
        for (int64_t c = 0; c < columns; c += 4) {
            quad a[4];
            for (int k = 0; k < 4; k++) memcpy(&a[k], from + (r + k) * from_stride + c, sizeof a[k]);
            quad low01 = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5);
            quad low23 = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5);
            quad high01 = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7);
            quad high23 = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
            quad b[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                         __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                         __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                         __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
            for (int k = 0; k < 4; k++) memcpy(to + (c + k) * to_stride + r, &b[k], sizeof b[k]);
        }
}

/* Prefetches a few rows of the block that this thread is likely to work on next. In a large table each row is
   a cache miss; the misses pass while the current block is worked on. Only a few rows at a time: a processor
   drops prefetches when too many are open. */
/* no test: hints to the processor, which may be wrong. */
static void fetch_ahead(block_state *s, int64_t count)
{
    const sn_cpu_job *job = s->job;
    const sn_problem *problem = job->problem;
    const float *raw = problem->x != NULL ? problem->x : problem->source->raw;
    const int64_t width = problem->x != NULL ? problem->p : problem->source->raw_width;
    const int64_t line = 64 / (int64_t)sizeof(float), most = least(width, FETCH_LINES * line);
    const int64_t last = least(least(s->fetched + count, s->fetch_end), job->rows);
    for (; s->fetched < last; s->fetched++) {
        const int64_t row = sn_rows_at(job->batch, job->first + s->fetched);
        if (problem->raw != NULL)
            __builtin_prefetch(sn_raw_place(problem->raw, row), 0, 2);
        else if (problem->task == SN_CLASSIFICATION)
            __builtin_prefetch(problem->label + row, 0, 2);
        else
            __builtin_prefetch(problem->y + row * problem->outputs, 0, 2);
        if (raw == NULL) continue;
        const float *x = raw + row * width;
        for (int64_t at = 0; at < most; at += line) __builtin_prefetch(x + at, 0, 2);
        __builtin_prefetch(x + most - 1, 0, 2);
    }
}

/* The responses, or classes, of the block's rows into lanes; unused lanes get 0. */
static void spread_response(block_state *s)
{
    const sn_problem *problem = s->job->problem;
    const int64_t outputs = problem->outputs;
    for (int64_t r = 0; r < s->lanes; r++) {
        const bool used = r < s->rows;
        if (problem->task == SN_CLASSIFICATION)
            s->label[r] = used ? (uint32_t)s->scratch->label[r] : 0;
        else
            for (int64_t k = 0; k < outputs; k++)
                s->scratch->response[k * s->lanes + r] = used ? (float)s->scratch->y[r * outputs + k] : 0.0F;
    }
}

/* Fetches the block's rows: the inputs (unless they lie in order), and outside a forward pass classes or
   responses and weights. */
static void gather(block_state *s)
{
    const sn_cpu_job *job = s->job;
    const sn_problem *problem = job->problem;
    const sn_rows rows = sn_rows_part(job->batch, job->first + s->at, s->rows);
    sn_batch batch = {.row = s->scratch->number, .draw = job->iteration != NULL ? job->iteration->draw : 0};
    if (job->x_copy != NULL) {
        batch.x = job->x_copy + s->at * job->x_stride;
        batch.x_stride = job->x_stride;
    }
    if (job->pass == NULL) {
        if (problem->weight != NULL) batch.weight = s->scratch->weight;
        if (problem->task == SN_CLASSIFICATION)
            batch.label = s->scratch->label;
        else
            batch.y = s->scratch->y;
    }
    sn_batch_fetch(problem, &rows, &batch);
    for (int64_t r = 0; r < s->lanes; r++) s->row[r] = r < s->rows ? (uint32_t)s->scratch->number[r] : 0;
    if (job->pass == NULL) spread_response(s);
    if (job->x_copy != NULL && job->shape->input_activation != SN_IDENTITY)
        for (int64_t k = 0; k < s->rows * job->x_stride; k += SN_LANES)
            store(batch.x + k, activate(job->shape->input_activation, load(batch.x + k)));
    s->x = job->x + s->at * job->x_stride;
}

/* mu_1 = b_1 + w_1 psi_0(x). The lanes of these tiles are units, since x comes as [row][input]. */
static void first_mean(block_state *s)
{
    const sn_cpu_layer *layer = &s->job->layer[0];
    float *corner = s->scratch->corner;
    for (int64_t unit = 0; unit < layer->padded;) {
        const int64_t width = sn_panel_width(layer->padded, unit);
        const float *panel = layer->weights + (layer->inputs + 1) * unit;
        for (int64_t k = 0; k < layer->inputs; k += DEPTH_STEP)
            product(TILE_BENEATH, s->rows, width,
                    &(tile_call){.a = s->x + k,
                                 .a_stride = s->job->x_stride,
                                 .b = panel + k * width,
                                 .b_stride = width,
                                 .start = k == 0 ? panel + layer->inputs * width : corner,
                                 .start_stride = k == 0 ? 0 : width,
                                 .c = corner,
                                 .c_stride = width,
                                 .depth = least(DEPTH_STEP, layer->inputs - k)});
        memset(corner + s->rows * width, 0, (size_t)((s->lanes - s->rows) * width) * sizeof *corner);
        transpose(corner, width, s->lanes, width, s->scratch->mean[0] + unit * s->lanes, s->lanes);
        unit += width;
    }
}

/* mu_{i+1} = b_{i+1} + w_{i+1} psi(Y_i) for layer index i >= 1 of the result. */
static void mean_from_below(block_state *s, int i)
{
    const sn_cpu_layer *layer = &s->job->layer[i];
    for (int64_t unit = 0; unit < layer->outputs;) {
        const int64_t width = sn_panel_width(layer->padded, unit);
        const float *panel = layer->weights + (layer->inputs + 1) * unit;
        product(TILE_BIASED, least(width, layer->outputs - unit), s->lanes,
                &(tile_call){.a = panel,
                             .a_stride = width,
                             .b = s->psi[i - 1],
                             .b_stride = s->lanes,
                             .start = panel + layer->inputs * width,
                             .c = s->scratch->mean[i] + unit * s->lanes,
                             .c_stride = s->lanes,
                             .depth = layer->inputs});
        unit += width;
    }
}

/* force[u] = (w_i' pull)[first + u] for `count` inputs of layer index i. */
static void pull_back(block_state *s, int i, const float *pull, int64_t first, int64_t count)
{
    const sn_cpu_layer *layer = &s->job->layer[i];
    float *force = s->scratch->force;
    for (int64_t unit = 0; unit < layer->outputs;) {
        const int64_t width = sn_panel_width(layer->padded, unit);
        const float *panel = layer->weights + (layer->inputs + 1) * unit;
        product(TILE_BENEATH, count, s->lanes,
                &(tile_call){.a = panel + first * width,
                             .a_stride = width,
                             .b = pull + unit * s->lanes,
                             .b_stride = s->lanes,
                             .start = unit == 0 ? zeros : force,
                             .start_stride = unit == 0 ? 0 : s->lanes,
                             .c = force,
                             .c_stride = s->lanes,
                             .depth = least(width, layer->outputs - unit)});
        unit += width;
    }
}

/* r of the class layer, (onehot(y) - softmax(mu)) / s, into pull; loss not NULL: -log softmax(mu)_y. */
static void class_pull(block_state *s, float over_s, float *pull, float *loss)
{
    const int64_t classes = s->job->layer[s->top].outputs;
    for (int64_t r = 0; r < s->lanes; r += SN_LANES) {
        const float *mean = s->scratch->mean[s->top] + r;
        const vu label = load_words(s->label + r);
        vf most = load(mean), sum = all(0.0F), own = all(0.0F);
        for (int64_t k = 1; k < classes; k++) most = larger(most, load(mean + k * s->lanes));
        for (int64_t k = 0; k < classes; k++) {
            vf e = exp_negative(load(mean + k * s->lanes) - most);
            store(pull + k * s->lanes + r, e);
            sum = sum + e;
        }
        vf share = over_s / sum;
        for (int64_t k = 0; k < classes; k++) {
            vf hit = same_word(label, all_words((uint32_t)k));
            vf e = load(pull + k * s->lanes + r);
            store(pull + k * s->lanes + r, fma_(-e, share, hit * over_s));
            if (loss != NULL) own = fma_(hit, load(mean + k * s->lanes), own);
        }
        if (loss != NULL) store(loss + r, fma_(minus_two_log(sum), all(-0.5F), most - own));
    }
}

/* r of the numeric response, (y - mu) / s, into pull; loss not NULL: |y - mu|^2 / 2. */
static void response_pull(block_state *s, float over_s, float *pull, float *loss)
{
    const int64_t outputs = s->job->layer[s->top].outputs;
    for (int64_t r = 0; r < s->lanes; r += SN_LANES) {
        vf sum = all(0.0F);
        for (int64_t k = 0; k < outputs; k++) {
            const int64_t at = k * s->lanes + r;
            vf gap = load(s->scratch->response + at) - load(s->scratch->mean[s->top] + at);
            store(pull + at, gap * over_s);
            sum = fma_(gap, gap, sum);
        }
        if (loss != NULL) store(loss + r, sum * 0.5F);
    }
}

/* r of location and scale (net/loss.h) into pull; loss not NULL: minus the log density. The exponentials are
   of what is negative: exp(-eta) = exp(LOW - eta) exp(-LOW), exp(beta eta) = exp(beta (eta - HIGH)) exp(beta
   HIGH). */
static void spread_pull(block_state *s, float over_s, float *pull, float *loss)
{
    const sn_dynamics *dynamics = s->job->iteration->dynamics;
    const int64_t targets = s->job->layer[s->top].outputs / 2;
    const float beta = (float)dynamics->beta, spread = (float)dynamics->spread;
    const float low = (float)SN_ETA_LOW, high = (float)SN_ETA_HIGH;
    const float of_low = expf(-low), of_high = expf(beta * high);
    for (int64_t r = 0; r < s->lanes; r += SN_LANES) {
        vf sum = all(0.0F);
        for (int64_t k = 0; k < targets; k++) {
            const int64_t at = k * s->lanes + r, of_eta = (targets + k) * s->lanes + r;
            vf eta = smaller(larger(load(s->scratch->mean[s->top] + of_eta), all(low)), all(high));
            vf gap = load(s->scratch->response + at) - load(s->scratch->mean[s->top] + at);
            vf scaled = gap * (exp_negative(low - eta) * of_low);
            vf ratio = smaller(gap * scaled, all((float)SN_RATIO_MOST));
            vf weight = exp_negative((eta - high) * beta) * (of_high * over_s);
            store(pull + at, weight * scaled);
            store(pull + of_eta, weight * (ratio - 1.0F) * (0.5F * spread));
            sum = sum + ratio + eta;
        }
        if (loss != NULL) store(loss + r, sum * 0.5F);
    }
}

/* The output layer's residual at its current mean, into pull[0]. */
static void output_pull(block_state *s, float *loss)
{
    const float over_s = (float)(1.0 / s->job->iteration->dynamics->s[s->top]);
    if (s->job->problem->task == SN_CLASSIFICATION)
        class_pull(s, over_s, s->scratch->pull[0], loss);
    else if (s->job->shape->spread)
        spread_pull(s, over_s, s->scratch->pull[0], loss);
    else
        response_pull(s, over_s, s->scratch->pull[0], loss);
}

/* psi of layer index i from its latents. */
static void activate_layer(block_state *s, int i)
{
    const sn_activation activation = s->job->shape->activation;
    const int64_t size = s->job->layer[i].outputs * s->lanes;
    for (int64_t at = 0; at < size; at += SN_LANES)
        store(s->psi[i] + at, activate(activation, load(s->scratch->latent[i] + at)));
}

/* Y_i = mu_i and v_i = 0 from the input up, and the output's mean. */
static void forward(block_state *s)
{
    first_mean(s);
    for (int i = 0; i < s->top; i++) {
        const size_t bytes = (size_t)(s->job->layer[i].outputs * s->lanes) * sizeof(float);
        if (i > 0) mean_from_below(s, i);
        memcpy(s->scratch->latent[i], s->scratch->mean[i], bytes);
        memset(s->scratch->speed[i], 0, bytes);
        activate_layer(s, i);
    }
    if (s->top > 0) mean_from_below(s, s->top);
}

/* Mode start: g_i = psi'(Y_i) . (w_{i+1}' g_{i+1}) from the output's residual down, Y_i <- Y_i + s_i g_i;
   then the means above the moved latents. */
static void move_to_mode(block_state *s)
{
    const sn_activation activation = s->job->shape->activation;
    for (int i = s->top - 1; i >= 0; i--) {
        const float *above = s->scratch->pull[(s->top - 1 - i) % 2];
        float *own = s->scratch->pull[(s->top - i) % 2];
        const float variance = (float)s->job->iteration->dynamics->s[i];
        const int64_t units = s->job->layer[i].outputs;
        for (int64_t first = 0; first < units; first += FORCE_UNITS) {
            const int64_t count = least(FORCE_UNITS, units - first);
            pull_back(s, i + 1, above, first, count);
            for (int64_t at = 0; at < count * s->lanes; at += SN_LANES) {
                const int64_t to = first * s->lanes + at;
                vf g = slope(activation, load(s->psi[i] + to)) * load(s->scratch->force + at);
                store(own + to, g);
                store(s->scratch->latent[i] + to, fma_(g, all(variance), load(s->scratch->latent[i] + to)));
            }
        }
        activate_layer(s, i);
    }
    for (int i = 1; i <= s->top; i++) mean_from_below(s, i);
}

typedef struct mover { /* one layer's step, as the inner loop wants it */
    float *latent, *speed, *psi;
    const float *mean;
    float *pull; /* r_i after the move, for the layer below; NULL when there is none */
    float epsilon, keep, kick, over_s;
    bool euler;     /* the position moves by the momentum before the update */
    uint32_t layer; /* 1-based, for the noise */
} mover;

/* Moves units unit .. unit + count - 1 (count <= 4) of all rows: noise, momentum, position, activation. */
SN_INLINE void move_group(sn_activation activation, block_state *s, const mover *m, const float *force,
                          int64_t unit, int count)
{
    const noise_call call =
        noise_group(&s->keys, s->job->iteration->number, m->layer << 20 | (uint32_t)(unit / 4));
    for (int64_t r = 0; r < s->lanes; r += SN_LANES) {
        vf normal[4];
        noise_normals(&s->keys, &s->noise[r / SN_LANES], call, (count + 1) / 2, normal);
#pragma GCC unroll 4
        for (int j = 0; j < count; j++) {
            const int64_t at = (unit + j) * s->lanes + r;
            vf y = load(m->latent + at), before = load(m->speed + at), mean = load(m->mean + at);
            vf g = fma_(slope(activation, load(m->psi + at)), load(force + j * s->lanes + r),
                        (mean - y) * m->over_s);
            vf v = fma_(g, all(m->epsilon), fma_(normal[j], all(m->kick), before * m->keep));
            y = fma_(m->euler ? before : v, all(m->epsilon), y);
            store(m->speed + at, v);
            store(m->latent + at, y);
            store(m->psi + at, activate(activation, y));
            if (m->pull != NULL) store(m->pull + at, (y - mean) * m->over_s);
        }
    }
}

/* Units first .. first + count - 1, in groups of 4, because one call of the noise gives 4 normals. The switch
   makes the size of a group a constant, so that the compiler unrolls its loops. */
SN_INLINE void move_units(sn_activation activation, block_state *s, const mover *m, int64_t first,
                          int64_t count)
{
    for (int64_t u = 0; u < count; u += 4) {
        const float *force = s->scratch->force + u * s->lanes;
        switch (least(4, count - u)) {
        case 1:
            move_group(activation, s, m, force, first + u, 1);
            break;
        case 2:
            move_group(activation, s, m, force, first + u, 2);
            break;
        case 3:
            move_group(activation, s, m, force, first + u, 3);
            break;
        default:
            move_group(activation, s, m, force, first + u, 4);
        }
    }
}

/* One copy of the inner loop per activation. */
#define MOVER(name, activation)                                                                              \
    static void name(block_state *s, const mover *m, int64_t first, int64_t count)                           \
    {                                                                                                        \
        move_units(activation, s, m, first, count);                                                          \
    }
MOVER(move_identity, SN_IDENTITY)
MOVER(move_tanh, SN_TANH)
MOVER(move_relu, SN_RELU)
MOVER(move_sigmoid, SN_SIGMOID)

typedef void (*move_function)(block_state *s, const mover *m, int64_t first, int64_t count);
static const move_function move_functions[4] = {
    [SN_IDENTITY] = move_identity, [SN_TANH] = move_tanh, [SN_RELU] = move_relu, [SN_SIGMOID] = move_sigmoid};

/* One sweep: layers h..1, each with the newest state above it. */
static void sweep(block_state *s, int number)
{
    const sn_dynamics *dynamics = s->job->iteration->dynamics;
    const move_function move = move_functions[s->job->shape->activation];
    for (int64_t r = 0; r < s->lanes; r += SN_LANES)
        s->noise[r / SN_LANES] = noise_rows(&s->keys, load_words(s->row + r), s->job->iteration->number,
                                            (uint32_t)SN_STREAM_IMPUTE << 16 | (uint32_t)number);
    output_pull(s, NULL);
    for (int i = s->top - 1; i >= 0; i--) {
        const float *above = s->scratch->pull[(s->top - 1 - i) % 2];
        const mover m = {.latent = s->scratch->latent[i],
                         .speed = s->scratch->speed[i],
                         .psi = s->psi[i],
                         .mean = s->scratch->mean[i],
                         .pull = i > 0 ? s->scratch->pull[(s->top - i) % 2] : NULL,
                         .epsilon = (float)dynamics->epsilon[i],
                         .keep = (float)(1.0 - dynamics->alpha[i]),
                         .kick = (float)sqrt(2.0 * dynamics->alpha[i]),
                         .over_s = (float)(1.0 / dynamics->s[i]),
                         .euler = dynamics->integrator == SN_EULER,
                         .layer = (uint32_t)i + 1};
        const int64_t units = s->job->layer[i].outputs;
        for (int64_t first = 0; first < units; first += FORCE_UNITS) {
            const int64_t count = least(FORCE_UNITS, units - first);
            pull_back(s, i + 1, above, first, count);
            move(s, &m, first, count);
            fetch_ahead(s, FETCH_ROWS);
        }
        mean_from_below(s, i + 1);
    }
}

/* r_i of layer index i, times the weights, into the chunk's array, turned to [row][unit]; padding units get
   0. */
static void leave_residual(block_state *s, int i)
{
    const sn_cpu_layer *layer = &s->job->layer[i];
    const float over_s = (float)(1.0 / s->job->iteration->dynamics->s[i]);
    float *corner = s->scratch->corner;
    for (int64_t unit = 0; unit < layer->padded;) {
        const int64_t width = sn_panel_width(layer->padded, unit);
        const int64_t used = least(width, layer->outputs - unit) * s->lanes;
        const int64_t from = unit * s->lanes;
        for (int64_t at = 0; at < used; at += SN_LANES)
            store(corner + at, i == s->top ? load(s->scratch->pull[0] + from + at)
                                           : (load(s->scratch->latent[i] + from + at) -
                                              load(s->scratch->mean[i] + from + at)) *
                                                 over_s);
        memset(corner + used, 0, (size_t)(width * s->lanes - used) * sizeof *corner);
        if (s->job->problem->weight != NULL)
            for (int64_t at = 0; at < used; at += SN_LANES)
                store(corner + at, load(corner + at) * load(s->scratch->weight + at % s->lanes));
        transpose(corner, s->lanes, width, s->lanes,
                  layer->residual + s->job->capacity * unit + s->at * width, width);
        unit += width;
    }
}

/* Hands out [unit][row] numbers as rows. */
static void leave_rows(const block_state *s, const float *from, int64_t units)
{
    float *out = s->job->out + (s->job->first + s->at) * units;
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t u = 0; u < units; u++) out[r * units + u] = from[u * s->lanes + r];
}

/* The losses become what they count. */
static void weigh_losses(const block_state *s)
{
    float *loss = s->job->loss + s->at;
    for (int64_t r = 0; s->job->problem->weight != NULL && r < s->rows; r++) loss[r] *= s->scratch->weight[r];
}

static block_state begin_block(const sn_cpu_job *job, sn_cpu_scratch *scratch, int64_t block)
{
    const int64_t most = job->block_rows;
    block_state s = {.job = job, .scratch = scratch, .at = block * most};
    s.rows = least(most, job->rows - s.at);
    s.lanes = whole_vectors(s.rows);
    s.top = job->shape->layers - 1;
    s.keys = philox_schedule(job->seed);
    for (int i = 0; i < s.top; i++) s.psi[i] = job->layer[i].psi + s.at * job->layer[i].outputs;
    s.fetched = s.at + job->threads * most;
    s.fetch_end = s.fetched + most;
    return s;
}

static void impute_block(const sn_cpu_job *job, sn_cpu_scratch *scratch, int64_t block)
{
    block_state state = begin_block(job, scratch, block);
    block_state *s = &state;
    gather(s);
    forward(s);
    output_pull(s, job->loss + s->at);
    weigh_losses(s);
    if (job->iteration->dynamics->start == SN_START_MODE) move_to_mode(s);
    for (int number = 0; number < job->iteration->dynamics->sweeps; number++) sweep(s, number);
    if (job->task == SN_CPU_IMPUTE) {
        leave_rows(s, s->scratch->latent[job->layer_out - 1], job->layer[job->layer_out - 1].outputs);
        return;
    }
    output_pull(s, NULL);
    for (int i = 0; i <= s->top; i++) leave_residual(s, i);
}

/* Y_i += sqrt(s_i) xi for layer index i of a draw. */
static void add_noise(block_state *s, int i)
{
    const sn_pass *pass = s->job->pass;
    const vf sigma = all((float)sqrt(pass->s[i]));
    const int64_t units = s->job->layer[i].outputs;
    for (int64_t r = 0; r < s->lanes; r += SN_LANES)
        s->noise[r / SN_LANES] =
            noise_rows(&s->keys, load_words(s->row + r), pass->draw, (uint32_t)SN_STREAM_DRAWS << 16);
    for (int64_t unit = 0; unit < units; unit += 4) {
        const noise_call call =
            noise_group(&s->keys, pass->draw, (uint32_t)(i + 1) << 20 | (uint32_t)(unit / 4));
        for (int64_t r = 0; r < s->lanes; r += SN_LANES) {
            vf normal[4];
            noise_normals(&s->keys, &s->noise[r / SN_LANES], call, 2, normal);
            for (int64_t j = 0; j < least(4, units - unit); j++) {
                float *y = s->scratch->latent[i] + (unit + j) * s->lanes + r;
                store(y, fma_(normal[j], sigma, load(y)));
            }
        }
    }
}

/* One block of rows through the layers, without the response: mu_i, Y_i (= mu_i, or drawn around it where
   pass->s is set), psi(Y_i). Hands out what the pass wants of its layer, n x d_layer by rows. */
static void forward_block(const sn_cpu_job *job, sn_cpu_scratch *scratch, int64_t block)
{
    block_state state = begin_block(job, scratch, block);
    block_state *s = &state;
    const sn_pass *pass = job->pass;
    const int last = pass->layer - 1;
    gather(s);
    first_mean(s);
    for (int i = 0; i <= last; i++) {
        if (i > 0) mean_from_below(s, i);
        if (i == s->top) break;
        memcpy(scratch->latent[i], scratch->mean[i],
               (size_t)(job->layer[i].outputs * s->lanes) * sizeof(float));
        if (pass->s != NULL) add_noise(s, i);
        if (i < last || pass->activated) activate_layer(s, i);
    }
    const float *from = last == s->top    ? scratch->mean[last]
                        : pass->activated ? s->psi[last]
                                          : scratch->latent[last];
    leave_rows(s, from, job->layer[last].outputs);
}
