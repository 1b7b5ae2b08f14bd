/*
 * Step 1 of an iteration (engine.h) for large batches of networks that are narrow above the first layer: one
 * hidden layer, or two of which the second (MIDDLE) has at most 16 units, and at most 16 outputs. L lanes of
 * a warp have a row from beginning to end, so that nobody waits for other warps: a lane has every L-th
 * quartet of the first layer's units, whose Y, v and psi lie in shared memory; unit k of the layer above it,
 * `upper`, belongs to lane k of the L (and those P, 2 P, .. after it), as does output k.
 *
 * A pass over the first layer needs r of the layer above, K of it (at least its width) in every lane, and
 * leaves mu of that layer, of which each lane ends with its own unit's. The weights between them lie in
 * shared memory, [k][unit].
 */
#pragma once

#include "engine/cuda_output.cuh"

enum { WARP_NARROW = 16 /* units of what is narrow */ };

/* Lanes for a layer of K units: a power of two. */
template <int K> struct lanes_for {
    enum { value = K <= 1 ? 1 : K <= 2 ? 2 : K <= 4 ? 4 : K <= 8 ? 8 : 16 };
};

/* Threads of a block, by the registers that K weights of four units take. */
template <int K> struct warp_threads {
    enum { value = K > 10 ? 384 : 512 };
};

/* Shared memory in floats: weights, biases, and then for every row of a warp three arrays of `pitch`. */
struct warp_layout {
    int weights, bias, top_weights, top_bias, state, pitch;
};
static __host__ __device__ __forceinline__ warp_layout warp_places(int units, int upper, int lanes)
{
    warp_layout at;
    const int width = padded(units);
    at.weights = 0;
    at.bias = upper * width;
    at.top_weights = at.bias + WARP_NARROW; /* [upper unit][output] */
    at.top_bias = at.top_weights + WARP_NARROW * WARP_NARROW;
    at.state = at.top_bias + WARP_NARROW;
    /* with four lanes a row, two rows at a time are read: on different banks */
    at.pitch = lanes == 4 && width % 32 != 16 ? (width + 15) / 32 * 32 + 16 : width;
    return at;
}

/* A lane's view of its row. */
struct warp_row {
    float *y, *v, *psi; /* the first layer's, in shared memory */
    const float *mean, *weights;
    uint32_t number;
    int lane, quartets, width; /* of the L; of the first layer */
    int label;
    float response; /* of the lane's output */
    float weight;
};

/* The lane's share of the output layer: r of its output, from mu. loss: the row's, in every lane. */
static __device__ __forceinline__ float lane_residual(const sweep_arguments &a, const warp_row &row,
                                                      int lanes, float mu, float over_s, float *loss)
{
    const int k = row.lane & (lanes - 1);
    const bool used = k < a.outputs;
    if (!a.classes) {
        const float gap = used ? row.response - mu : 0.0F;
        *loss = 0.5F * sum_of(gap * gap, lanes);
        return gap * over_s;
    }
    float most = used ? mu : -3.0e38F;
    for (int mask = lanes / 2; mask > 0; mask /= 2) most = fmaxf(most, shuffle_xor(most, mask));
    const float e = used ? __expf(mu - most) : 0.0F, sum = sum_of(e, lanes);
    const float own = sum_of(k == row.label ? mu : 0.0F, lanes);
    *loss = fmaf(minus_two_log(sum), -0.5F, most - own);
    return fmaf(-e, __fdividef(over_s, sum), k == row.label ? over_s : 0.0F);
}

/* Adds sum[K] of the L lanes of a row; lane l gets number l % P. */
template <int L, int K> static __device__ __forceinline__ float share_sums(const float *part, int lane)
{
    enum { P = lanes_for<K>::value };
    float sum[P];
#pragma unroll
    for (int k = 0; k < P; k++) sum[k] = k < K ? part[k] : 0.0F;
#pragma unroll
    for (int half = P / 2; half > 0; half /= 2) {
        const bool upper = (lane & half) != 0;
#pragma unroll
        for (int k = 0; k < P / 2; k++)
            if (k < half) {
                const float given = shuffle_xor(upper ? sum[k] : sum[k + half], half);
                sum[k] = (upper ? sum[k + half] : sum[k]) + given;
            }
    }
#pragma unroll
    for (int mask = P; mask < L; mask *= 2) sum[0] += shuffle_xor(sum[0], mask);
    return sum[0];
}

enum warp_pass { PASS_SETTLE, PASS_MODE, PASS_MOVE };

/* A pass over the first layer with r[K] of the layer above; returns mu of the lane's unit there. */
template <int L, int K, warp_pass PASS>
static __device__ __forceinline__ float pass_first(const sweep_arguments &a, const warp_row &row,
                                                   const float r[K], int sweep, const mover &m, float bias)
{
    const bool euler = a.rows.head->dynamics.euler != 0;
    const float variance = a.rows.head->dynamics.variance[0];
    const uint32_t iteration = a.rows.head->iteration;
    float part[K];
    set_zero(part);
#pragma unroll 1
    for (int g = row.lane; g < row.quartets; g += L) {
        const float4 mean = __ldg((const float4 *)(row.mean + 4 * g));
        float4 w[K], f = make_float4(0.0F, 0.0F, 0.0F, 0.0F), y = mean, v = f, psi;
        float normal[4];
        if (PASS == PASS_MOVE)
            normals_at(a.seed, row.number, 1U << 20 | (uint32_t)g, iteration,
                       (uint32_t)STREAM_IMPUTE << 16 | (uint32_t)sweep, normal);
#pragma unroll
        for (int k = 0; k < K; k++) w[k] = *(const float4 *)(row.weights + k * row.width + 4 * g);
        if (PASS != PASS_SETTLE) {
#pragma unroll
            for (int k = 0; k < K; k++) f = add4(w[k], r[k], f);
            const float4 slope = slope4(a.activation, *(const float4 *)(row.psi + 4 * g));
            y = *(const float4 *)(row.y + 4 * g);
            if (PASS == PASS_MODE)
                y = add4(product4(slope, f), variance, y);
            else {
                v = *(const float4 *)(row.v + 4 * g);
                move_four(m, euler, normal, {f, slope, mean}, &y, &v);
            }
        }
        psi = activate4(a.activation, y);
        *(float4 *)(row.y + 4 * g) = y;
        *(float4 *)(row.psi + 4 * g) = psi;
        if (PASS != PASS_MODE) *(float4 *)(row.v + 4 * g) = v;
#pragma unroll
        for (int k = 0; k < K; k++) part[k] = dot4(w[k], psi, part[k]);
    }
    return share_sums<L, K>(part, row.lane) + bias;
}

/* The layer above the first one in a lane: its unit of the middle layer, or of the outputs. */
template <int L, int K, bool MIDDLE> struct warp_upper {
    enum { P = lanes_for<K>::value };
    float mean, y, v, psi, residual;
    float normal[4]; /* of the quartet in sweep unit % 4 of four: the neighbours have the others */
    int unit, top_lanes;
    const float *top_weights, *top_bias;

    /* r of the outputs, each lane its own, from what is there. */
    __device__ __forceinline__ float outputs(const sweep_arguments &a, const warp_row &row, float *loss) const
    {
        const float over_s = a.rows.head->dynamics.over_s[a.layers - 1];
        if (!MIDDLE) return lane_residual(a, row, P, mean, over_s, loss);
        const int o = row.lane & (top_lanes - 1);
        float mu = top_bias[o];
#pragma unroll
        for (int k = 0; k < K; k++) mu = fmaf(top_weights[k * WARP_NARROW + o], shuffle_from(psi, k, L), mu);
        return lane_residual(a, row, top_lanes, mu, over_s, loss);
    }
    /* w' r of the outputs for the lane's unit. */
    __device__ __forceinline__ float force(const sweep_arguments &a, float r) const
    {
        float sum = 0.0F;
        for (int o = 0; o < a.outputs; o++)
            sum = fmaf(top_weights[unit * WARP_NARROW + o], shuffle_from(r, o, L), sum);
        return sum;
    }
    __device__ __forceinline__ void settle(const sweep_arguments &a, float mu)
    {
        mean = mu;
        if (!MIDDLE) return;
        y = mu;
        v = 0.0F;
        psi = activate(a.activation, y);
    }
    /* The normal of the lane's unit. Four lanes side by side have the units of a quartet: each of them draws
       all four for another sweep. */
    __device__ __forceinline__ float draw(const sweep_arguments &a, const warp_row &row, int sweep)
    {
        if (sweep % 4 == 0)
            normals_at(a.seed, row.number, 2U << 20 | (uint32_t)(unit / 4), a.rows.head->iteration,
                       (uint32_t)STREAM_IMPUTE << 16 | (uint32_t)(sweep + unit % 4), normal);
        const int from = sweep % 4;
        const float first = shuffle_from(normal[0], from, 4), second = shuffle_from(normal[1], from, 4);
        const float third = shuffle_from(normal[2], from, 4), fourth = shuffle_from(normal[3], from, 4);
        return unit & 2 ? (unit & 1 ? fourth : third) : unit & 1 ? second : first;
    }
    /* r of this layer after it has moved (middle), or as it is. */
    __device__ __forceinline__ void move(const sweep_arguments &a, const warp_row &row, int sweep)
    {
        float loss;
        const float r = outputs(a, row, &loss);
        residual = r;
        if (!MIDDLE) return;
        const sn_cuda_dynamics &d = a.rows.head->dynamics;
        const mover m = mover_of(d, 1);
        const float f = force(a, r), slope = slope_of(a.activation, psi);
        if (sweep < 0) { /* to the mode */
            residual = slope * f;
            y = fmaf(residual, d.variance[1], y);
        } else {
            move_unit(m, d.euler != 0, draw(a, row, sweep), {f, slope, mean}, &y, &v);
            residual = (y - mean) * m.over_s;
        }
        psi = activate(a.activation, y);
    }
    __device__ __forceinline__ void hand_out(float r[K]) const
    {
#pragma unroll
        for (int k = 0; k < K; k++) r[k] = shuffle_from(residual, k, L);
    }
};

/* The weights above the first layer into shared memory. */
static __device__ void stage_narrow(const sweep_arguments &a, const warp_layout &at, float *memory, int lines,
                                    bool middle)
{
    const int units = a.layer[0].width, width = padded(units), upper = a.layer[1].width;
    const float *w = a.theta + a.weight_at[1], *b = a.theta + a.bias_at[1];
    for (int t = (int)threadIdx.x; t < lines * width; t += (int)blockDim.x) {
        const int k = t / width, unit = t % width;
        memory[at.weights + t] = k < upper && unit < units ? w[(int64_t)k * units + unit] : 0.0F;
    }
    for (int t = (int)threadIdx.x; t < WARP_NARROW; t += (int)blockDim.x)
        memory[at.bias + t] = t < upper ? b[t] : 0.0F;
    if (!middle) return;
    const float *top = a.theta + a.weight_at[2], *top_b = a.theta + a.bias_at[2];
    for (int t = (int)threadIdx.x; t < WARP_NARROW * WARP_NARROW; t += (int)blockDim.x) {
        const int k = t / WARP_NARROW, o = t % WARP_NARROW;
        memory[at.top_weights + t] = k < upper && o < a.outputs ? top[o * upper + k] : 0.0F;
    }
    for (int t = (int)threadIdx.x; t < WARP_NARROW; t += (int)blockDim.x)
        memory[at.top_bias + t] = t < a.outputs ? top_b[t] : 0.0F;
}

/* psi and residuals for the update, of row `at` of the chunk. */
template <int L, int K, bool MIDDLE>
static __device__ __forceinline__ void leave_row(const sweep_arguments &a, const warp_row &row,
                                                 const warp_upper<L, K, MIDDLE> &up, float r_top, int64_t at)
{
    const sn_cuda_dynamics &d = a.rows.head->dynamics;
    const float weight = row.weight, scale = d.over_s[0] * weight;
    for (int g = row.lane; g < row.quartets; g += L) {
        const float4 mean = __ldg((const float4 *)(row.mean + 4 * g)), y = *(const float4 *)(row.y + 4 * g);
        *(float4 *)(a.psi[0] + at * row.width + 4 * g) = *(const float4 *)(row.psi + 4 * g);
        *(float4 *)(a.residual[0] + at * row.width + 4 * g) = gap4(y, mean, scale);
    }
    const int upper = a.layer[1].width;
    if (MIDDLE && row.lane < upper) {
        a.psi[1][at * padded(upper) + row.lane] = up.psi;
        a.residual[1][at * padded(upper) + row.lane] = (up.y - up.mean) * d.over_s[1] * weight;
    }
    if (row.lane < a.outputs) a.residual[a.layers - 1][at * padded(a.outputs) + row.lane] = r_top * weight;
}

template <int L, int K, bool MIDDLE>
__global__ void __launch_bounds__((warp_threads<K>::value))
    warp_rows(const __grid_constant__ sweep_arguments a)
{
    enum { EACH = 32 / L };
    typedef warp_upper<L, K, MIDDLE> upper_type;
    float *memory = shared_memory();
    const int units = a.layer[0].width, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    const int team = (int)threadIdx.x % 32 / L, rows = a.rows.count();
    const warp_layout at = warp_places(units, K, L);
    stage_narrow(a, at, memory, K, MIDDLE);
    sync_block();
    warp_row row;
    row.y = memory + at.state + (warp * EACH + team) * 3 * at.pitch;
    row.v = row.y + at.pitch;
    row.psi = row.v + at.pitch;
    row.weights = memory + at.weights;
    row.lane = (int)threadIdx.x % L;
    row.width = padded(units);
    row.quartets = row.width / 4;
    upper_type up;
    up.unit = row.lane & (upper_type::P - 1);
    up.top_weights = memory + at.top_weights;
    up.top_bias = memory + at.top_bias;
    up.top_lanes = 1 << a.output_lanes;
    const float bias = memory[at.bias + up.unit];
    const sn_cuda_dynamics &d = a.rows.head->dynamics;
    const mover m = mover_of(d, 0);
    float r[K], loss;
    for (int tile = (int)blockIdx.x * warps + warp; tile * EACH < rows; tile += (int)gridDim.x * warps) {
        const bool used = tile * EACH + team < rows; /* else it is the last one again, for company */
        const int here = used ? tile * EACH + team : rows - 1, in_batch = a.rows.first + here;
        const uint32_t place = a.rows.place(in_batch);
        const int o = row.lane & (MIDDLE ? up.top_lanes - 1 : (int)upper_type::P - 1);
        row.mean = a.first_mean + (int64_t)here * row.width;
        row.number = a.rows.number(in_batch);
        row.label = a.classes ? a.data.label[place] : 0;
        row.response = !a.classes && o < a.outputs ? a.data.y[(int64_t)place * a.outputs + o] : 0.0F;
        row.weight = a.data.weight != nullptr ? a.data.weight[place] : 1.0F;
        up.settle(a, pass_first<L, K, PASS_SETTLE>(a, row, r, 0, m, bias));
        up.outputs(a, row, &loss);
        if (used && row.lane == 0) a.loss[in_batch] = loss * row.weight;
        if (d.mode_start) {
            up.move(a, row, -1);
            up.hand_out(r);
            up.mean = pass_first<L, K, PASS_MODE>(a, row, r, 0, m, bias);
        }
        for (int sweep = 0; sweep < d.sweeps; sweep++) {
            up.move(a, row, sweep);
            up.hand_out(r);
            up.mean = pass_first<L, K, PASS_MOVE>(a, row, r, sweep, m, bias);
        }
        const float r_top = up.outputs(a, row, &loss);
        if (used) leave_row<L, K, MIDDLE>(a, row, up, r_top, here);
    }
}
