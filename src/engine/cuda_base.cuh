/*
 * What the kernels take from the device, in words of their own: barriers, shuffles, the shared memory of
 * other blocks of a cluster, the hardware's functions, launches. Without nvcc the same kernels are compiled
 * for the processor, thread by thread (cuda_emulate.cuh): for tests where there is no GPU.
 *
 * A kernel takes one struct. Its shared memory is all dynamic.
 */
#ifndef SN_ENGINE_CUDA_BASE_CUH
#define SN_ENGINE_CUDA_BASE_CUH

#ifdef __CUDACC__

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
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ __forceinline__ void sync_cluster()
{
    cooperative_groups::this_cluster().sync();
}
__device__ __forceinline__ int cluster_rank()
{
    return (int)cooperative_groups::this_cluster().block_rank();
}
/* The same place in the shared memory of block `rank` of the cluster. */
__device__ __forceinline__ float *shared_of(float *mine, int rank)
{
    return cooperative_groups::this_cluster().map_shared_rank(mine, rank);
}
#else /* a device without clusters: none is ever asked for */
__device__ __forceinline__ void sync_cluster()
{
    __syncthreads();
}
__device__ __forceinline__ int cluster_rank()
{
    return 0;
}
__device__ __forceinline__ float *shared_of(float *mine, int)
{
    return mine;
}
#endif
template <typename number> __device__ __forceinline__ number shuffle_xor(number value, int mask)
{
    return __shfl_xor_sync(0xFFFFFFFFU, value, mask);
}
__device__ __forceinline__ float root_of(float x)
{
    float y;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ float cosine_of(float x)
{
    return __cosf(x);
}
__device__ __forceinline__ float sine_of(float x)
{
    return __sinf(x);
}
__device__ __forceinline__ float exponential(float x)
{
    return __expf(x);
}
__device__ __forceinline__ void raise_flag(int *flag)
{
    atomicOr(flag, 1);
}

template <typename arguments> struct launch {
    void (*kernel)(arguments);
    dim3 grid;
    int threads, cluster;
    size_t shared;
};

template <typename arguments>
static cudaError_t start(const launch<arguments> &what, cudaStream_t stream, const arguments &given)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = what.grid;
    config.blockDim = dim3((unsigned)what.threads);
    config.dynamicSmemBytes = what.shared;
    config.stream = stream;
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = (unsigned)what.cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = what.cluster > 1 ? 1 : 0;
    return cudaLaunchKernelEx(&config, what.kernel, given);
}

#else
#include "engine/cuda_emulate.cuh"
#endif
#endif
