/* The objects of the CUDA module: device memory that grows, rows, a network; failures in CUDA's words. */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/cuda_plan.cuh"

/* What ends a call of the module: thrown where it happens. */
struct trouble {
    sn_cuda_trouble kind;
    sn_cuda_words words;
    __attribute__((format(printf, 3, 4))) trouble(sn_cuda_trouble kind, const char *format, ...) : kind(kind)
    {
        va_list list;
        va_start(list, format);
        vsnprintf(words.why, sizeof words.why, format, list);
        va_end(list);
    }
};

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    cudaGetLastError(); /* one that can be forgotten is */
    throw trouble(error == cudaErrorMemoryAllocation ? SN_CUDA_NO_MEMORY : SN_CUDA_FAILED, "%s",
                  cudaGetErrorString(error));
}

/* Numbers to the device, from it, and zeros there, beside the processor. */
template <typename number>
static void send(number *to, const number *from, int64_t count, cudaStream_t stream)
{
    check(cudaMemcpyAsync(to, from, (size_t)count * sizeof *to, cudaMemcpyHostToDevice, stream));
}
template <typename number>
static void fetch(number *to, const number *from, int64_t count, cudaStream_t stream)
{
    check(cudaMemcpyAsync(to, from, (size_t)count * sizeof *to, cudaMemcpyDeviceToHost, stream));
}
template <typename number> static void set_zeros(number *to, int64_t count, cudaStream_t stream)
{
    check(cudaMemsetAsync(to, 0, (size_t)count * sizeof *to, stream));
}

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
    void reserve(int64_t wanted)
    {
        if (wanted <= size) return;
        clear();
        const size_t bytes = (size_t)wanted * sizeof(number);
        check(pinned ? cudaHostAlloc((void **)&at, bytes, cudaHostAllocDefault)
                     : cudaMalloc((void **)&at, bytes));
        size = wanted;
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
    ~sn_cuda_data()
    {
        if (stream != nullptr) cudaStreamDestroy(stream);
    }
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
    void forget_record()
    {
        if (records > 0) cudaStreamSynchronize(stream); /* one may be under way */
        for (int k = 0; k < records; k++) cudaGraphExecDestroy(record[k].what);
        records = 0;
    }
    ~sn_cuda_net()
    {
        if (stream != nullptr) cudaStreamSynchronize(stream);
        forget_record();
        for (queue_slot &it : slot)
            if (it.done != nullptr) cudaEventDestroy(it.done);
        if (stream != nullptr) cudaStreamDestroy(stream);
    }
};
