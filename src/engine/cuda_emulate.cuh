/*
 * A GPU that is slow and always there: the kernels of the CUDA engine compiled for the processor, so that
 * their logic is tested on machines without a GPU. Every thread of a block (of a cluster, where there is one)
 * is a fiber with a stack of its own; a barrier or a shuffle lets the others run until all have come to it.
 * Device memory is filled with NaN when it is made, and every copy is what it says.
 *
 * STONET_EMULATE asks for trouble: "no-device", "too-old", "memory=BYTES" (all there is), "fail=N" (launch
 * number N and all that follow).
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>
#include <functional>
#include <vector>

#define __device__
#define __global__
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __grid_constant__
#define __launch_bounds__(...)

struct float2 {
    float x, y;
};
struct float4 {
    float x, y, z, w;
};
static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
    {
    }
};

namespace emulate
{

enum {
    STACK = 1 << 16,
    WARP = 32,
    SHARED = 80 << 10, /* of a block, as is said */
    ROOM = 227 << 10   /* and as it is, for kernels that are made for one device */
};

struct block {
    dim3 index;
    int rank = 0;
    float *shared = nullptr;
    int arrived = 0, generation = 0;
};
struct warp {
    uint64_t value[2][WARP] = {};
    float operand[2][WARP][6] = {}; /* of tensor_add */
    int arrived[2] = {0, 0}, generation[2] = {0, 0};
};
struct fiber {
    void *stack = nullptr; /* where it stands */
    fiber *next = nullptr; /* of those that are not done */
    block *in = nullptr;
    warp *of = nullptr;
    int thread = 0, turn = 0;
};
struct machine { /* one to each thread of the program */
    std::vector<fiber> fibers;
    std::vector<block> blocks;
    std::vector<warp> warps;
    char *stacks = nullptr;
    size_t stack_count = 0;
    fiber *now = nullptr, *before = nullptr; /* the one that runs, and the one whose next it is */
    void *home = nullptr;
    std::function<void()> body;
    int threads = 0, cluster_arrived = 0, cluster_generation = 0;
    dim3 grid;
    ~machine()
    {
        if (stacks != nullptr) munmap(stacks, stack_count * STACK);
    }
};
static thread_local machine at;

/* Leaves one stack for another: what a called function must preserve lies on the stack meanwhile. */
extern "C" void sn_emulate_switch(void **from, void *to);
asm(R"(
.text
.type sn_emulate_switch, @function
sn_emulate_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
.size sn_emulate_switch, . - sn_emulate_switch
)");

static inline void yield()
{
    fiber *me = at.now;
    at.before = me;
    at.now = me->next;
    if (at.now != me) sn_emulate_switch(&me->stack, at.now->stack);
}
static inline void wait_for(int &arrived, int &generation, int all)
{
    const int mine = generation;
    if (++arrived == all) {
        arrived = 0;
        generation++;
        return;
    }
    while (generation == mine) yield();
}
/* The first thing a fiber does; it ends by never being switched to again. */
static void enter()
{
    at.body();
    fiber *me = at.now;
    at.now = me->next;
    at.before->next = me->next;
    sn_emulate_switch(&me->stack, at.now == me ? at.home : at.now->stack);
    abort();
}
static void *first_stack(char *bottom)
{
    void **top = (void **)(bottom + STACK) - 1; /* as after a call: 8 off a multiple of 16 */
    *--top = (void *)enter;
    return top - 6;
}

/* Runs all threads of one cluster to their end. */
static void run_cluster(int threads, int cluster, size_t shared, unsigned first_block)
{
    const size_t count = (size_t)threads * (size_t)cluster;
    std::vector<std::vector<float>> memory((size_t)cluster,
                                           std::vector<float>(shared / sizeof(float) + 256, NAN));
    at.fibers = std::vector<fiber>(count);
    at.blocks = std::vector<block>((size_t)cluster);
    at.warps = std::vector<warp>((count + WARP - 1) / WARP);
    if (at.stack_count < count) {
        if (at.stacks != nullptr) munmap(at.stacks, at.stack_count * STACK);
        void *stacks =
            mmap(nullptr, count * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stacks == MAP_FAILED) abort();
        at.stacks = (char *)stacks;
        at.stack_count = count;
    }
    at.threads = threads;
    at.cluster_arrived = 0;
    for (size_t b = 0; b < at.blocks.size(); b++) {
        const unsigned index = first_block + (unsigned)b;
        block &it = at.blocks[b];
        it.index = dim3(index % at.grid.x, index / at.grid.x % at.grid.y, index / at.grid.x / at.grid.y);
        it.rank = (int)b;
        it.shared = (float *)(((uintptr_t)memory[b].data() + 1023) / 1024 * 1024);
    }
    for (size_t k = 0; k < count; k++) {
        fiber &f = at.fibers[k];
        f.in = &at.blocks[k / (size_t)threads];
        f.of = &at.warps[k / WARP];
        f.thread = (int)(k % (size_t)threads);
        f.next = &at.fibers[(k + 1) % count];
        f.stack = first_stack(at.stacks + k * STACK);
    }
    at.now = &at.fibers[0];
    at.before = &at.fibers[count - 1];
    sn_emulate_switch(&at.home, at.now->stack);
}

} // namespace emulate

#define threadIdx (dim3((unsigned)emulate::at.now->thread, 0, 0))
#define blockIdx  (emulate::at.now->in->index)
#define blockDim  (dim3((unsigned)emulate::at.threads))
#define gridDim   (emulate::at.grid)

static inline float *shared_memory()
{
    return emulate::at.now->in->shared;
}
static inline void sync_block()
{
    emulate::block *b = emulate::at.now->in;
    emulate::wait_for(b->arrived, b->generation, emulate::at.threads);
}
static inline void sync_cluster()
{
    emulate::wait_for(emulate::at.cluster_arrived, emulate::at.cluster_generation,
                      (int)emulate::at.fibers.size());
}
static inline int cluster_rank()
{
    return emulate::at.now->in->rank;
}
static inline float *shared_of(float *mine, int rank)
{
    return emulate::at.blocks[(size_t)rank].shared + (mine - shared_memory());
}
namespace emulate
{
static inline int lane()
{
    return at.now->thread % WARP;
}
/* The value of another lane, when all have given theirs. */
template <typename number> static inline number value_of(int other, number value)
{
    fiber *me = at.now;
    const int turn = me->turn++ % 2;
    memcpy(&me->of->value[turn][lane()], &value, sizeof value);
    wait_for(me->of->arrived[turn], me->of->generation[turn], WARP);
    memcpy(&value, &me->of->value[turn][other], sizeof value);
    return value;
}
} // namespace emulate
template <typename number> static inline number shuffle_xor(number value, int mask)
{
    return emulate::value_of(emulate::lane() ^ mask, value);
}
static inline float shuffle_from(float value, int lane, int width)
{
    return emulate::value_of(emulate::lane() / width * width + lane % width, value);
}
static inline void sync_warp()
{
    shuffle_xor(0.0F, 1);
}
static inline void fetch_ahead(const float *)
{
}
static inline void copy_quartet(float *to, const float *from, int there)
{
    if (((uintptr_t)to | (uintptr_t)from) % 16 != 0) abort();
    for (int k = 0; k < 4; k++) to[k] = k < there ? from[k] : 0.0F;
}
static inline void copy_one(float *to, const float *from, int there)
{
    *to = there > 0 ? *from : 0.0F;
}
static inline void end_copies()
{
}
template <int LEFT> static inline void wait_copies()
{
}
static inline int __float_as_int(float x)
{
    int bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float __int_as_float(int bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
namespace emulate
{
static inline float first_bits(float x) /* 11 of them */
{
    return __int_as_float(__float_as_int(x) & ~0x1FFF);
}
/* What all lanes have given for a product of matrices, [lane][a, then b]. */
static inline const float (*operands(const float a[4], const float b[2]))[6]
{
    fiber *me = at.now;
    const int turn = me->turn++ % 2;
    float(*all)[6] = me->of->operand[turn];
    for (int k = 0; k < 6; k++) all[lane()][k] = first_bits(k < 4 ? a[k] : b[k - 4]);
    wait_for(me->of->arrived[turn], me->of->generation[turn], WARP);
    return all;
}
/* The two rows of a[16][8] that the four lanes beside each other have (tensor_add). */
static inline void exchange_rows(const float a[4], float row[2][8])
{
    const float(*all)[6] = operands(a, a);
    for (int k = 0; k < 8; k++)
        for (int half = 0; half < 2; half++) row[half][k] = all[lane() / 4 * 4 + k % 4][half + k / 4 * 2];
}
} // namespace emulate

static inline void tensor_add(float c[4], const float a[4], const float b[2])
{
    const float(*all)[6] = emulate::operands(a, b);
    const int t = emulate::lane() / 4, j = emulate::lane() % 4;
    for (int e = 0; e < 4; e++)
        for (int k = 0; k < 8; k++)
            c[e] += all[4 * t + k % 4][e / 2 + k / 4 * 2] * all[4 * (2 * j + e % 2) + k % 4][4 + k / 4];
}
static inline void multiply_whole(uint32_t a, uint32_t b, uint32_t *low, uint32_t *high)
{
    const uint64_t whole = (uint64_t)a * b;
    *low = (uint32_t)whole;
    *high = (uint32_t)(whole >> 32);
}
static inline float root_of(float x)
{
    return sqrtf(x);
}
#define __cosf cosf
#define __sinf sinf
#define __expf expf
static inline float __fdividef(float a, float b)
{
    return a / b;
}
template <typename number> static inline number __ldg(const number *from)
{
    return *from;
}
static inline void raise_flag(int *flag)
{
    *flag |= 1;
}

/* ---- the runtime, as far as it is used ----------------------------------------------------------------- */

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNoDevice = 100,
    cudaErrorLaunchFailure = 719
};
typedef void *cudaStream_t;
typedef void *cudaEvent_t;
typedef void *cudaGraphExec_t;
enum { cudaEventDisableTiming = 2 };
enum { cudaStreamNonBlocking = 1, cudaHostAllocDefault = 0 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
struct cudaDeviceProp {
    char name[128];
    int major, minor, multiProcessorCount;
    size_t sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
};

namespace emulate
{
static inline const char *wanted(const char *name)
{
    const char *all = getenv("STONET_EMULATE");
    const size_t size = strlen(name);
    return all != nullptr && strncmp(all, name, size) == 0 ? all + size : nullptr;
}
static std::atomic<int64_t> used{0}, launches{0};
static inline int64_t capacity()
{
    const char *bytes = wanted("memory=");
    return bytes != nullptr ? atoll(bytes) : (int64_t)8 << 30;
}
} // namespace emulate

static inline const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorMemoryAllocation ? "out of memory"
           : error == cudaErrorNoDevice       ? "no CUDA-capable device is detected"
           : error == cudaErrorLaunchFailure  ? "unspecified launch failure"
                                              : "unknown error";
}
/* What there is nothing to do for. */
#define NOTHING_TO_DO(call)                                                                                  \
    static inline cudaError_t call                                                                           \
    {                                                                                                        \
        return cudaSuccess;                                                                                  \
    }
NOTHING_TO_DO(cudaGetLastError())
NOTHING_TO_DO(cudaSetDevice(int))
NOTHING_TO_DO(cudaStreamCreateWithFlags(cudaStream_t *, int))
NOTHING_TO_DO(cudaEventCreateWithFlags(cudaEvent_t *, int))
NOTHING_TO_DO(cudaStreamDestroy(cudaStream_t))
NOTHING_TO_DO(cudaStreamSynchronize(cudaStream_t))
NOTHING_TO_DO(cudaEventDestroy(cudaEvent_t))
NOTHING_TO_DO(cudaEventSynchronize(cudaEvent_t))
NOTHING_TO_DO(cudaEventRecord(cudaEvent_t, cudaStream_t))
NOTHING_TO_DO(cudaGraphExecDestroy(cudaGraphExec_t))
static inline cudaError_t cudaGetDeviceCount(int *count)
{
    *count = emulate::wanted("no-device") != nullptr ? 0 : 1;
    return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}
static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    *p = {};
    snprintf(p->name, sizeof p->name, "emulated device");
    p->major = emulate::wanted("too-old") != nullptr ? 5 : 9;
    p->multiProcessorCount = 20;
    p->sharedMemPerBlockOptin = emulate::SHARED;
    p->sharedMemPerMultiprocessor = emulate::SHARED + (8 << 10);
    return cudaSuccess;
}
static inline cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    *total = (size_t)emulate::capacity();
    const int64_t used = emulate::used;
    *left = used < (int64_t)*total ? *total - (size_t)used : 0;
    return cudaSuccess;
}
static inline cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    *memory = nullptr;
    if ((int64_t)bytes + emulate::used > emulate::capacity()) return cudaErrorMemoryAllocation;
    size_t *block = (size_t *)malloc(bytes + 64);
    if (block == nullptr) return cudaErrorMemoryAllocation;
    *block = bytes;
    emulate::used += (int64_t)bytes;
    *memory = (char *)block + 64;
    memset(*memory, 0xFF, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaFree(void *memory)
{
    if (memory == nullptr) return cudaSuccess;
    size_t *block = (size_t *)((char *)memory - 64);
    emulate::used -= (int64_t)*block;
    free(block);
    return cudaSuccess;
}
static inline cudaError_t cudaHostAlloc(void **memory, size_t bytes, int)
{
    *memory = malloc(bytes);
    return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
static inline cudaError_t cudaFreeHost(void *memory)
{
    free(memory);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                                          cudaStream_t)
{
    if (bytes > 0) memcpy(to, from, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t)
{
    memset(to, value, bytes);
    return cudaSuccess;
}
template <typename kernel> static inline cudaError_t cudaFuncSetAttribute(kernel, cudaFuncAttribute, int)
{
    return cudaSuccess;
}

template <typename arguments> struct launch;
template <typename arguments>
static cudaError_t start(const launch<arguments> &what, cudaStream_t, const arguments &given)
{
    const char *last = emulate::wanted("fail=");
    if (last != nullptr && ++emulate::launches >= atoll(last)) return cudaErrorLaunchFailure;
    if (what.shared > (size_t)emulate::ROOM)
        return cudaErrorInvalidValue; /* more must be asked for, and here is no more */
    emulate::at.grid = what.grid;
    emulate::at.body = [&] { what.kernel(given); };
    const unsigned blocks = what.grid.x * what.grid.y * what.grid.z;
    for (unsigned b = 0; b < blocks; b += (unsigned)what.cluster)
        emulate::run_cluster(what.threads, what.cluster, what.shared, b);
    return cudaSuccess;
}

/* One cluster short, as devices are whose multiprocessors do not come in eights. */
template <typename arguments> static cudaError_t clusters_of(const launch<arguments> &what, int *count)
{
    *count = 20 / what.cluster - 1;
    return cudaSuccess;
}
