/* The objects of the CUDA module: device memory that grows, rows, a network; failures in CUDA's words. */
#ifndef SN_ENGINE_CUDA_OBJECTS_CUH
#define SN_ENGINE_CUDA_OBJECTS_CUH

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/cuda_plan.cuh"

static int trouble(sn_cuda_words *words, sn_cuda_trouble kind, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(words->why, sizeof words->why, format, list);
    va_end(list);
    return kind;
}

static int failed(sn_cuda_words *words, cudaError_t error)
{
    cudaGetLastError(); /* one that can be forgotten is */
    return trouble(words, error == cudaErrorMemoryAllocation ? SN_CUDA_NO_MEMORY : SN_CUDA_FAILED, "%s",
                   cudaGetErrorString(error));
}

#define CUDA_TRY(call)                                                                                       \
    do {                                                                                                     \
        const cudaError_t error_ = (call);                                                                   \
        if (error_ != cudaSuccess) return failed(words, error_);                                             \
    } while (0)
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        const int trouble_ = (call);                                                                         \
        if (trouble_ != SN_CUDA_FINE) return trouble_;                                                       \
    } while (0)

/* Memory of the device, or pinned memory of the host, that grows and never shrinks. */
template <typename number> struct buffer {
    number *at = nullptr;
    int64_t size = 0;
    bool pinned = false;
    buffer() = default;
    buffer(const buffer &) = delete; /* it is freed once, with what it is a part of */
    ~buffer()
    {
        clear();
    }
    void clear()
    {
        if (pinned)
            cudaFreeHost(at);
        else
            cudaFree(at);
        at = nullptr;
        size = 0;
    }
    int reserve(int64_t wanted, sn_cuda_words *words)
    {
        if (wanted <= size) return SN_CUDA_FINE;
        clear();
        const size_t bytes = (size_t)wanted * sizeof(number);
        CUDA_TRY(pinned ? cudaHostAlloc((void **)&at, bytes, cudaHostAllocDefault)
                        : cudaMalloc((void **)&at, bytes));
        size = wanted;
        return SN_CUDA_FINE;
    }
};

struct step_report { /* as the kernels leave it */
    double loss[SN_CUDA_SHARDS];
    int flag, unused;
};

struct sn_cuda_data {
    sn_cuda_table table;
    cudaStream_t stream = nullptr;
    buffer<float> x, y, weight;
    buffer<int32_t> label;
};

/* What a recorded queue was recorded for. */
struct record_key {
    const sn_cuda_data *data;
    int slot, count, rows, shards, listed, numbered, grouped, factors, sweeps, mode_start;
    int64_t lists;
};

/* What is sent with a queue and comes back from it. */
struct queue_slot {
    buffer<step_head> head, pinned_head;
    buffer<uint32_t> list, pinned_list; /* places, then numbers, of each step */
    buffer<step_report> report, pinned_report;
    int queued = 0, shards[SN_CUDA_QUEUE];
    cudaEvent_t done = nullptr;
};

struct queue_record {
    record_key key;
    cudaGraphExec_t what;
};
enum { RECORDS = 8 };

struct sn_cuda_net {
    sn_cuda_shape shape;
    device_facts facts;
    sweep_plan plan; /* how the weights are shared out */
    cudaStream_t stream = nullptr;
    buffer<float> theta, velocity, gathered, loss, partial, out;
    buffer<float> split; /* the weights, of large batches (cuda_wide.cuh) */
    buffer<float> mean[SN_CUDA_LAYERS], psi[SN_CUDA_LAYERS], residual[SN_CUDA_LAYERS];
    buffer<float> latent[SN_CUDA_LAYERS], speed[SN_CUDA_LAYERS]; /* of large batches, layer by layer */
    buffer<int32_t> border;                                      /* of the groups */
    buffer<double> factor;                                       /* of their thresholds */
    bool has_factor = false;
    queue_slot slot[SN_CUDA_UNDER_WAY];
    int oldest = 0, under_way = 0;
    int current = 0; /* the slot that is being filled */
    queue_slot &now()
    {
        return slot[current];
    }
    const queue_slot &now() const
    {
        return slot[current];
    }
    queue_record record[RECORDS];
    int records = 0;
};

#endif
