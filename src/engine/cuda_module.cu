/*
 * The CUDA module: memory, streams and launches behind the calls of cuda_module.h. A step is three launches,
 * one more when its gradient is summed by several blocks a tile: the first layer's mean (cuda_product.cuh),
 * all sweeps (cuda_sweep.cuh), gradient and update (cuda_update.cuh); two where the network is narrow and the
 * batch large (cuda_narrow.cuh). What differs from step to step is read
 * from device memory, so that a queue of steps of one shape is recorded once and replayed as one graph.
 *
 * No sum depends on timing: the same bits on every run.
 */
#include "engine/cuda_module.h"

#include <memory>
#include <mutex>
#include <new>

#include "engine/cuda_launch.cuh"

enum { LEAST_MAJOR = 7 /* compute capability */ };

/* ---- the device -------------------------------------------------------------------------------------- */

static int ask_device(device_facts *facts, sn_cuda_words *words)
{
    int count = 0;
    cudaDeviceProp p;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0)
        return trouble(words, SN_CUDA_NO_DEVICE, "%s",
                       error != cudaSuccess ? cudaGetErrorString(error) : "there is none");
    CUDA_TRY(cudaGetDeviceProperties(&p, 0));
    if (p.major < LEAST_MAJOR)
        return trouble(words, SN_CUDA_TOO_OLD, "%s has compute capability %d.%d, at least %d.0 is needed",
                       p.name, p.major, p.minor, LEAST_MAJOR);
    snprintf(facts->name, sizeof facts->name, "%s", p.name);
    facts->multiprocessors = p.multiProcessorCount;
    facts->shared_block = p.sharedMemPerBlockOptin;
    facts->shared_multiprocessor = p.sharedMemPerMultiprocessor;
#ifdef __CUDACC__
    facts->shared_whole = facts->shared_block;
#else
    facts->shared_whole = emulate::ROOM;
#endif
    facts->most_ranks = p.major >= 9 ? (int)MOST_RANKS : 1;
    facts->tensors = p.major >= 8;
#if defined(SN_CUDA_SM90A) || !defined(__CUDACC__)
    facts->groups = p.major == 9 && p.minor == 0;
#else
    facts->groups = false; /* it was not compiled for them */
#endif
    TRY(ready_kernels(*facts, words));
    return count_clusters(facts, words);
}

/* What is known of the device, and the device of this thread: the first one, which CUDA_VISIBLE_DEVICES says.
   The answer is kept, since asking takes long and it never changes. */
static int look_at_device(device_facts *facts, sn_cuda_words *words)
{
    static std::mutex lock;
    static device_facts known;
    static bool asked = false;
    const std::lock_guard<std::mutex> held(lock);
    if (!asked) TRY(ask_device(&known, words));
    asked = true;
    *facts = known;
    CUDA_TRY(cudaSetDevice(0));
    return SN_CUDA_FINE;
}

static int open_device(sn_cuda_device *device, sn_cuda_words *words)
{
    device_facts facts;
    TRY(look_at_device(&facts, words));
    size_t left = 0, total = 0;
    CUDA_TRY(cudaMemGetInfo(&left, &total));
    snprintf(device->name, sizeof device->name, "%s", facts.name);
    device->free_bytes = left;
    device->total_bytes = total;
    device->multiprocessors = facts.multiprocessors;
    return SN_CUDA_FINE;
}

static int pin_memory(size_t bytes, void **memory, sn_cuda_words *words)
{
    CUDA_TRY(cudaHostAlloc(memory, bytes, cudaHostAllocDefault));
    return SN_CUDA_FINE;
}

static void unpin_memory(void *memory)
{
    cudaFreeHost(memory);
}

/* ---- rows -------------------------------------------------------------------------------------------- */

static uint64_t data_bytes(const sn_cuda_table *t)
{
    const int64_t response = t->response ? (t->classes ? 1 : t->outputs) : 0;
    return 4U * (uint64_t)(t->rows * (t->columns + response + (t->weighted ? 1 : 0)));
}

static void data_free(sn_cuda_data *data)
{
    if (data == nullptr) return;
    if (data->stream != nullptr) cudaStreamDestroy(data->stream);
    delete data;
}

static int reserve_data(sn_cuda_data *data, sn_cuda_words *words)
{
    const sn_cuda_table &t = data->table;
    CUDA_TRY(cudaStreamCreateWithFlags(&data->stream, cudaStreamNonBlocking));
    TRY(data->x.reserve(t.rows * t.columns, words));
    if (t.response && t.classes) TRY(data->label.reserve(t.rows, words));
    if (t.response && !t.classes) TRY(data->y.reserve(t.rows * t.outputs, words));
    if (t.weighted) TRY(data->weight.reserve(t.rows, words));
    return SN_CUDA_FINE;
}

static int data_new(const sn_cuda_table *table, sn_cuda_data **out, sn_cuda_words *words)
{
    std::unique_ptr<sn_cuda_data, void (*)(sn_cuda_data *)> data(new (std::nothrow) sn_cuda_data, data_free);
    if (data == nullptr) return trouble(words, SN_CUDA_NO_MEMORY, "out of memory on the host");
    data->table = *table;
    TRY(reserve_data(data.get(), words));
    *out = data.release();
    return SN_CUDA_FINE;
}

template <typename number>
static int put_rows(sn_cuda_data *data, const sn_cuda_delivery *rows, int64_t width, const number *from,
                    buffer<number> &to, sn_cuda_words *words)
{
    if (to.at == nullptr || from == nullptr) return SN_CUDA_FINE;
    CUDA_TRY(cudaMemcpyAsync(to.at + rows->first * width, from,
                             (size_t)(rows->count * width) * sizeof(number), cudaMemcpyHostToDevice,
                             data->stream));
    return SN_CUDA_FINE;
}

static int data_put(sn_cuda_data *data, const sn_cuda_delivery *rows, sn_cuda_words *words)
{
    TRY(put_rows(data, rows, data->table.columns, rows->x, data->x, words));
    TRY(put_rows(data, rows, data->table.outputs, rows->y, data->y, words));
    TRY(put_rows(data, rows, 1, rows->label, data->label, words));
    TRY(put_rows(data, rows, 1, rows->weight, data->weight, words));
    CUDA_TRY(cudaStreamSynchronize(data->stream));
    return SN_CUDA_FINE;
}

/* ---- a network --------------------------------------------------------------------------------------- */

static void net_free(sn_cuda_net *net)
{
    if (net == nullptr) return;
    if (net->stream != nullptr) cudaStreamSynchronize(net->stream);
    forget_record(net);
    for (queue_slot &slot : net->slot)
        if (slot.done != nullptr) cudaEventDestroy(slot.done);
    if (net->stream != nullptr) cudaStreamDestroy(net->stream);
    delete net;
}

static uint64_t net_bytes(const sn_cuda_shape *shape, int64_t batch)
{
    const int64_t rows = batch < chunk_capacity(*shape) ? batch : chunk_capacity(*shape);
    return 4U *
           (uint64_t)(2 * shape->parameters + split_floats(*shape) + rows * chunk_floats(*shape) + batch);
}

static int ready_net(sn_cuda_net *net, sn_cuda_words *words)
{
    sweep_arguments a = {};
    TRY(look_at_device(&net->facts, words));
    a.layers = net->shape.layers;
    a.classes = net->shape.classes;
    a.spread = net->shape.spread;
    if (!choose_ranks(net->facts, net->shape.width, &a, &net->plan))
        return trouble(words, SN_CUDA_TOO_WIDE, "its layers do not fit the %d KB of a multiprocessor",
                       (int)(net->facts.shared_block >> 10));
    CUDA_TRY(cudaStreamCreateWithFlags(&net->stream, cudaStreamNonBlocking));
    TRY(net->theta.reserve(net->shape.parameters, words));
    TRY(net->velocity.reserve(net->shape.parameters, words));
    const int32_t *border = net->shape.border;
    net->shape.border = nullptr; /* not ours */
    if (net->shape.groups > 0) {
        TRY(net->border.reserve(net->shape.groups + 1, words));
        CUDA_TRY(cudaMemcpyAsync(net->border.at, border, (size_t)(net->shape.groups + 1) * sizeof *border,
                                 cudaMemcpyHostToDevice, net->stream));
        CUDA_TRY(cudaStreamSynchronize(net->stream));
    }
    for (queue_slot &slot : net->slot) {
        slot.pinned_head.pinned = slot.pinned_list.pinned = slot.pinned_report.pinned = true;
        CUDA_TRY(cudaEventCreateWithFlags(&slot.done, cudaEventDisableTiming));
        TRY(slot.head.reserve(SN_CUDA_QUEUE, words));
        TRY(slot.pinned_head.reserve(SN_CUDA_QUEUE, words));
        TRY(slot.report.reserve(SN_CUDA_QUEUE, words));
        TRY(slot.pinned_report.reserve(SN_CUDA_QUEUE, words));
    }
    return SN_CUDA_FINE;
}

/* One for each parameter; NULL: zeros. */
static int put_numbers(const sn_cuda_net *net, const float *from, float *to, sn_cuda_words *words)
{
    const size_t bytes = (size_t)net->shape.parameters * sizeof *to;
    CUDA_TRY(from != nullptr ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, net->stream)
                             : cudaMemsetAsync(to, 0, bytes, net->stream));
    return SN_CUDA_FINE;
}

static int net_put(sn_cuda_net *net, const float *theta, const float *momentum, sn_cuda_words *words)
{
    TRY(put_numbers(net, theta, net->theta.at, words));
    TRY(put_numbers(net, momentum, net->velocity.at, words));
    CUDA_TRY(cudaStreamSynchronize(net->stream));
    return SN_CUDA_FINE;
}

static int net_get(sn_cuda_net *net, float *theta, float *momentum, sn_cuda_words *words)
{
    const size_t bytes = (size_t)net->shape.parameters * sizeof(float);
    if (theta != nullptr)
        CUDA_TRY(cudaMemcpyAsync(theta, net->theta.at, bytes, cudaMemcpyDeviceToHost, net->stream));
    if (momentum != nullptr)
        CUDA_TRY(cudaMemcpyAsync(momentum, net->velocity.at, bytes, cudaMemcpyDeviceToHost, net->stream));
    CUDA_TRY(cudaStreamSynchronize(net->stream));
    return SN_CUDA_FINE;
}

static int net_new(const sn_cuda_shape *shape, sn_cuda_net **out, sn_cuda_words *words)
{
    std::unique_ptr<sn_cuda_net, void (*)(sn_cuda_net *)> net(new (std::nothrow) sn_cuda_net, net_free);
    if (net == nullptr) return trouble(words, SN_CUDA_NO_MEMORY, "out of memory on the host");
    net->shape = *shape;
    TRY(ready_net(net.get(), words));
    TRY(net_put(net.get(), nullptr, nullptr, words));
    *out = net.release();
    return SN_CUDA_FINE;
}

/* ---- queues ------------------------------------------------------------------------------------------ */

/* The largest of the steps' batches stands for all of them. */
struct queue_plan {
    int64_t lists;
    batch_plan batch;
    bool grouped; /* some have the group penalty */
    bool alike;   /* of as many shards, one chunk each: what is launched does not depend on their borders */
};

static queue_plan plan_queue(const sn_cuda_net *net, const sn_cuda_step *const *steps, int count)
{
    queue_plan q = {0, plan_batch(net, *steps[0], false), false, true};
    for (int k = 0; k < count; k++) {
        const batch_plan own = plan_batch(net, *steps[k], false);
        const sn_cuda_rows &rows = steps[k]->rows;
        const int64_t room = list_room(rows, rows.n);
        if (room > q.lists) q.lists = room;
        q.grouped = q.grouped || steps[k]->update.group > 0.0;
        const sn_cuda_dynamics &d = steps[k]->dynamics, &d0 = steps[0]->dynamics;
        q.alike = q.alike && d.sweeps == d0.sweeps && d.mode_start == d0.mode_start;
        q.alike = q.alike && own.shards == q.batch.shards && own.each == own.shards &&
                  own.subtrees == q.batch.subtrees && own.tile == q.batch.tile &&
                  own.large == q.batch.large && own.narrow == q.batch.narrow;
        if (own.most > q.batch.most) q.batch.most = own.most;
        if (own.rows > q.batch.rows) q.batch.rows = own.rows;
    }
    if (q.alike) q.batch.most = (q.batch.most + 7) / 8 * 8; /* batches of nearly one size share a record */
    return q;
}

static int launch_queue(sn_cuda_net *net, const sn_cuda_data *data, const queue_plan &q,
                        const sn_cuda_step *const *steps, int count, sn_cuda_words *words)
{
    TRY(send_heads(net, q.lists, count, words));
    CUDA_TRY(cudaMemsetAsync(net->now().report.at, 0, (size_t)count * sizeof(step_report), net->stream));
    for (int k = 0; k < count; k++)
        TRY(launch_step(net, {data, k, q.lists}, q.alike ? q.batch : plan_batch(net, *steps[k], false),
                        *steps[k], q.grouped, words));
    CUDA_TRY(cudaMemcpyAsync(net->now().pinned_report.at, net->now().report.at,
                             (size_t)count * sizeof(step_report), cudaMemcpyDeviceToHost, net->stream));
    return SN_CUDA_FINE;
}

#ifdef __CUDACC__
/* The same as one recorded graph, recorded when there is none of that kind yet: queues come in few lengths.
 */
static int replay_queue(sn_cuda_net *net, const sn_cuda_data *data, const queue_plan &q,
                        const sn_cuda_step *const *steps, int count, sn_cuda_words *words)
{
    record_key key = {};
    key.slot = net->current;
    key.data = data;
    key.count = count;
    key.rows = (int)q.batch.most;
    key.shards = q.batch.shards;
    key.listed = steps[0]->rows.list != nullptr;
    key.numbered = steps[0]->rows.number != nullptr;
    key.grouped = q.grouped;
    key.factors = net->has_factor;
    key.lists = q.lists;
    key.sweeps = steps[0]->dynamics.sweeps;
    key.mode_start = steps[0]->dynamics.mode_start;
    for (int k = 0; k < net->records; k++)
        if (memcmp(&key, &net->record[k].key, sizeof key) == 0) {
            CUDA_TRY(cudaGraphLaunch(net->record[k].what, net->stream));
            return SN_CUDA_FINE;
        }
    if (net->records == RECORDS) forget_record(net);
    CUDA_TRY(cudaStreamBeginCapture(net->stream, cudaStreamCaptureModeThreadLocal));
    const int status = launch_queue(net, data, q, steps, count, words);
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(net->stream, &graph);
    if (status != SN_CUDA_FINE) {
        if (graph != nullptr) cudaGraphDestroy(graph);
        return status;
    }
    CUDA_TRY(ended);
    queue_record made = {key, nullptr};
    const cudaError_t error = cudaGraphInstantiate(&made.what, graph, 0);
    cudaGraphDestroy(graph);
    CUDA_TRY(error);
    net->record[net->records++] = made;
    CUDA_TRY(cudaGraphLaunch(made.what, net->stream));
    return SN_CUDA_FINE;
}
#endif

/* The groups' factors. */
static int send_factors(sn_cuda_net *net, const double *factor, sn_cuda_words *words)
{
    net->has_factor = factor != nullptr;
    if (factor == nullptr) return SN_CUDA_FINE;
    if (net->factor.at == nullptr) forget_record(net);
    TRY(net->factor.reserve(net->shape.groups, words));
    CUDA_TRY(cudaMemcpyAsync(net->factor.at, factor, (size_t)net->shape.groups * sizeof *factor,
                             cudaMemcpyHostToDevice, net->stream));
    CUDA_TRY(cudaStreamSynchronize(net->stream));
    return SN_CUDA_FINE;
}

enum { WORTH_RECORDING = 4 };

/* Asks for the queue of the current slot. */
static int start_queue(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *const *steps, int count,
                       sn_cuda_words *words)
{
    const queue_plan q = plan_queue(net, steps, count);
    TRY(send_factors(net, steps[0]->group_factor, words));
    for (int k = 0; k < count; k++)
        TRY(reserve_batch(net, plan_batch(net, *steps[k], false), true, gathers_rows(net, *steps[k]), words));
    TRY(reserve_batch(net, q.batch, true, gathers_rows(net, *steps[0]), words));
    TRY(reserve_lists(net, q.lists, SN_CUDA_QUEUE, words));
    for (int k = 0; k < count; k++) {
        write_head(net, steps[k]->rows, q.lists, k, steps[k]);
        net->now().shards[k] = steps[k]->shards;
    }
#ifdef __CUDACC__
    if (count >= WORTH_RECORDING && q.alike) return replay_queue(net, data, q, steps, count, words);
#endif
    return launch_queue(net, data, q, steps, count, words);
}

static int net_begin(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *const *steps, int count,
                     sn_cuda_words *words)
{
    net->current = (net->oldest + net->under_way) % SN_CUDA_UNDER_WAY;
    TRY(start_queue(net, data, steps, count, words));
    CUDA_TRY(cudaEventRecord(net->now().done, net->stream));
    net->now().queued = count;
    net->under_way++;
    return SN_CUDA_FINE;
}

static int net_wait(sn_cuda_net *net, sn_cuda_report *reports, sn_cuda_words *words)
{
    queue_slot &slot = net->slot[net->oldest];
    net->oldest = (net->oldest + 1) % SN_CUDA_UNDER_WAY;
    net->under_way--;
    CUDA_TRY(cudaEventSynchronize(slot.done));
    for (int k = 0; k < slot.queued; k++) {
        const step_report &from = slot.pinned_report.at[k];
        for (int v = 0; v < slot.shards[k]; v++) reports[k].loss[v] = from.loss[v];
        reports[k].finite = from.flag == 0;
    }
    return SN_CUDA_FINE;
}

/* ---- the steps in two -------------------------------------------------------------------------------- */

static int net_sums(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *step, float *gradients,
                    double *losses, sn_cuda_words *words)
{
    const batch_plan plan = plan_batch(net, *step, true);
    const int64_t lists = list_room(step->rows, step->rows.n);
    TRY(reserve_batch(net, plan, true, gathers_rows(net, *step), words));
    TRY(net->partial.reserve((int64_t)step->shards * net->shape.parameters, words));
    TRY(reserve_lists(net, lists, 1, words));
    write_head(net, step->rows, lists, 0, step);
    TRY(send_heads(net, lists, 1, words));
    TRY(launch_chunks(net, {data, 0, lists}, plan, *step, true, words));
    CUDA_TRY(cudaMemcpyAsync(gradients, plan.narrow ? joined_sums(net, plan.shards) : net->partial.at,
                             (size_t)(step->shards * net->shape.parameters) * sizeof(float),
                             cudaMemcpyDeviceToHost, net->stream));
    CUDA_TRY(cudaMemcpyAsync(losses, net->now().report.at[0].loss, (size_t)step->shards * sizeof(double),
                             cudaMemcpyDeviceToHost, net->stream));
    CUDA_TRY(cudaStreamSynchronize(net->stream));
    return SN_CUDA_FINE;
}

static int net_apply(sn_cuda_net *net, const sn_cuda_step *step, const float *gradient, int *finite,
                     sn_cuda_words *words)
{
    TRY(net->partial.reserve(net->shape.parameters, words));
    const sn_cuda_rows none = {};
    write_head(net, none, 0, 0, nullptr);
    net->now().pinned_head.at[0].update = step->update;
    TRY(send_factors(net, step->group_factor, words));
    TRY(send_heads(net, 0, 1, words));
    CUDA_TRY(cudaMemsetAsync(net->now().report.at, 0, sizeof(step_report), net->stream));
    CUDA_TRY(cudaMemcpyAsync(net->partial.at, gradient, (size_t)net->shape.parameters * sizeof(float),
                             cudaMemcpyHostToDevice, net->stream));
    TRY(launch_apply(net, 0, 1, false, words));
    if (step->update.group > 0.0) TRY(launch_groups(net, 0, words));
    CUDA_TRY(cudaMemcpyAsync(net->now().pinned_report.at, net->now().report.at, sizeof(step_report),
                             cudaMemcpyDeviceToHost, net->stream));
    CUDA_TRY(cudaStreamSynchronize(net->stream));
    *finite = net->now().pinned_report.at[0].flag == 0;
    return SN_CUDA_FINE;
}

/* ---- rows in, numbers out ---------------------------------------------------------------------------- */

/* Sends rows through in chunks. `a` tells the task; head: what all chunks have in common. */
static int send_through(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_rows &rows,
                        const sn_cuda_step &common, const sweep_arguments &task, float *out,
                        sn_cuda_words *words)
{
    const int64_t capacity = chunk_capacity(net->shape), width = net->shape.width[task.layer_out + 1];
    for (int64_t first = 0; first < rows.n; first += capacity) {
        const int n = (int)(rows.n - first < capacity ? rows.n - first : capacity);
        const batch_plan plan = {1, 1, 1, n, n, 64, false, false};
        sn_cuda_rows part = rows;
        part.n = n;
        part.first = rows.first + first;
        if (rows.list != nullptr) part.list = rows.list + first;
        if (rows.number != nullptr) part.number = rows.number + first;
        const int64_t lists = list_room(rows, n);
        TRY(reserve_batch(net, plan, false, false, words));
        TRY(net->out.reserve(n * width, words));
        TRY(reserve_lists(net, lists, 1, words));
        write_head(net, part, lists, 0, &common);
        TRY(send_heads(net, lists, 1, words));
        /* the same sums however many rows pass together */
        const chunk c = {{data, 0, lists}, 0, n, n, net->facts.tensors ? 0 : n};
        TRY(net->facts.tensors ? launch_large_mean(net, c, words) : launch_first_mean(net, c, false, words));
        sweep_arguments a = sweep_of(net, c);
        a.task = task.task;
        a.layer_out = task.layer_out;
        a.activated = task.activated;
        a.noisy = task.noisy;
        a.out = net->out.at;
        TRY(launch_sweep(net, &a, c, words));
        CUDA_TRY(cudaMemcpyAsync(out + first * width, net->out.at, (size_t)(n * width) * sizeof(float),
                                 cudaMemcpyDeviceToHost, net->stream));
        CUDA_TRY(cudaStreamSynchronize(net->stream));
    }
    return SN_CUDA_FINE;
}

static int net_impute(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *step, int layer, float *out,
                      sn_cuda_words *words)
{
    sn_cuda_step common = *step;
    sweep_arguments task = {};
    common.shards = 0;
    task.task = TASK_IMPUTE;
    task.layer_out = layer - 1;
    return send_through(net, data, step->rows, common, task, out, words);
}

static int net_forward(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_pass *pass, float *out,
                       sn_cuda_words *words)
{
    sn_cuda_step common = {};
    sweep_arguments task = {};
    common.iteration = pass->draw;
    for (int i = 0; i < net->shape.layers; i++) common.dynamics.variance[i] = pass->sigma[i];
    task.task = TASK_FORWARD;
    task.layer_out = pass->layer - 1;
    task.activated = pass->activated;
    task.noisy = pass->noisy;
    return send_through(net, data, pass->rows, common, task, out, words);
}

static const sn_cuda_api api = {SN_CUDA_ABI, open_device, pin_memory, unpin_memory, data_bytes,
                                data_new,    data_put,    data_free,  net_bytes,    net_new,
                                net_free,    net_put,     net_get,    net_begin,    net_wait,
                                net_sums,    net_apply,   net_impute, net_forward};

extern "C" __attribute__((visibility("default"))) const sn_cuda_api *sn_cuda_module(void)
{
    return &api;
}
