/* How a batch is cut up into chunks and shards, the memory it needs, and what of it is sent to the device. */
#pragma once

#include "engine/cuda_objects.cuh"

enum {
#ifdef __CUDACC__
    CHUNK_BYTES = 512 << 20, /* what the arrays of a chunk may take */
#else
    CHUNK_BYTES = 256 << 10, /* tests see several */
#endif
    PARTIAL_BYTES = 512 << 20, /* and the sums of subtrees */
    SHARD_ROWS = 128,          /* SN_SHARD_ROWS */
    LARGE_ROWS = 7             /* for each multiprocessor: from there on a batch is large */
};

static unsigned tiles_of(int64_t size, int tile)
{
    return (unsigned)((size + tile - 1) / tile);
}

/* Tiles of the update, of so many units and inputs; bias: which is one input more. */
static int count_tiles(const sn_cuda_shape &shape, int tile, bool bias, update_arguments *a)
{
    int tiles = 0;
    for (int i = 0; i < shape.layers; i++) {
        const int across = (int)tiles_of(shape.width[i] + (bias ? 1 : 0), tile);
        if (a != nullptr) {
            a->layer[i].tile0 = tiles;
            a->layer[i].tiles_across = across;
        }
        tiles += across * (int)tiles_of(shape.width[i + 1], tile);
    }
    if (a != nullptr) a->tiles = tiles;
    return tiles;
}

static int64_t chunk_floats(const sn_cuda_shape &shape) /* of a row, at most */
{
    int64_t floats = shape.width[0] + 2 * padded(shape.width[shape.layers]);
    for (int i = 1; i < shape.layers; i++) floats += 5 * (int64_t)padded(shape.width[i]);
    return floats;
}

static int64_t chunk_capacity(const sn_cuda_shape &shape)
{
    return CHUNK_BYTES / 4 / chunk_floats(shape) + 1;
}

/* ---- a batch ----------------------------------------------------------------------------------------- */

/* A batch as it is cut up: chunks of whole shards, `each` of them (a power of two) in a chunk. */
struct batch_plan {
    int shards, each, subtrees; /* subtrees: of a chunk */
    int64_t rows, most;         /* of the batch, of a chunk */
    int tile;                   /* of the update */
    bool large;                 /* products by the tensor cores */
    bool narrow;                /* all but the update in one launch (cuda_narrow.cuh) */
};

/* Whether a batch of `whole` rows, about, is large: by what all who share it out know. */
static bool is_large_batch(const sn_cuda_net *net, int64_t whole)
{
    return net->facts.tensors && whole >= (int64_t)LARGE_ROWS * net->facts.multiprocessors;
}

/* Whether a batch of so many shards in all goes by cuda_narrow.cuh: where the network is, and their parts
   fill three quarters of the device. */
static bool is_narrow(const sn_cuda_net *net, int total)
{
    const sn_cuda_shape &shape = net->shape;
    const narrow_layout at = narrow_places(shape.width[0] < 128 ? shape.width[0] : 127);
    return is_large_batch(net, (int64_t)total * SHARD_ROWS) &&
           4 * HELD_PARTS * total >= 3 * net->facts.multiprocessors &&
           shape.input_activation == SN_PSI_IDENTITY && (shape.layers == 2 || shape.layers == 3) &&
           !shape.spread && shape.width[0] < 128 && shape.width[1] <= HELD_UNITS &&
           shape.width[2] <= HELD_UPPER && shape.width[shape.layers] <= HELD_LANES &&
           (size_t)at.size * sizeof(float) <= net->facts.shared_whole;
}

/* Whether the update reads a copy of a batch's rows: those of a range lie side by side as they are, and those
   of a large one are looked up again. */
static bool gathers_rows(const sn_cuda_net *net, const sn_cuda_step &step)
{
    return !is_large_batch(net, (int64_t)step.total * SHARD_ROWS) &&
           (step.rows.list != nullptr || net->shape.input_activation != SN_PSI_IDENTITY);
}

/* The tiles of a large batch's update: those that fit and have less to do for nothing; small ones are
   somewhat slower. */
static int choose_update_tile(const sn_cuda_net *net)
{
    typedef tensor_tile<128, 128, 4, 4, 4, ACROSS, ACROSS> large_tile;
    if ((large_tile::FLOATS + large_tile::THREADS) * sizeof(float) > net->facts.shared_block) return 64;
    const int large = count_tiles(net->shape, 128, false, nullptr);
    return 4.0 * large <= 1.2 * count_tiles(net->shape, 64, false, nullptr) ? 128 : 64;
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

/* Subtrees of a large batch: so many that the blocks there are room for are busy to the end, few enough that
   their sums, which a second launch adds, do not cost more. */
static void choose_subtrees(int tiles, int room, int64_t most, batch_plan *plan)
{
    double least = 0.0;
    for (int subtrees = 1; subtrees <= plan->each && (subtrees == 1 || subtrees <= most); subtrees *= 2) {
        const double rounds = ceil((double)tiles * subtrees / room) / subtrees;
        const double cost = rounds * room / tiles + 0.02 * subtrees;
        if (subtrees > 1 && cost >= least) continue;
        least = cost;
        plan->subtrees = subtrees;
    }
}

/* apart: the sums of every shard are wanted. */
static batch_plan plan_batch(const sn_cuda_net *net, const sn_cuda_step &step, bool apart)
{
    batch_plan plan = {step.shards, step.shards, 1, step.rows.n, 0, 64, false, false};
    const int64_t capacity = chunk_capacity(net->shape);
    while (plan.each > 1 && rows_of_chunks(step, plan.each) > capacity) plan.each = (plan.each + 1) / 2;
    plan.most = rows_of_chunks(step, plan.each);
    const int fill = net->facts.multiprocessors;
    const int64_t most_roots = PARTIAL_BYTES / 4 / net->shape.parameters + 1;
    plan.large = is_large_batch(net, (int64_t)step.total * SHARD_ROWS);
    plan.narrow = is_narrow(net, step.total);
    if (plan.narrow) {
        plan.subtrees = HELD_PARTS * plan.each;
        return plan;
    }
    if (plan.large)
        plan.tile = choose_update_tile(net);
    else if (!apart && count_tiles(net->shape, 128, true, nullptr) * plan.each >= fill && plan.rows >= 1024)
        plan.tile = 128;
    if (apart) {
        plan.subtrees = plan.each;
        return plan;
    }
    const int tiles = count_tiles(net->shape, plan.tile, !plan.large, nullptr),
              chunks = plan.shards / plan.each;
    if (plan.large) {
        choose_subtrees(tiles, plan.tile == 128 ? fill : 2 * fill, most_roots / chunks, &plan);
        return plan;
    }
    while (plan.subtrees < plan.each && tiles * plan.subtrees < 2 * fill &&
           (int64_t)2 * plan.subtrees * chunks <= most_roots)
        plan.subtrees *= 2;
    return plan;
}

/* Whether a large batch goes through layer by layer: weights that one block cannot have are worth it. */
static bool by_layers(const sn_cuda_net *net)
{
    return net->shape.layers > 2 && (net->plan.ranks > 1 || !net->plan.staged);
}

/* Where the split weights of layer i lie: those for its mean, high and low, and after them those for the pull
   on the layer below. */
struct split_place {
    int64_t mean, pull, size; /* size: of high or low, of the pull's too */
};
static split_place split_at(const sn_cuda_shape &shape, int i)
{
    split_place place = {0, 0, 0};
    for (int k = 0; k <= i; k++) {
        const int64_t mean = (int64_t)shape.width[k + 1] * padded(shape.width[k]);
        const int64_t pull = k > 0 ? (int64_t)shape.width[k] * padded(shape.width[k + 1]) : 0;
        place.mean = place.size;
        place.pull = place.mean + 2 * mean;
        place.size = place.pull + 2 * pull;
    }
    return place;
}
static int64_t split_floats(const sn_cuda_shape &shape)
{
    return split_at(shape, shape.layers - 1).size;
}

/* Whether a product of a batch of `whole` rows goes by cuda_wide.cuh: where its tiles fill half the device.
 */
static bool is_wide(const sn_cuda_net *net, int inputs, int units, int64_t whole)
{
    return net->facts.groups && is_large_batch(net, whole) && inputs >= WIDE_DEPTH && units >= 96 &&
           2 * (int64_t)tiles_of(whole, WIDE_ROWS) * tiles_of(units, WIDE_UNITS) >=
               net->facts.multiprocessors;
}
static bool wide_mean(const sn_cuda_net *net, int i, int64_t whole)
{
    const sn_cuda_shape &shape = net->shape;
    return is_wide(net, shape.width[i], shape.width[i + 1], whole) &&
           (i == 0 ? shape.input_activation == SN_PSI_IDENTITY : by_layers(net));
}
/* The pull of layer i on the one below. */
static bool wide_pull(const sn_cuda_net *net, int i, int64_t whole)
{
    return i > 0 && by_layers(net) && is_wide(net, net->shape.width[i + 1], net->shape.width[i], whole);
}

static void reserve_batch(sn_cuda_net *net, const batch_plan &plan, bool keeps, bool gathers)
{
    const sn_cuda_shape &shape = net->shape;
    const int64_t roots = (int64_t)(plan.shards + plan.each - 1) / plan.each * plan.subtrees;
    const int64_t rows = (plan.most + 127) / 128 * 128;
    const bool layers = keeps && plan.large && by_layers(net);
    bool moved = false; /* something is elsewhere now: what was recorded does not know */
    const auto grow = [&](buffer<float> &what, int64_t size) {
        if (size > what.size && net->under_way > 0) cudaStreamSynchronize(net->stream); /* it is in use */
        moved = moved || size > what.size;
        what.reserve(size);
    };
    grow(net->loss, (plan.rows + 127) / 128 * 128);
    if (plan.narrow) { /* sums of parts, and of shards where they are wanted */
        grow(net->partial, (roots + plan.shards) * shape.parameters);
        grow(net->loss, 2 * roots); /* doubles */
        if (moved) net->forget_record();
        return;
    }
    grow(net->mean[0], rows * padded(shape.width[1]));
    if (keeps && gathers) grow(net->gathered, rows * shape.width[0]);
    /* What lies between the last unit of a row and the first of the next is copied with it, never used. */
    const auto grow_padded = [&](buffer<float> &what, int64_t size) {
        const bool grows = size > what.size;
        grow(what, size);
        if (grows) set_zeros(what.at, size, net->stream);
    };
    for (int i = 0; keeps && i < shape.layers; i++) {
        const int64_t size = rows * padded(shape.width[i + 1]);
        if (i + 1 < shape.layers) grow_padded(net->psi[i], size);
        grow_padded(net->residual[i], size);
        if (layers && i > 0) grow(net->mean[i], size);
        if (layers && i + 1 < shape.layers) {
            grow(net->latent[i], size);
            grow(net->speed[i], size);
        }
    }
    if (keeps && plan.large && net->facts.groups) grow(net->split, split_floats(shape));
    if (roots > 1) grow(net->partial, roots * shape.parameters);
    if (moved) net->forget_record();
}

/* What the lists of a step of so many rows take: places, and after them numbers if there are any, each
   list_room() / 2 then. */
static int64_t list_room(const sn_cuda_rows &rows, int64_t n)
{
    const int64_t each = (n + 31) / 32 * 32;
    return rows.number != nullptr ? 2 * each : rows.list != nullptr ? each : 0;
}

static void fill_list(const int64_t *from, int64_t n, uint32_t *to)
{
    for (int64_t r = 0; r < n; r++) to[r] = (uint32_t)from[r];
}

/* The head of step k, and its lists, into pinned memory. */
static void write_head(sn_cuda_net *net, const sn_cuda_rows &rows, int64_t lists, int k,
                       const sn_cuda_step *step)
{
    step_head *head = &net->now().pinned_head.at[k];
    memset(head, 0, sizeof *head);
    head->rows = (int)rows.n;
    head->first = (uint32_t)rows.first;
    head->offset = rows.offset;
    head->listed = rows.list != nullptr;
    head->numbered = rows.number != nullptr;
    uint32_t *list = net->now().pinned_list.at + lists * k;
    if (rows.list != nullptr) fill_list(rows.list, rows.n, list);
    if (rows.number != nullptr) fill_list(rows.number, rows.n, list + lists / 2);
    if (step == nullptr) return;
    head->iteration = step->iteration;
    head->shards = step->shards;
    for (int v = 0; v <= step->shards; v++) head->border[v] = (int)step->border[v];
    head->dynamics = step->dynamics;
    head->update = step->update;
}

static void reserve_lists(sn_cuda_net *net, int64_t lists, int count)
{
    const uint32_t *before = net->now().list.at;
    net->now().list.reserve(lists * count);
    net->now().pinned_list.reserve(lists * count);
    if (before != net->now().list.at) net->forget_record();
}

static void send_heads(sn_cuda_net *net, int64_t lists, int count)
{
    send(net->now().head.at, net->now().pinned_head.at, count, net->stream);
    if (lists > 0) send(net->now().list.at, net->now().pinned_list.at, lists * count, net->stream);
}

/* Step k of a queue. */
struct queue_place {
    const sn_cuda_data *data;
    int k;
    int64_t lists; /* from those of one step to those of the next */
};

/* A chunk of a step: rows first .. first + rows - 1 of the batch; rows 0: what the head says, at most `most`.
 */
struct chunk : queue_place {
    int first, rows, most;
    int64_t whole; /* rows of the batch, about, by which kernels are chosen: whoever has a share of it chooses
                      the same */
};

static chunk_rows rows_of(const sn_cuda_net *net, const chunk &c)
{
    const uint32_t *places = net->now().list.at + c.lists * c.k;
    return {net->now().head.at + c.k, places, places + c.lists / 2, c.first, c.rows};
}

/* Asks for a launch on the network's stream. */
template <typename arguments>
static void begin(const sn_cuda_net *net, const arguments &a, const launch<arguments> &what)
{
    check(start(what, net->stream, a));
}
