/* What a block or cluster has in shared memory (cuda_sweep.cuh): the weights above the first layer and the
   rows into it, what is left of the rows out of it. */
#pragma once

#include "engine/cuda_output.cuh"

enum { MOST_RANKS = 8 /* blocks of a cluster */ };

struct sweep_block {
    float *memory;
    int rank, first; /* row of the chunk */
    int rows;        /* of the chunk */
};

static __device__ void sync_all(const sweep_arguments &a)
{
    if (a.ranks > 1)
        sync_cluster();
    else
        sync_block();
}

/* The upper layers' weights into shared memory; units and inputs past the widths are 0. */
static __device__ void stage_weights(const sweep_arguments &a, const sweep_block &s, bool weights)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    for (int i = 1; i < a.layers; i++) {
        const sweep_layer &me = a.layer[i], &below = a.layer[i - 1];
        const int first = i == a.layers - 1 ? 0 : s.rank * me.local, inputs = below.local * a.ranks;
        const float *w = a.theta + a.weight_at[i], *b = a.theta + a.bias_at[i];
        for (int unit = (int)threadIdx.x; unit < me.local; unit += (int)blockDim.x)
            s.memory[me.bias + unit] = first + unit < me.width ? b[first + unit] : 0.0F;
        for (int unit = warp; weights && unit < me.local; unit += warps) {
            const bool used = first + unit < me.width;
            const float *from = w + (int64_t)(used ? first + unit : 0) * below.width;
            float *to = s.memory + me.weights + unit;
#pragma unroll 4
            for (int k = lane; k < inputs; k += 32)
                to[k * me.stride] = used && k < below.width ? from[k] : 0.0F;
        }
    }
    if (!a.narrow) return;
    const sweep_layer &top = a.layer[a.layers - 1], &below = a.layer[a.layers - 2];
    const float *w = a.theta + a.weight_at[a.layers - 1];
    for (int k = 0; k < top.local; k++)
        for (int unit = (int)threadIdx.x; unit < below.local; unit += (int)blockDim.x) {
            const int input = s.rank * below.local + unit;
            s.memory[a.top_rows + k * below.local + unit] =
                k < top.width && input < below.width ? w[(int64_t)k * below.width + input] : 0.0F;
        }
}

/* Who the rows are, what they respond, and the first layer's mean. */
template <int R> static __device__ void gather_rows(const sweep_arguments &a, const sweep_block &s)
{
    const int top = a.layers - 1, start = a.rows.first + s.first;
    const sweep_layer &out = a.layer[top], &me = a.layer[0];
    const int begin = top == 0 ? 0 : s.rank * me.local;
    for (int row = (int)threadIdx.x; row < R; row += (int)blockDim.x) {
        const bool used = s.first + row < s.rows;
        const uint32_t place = used ? a.rows.place(start + row) : 0;
        const uint32_t number = used ? a.rows.number(start + row) : 0;
        s.memory[a.number_at + row] = __int_as_float((int)number);
        s.memory[a.label_at + row] =
            __int_as_float(used && a.data.label != nullptr ? a.data.label[place] : 0);
        s.memory[a.weight_row + row] = used && a.data.weight != nullptr ? a.data.weight[place] : 1.0F;
    }
    for (int row = 0; row < R; row++) {
        const bool used = s.first + row < s.rows;
        for (int k = (int)threadIdx.x; k < me.local; k += (int)blockDim.x)
            s.memory[me.mean + unit_at<R>(k, row)] =
                used && begin + k < me.width
                    ? a.first_mean[(int64_t)(s.first + row) * padded(me.width) + begin + k]
                    : 0.0F;
        for (int k = (int)threadIdx.x; k < out.local; k += (int)blockDim.x) {
            s.memory[out.pull + unit_at<R>(k, row)] = 0.0F;
            if (a.data.y == nullptr) continue;
            s.memory[a.response + unit_at<R>(k, row)] =
                used && k < a.outputs ? a.data.y[(int64_t)a.rows.place(start + row) * a.outputs + k] : 0.0F;
        }
    }
}

/* Hands out one layer, rows `pitch` floats apart: what(at) of the units this block has. */
template <int R, typename function>
static __device__ __forceinline__ void leave_layer(const sweep_arguments &a, const sweep_block &s, int i,
                                                   float *out, int pitch, function what)
{
    const sweep_layer &me = a.layer[i];
    const bool top = i == a.layers - 1;
    if (top && s.rank > 0) return;
    const int begin = top ? 0 : s.rank * me.local;
    for (int row = 0; row < R && s.first + row < s.rows; row++)
        for (int k = (int)threadIdx.x; k < me.local && begin + k < me.width; k += (int)blockDim.x)
            out[(int64_t)(s.first + row) * pitch + begin + k] = what(unit_at<R>(k, row), row);
}

/* psi and residuals of all layers, for the update. */
template <int R> static __device__ void leave_rows(const sweep_arguments &a, const sweep_block &s)
{
    const float *memory = s.memory, *weight = memory + a.weight_row;
    for (int i = 0; i < a.layers - 1; i++) {
        const sweep_layer &me = a.layer[i];
        const float over_s = a.rows.head->dynamics.over_s[i];
        const int psi = me.psi + s.rank * (me.local / 4) * group_size<R>::value;
        leave_layer<R>(a, s, i, a.psi[i], padded(me.width), [=](int at, int) { return memory[psi + at]; });
        const int latent = me.latent, mean = me.mean;
        leave_layer<R>(a, s, i, a.residual[i], padded(me.width), [=](int at, int row) {
            return (memory[latent + at] - memory[mean + at]) * over_s * weight[row];
        });
    }
    const int pull = a.layer[a.layers - 1].pull;
    leave_layer<R>(a, s, a.layers - 1, a.residual[a.layers - 1], padded(a.outputs),
                   [=](int at, int row) { return memory[pull + at] * weight[row]; });
}

template <int R> static __device__ void leave_out(const sweep_arguments &a, const sweep_block &s)
{
    const float *memory = s.memory;
    const int from = a.layer_out == a.layers - 1 ? a.layer[a.layer_out].mean : a.layer[a.layer_out].latent;
    const int psi = a.activated ? a.activation : SN_PSI_IDENTITY;
    leave_layer<R>(a, s, a.layer_out, a.out, a.layer[a.layer_out].width,
                   [=](int at, int) { return activate(psi, memory[from + at]); });
}
