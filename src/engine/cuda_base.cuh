/*
 * What the kernels take from the device, in words of their own: barriers, shuffles, the shared memory of
 * other blocks of a cluster, the hardware's functions, launches. Without nvcc the same kernels are compiled
 * for the processor, thread by thread (cuda_emulate.cuh): for tests where there is no GPU.
 *
 * A kernel takes one struct. Its shared memory is all dynamic.
 */
#pragma once

#ifdef __CUDACC__

#include <stdint.h>

#include <cooperative_groups.h>
#include <cuda_runtime.h>

extern __shared__ float4 sn_shared_memory[];
__device__ __forceinline__ float *shared_memory()
{
    return (float *)sn_shared_memory;
}
__device__ __forceinline__ void sync_block()
{
    __syncthreads();
}
/* What lanes of a warp have written to shared memory, the others may read. */
__device__ __forceinline__ void sync_warp()
{
    __syncwarp();
}
/* To the second-level cache, where someone will look for it. */
__device__ __forceinline__ void fetch_ahead(const float *from)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}
/* What older devices do without is never asked of them, or is done another way there. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define SINCE_80(...) __VA_ARGS__
#else
#define SINCE_80(...)
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define SINCE_90(now, before) now
#else
#define SINCE_90(now, before) before
#endif
__device__ __forceinline__ void sync_cluster()
{
    SINCE_90(cooperative_groups::this_cluster().sync(), __syncthreads());
}
__device__ __forceinline__ int cluster_rank()
{
    return SINCE_90((int)cooperative_groups::this_cluster().block_rank(), 0);
}
/* The same place in the shared memory of block `rank` of the cluster. */
__device__ __forceinline__ float *shared_of(float *mine, int rank)
{
    return SINCE_90(cooperative_groups::this_cluster().map_shared_rank(mine, rank), mine);
}
template <typename number> __device__ __forceinline__ number shuffle_xor(number value, int mask)
{
    return __shfl_xor_sync(0xFFFFFFFFU, value, mask);
}
/* Of lane `lane` among the `width` side by side, a power of two. */
__device__ __forceinline__ float shuffle_from(float value, int lane, int width)
{
    return __shfl_sync(0xFFFFFFFFU, value, lane, width);
}
__device__ __forceinline__ unsigned shared_place(const float *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}
/* Four floats to shared memory, of which the first `there` are copied and the rest are 0, or one or none;
   beside whatever follows, until it is waited for. */
__device__ __forceinline__ void copy_quartet(float *to, const float *from, int there)
{
    SINCE_80(asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_place(to)), "l"(from),
                          "r"(4 * there)));
}
__device__ __forceinline__ void copy_one(float *to, const float *from, int there)
{
    SINCE_80(asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_place(to)), "l"(from),
                          "r"(4 * there)));
}
/* Ends a group of copies; waits until all but the last LEFT groups of this thread are there. */
__device__ __forceinline__ void end_copies()
{
    SINCE_80(asm volatile("cp.async.commit_group;"));
}
template <int LEFT> __device__ __forceinline__ void wait_copies()
{
    SINCE_80(asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory"));
}
/* A warp's c[16][8] += a[16][8] b[8][8], of a and b the first 11 bits (TF32), in the tensor cores; with t =
   lane / 4, j = lane % 4 a lane has a[t][j], a[t + 8][j], a[t][j + 4], a[t + 8][j + 4]; b[j][t], b[j + 4][t];
   c[t][2 j], c[t][2 j + 1], c[t + 8][2 j], c[t + 8][2 j + 1]. */
__device__ __forceinline__ void tensor_add(float c[4], const float a[4], const float b[2])
{
    SINCE_80(asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(__float_as_int(a[0])), "r"(__float_as_int(a[1])), "r"(__float_as_int(a[2])),
                   "r"(__float_as_int(a[3])), "r"(__float_as_int(b[0])), "r"(__float_as_int(b[1]))));
}
/* Both halves of a product; one instruction, which compilers do not always find. */
__device__ __forceinline__ void multiply_whole(uint32_t a, uint32_t b, uint32_t *low, uint32_t *high)
{
    asm("{ .reg .b64 whole; mul.wide.u32 whole, %2, %3; mov.b64 {%0, %1}, whole; }"
        : "=r"(*low), "=r"(*high)
        : "r"(a), "r"(b));
}
__device__ __forceinline__ float root_of(float x)
{
    float y;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ void raise_flag(int *flag)
{
    atomicOr(flag, 1);
}

template <typename arguments> struct launch;
struct launch_form {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;
    template <typename arguments> launch_form(const launch<arguments> &what, cudaStream_t stream)
    {
        config.gridDim = what.grid;
        config.blockDim = dim3((unsigned)what.threads);
        config.dynamicSmemBytes = what.shared;
        config.stream = stream;
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = (unsigned)what.cluster;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        config.attrs = &attribute;
        config.numAttrs = what.cluster > 1 ? 1 : 0;
    }
};

template <typename arguments>
static cudaError_t start(const launch<arguments> &what, cudaStream_t stream, const arguments &given)
{
    const launch_form form(what, stream);
    return cudaLaunchKernelEx(&form.config, what.kernel, given);
}

/* How many clusters of such a launch run at a time. */
template <typename arguments> static cudaError_t clusters_of(const launch<arguments> &what, int *count)
{
    const launch_form form(what, nullptr);
    return cudaOccupancyMaxActiveClusters(count, what.kernel, &form.config);
}

#else
#include "engine/cuda_emulate.cuh"
#endif

/* shared: bytes; cluster: blocks of one. */
template <typename arguments> struct launch {
    void (*kernel)(arguments);
    dim3 grid;
    int threads;
    size_t shared = 0;
    int cluster = 1;
};
