/*
 * The float functions of the CUDA engine, for one number: those of simd_math.h, with the hardware's root,
 * sine, cosine and exponential where they are good enough. The words of the noise are the library's bit for
 * bit (math/noise.h).
 */
#pragma once

#include <stdint.h>

#include "engine/cuda_base.cuh"

enum { SN_PSI_IDENTITY, SN_PSI_TANH, SN_PSI_RELU, SN_PSI_SIGMOID }; /* sn_activation */

__device__ __forceinline__ float tanh_of(float x)
{
    x = fminf(fmaxf(x, -7.9F), 7.9F);
    const float z = x * x;
    float p = fmaf(1.1414695e-05F, z, 0.0029485133F), q = fmaf(2.4572458e-07F, z, 0.00023839565F);
    p = fmaf(p, z, 0.12922688F);
    q = fmaf(q, z, 0.023803519F);
    p = fmaf(p, z, 0.9999994F);
    q = fmaf(q, z, 0.4625581F);
    q = fmaf(q, z, 1.0F);
    return __fdividef(x * p, q);
}

__device__ __forceinline__ float activate(int psi, float y)
{
    switch (psi) {
    case SN_PSI_TANH:
        return tanh_of(y);
    case SN_PSI_RELU:
        return fmaxf(y, 0.0F);
    case SN_PSI_SIGMOID:
        return fmaf(tanh_of(0.5F * y), 0.5F, 0.5F);
    default:
        return y;
    }
}

/* psi'(y) from psi(y). */
__device__ __forceinline__ float slope_of(int psi, float value)
{
    switch (psi) {
    case SN_PSI_TANH:
        return fmaf(-value, value, 1.0F);
    case SN_PSI_RELU:
        return value > 0.0F ? 1.0F : 0.0F;
    case SN_PSI_SIGMOID:
        return fmaf(-value, value, value);
    default:
        return 1.0F;
    }
}

/* Numbers of arrays of any shape, one by one. */
static __device__ __forceinline__ void set_zero(float &number)
{
    number = 0.0F;
}
template <typename part, int N> static __device__ __forceinline__ void set_zero(part (&all)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++) set_zero(all[k]);
}
static __device__ __forceinline__ void add_to(float &to, float number)
{
    to += number;
}
template <typename part, int N>
static __device__ __forceinline__ void add_to(part (&to)[N], const part (&from)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++) add_to(to[k], from[k]);
}

/* Four numbers side by side: a b, a k + c, the sum of a b and `start`, (a - b) k. */
static __device__ __forceinline__ float4 product4(float4 a, float4 b)
{
    return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
static __device__ __forceinline__ float4 add4(float4 a, float k, float4 c)
{
    return make_float4(fmaf(a.x, k, c.x), fmaf(a.y, k, c.y), fmaf(a.z, k, c.z), fmaf(a.w, k, c.w));
}
static __device__ __forceinline__ float dot4(float4 a, float4 b, float start)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, start))));
}
static __device__ __forceinline__ float4 gap4(float4 a, float4 b, float k)
{
    return make_float4((a.x - b.x) * k, (a.y - b.y) * k, (a.z - b.z) * k, (a.w - b.w) * k);
}

/* -2 log(x) for normal x > 0, as in simd_math.h: the hardware's logarithm is too coarse near 1. */
__device__ __forceinline__ float minus_two_log(float x)
{
    const int bits = __float_as_int(x) - 0x3F2AAAAB;
    const float e = (float)(bits >> 23), f = __int_as_float((bits & 0x007FFFFF) + 0x3F2AAAAB) - 1.0F;
    float q = fmaf(0.30533603F, f, -0.33981106F);
    q = fmaf(q, f, 0.32881626F);
    q = fmaf(q, f, -0.3963634F);
    q = fmaf(q, f, 0.50012648F);
    q = fmaf(q, f, -0.6667347F);
    q = fmaf(q, f, 0.99999923F);
    return fmaf(e, -1.38629436F, fmaf(f, -2.0F, f * f * q));
}

/* Two normals from two words. The angle is taken as a signed part of a turn, in which it is exact enough. */
__device__ __forceinline__ void box_muller(uint32_t radius_word, uint32_t angle_word, float *cosine,
                                           float *sine)
{
    const float u = fmaf((float)radius_word, 2.3283064e-10F, 1.1641532e-10F);
    const float radius = root_of(minus_two_log(u));
    const float angle = fmaf((float)(int32_t)angle_word, 1.4629181e-9F, 7.3145905e-10F); /* 2 pi 2^-32 */
    *cosine = radius * __cosf(angle);
    *sine = radius * __sinf(angle);
}

enum : uint32_t { PHILOX_LOW = 0xD2511F53U, PHILOX_HIGH = 0xCD9E8D57U };

/* Rounds `first` .. 9 of Philox4x32 on a counter, and two times two normals from what comes out. */
__device__ __forceinline__ void last_rounds(uint64_t seed, int first, uint32_t c0, uint32_t c1, uint32_t c2,
                                            uint32_t c3, float normal[4])
{
#pragma unroll
    for (int round = first; round < 10; round++) {
        const uint32_t even = (uint32_t)seed + (uint32_t)round * 0x9E3779B9U;
        const uint32_t odd = (uint32_t)(seed >> 32) + (uint32_t)round * 0xBB67AE85U;
        uint32_t low, high, low2, high2;
        multiply_whole(PHILOX_LOW, c0, &low, &high);
        multiply_whole(PHILOX_HIGH, c2, &low2, &high2);
        c0 = high2 ^ c1 ^ even;
        c1 = low2;
        c2 = high ^ c3 ^ odd;
        c3 = low;
    }
    box_muller(c0, c1, &normal[0], &normal[1]);
    box_muller(c2, c3, &normal[2], &normal[3]);
}

/* The four normals of units 4 group .. 4 group + 3; second = layer << 20 | group, last = stream << 16 |
 * sweep.
 */
__device__ __forceinline__ void normals_at(uint64_t seed, uint32_t row, uint32_t second, uint32_t iteration,
                                           uint32_t last, float normal[4])
{
    last_rounds(seed, 0, row, second, iteration, last, normal);
}

/* The same for several groups of one row and sweep, which have parts of the first three rounds in common. */
struct noise_line {
    uint64_t seed;
    uint32_t second_key;         /* what `second` is changed by in the first round, */
    uint32_t row_low;            /* the third word after it, */
    uint32_t low, r_low, r_high; /* and what the second and third round make of row and sweep */

    __device__ __forceinline__ noise_line(uint64_t key, uint32_t row, uint32_t iteration, uint32_t last)
        : seed(key)
    {
        const uint32_t even = (uint32_t)seed, odd = (uint32_t)(seed >> 32);
        uint32_t row_high, time_low, time_high, high;
        multiply_whole(PHILOX_LOW, row, &row_low, &row_high);
        multiply_whole(PHILOX_HIGH, iteration, &time_low, &time_high);
        second_key = time_high ^ even;
        multiply_whole(PHILOX_HIGH, row_high ^ last ^ odd, &low, &high);
        multiply_whole(PHILOX_LOW, high ^ time_low ^ (even + 0x9E3779B9U), &r_low, &r_high);
    }
    __device__ __forceinline__ void normals(uint32_t second, float normal[4]) const
    {
        const uint32_t even = (uint32_t)seed, odd = (uint32_t)(seed >> 32);
        uint32_t q_low, q_high, s_low, s_high;
        multiply_whole(PHILOX_LOW, second ^ second_key, &q_low, &q_high);
        multiply_whole(PHILOX_HIGH, q_high ^ row_low ^ (odd + 0xBB67AE85U), &s_low, &s_high);
        last_rounds(seed, 3, s_high ^ low ^ (even + 2U * 0x9E3779B9U), s_low,
                    r_high ^ q_low ^ (odd + 2U * 0xBB67AE85U), r_low, normal);
    }
};
