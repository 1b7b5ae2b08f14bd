/*
 * Means and pulls (cuda_layers.cuh) of wide layers on Hopper devices: the same sums of split numbers as in
 * cuda_tensor.cuh, by the instructions of cuda_group.cuh. These take the weights from shared memory, line by
 * line along the inner dimension, so the weights are split once a step, and turned for the pulls:
 *
 *     high[unit][k], low[unit][k]     w or w', lines of padded(depth) floats, zeros after the last
 *
 * A block of two groups has 128 rows x 128 units, a group 64 of the rows, whose numbers it splits in
 * registers, those of the next stage while the tensor cores are busy with this one.
 */
#pragma once

#include "engine/cuda_group.cuh"
#include "engine/cuda_layers.cuh"

enum {
    WIDE_ROWS = 128,
    WIDE_UNITS = GROUP_UNITS,
    WIDE_THREADS = 256,
    WIDE_STAGES = 4,
    WIDE_DEPTH = GROUP_DEPTH,
    WIDE_LINE = WIDE_DEPTH + 4, /* of the rows: lanes read different banks */
    WIDE_WEIGHTS = WIDE_UNITS * WIDE_DEPTH,
    WIDE_STAGE = 2 * WIDE_WEIGHTS + WIDE_ROWS * WIDE_LINE,
    WIDE_FLOATS = WIDE_STAGES * WIDE_STAGE + 256 /* to begin at a multiple of 1024 bytes */
};

/* Weights split for one product. */
struct split_job {
    const float *weights; /* [line][depth], or (turned) [depth][line] */
    int lines, depth, turned;
    float *high, *low;
};

struct split_arguments {
    split_job job[2 * SN_CUDA_LAYERS];
};

enum { SPLIT_THREADS = 256 };

static __global__ void __launch_bounds__(SPLIT_THREADS)
    split_weights(const __grid_constant__ split_arguments a)
{
    const split_job &job = a.job[blockIdx.y];
    const int quartets = padded(job.depth) / 4;
    for (int64_t t = (int64_t)blockIdx.x * SPLIT_THREADS + threadIdx.x; t < (int64_t)job.lines * quartets;
         t += (int64_t)gridDim.x * SPLIT_THREADS) {
        /* neighbours read neighbours */
        const int line = (int)(job.turned ? t % job.lines : t / quartets);
        const int k = (int)(job.turned ? t / job.lines : t % quartets) * 4;
        float high[4], low[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int64_t at =
                job.turned ? (int64_t)(k + e) * job.lines + line : (int64_t)line * job.depth + k + e;
            const float w = k + e < job.depth ? job.weights[at] : 0.0F;
            high[e] = high_part(w);
            low[e] = w - high[e];
        }
        const int64_t to = (int64_t)line * quartets * 4 + k;
        *(float4 *)(job.high + to) = make_float4(high[0], high[1], high[2], high[3]);
        *(float4 *)(job.low + to) = make_float4(low[0], low[1], low[2], low[3]);
    }
}

/* What a lane has of 16 rows for a stage, split. */
struct wide_rows {
    float high[WIDE_DEPTH / 8][4], low[WIDE_DEPTH / 8][4];
    __device__ __forceinline__ void take(const float *rows)
    {
        const int lane = (int)threadIdx.x % 32, t = lane / 4, j = lane % 4;
#pragma unroll
        for (int k = 0; k < WIDE_DEPTH / 8; k++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const float x = rows[(t + e % 2 * 8) * WIDE_LINE + 8 * k + j + e / 2 * 4];
                high[k][e] = high_part(x);
                low[k][e] = x - high[k][e];
            }
    }
};

struct wide_tile {
    typedef tile_copy<WIDE_ROWS, WIDE_DEPTH, WIDE_LINE, WIDE_THREADS> row_copy;
    float sum[GROUP_SUMS];
    float *memory;
    int depth, stages;
    operand<batch_lines> in;
    const float *high, *low; /* line 0 of the tile */
    int lines;               /* there are */
    row_copy copy;

    __device__ __forceinline__ float *stage_at(int stage) const
    {
        return memory + stage % WIDE_STAGES * WIDE_STAGE;
    }
    __device__ __forceinline__ const float *own_rows(int stage) const /* of this warp */
    {
        return stage_at(stage) + 2 * WIDE_WEIGHTS + (int)threadIdx.x / 32 * 16 * WIDE_LINE;
    }
    __device__ __forceinline__ void send(int stage) const
    {
        enum { EACH = WIDE_DEPTH / 4, COUNT = WIDE_UNITS * EACH / WIDE_THREADS };
        if (stage < stages) {
            float *to = stage_at(stage);
            const int inner = stage * WIDE_DEPTH, pitch = padded(depth);
            copy.send(in.lines, in.extent, inner, depth, in.aligned, in.any, to + 2 * WIDE_WEIGHTS);
#pragma unroll
            for (int c = 0; c < COUNT; c++) {
                const int at = (int)threadIdx.x + c * WIDE_THREADS, n = at / EACH, q = at % EACH;
                const int there = n < lines && inner + 4 * q < pitch ? 4 : 0;
                const int64_t from = there > 0 ? (int64_t)n * pitch + inner + 4 * q : 0;
                copy_quartet(to + group_place(n, q), high + from, there);
                copy_quartet(to + WIDE_WEIGHTS + group_place(n, q), low + from, there);
            }
        }
        end_copies();
    }
    /* One stage; `next` becomes what the lane has of the following one. */
    __device__ __forceinline__ void multiply_stage(int stage, const wide_rows &now, wide_rows &next)
    {
        float part[GROUP_SUMS];
        const float *weights = stage_at(stage);
        group_begin();
#pragma unroll
        for (int k = 0; k < WIDE_DEPTH / 8; k++) {
            group_add(part, now.low[k], weights, 8 * k, k > 0);
            group_add(part, now.high[k], weights + WIDE_WEIGHTS, 8 * k, true);
            group_add(part, now.high[k], weights, 8 * k, true);
        }
        group_end();
        wait_copies<WIDE_STAGES - 3>();
        group_sees();
        sync_block();
        send(stage + WIDE_STAGES - 1);
        if (stage + 1 < stages) next.take(own_rows(stage + 1));
        group_wait(part);
        add_to(sum, part);
    }
    __device__ __forceinline__ void multiply()
    {
        wide_rows even, odd;
        set_zero(sum);
        copy.aim(in.lines, 0, in.extent);
#pragma unroll
        for (int s = 0; s < WIDE_STAGES - 1; s++) send(s);
        wait_copies<WIDE_STAGES - 2>();
        group_sees();
        sync_block();
        even.take(own_rows(0));
        for (int s = 0; s < stages; s += 2) {
            multiply_stage(s, even, odd);
            if (s + 1 < stages) multiply_stage(s + 1, odd, even);
        }
    }
    /* The tile to memory, where its stages were, in rows of LINE floats. */
    enum { LINE = WIDE_UNITS + 8 };
    __device__ __forceinline__ void lay_down()
    {
        const int lane = (int)threadIdx.x % 32, row = (int)threadIdx.x / 32 * 16 + lane / 4;
        float *to = memory + row * LINE + lane % 4 * 2;
        sync_block();
#pragma unroll
        for (int n = 0; n < WIDE_UNITS / 8; n++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                to[half * 8 * LINE + 8 * n] = sum[4 * n + 2 * half];
                to[half * 8 * LINE + 8 * n + 1] = sum[4 * n + 2 * half + 1];
            }
        sync_block();
    }
};

/* W: a mean (ALONG) or a pull (ACROSS), as in layer_product. */
template <operand_lie W>
__global__ void __launch_bounds__(WIDE_THREADS, 1) wide_product(const __grid_constant__ layer_arguments a)
{
    const int rows = a.rows.count();
    const int row0 = (int)blockIdx.x * WIDE_ROWS, unit0 = (int)blockIdx.y * WIDE_UNITS;
    if (row0 >= rows) return;
    const int tall = rows - row0 < WIDE_ROWS ? rows - row0 : WIDE_ROWS;
    wide_tile tile;
    tile.memory = (float *)(((size_t)shared_memory() + 1023) / 1024 * 1024);
    tile.depth = a.inputs;
    tile.stages = (a.inputs + WIDE_DEPTH - 1) / WIDE_DEPTH;
    tile.in = {input_lines(a, row0), a.in, 0, tall, quartets(a.in, a.in_pitch), SN_PSI_IDENTITY};
    tile.high = a.high + (int64_t)unit0 * padded(a.inputs);
    tile.low = a.low + (int64_t)unit0 * padded(a.inputs);
    tile.lines = a.units - unit0;
    tile.multiply();
    tile.lay_down();
    leave_tile<WIDE_ROWS, WIDE_UNITS, wide_tile::LINE, WIDE_THREADS, 4, W>(a, tile.memory, row0, tall, unit0);
}
