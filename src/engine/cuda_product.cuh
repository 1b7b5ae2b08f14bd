/*
 * The first layer's mean of the rows of a chunk, gathered on the way:
 *
 *     out[row][unit] = b[unit] + sum_k w[unit][k] psi_0(x[place of row][k])
 *
 * A block has BM rows and BN units, a thread TM x TN of them in registers. SPLIT groups of threads share the
 * inputs out among them, for batches that are too small to fill the device otherwise; their sums are added in
 * order.
 */
#ifndef SN_ENGINE_CUDA_PRODUCT_CUH
#define SN_ENGINE_CUDA_PRODUCT_CUH

#include "engine/cuda_sweep.cuh"

enum { DEEP = 16 /* inputs taken at a time by a group */ };

struct mean_arguments {
    const step_head *head;
    const uint32_t *place;
    const float *x, *weights, *bias;
    float *out;
    int columns, units, chunk_first, chunk_rows, input_activation;
};

/* Where a thread's number j of its tile lies: quartets of neighbours, a quarter (half) of the tile apart. */
template <int SPAN, int EACH> static __device__ __forceinline__ int tile_at(int thread, int j)
{
    return j / 4 * (SPAN / (EACH / 4)) + 4 * thread + j % 4;
}

/* One group's part of the inputs, from memory to registers, and on to shared memory as [input][row]. */
template <int WIDTH, int THREADS> struct slab {
    enum { COUNT = WIDTH * DEEP / THREADS, STRIDE = WIDTH + 4 };
    float held[COUNT];
    template <typename source> __device__ __forceinline__ void take(int thread, int k, const source &from)
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++) {
            const int at = thread + c * THREADS;
            held[c] = from(at / DEEP, k + at % DEEP);
        }
    }
    __device__ __forceinline__ void put(int thread, float *to) const
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++) {
            const int at = thread + c * THREADS;
            to[at % DEEP * STRIDE + at / DEEP] = held[c];
        }
    }
};

template <int TM, int TN, int BM, int BN, int AS, int BS>
static __device__ __forceinline__ void multiply(const float *a, const float *b, int ty, int tx, int depth,
                                                float sum[TM][TN])
{
#pragma unroll
    for (int k = 0; k < depth; k++) {
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

template <int BM, int BN, int TM, int TN, int SPLIT> struct mean_size {
    enum {
        GROUP = BM / TM * (BN / TN),
        THREADS = GROUP * SPLIT,
        SLABS = DEEP * (BM + 4 + BN + 4),
        FLOATS = SPLIT * (SPLIT == 1 || SLABS > BM * BN ? SLABS : BM * BN), /* shared; and BM places */
    };
};

template <int BM, int BN, int TM, int TN, int SPLIT>
__global__ void __launch_bounds__((mean_size<BM, BN, TM, TN, SPLIT>::THREADS))
    first_mean(const __grid_constant__ mean_arguments a)
{
    typedef mean_size<BM, BN, TM, TN, SPLIT> size;
    const int thread = (int)threadIdx.x % size::GROUP, group = (int)threadIdx.x / size::GROUP;
    const int ty = thread / (BN / TN), tx = thread % (BN / TN);
    const int rows = a.chunk_rows > 0 ? a.chunk_rows : a.head->rows;
    const int row0 = (int)blockIdx.x * BM, unit0 = (int)blockIdx.y * BN;
    if (row0 >= rows) return;
    float *memory = shared_memory();
    uint32_t *place = (uint32_t *)(memory + size::FLOATS);
    for (int r = (int)threadIdx.x; r < BM; r += size::THREADS)
        place[r] = place_of(a.head, a.place, a.chunk_first + (row0 + r < rows ? row0 + r : row0));
    sync_block();
    float *as = memory + group * size::SLABS, *bs = as + DEEP * (BM + 4);
    const auto x = [&](int r, int k) {
        return row0 + r < rows && k < a.columns
                   ? activate(a.input_activation, __ldg(a.x + (int64_t)place[r] * a.columns + k))
                   : 0.0F;
    };
    const auto w = [&](int u, int k) {
        return unit0 + u < a.units && k < a.columns ? a.weights[(int64_t)(unit0 + u) * a.columns + k] : 0.0F;
    };
    float sum[TM][TN];
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) sum[i][j] = 0.0F;
    slab<BM, size::GROUP> of_x;
    slab<BN, size::GROUP> of_w;
    of_x.take(thread, group * DEEP, x);
    of_w.take(thread, group * DEEP, w);
    for (int k = 0; k < a.columns; k += DEEP * SPLIT) {
        of_x.put(thread, as);
        of_w.put(thread, bs);
        sync_block();
        if (k + DEEP * SPLIT < a.columns) {
            of_x.take(thread, k + DEEP * (SPLIT + group), x);
            of_w.take(thread, k + DEEP * (SPLIT + group), w);
        }
        multiply<TM, TN, BM, BN, BM + 4, BN + 4>(as, bs, ty, tx, DEEP, sum);
        sync_block();
    }
    if constexpr (SPLIT == 1) {
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++) {
                const int row = row0 + tile_at<BM, TM>(ty, i), unit = unit0 + tile_at<BN, TN>(tx, j);
                if (row < rows && unit < a.units)
                    a.out[(int64_t)row * a.units + unit] = sum[i][j] + a.bias[unit];
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
            a.out[(int64_t)row * a.units + unit] = whole + a.bias[unit];
        }
    }
}

#endif
