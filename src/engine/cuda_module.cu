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
#include <new>

#include "engine/cuda_launch.cuh"

enum { LEAST_MAJOR = 7 /* compute capability */ };

/* ---- the device -------------------------------------------------------------------------------------- */

static device_facts ask_device()
{
    device_facts facts;
    int count = 0;
    cudaDeviceProp p;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0)
        throw trouble(SN_CUDA_NO_DEVICE, "%s",
                      error != cudaSuccess ? cudaGetErrorString(error) : "there is none");
    check(cudaGetDeviceProperties(&p, 0));
    if (p.major < LEAST_MAJOR)
        throw trouble(SN_CUDA_TOO_OLD, "%s has compute capability %d.%d, at least %d.0 is needed", p.name,
                      p.major, p.minor, LEAST_MAJOR);
    snprintf(facts.name, sizeof facts.name, "%s", p.name);
    facts.multiprocessors = p.multiProcessorCount;
    facts.shared_block = p.sharedMemPerBlockOptin;
    facts.shared_multiprocessor = p.sharedMemPerMultiprocessor;
#ifdef __CUDACC__
    facts.shared_whole = facts.shared_block;
#else
    facts.shared_whole = emulate::ROOM;
#endif
    facts.most_ranks = p.major >= 9 ? (int)MOST_RANKS : 1;
    facts.tensors = p.major >= 8;
#if defined(SN_CUDA_SM90A) || !defined(__CUDACC__)
    facts.groups = p.major == 9 && p.minor == 0;
#else
    facts.groups = false; /* it was not compiled for them */
#endif
    ready_kernels(facts);
    count_clusters(&facts);
    return facts;
}

/* What is known of the device, and the device of this thread: the first one, which CUDA_VISIBLE_DEVICES says.
   The answer is kept, since asking takes long and it never changes. */
static const device_facts &look_at_device()
{
    static const device_facts known = ask_device();
    check(cudaSetDevice(0));
    return known;
}

static void open_device(sn_cuda_device *device)
{
    const device_facts &facts = look_at_device();
    size_t left = 0, total = 0;
    check(cudaMemGetInfo(&left, &total));
    snprintf(device->name, sizeof device->name, "%s", facts.name);
    device->free_bytes = left;
    device->total_bytes = total;
    device->multiprocessors = facts.multiprocessors;
}

static void pin_memory(size_t bytes, void **memory)
{
    check(cudaHostAlloc(memory, bytes, cudaHostAllocDefault));
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

static void data_new(const sn_cuda_table *table, sn_cuda_data **out)
{
    std::unique_ptr<sn_cuda_data> data(new sn_cuda_data);
    const sn_cuda_table &t = data->table = *table;
    check(cudaStreamCreateWithFlags(&data->stream, cudaStreamNonBlocking));
    data->x.reserve(t.rows * t.columns);
    if (t.response && t.classes) data->label.reserve(t.rows);
    if (t.response && !t.classes) data->y.reserve(t.rows * t.outputs);
    if (t.weighted) data->weight.reserve(t.rows);
    *out = data.release();
}

static void data_free(sn_cuda_data *data)
{
    delete data;
}

static void data_put(sn_cuda_data *data, const sn_cuda_delivery *rows)
{
    const auto put = [&](auto &to, const auto *from, int64_t width) {
        if (to.at != nullptr && from != nullptr)
            send(to.at + rows->first * width, from, rows->count * width, data->stream);
    };
    put(data->x, rows->x, data->table.columns);
    put(data->y, rows->y, data->table.outputs);
    put(data->label, rows->label, 1);
    put(data->weight, rows->weight, 1);
    check(cudaStreamSynchronize(data->stream));
}

/* ---- a network --------------------------------------------------------------------------------------- */

static uint64_t net_bytes(const sn_cuda_shape *shape, int64_t batch)
{
    const int64_t rows = batch < chunk_capacity(*shape) ? batch : chunk_capacity(*shape);
    return 4U *
           (uint64_t)(2 * shape->parameters + split_floats(*shape) + rows * chunk_floats(*shape) + batch);
}

static void ready_net(sn_cuda_net *net)
{
    sweep_arguments a = {};
    (sn_cuda_shape &)a = net->shape;
    net->facts = look_at_device();
    if (!choose_ranks(net->facts, &a, &net->plan))
        throw trouble(SN_CUDA_TOO_WIDE, "its layers do not fit the %d KB of a multiprocessor",
                      (int)(net->facts.shared_block >> 10));
    check(cudaStreamCreateWithFlags(&net->stream, cudaStreamNonBlocking));
    net->theta.reserve(net->shape.parameters);
    net->velocity.reserve(net->shape.parameters);
    const int32_t *border = net->shape.border;
    net->shape.border = nullptr; /* not ours */
    if (net->shape.groups > 0) {
        net->border.reserve(net->shape.groups + 1);
        send(net->border.at, border, net->shape.groups + 1, net->stream);
        check(cudaStreamSynchronize(net->stream));
    }
    for (queue_slot &slot : net->slot) {
        slot.pinned_head.pinned = slot.pinned_list.pinned = slot.pinned_report.pinned = true;
        check(cudaEventCreateWithFlags(&slot.done, cudaEventDisableTiming));
        slot.head.reserve(SN_CUDA_QUEUE);
        slot.pinned_head.reserve(SN_CUDA_QUEUE);
        slot.report.reserve(SN_CUDA_QUEUE);
        slot.pinned_report.reserve(SN_CUDA_QUEUE);
    }
}

static void net_put(sn_cuda_net *net, const float *theta, const float *momentum)
{
    const int64_t count = net->shape.parameters;
    const auto put = [&](float *to, const float *from) {
        if (from != nullptr)
            send(to, from, count, net->stream);
        else
            set_zeros(to, count, net->stream);
    };
    put(net->theta.at, theta);
    put(net->velocity.at, momentum);
    check(cudaStreamSynchronize(net->stream));
}

static void net_get(sn_cuda_net *net, float *theta, float *momentum)
{
    if (theta != nullptr) fetch(theta, net->theta.at, net->shape.parameters, net->stream);
    if (momentum != nullptr) fetch(momentum, net->velocity.at, net->shape.parameters, net->stream);
    check(cudaStreamSynchronize(net->stream));
}

static void net_new(const sn_cuda_shape *shape, sn_cuda_net **out)
{
    std::unique_ptr<sn_cuda_net> net(new sn_cuda_net);
    net->shape = *shape;
    ready_net(net.get());
    net_put(net.get(), nullptr, nullptr);
    *out = net.release();
}

static void net_free(sn_cuda_net *net)
{
    delete net;
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

static void launch_queue(sn_cuda_net *net, const sn_cuda_data *data, const queue_plan &q,
                         const sn_cuda_step *const *steps, int count)
{
    send_heads(net, q.lists, count);
    set_zeros(net->now().report.at, count, net->stream);
    for (int k = 0; k < count; k++)
        launch_step(net, {data, k, q.lists}, q.alike ? q.batch : plan_batch(net, *steps[k], false), *steps[k],
                    q.grouped);
    fetch(net->now().pinned_report.at, net->now().report.at, count, net->stream);
}

#ifdef __CUDACC__
/* The same as one recorded graph, recorded when there is none of that kind yet: queues come in few lengths.
 */
static void replay_queue(sn_cuda_net *net, const sn_cuda_data *data, const queue_plan &q,
                         const sn_cuda_step *const *steps, int count)
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
        if (memcmp(&key, &net->record[k].key, sizeof key) == 0)
            return check(cudaGraphLaunch(net->record[k].what, net->stream));
    if (net->records == RECORDS) net->forget_record();
    check(cudaStreamBeginCapture(net->stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
        launch_queue(net, data, q, steps, count);
    } catch (...) {
        cudaStreamEndCapture(net->stream, &graph);
        if (graph != nullptr) cudaGraphDestroy(graph);
        throw;
    }
    check(cudaStreamEndCapture(net->stream, &graph));
    queue_record made = {key, nullptr};
    const cudaError_t error = cudaGraphInstantiate(&made.what, graph, 0);
    cudaGraphDestroy(graph);
    check(error);
    net->record[net->records++] = made;
    check(cudaGraphLaunch(made.what, net->stream));
}
#endif

/* The groups' factors. */
static void send_factors(sn_cuda_net *net, const double *factor)
{
    net->has_factor = factor != nullptr;
    if (factor == nullptr) return;
    if (net->factor.at == nullptr) net->forget_record();
    net->factor.reserve(net->shape.groups);
    send(net->factor.at, factor, net->shape.groups, net->stream);
    check(cudaStreamSynchronize(net->stream));
}

enum { WORTH_RECORDING = 4 };

/* Asks for the queue of the current slot. */
static void start_queue(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *const *steps, int count)
{
    const queue_plan q = plan_queue(net, steps, count);
    send_factors(net, steps[0]->group_factor);
    for (int k = 0; k < count; k++)
        reserve_batch(net, plan_batch(net, *steps[k], false), true, gathers_rows(net, *steps[k]));
    reserve_batch(net, q.batch, true, gathers_rows(net, *steps[0]));
    reserve_lists(net, q.lists, SN_CUDA_QUEUE);
    for (int k = 0; k < count; k++) {
        write_head(net, steps[k]->rows, q.lists, k, steps[k]);
        net->now().shards[k] = steps[k]->shards;
    }
#ifdef __CUDACC__
    if (count >= WORTH_RECORDING && q.alike) return replay_queue(net, data, q, steps, count);
#endif
    launch_queue(net, data, q, steps, count);
}

static void net_begin(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *const *steps, int count)
{
    net->current = (net->oldest + net->under_way) % SN_CUDA_UNDER_WAY;
    start_queue(net, data, steps, count);
    check(cudaEventRecord(net->now().done, net->stream));
    net->now().queued = count;
    net->under_way++;
}

static void net_wait(sn_cuda_net *net, sn_cuda_report *reports)
{
    queue_slot &slot = net->slot[net->oldest];
    net->oldest = (net->oldest + 1) % SN_CUDA_UNDER_WAY;
    net->under_way--;
    check(cudaEventSynchronize(slot.done));
    for (int k = 0; k < slot.queued; k++) {
        const step_report &from = slot.pinned_report.at[k];
        for (int v = 0; v < slot.shards[k]; v++) reports[k].loss[v] = from.loss[v];
        reports[k].finite = from.flag == 0;
    }
}

/* ---- the steps in two -------------------------------------------------------------------------------- */

static void net_sums(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *step, float *gradients,
                     double *losses)
{
    const batch_plan plan = plan_batch(net, *step, true);
    const int64_t lists = list_room(step->rows, step->rows.n);
    reserve_batch(net, plan, true, gathers_rows(net, *step));
    net->partial.reserve((int64_t)step->shards * net->shape.parameters);
    reserve_lists(net, lists, 1);
    write_head(net, step->rows, lists, 0, step);
    send_heads(net, lists, 1);
    launch_chunks(net, {data, 0, lists}, plan, *step, true);
    fetch(gradients, plan.narrow ? joined_sums(net, plan.shards) : net->partial.at,
          step->shards * net->shape.parameters, net->stream);
    fetch(losses, net->now().report.at[0].loss, step->shards, net->stream);
    check(cudaStreamSynchronize(net->stream));
}

static void net_apply(sn_cuda_net *net, const sn_cuda_step *step, const float *gradient, int *finite)
{
    net->partial.reserve(net->shape.parameters);
    write_head(net, {}, 0, 0, nullptr);
    net->now().pinned_head.at[0].update = step->update;
    send_factors(net, step->group_factor);
    send_heads(net, 0, 1);
    set_zeros(net->now().report.at, 1, net->stream);
    send(net->partial.at, gradient, net->shape.parameters, net->stream);
    launch_apply(net, 0, 1, false);
    if (step->update.group > 0.0) launch_groups(net, 0);
    fetch(net->now().pinned_report.at, net->now().report.at, 1, net->stream);
    check(cudaStreamSynchronize(net->stream));
    *finite = net->now().pinned_report.at[0].flag == 0;
}

/* ---- rows in, numbers out ---------------------------------------------------------------------------- */

/* Sends rows through in chunks. common: of all of them. */
static void send_through(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_rows &rows,
                         const sn_cuda_step &common, const sweep_job &job, float *out)
{
    const int64_t capacity = chunk_capacity(net->shape), width = net->shape.width[job.layer_out + 1];
    for (int64_t first = 0; first < rows.n; first += capacity) {
        const int n = (int)(rows.n - first < capacity ? rows.n - first : capacity);
        const batch_plan plan = {1, 1, 1, n, n, 64, false, false};
        sn_cuda_rows part = rows;
        part.n = n;
        part.first = rows.first + first;
        if (rows.list != nullptr) part.list = rows.list + first;
        if (rows.number != nullptr) part.number = rows.number + first;
        const int64_t lists = list_room(rows, n);
        reserve_batch(net, plan, false, false);
        net->out.reserve(n * width);
        reserve_lists(net, lists, 1);
        write_head(net, part, lists, 0, &common);
        send_heads(net, lists, 1);
        /* the same sums however many rows pass together */
        const chunk c = {{data, 0, lists}, 0, n, n, net->facts.tensors ? 0 : n};
        if (net->facts.tensors)
            launch_layer_mean(net, layer_of(net, c), 0, false, c);
        else
            launch_first_mean(net, c, false);
        sweep_arguments a = sweep_of(net, c, job);
        launch_sweep(net, &a, c);
        fetch(out + first * width, net->out.at, n * width, net->stream);
        check(cudaStreamSynchronize(net->stream));
    }
}

static void net_impute(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_step *step, int layer, float *out)
{
    sn_cuda_step common = *step;
    common.shards = 0;
    send_through(net, data, step->rows, common, {TASK_IMPUTE, layer - 1}, out);
}

static void net_forward(sn_cuda_net *net, sn_cuda_data *data, const sn_cuda_pass *pass, float *out)
{
    sn_cuda_step common = {};
    common.iteration = pass->draw;
    for (int i = 0; i < net->shape.layers; i++) common.dynamics.variance[i] = pass->sigma[i];
    send_through(net, data, pass->rows, common, {TASK_FORWARD, pass->layer - 1, pass->activated, pass->noisy},
                 out);
}

/* What the library calls: `work`, its trouble as a number, and what CUDA said. */
template <auto work> struct caller;
template <typename... given, void (*work)(given...)> struct caller<work> {
    static int made(given... arguments, sn_cuda_words *words)
    {
        try {
            work(arguments...);
            return SN_CUDA_FINE;
        } catch (const trouble &what) {
            *words = what.words;
            return what.kind;
        } catch (const std::bad_alloc &) {
            *words = {"out of memory on the host"};
            return SN_CUDA_NO_MEMORY;
        }
    }
};
template <auto work> static constexpr auto call = caller<work>::made;

static const sn_cuda_api api = {SN_CUDA_ABI,     call<open_device>, call<pin_memory>, unpin_memory,
                                data_bytes,      call<data_new>,    call<data_put>,   data_free,
                                net_bytes,       call<net_new>,     net_free,         call<net_put>,
                                call<net_get>,   call<net_begin>,   call<net_wait>,   call<net_sums>,
                                call<net_apply>, call<net_impute>,  call<net_forward>};

extern "C" __attribute__((visibility("default"))) const sn_cuda_api *sn_cuda_module(void)
{
    return &api;
}
