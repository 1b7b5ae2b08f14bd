/* Moves of a layer for all rows of a block (cuda_sweep.cuh): the start, the step to the mode, a sweep's; and
   the residual of the output layer that they begin with. */
#pragma once

#include "engine/cuda_sweep_rows.cuh"

/* r of the output layer, a few threads a row; the losses too, the first time. Threads past the last row have
   outputs to share none of: they take part in the sums alone. */
template <int R>
static __device__ void output_pull(const sweep_arguments &a, const sweep_block &s, bool with_loss)
{
    const int top = a.layers - 1, lanes = 1 << a.output_lanes, each = (int)blockDim.x >> a.output_lanes;
    const sn_cuda_dynamics &d = a.rows.head->dynamics;
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
            a.loss[a.rows.first + s.first + row] = loss * s.memory[a.weight_row + row];
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
            const float sigma = a.rows.head->dynamics.variance[i]; /* of a pass: the standard deviation */
            normals_at(a.seed, (uint32_t)__float_as_int(s.memory[a.number_at + row]),
                       (uint32_t)(i + 1) << 20 | (uint32_t)global, a.rows.head->iteration,
                       (uint32_t)STREAM_DRAWS << 16, normal);
            y = add4(make_float4(normal[0], normal[1], normal[2], normal[3]), sigma, y);
        }
        *(float4 *)(s.memory + me.latent + at) = y;
        *(float4 *)(s.memory + me.speed + at) = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        spread_psi(a, s, me.psi + global * GROUP + 4 * row, activate4(a.activation, y));
    }
}

/* w' r of four units of layer i at `at`, all blocks' parts of it, whose loads go out together. */
template <int R>
static __device__ __forceinline__ float4 force_at(const sweep_arguments &a, const sweep_block &s, int i,
                                                  int at)
{
    float *force = s.memory + a.force + at;
    if (i == a.layers - 2 || a.ranks == 1) return *(const float4 *)force;
    float *mine = force + s.rank * (a.layer[i].local / 4 * group_size<R>::value);
    float4 part[MOST_RANKS], sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
#pragma unroll
    for (int rank = 0; rank < MOST_RANKS; rank++)
        part[rank] = rank < a.ranks ? *(const float4 *)shared_of(mine, rank) : sum;
#pragma unroll
    for (int rank = 0; rank < MOST_RANKS; rank++)
        sum = make_float4(sum.x + part[rank].x, sum.y + part[rank].y, sum.z + part[rank].z,
                          sum.w + part[rank].w);
    return sum;
}

/* The four normals of task t of layer i's move in a sweep. */
template <int R>
static __device__ __forceinline__ void draw_noise(const sweep_arguments &a, const sweep_block &s, int i,
                                                  int sweep, int t, float normal[4])
{
    const int groups = a.layer[i].local / 4;
    if (t < groups * R)
        normals_at(a.seed, (uint32_t)__float_as_int(s.memory[a.number_at + t % R]),
                   (uint32_t)(i + 1) << 20 | (uint32_t)(s.rank * groups + t / R), a.rows.head->iteration,
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
            r[k] = __expf(r[k] - most);
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
        sum = add4(*(const float4 *)(weights + k * local), r[k], sum);
    }
    return sum;
}

/* One layer's turn in a sweep. */
struct layer_move {
    int layer, sweep;
    mover how;
    bool narrow;      /* the force is computed here, */
    float top_over_s; /* from the outputs */
};

/* One SGHMC update of a layer, or (MODE) its step to the mode, by s_i g with g = psi'(Y) . force; leaves its
   r for the layer below. early: the noise of the first task. */
template <int R, bool MODE>
static __device__ __forceinline__ void move_layer(const sweep_arguments &a, const sweep_block &s,
                                                  const layer_move &turn, const float early[4])
{
    enum { GROUP = group_size<R>::value };
    const int i = turn.layer;
    const mover &m = turn.how;
    const sweep_layer &me = a.layer[i];
    const int groups = me.local / 4;
    const bool euler = a.rows.head->dynamics.euler != 0;
    for (int t = (int)threadIdx.x; t < groups * R; t += (int)blockDim.x) {
        const int row = t % R, g = t / R, at = g * GROUP + 4 * row, global = s.rank * groups * GROUP + at;
        float normal[4] = {early[0], early[1], early[2], early[3]};
        if (!MODE && t >= (int)blockDim.x) draw_noise<R>(a, s, i, turn.sweep, t, normal);
        const float4 f =
            turn.narrow ? narrow_force<R>(a, s, g, row, turn.top_over_s) : force_at<R>(a, s, i, at);
        const float4 slope = slope4(a.activation, *(const float4 *)(s.memory + me.psi + global));
        const float4 mean = *(const float4 *)(s.memory + me.mean + at), pull = product4(slope, f);
        float4 *latent = (float4 *)(s.memory + me.latent + at), *speed = (float4 *)(s.memory + me.speed + at);
        float4 y = *latent, v = *speed;
        if (MODE)
            y = add4(pull, a.rows.head->dynamics.variance[i], y);
        else
            move_four(m, euler, normal, {f, slope, mean}, &y, &v);
        *latent = y;
        if (!MODE) *speed = v;
        spread_psi(a, s, me.psi + global, activate4(a.activation, y));
        if (i > 0) *(float4 *)(s.memory + me.pull + at) = MODE ? pull : gap4(y, mean, m.over_s);
    }
}
