/*
 * Products of matrices by the tensor cores, to float accuracy: a number is split into its first 11 bits and
 * the next ones, x = high + low, and
 *
 *     a b = a_high b_high + a_high b_low + a_low b_high,     what is left out being 2^-22 of it.
 *
 * The tensor cores round towards zero when they add, so a sum of more than TENSOR_DEPTH products is added up
 * from such sums in float. A block has a BM x BN tile of the result, a warp 16 TM x 8 TN of it. The operands
 * pass through shared memory in STAGES stages of TENSOR_DEPTH each, of which one is used while the others
 * are under way. Sums run in one order, which depends on the inner dimension alone.
 */
#pragma once

#include "engine/cuda_state.cuh"

enum { TENSOR_DEPTH = 32 };

/* How an operand lies in memory: side by side along the inner dimension of the product, or across it. */
enum operand_lie { ALONG, ACROSS };

/* Lines of an operand, RUN floats of each, to shared memory. Which row a line is may have to be looked up in
   memory: key(line) of a source does so, and at(key) is where the row begins. A key is asked for long before
   it is used, and nothing is made of it meanwhile, since that would wait for it. */
template <int LINES, int RUN, int STRIDE, int THREADS> struct tile_copy {
    enum { EACH = RUN / 4, COUNT = LINES * EACH / THREADS };
    uint32_t key[COUNT];
    static __device__ __forceinline__ int line_of(int c)
    {
        return ((int)threadIdx.x + c * THREADS) / EACH;
    }
    /* Of lines first .. end - 1, of which there is one at least. */
    template <typename source> __device__ __forceinline__ void aim(const source &lines, int first, int end)
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++) {
            const int line = first + line_of(c);
            key[c] = lines.key(line < end ? line : first);
        }
    }
    /* Floats run .. stop - 1 of `there` lines, all others being zeros. aligned: all lines begin at multiples
       of 16 bytes. */
    template <typename source>
    __device__ __forceinline__ void send(const source &lines, int there, int run, int stop, bool aligned,
                                         const float *any, float *to) const
    {
#pragma unroll
        for (int c = 0; c < COUNT; c++) {
            const int quartet = ((int)threadIdx.x + c * THREADS) % EACH, first = run + quartet * 4;
            float *here = to + line_of(c) * STRIDE + quartet * 4;
            const int left = line_of(c) < there ? stop - first : 0;
            const int count = left < 0 ? 0 : left > 4 ? 4 : left;
            const float *begin = count > 0 ? lines.at(key[c]) + first : any;
            if (aligned)
                copy_quartet(here, begin, count);
            else
#pragma unroll
                for (int e = 0; e < 4; e++) copy_one(here + e, e < count ? begin + e : any, e < count);
        }
    }
};

static __device__ __forceinline__ float high_part(float x)
{
    return __int_as_float((__float_as_int(x) + 0x1000) & ~0x1FFF);
}

/* Numbers of both operands split in two; PLAIN: nothing is applied to them before. */
template <bool PLAIN, int N, int E>
static __device__ __forceinline__ void split_all(int psi, const float (&x)[N][E], float (&high)[N][E],
                                                 float (&low)[N][E])
{
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int e = 0; e < E; e++) {
            const float used = PLAIN ? x[n][e] : activate(psi, x[n][e]);
            high[n][e] = high_part(used);
            low[n][e] = used - high[n][e];
        }
}

/* Every part of a with every part of b. */
template <int M, int N>
static __device__ __forceinline__ void add_products(const float (&a)[M][4], const float (&b)[N][2],
                                                    float (&to)[M][N][4])
{
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int n = 0; n < N; n++) tensor_add(to[m][n], a[m], b[n]);
}

/* One operand of a tile: `extent` of it are there (rows or units of the tile), the inner dimension is
   bounded by whoever multiplies. */
template <typename line_source> struct operand {
    line_source lines;
    const float *any; /* somewhere that can be read, at a multiple of 16 bytes if aligned */
    int first, extent;
    bool aligned;
    int psi; /* what is applied to it on the way */
};

/* Stages of the inner dimension over several ranges of it, border[0] .. border[1], border[1] .. and so on. */
struct stage_walk {
    const int *border;
    int range, ranges, inner;
    __device__ __forceinline__ void settle() /* at the next stage there is */
    {
        while (range < ranges && inner >= border[range + 1]) {
            range++;
            if (range < ranges) inner = border[range];
        }
    }
    __device__ __forceinline__ void advance()
    {
        inner += TENSOR_DEPTH;
        settle();
    }
    __device__ __forceinline__ bool there() const
    {
        return range < ranges;
    }
    __device__ __forceinline__ int end() const
    {
        return border[range + 1];
    }
};

/*
 * In which order a lane has what: lane (t, j) of the tensor cores' 16 x 8 x 8 is given the inner numbers 2 j
 * and 2 j + 1 where an operand lies ALONG, and rows (columns) 4 t .. 4 t + 3 of a stretch of 32 where it lies
 * ACROSS, so that it reads them side by side. Sums do not mind.
 */
template <int BM, int BN, int WARPS_M, int WARPS_N, int STAGES, operand_lie A, operand_lie B>
struct tensor_tile {
    enum {
        DEPTH = TENSOR_DEPTH,
        THREADS = 32 * WARPS_M * WARPS_N,
        TM = BM / WARPS_M / 16,
        TN = BN / WARPS_N / 8,
        PAIRS = A == ALONG || B == ALONG,
        /* so padded that the lanes of a warp read different banks */
        A_STRIDE = A == ALONG ? DEPTH + 8 : BM + (PAIRS ? 4 : 8),
        B_STRIDE = B == ALONG ? DEPTH + 8 : BN + (PAIRS ? 4 : 8),
        A_FLOATS = A_STRIDE * (A == ALONG ? BM : DEPTH),
        B_FLOATS = B_STRIDE * (B == ALONG ? BN : DEPTH),
        STAGE = A_FLOATS + B_FLOATS,
        FLOATS = STAGES * STAGE,
        BLOCKS = TM * TN > 8 ? 1 : 512 / THREADS /* of a multiprocessor, by their registers */
    };
    float sum[TM][TN][4];

    /* What a lane has of both operands for eight inner numbers. */
    struct fragment {
        float a[TM][4], b[TN][2];
    };

    static __device__ __forceinline__ int lane()
    {
        return (int)threadIdx.x % 32;
    }
    static __device__ __forceinline__ int row0() /* of this warp */
    {
        return (int)threadIdx.x / 32 / WARPS_N * TM * 16;
    }
    static __device__ __forceinline__ int column0()
    {
        return (int)threadIdx.x / 32 % WARPS_N * TN * 8;
    }
    /* Row t or t + 8 (half) of part m of the warp's; column t of part n. */
    static __device__ __forceinline__ int row_at(int m, int t, int half)
    {
        if (A == ALONG) return row0() + 16 * m + t + 8 * half;
        return TM == 1 ? row0() + 2 * t + half : row0() + m / 2 * 32 + 4 * t + m % 2 * 2 + half;
    }
    static __device__ __forceinline__ int column_at(int n, int t)
    {
        if (B == ALONG || TN % 2 != 0) return column0() + 8 * n + t;
        return TN == 2 ? column0() + 2 * t + n : column0() + n / 4 * 32 + 4 * t + n % 4;
    }

    static __device__ __forceinline__ void load_a(const float *as, int k, float a[TM][4])
    {
        const int t = lane() / 4, j = lane() % 4;
        if constexpr (A == ALONG) {
#pragma unroll
            for (int m = 0; m < TM; m++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const float2 x = *(const float2 *)(as + row_at(m, t, half) * A_STRIDE + k + 2 * j);
                    a[m][half] = x.x, a[m][half + 2] = x.y;
                }
        } else {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const float *line = as + (k + (PAIRS ? 2 * j + e : j + 4 * e)) * A_STRIDE;
                if (TM == 1) {
                    const float2 x = *(const float2 *)(line + row_at(0, t, 0));
                    a[0][2 * e] = x.x, a[0][2 * e + 1] = x.y;
                } else
#pragma unroll
                    for (int m = 0; m + 1 < TM; m += 2) {
                        const float4 x = *(const float4 *)(line + row_at(m, t, 0));
                        a[m][2 * e] = x.x, a[m][2 * e + 1] = x.y;
                        a[m + 1][2 * e] = x.z, a[m + 1][2 * e + 1] = x.w;
                    }
            }
        }
    }

    static __device__ __forceinline__ void load_b(const float *bs, int k, float b[TN][2])
    {
        const int t = lane() / 4, j = lane() % 4;
        if constexpr (B == ALONG) {
#pragma unroll
            for (int n = 0; n < TN; n++) {
                const float2 x = *(const float2 *)(bs + column_at(n, t) * B_STRIDE + k + 2 * j);
                b[n][0] = x.x, b[n][1] = x.y;
            }
        } else {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const float *line = bs + (k + (PAIRS ? 2 * j + e : j + 4 * e)) * B_STRIDE;
                if (TN % 4 == 0) {
#pragma unroll
                    for (int n = 0; n + 3 < TN; n += 4) {
                        const float4 x = *(const float4 *)(line + column_at(n, t));
                        b[n][e] = x.x, b[n + 1][e] = x.y, b[n + 2][e] = x.z, b[n + 3][e] = x.w;
                    }
                } else if (TN == 2) {
                    const float2 x = *(const float2 *)(line + column_at(0, t));
                    b[0][e] = x.x, b[TN - 1][e] = x.y;
                } else
#pragma unroll
                    for (int n = 0; n < TN; n++) b[n][e] = line[column_at(n, t)];
            }
        }
    }

    template <bool PLAIN>
    __device__ __forceinline__ void multiply_stage(const float *as, const float *bs, int psi_a, int psi_b)
    {
        float part[TM][TN][4];
        fragment next;
        set_zero(part);
        load_a(as, 0, next.a);
        load_b(bs, 0, next.b);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 8) {
            fragment high, low;
            split_all<PLAIN>(psi_a, next.a, high.a, low.a);
            split_all<PLAIN>(psi_b, next.b, high.b, low.b);
            if (k + 8 < DEPTH) {
                load_a(as, k + 8, next.a);
                load_b(bs, k + 8, next.b);
            }
            add_products(low.a, high.b, part);
            add_products(high.a, low.b, part);
            add_products(high.a, high.b, part);
        }
        add_to(sum, part);
    }

    /* For each of the ranges of the inner dimension in turn: sum = a b over it, and then fold(range).
       each(stage of a) sees every stage of a. */
    template <typename a_lines, typename b_lines, typename seen, typename folded>
    __device__ __forceinline__ void walk(const operand<a_lines> &a, const operand<b_lines> &b,
                                         const int *border, int ranges, float *memory, seen each, folded fold)
    {
        tile_copy<(A == ALONG ? BM : DEPTH), (A == ALONG ? DEPTH : BM), A_STRIDE, THREADS> of_a;
        tile_copy<(B == ALONG ? BN : DEPTH), (B == ALONG ? DEPTH : BN), B_STRIDE, THREADS> of_b;
        stage_walk ahead = {border, 0, ranges, border[0]};
        const auto aim = [&]() {
            if (!ahead.there()) return;
            if (A == ACROSS) of_a.aim(a.lines, ahead.inner, ahead.end());
            if (B == ACROSS) of_b.aim(b.lines, ahead.inner, ahead.end());
        };
        const auto send = [&](int stage) {
            float *to = memory + stage * STAGE;
            if (ahead.there()) {
                const int inner = ahead.inner, end = ahead.end();
                of_a.send(a.lines, A == ALONG ? a.extent : end - inner, A == ALONG ? inner : a.first,
                          A == ALONG ? end : a.first + a.extent, a.aligned, a.any, to);
                of_b.send(b.lines, B == ALONG ? b.extent : end - inner, B == ALONG ? inner : b.first,
                          B == ALONG ? end : b.first + b.extent, b.aligned, b.any, to + A_FLOATS);
                ahead.advance();
                aim(); /* what is looked up for the next one arrives while this one is multiplied */
            }
            end_copies();
        };
        if (A == ALONG) of_a.aim(a.lines, a.first, a.first + a.extent);
        if (B == ALONG) of_b.aim(b.lines, b.first, b.first + b.extent);
        ahead.settle();
        aim();
#pragma unroll
        for (int s = 0; s < STAGES - 1; s++) send(s);
        int stage = 0;
        for (int range = 0; range < ranges; range++) {
            set_zero(sum);
            for (int inner = border[range]; inner < border[range + 1]; inner += DEPTH) {
                wait_copies<STAGES - 2>();
                sync_block();
                send(stage == 0 ? STAGES - 1 : stage - 1);
                const float *as = memory + stage * STAGE;
                each(as);
                if (row0() >= a.extent || column0() >= b.extent)
                    ; /* the warp's part of the tile is past the end */
                else if (a.psi == SN_PSI_IDENTITY && b.psi == SN_PSI_IDENTITY)
                    multiply_stage<true>(as, as + A_FLOATS, a.psi, b.psi);
                else
                    multiply_stage<false>(as, as + A_FLOATS, a.psi, b.psi);
                stage = stage + 1 == STAGES ? 0 : stage + 1;
            }
            fold(range);
        }
    }

    /* sum = a b over the first `depth` of the inner dimension. */
    template <typename a_lines, typename b_lines>
    __device__ __forceinline__ void multiply(const operand<a_lines> &a, const operand<b_lines> &b, int depth,
                                             float *memory)
    {
        const int border[2] = {0, depth};
        walk(
            a, b, border, 1, memory, [](const float *) {}, [](int) {});
    }

    /* The tile to memory, where its stages were, in rows of LINE floats. */
    enum { LINE = BN + 8 };
    __device__ __forceinline__ void lay_down(float *memory)
    {
        static_assert(BM * LINE <= FLOATS, "the tile fits its stages");
        sync_block();
        hand_out([&](int row, int column, float4 four) { *(float4 *)(memory + row * LINE + column) = four; });
        sync_block();
    }

    /* what(row, column, four numbers side by side) of all the tile. */
    template <typename function> __device__ __forceinline__ void hand_out(function what)
    {
        const int t = lane() / 4, j = lane() % 4;
        const bool even = j % 2 == 0;
#pragma unroll
        for (int m = 0; m < TM; m++)
            if (B == ALONG || TN % 2 != 0) { /* neighbours have the other half of a quartet */
#pragma unroll
                for (int n = 0; n < TN; n++) {
                    const float *c = sum[m][n];
                    const float x = shuffle_xor(even ? c[2] : c[0], 1),
                                y = shuffle_xor(even ? c[3] : c[1], 1);
                    what(row_at(m, t, even ? 0 : 1), column0() + 8 * n + j / 2 * 4,
                         even ? make_float4(c[0], c[1], x, y) : make_float4(x, y, c[2], c[3]));
                }
            } else
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int e = 2 * half;
                    if (TN == 2) {
                        const float *c = sum[m][0], *d = sum[m][TN - 1];
                        what(row_at(m, t, half), column_at(0, 2 * j),
                             make_float4(c[e], d[e], c[e + 1], d[e + 1]));
                    } else
#pragma unroll
                        for (int n = 0; n + 3 < TN; n += 4)
#pragma unroll
                            for (int q = 0; q < 2; q++)
                                what(row_at(m, t, half), column_at(n, 2 * j + q),
                                     make_float4(sum[m][n][e + q], sum[m][n + 1][e + q], sum[m][n + 2][e + q],
                                                 sum[m][n + 3][e + q]));
                }
    }
};

/* Rows of an array, `pitch` floats apart. */
struct array_lines {
    const float *begin;
    int64_t pitch;
    __device__ __forceinline__ uint32_t key(int line) const
    {
        return (uint32_t)line;
    }
    __device__ __forceinline__ const float *at(uint32_t key) const
    {
        return begin + (int64_t)key * pitch;
    }
};

/* Rows of an array, or of the data by their places in the batch. */
struct batch_lines {
    const float *begin;
    int64_t pitch;
    const uint32_t *place; /* NULL: a row's number is its place */
    int first;             /* row of the array or the batch that line 0 is */
    uint32_t place0;       /* of row 0 */
    __device__ __forceinline__ uint32_t key(int line) const
    {
        return place != nullptr ? place[first + line] : place0 + (uint32_t)(first + line);
    }
    __device__ __forceinline__ const float *at(uint32_t key) const
    {
        return begin + (int64_t)key * pitch;
    }
};

/* gathers: the rows of a batch, looked up; else those of an array. */
static __device__ __forceinline__ batch_lines lines_of(const float *begin, int64_t pitch,
                                                       const chunk_rows &rows, int first, bool gathers)
{
    const bool listed = gathers && rows.head->listed;
    return {begin, pitch, listed ? rows.places : nullptr, first, gathers && !listed ? rows.head->first : 0U};
}

static __device__ __forceinline__ bool quartets(const float *at, int64_t pitch)
{
    return (size_t)at % 16 == 0 && pitch % 4 == 0;
}
