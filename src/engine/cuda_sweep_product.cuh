/* Products of a layer's weights with all rows of a block (cuda_sweep.cuh): means and forces. */
#pragma once

#include "engine/cuda_sweep_rows.cuh"

/* w[unit o, input k] of a layer, or the other way round, in shared memory or in the parameters. */
struct staged_weights {
    const float *at;
    int by_out, by_depth;
    __device__ __forceinline__ float operator()(int o, int k) const
    {
        return at[o * by_out + k * by_depth];
    }
};
struct far_weights {
    const float *at;
    int by_out, by_depth, outs, depth;
    __device__ __forceinline__ float operator()(int o, int k) const
    {
        return o < outs && k < depth ? __ldg(at + (int64_t)o * by_out + (int64_t)k * by_depth) : 0.0F;
    }
};

/* Threads that compute a product together: whole warps. */
struct team {
    int thread, size;
};

/* Of every row: outs sums of depth terms, over vector and, where it is not NULL, bias. */
struct product_job {
    int outs, depth, shift;
    const float *vector, *bias;
    float *out;
};

/*
 * out[o][row] = bias[o] + sum_k w(o, k) vector[k][row] for o < outs, all rows; depth a multiple of four. The
 * sum is split over 2^shift threads, side by side in a warp, which exchange what they have so that each ends
 * with some of the rows (the ninth of nine in all of them); at most 32. A thread has U of
 * the outs at a time, for each of which it need not read the vector again: that reading is what large
 * products take their time for.
 */
template <int R, int U, typename weights>
static __device__ __forceinline__ void product(const team &who, const product_job &job, weights w)
{
    enum {
        GROUP = group_size<R>::value,
        EVEN = R == 9 ? 8 : R /* a power of two; the rest after them */
    };
    const int outs = job.outs, shift = job.shift, split = 1 << shift, s = who.thread & (split - 1);
    const int each = who.size >> shift, groups = job.depth >> 2;
    for (int base = 0; base < outs; base += each * U) {
        const int first = base + (who.thread >> shift);
        float sum[U][R];
        set_zero(sum);
        if (first < outs) {
#pragma unroll(U > 1 ? 1 : 2)
            for (int g = s; g < groups; g += split) {
                float4 wanted[U];
#pragma unroll
                for (int u = 0; u < U; u++) {
                    const int o = U > 1 && first + u * each >= outs ? first : first + u * each;
                    wanted[u] = make_float4(w(o, 4 * g), w(o, 4 * g + 1), w(o, 4 * g + 2), w(o, 4 * g + 3));
                }
                const float4 *from = (const float4 *)(job.vector + g * GROUP);
#pragma unroll
                for (int r = 0; r < R; r++) {
                    const float4 v = from[r];
#pragma unroll
                    for (int u = 0; u < U; u++) sum[u][r] = dot4(wanted[u], v, sum[u][r]);
                }
            }
        }
#pragma unroll
        for (int u = 0; u < U; u++) {
            const int o = first + u * each;
            int row = 0;
#pragma unroll
            for (int step = 0; step < 5; step++) {
                if (step >= shift) break;
                const int left = EVEN >> step, half = left / 2;
                const bool upper = (s >> step & 1) != 0;
                if (left > 1) {
#pragma unroll
                    for (int r = 0; r < EVEN / 2; r++)
                        if (r < half) {
                            const float given = shuffle_xor(upper ? sum[u][r] : sum[u][r + half], 1 << step);
                            sum[u][r] = (upper ? sum[u][r + half] : sum[u][r]) + given;
                        }
                    row += upper ? half : 0;
                } else
                    sum[u][0] += shuffle_xor(sum[u][0], 1 << step);
#pragma unroll
                for (int r = EVEN; r < R; r++) sum[u][r] += shuffle_xor(sum[u][r], 1 << step);
            }
            const int kept = EVEN >> shift > 1 ? EVEN >> shift : 1;
            if (o < outs && s < EVEN) {
                const float add = job.bias != nullptr ? job.bias[o] : 0.0F;
                float *to = job.out + (o >> 2) * GROUP + (o & 3);
#pragma unroll
                for (int r = 0; r < EVEN; r++)
                    if (r < kept) to[4 * (row + r)] = sum[u][r] + add;
#pragma unroll
                for (int r = EVEN; r < R; r++)
                    if (s == 0) to[4 * r] = sum[u][r] + add;
            }
        }
    }
}

/* All threads of the block, the last ones first: the first ones have noise to draw. */
static __device__ __forceinline__ team whole_block()
{
    return {(int)(blockDim.x - 1 - threadIdx.x), (int)blockDim.x};
}

/* U of a product that is large, or is not. */
template <int R, typename weights>
static __device__ __forceinline__ void any_product(const team &who, int large, const product_job &job,
                                                   weights w)
{
    if (R >= 4 && large)
        product<R, 4>(who, job, w);
    else
        product<R, 1>(who, job, w);
}

/* log2 of the threads that share a sum of `depth` numbers when there are `outs` of them: by the shape alone,
   so that a row comes out the same whatever else is in the batch. */
static inline int choose_split(int outs, int depth, int threads)
{
    int shift = 0;
    while (shift < 5 && (2 << shift) * outs <= threads && 8 << shift <= depth) shift++;
    return shift;
}

/* Whether a thread is to have four of the outs. */
static inline int is_large(int outs, int depth)
{
    return outs >= 32 && depth >= 32;
}

/* mu of layer i (0-based, above the first), of the units this block has. */
template <int R, bool STAGED>
static __device__ __forceinline__ void mean_layer(const sweep_arguments &a, const sweep_block &s, int i)
{
    const sweep_layer &me = a.layer[i], &below = a.layer[i - 1];
    const float *psi = s.memory + below.psi, *bias = s.memory + me.bias;
    float *mean = s.memory + me.mean;
    const int depth = below.local * a.ranks;
    if (STAGED) {
        const staged_weights w = {s.memory + me.weights, 1, me.stride};
        any_product<R>(whole_block(), me.mean_large, {me.local, depth, me.mean_split, psi, bias, mean}, w);
    } else {
        const far_weights w = {a.theta + a.weight_at[i], below.width, 1, me.width, below.width};
        product<R, 1>(whole_block(), {me.local, depth, 5, psi, bias, mean}, w);
    }
}

/* force = w' r of layer i + 1 for the units of layer i: below the output layer, which every block has, the
   whole for its own units; else this block's part for the units of each. */
template <int R, bool STAGED>
static __device__ __forceinline__ void pull_layer(const sweep_arguments &a, const sweep_block &s, int i,
                                                  bool below_top)
{
    const sweep_layer &me = a.layer[i], &above = a.layer[i + 1];
    const float *pull = s.memory + above.pull;
    float *force = s.memory + a.force;
    if (!STAGED) {
        const far_weights w = {a.theta + a.weight_at[i + 1], 1, me.width, me.width, above.width};
        product<R, 1>(whole_block(), {me.local, above.local, 0, pull, nullptr, force}, w);
        return;
    }
    const float *weights = s.memory + above.weights;
    product_job job = {me.local, above.local, me.pull_split, pull, nullptr, force};
    if (below_top || a.ranks == 1) {
        const staged_weights w = {weights + s.rank * me.local * above.stride, above.stride, 1};
        any_product<R>(whole_block(), me.pull_large, job, w);
        return;
    }
    /* as many threads for each block of the cluster */
    const int part = me.local / 4 * group_size<R>::value, size = (int)blockDim.x / a.ranks;
    const int to = (int)threadIdx.x / size;
    const staged_weights w = {weights + to * me.local * above.stride, above.stride, 1};
    job.out += to * part;
    any_product<R>({(int)threadIdx.x % size, size}, me.pull_large, job, w);
}
