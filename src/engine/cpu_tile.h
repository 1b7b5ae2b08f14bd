/*
 * The register tile all matrix products of the engine are made of:
 *
 *     C[j][.] = start[j][.] + sum_t A(j, t) B[t][.]        j < rows <= 6,  t < depth
 *
 * B and C hold vectors (1, 2 or 4 of them a row), A single numbers that are broadcast. Each element of C is
 * one chain of multiply-adds in the order of t, whatever the tile's size, so how a product is cut into tiles,
 * row blocks or threads never changes a bit.
 *
 * Three forms, by where A and the start values lie:
 *     beside     A(j, t) = a[j + t * stride],   start[j] = a row of vectors
 *     beneath    A(j, t) = a[j * stride + t],   start[j] = a row of vectors
 *     biased     A as in beside,                start[j] = the number bias[j] in all lanes
 *
 * On the shapes of this engine (depth 2 to 800, 16 to 64 lanes) this beats a call of a BLAS, which packs both
 * operands anew for every product; at 64 x 200 x 200 and above the two are level (bench/ measures both).
 */
#pragma once

#include "engine/simd.h"

enum { TILE_ROWS = 6 };
typedef enum tile_form { TILE_BESIDE, TILE_BENEATH, TILE_BIASED } tile_form;

typedef struct tile_call {
    const float *a, *b, *start;
    float *c;
    int64_t a_stride, b_stride, c_stride, start_stride; /* in floats */
    int64_t depth;
} tile_call;

/* form, rows and vectors are constants in every call, so that each combination becomes its own straight code
   with c[][] in registers. */
SN_INLINE void tile(tile_form form, int rows, int vectors, const tile_call *call)
{
    vf c[TILE_ROWS][4];
    const int64_t stride = call->a_stride, b_stride = call->b_stride;
    const float *b = call->b;
    const float *a = call->a;
    const float *a3 = a + 3 * stride; /* two bases and the stride address six rows */
#pragma GCC unroll 6
    for (int j = 0; j < rows; j++)
#pragma GCC unroll 4
        for (int64_t v = 0; v < vectors; v++)
            c[j][v] = form == TILE_BIASED ? all(call->start[j])
                                          : load(call->start + j * call->start_stride + v * SN_LANES);
    for (int64_t t = call->depth; t > 0; t--) {
        vf row[4];
#pragma GCC unroll 4
        for (int64_t v = 0; v < vectors; v++) row[v] = load(b + v * SN_LANES);
#pragma GCC unroll 6
        for (int j = 0; j < rows; j++) {
            vf factor = all(form != TILE_BENEATH ? a[j] : j < 3 ? a[j * stride] : a3[(j - 3) * stride]);
#pragma GCC unroll 4
            for (int64_t v = 0; v < vectors; v++) c[j][v] = fma_(factor, row[v], c[j][v]);
        }
        b += b_stride;
        a += form == TILE_BENEATH ? 1 : stride;
        a3 += form == TILE_BENEATH ? 1 : stride;
    }
#pragma GCC unroll 6
    for (int j = 0; j < rows; j++)
#pragma GCC unroll 4
        for (int64_t v = 0; v < vectors; v++) store(call->c + j * call->c_stride + v * SN_LANES, c[j][v]);
}

typedef void (*tile_function)(const tile_call *call);

#define TILE_FUNCTION(form, rows, vectors)                                                                   \
    static void tile_##form##_##rows##_##vectors(const tile_call *call)                                      \
    {                                                                                                        \
        tile(form, rows, vectors, call);                                                                     \
    }
#define TILE_ALL_ROWS(form, vectors)                                                                         \
    TILE_FUNCTION(form, 1, vectors)                                                                          \
    TILE_FUNCTION(form, 2, vectors)                                                                          \
    TILE_FUNCTION(form, 3, vectors)                                                                          \
    TILE_FUNCTION(form, 4, vectors)                                                                          \
    TILE_FUNCTION(form, 5, vectors)                                                                          \
    TILE_FUNCTION(form, 6, vectors)
#define TILE_ROW_NAMES(form, vectors)                                                                        \
    {                                                                                                        \
        tile_##form##_1_##vectors, tile_##form##_2_##vectors, tile_##form##_3_##vectors,                     \
            tile_##form##_4_##vectors, tile_##form##_5_##vectors, tile_##form##_6_##vectors                  \
    }
/* The widest tile that keeps its sums in registers: 6 x 4 of 32, or 6 x 2 of 16. */
#if defined(__AVX512F__)
#define TILE_FORM(form) TILE_ALL_ROWS(form, 1) TILE_ALL_ROWS(form, 2) TILE_ALL_ROWS(form, 4)
#define TILE_NAMES(form)                                                                                     \
    {                                                                                                        \
        TILE_ROW_NAMES(form, 1), TILE_ROW_NAMES(form, 2), TILE_ROW_NAMES(form, 4)                            \
    }
#else
#define TILE_FORM(form) TILE_ALL_ROWS(form, 1) TILE_ALL_ROWS(form, 2)
#define TILE_NAMES(form)                                                                                     \
    {                                                                                                        \
        TILE_ROW_NAMES(form, 1), TILE_ROW_NAMES(form, 2)                                                     \
    }
#endif

TILE_FORM(TILE_BESIDE)
TILE_FORM(TILE_BENEATH)
TILE_FORM(TILE_BIASED)

static const tile_function tile_functions[3][3][TILE_ROWS] = {
    TILE_NAMES(TILE_BESIDE), TILE_NAMES(TILE_BENEATH), TILE_NAMES(TILE_BIASED)};

/* C of any number of rows and lanes (a multiple of SN_LANES). `rows` walks along A, start and C. The call is
   moved from tile to tile and then put back. A copy would be slower: it is read in whole vectors just after
   its numbers were written one by one, and that stall takes as long as a small tile. */
static void product(tile_form form, int64_t rows, int64_t lanes, tile_call *call)
{
    const int64_t a_step = form == TILE_BENEATH ? call->a_stride : 1;
    const int64_t start_step = form == TILE_BIASED ? 1 : call->start_stride;
    const int64_t start_lane = form == TILE_BIASED ? 0 : 1;
    const float *const a = call->a, *const b = call->b, *const start = call->start;
    float *const c = call->c;
    for (int64_t lane = 0; lane < lanes;) {
        const int64_t left = (lanes - lane) / SN_LANES;
        const int size = SN_TILE_VECTORS >= 4 && left >= 4 ? 2 : left >= 2 ? 1 : 0;
        for (int64_t j = 0; j < rows; j += TILE_ROWS) {
            const int64_t some = rows - j < TILE_ROWS ? rows - j : TILE_ROWS;
            call->a = a + j * a_step;
            call->b = b + lane;
            call->start = start + j * start_step + lane * start_lane;
            call->c = c + j * call->c_stride + lane;
            tile_functions[form][size][some - 1](call);
        }
        lane += (int64_t)SN_LANES << size;
    }
    call->a = a;
    call->b = b;
    call->start = start;
    call->c = c;
}
