/*
 * Step 2 of an iteration (engine.h) for a piece of one layer's parameters: the gradient summed over the rows
 * of the chunk in registers, then momentum, decay, step and shrinkage in the same pass, so that a gradient
 * never exists as an array unless the batch has several chunks. Included once per instruction set.
 *
 * Rows are summed in order, in chains of SN_SUM_ROWS whose sums are added in order: the bits depend on the
 * batch alone.
 */
#ifndef SN_ENGINE_CPU_UPDATE_H
#define SN_ENGINE_CPU_UPDATE_H

#include "engine/cpu_kernel.h"
#include "engine/cpu_tile.h"

typedef struct piece_state {
    const sn_cpu_job *job;
    const sn_cpu_layer *layer;
    int index;           /* of the layer */
    int64_t unit, width; /* the panel */
    int64_t offset;      /* of the panel in the parameter arrays */
    float sum[TILE_ROWS * SN_PANEL_UNITS], part[TILE_ROWS * SN_PANEL_UNITS]; /* [input][unit] */
    vf check; /* becomes NaN with the first number that is not finite */
} piece_state;

static const float no_sum[SN_PANEL_UNITS];
static const float one = 1.0F;

/* part = sum over rows [first, last) of the chunk of psi_{i-1}[k..] r_i', `inputs` rows of the panel. */
static void sum_rows(piece_state *s, int64_t k, int64_t inputs, int64_t first, int64_t last)
{
    const sn_cpu_job *job = s->job;
    tile_call call = {.b = s->layer->residual + job->capacity * s->unit + first * s->width,
                      .b_stride = s->width,
                      .start = no_sum,
                      .c = s->part,
                      .c_stride = s->width,
                      .depth = last - first};
    if (k == s->layer->inputs) { /* the bias: an input that is always 1 */
        call.a = &one;
        product(TILE_BESIDE, 1, s->width, &call);
        return;
    }
    if (s->index == 0) {
        call.a = job->x + first * job->x_stride + k;
        call.a_stride = job->x_stride;
        product(TILE_BESIDE, inputs, s->width, &call);
        return;
    }
    const int64_t stride = job->block_rows;
    const float *psi = job->layer[s->index - 1].psi;
    call.a_stride = stride;
    for (int64_t row = first; row < last; row += stride) {
        call.a = psi + row * s->layer->inputs + k * stride;
        call.b = s->layer->residual + job->capacity * s->unit + row * s->width;
        call.depth = last - row < stride ? last - row : stride;
        product(TILE_BENEATH, inputs, s->width, &call);
        call.start = s->part;
        call.start_stride = s->width;
    }
}

/* u <- momentum u + D, w <- w + rate u, |w| shrinks by rate l1, with D from the summed gradient. */
static void apply(piece_state *s, int64_t k, int64_t inputs)
{
    const sn_update *update = s->job->iteration->update;
    const bool is_weight = k < s->layer->inputs;
    const vf factor = all((float)(update->scale[s->index] / (double)s->job->iteration->count));
    const vf decay = all(is_weight ? (float)-update->decay : 0.0F);
    const vf momentum = all((float)update->momentum), rate = all((float)update->rate[s->index]);
    const vf shrink = all(is_weight ? (float)(update->rate[s->index] * update->l1) : 0.0F);
    const vf zero = all(0.0F);
    float *w = s->layer->weights + s->offset + k * s->width;
    float *u = s->layer->momentum + s->offset + k * s->width;
    for (int64_t at = 0; at < inputs * s->width; at += SN_LANES) {
        const vf old = load(w + at);
        const vf direction = fma_(load(s->sum + at), factor, decay * old);
        const vf speed = fma_(load(u + at), momentum, direction);
        const vf moved = fma_(speed, rate, old);
        s->check = fma_(moved, zero, s->check);
        store(u + at, speed);
        store(w + at, larger(moved - shrink, zero) + smaller(moved + shrink, zero));
    }
}

static void update_rows(piece_state *s, int64_t k, int64_t inputs)
{
    const sn_cpu_job *job = s->job;
    const int64_t size = inputs * s->width;
    float *total = s->layer->sum == NULL ? NULL : s->layer->sum + s->offset + k * s->width;
    bool empty = job->first_chunk;
    if (!empty) memcpy(s->sum, total, (size_t)size * sizeof *total);
    for (int64_t row = 0; row < job->rows; row += SN_SUM_ROWS) {
        sum_rows(s, k, inputs, row, row + SN_SUM_ROWS < job->rows ? row + SN_SUM_ROWS : job->rows);
        if (empty)
            memcpy(s->sum, s->part, (size_t)size * sizeof *s->sum);
        else
            for (int64_t at = 0; at < size; at += SN_LANES)
                store(s->sum + at, load(s->sum + at) + load(s->part + at));
        empty = false;
    }
    if (job->last_chunk)
        apply(s, k, inputs);
    else
        memcpy(total, s->sum, (size_t)size * sizeof *total);
}

static bool update_piece(const sn_cpu_job *job, const sn_cpu_piece *piece)
{
    const sn_cpu_layer *layer = &job->layer[piece->layer];
    piece_state s = {.job = job,
                     .layer = layer,
                     .index = piece->layer,
                     .unit = piece->unit,
                     .width = sn_panel_width(layer->padded, piece->unit),
                     .offset = (layer->inputs + 1) * piece->unit};
    const int64_t weights_end = piece->last < layer->inputs ? piece->last : layer->inputs;
    for (int64_t k = piece->first; k < weights_end; k += TILE_ROWS)
        update_rows(&s, k, weights_end - k < TILE_ROWS ? weights_end - k : TILE_ROWS);
    if (piece->last > layer->inputs) update_rows(&s, layer->inputs, 1);
    bool finite = true;
    for (int lane = 0; lane < SN_LANES; lane++) finite = finite && s.check[lane] == 0.0F;
    return finite;
}

#endif
