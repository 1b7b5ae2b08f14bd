/* The launches of a step: how a batch is cut up into chunks, the memory it needs, its kernels one after the
   other. */
#ifndef SN_ENGINE_CUDA_LAUNCH_CUH
#define SN_ENGINE_CUDA_LAUNCH_CUH

#include "engine/cuda_objects.cuh"

enum {
#ifdef __CUDACC__
    CHUNK_BYTES = 512 << 20, /* what the arrays of a chunk may take */
#else
    CHUNK_BYTES = 256 << 10, /* tests see several */
#endif
    PARTIAL_BYTES = 512 << 20, /* and the sums of subtrees */
    SHARD_ROWS = 128           /* SN_SHARD_ROWS */
};

typedef void (*sweep_kernel)(sweep_arguments);
enum { SWEEP_SIZES = 4, SWEEP_KINDS = 5 };
/* By rows of a block: for one, two or three hidden layers, for any number, and for weights that stay far. */
#define SWEEPS(rows)                                                                                         \
    {                                                                                                        \
        sweep_rows<rows, 2, true>, sweep_rows<rows, 3, true>, sweep_rows<rows, 4, true>,                     \
            sweep_rows<rows, 0, true>, sweep_rows<rows, 0, false>                                            \
    }
static const sweep_kernel sweep_kernels[SWEEP_SIZES][SWEEP_KINDS] = {SWEEPS(1), SWEEPS(2), SWEEPS(4),
                                                                     SWEEPS(8)};

static sweep_kernel kernel_of(const sweep_plan &plan, int layers)
{
    const int size = plan.rows == 1 ? 0 : plan.rows == 2 ? 1 : plan.rows == 4 ? 2 : 3;
    return sweep_kernels[size][!plan.staged ? 4 : layers >= 2 && layers <= 4 ? layers - 2 : 3];
}

static int ready_kernels(const device_facts &facts, sn_cuda_words *words)
{
    for (int size = 0; size < SWEEP_SIZES; size++)
        for (int kind = 0; kind < SWEEP_KINDS; kind++)
            CUDA_TRY(cudaFuncSetAttribute(sweep_kernels[size][kind],
                                          cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int)facts.shared_block));
    return SN_CUDA_FINE;
}

static unsigned tiles_of(int64_t size, int tile)
{
    return (unsigned)((size + tile - 1) / tile);
}

template <int BM, int BN, int TM, int TN, int SPLIT, int DEPTH>
static int start_mean(const sn_cuda_net *net, const mean_arguments &a, int rows, sn_cuda_words *words)
{
    typedef mean_size<BM, BN, TM, TN, SPLIT, DEPTH> size;
    const launch<mean_arguments> what = {first_mean<BM, BN, TM, TN, SPLIT, DEPTH>,
                                         dim3(tiles_of(rows, BM), tiles_of(a.units, BN)), size::THREADS, 1,
                                         (size::FLOATS + BM) * sizeof(float)};
    CUDA_TRY(start(what, net->stream, a));
    return SN_CUDA_FINE;
}

/* Large tiles where they fill the device with a batch of `whole` rows. */
static int launch_mean(const sn_cuda_net *net, const mean_arguments &a, int rows, int64_t whole,
                       sn_cuda_words *words)
{
    const int64_t fill = net->facts.multiprocessors / 2;
    if (a.units <= 64 && tiles_of(whole, 128) >= fill)
        return start_mean<128, 64, 8, 4, 1, 16>(net, a, rows, words);
    if (a.units > 64 && (int64_t)tiles_of(whole, 128) * tiles_of(a.units, 128) >= fill)
        return start_mean<128, 128, 8, 8, 1, 16>(net, a, rows, words);
    return start_mean<16, 32, 4, 4, 8, 16>(net, a, rows, words);
}

template <int BM, int BN, int TM, int TN, int DEPTH>
static int start_update(const sn_cuda_net *net, const update_arguments &a, int subtrees, sn_cuda_words *words)
{
    typedef update_size<BM, BN, TM, TN, DEPTH> size;
    const launch<update_arguments> what = {update_tiles<BM, BN, TM, TN, DEPTH>,
                                           dim3((unsigned)a.tiles + 1, (unsigned)subtrees), size::THREADS, 1,
                                           size::FLOATS * sizeof(float)};
    CUDA_TRY(start(what, net->stream, a));
    return SN_CUDA_FINE;
}

static int count_tiles(const sn_cuda_shape &shape, int tile, update_arguments *a)
{
    int tiles = 0;
    for (int i = 0; i < shape.layers; i++) {
        const int across = (int)tiles_of(shape.width[i] + 1, tile);
        if (a != nullptr) {
            a->layer[i].tile0 = tiles;
            a->layer[i].tiles_across = across;
        }
        tiles += across * (int)tiles_of(shape.width[i + 1], tile);
    }
    if (a != nullptr) a->tiles = tiles;
    return tiles;
}

static void forget_record(sn_cuda_net *net)
{
#ifdef __CUDACC__
    if (net->record != nullptr) cudaGraphExecDestroy(net->record);
#endif
    net->record = nullptr;
    net->has_record = false;
}

static int64_t chunk_floats(const sn_cuda_shape &shape) /* of a row */
{
    int64_t floats = shape.width[0] + shape.width[1] + shape.width[shape.layers];
    for (int i = 1; i < shape.layers; i++) floats += 2 * (int64_t)shape.width[i];
    return floats;
}

static int64_t chunk_capacity(const sn_cuda_shape &shape)
{
    return CHUNK_BYTES / 4 / chunk_floats(shape) + 1;
}

/* ---- a batch ---------------------------------------------------------------------------------------------
 */

/* A batch as it is cut up: chunks of whole shards, `each` of them (a power of two) in a chunk. */
struct batch_plan {
    int shards, each, subtrees; /* subtrees: of a chunk */
    int64_t rows, most;         /* of the batch, of a chunk */
    bool large;                 /* tiles of the update */
};

/* Whether the update reads a copy of a batch's rows: those of a range lie side by side as they are. */
static bool gathers_rows(const sn_cuda_net *net, const sn_cuda_step &step)
{
    return step.rows.list != nullptr || net->shape.input_activation != SN_PSI_IDENTITY;
}

static int64_t rows_of_chunks(const sn_cuda_step &step, int each)
{
    int64_t most = 0;
    for (int v = 0; v < step.shards; v += each) {
        const int end = v + each < step.shards ? v + each : step.shards;
        const int64_t rows = step.border[end] - step.border[v];
        most = rows > most ? rows : most;
    }
    return most;
}

/* apart: the sums of every shard are wanted. */
static batch_plan plan_batch(const sn_cuda_net *net, const sn_cuda_step &step, bool apart)
{
    batch_plan plan = {step.shards, step.shards, 1, step.rows.n, 0, false};
    const int64_t capacity = chunk_capacity(net->shape);
    while (plan.each > 1 && rows_of_chunks(step, plan.each) > capacity) plan.each = (plan.each + 1) / 2;
    plan.most = rows_of_chunks(step, plan.each);
    const int small = count_tiles(net->shape, 64, nullptr), large = count_tiles(net->shape, 128, nullptr);
    const int fill = net->facts.multiprocessors;
    const int64_t most_roots = PARTIAL_BYTES / 4 / net->shape.parameters + 1;
    if (apart) {
        plan.subtrees = plan.each;
        return plan;
    }
    plan.large = large * plan.each >= fill && plan.rows >= 1024;
    const int tiles = plan.large ? large : small, chunks = plan.shards / plan.each;
    while (plan.subtrees < plan.each && tiles * plan.subtrees < 2 * fill &&
           (int64_t)2 * plan.subtrees * chunks <= most_roots)
        plan.subtrees *= 2;
    return plan;
}

static int reserve_batch(sn_cuda_net *net, const batch_plan &plan, bool keeps, bool gathers,
                         sn_cuda_words *words)
{
    const sn_cuda_shape &shape = net->shape;
    const int64_t roots = (int64_t)(plan.shards + plan.each - 1) / plan.each * plan.subtrees;
    const float *before[4] = {net->mean.at, net->loss.at, net->partial.at, net->gathered.at};
    const int64_t rows = (plan.most + 127) / 128 * 128;
    TRY(net->mean.reserve(rows * shape.width[1], words));
    if (keeps && gathers) TRY(net->gathered.reserve(rows * shape.width[0], words));
    TRY(net->loss.reserve((plan.rows + 127) / 128 * 128, words));
    for (int i = 0; keeps && i < shape.layers; i++) {
        if (i + 1 < shape.layers) TRY(net->psi[i].reserve(rows * shape.width[i + 1], words));
        TRY(net->residual[i].reserve(rows * shape.width[i + 1], words));
    }
    if (roots > 1) TRY(net->partial.reserve(roots * shape.parameters, words));
    if (before[0] != net->mean.at || before[1] != net->loss.at || before[2] != net->partial.at ||
        before[3] != net->gathered.at)
        forget_record(net);
    return SN_CUDA_FINE;
}

/* Where the lists of step k lie, places and then numbers, `lists` rows each. */
static uint32_t *list_at(uint32_t *base, int64_t lists, int k)
{
    return base + 2 * lists * k;
}

static void fill_list(const int64_t *from, int64_t n, uint32_t *to)
{
    for (int64_t r = 0; r < n; r++) to[r] = (uint32_t)from[r];
}

/* The head of step k, and its lists, into pinned memory. */
static void write_head(sn_cuda_net *net, const sn_cuda_rows &rows, int64_t lists, int k,
                       const sn_cuda_step *step)
{
    step_head *head = &net->pinned_head.at[k];
    memset(head, 0, sizeof *head);
    head->rows = (int)rows.n;
    head->first = (uint32_t)rows.first;
    head->offset = rows.offset;
    head->listed = rows.list != nullptr;
    head->numbered = rows.number != nullptr;
    if (rows.list != nullptr) fill_list(rows.list, rows.n, list_at(net->pinned_list.at, lists, k));
    if (rows.number != nullptr)
        fill_list(rows.number, rows.n, list_at(net->pinned_list.at, lists, k) + lists);
    if (step == nullptr) return;
    head->iteration = step->iteration;
    head->shards = step->shards;
    for (int v = 0; v <= step->shards; v++) head->border[v] = (int)step->border[v];
    head->dynamics = step->dynamics;
    head->update = step->update;
}

static int reserve_lists(sn_cuda_net *net, int64_t lists, int count, sn_cuda_words *words)
{
    const uint32_t *before = net->list.at;
    TRY(net->list.reserve(2 * lists * count, words));
    TRY(net->pinned_list.reserve(2 * lists * count, words));
    if (before != net->list.at) forget_record(net);
    return SN_CUDA_FINE;
}

static int send_heads(sn_cuda_net *net, int64_t lists, int count, sn_cuda_words *words)
{
    CUDA_TRY(cudaMemcpyAsync(net->head.at, net->pinned_head.at, (size_t)count * sizeof(step_head),
                             cudaMemcpyHostToDevice, net->stream));
    if (lists > 0)
        CUDA_TRY(cudaMemcpyAsync(net->list.at, net->pinned_list.at,
                                 (size_t)(2 * lists * count) * sizeof(uint32_t), cudaMemcpyHostToDevice,
                                 net->stream));
    return SN_CUDA_FINE;
}

/* A chunk of a step: rows first .. first + rows - 1 of the batch; rows 0: what the head says, at most `most`.
 */
struct chunk {
    int first, rows, most;
    int64_t whole; /* rows of the batch, about, by which kernels are chosen: whoever has a share of it chooses
                      the same */
};

static int launch_first_mean(sn_cuda_net *net, const sn_cuda_data *data, int k, int64_t lists, const chunk &c,
                             bool gathers, sn_cuda_words *words)
{
    const sn_cuda_shape &shape = net->shape;
    const mean_arguments a = {net->head.at + k,
                              list_at(net->list.at, lists, k),
                              data->x.at,
                              net->theta.at + shape.weight_at[0],
                              net->theta.at + shape.bias_at[0],
                              net->mean.at,
                              gathers ? net->gathered.at : nullptr,
                              shape.width[0],
                              shape.width[1],
                              c.first,
                              c.rows,
                              shape.input_activation};
    return launch_mean(net, a, c.most, c.whole, words);
}

static sweep_arguments sweep_of(const sn_cuda_net *net, const sn_cuda_data *data, int k, int64_t lists,
                                const chunk &c)
{
    const sn_cuda_shape &shape = net->shape;
    sweep_arguments a = {};
    a.head = net->head.at + k;
    a.place = list_at(net->list.at, lists, k);
    a.number = a.place + lists;
    a.theta = net->theta.at;
    a.data = {data->x.at, data->y.at, data->weight.at, data->label.at};
    a.first_mean = net->mean.at;
    for (int i = 0; i < shape.layers; i++) {
        a.psi[i] = net->psi[i].at;
        a.residual[i] = net->residual[i].at;
        a.weight_at[i] = shape.weight_at[i];
        a.bias_at[i] = shape.bias_at[i];
    }
    a.loss = net->loss.at;
    a.chunk_first = c.first;
    a.chunk_rows = c.rows;
    a.layers = shape.layers;
    a.activation = shape.activation;
    a.classes = shape.classes;
    a.spread = shape.spread;
    a.outputs = shape.width[shape.layers];
    a.seed = shape.seed;
    return a;
}

static int launch_sweep(sn_cuda_net *net, sweep_arguments *a, const chunk &c, sn_cuda_words *words)
{
    sweep_plan plan = net->plan;
    choose_rows(net->facts, net->shape.width, c.most, a, &plan);
    const launch<sweep_arguments> what = {kernel_of(plan, a->layers),
                                          dim3(tiles_of(c.most, plan.rows) * (unsigned)plan.ranks),
                                          plan.threads, plan.ranks, plan.shared};
    CUDA_TRY(start(what, net->stream, *a));
    return SN_CUDA_FINE;
}

static int launch_update(sn_cuda_net *net, const sn_cuda_data *data, int k, int64_t lists,
                         const batch_plan &plan, int shard, const chunk &c, bool apart, bool gathers,
                         sn_cuda_words *words)
{
    const sn_cuda_shape &shape = net->shape;
    const int each = shard + plan.each < plan.shards ? plan.each : plan.shards - shard;
    const int subtrees = apart ? each : plan.subtrees;
    update_arguments a = {};
    a.head = net->head.at + k;
    a.place = list_at(net->list.at, lists, k);
    a.in_order = !gathers;
    a.layers = shape.layers;
    count_tiles(shape, plan.large ? 128 : 64, &a);
    for (int i = 0; i < shape.layers; i++) {
        update_layer *layer = &a.layer[i];
        layer->inputs = shape.width[i];
        layer->units = shape.width[i + 1];
        layer->in = i > 0 ? net->psi[i - 1].at : gathers ? net->gathered.at : data->x.at;
        layer->residual = net->residual[i].at;
        layer->weight_at = shape.weight_at[i];
        layer->bias_at = shape.bias_at[i];
    }
    a.theta = net->theta.at;
    a.velocity = net->velocity.at;
    a.partial = apart || plan.subtrees > 1 || plan.each < plan.shards ? net->partial.at : nullptr;
    a.parameters = shape.parameters;
    a.loss = net->loss.at;
    a.loss_sums = shard + each == plan.shards ? net->report.at[k].loss : nullptr;
    a.flag = &net->report.at[k].flag;
    a.chunk_first = c.first;
    a.first_shard = shard;
    a.subtree = each / subtrees;
    a.slot = shard / plan.each * plan.subtrees;
    if (plan.large) return start_update<128, 128, 8, 8, 16>(net, a, subtrees, words);
    return start_update<64, 64, 4, 4, 32>(net, a, subtrees, words);
}

static int launch_apply(sn_cuda_net *net, int k, int roots, sn_cuda_words *words)
{
    const sn_cuda_shape &shape = net->shape;
    apply_arguments a = {};
    a.head = net->head.at + k;
    a.theta = net->theta.at;
    a.velocity = net->velocity.at;
    a.partial = net->partial.at;
    a.parameters = shape.parameters;
    a.roots = roots;
    a.layers = shape.layers;
    for (int i = 0; i < shape.layers; i++) {
        a.weight_at[i] = shape.weight_at[i];
        a.bias_at[i] = shape.bias_at[i];
    }
    a.flag = &net->report.at[k].flag;
    const int64_t blocks = (shape.parameters + APPLY_THREADS - 1) / APPLY_THREADS;
    const int64_t most = (int64_t)net->facts.multiprocessors * 8;
    const launch<apply_arguments> what = {apply_sums, dim3((unsigned)(blocks < most ? blocks : most)),
                                          APPLY_THREADS, 1, 0};
    CUDA_TRY(start(what, net->stream, a));
    return SN_CUDA_FINE;
}

static int launch_groups(sn_cuda_net *net, int k, sn_cuda_words *words)
{
    const sn_cuda_shape &shape = net->shape;
    const group_arguments a = {net->head.at + k, net->theta.at + shape.weight_at[0],
                               net->border.at,   net->has_factor ? net->factor.at : nullptr,
                               shape.width[0],   shape.width[1]};
    const launch<group_arguments> what = {shrink_groups, dim3((unsigned)shape.groups), GROUP_THREADS, 1,
                                          GROUP_THREADS / 32 * sizeof(double)};
    CUDA_TRY(start(what, net->stream, a));
    return SN_CUDA_FINE;
}

/* Everything of step k but the update of what is summed in parts. step: where the shards of a batch of
   several chunks lie; a batch of one chunk is as large as its head says, at most plan.most. */
static int launch_chunks(sn_cuda_net *net, const sn_cuda_data *data, int k, int64_t lists,
                         const batch_plan &plan, const sn_cuda_step &step, bool apart, sn_cuda_words *words)
{
    const bool whole = plan.each == plan.shards, gathers = gathers_rows(net, step);
    for (int v = 0; v < plan.shards; v += plan.each) {
        const int end = v + plan.each < plan.shards ? v + plan.each : plan.shards;
        const int rows = (int)(step.border[end] - step.border[v]);
        const chunk c = {whole ? 0 : (int)step.border[v], whole ? 0 : rows, whole ? (int)plan.most : rows,
                         (int64_t)step.total * SHARD_ROWS};
        if (c.most > 0) {
            TRY(launch_first_mean(net, data, k, lists, c, gathers, words));
            sweep_arguments a = sweep_of(net, data, k, lists, c);
            a.task = TASK_STEP;
            TRY(launch_sweep(net, &a, c, words));
        }
        TRY(launch_update(net, data, k, lists, plan, v, c, apart, gathers, words));
    }
    return SN_CUDA_FINE;
}

static int launch_step(sn_cuda_net *net, const sn_cuda_data *data, int k, int64_t lists,
                       const batch_plan &plan, const sn_cuda_step &step, bool grouped, sn_cuda_words *words)
{
    TRY(launch_chunks(net, data, k, lists, plan, step, false, words));
    const int roots = plan.shards / plan.each * plan.subtrees;
    if (roots > 1) TRY(launch_apply(net, k, roots, words));
    return grouped ? launch_groups(net, k, words) : SN_CUDA_FINE;
}

#endif
