/*
 * Step 2 of an iteration (engine.h) for a piece of one layer's parameters. The gradient is summed over the
 * rows of the chunk in registers; momentum, decay, step and shrinkage follow in the same pass. So there is no
 * array of gradients, unless the batch has several chunks or the gradient is handed out. Included once per
 * instruction set.
 *
 * The rows of a shard are summed in order, in chains of SN_SUM_ROWS whose sums are added in order. Shards are
 * added by the tree (sums.h), as the segments say: the bits depend on the batch alone.
 */
#pragma once

#include "engine/cpu_kernel.h"
#include "engine/cpu_tile.h"

typedef struct piece_state {
    const sn_cpu_job *job;
    const sn_cpu_layer *layer;
    int index;                                 /* of the layer */
    int64_t unit, width;                       /* the panel */
    int64_t offset;                            /* of the panel in the parameter arrays */
    float (*root)[TILE_ROWS * SN_PANEL_UNITS]; /* gradients of the roots, each [input][unit], and one more
                                                  for a chain */
    vf check;                                  /* becomes NaN with the first number that is not finite */
} piece_state;

static const float no_sum[SN_PANEL_UNITS];
static const float one = 1.0F;

/* sum = over rows [first, last) of the chunk of psi_{i-1}[k..] r_i', `inputs` rows of the panel. */
static void sum_rows(piece_state *s, int64_t k, int64_t inputs, int64_t first, int64_t last, float *sum)
{
    const sn_cpu_job *job = s->job;
    tile_call call = {.b = s->layer->residual + job->capacity * s->unit + first * s->width,
                      .b_stride = s->width,
                      .start = no_sum,
                      .c = sum,
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
    const float *psi = job->layer[s->index - 1].psi;
    for (int64_t row = first; row < last; row += call.depth) { /* up to the end of a block at a time */
        const int64_t within = row % job->block_rows, block = row - within;
        const int64_t rows = job->rows - block < job->block_rows ? job->rows - block : job->block_rows;
        call.a_stride = whole_vectors(rows);
        call.a = psi + block * s->layer->inputs + k * call.a_stride + within;
        call.b = s->layer->residual + job->capacity * s->unit + row * s->width;
        call.depth = (last < block + rows ? last : block + rows) - row;
        product(TILE_BENEATH, inputs, s->width, &call);
        call.start = sum;
        call.start_stride = s->width;
    }
}

/* u <- momentum u + D, w <- w + rate u, |w| shrinks by rate l1, with D from the summed gradient. */
static void apply(piece_state *s, int64_t k, int64_t inputs)
{
    const sn_update *update = s->job->iteration->update;
    const bool is_weight = k < s->layer->inputs;
    const vf factor = all((float)(update->scale[s->index] / s->job->weight));
    const vf decay = all(is_weight ? (float)-update->decay : 0.0F);
    const vf momentum = all((float)update->momentum), rate = all((float)update->rate[s->index]);
    const vf shrink = all(is_weight ? (float)(update->rate[s->index] * update->l1) : 0.0F);
    const vf zero = all(0.0F);
    float *w = s->layer->weights + s->offset + k * s->width;
    float *u = s->layer->momentum + s->offset + k * s->width;
    for (int64_t at = 0; at < inputs * s->width; at += SN_LANES) {
        const vf old = load(w + at);
        const vf direction = fma_(load(s->root[0] + at), factor, decay * old);
        const vf speed = fma_(load(u + at), momentum, direction);
        const vf moved = fma_(speed, rate, old);
        s->check = fma_(moved, zero, s->check);
        store(u + at, speed);
        store(w + at, larger(moved - shrink, zero) + smaller(moved + shrink, zero));
    }
}

static void add(float *to, const float *from, int64_t size)
{
    for (int64_t at = 0; at < size; at += SN_LANES) store(to + at, load(to + at) + load(from + at));
}

/* Adds the rows of one segment to its root, and roots to each other. */
static void sum_segment(piece_state *s, int64_t k, int64_t inputs, const sn_cpu_segment *segment)
{
    const int64_t size = inputs * s->width;
    float *sum = s->root[segment->root], *chain = s->root[SN_MAX_ROOTS];
    bool empty = segment->opens;
    for (int64_t row = segment->begin; row < segment->end; row += SN_SUM_ROWS) {
        const int64_t last = row + SN_SUM_ROWS < segment->end ? row + SN_SUM_ROWS : segment->end;
        sum_rows(s, k, inputs, row, last, empty ? sum : chain);
        if (!empty) add(sum, chain, size);
        empty = false;
    }
    if (empty) memset(sum, 0, (size_t)size * sizeof *sum);
    for (int merge = 0; merge < segment->merges; merge++)
        add(s->root[segment->root - merge - 1], s->root[segment->root - merge], size);
}

static void update_rows(piece_state *s, int64_t k, int64_t inputs)
{
    const sn_cpu_job *job = s->job;
    const int64_t at = s->offset + k * s->width;
    const size_t bytes = (size_t)(inputs * s->width) * sizeof(float);
    for (int r = 0; r < job->roots_before; r++) memcpy(s->root[r], s->layer->sum[r] + at, bytes);
    for (int g = 0; g < job->segments; g++) sum_segment(s, k, inputs, &job->segment[g]);
    if (job->last_chunk && job->task != SN_CPU_ACCUMULATE) {
        apply(s, k, inputs);
        return;
    }
    for (int r = 0; r < job->roots_after; r++) memcpy(s->layer->sum[r] + at, s->root[r], bytes);
}

/* Updates one piece of a layer's weights. False when a weight is no longer finite. */
static bool update_piece(const sn_cpu_job *job, const sn_cpu_piece *piece)
{
    const sn_cpu_layer *layer = &job->layer[piece->layer];
    float root[SN_MAX_ROOTS + 1][TILE_ROWS * SN_PANEL_UNITS] __attribute__((aligned(64)));
    piece_state s = {.job = job,
                     .layer = layer,
                     .index = piece->layer,
                     .unit = piece->unit,
                     .width = sn_panel_width(layer->padded, piece->unit),
                     .offset = (layer->inputs + 1) * piece->unit,
                     .root = root};
    const int64_t weights_end = piece->last < layer->inputs ? piece->last : layer->inputs;
    for (int64_t k = piece->first; k < weights_end; k += TILE_ROWS)
        update_rows(&s, k, weights_end - k < TILE_ROWS ? weights_end - k : TILE_ROWS);
    if (piece->last > layer->inputs) update_rows(&s, layer->inputs, 1);
    bool finite = true;
    for (int lane = 0; lane < SN_LANES; lane++) finite = finite && s.check[lane] == 0.0F;
    return finite;
}
