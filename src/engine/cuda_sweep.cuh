/*
 * Step 1 of an iteration (engine.h) for R rows, by one block or one cluster of blocks: forward pass from the
 * first layer's mean on, start, all sweeps of all layers, residuals. Everything of the rows stays in shared
 * memory from beginning to end, and so do the weights above the first layer (STAGED), unless they are too
 * many for a cluster: then they are read from the second-level cache. With LAYERS given, not 0, every place
 * in shared memory is a constant of the code.
 *
 * Arrays [unit][row] lie in groups of four units, the units of one call of the noise: group g, row r at
 * g GROUP + 4 r, so that a thread that moves four units of a row reads and writes them at once; the padding
 * after each group keeps threads on different banks. Units are shared out over the blocks of a cluster,
 * `local` to each, those past the width being zeros that nothing reads. psi is kept whole in every block. The
 * output layer is computed by all of them.
 *
 *     mean:   mu_i[local] = b_i + w_i psi_{i-1}              needs psi whole
 *     pull:   force = w_{i+1}' r_{i+1}                       each block over its own units of layer i + 1,
 * its part for each block's units into that block; the move of layer i adds the parts in order of rank
 *
 * A sweep is a chain of short phases with barriers between them, so what counts is the length of each: a
 * layer costs two barriers, the mean of one layer is computed beside the pull of another, noise is drawn
 * before the barrier that its move waits for, and where the outputs are few the threads that move the last
 * hidden layer compute their residual each for itself.
 */
#ifndef SN_ENGINE_CUDA_SWEEP_CUH
#define SN_ENGINE_CUDA_SWEEP_CUH

#include "engine/cuda_output.cuh"

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

/*
 * out[o][row] = bias[o] + sum_k w(o, k) vector[k][row] for o < outs, all rows; depth a multiple of four. The
 * sum is split over 2^shift threads, side by side in a warp, which exchange what they have so that each ends
 * with some of the rows (the ninth of nine in all of them); at most 32. A thread has U of the outs at a time,
 * for each of which it need not read the vector again: that reading is what large products take their time
 * for.
 */
template <int R, int U, typename weights>
static __device__ __forceinline__ void product(const team &who, int outs, int depth, weights w,
                                               const float *vector, const float *bias, float *out, int shift)
{
    enum { GROUP = group_size<R>::value, EVEN = R == 9 ? 8 : R /* a power of two; the rest after them */ };
    const int split = 1 << shift, s = who.thread & (split - 1), each = who.size >> shift, groups = depth >> 2;
    for (int base = 0; base < outs; base += each * U) {
        const int first = base + (who.thread >> shift);
        float sum[U][R];
#pragma unroll
        for (int u = 0; u < U; u++)
#pragma unroll
            for (int r = 0; r < R; r++) sum[u][r] = 0.0F;
        if (first < outs) {
#pragma unroll(U > 1 ? 1 : 2)
            for (int g = s; g < groups; g += split) {
                float4 wanted[U];
#pragma unroll
                for (int u = 0; u < U; u++) {
                    const int o = U > 1 && first + u * each >= outs ? first : first + u * each;
                    wanted[u] = make_float4(w(o, 4 * g), w(o, 4 * g + 1), w(o, 4 * g + 2), w(o, 4 * g + 3));
                }
                const float4 *from = (const float4 *)(vector + g * GROUP);
#pragma unroll
                for (int r = 0; r < R; r++) {
                    const float4 v = from[r];
#pragma unroll
                    for (int u = 0; u < U; u++)
                        sum[u][r] = fmaf(wanted[u].x, v.x,
                                         fmaf(wanted[u].y, v.y,
                                              fmaf(wanted[u].z, v.z, fmaf(wanted[u].w, v.w, sum[u][r]))));
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
                const float add = bias != nullptr ? bias[o] : 0.0F;
                float *to = out + (o >> 2) * GROUP + (o & 3);
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
static __device__ __forceinline__ void any_product(const team &who, int large, int outs, int depth, weights w,
                                                   const float *vector, const float *bias, float *out,
                                                   int shift)
{
    if (R >= 4 && large)
        product<R, 4>(who, outs, depth, w, vector, bias, out, shift);
    else
        product<R, 1>(who, outs, depth, w, vector, bias, out, shift);
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
        any_product<R>(whole_block(), me.mean_large, me.local, depth, w, psi, bias, mean, me.mean_split);
    } else {
        const far_weights w = {a.theta + a.weight_at[i], below.width, 1, me.width, below.width};
        product<R, 1>(whole_block(), me.local, depth, w, psi, bias, mean, 5);
    }
}

/* force = w' r of layer i + 1 for the units of layer i: below the output layer, which every block has, the
   whole for its own units; else this block's part for the units of each. */
template <int R, bool STAGED>
static __device__ __forceinline__ void pull_layer(const sweep_arguments &a, const sweep_block &s, int i,
                                                  bool below_top)
{
    const sweep_layer &me = a.layer[i], &above = a.layer[i + 1];
    const float *pull = s.memory + above.pull, *none = nullptr;
    float *force = s.memory + a.force;
    if (!STAGED) {
        const far_weights w = {a.theta + a.weight_at[i + 1], 1, me.width, me.width, above.width};
        product<R, 1>(whole_block(), me.local, above.local, w, pull, none, force, 0);
        return;
    }
    const float *weights = s.memory + above.weights;
    if (below_top || a.ranks == 1) {
        const staged_weights w = {weights + s.rank * me.local * above.stride, above.stride, 1};
        any_product<R>(whole_block(), me.pull_large, me.local, above.local, w, pull, none, force,
                       me.pull_split);
        return;
    }
    /* as many threads for each block of the cluster */
    const int part = me.local / 4 * group_size<R>::value, size = (int)blockDim.x / a.ranks;
    const int to = (int)threadIdx.x / size;
    const staged_weights w = {weights + to * me.local * above.stride, above.stride, 1};
    any_product<R>({(int)threadIdx.x % size, size}, me.pull_large, me.local, above.local, w, pull, none,
                   shared_of(force + s.rank * part, to), me.pull_split);
}

/* r of the output layer, a few threads a row; the losses too, the first time. Threads past the last row have
   outputs to share none of: they take part in the sums alone. */
template <int R>
static __device__ void output_pull(const sweep_arguments &a, const sweep_block &s, bool with_loss)
{
    const int top = a.layers - 1, lanes = 1 << a.output_lanes, each = (int)blockDim.x >> a.output_lanes;
    const sn_cuda_dynamics &d = a.head->dynamics;
    for (int base = 0; base < R; base += each) {
        const int row = base + ((int)threadIdx.x >> a.output_lanes);
        const bool used = row < R;
        const output_row o = {s.memory + a.layer[top].mean,
                              s.memory + a.response,
                              s.memory + a.layer[top].pull,
                              d.over_s[top],
                              used ? row : 0,
                              (int)threadIdx.x & (lanes - 1),
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

/* w' r of four units of layer i at `at`, all blocks' parts of it. */
template <int R>
static __device__ __forceinline__ float4 force_at(const sweep_arguments &a, const sweep_block &s, int i,
                                                  int at)
{
    const float *force = s.memory + a.force + at;
    float4 sum = *(const float4 *)force;
    if (i == a.layers - 2) return sum;
    const int part = a.layer[i].local / 4 * group_size<R>::value;
    for (int rank = 1; rank < a.ranks; rank++) {
        const float4 more = *(const float4 *)(force + rank * part);
        sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
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
        const int at = t / R * GROUP + 4 * (t % R), global = s.rank * groups * GROUP + at;
        const float4 f = force_at<R>(a, s, i, at);
        const float4 slope = slope4(a.activation, *(const float4 *)(s.memory + me.psi + global));
        float4 *latent = (float4 *)(s.memory + me.latent + at), y = *latent;
        const float4 g = make_float4(slope.x * f.x, slope.y * f.y, slope.z * f.z, slope.w * f.w);
        if (i > 0) *(float4 *)(s.memory + me.pull + at) = g;
        y = make_float4(fmaf(g.x, variance, y.x), fmaf(g.y, variance, y.y), fmaf(g.z, variance, y.z),
                        fmaf(g.w, variance, y.w));
        *latent = y;
        spread_psi(a, s, me.psi + global, activate4(a.activation, y));
    }
}

/* The four normals of task t of layer i's move in a sweep. */
template <int R>
static __device__ __forceinline__ void draw_noise(const sweep_arguments &a, const sweep_block &s, int i,
                                                  int sweep, int t, float normal[4])
{
    const int groups = a.layer[i].local / 4;
    if (t < groups * R)
        normals_at(a.seed, (uint32_t)__float_as_int(s.memory[a.number_at + t % R]),
                   (uint32_t)(i + 1) << 20 | (uint32_t)(s.rank * groups + t / R), a.head->iteration,
                   (uint32_t)STREAM_IMPUTE << 16 | (uint32_t)sweep, normal);
}

/* r of the outputs of one row, at most 16, by one thread: of classes or numbers. */
template <int R>
static __device__ __forceinline__ void narrow_pull(const sweep_arguments &a, const sweep_block &s, int row,
                                                   float over_s, float r[16])
{
    enum { GROUP = group_size<R>::value };
    const sweep_layer &top = a.layer[a.layers - 1];
    const float *mean = s.memory + top.mean + 4 * row, *response = s.memory + a.response + 4 * row;
#pragma unroll
    for (int q = 0; q < 4; q++) {
        float4 mu = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        if (4 * q < a.outputs) mu = *(const float4 *)(mean + q * GROUP);
        r[4 * q] = mu.x, r[4 * q + 1] = mu.y, r[4 * q + 2] = mu.z, r[4 * q + 3] = mu.w;
    }
    if (!a.classes) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
            if (4 * q >= a.outputs) break;
            const float4 y = *(const float4 *)(response + q * GROUP); /* 0 past the last, as is mu */
            r[4 * q] = (y.x - r[4 * q]) * over_s, r[4 * q + 1] = (y.y - r[4 * q + 1]) * over_s;
            r[4 * q + 2] = (y.z - r[4 * q + 2]) * over_s, r[4 * q + 3] = (y.w - r[4 * q + 3]) * over_s;
        }
        return;
    }
    const int label = __float_as_int(s.memory[a.label_at + row]);
    float most = r[0], sum = 0.0F;
#pragma unroll
    for (int k = 1; k < 16; k++)
        if (k < a.outputs) most = fmaxf(most, r[k]);
#pragma unroll
    for (int k = 0; k < 16; k++)
        if (k < a.outputs) {
            r[k] = exponential(r[k] - most);
            sum += r[k];
        }
    const float share = __fdividef(over_s, sum);
#pragma unroll
    for (int k = 0; k < 16; k++) r[k] = k < a.outputs ? fmaf(-r[k], share, k == label ? over_s : 0.0F) : 0.0F;
}

/* w' r of four units of the last hidden layer, for few outputs. */
template <int R>
static __device__ __forceinline__ float4 narrow_force(const sweep_arguments &a, const sweep_block &s, int g,
                                                      int row, float over_s)
{
    float r[16];
    const int local = a.layer[a.layers - 2].local;
    const float *weights = s.memory + a.top_rows + 4 * g;
    float4 sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    narrow_pull<R>(a, s, row, over_s, r);
#pragma unroll
    for (int k = 0; k < 16; k++) {
        if (k >= a.outputs) break;
        const float4 w = *(const float4 *)(weights + k * local);
        sum = make_float4(fmaf(w.x, r[k], sum.x), fmaf(w.y, r[k], sum.y), fmaf(w.z, r[k], sum.z),
                          fmaf(w.w, r[k], sum.w));
    }
    return sum;
}

/* One SGHMC update of layer i; leaves r_i for the layer below. early: the noise of the first task. narrow:
   the force is computed here. */
template <int R>
static __device__ __forceinline__ void move_layer(const sweep_arguments &a, const sweep_block &s, int i,
                                                  int sweep, const mover &m, float top_over_s, bool narrow,
                                                  const float early[4])
{
    enum { GROUP = group_size<R>::value };
    const sweep_layer &me = a.layer[i];
    const int groups = me.local / 4;
    const bool euler = a.head->dynamics.euler != 0;
    for (int t = (int)threadIdx.x; t < groups * R; t += (int)blockDim.x) {
        const int row = t % R, g = t / R, at = g * GROUP + 4 * row, global = s.rank * groups * GROUP + at;
        float normal[4] = {early[0], early[1], early[2], early[3]};
        if (t >= (int)blockDim.x) draw_noise<R>(a, s, i, sweep, t, normal);
        const float4 f = narrow ? narrow_force<R>(a, s, g, row, top_over_s) : force_at<R>(a, s, i, at);
        const float4 slope = slope4(a.activation, *(const float4 *)(s.memory + me.psi + global));
        const float4 mean = *(const float4 *)(s.memory + me.mean + at);
        float4 *latent = (float4 *)(s.memory + me.latent + at), *speed = (float4 *)(s.memory + me.speed + at);
        float4 y = *latent, v = *speed;
        move_unit(m, euler, normal[0], f.x, slope.x, mean.x, &y.x, &v.x);
        move_unit(m, euler, normal[1], f.y, slope.y, mean.y, &y.y, &v.y);
        move_unit(m, euler, normal[2], f.z, slope.z, mean.z, &y.z, &v.z);
        move_unit(m, euler, normal[3], f.w, slope.w, mean.w, &y.w, &v.w);
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
    const int top = a.layers - 1, start = a.chunk_first + s.first;
    const sweep_layer &out = a.layer[top], &me = a.layer[0];
    const int begin = top == 0 ? 0 : s.rank * me.local;
    for (int row = (int)threadIdx.x; row < R; row += (int)blockDim.x) {
        const bool used = s.first + row < s.rows;
        const uint32_t place = used ? place_of(a.head, a.place, start + row) : 0;
        const uint32_t number = !used ? 0 : a.head->numbered ? a.number[start + row] : place + a.head->offset;
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
                used && k < a.outputs
                    ? a.data.y[(int64_t)place_of(a.head, a.place, start + row) * a.outputs + k]
                    : 0.0F;
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
        const float over_s = a.head->dynamics.over_s[i];
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

/* The mode start, and the means above the moved latents. */
template <int R, bool STAGED>
static __device__ void start_at_mode(const sweep_arguments &a, const sweep_block &s)
{
    const int top = a.layers - 1;
    for (int i = top - 1; i >= 0; i--) {
        pull_layer<R, STAGED>(a, s, i, i == top - 1);
        sync_all(a);
        move_to_mode<R>(a, s, i);
        sync_all(a);
    }
    for (int i = 1; i <= top; i++) mean_layer<R, STAGED>(a, s, i);
    sync_all(a); /* the first move writes psi that other blocks still read here */
}

/* One sweep. early: the noise of the first task of the last hidden layer, and after it that of the next
 * sweep. */
template <int R, int LAYERS, bool STAGED>
static __device__ __forceinline__ void one_sweep(const sweep_arguments &a, const sweep_block &s, int sweep,
                                                 float early[4])
{
    const int top = (LAYERS > 0 ? LAYERS : a.layers) - 1;
    const float top_over_s = a.head->dynamics.over_s[top];
    const bool narrow = STAGED && a.narrow;
    if (!narrow) {
        output_pull<R>(a, s, false);
        sync_block();
    }
#pragma unroll
    for (int i = top - 1; i >= 0; i--) {
        const mover m = mover_of(a, i);
        if (i < top - 1) draw_noise<R>(a, s, i, sweep, (int)threadIdx.x, early);
        if (i < top - 1 || !narrow) pull_layer<R, STAGED>(a, s, i, i == top - 1);
        if (i + 2 <= top) mean_layer<R, STAGED>(a, s, i + 2);
        if (i < top - 1 || !narrow) sync_all(a);
        move_layer<R>(a, s, i, sweep, m, top_over_s, narrow && i == top - 1, early);
        sync_all(a);
    }
    mean_layer<R, STAGED>(a, s, 1);
    draw_noise<R>(a, s, top - 1, sweep + 1, (int)threadIdx.x, early);
    if (top == 1)
        sync_all(a); /* the next move writes what others may still read */
    else
        sync_block();
}

template <int R, int LAYERS, bool STAGED>
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
        sync_all(a); /* the first move writes psi that other blocks still read in the forward pass */
        if (a.head->dynamics.mode_start) start_at_mode<R, STAGED>(a, s);
        float early[4] = {0.0F, 0.0F, 0.0F, 0.0F};
        const int sweeps = top > 0 ? a.head->dynamics.sweeps : 0;
        if (sweeps > 0) draw_noise<R>(a, s, top - 1, 0, (int)threadIdx.x, early);
        for (int sweep = 0; sweep < sweeps; sweep++) one_sweep<R, LAYERS, STAGED>(a, s, sweep, early);
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
