/*
 * A step of a large batch but for its update in one launch, for networks that are narrow: at most 64 units in
 * the first layer, 4 in the one above it, 4 outputs, and rows that fit beside them (narrow_places). Nothing
 * of a row goes to device memory: a block has a part of a shard, HELD_ROWS rows at a time, whose x lies in
 * shared memory for both products,
 *
 *     mu[row][unit] = b[unit] + sum_k w[unit][k] x[row][k]          (before the sweeps)
 *     G[unit][k] += sum over rows of r[row][unit] x[row][k]         (after them)
 *
 * in the tensor cores, to float accuracy (cuda_tensor.cuh); a column of ones beside x makes the bias one more
 * weight. The sweeps between are those of cuda_warp.cuh, four lanes a row, with Y, v and psi in registers. A
 * block leaves its sums, [part][parameter]: the HELD_PARTS parts of a shard are added first, then the shards
 * by their tree (apply_sums). They depend on the rows of the part alone, and on no timing.
 */
#pragma once

#include "engine/cuda_tensor.cuh"
#include "engine/cuda_warp.cuh"

enum {
    HELD_ROWS = 128,
    HELD_LANES = 4,
    HELD_UPPER = 4,    /* units above the first layer */
    HELD_QUARTETS = 4, /* of the first layer, of a lane */
    HELD_UNITS = 4 * HELD_LANES * HELD_QUARTETS,
    HELD_THREADS = HELD_LANES * HELD_ROWS,
    HELD_PARTS = 2,
    HELD_PITCH = HELD_UNITS + 4,             /* of a row's r or psi, so that lanes read different banks */
    HELD_SLICES = HELD_THREADS / HELD_UNITS, /* threads that share a weight above the first layer */
    HELD_SMALL = 24 /* sums of what is above that: [output][unit], biases of both layers */
};

struct narrow_arguments {
    sweep_arguments sweep;
    float *partial; /* [part][parameter] */
    double *loss;   /* [part] */
    int64_t parameters;
    int inputs, first_shard, slot; /* slot: of the first shard's first part */
};

/* Shared memory in floats. Rows of x end with the one, and zeros up to `across`. */
struct narrow_layout {
    int depth, across, pitch; /* inputs and the one: in eights, in sixteens; floats of a row */
    int x, weights, residual, psi, sums, upper_sums, small_sums, upper, upper_psi, top, narrow, size;
};
static __host__ __device__ __forceinline__ narrow_layout narrow_places(int inputs)
{
    narrow_layout at;
    at.depth = (inputs + 8) / 8 * 8;
    at.across = (inputs + 16) / 16 * 16;
    at.pitch = at.across + 4;
    at.x = 0;
    at.weights = at.x + HELD_ROWS * at.pitch;             /* high and low parts, in the tensor cores' order */
    at.residual = at.weights + 2 * HELD_UNITS * at.depth; /* mu, while the row is moved */
    at.psi = at.residual + HELD_ROWS * HELD_PITCH;
    at.sums = at.psi + HELD_ROWS * HELD_PITCH; /* [unit][input], rows of `pitch` */
    at.upper_sums = at.sums + HELD_UNITS * at.pitch;
    at.small_sums = at.upper_sums + HELD_UPPER * HELD_THREADS;
    at.upper = at.small_sums + HELD_SMALL + 8; /* r of the layer above the first, four to a row; the same: */
    at.upper_psi = at.upper + 4 * HELD_ROWS;
    at.top = at.upper_psi + 4 * HELD_ROWS;
    at.narrow = at.top + 4 * HELD_ROWS;
    at.size = at.narrow + warp_places(HELD_UNITS, HELD_UPPER, HELD_LANES).state;
    return at;
}

/* A lane's quartets of its row; mean: mu of the first. */
struct held_state {
    const float *mean;
    float4 y[HELD_QUARTETS], v[HELD_QUARTETS], psi[HELD_QUARTETS];
};

/* As pass_first of cuda_warp.cuh. USUAL: tanh, symplectic. */
template <warp_pass PASS, bool USUAL>
static __device__ __forceinline__ float pass_held(const sweep_arguments &a, const warp_row &row,
                                                  held_state &held, const float *r, int sweep, const mover &m,
                                                  float bias)
{
    enum { K = HELD_UPPER };
    const bool euler = !USUAL && a.rows.head->dynamics.euler != 0;
    const int activation = USUAL ? (int)SN_PSI_TANH : a.activation;
    const float variance = PASS == PASS_MODE ? a.rows.head->dynamics.variance[0] : 0.0F;
    const noise_line noise(a.seed, row.number, a.rows.head->iteration,
                           (uint32_t)STREAM_IMPUTE << 16 | (uint32_t)sweep);
    float part[K];
    set_zero(part);
#pragma unroll
    for (int q = 0; q < HELD_QUARTETS; q++) {
        const int g = row.lane + HELD_LANES * q;
        if (g >= row.quartets) continue;
        const float4 mu = *(const float4 *)(held.mean + 4 * HELD_LANES * q);
        float4 w[K], f = make_float4(0.0F, 0.0F, 0.0F, 0.0F), y = mu, v = f;
        float normal[4];
        if (PASS == PASS_MOVE) noise.normals(1U << 20 | (uint32_t)g, normal);
#pragma unroll
        for (int k = 0; k < K; k++) w[k] = *(const float4 *)(row.weights + k * row.width + 4 * g);
        if (PASS != PASS_SETTLE) {
#pragma unroll
            for (int k = 0; k < K; k++) f = add4(w[k], r[k], f);
            const float4 slope = slope4(activation, held.psi[q]);
            y = held.y[q];
            v = held.v[q];
            if (PASS == PASS_MODE)
                y = add4(product4(slope, f), variance, y);
            else
                move_four(m, euler, normal, {f, slope, mu}, &y, &v);
        }
        const float4 psi = activate4(activation, y);
        held.y[q] = y;
        held.v[q] = v;
        held.psi[q] = psi;
#pragma unroll
        for (int k = 0; k < K; k++) part[k] = dot4(w[k], psi, part[k]);
    }
    return share_sums<HELD_LANES, K>(part, row.lane) + bias;
}

/* The first layer's weights and biases, in the order in which lanes have them: [depth / 8][unit / 16][high,
   low][lane][4]. */
static __device__ void stage_first(const narrow_arguments &a, const narrow_layout &at, float *memory)
{
    const float *w = a.sweep.theta + a.sweep.weight_at[0], *b = a.sweep.theta + a.sweep.bias_at[0];
    const int units = a.sweep.layer[0].width;
#pragma unroll 4
    for (int i = (int)threadIdx.x; i < HELD_UNITS * at.depth; i += HELD_THREADS) {
        const int e = i % 4, lane = i / 4 % 32, m = i / 128 % (HELD_UNITS / 16), k8 = i / (8 * HELD_UNITS);
        const int unit = 16 * m + lane / 4 + e % 2 * 8, k = 8 * k8 + lane % 4 + e / 2 * 4;
        const float x = unit >= units || k > a.inputs ? 0.0F
                        : k < a.inputs                ? w[(int64_t)unit * a.inputs + k]
                                                      : b[unit];
        const float high = high_part(x);
        float *to = memory + at.weights + (k8 * (HELD_UNITS / 16) + m) * 256 + 4 * lane + e;
        to[0] = high;
        to[128] = x - high;
    }
}

/* All that stays in shared memory, or begins as something. */
static __device__ void stage_all(const narrow_arguments &a, const narrow_layout &at, bool middle,
                                 float *memory)
{
    stage_first(a, at, memory);
    stage_narrow(a.sweep, warp_places(a.sweep.layer[0].width, HELD_UPPER, HELD_LANES), memory + at.narrow,
                 HELD_UPPER, middle);
    const int rest = at.across - a.inputs;
    for (int i = (int)threadIdx.x; i < HELD_ROWS * rest; i += HELD_THREADS)
        memory[at.x + i / rest * at.pitch + a.inputs + i % rest] = i % rest == 0 ? 1.0F : 0.0F;
    for (int i = at.sums + (int)threadIdx.x; i < at.upper; i += HELD_THREADS) memory[i] = 0.0F;
}

/* A row of x to shared memory, by its four lanes; zeros if it is not there. */
static __device__ __forceinline__ void fetch_row(const narrow_arguments &a, uint32_t place, bool there,
                                                 int lane, float *to)
{
    const float *from = a.sweep.data.x + (int64_t)place * a.inputs;
    if (a.inputs % 4 == 0)
        for (int k = 4 * lane; k < a.inputs; k += 4 * HELD_LANES)
            copy_quartet(to + k, from + k, there ? 4 : 0);
    else
        for (int k = lane; k < a.inputs; k += HELD_LANES) copy_one(to + k, from + k, there ? 1 : 0);
    end_copies();
}

/* mu of the warp's eight rows, to where their r will be. */
static __device__ __forceinline__ void find_means(const narrow_layout &at, float *memory)
{
    enum { PARTS = HELD_UNITS / 16 };
    const int lane = (int)threadIdx.x % 32, t = lane / 4, j = lane % 4, row0 = (int)threadIdx.x / 32 * 8;
    const float *x = memory + at.x + (row0 + t) * at.pitch + j;
    const float4 *w = (const float4 *)(memory + at.weights) + lane;
    float sum[PARTS][4];
    set_zero(sum);
#pragma unroll 1
    for (int k0 = 0; k0 < at.depth; k0 += TENSOR_DEPTH) {
        float part[PARTS][4];
        set_zero(part);
#pragma unroll
        for (int s = 0; s < TENSOR_DEPTH / 8; s++) {
            const int k = k0 + 8 * s;
            if (k >= at.depth) continue;
            const float first = x[k], second = x[k + 4];
            const float high[2] = {high_part(first), high_part(second)};
            const float low[2] = {first - high[0], second - high[1]};
#pragma unroll
            for (int m = 0; m < PARTS; m++) {
                const float4 u = w[(k / 8 * PARTS + m) * 64], v = w[(k / 8 * PARTS + m) * 64 + 32];
                const float w_high[4] = {u.x, u.y, u.z, u.w}, w_low[4] = {v.x, v.y, v.z, v.w};
                tensor_add(part[m], w_low, high);
                tensor_add(part[m], w_high, low);
                tensor_add(part[m], w_high, high);
            }
        }
        add_to(sum, part);
    }
#pragma unroll
    for (int m = 0; m < PARTS; m++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            memory[at.residual + (row0 + 2 * j + e % 2) * HELD_PITCH + 16 * m + t + e / 2 * 8] = sum[m][e];
    sync_warp();
}

/* What the update needs of a row, to shared memory: zeros if it is not there. */
template <bool MIDDLE>
static __device__ __forceinline__ void
leave_held(const sweep_arguments &a, const narrow_layout &at, const warp_row &row, const held_state &held,
           const warp_upper<HELD_LANES, HELD_UPPER, MIDDLE> &up, float r_top, float *memory)
{
    const sn_cuda_dynamics &d = a.rows.head->dynamics;
    const int here = (int)threadIdx.x / HELD_LANES, place = here * HELD_PITCH + 4 * row.lane;
    const float weight = row.weight, scale = d.over_s[0] * weight;
    const bool there = weight != 0.0F;
#pragma unroll
    for (int q = 0; q < HELD_QUARTETS; q++) {
        if (row.lane + HELD_LANES * q >= row.quartets) continue;
        float4 *r = (float4 *)(memory + at.residual + place + 4 * HELD_LANES * q);
        const float4 mu = *r, y = held.y[q], zeros = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        *r = there ? gap4(y, mu, scale) : zeros;
        *(float4 *)(memory + at.psi + place + 4 * HELD_LANES * q) = there ? held.psi[q] : zeros;
    }
    const int own = 4 * here + row.lane;
    memory[at.upper + own] = !there   ? 0.0F
                             : MIDDLE ? (up.y - up.mean) * d.over_s[1] * weight
                                      : r_top * weight;
    if (!MIDDLE) return;
    memory[at.upper_psi + own] = there ? up.psi : 0.0F;
    memory[at.top + own] = there && row.lane < a.outputs ? r_top * weight : 0.0F;
}

/* Adds G of the first layer over `rows` rows: a warp has 32 units x 16 inputs. */
static __device__ __forceinline__ void add_first(const narrow_layout &at, int rows, float *memory)
{
    const int lane = (int)threadIdx.x % 32, t = lane / 4, j = lane % 4, warp = (int)threadIdx.x / 32;
    const int units0 = warp / 8 * 32, inputs0 = warp % 8 * 16;
    if (inputs0 >= at.across) return;
    const float *r = memory + at.residual + 2 * j * HELD_PITCH + units0 + 4 * t;
    const float *x = memory + at.x + 2 * j * at.pitch + inputs0 + 2 * t;
    float sum[2][2][4];
    set_zero(sum);
#pragma unroll 1
    for (int row0 = 0; row0 < rows; row0 += TENSOR_DEPTH) {
        float part[2][2][4];
        set_zero(part);
#pragma unroll
        for (int s = 0; s < TENSOR_DEPTH / 8; s++) {
            float a_high[2][4], a_low[2][4], b_high[2][2], b_low[2][2];
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const float4 u = *(const float4 *)(r + (row0 + 8 * s + e) * HELD_PITCH);
                const float2 v = *(const float2 *)(x + (row0 + 8 * s + e) * at.pitch);
                const float of_a[4] = {u.x, u.y, u.z, u.w}, of_b[2] = {v.x, v.y};
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    a_high[k / 2][2 * e + k % 2] = high_part(of_a[k]);
                    a_low[k / 2][2 * e + k % 2] = of_a[k] - a_high[k / 2][2 * e + k % 2];
                }
#pragma unroll
                for (int n = 0; n < 2; n++) {
                    b_high[n][e] = high_part(of_b[n]);
                    b_low[n][e] = of_b[n] - b_high[n][e];
                }
            }
            add_products(a_low, b_high, part);
            add_products(a_high, b_low, part);
            add_products(a_high, b_high, part);
        }
        add_to(sum, part);
    }
#pragma unroll
    for (int e = 0; e < 4; e++) { /* unit 4 t + e of the warp's, inputs 4 j .. 4 j + 3 */
        float4 *to = (float4 *)(memory + at.sums + (units0 + 4 * t + e) * at.pitch + inputs0 + 4 * j);
        const float(*c)[4] = sum[e / 2];
        const int h = e % 2 * 2;
        float4 all = *to;
        all.x += c[0][h], all.y += c[1][h], all.z += c[0][h + 1], all.w += c[1][h + 1];
        *to = all;
    }
}

/* Adds G of the layers above it. */
static __device__ __forceinline__ void add_upper(const narrow_layout &at, bool middle, float *memory)
{
    const int unit = (int)threadIdx.x % HELD_UNITS, slice = (int)threadIdx.x / HELD_UNITS;
    enum { EACH = HELD_ROWS / HELD_SLICES };
    const float *psi = memory + at.psi + slice * EACH * HELD_PITCH + unit;
    const float4 *r = (const float4 *)(memory + at.upper) + slice * EACH;
    float sum[HELD_UPPER] = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll 8
    for (int row = 0; row < EACH; row++) {
        const float p = psi[row * HELD_PITCH];
        const float4 of = r[row];
        sum[0] = fmaf(of.x, p, sum[0]), sum[1] = fmaf(of.y, p, sum[1]);
        sum[2] = fmaf(of.z, p, sum[2]), sum[3] = fmaf(of.w, p, sum[3]);
    }
#pragma unroll
    for (int k = 0; k < HELD_UPPER; k++)
        memory[at.upper_sums + k * HELD_THREADS + (int)threadIdx.x] += sum[k];
    const int lane = (int)threadIdx.x % 32;
    for (int s = (int)threadIdx.x / 32; s < HELD_SMALL; s += HELD_THREADS / 32) {
        if (!middle && (s < 16 || s >= 20)) continue;
        float some = 0.0F;
        for (int row = lane; row < HELD_ROWS; row += 32)
            some += s < 16   ? memory[at.top + 4 * row + s / 4] * memory[at.upper_psi + 4 * row + s % 4]
                    : s < 20 ? memory[at.upper + 4 * row + s - 16]
                             : memory[at.top + 4 * row + s - 20];
        some = sum_of(some, 32);
        if (lane == 0) memory[at.small_sums + s] += some;
    }
}

/* The block's sums to its part. */
static __device__ void hand_in(const narrow_arguments &a, const narrow_layout &at, bool middle,
                               const float *memory)
{
    const sweep_arguments &s = a.sweep;
    const int units = s.layer[0].width, upper = s.layer[1].width;
    float *to = a.partial + (int64_t)(a.slot + (int)blockIdx.x) * a.parameters;
    for (int i = (int)threadIdx.x; i < units * a.inputs; i += HELD_THREADS)
        to[s.weight_at[0] + i] = memory[at.sums + i / a.inputs * at.pitch + i % a.inputs];
    for (int i = (int)threadIdx.x; i < units; i += HELD_THREADS)
        to[s.bias_at[0] + i] = memory[at.sums + i * at.pitch + a.inputs];
    for (int i = (int)threadIdx.x; i < upper * units; i += HELD_THREADS) {
        const float *from = memory + at.upper_sums + i / units * HELD_THREADS + i % units;
        float sum = from[0];
        for (int slice = 1; slice < HELD_SLICES; slice++) sum += from[slice * HELD_UNITS];
        to[s.weight_at[1] + i] = sum;
    }
    const float *small_sums = memory + at.small_sums;
    const int i = (int)threadIdx.x;
    if (i < upper) to[s.bias_at[1] + i] = small_sums[16 + i];
    if (!middle) return;
    if (i < upper * s.outputs) to[s.weight_at[2] + i] = small_sums[i / upper * 4 + i % upper];
    if (i < s.outputs) to[s.bias_at[2] + i] = small_sums[20 + i];
}

/* The losses of all lanes, in the order of the lanes; memory: a double for each warp. */
static __device__ __forceinline__ void hand_in_loss(double loss, double *memory, double *to)
{
    for (int mask = 16; mask > 0; mask /= 2) loss += shuffle_xor(loss, mask);
    if (threadIdx.x % 32 == 0) memory[threadIdx.x / 32] = loss;
    sync_block();
    if (threadIdx.x > 0) return;
    for (int warp = 1; warp < HELD_THREADS / 32; warp++) loss += memory[warp];
    *to = loss;
}

template <bool MIDDLE, bool USUAL>
__global__ void __launch_bounds__(HELD_THREADS, 1) narrow_step(const __grid_constant__ narrow_arguments all)
{
    const sweep_arguments &a = all.sweep;
    typedef warp_upper<HELD_LANES, HELD_UPPER, MIDDLE> upper_type;
    float *memory = shared_memory();
    const narrow_layout at = narrow_places(all.inputs);
    const int shard = all.first_shard + (int)blockIdx.x / HELD_PARTS;
    const int first = a.rows.head->border[shard], last = a.rows.head->border[shard + 1];
    const int middle = first + (last - first + 2 * HELD_ROWS - 1) / (2 * HELD_ROWS) * HELD_ROWS;
    const int begin = blockIdx.x % HELD_PARTS == 0 ? first : middle;
    const int end = blockIdx.x % HELD_PARTS == 1 || middle > last ? last : middle;
    const int here = (int)threadIdx.x / HELD_LANES;
    const warp_layout narrow = warp_places(a.layer[0].width, HELD_UPPER, HELD_LANES);
    warp_row row;
    row.weights = memory + at.narrow + narrow.weights;
    row.lane = (int)threadIdx.x % HELD_LANES;
    row.width = padded(a.layer[0].width);
    row.quartets = row.width / 4;
    upper_type up;
    up.unit = row.lane & (upper_type::P - 1);
    up.top_weights = memory + at.narrow + narrow.top_weights;
    up.top_bias = memory + at.narrow + narrow.top_bias;
    up.top_lanes = 1 << a.output_lanes;
    row.weight = 0.0F;
    double losses = 0.0;
    /* Past the end the last row again, for company. */
    const auto place_at = [&](int tile) { return a.rows.place(tile + here < end ? tile + here : end - 1); };
    const auto fetch = [&](int tile, uint32_t place) {
        const bool there = tile + here < end;
        const int o = row.lane & (MIDDLE ? up.top_lanes - 1 : (int)upper_type::P - 1);
        fetch_row(all, place, there, row.lane, memory + at.x + here * at.pitch);
        row.number = a.rows.number(there ? tile + here : end - 1);
        row.label = a.classes ? a.data.label[place] : 0;
        row.response = !a.classes && o < a.outputs ? a.data.y[(int64_t)place * a.outputs + o] : 0.0F;
        row.weight = !there ? 0.0F : a.data.weight != nullptr ? a.data.weight[place] : 1.0F;
    };
    if (begin < end) fetch(begin, place_at(begin));
    stage_all(all, at, MIDDLE, memory);
    const sn_cuda_dynamics &d = a.rows.head->dynamics;
    const mover m = mover_of(d, 0);
    const float *mean = memory + at.residual + here * HELD_PITCH + 4 * row.lane;
    for (int tile = begin; tile < end; tile += HELD_ROWS) {
        held_state held;
        held.mean = mean;
        float r[HELD_UPPER], loss;
        wait_copies<0>();
        sync_block(); /* x is there, and of the last rows all has been read */
        const float bias = memory[at.narrow + narrow.bias + up.unit];
        const uint32_t next = tile + HELD_ROWS < end ? place_at(tile + HELD_ROWS) : 0U;
        find_means(at, memory);
        if (tile + HELD_ROWS < end)
            for (int k = 32 * row.lane; k < all.inputs; k += 32 * HELD_LANES)
                fetch_ahead(a.data.x + (int64_t)next * all.inputs + k);
        up.settle(a, pass_held<PASS_SETTLE, USUAL>(a, row, held, r, 0, m, bias));
        up.outputs(a, row, &loss);
        if (row.lane == 0) losses += row.weight != 0.0F ? (double)(loss * row.weight) : 0.0;
        if (d.mode_start) {
            up.move(a, row, -1);
            up.hand_out(r);
            up.mean = pass_held<PASS_MODE, USUAL>(a, row, held, r, 0, m, bias);
        }
#pragma unroll 1
        for (int sweep = 0; sweep < d.sweeps; sweep++) {
            up.move(a, row, sweep);
            up.hand_out(r);
            up.mean = pass_held<PASS_MOVE, USUAL>(a, row, held, r, sweep, m, bias);
        }
        const float r_top = up.outputs(a, row, &loss);
        leave_held<MIDDLE>(a, at, row, held, up, r_top, memory);
        sync_block();
        add_first(at, end - tile < HELD_ROWS ? end - tile : HELD_ROWS, memory);
        sync_block();
        if (tile + HELD_ROWS < end) fetch(tile + HELD_ROWS, next);
        add_upper(at, MIDDLE, memory);
    }
    sync_block();
    hand_in(all, at, MIDDLE, memory);
    hand_in_loss(losses, (double *)(memory + at.x), all.loss + all.slot + blockIdx.x);
}

/* The sums of every shard from those of its parts, where they are wanted for themselves; the losses too. */
struct join_arguments {
    const float *partial; /* [shard][part][parameter] */
    float *joined;        /* [shard][parameter] */
    const double *loss;
    double *losses;
    int64_t parameters;
    int shards;
};

enum { JOIN_THREADS = 256 };

static __global__ void __launch_bounds__(JOIN_THREADS) join_parts(const __grid_constant__ join_arguments a)
{
    const int64_t count = a.shards * a.parameters;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < count;
         at += (int64_t)gridDim.x * blockDim.x) {
        const float *from = a.partial + at / a.parameters * HELD_PARTS * a.parameters + at % a.parameters;
        a.joined[at] = from[0] + from[a.parameters];
        if (at < a.shards) a.losses[at] = a.loss[HELD_PARTS * at] + a.loss[HELD_PARTS * at + 1];
    }
}
