/*
 * Step 1 of an iteration (engine.h) for R rows, by one block or one cluster of blocks: forward pass from the
 * first layer's mean on, start, all sweeps of all layers, residuals. Everything of the rows stays in shared
 * memory from beginning to end, and so do the weights above the first layer (STAGED), unless they are too
 * many for a cluster: then they are read from the second-level cache.
 *
 * Arrays [unit][row] lie in groups of four units, the units of one call of the noise: group g, row r at
 * g GROUP + 4 r, so that a thread that moves four units of a row reads and writes them at once; the padding
 * after each group keeps threads on different banks. Units are shared out over the blocks of a cluster,
 * `local` to each, those past the width being zeros that nothing reads. psi is kept whole in every block. The
 * output layer is computed by all of them.
 *
 *     mean:   mu_i[local] = b_i + w_i psi_{i-1}              needs psi whole
 *     pull:   force = w_{i+1}' r_{i+1}                       each block over its own units of layer i + 1;
 *             the move of layer i adds the blocks' parts in order of rank
 */
#ifndef SN_ENGINE_CUDA_SWEEP_CUH
#define SN_ENGINE_CUDA_SWEEP_CUH

#include "engine/cuda_base.cuh"
#include "engine/cuda_math.cuh"
#include "engine/cuda_module.h"

enum { SWEEP_THREADS = 256, STREAM_IMPUTE = 0, STREAM_DRAWS = 4 /* sn_stream */ };
enum sweep_task { TASK_STEP, TASK_IMPUTE, TASK_FORWARD };

/* What differs from step to step: in device memory, written before the step. */
struct step_head {
    int rows, shards;
    uint32_t first, offset, iteration;
    int listed, numbered; /* places and numbers of the rows follow */
    int border[SN_CUDA_SHARDS + 1];
    sn_cuda_dynamics dynamics;
    sn_cuda_update update;
};

struct row_arrays { /* of a data */
    const float *x, *y, *weight;
    const int32_t *label;
};

/* A layer in shared memory: places in floats. */
struct sweep_layer {
    int width, local;
    int latent, speed, mean, pull, psi; /* psi whole, the rest local */
    int weights, bias, stride;          /* [input][local unit], padded to an odd stride */
};

struct sweep_arguments {
    const step_head *head;
    const uint32_t *place, *number; /* lists of the batch; used if the head says so */
    const float *theta;
    row_arrays data;
    const float *first_mean;         /* [row of the chunk][unit] */
    float *psi[SN_CUDA_LAYERS];      /* out, [row of the chunk][unit] */
    float *residual[SN_CUDA_LAYERS]; /* the same */
    float *loss, *out;
    int chunk_first, chunk_rows; /* the chunk's place in the batch; rows 0: all of it */
    sweep_task task;
    int layer_out, activated, noisy; /* of impute and forward; layer 0-based */
    int layers, activation, classes, spread, outputs;
    int64_t weight_at[SN_CUDA_LAYERS], bias_at[SN_CUDA_LAYERS];
    uint64_t seed;
    int ranks;        /* blocks of a cluster */
    int output_lanes; /* threads that share the output layer of a row, a power of two up to 32 */
    sweep_layer layer[SN_CUDA_LAYERS];
    int force, response, number_at, label_at, weight_row; /* more places */
};

/* From one group of four units to the next. */
template <int R> struct group_size {
    enum { value = R == 1 ? 4 : 4 * R + 4 };
};

struct sweep_block {
    float *memory;
    int rank, first; /* row of the chunk */
    int rows;        /* of the chunk */
};

static __device__ __forceinline__ uint32_t place_of(const step_head *head, const uint32_t *list, int row)
{
    return head->listed ? list[row] : head->first + (uint32_t)row;
}

static __device__ void sync_all(const sweep_arguments &a)
{
    if (a.ranks > 1)
        sync_cluster();
    else
        sync_block();
}

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

/*
 * out[o][row] = bias[o] + sum_k w(o, k) vector[k][row] for o < outs, all rows; depth a multiple of four. The
 * sum is split over `split` threads, side by side in a warp, which exchange what they have so that each ends
 * with some of the rows; a power of two, at most 32.
 */
template <int R, typename weights>
static __device__ void product(int outs, int depth, weights w, const float *vector, const float *bias,
                               float *out, int split)
{
    enum { GROUP = group_size<R>::value };
    const int thread = (int)threadIdx.x, s = thread & (split - 1), each = (int)blockDim.x / split;
    const int groups = depth >> 2;
    for (int base = 0; base < outs; base += each) {
        const int o = base + thread / split;
        const bool used = o < outs;
        float sum[R];
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] = 0.0F;
        if (used) {
#pragma unroll 2
            for (int g = s; g < groups; g += split) {
                const float w0 = w(o, 4 * g), w1 = w(o, 4 * g + 1), w2 = w(o, 4 * g + 2),
                            w3 = w(o, 4 * g + 3);
                const float4 *from = (const float4 *)(vector + g * GROUP);
#pragma unroll
                for (int r = 0; r < R; r++) {
                    const float4 v = from[r];
                    sum[r] = fmaf(w0, v.x, fmaf(w1, v.y, fmaf(w2, v.z, fmaf(w3, v.w, sum[r]))));
                }
            }
        }
        int row = 0;
#pragma unroll
        for (int step = 0; step < 5; step++) {
            if (1 << step >= split) break;
            const int left = R >> step, half = left / 2;
            const bool upper = (s >> step & 1) != 0;
            if (left > 1) {
#pragma unroll
                for (int r = 0; r < R / 2; r++)
                    if (r < half) {
                        const float given = shuffle_xor(upper ? sum[r] : sum[r + half], 1 << step);
                        sum[r] = (upper ? sum[r + half] : sum[r]) + given;
                    }
                row += upper ? half : 0;
            } else
                sum[0] += shuffle_xor(sum[0], 1 << step);
        }
        const int kept = R / split > 1 ? R / split : 1;
        if (used && s < R) {
            const float add = bias != nullptr ? bias[o] : 0.0F;
            float *to = out + (o >> 2) * GROUP + (o & 3);
#pragma unroll
            for (int r = 0; r < R; r++)
                if (r < kept) to[4 * (row + r)] = sum[r] + add;
        }
    }
}

/* Threads that share a sum of `depth` numbers when there are `outs` of them: by the shape alone, so that a
   row comes out the same whatever else is in the batch. */
static __host__ __device__ __forceinline__ int choose_split(int outs, int depth)
{
    int split = 1;
    while (split < 32 && 2 * split * outs <= SWEEP_THREADS && 8 * split <= depth) split *= 2;
    return split;
}

/* mu of layer i (0-based, above the first), of the units this block has. */
template <int R, bool STAGED>
static __device__ void mean_layer(const sweep_arguments &a, const sweep_block &s, int i)
{
    const sweep_layer &me = a.layer[i], &below = a.layer[i - 1];
    const float *psi = s.memory + below.psi, *bias = s.memory + me.bias;
    float *mean = s.memory + me.mean;
    const int depth = below.local * a.ranks;
    if (STAGED) {
        const staged_weights w = {s.memory + me.weights, 1, me.stride};
        product<R>(me.local, depth, w, psi, bias, mean, choose_split(me.local, depth));
    } else {
        const far_weights w = {a.theta + a.weight_at[i], below.width, 1, me.width, below.width};
        product<R>(me.local, depth, w, psi, bias, mean, 32);
    }
}

/* force = w' r of layer i + 1 for the units of layer i: this block's part for all of them, or, below the
   output layer, the whole for its own. */
template <int R, bool STAGED>
static __device__ void pull_layer(const sweep_arguments &a, const sweep_block &s, int i)
{
    const sweep_layer &me = a.layer[i], &above = a.layer[i + 1];
    const bool own = i + 1 == a.layers - 1;
    const int outs = own ? me.local : me.local * a.ranks, first = own ? s.rank * me.local : 0;
    const float *pull = s.memory + above.pull;
    float *force = s.memory + a.force;
    if (STAGED) {
        const staged_weights w = {s.memory + above.weights + first * above.stride, above.stride, 1};
        product<R>(outs, above.local, w, pull, (const float *)nullptr, force,
                   choose_split(outs, above.local));
    } else {
        const far_weights w = {a.theta + a.weight_at[i + 1] + first, 1, me.width, me.width - first,
                               above.width};
        product<R>(outs, above.local, w, pull, (const float *)nullptr, force, 1);
    }
}

/* Over `lanes` threads side by side, a power of two. */
static __device__ __forceinline__ float sum_of(float value, int lanes)
{
    for (int mask = lanes / 2; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
    return value;
}

/* The place of unit k of a row in an array of shared memory. */
template <int R> static __device__ __forceinline__ int unit_at(int k, int row)
{
    return (k >> 2) * group_size<R>::value + 4 * row + (k & 3);
}

/* The output layer of one row, for the threads that share it. */
struct output_row {
    const float *mean, *response;
    float *pull, over_s;
    int row, lane, lanes, outputs;
};

/* r of the class layer, (onehot(y) - softmax(mu)) / s; returns -log softmax(mu)_y. */
template <int R> static __device__ float class_pull(const output_row &o, int label)
{
    float most = -3.0e38F, sum = 0.0F, own = 0.0F;
    for (int k = o.lane; k < o.outputs; k += o.lanes) most = fmaxf(most, o.mean[unit_at<R>(k, o.row)]);
    for (int mask = o.lanes / 2; mask > 0; mask /= 2) most = fmaxf(most, shuffle_xor(most, mask));
    for (int k = o.lane; k < o.outputs; k += o.lanes) {
        const float mu = o.mean[unit_at<R>(k, o.row)], e = exponential(mu - most);
        o.pull[unit_at<R>(k, o.row)] = e;
        sum += e;
        own += k == label ? mu : 0.0F;
    }
    sum = sum_of(sum, o.lanes);
    const float share = o.over_s / sum;
    for (int k = o.lane; k < o.outputs; k += o.lanes) {
        const float e = o.pull[unit_at<R>(k, o.row)];
        o.pull[unit_at<R>(k, o.row)] = fmaf(-e, share, k == label ? o.over_s : 0.0F);
    }
    return fmaf(minus_two_log(sum), -0.5F, most - sum_of(own, o.lanes));
}

/* r of the numeric response, (y - mu) / s; returns |y - mu|^2 / 2. */
template <int R> static __device__ float response_pull(const output_row &o)
{
    float sum = 0.0F;
    for (int k = o.lane; k < o.outputs; k += o.lanes) {
        const float gap = o.response[unit_at<R>(k, o.row)] - o.mean[unit_at<R>(k, o.row)];
        o.pull[unit_at<R>(k, o.row)] = gap * o.over_s;
        sum = fmaf(gap, gap, sum);
    }
    return 0.5F * sum_of(sum, o.lanes);
}

/* r of location and scale (net/loss.h); returns minus the log density. */
template <int R> static __device__ float spread_pull(const output_row &o, float beta, float spread)
{
    const int targets = o.outputs / 2;
    float sum = 0.0F;
    for (int k = o.lane; k < targets; k += o.lanes) {
        const int at = unit_at<R>(k, o.row), of_eta = unit_at<R>(targets + k, o.row);
        const float eta = fminf(fmaxf(o.mean[of_eta], -8.0F), 4.0F); /* SN_ETA_LOW, SN_ETA_HIGH */
        const float gap = o.response[at] - o.mean[at], scaled = gap * exponential(-eta);
        const float ratio = fminf(gap * scaled, 16.0F); /* SN_RATIO_MOST */
        const float weight = exponential(beta * eta) * o.over_s;
        o.pull[at] = weight * scaled;
        o.pull[of_eta] = weight * (ratio - 1.0F) * (0.5F * spread);
        sum += ratio + eta;
    }
    return 0.5F * sum_of(sum, o.lanes);
}

/* r of the output layer, a few threads a row; the losses too, the first time. Threads past the last row have
   outputs to share none of: they take part in the sums alone. */
template <int R>
static __device__ void output_pull(const sweep_arguments &a, const sweep_block &s, bool with_loss)
{
    const int top = a.layers - 1, lanes = a.output_lanes, each = (int)blockDim.x / lanes;
    const sn_cuda_dynamics &d = a.head->dynamics;
    for (int base = 0; base < R; base += each) {
        const int row = base + (int)threadIdx.x / lanes;
        const bool used = row < R;
        const output_row o = {s.memory + a.layer[top].mean,
                              s.memory + a.response,
                              s.memory + a.layer[top].pull,
                              d.over_s[top],
                              used ? row : 0,
                              (int)threadIdx.x % lanes,
                              lanes,
                              used ? a.outputs : 0};
        const float loss = a.classes  ? class_pull<R>(o, __float_as_int(s.memory[a.label_at + o.row]))
                           : a.spread ? spread_pull<R>(o, d.beta, d.spread)
                                      : response_pull<R>(o);
        if (with_loss && used && o.lane == 0 && s.rank == 0 && s.first + row < s.rows)
            a.loss[a.chunk_first + s.first + row] = loss * s.memory[a.weight_row + row];
    }
}

/* psi of four units of layer i into every block. */
static __device__ __forceinline__ void spread_psi(const sweep_arguments &a, const sweep_block &s, int at,
                                                  float4 psi)
{
    if (a.ranks == 1) {
        *(float4 *)(s.memory + at) = psi;
        return;
    }
    for (int rank = 0; rank < a.ranks; rank++) *(float4 *)shared_of(s.memory + at, rank) = psi;
}

static __device__ __forceinline__ float4 activate4(int psi, float4 y)
{
    return make_float4(activate(psi, y.x), activate(psi, y.y), activate(psi, y.z), activate(psi, y.w));
}

/* Y_i = mu_i, in a draw with noise, v_i = 0, psi. */
template <int R> static __device__ void settle_layer(const sweep_arguments &a, const sweep_block &s, int i)
{
    enum { GROUP = group_size<R>::value };
    const sweep_layer &me = a.layer[i];
    const int groups = me.local / 4;
    for (int t = (int)threadIdx.x; t < groups * R; t += (int)blockDim.x) {
        const int row = t % R, g = t / R, at = g * GROUP + 4 * row, global = s.rank * groups + g;
        float4 y = *(const float4 *)(s.memory + me.mean + at);
        if (a.noisy) {
            float normal[4];
            const float sigma = a.head->dynamics.variance[i]; /* of a pass: the standard deviation */
            normals_at(a.seed, (uint32_t)__float_as_int(s.memory[a.number_at + row]),
                       (uint32_t)(i + 1) << 20 | (uint32_t)global, a.head->iteration,
                       (uint32_t)STREAM_DRAWS << 16, normal);
            y = make_float4(fmaf(normal[0], sigma, y.x), fmaf(normal[1], sigma, y.y),
                            fmaf(normal[2], sigma, y.z), fmaf(normal[3], sigma, y.w));
        }
        *(float4 *)(s.memory + me.latent + at) = y;
        *(float4 *)(s.memory + me.speed + at) = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        spread_psi(a, s, me.psi + global * GROUP + 4 * row, activate4(a.activation, y));
    }
}

/* w' r of four units of layer i, all blocks' parts of it. */
static __device__ __forceinline__ float4 force_at(const sweep_arguments &a, const sweep_block &s, int i,
                                                  int local_at, int global_at)
{
    if (i == a.layers - 2 || a.ranks == 1) return *(const float4 *)(s.memory + a.force + local_at);
    float4 sum = *(const float4 *)shared_of(s.memory + a.force + global_at, 0);
    for (int rank = 1; rank < a.ranks; rank++) {
        const float4 part = *(const float4 *)shared_of(s.memory + a.force + global_at, rank);
        sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
    }
    return sum;
}

/* Mode start: g = psi'(Y) . force becomes r_i, and Y_i moves by s_i g. */
template <int R> static __device__ void move_to_mode(const sweep_arguments &a, const sweep_block &s, int i)
{
    enum { GROUP = group_size<R>::value };
    const sweep_layer &me = a.layer[i];
    const int groups = me.local / 4;
    const float variance = a.head->dynamics.variance[i];
    for (int t = (int)threadIdx.x; t < groups * R; t += (int)blockDim.x) {
        const int row = t % R, at = t / R * GROUP + 4 * row,
                  global = (s.rank * groups + t / R) * GROUP + 4 * row;
        const float4 f = force_at(a, s, i, at, global), psi = *(const float4 *)(s.memory + me.psi + global);
        float4 *latent = (float4 *)(s.memory + me.latent + at), y = *latent;
        const float4 g =
            make_float4(slope_of(a.activation, psi.x) * f.x, slope_of(a.activation, psi.y) * f.y,
                        slope_of(a.activation, psi.z) * f.z, slope_of(a.activation, psi.w) * f.w);
        if (i > 0) *(float4 *)(s.memory + me.pull + at) = g;
        y = make_float4(fmaf(g.x, variance, y.x), fmaf(g.y, variance, y.y), fmaf(g.z, variance, y.z),
                        fmaf(g.w, variance, y.w));
        *latent = y;
        spread_psi(a, s, me.psi + global, activate4(a.activation, y));
    }
}

/* The numbers of one layer's move. */
struct mover {
    float epsilon, keep, kick, over_s;
    int psi, euler;
};

/* One unit: momentum, position. */
static __device__ __forceinline__ void move_unit(const mover &m, float normal, float force, float psi,
                                                 float mean, float *y, float *v)
{
    const float before = *v;
    const float g = fmaf(slope_of(m.psi, psi), force, (mean - *y) * m.over_s);
    *v = fmaf(g, m.epsilon, fmaf(normal, m.kick, before * m.keep));
    *y = fmaf(m.euler ? before : *v, m.epsilon, *y);
}

/* One SGHMC update of layer i; leaves r_i for the layer below. */
template <int R>
static __device__ void move_layer(const sweep_arguments &a, const sweep_block &s, int i, int sweep)
{
    enum { GROUP = group_size<R>::value };
    const sweep_layer &me = a.layer[i];
    const sn_cuda_dynamics &d = a.head->dynamics;
    const int groups = me.local / 4;
    const mover m = {d.epsilon[i], d.keep[i], d.kick[i], d.over_s[i], a.activation, d.euler};
    for (int t = (int)threadIdx.x; t < groups * R; t += (int)blockDim.x) {
        const int row = t % R, g = t / R, at = g * GROUP + 4 * row;
        const int global = (s.rank * groups + g) * GROUP + 4 * row;
        float normal[4];
        normals_at(a.seed, (uint32_t)__float_as_int(s.memory[a.number_at + row]),
                   (uint32_t)(i + 1) << 20 | (uint32_t)(s.rank * groups + g), a.head->iteration,
                   (uint32_t)STREAM_IMPUTE << 16 | (uint32_t)sweep, normal);
        const float4 f = force_at(a, s, i, at, global), psi = *(const float4 *)(s.memory + me.psi + global);
        const float4 mean = *(const float4 *)(s.memory + me.mean + at);
        float4 *latent = (float4 *)(s.memory + me.latent + at), *speed = (float4 *)(s.memory + me.speed + at);
        float4 y = *latent, v = *speed;
        move_unit(m, normal[0], f.x, psi.x, mean.x, &y.x, &v.x);
        move_unit(m, normal[1], f.y, psi.y, mean.y, &y.y, &v.y);
        move_unit(m, normal[2], f.z, psi.z, mean.z, &y.z, &v.z);
        move_unit(m, normal[3], f.w, psi.w, mean.w, &y.w, &v.w);
        *latent = y;
        *speed = v;
        spread_psi(a, s, me.psi + global, activate4(a.activation, y));
        if (i > 0)
            *(float4 *)(s.memory + me.pull + at) =
                make_float4((y.x - mean.x) * m.over_s, (y.y - mean.y) * m.over_s, (y.z - mean.z) * m.over_s,
                            (y.w - mean.w) * m.over_s);
    }
}

/* The upper layers' weights into shared memory; units and inputs past the widths are 0. */
static __device__ void stage_weights(const sweep_arguments &a, const sweep_block &s, bool weights)
{
    for (int i = 1; i < a.layers; i++) {
        const sweep_layer &me = a.layer[i], &below = a.layer[i - 1];
        const int first = i == a.layers - 1 ? 0 : s.rank * me.local, inputs = below.local * a.ranks;
        const float *w = a.theta + a.weight_at[i], *b = a.theta + a.bias_at[i];
        for (int unit = (int)threadIdx.x; unit < me.local; unit += (int)blockDim.x)
            s.memory[me.bias + unit] = first + unit < me.width ? b[first + unit] : 0.0F;
        for (int t = (int)threadIdx.x; weights && t < inputs * me.local; t += (int)blockDim.x) {
            const int k = t % inputs, unit = t / inputs;
            s.memory[me.weights + k * me.stride + unit] = k < below.width && first + unit < me.width
                                                              ? w[(int64_t)(first + unit) * below.width + k]
                                                              : 0.0F;
        }
    }
}

/* Who the rows are, what they respond, and the first layer's mean. */
template <int R> static __device__ void gather_rows(const sweep_arguments &a, const sweep_block &s)
{
    const int top = a.layers - 1, start = a.chunk_first + s.first;
    for (int row = (int)threadIdx.x; row < R; row += (int)blockDim.x) {
        const bool used = s.first + row < s.rows;
        const uint32_t place = used ? place_of(a.head, a.place, start + row) : 0;
        const uint32_t number = !used ? 0 : a.head->numbered ? a.number[start + row] : place + a.head->offset;
        s.memory[a.number_at + row] = __int_as_float((int)number);
        s.memory[a.label_at + row] =
            __int_as_float(used && a.data.label != nullptr ? a.data.label[place] : 0);
        s.memory[a.weight_row + row] = used && a.data.weight != nullptr ? a.data.weight[place] : 1.0F;
    }
    for (int t = (int)threadIdx.x; t < R * a.layer[top].local; t += (int)blockDim.x) {
        const int k = t % a.layer[top].local, row = t / a.layer[top].local;
        const bool used = s.first + row < s.rows && k < a.outputs;
        s.memory[a.layer[top].pull + unit_at<R>(k, row)] = 0.0F;
        if (a.data.y == nullptr) continue;
        s.memory[a.response + unit_at<R>(k, row)] =
            used ? a.data.y[(int64_t)place_of(a.head, a.place, start + row) * a.outputs + k] : 0.0F;
    }
    const sweep_layer &me = a.layer[0];
    const int begin = top == 0 ? 0 : s.rank * me.local;
    for (int t = (int)threadIdx.x; t < R * me.local; t += (int)blockDim.x) {
        const int k = t % me.local, row = t / me.local;
        const bool used = s.first + row < s.rows && begin + k < me.width;
        s.memory[me.mean + unit_at<R>(k, row)] =
            used ? a.first_mean[(int64_t)(s.first + row) * me.width + begin + k] : 0.0F;
    }
}

/* Hands out one layer: what(at) of the units this block has. */
template <int R, typename function>
static __device__ void leave_layer(const sweep_arguments &a, const sweep_block &s, int i, float *out,
                                   function what)
{
    const sweep_layer &me = a.layer[i];
    const bool top = i == a.layers - 1;
    if (top && s.rank > 0) return;
    const int begin = top ? 0 : s.rank * me.local;
    for (int t = (int)threadIdx.x; t < R * me.local; t += (int)blockDim.x) {
        const int k = t % me.local, row = t / me.local;
        if (s.first + row < s.rows && begin + k < me.width)
            out[(int64_t)(s.first + row) * me.width + begin + k] = what(unit_at<R>(k, row), row);
    }
}

/* psi and residuals of all layers, for the update. */
template <int R> static __device__ void leave_rows(const sweep_arguments &a, const sweep_block &s)
{
    const float *memory = s.memory, *weight = memory + a.weight_row;
    for (int i = 0; i < a.layers - 1; i++) {
        const sweep_layer &me = a.layer[i];
        const float over_s = a.head->dynamics.over_s[i];
        const int psi = me.psi + s.rank * (me.local / 4) * group_size<R>::value;
        leave_layer<R>(a, s, i, a.psi[i], [=](int at, int) { return memory[psi + at]; });
        const int latent = me.latent, mean = me.mean;
        leave_layer<R>(a, s, i, a.residual[i], [=](int at, int row) {
            return (memory[latent + at] - memory[mean + at]) * over_s * weight[row];
        });
    }
    const int pull = a.layer[a.layers - 1].pull;
    leave_layer<R>(a, s, a.layers - 1, a.residual[a.layers - 1],
                   [=](int at, int row) { return memory[pull + at] * weight[row]; });
}

template <int R> static __device__ void leave_out(const sweep_arguments &a, const sweep_block &s)
{
    const float *memory = s.memory;
    const int from = a.layer_out == a.layers - 1 ? a.layer[a.layer_out].mean : a.layer[a.layer_out].latent;
    const int psi = a.activated ? a.activation : SN_PSI_IDENTITY;
    leave_layer<R>(a, s, a.layer_out, a.out, [=](int at, int) { return activate(psi, memory[from + at]); });
}

/* Y_i = mu_i from the first layer's mean up to layer `last`. */
template <int R, bool STAGED>
static __device__ void forward_pass(const sweep_arguments &a, const sweep_block &s, int last)
{
    for (int i = 0; i <= last; i++) {
        if (i > 0) {
            mean_layer<R, STAGED>(a, s, i);
            sync_block();
        }
        if (i == a.layers - 1) break;
        settle_layer<R>(a, s, i);
        sync_all(a);
    }
}

template <int R, bool STAGED>
static __device__ void all_sweeps(const sweep_arguments &a, const sweep_block &s)
{
    const int top = a.layers - 1;
    for (int sweep = 0; sweep < a.head->dynamics.sweeps; sweep++) {
        output_pull<R>(a, s, false);
        sync_block();
        for (int i = top - 1; i >= 0; i--) {
            pull_layer<R, STAGED>(a, s, i);
            sync_all(a);
            move_layer<R>(a, s, i, sweep);
            sync_all(a);
            mean_layer<R, STAGED>(a, s, i + 1);
            sync_block();
        }
    }
}

template <int R, bool STAGED>
__global__ void __launch_bounds__(SWEEP_THREADS) sweep_rows(const __grid_constant__ sweep_arguments a)
{
    sweep_block s;
    s.memory = shared_memory();
    s.rank = a.ranks > 1 ? cluster_rank() : 0;
    s.first = (int)(blockIdx.x / (unsigned)a.ranks) * R;
    s.rows = a.chunk_rows > 0 ? a.chunk_rows : a.head->rows;
    if (s.first >= s.rows) return; /* the whole cluster */
    const int top = a.layers - 1;
    stage_weights(a, s, STAGED);
    gather_rows<R>(a, s);
    sync_all(a);
    forward_pass<R, STAGED>(a, s, a.task == TASK_FORWARD ? a.layer_out : top);
    if (a.task != TASK_FORWARD) {
        output_pull<R>(a, s, true);
        sync_block();
        if (a.head->dynamics.mode_start) {
            for (int i = top - 1; i >= 0; i--) {
                pull_layer<R, STAGED>(a, s, i);
                sync_all(a);
                move_to_mode<R>(a, s, i);
                sync_all(a);
            }
            for (int i = 1; i <= top; i++) mean_layer<R, STAGED>(a, s, i);
            sync_block();
        }
        all_sweeps<R, STAGED>(a, s);
        if (a.task == TASK_STEP) {
            output_pull<R>(a, s, false);
            sync_block();
            leave_rows<R>(a, s);
        }
    }
    if (a.task != TASK_STEP) leave_out<R>(a, s);
    if (a.ranks > 1) sync_cluster(); /* nobody leaves while others read what it has */
}

#endif
