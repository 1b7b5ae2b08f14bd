/* The device's own rates, in the arithmetic of the cuda engine: normals and tanh by the second, one JSON object.
   Each thread does many, of which one number is kept, so that nothing can be left out. */
#include <stdio.h>

#include "engine/cuda_base.cuh"
#include "engine/cuda_math.cuh"

enum { BLOCKS = 132 * 8, THREADS = 256, TIMES = 1000, REPEATS = 5 };

static __global__ void many_normals(float *out)
{
    float sum = 0.0F, normal[4];
    for (uint32_t k = 0; k < TIMES; k++) {
        normals_at(1, blockIdx.x * THREADS + threadIdx.x, 1, 1, k, normal);
        sum += normal[0] + normal[1] + normal[2] + normal[3];
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

static __global__ void many_tanhs(float *out)
{
    float y[4] = {1e-3F * (float)threadIdx.x, 0.1F, 0.2F, 0.3F};
    for (int k = 0; k < TIMES; k++)
        for (int j = 0; j < 4; j++) y[j] = tanh_of(y[j] + 0.5F);
    out[blockIdx.x * THREADS + threadIdx.x] = y[0] + y[1] + y[2] + y[3];
}

static double rate(void (*kernel)(float *), float *out)
{
    double best = 0.0;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int k = 0; k < REPEATS; k++) {
        float ms = 0.0F;
        cudaEventRecord(begin);
        kernel<<<BLOCKS, THREADS>>>(out);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&ms, begin, end);
        const double each = 4.0 * BLOCKS * THREADS * TIMES / (1e-3 * (double)ms);
        best = each > best ? each : best;
    }
    return best;
}

int main(void)
{
    float *out;
    if (cudaMalloc((void **)&out, BLOCKS * THREADS * sizeof *out) != cudaSuccess) {
        fprintf(stderr, "gpu_rates: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    printf("{\"normals\": %.4g, \"tanhs\": %.4g}\n", rate(many_normals, out), rate(many_tanhs, out));
    return 0;
}
