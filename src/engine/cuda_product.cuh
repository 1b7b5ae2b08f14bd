/*
 * The first layer's mean of the rows of a chunk, gathered on the way:
 *
 *     out[row][unit] = b[unit] + sum_k w[unit][k] psi_0(x[place of row][k])
 *
 * A block has BM rows and BN units, a thread TM x TN of them in registers. SPLIT groups of threads share the
 * inputs out among them, for batches that are too small to fill the device otherwise; their sums are added in
 * order.
 */
#pragma once

#include "engine/cuda_sweep.cuh"

struct mean_arguments {
    chunk_rows rows;
    const float *x, *weights, *bias;
    float *out;
    float *gathered; /* gets the rows as they are used, [row of the chunk][input]; NULL: not wanted */
    int columns, units, input_activation;
};

/* Where a thread's number j of its tile lies: quartets of neighbours, a quarter (half) of the tile apart. */
template <int SPAN, int EACH> static __device__ __forceinline__ int tile_at(int thread, int j)
{
    return j / 4 * (SPAN / (EACH / 4)) + 4 * thread + j % 4;
}

/*
 * One group's part of a matrix [row][input], WIDTH rows x DEPTH inputs: all loads at once to registers, and
 * later to shared memory as [input][row]. A warp takes 4 rows x 8 inputs at a time: whole sectors of memory,
 * and all banks of shared memory. `from` has load(row, input), for any numbers, and what becomes of it,
 * use(row, input, value).
 */
template <int WIDTH, int DEPTH, int THREADS> struct slab {
    enum { COUNT = WIDTH * DEPTH / THREADS, STRIDE = WIDTH + 4, ACROSS = DEPTH / 8 };
    float held[COUNT];
    static __device__ __forceinline__ int row_of(int thread, int c)
    {
        return (thread / 32 + c * (THREADS / 32)) / ACROSS * 4 + (thread % 32 >> 3);
    }
    static __device__ __forceinline__ int input_of(int thread, int c)
    {
        return (thread / 32 + c * (THREADS / 32)) % ACROSS * 8 + (thread & 7);
    }
    template <typename source> __device__ __forceinline__ void take(int thread, int k, const source &from)
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++) held[c] = from.load(row_of(thread, c), k + input_of(thread, c));
    }
    template <typename source>
    __device__ __forceinline__ void put(int thread, int k, const source &from, float *to) const
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++) {
            const int row = row_of(thread, c), input = input_of(thread, c);
            to[input * STRIDE + row] = from.use(row, k + input, held[c]);
        }
    }
};

/* The block's rows of x. Places are of rows that are there, also past the last one. */
struct rows_of_x {
    const float *x;
    const uint32_t *place;
    float *gathered; /* where the block's first row goes; NULL: another block does it */
    int columns, rows, psi;
    __device__ __forceinline__ float load(int r, int k) const
    {
        return __ldg(x + (int64_t)place[r] * columns + (k < columns ? k : 0));
    }
    __device__ __forceinline__ float use(int r, int k, float value) const
    {
        if (r >= rows || k >= columns) return 0.0F;
        const float used = activate(psi, value);
        if (gathered != nullptr) gathered[(int64_t)r * columns + k] = used;
        return used;
    }
};

/* The block's units' weights. */
struct rows_of_weights {
    const float *w;
    int columns, units;
    __device__ __forceinline__ float load(int u, int k) const
    {
        return w[(int64_t)(u < units ? u : 0) * columns + (k < columns ? k : 0)];
    }
    __device__ __forceinline__ float use(int u, int k, float value) const
    {
        return u < units && k < columns ? value : 0.0F;
    }
};

template <int TM, int TN, int BM, int BN, int AS, int BS, int DEPTH>
static __device__ __forceinline__ void multiply(const float *a, const float *b, int ty, int tx,
                                                float sum[TM][TN])
{
#pragma unroll 4
    for (int k = 0; k < DEPTH; k++) {
        float u[TM], v[TN];
#pragma unroll
        for (int i = 0; i < TM; i += 4) {
            const float4 four = *(const float4 *)(a + k * AS + tile_at<BM, TM>(ty, i));
            u[i] = four.x, u[i + 1] = four.y, u[i + 2] = four.z, u[i + 3] = four.w;
        }
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            const float4 four = *(const float4 *)(b + k * BS + tile_at<BN, TN>(tx, j));
            v[j] = four.x, v[j + 1] = four.y, v[j + 2] = four.z, v[j + 3] = four.w;
        }
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++) sum[i][j] = fmaf(u[i], v[j], sum[i][j]);
    }
}

template <int BM, int BN, int TM, int TN, int SPLIT, int DEPTH> struct mean_size {
    enum {
        GROUP = BM / TM * (BN / TN),
        THREADS = GROUP * SPLIT,
        SLABS = DEPTH * (BM + 4 + BN + 4),
        FLOATS = SPLIT * (SPLIT == 1 || SLABS > BM * BN ? SLABS : BM * BN) /* shared, and BM places */
    };
};

template <int BM, int BN, int TM, int TN, int SPLIT, int DEPTH>
__global__ void __launch_bounds__((mean_size<BM, BN, TM, TN, SPLIT, DEPTH>::THREADS))
    first_mean(const __grid_constant__ mean_arguments a)
{
    typedef mean_size<BM, BN, TM, TN, SPLIT, DEPTH> size;
    const int thread = (int)threadIdx.x % size::GROUP, group = (int)threadIdx.x / size::GROUP;
    const int ty = thread / (BN / TN), tx = thread % (BN / TN);
    const int rows = a.rows.count();
    const int row0 = (int)blockIdx.x * BM, unit0 = (int)blockIdx.y * BN;
    if (row0 >= rows) return;
    float *memory = shared_memory();
    uint32_t *place = (uint32_t *)(memory + size::FLOATS);
    for (int r = (int)threadIdx.x; r < BM; r += size::THREADS)
        place[r] = a.rows.place(a.rows.first + (row0 + r < rows ? row0 + r : row0));
    sync_block();
    float *as = memory + group * size::SLABS, *bs = as + DEPTH * (BM + 4);
    const rows_of_x x = {a.x,
                         place,
                         a.gathered != nullptr && blockIdx.y == 0 ? a.gathered + (int64_t)row0 * a.columns
                                                                  : nullptr,
                         a.columns,
                         rows - row0,
                         a.input_activation};
    const rows_of_weights w = {a.weights + (int64_t)unit0 * a.columns, a.columns, a.units - unit0};
    float sum[TM][TN];
    set_zero(sum);
    slab<BM, DEPTH, size::GROUP> of_x;
    slab<BN, DEPTH, size::GROUP> of_w;
    of_x.take(thread, group * DEPTH, x);
    of_w.take(thread, group * DEPTH, w);
    for (int k = group * DEPTH; k - group * DEPTH < a.columns; k += DEPTH * SPLIT) {
        of_x.put(thread, k, x, as);
        of_w.put(thread, k, w, bs);
        sync_block();
        of_x.take(thread, k + DEPTH * SPLIT, x); /* past the end they are not used */
        of_w.take(thread, k + DEPTH * SPLIT, w);
        multiply<TM, TN, BM, BN, BM + 4, BN + 4, DEPTH>(as, bs, ty, tx, sum);
        sync_block();
    }
    if constexpr (SPLIT == 1) {
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++) {
                const int row = row0 + tile_at<BM, TM>(ty, i), unit = unit0 + tile_at<BN, TN>(tx, j);
                if (row < rows && unit < a.units)
                    a.out[(int64_t)row * padded(a.units) + unit] = sum[i][j] + a.bias[unit];
            }
    } else {
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++)
                memory[group * BM * BN + tile_at<BM, TM>(ty, i) * BN + tile_at<BN, TN>(tx, j)] = sum[i][j];
        sync_block();
        for (int at = (int)threadIdx.x; at < BM * BN; at += size::THREADS) {
            const int row = row0 + at / BN, unit = unit0 + at % BN;
            if (row >= rows || unit >= a.units) continue;
            float whole = memory[at];
#pragma unroll
            for (int g = 1; g < SPLIT; g++) whole += memory[g * BM * BN + at];
            a.out[(int64_t)row * padded(a.units) + unit] = whole + a.bias[unit];
        }
    }
}
