/*
 * Products by the tensor cores of Hopper devices, whose instructions (wgmma) a group of 128 threads gives
 * together and goes on beside, until it waits for them: there in code compiled for sm_90a alone.
 */
#pragma once

#include "engine/cuda_base.cuh"

enum { GROUP_UNITS = 128, GROUP_SUMS = 64 /* of a thread */, GROUP_DEPTH = 32 };

/* Where four numbers of line n lie in a tile of lines of GROUP_DEPTH, the quartet q: no two lines of eight on
   the same banks. A tile begins at a multiple of 1024 bytes. */
static __device__ __forceinline__ int group_place(int n, int q)
{
    return n * GROUP_DEPTH + (q ^ (n & 7)) * 4;
}

/* A device without them is never asked for them. */
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL))
#define FOR_GROUPS(...) __VA_ARGS__
#else
#define FOR_GROUPS(...)
#endif
/* What this thread has copied to shared memory is seen by the tensor cores, after a barrier. */
__device__ __forceinline__ void group_sees()
{
    FOR_GROUPS(asm volatile("fence.proxy.async;" ::: "memory"));
}
__device__ __forceinline__ void group_begin()
{
    FOR_GROUPS(asm volatile("wgmma.fence.sync.aligned;" ::: "memory"));
}
__device__ __forceinline__ void group_end()
{
    FOR_GROUPS(asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"));
}
__device__ __forceinline__ void group_wait(float c[GROUP_SUMS])
{
    FOR_GROUPS(asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"));
#ifdef __CUDACC__
#pragma unroll
    for (int e = 0; e < GROUP_SUMS; e++) asm volatile("" : "+f"(c[e])::"memory");
#else
    (void)c;
#endif
}
#ifdef __CUDACC__
/* c[64][128] (+)= a[64][8] b[8][128], of a and b the first 11 bits: warp w of the group has rows 16 w .. of a
   and c, a lane of them what it has for tensor_add, of c for every 8 columns in turn. b are numbers k .. k +
   7 of the lines of a tile. keeps: c is added to. */
__device__ __forceinline__ void group_add(float c[GROUP_SUMS], const float a[4], const float *tile, int k,
                                          bool keeps)
{
    const unsigned long long b = (unsigned long long)((shared_place(tile + k) & 0x3FFFF) >> 4) |
                                 1ULL << 16 /* unused */ |
                                 64ULL << 32 /* 1024 bytes from eight lines to the next */ |
                                 1ULL << 62 /* lines of 128 bytes, quartets as in group_place */;
    FOR_GROUPS(asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "{%64, %65, %66, %67}, %68, p, 1, 1;\n}\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]),
          "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]),
          "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]),
          "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]),
          "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]),
          "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]),
          "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]),
          "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]),
          "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
        : "r"(__float_as_int(a[0])), "r"(__float_as_int(a[1])), "r"(__float_as_int(a[2])),
          "r"(__float_as_int(a[3])), "l"(b), "r"(keeps ? 1 : 0)));
}
#else
static inline void group_add(float c[GROUP_SUMS], const float a[4], const float *tile, int k, bool keeps)
{
    float row[2][8], b[8];
    emulate::exchange_rows(a, row);
    const int j = (int)threadIdx.x % 4;
    for (int e = 0; e < GROUP_SUMS; e++) {
        const int n = e / 4 * 8 + 2 * j + e % 2;
        float sum = keeps ? c[e] : 0.0F;
        for (int i = 0; i < 8; i++) {
            b[i] = emulate::first_bits(tile[group_place(n, (k + i) / 4) + (k + i) % 4]);
            sum += row[e / 2 % 2][i] * b[i];
        }
        c[e] = sum;
    }
}
#endif
