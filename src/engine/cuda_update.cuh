/*
 * Step 2 of an iteration (engine.h) for all layers in one launch: a block has a tile of one layer's
 * parameters and sums its gradient over the rows,
 *
 *     G[unit][k] = sum over rows of r[row][unit] psi[row][k],     k = inputs: the bias, psi = 1
 *
 * shard by shard in the order of the rows, in chains of SUM_ROWS whose sums are added, and over the shards by
 * the tree of engine/sums.h. The shards are shared out over blocks in complete subtrees (blockIdx.y), whose
 * roots a second launch adds up the same tree; where there is one subtree, its block updates its parameters
 * at once. One more block sums the losses.
 */
#pragma once

#include "engine/cuda_product.cuh"
#include "engine/cuda_tensor.cuh"

enum { SUM_ROWS = 256, LEVELS = 8 /* of the tree, and one for the sum of chains */ };

struct update_layer {
    int inputs, units, tile0,
        tiles_across;           /* tiles of this layer begin at tile0, so many beside each other */
    const float *in, *residual; /* [row of the chunk][..], or rows of the data */
    int64_t in_pitch;
    int64_t weight_at, bias_at;
};

struct update_arguments {
    chunk_rows rows;
    int in_order; /* the first layer's `in` are the rows of the data, of which the batch is a range, */
    int gathers;  /* or among which they are looked up (tensor_update) */
    int in_psi;   /* then: what is applied to them */
    int layers, tiles;
    update_layer layer[SN_CUDA_LAYERS];
    float *theta, *velocity, *partial; /* partial NULL: update at once; else [subtree][parameter] */
    int64_t parameters;
    const float *loss;
    double *loss_sums;        /* per shard, for the host; NULL: not now */
    int *flag;                /* raised when a parameter is not finite */
    int first_shard, subtree; /* of the chunk; shards of each subtree */
    int slot;                 /* of the chunk's first subtree among the partial sums */
};

/* u <- momentum u + D, w <- w + rate u, |w| shrinks by rate l1, with D from the gradient. */
static __device__ __forceinline__ void update_one(const sn_cuda_update &update, int layer, bool is_weight,
                                                  float gradient, float &w, float &u, int *flag)
{
    const float old = w;
    const float direction = fmaf(gradient, update.factor[layer], is_weight ? -update.decay * old : 0.0F);
    u = fmaf(u, update.momentum, direction);
    const float moved = fmaf(u, update.rate[layer], old);
    const float shrink = is_weight ? update.shrink[layer] : 0.0F;
    w = fmaxf(moved - shrink, 0.0F) + fminf(moved + shrink, 0.0F);
    if (!(fabsf(moved) < 3.0e38F)) {
        w = moved; /* fmaxf loses a NaN */
        raise_flag(flag);
    }
}

/* The losses of every shard, a warp each: the lanes over the rows in turn, then across. */
static __device__ void sum_losses(const update_arguments &a)
{
    const int lane = (int)threadIdx.x % 32, warps = (int)blockDim.x / 32;
    for (int v = (int)threadIdx.x / 32; v < a.rows.head->shards; v += warps) {
        double sum = 0.0;
        for (int r = a.rows.head->border[v] + lane; r < a.rows.head->border[v + 1]; r += 32)
            sum += (double)a.loss[r];
        for (int mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
        if (lane == 0) a.loss_sums[v] = sum;
    }
}

/* Rows of a matrix [row][column] from one column on, with a column of ones after its last if it has a bias.
 */
struct row_part {
    const float *at; /* of row 0 */
    int64_t pitch;
    int columns, column0, ones;
    __device__ __forceinline__ float load(int row, int j) const
    {
        const int column = column0 + j;
        return at[row * pitch + (column < columns ? column : 0)];
    }
    __device__ __forceinline__ float use(bool there, int j, float value) const
    {
        const int column = column0 + j;
        return !there ? 0.0F : column < columns ? value : column == columns && ones ? 1.0F : 0.0F;
    }
};

/* DEPTH rows x WIDTH columns: all loads at once to registers, and later to shared memory as they lie. Rows
   past the end are not loaded from, and 0. */
template <int WIDTH, int DEPTH, int THREADS> struct row_slab {
    enum { COUNT = WIDTH * DEPTH / THREADS };
    float held[COUNT];
    __device__ __forceinline__ void take(int row, int end, const row_part &from)
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++) {
            const int at = (int)threadIdx.x + c * THREADS, wanted = row + at / WIDTH;
            held[c] = from.load(wanted < end ? wanted : end - 1, at % WIDTH);
        }
    }
    __device__ __forceinline__ void put(int row, int end, const row_part &from, float *to) const
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++) {
            const int at = (int)threadIdx.x + c * THREADS;
            to[at] = from.use(row + at / WIDTH < end, at % WIDTH, held[c]);
        }
    }
};

/* What a block's tile is of: the layer's index, and where it begins among its units and inputs. False: the
   block is the one past the tiles, which has summed the losses. */
struct tile_place {
    int layer, unit, input;
};
static __device__ __forceinline__ bool find_tile(const update_arguments &a, int units, int inputs,
                                                 tile_place *place)
{
    const int tile = (int)blockIdx.x;
    if (tile == a.tiles) {
        if (a.loss_sums != nullptr && blockIdx.y == 0) sum_losses(a);
        return false;
    }
    int i = 0;
    while (i + 1 < a.layers && tile >= a.layer[i + 1].tile0) i++;
    const int at = tile - a.layer[i].tile0;
    *place = {i, at / a.layer[i].tiles_across * units, at % a.layer[i].tiles_across * inputs};
    return true;
}

template <int BM, int BN, int TM, int TN, int DEPTH> struct update_size {
    enum { THREADS = BM / TM * (BN / TN), FLOATS = DEPTH * (BM + BN) };
};

template <int BM, int BN, int TM, int TN, int DEPTH>
__global__ void __launch_bounds__((update_size<BM, BN, TM, TN, DEPTH>::THREADS))
    update_tiles(const __grid_constant__ update_arguments a)
{
    typedef update_size<BM, BN, TM, TN, DEPTH> size;
    tile_place at_tile;
    if (!find_tile(a, BM, BN, &at_tile)) return;
    const int index = at_tile.layer, unit0 = at_tile.unit, k0 = at_tile.input;
    const update_layer &layer = a.layer[index];
    const int ty = (int)threadIdx.x / (BN / TN), tx = (int)threadIdx.x % (BN / TN);
    float *rs = shared_memory(), *is = rs + DEPTH * BM;
    float stack[LEVELS][TM * TN], sum[TM][TN];
    const int64_t skip = index == 0 && a.in_order ? (int64_t)a.rows.head->first : -(int64_t)a.rows.first;
    const int pitch = padded(layer.units);
    const row_part residual = {layer.residual - (int64_t)a.rows.first * pitch, pitch, layer.units, unit0, 0};
    const row_part input = {layer.in + skip * layer.in_pitch, layer.in_pitch, layer.inputs, k0, 1};
    const int first = a.first_shard + (int)blockIdx.y * a.subtree;
    for (int v = 0; v < a.subtree; v++) {
        const int begin = a.rows.head->border[first + v], last = a.rows.head->border[first + v + 1];
        int chain = begin;
        do { /* once for a shard without rows */
            const int end = last < chain + SUM_ROWS ? last : chain + SUM_ROWS;
            set_zero(sum);
            row_slab<BM, DEPTH, size::THREADS> of_r;
            row_slab<BN, DEPTH, size::THREADS> of_i;
            if (chain < end) {
                of_r.take(chain, end, residual);
                of_i.take(chain, end, input);
            }
            for (int row = chain; row < end; row += DEPTH) {
                of_r.put(row, end, residual, rs);
                of_i.put(row, end, input, is);
                sync_block();
                of_r.take(row + DEPTH, end, residual); /* the last row again, at the end */
                of_i.take(row + DEPTH, end, input);
                multiply<TM, TN, BM, BN, BM, BN, DEPTH>(rs, is, ty, tx, sum);
                sync_block();
            }
            if (last - begin > SUM_ROWS) {
#pragma unroll
                for (int e = 0; e < TM * TN; e++) {
                    float *shard = &stack[LEVELS - 1][e];
                    if (chain > begin) sum[e / TN][e % TN] = *shard + sum[e / TN][e % TN];
                    *shard = sum[e / TN][e % TN];
                }
            }
            chain = end;
        } while (chain < last);
        if (a.subtree == 1) break;
        int level = 0;
        for (int count = v + 1; count % 2 == 0; count /= 2, level++)
#pragma unroll
            for (int e = 0; e < TM * TN; e++) sum[e / TN][e % TN] = stack[level][e] + sum[e / TN][e % TN];
#pragma unroll
        for (int e = 0; e < TM * TN; e++) stack[level][e] = sum[e / TN][e % TN];
    }
    const auto place = [&](int e, bool *is_weight) -> int64_t {
        const int unit = unit0 + tile_at<BM, TM>(ty, e / TN), k = k0 + tile_at<BN, TN>(tx, e % TN);
        *is_weight = k < layer.inputs;
        if (unit >= layer.units || k > layer.inputs) return -1;
        return *is_weight ? layer.weight_at + (int64_t)unit * layer.inputs + k : layer.bias_at + unit;
    };
    bool is_weight;
    if (a.partial != nullptr) {
#pragma unroll
        for (int e = 0; e < TM * TN; e++) {
            const int64_t at = place(e, &is_weight);
            if (at >= 0)
                a.partial[(int64_t)(a.slot + (int)blockIdx.y) * a.parameters + at] = sum[e / TN][e % TN];
        }
        return;
    }
    enum { BESIDE = 8 }; /* whose loads go out together */
#pragma unroll
    for (int first = 0; first < TM * TN; first += BESIDE) {
        float w[BESIDE], u[BESIDE];
#pragma unroll
        for (int e = 0; e < BESIDE; e++) {
            const int64_t at = place(first + e, &is_weight);
            w[e] = a.theta[at >= 0 ? at : 0];
            u[e] = a.velocity[at >= 0 ? at : 0];
        }
#pragma unroll
        for (int e = 0; e < BESIDE; e++) {
            const int64_t at = place(first + e, &is_weight);
            if (at < 0) continue;
            update_one(a.rows.head->update, index, is_weight, sum[(first + e) / TN][(first + e) % TN], w[e],
                       u[e], a.flag);
            a.theta[at] = w[e];
            a.velocity[at] = u[e];
        }
    }
}

/* The same by the tensor cores, for large batches: the rows are the inner dimension. The bias of a tile's
   units is summed by the blocks of the first inputs, from the residuals as they pass, THREADS / BM threads a
   unit. */
template <int BM, int BN, int WM, int WN, int STAGES>
__global__ void __launch_bounds__(32 * WM * WN, (tensor_tile<BM, BN, WM, WN, STAGES, ACROSS, ACROSS>::BLOCKS))
    tensor_update(const __grid_constant__ update_arguments a)
{
    typedef tensor_tile<BM, BN, WM, WN, STAGES, ACROSS, ACROSS> tile_type;
    enum { COUNT = tile_type::TM * tile_type::TN * 4, SHARE = tile_type::THREADS / BM };
    tile_place at_tile;
    if (!find_tile(a, BM, BN, &at_tile)) return;
    const int index = at_tile.layer, unit0 = at_tile.unit, k0 = at_tile.input;
    const update_layer &layer = a.layer[index];
    const int pitch = padded(layer.units);
    const bool gathers = index == 0 && a.gathers;
    const operand<array_lines> residual = {{layer.residual - (int64_t)a.rows.first * pitch, pitch},
                                           layer.residual,
                                           unit0,
                                           layer.units - unit0,
                                           quartets(layer.residual, pitch),
                                           SN_PSI_IDENTITY};
    const operand<batch_lines> input = {
        lines_of(layer.in, layer.in_pitch, a.rows, gathers ? 0 : -a.rows.first, gathers),
        layer.in,
        k0,
        layer.inputs - k0,
        quartets(layer.in, layer.in_pitch),
        index == 0 ? a.in_psi : (int)SN_PSI_IDENTITY};
    float *memory = shared_memory(), *shares = memory + tile_type::FLOATS; /* THREADS more */
    float stack[LEVELS][COUNT], bias_stack[LEVELS], bias = 0.0F;
    tile_type tile;
    float *sum = &tile.sum[0][0][0];
    const int own = (int)threadIdx.x % BM, share = (int)threadIdx.x / BM;
    const auto add_biases = [&](const float *stage) {
        if (k0 > 0) return;
#pragma unroll 8
        for (int r = 0; r < TENSOR_DEPTH / SHARE; r++)
            bias += stage[(share + SHARE * r) * tile_type::A_STRIDE + own];
    };
    /* The sum of shard v is there: up the tree. */
    const auto fold = [&](int v) {
        if (k0 == 0) { /* all shares of a unit's bias, in order */
            shares[threadIdx.x] = bias;
            sync_block();
            bias = 0.0F;
            for (int s = 0; s < SHARE; s++) bias += shares[s * BM + own];
            sync_block();
        }
        if (a.subtree == 1) return;
        int level = 0;
        for (int count = v + 1; count % 2 == 0; count /= 2, level++) {
#pragma unroll
            for (int e = 0; e < COUNT; e++) sum[e] = stack[level][e] + sum[e];
            bias = bias_stack[level] + bias;
        }
        if (v + 1 == a.subtree) return;
#pragma unroll
        for (int e = 0; e < COUNT; e++) stack[level][e] = sum[e];
        bias_stack[level] = bias;
        bias = 0.0F;
    };
    tile.walk(residual, input, a.rows.head->border + a.first_shard + (int)blockIdx.y * a.subtree, a.subtree,
              memory, add_biases, fold);
    const auto settle = [&](int64_t at, bool is_weight, float gradient) {
        if (a.partial != nullptr)
            a.partial[(int64_t)(a.slot + (int)blockIdx.y) * a.parameters + at] = gradient;
        else
            update_one(a.rows.head->update, index, is_weight, gradient, a.theta[at], a.velocity[at], a.flag);
    };
    tile.hand_out([&](int u, int k, float4 g) {
        const int unit = unit0 + u, input0 = k0 + k;
        if (unit >= layer.units) return;
        const int64_t at = layer.weight_at + (int64_t)unit * layer.inputs + input0;
        if (input0 < layer.inputs) settle(at, true, g.x);
        if (input0 + 1 < layer.inputs) settle(at + 1, true, g.y);
        if (input0 + 2 < layer.inputs) settle(at + 2, true, g.z);
        if (input0 + 3 < layer.inputs) settle(at + 3, true, g.w);
    });
    if (k0 == 0 && share == 0 && unit0 + own < layer.units) settle(layer.bias_at + unit0 + own, false, bias);
}

/* The update from the roots of so many subtrees, a power of two: adds them up the tree. `slices` neighbours
   in a block, a power of two too, share the roots of a parameter. */
struct apply_arguments : sn_cuda_shape {
    const step_head *head;
    float *theta, *velocity;
    const float *partial;
    int roots, slices;
    int *flag;
    const double *loss; /* of the two halves of every shard, for their sums; NULL: they are there */
    double *loss_sums;
};

enum { APPLY_THREADS = 256, AT_ONCE = 8 /* roots */ };

/* The sum of so many roots, `pitch` floats apart. */
static __device__ __forceinline__ float sum_roots(const float *from, int64_t pitch, int roots)
{
    float stack[LEVELS], sum = 0.0F;
    if (roots < AT_ONCE) {
        for (int v = 0; v < roots; v++) {
            int level = 0;
            sum = from[v * pitch];
            for (int count = v + 1; count % 2 == 0; count /= 2, level++) sum = stack[level] + sum;
            stack[level] = sum;
        }
        return sum;
    }
    for (int v = 0; v < roots; v += AT_ONCE) { /* their loads go out together */
        float some[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) some[k] = from[(v + k) * pitch];
#pragma unroll
        for (int step = 1; step < AT_ONCE; step *= 2)
#pragma unroll
            for (int k = 0; k < AT_ONCE; k += 2 * step) some[k] += some[k + step];
        int level = 0;
        sum = some[0];
        for (int count = v / AT_ONCE + 1; count % 2 == 0; count /= 2, level++) sum = stack[level] + sum;
        stack[level] = sum;
    }
    return sum;
}

static __global__ void __launch_bounds__(APPLY_THREADS) apply_sums(const __grid_constant__ apply_arguments a)
{
    float *shares = shared_memory();
    const int beside = APPLY_THREADS / a.slices, slice = (int)threadIdx.x / beside, each = a.roots / a.slices;
    if (a.loss != nullptr && blockIdx.x == 0 && (int)threadIdx.x < a.head->shards)
        a.loss_sums[threadIdx.x] = a.loss[2 * threadIdx.x] + a.loss[2 * threadIdx.x + 1];
    for (int64_t first = (int64_t)blockIdx.x * beside; first < a.parameters;
         first += (int64_t)gridDim.x * beside) {
        const int64_t at = first + (int)threadIdx.x % beside;
        if (at < a.parameters)
            shares[threadIdx.x] = sum_roots(a.partial + at + slice * each * a.parameters, a.parameters, each);
        for (int half = 1; half < a.slices; half *= 2) {
            sync_block();
            if (slice % (2 * half) == 0) shares[threadIdx.x] += shares[(int)threadIdx.x + half * beside];
        }
        if (slice > 0 || at >= a.parameters) continue;
        int layer = 0;
        while (layer + 1 < a.layers && at >= a.weight_at[layer + 1]) layer++;
        update_one(a.head->update, layer, at < a.bias_at[layer], shares[threadIdx.x], a.theta[at],
                   a.velocity[at], a.flag);
    }
}

/* The group penalty of layer 1 (engine.h), a block a column of the table: c becomes c max(0, 1 - t sqrt(m d)
   / |c|). */
struct group_arguments {
    const step_head *head;
    float *weights;
    const int32_t *border;
    const double *factor; /* NULL: 1 */
    int columns, units;
};

enum { GROUP_THREADS = 256 };

static __global__ void __launch_bounds__(GROUP_THREADS)
    shrink_groups(const __grid_constant__ group_arguments a)
{
    const int first = a.border[blockIdx.x], width = a.border[blockIdx.x + 1] - first;
    const int64_t size = (int64_t)width * a.units;
    const double t = a.head->update.group * (a.factor != nullptr ? a.factor[blockIdx.x] : 1.0);
    double *sums = (double *)shared_memory(), sum = 0.0;
    if (!(a.head->update.group > 0.0)) return;
    for (int64_t at = threadIdx.x; at < size; at += GROUP_THREADS) {
        const double w = (double)a.weights[at / width * a.columns + first + at % width];
        sum += w * w;
    }
    for (int mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    sync_block();
    sum = 0.0;
    for (int warp = 0; warp < GROUP_THREADS / 32; warp++) sum += sums[warp];
    const double norm = sqrt(sum), limit = t * sqrt((double)size);
    const float factor = (float)(norm > limit ? 1.0 - limit / norm : 0.0);
    for (int64_t at = threadIdx.x; at < size; at += GROUP_THREADS)
        a.weights[at / width * a.columns + first + at % width] *= factor;
}
