/*
 * The vector unit behind one small set of names, so that a kernel is written once and compiled per
 * instruction set: AVX-512, AVX2 with FMA, and four lanes in the compiler's own vectors for anything else.
 *
 *     vf  SN_LANES floats      vu  SN_LANES 32-bit words      vw  the even or odd words, in 64-bit cells
 *
 * Plain operators (+ - * / & | ^ << >>) work on all of them; what is here is what has no operator. The file
 * is included by one source file per instruction set, after which everything in it is file-local.
 */
#pragma once

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define SN_LANES_AVX 16
#elif defined(__AVX2__) && defined(__FMA__)
#define SN_LANES_AVX 8
#else
#define SN_LANES_AVX 0 /* neither */
#endif
enum { SN_LANES = SN_LANES_AVX > 0 ? SN_LANES_AVX : 4, SN_TILE_VECTORS = SN_LANES_AVX == 16 ? 4 : 2 };

typedef float vf __attribute__((vector_size(SN_LANES * 4)));
typedef int32_t vi __attribute__((vector_size(SN_LANES * 4)));
typedef uint32_t vu __attribute__((vector_size(SN_LANES * 4)));
typedef uint64_t vw __attribute__((vector_size(SN_LANES * 4)));

#define SN_INLINE static inline __attribute__((always_inline))

/* Rows rounded up to whole vectors. */
SN_INLINE int64_t whole_vectors(int64_t rows)
{
    return (rows + SN_LANES - 1) / SN_LANES * SN_LANES;
}

SN_INLINE vf load(const float *at)
{
    vf value;
    memcpy(&value, at, sizeof value);
    return value;
}

SN_INLINE void store(float *at, vf value)
{
    memcpy(at, &value, sizeof value);
}

SN_INLINE vu load_words(const uint32_t *at)
{
    vu value;
    memcpy(&value, at, sizeof value);
    return value;
}

SN_INLINE void store_words(uint32_t *at, vu value)
{
    memcpy(at, &value, sizeof value);
}

SN_INLINE vf all(float value)
{
    return value - (vf){0};
}

SN_INLINE vu all_words(uint32_t value)
{
    return value - (vu){0};
}

#if SN_LANES_AVX > 0

#if SN_LANES_AVX == 16
typedef __m512 floats;
typedef __m512i words;
#define MM(name) _mm512_##name
#else
typedef __m256 floats;
typedef __m256i words;
#define MM(name) _mm256_##name
#endif

SN_INLINE vf fma_(vf a, vf b, vf c)
{
    return (vf)MM(fmadd_ps)((floats)a, (floats)b, (floats)c);
}
SN_INLINE vf larger(vf a, vf b)
{
    return (vf)MM(max_ps)((floats)a, (floats)b);
}
SN_INLINE vf smaller(vf a, vf b)
{
    return (vf)MM(min_ps)((floats)a, (floats)b);
}
SN_INLINE vf root(vf a)
{
    return (vf)MM(sqrt_ps)((floats)a);
}
SN_INLINE vf from_signed(vi a)
{
    return (vf)MM(cvtepi32_ps)((words)a);
}
SN_INLINE vi to_signed(vf a)
{
    return (vi)MM(cvtps_epi32)((floats)a);
}
/* The low words of the 64-bit cells, multiplied to 64 bits. */
SN_INLINE vw multiply_words(vw a, vw b)
{
    return (vw)MM(mul_epu32)((words)a, (words)b);
}

#if SN_LANES_AVX == 16

/* Without optimisation gcc makes a macro of it, with a mask of the wrong sign inside. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
SN_INLINE vf nearest(vf a)
{
    return (vf)_mm512_roundscale_ps((__m512)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#pragma GCC diagnostic pop
SN_INLINE vf from_unsigned(vu a)
{
    return (vf)_mm512_cvtepu32_ps((__m512i)a);
}
/* a where the bits of `mask` are set in `test`, else b. */
SN_INLINE vf choose_bit(vu test, uint32_t mask, vf a, vf b)
{
    return (vf)_mm512_mask_mov_ps((__m512)b, _mm512_test_epi32_mask((__m512i)test, (__m512i)all_words(mask)),
                                  (__m512)a);
}
/* 1 where x > 0, else 0. */
SN_INLINE vf positive(vf x)
{
    return (vf)_mm512_maskz_mov_ps(_mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_GT_OQ),
                                   (__m512)all(1.0F));
}
/* 1 where the words agree, else 0. */
SN_INLINE vf same_word(vu a, vu b)
{
    return (vf)_mm512_maskz_mov_ps(_mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b), (__m512)all(1.0F));
}
/* a with its sign flipped where the top bit of `bits` is set. */
SN_INLINE vf flip_sign(vf a, vu bits)
{
    return (vf)_mm512_ternarylogic_epi32((__m512i)a, (__m512i)bits, (__m512i)all_words(0x80000000U), 0x78);
}
SN_INLINE vw xor3(vw a, vw b, vw c)
{
    return (vw)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, 0x96);
}
/* Low words of `even` in the even lanes, low words of `odd` in the odd lanes. */
SN_INLINE vu interleave(vw even, vw odd)
{
    return (vu)_mm512_mask_blend_epi32(0xAAAA, (__m512i)even, _mm512_slli_epi64((__m512i)odd, 32));
}

#else

SN_INLINE vf nearest(vf a)
{
    return (vf)_mm256_round_ps((__m256)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
SN_INLINE vu interleave(vw even, vw odd)
{
    return (vu)_mm256_blend_epi32((__m256i)even, _mm256_slli_epi64((__m256i)odd, 32), 0xAA);
}

#endif
#else

/* Not fused: the rounding of this path is the compiler's, and its bits are its own. */
SN_INLINE vf fma_(vf a, vf b, vf c)
{
    return a * b + c;
}
SN_INLINE vf pick(vi where, vf a, vf b)
{
    return (vf)((where & (vi)a) | (~where & (vi)b));
}
SN_INLINE vf larger(vf a, vf b)
{
    return pick(a > b, a, b);
}
SN_INLINE vf smaller(vf a, vf b)
{
    return pick(a < b, a, b);
}
SN_INLINE vf root(vf a)
{
    for (int lane = 0; lane < SN_LANES; lane++) a[lane] = __builtin_sqrtf(a[lane]);
    return a;
}
/* Right for |a| < 2^22, which is all it is used for. */
SN_INLINE vf nearest(vf a)
{
    return (a + 12582912.0F) - 12582912.0F;
}
SN_INLINE vf from_signed(vi a)
{
    return __builtin_convertvector(a, vf);
}
SN_INLINE vi to_signed(vf a)
{
    return __builtin_convertvector(a, vi);
}
SN_INLINE vw multiply_words(vw a, vw b)
{
#if defined(__SSE2__)
    return (vw)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xFFFFFFFFU) * (b & 0xFFFFFFFFU);
#endif
}
SN_INLINE vu interleave(vw even, vw odd)
{
    return (vu)((even & 0xFFFFFFFFU) | odd << 32);
}

#endif

#if SN_LANES_AVX < 16

/* Halves convert exactly, so their sum rounds once. */
SN_INLINE vf from_unsigned(vu a)
{
    return fma_(from_signed((vi)(a >> 16)), all(65536.0F), from_signed((vi)(a & 0xFFFFU)));
}
SN_INLINE vf choose_bit(vu test, uint32_t mask, vf a, vf b)
{
    vi where = (test & mask) != 0;
    return (vf)((where & (vi)a) | (~where & (vi)b));
}
SN_INLINE vf positive(vf x)
{
    return (vf)((x > 0) & (vi)all(1.0F));
}
SN_INLINE vf same_word(vu a, vu b)
{
    return (vf)((a == b) & (vi)all(1.0F));
}
SN_INLINE vf flip_sign(vf a, vu bits)
{
    return (vf)((vu)a ^ (bits & 0x80000000U));
}
SN_INLINE vw xor3(vw a, vw b, vw c)
{
    return a ^ b ^ c;
}

#endif
