/*
 * Step 1 of an iteration (engine.h) for large batches, layer by layer: the state of all rows lies in device
 * memory, arrays [row][unit], and every product is a launch that ends with what becomes of it:
 *
 *     mean:  mu_i = b_i + psi_{i-1} w_i'        and, in the forward pass, Y_i = mu_i, v_i = 0, psi_i
 *     pull:  force = r_{i+1} w_{i+1}            and then the move of layer i, or its step to the mode
 *
 * The first layer's mean, whose rows are gathered on the way, is computed so for every large batch.
 */
#pragma once

#include "engine/cuda_output.cuh"
#include "engine/cuda_tensor.cuh"

/* A layer's state, [row of the chunk][unit]. */
struct layer_state {
    float *mean, *latent, *speed, *psi, *pull;
    int pitch;
};

struct layer_arguments {
    chunk_rows rows;
    const float *in; /* x, if the rows are gathered, else [row of the chunk][input] */
    int64_t in_pitch;
    int gathers, in_psi;
    const float *weights, *bias; /* [unit][input]; of a pull, of the layer above */
    const float *high, *low;     /* the weights split (cuda_wide.cuh); NULL: they are not */
    int inputs, units;           /* of the product */
    layer_state state;           /* of the layer whose units they are */
    int settles;                 /* mean: the forward pass */
    int layer, sweep;            /* pull: 0-based; sweep -1: to the mode */
    int activation;
    uint64_t seed;
};

/* Its rows from row0 of the chunk on. */
static __device__ __forceinline__ batch_lines input_lines(const layer_arguments &a, int row0)
{
    return lines_of(a.in, a.in_pitch, a.rows, a.gathers ? a.rows.first + row0 : row0, a.gathers != 0);
}

/* What becomes of four numbers of a mean, units unit .. of a row. */
static __device__ __forceinline__ void leave_mean(const layer_arguments &a, int row, int unit, float4 sum)
{
    const layer_state &to = a.state;
    const int64_t at = (int64_t)row * to.pitch + unit;
    const auto bias = [&](int k) { return unit + k < a.units ? a.bias[unit + k] : 0.0F; };
    const float4 mean = make_float4(sum.x + bias(0), sum.y + bias(1), sum.z + bias(2), sum.w + bias(3));
    *(float4 *)(to.mean + at) = mean;
    if (!a.settles) return;
    *(float4 *)(to.latent + at) = mean;
    *(float4 *)(to.speed + at) = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    *(float4 *)(to.psi + at) = activate4(a.activation, mean);
}

/* Four units of a row as they are. */
struct unit_state {
    float4 psi, latent, mean, speed;
};
static __device__ __forceinline__ unit_state units_at(const layer_state &s, int64_t at)
{
    return {*(const float4 *)(s.psi + at), *(const float4 *)(s.latent + at), *(const float4 *)(s.mean + at),
            *(const float4 *)(s.speed + at)};
}

/* The move of four units by their force f, or their step to the mode. */
static __device__ __forceinline__ void move_by(const layer_arguments &a, int row, int unit, float4 f,
                                               const unit_state &before)
{
    const layer_state &to = a.state;
    const sn_cuda_dynamics &d = a.rows.head->dynamics;
    const int64_t at = (int64_t)row * to.pitch + unit;
    const float4 slope = slope4(a.activation, before.psi), mean = before.mean;
    float4 y = before.latent, v = before.speed, r_own;
    if (a.sweep < 0) {
        const float variance = d.variance[a.layer];
        r_own = product4(slope, f);
        y = add4(r_own, variance, y);
    } else {
        const mover m = mover_of(d, a.layer);
        float normal[4];
        normals_at(a.seed, a.rows.number(a.rows.first + row),
                   (uint32_t)(a.layer + 1) << 20 | (uint32_t)(unit / 4), a.rows.head->iteration,
                   (uint32_t)STREAM_IMPUTE << 16 | (uint32_t)a.sweep, normal);
        move_four(m, d.euler != 0, normal, {f, slope, mean}, &y, &v);
        r_own = gap4(y, mean, m.over_s);
        *(float4 *)(to.speed + at) = v;
    }
    *(float4 *)(to.latent + at) = y;
    *(float4 *)(to.psi + at) = activate4(a.activation, y);
    if (a.layer > 0) *(float4 *)(to.pull + at) = r_own;
}

/* What becomes of a tile of a product, BM rows of BN units that lie in memory in rows of LINE: of a mean (W
   is ALONG) or of a force. Neighbours in a warp have neighbours of a row, so that whole lines of memory are
   read and written; a thread has EACH quartets at a time, whose loads go out together. */
template <int BM, int BN, int LINE, int THREADS, int EACH, operand_lie W>
static __device__ __forceinline__ void leave_tile(const layer_arguments &a, const float *memory, int row0,
                                                  int tall, int unit0)
{
    enum { QUARTETS = BN / 4 };
    for (int first = (int)threadIdx.x; first < BM * QUARTETS; first += EACH * THREADS) {
        unit_state before[EACH];
        const auto there = [&](int e, int *row, int *u) {
            *row = (first + e * THREADS) / QUARTETS;
            *u = (first + e * THREADS) % QUARTETS * 4;
            return *row < tall && unit0 + *u < a.state.pitch;
        };
        int row, u;
        if (W == ACROSS)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                if (there(e, &row, &u))
                    before[e] = units_at(a.state, (int64_t)(row0 + row) * a.state.pitch + unit0 + u);
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            if (!there(e, &row, &u)) continue;
            const float4 sum = *(const float4 *)(memory + row * LINE + u);
            if (W == ALONG)
                leave_mean(a, row0 + row, unit0 + u, sum);
            else
                move_by(a, row0 + row, unit0 + u, sum, before[e]);
        }
    }
}

/* W: how the weights lie, ALONG the inner dimension for a mean, ACROSS it for a pull. */
template <int BM, int BN, int WM, int WN, int STAGES, operand_lie W>
__global__ void __launch_bounds__(32 * WM * WN, (tensor_tile<BM, BN, WM, WN, STAGES, ALONG, W>::BLOCKS))
    layer_product(const __grid_constant__ layer_arguments a)
{
    const int rows = a.rows.count();
    const int row0 = (int)blockIdx.x * BM, unit0 = (int)blockIdx.y * BN;
    if (row0 >= rows) return;
    const int tall = rows - row0 < BM ? rows - row0 : BM, pitch = W == ALONG ? a.inputs : a.units;
    const operand<batch_lines> in = {input_lines(a, row0),       a.in,    0, tall,
                                     quartets(a.in, a.in_pitch), a.in_psi};
    const operand<array_lines> w = {{a.weights, pitch},         a.weights,      unit0, a.units - unit0,
                                    quartets(a.weights, pitch), SN_PSI_IDENTITY};
    typedef tensor_tile<BM, BN, WM, WN, STAGES, ALONG, W> tile_type;
    tile_type tile;
    float *memory = shared_memory();
    tile.multiply(in, w, a.inputs, memory);
    tile.lay_down(memory);
    leave_tile<BM, BN, tile_type::LINE, tile_type::THREADS, 2, W>(a, memory, row0, tall, unit0);
}

/* r of the output layer, and the losses when they are wanted: some threads a row. */
struct output_arguments {
    chunk_rows rows;
    row_arrays data;
    const float *mean;
    float *pull, *loss; /* loss NULL: not now */
    int outputs, output_lanes, top, classes, spread;
    int weighs; /* the last time: r times the row's weight */
};

enum { LAYER_THREADS = 256 };

static __global__ void __launch_bounds__(LAYER_THREADS)
    layer_output(const __grid_constant__ output_arguments a)
{
    const int rows = a.rows.count(), lanes = 1 << a.output_lanes;
    const int row = (int)(blockIdx.x * LAYER_THREADS + threadIdx.x) >> a.output_lanes;
    const bool used = row < rows; /* others take part in the sums alone */
    const int at = used ? row : 0, pitch = padded(a.outputs);
    const uint32_t place = a.rows.place(a.rows.first + at);
    const sn_cuda_dynamics &d = a.rows.head->dynamics;
    const float weight = a.data.weight != nullptr ? a.data.weight[place] : 1.0F;
    const output_row o = {a.mean + (int64_t)at * pitch,
                          a.data.y != nullptr ? a.data.y + (int64_t)place * a.outputs : nullptr,
                          a.pull + (int64_t)at * pitch,
                          d.over_s[a.top] * (a.weighs ? weight : 1.0F),
                          0,
                          (int)threadIdx.x & (lanes - 1),
                          lanes,
                          used ? a.outputs : 0};
    const float loss = a.classes  ? class_pull<1>(o, a.data.label[place])
                       : a.spread ? spread_pull<1>(o, d.beta, d.spread)
                                  : response_pull<1>(o);
    if (a.loss != nullptr && used && o.lane == 0) a.loss[a.rows.first + row] = loss * weight;
}

/* The residuals of the hidden layers for the update, (Y - mu) / s times the row's weight: blockIdx.y the
   layer. */
struct residual_arguments {
    chunk_rows rows;
    const float *weight;
    layer_state state[SN_CUDA_LAYERS];
};

static __global__ void __launch_bounds__(LAYER_THREADS)
    layer_residual(const __grid_constant__ residual_arguments a)
{
    const layer_state &s = a.state[blockIdx.y];
    const int rows = a.rows.count(), each = s.pitch / 4;
    const float over_s = a.rows.head->dynamics.over_s[blockIdx.y];
    for (int64_t t = (int64_t)blockIdx.x * LAYER_THREADS + threadIdx.x; t < (int64_t)rows * each;
         t += (int64_t)gridDim.x * LAYER_THREADS) {
        const int row = (int)(t / each);
        const float scale =
            a.weight != nullptr ? over_s * a.weight[a.rows.place(a.rows.first + row)] : over_s;
        const float4 y = *(const float4 *)(s.latent + 4 * t), mean = *(const float4 *)(s.mean + 4 * t);
        *(float4 *)(s.pull + 4 * t) = gap4(y, mean, scale);
    }
}
