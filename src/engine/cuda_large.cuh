/* The launches of a large batch: products by the tensor cores, sweeps by warps (cuda_warp.cuh) or layer by
   layer (cuda_layers.cuh). */
#pragma once

#include "engine/cuda_batch.cuh"

/* ---- products ---------------------------------------------------------------------------------------- */

typedef void (*layer_kernel)(layer_arguments);
typedef void (*update_kernel)(update_arguments);

/* A tile of a product: the kernel of a mean or a pull with it. */
struct layer_tile {
    int rows, units, threads;
    layer_kernel mean, pull;
    int mean_floats, pull_floats;
};
#define LAYER_TILE(rows, units, m, n, stages)                                                                \
    {                                                                                                        \
        rows, units, 32 * (m) * (n), layer_product<rows, units, m, n, stages, ALONG>,                        \
            layer_product<rows, units, m, n, stages, ACROSS>,                                                \
            tensor_tile<rows, units, m, n, stages, ALONG, ALONG>::FLOATS,                                    \
            tensor_tile<rows, units, m, n, stages, ALONG, ACROSS>::FLOATS                                    \
    }
enum { LAYER_TILES = 3 };
static const layer_tile layer_tiles[LAYER_TILES] = {LAYER_TILE(32, 64, 2, 4, 4), LAYER_TILE(128, 64, 4, 2, 3),
                                                    LAYER_TILE(128, 128, 4, 4, 4)};

struct update_tile {
    update_kernel kernel;
    int threads, floats;
};
#define SMALL_UPDATE(size, each, depth)                                                                      \
    {                                                                                                        \
        update_tiles<size, size, each, each, depth>, update_size<size, size, each, each, depth>::THREADS,    \
            update_size<size, size, each, each, depth>::FLOATS                                               \
    }
#define LARGE_UPDATE(size, m, n, stages)                                                                     \
    {                                                                                                        \
        tensor_update<size, size, m, n, stages>, 32 * (m) * (n),                                             \
            tensor_tile<size, size, m, n, stages, ACROSS, ACROSS>::FLOATS + 32 * (m) * (n)                   \
    }
/* Of small and of large batches; 64 and 128 to a side. */
static const update_tile update_kinds[2][2] = {{SMALL_UPDATE(64, 4, 32), SMALL_UPDATE(128, 8, 16)},
                                               {LARGE_UPDATE(64, 4, 2, 4), LARGE_UPDATE(128, 4, 4, 4)}};

/* The largest tile that fits, fills half the device and has the fewest units for nothing. Which one it is
   changes no sum. */
static const layer_tile *choose_layer_tile(const device_facts &facts, int64_t rows, int units)
{
    const layer_tile *best = &layer_tiles[0];
    for (int k = 1; k < LAYER_TILES; k++) {
        const layer_tile *tile = &layer_tiles[k];
        const int floats = tile->mean_floats > tile->pull_floats ? tile->mean_floats : tile->pull_floats;
        if (floats * sizeof(float) > facts.shared_block) continue;
        const unsigned across = tiles_of(units, tile->units);
        if (2 * (int64_t)tiles_of(rows, tile->rows) * across < facts.multiprocessors) continue;
        if (across * (unsigned)tile->units <= tiles_of(units, best->units) * (unsigned)best->units)
            best = tile;
    }
    return best;
}

/* What all products of a chunk have in common. */
static layer_arguments layer_of(const sn_cuda_net *net, const chunk &c)
{
    layer_arguments a = {};
    a.rows = rows_of(net, c);
    a.activation = net->shape.activation;
    a.seed = net->shape.seed;
    return a;
}

static layer_state state_of(const sn_cuda_net *net, int i)
{
    return {net->mean[i].at, net->latent[i].at,   net->speed[i].at,
            net->psi[i].at,  net->residual[i].at, padded(net->shape.width[i + 1])};
}

/* Splits the weights for those products of a batch that want it. */
static void launch_split(const sn_cuda_net *net, int64_t whole)
{
    const sn_cuda_shape &shape = net->shape;
    split_arguments a = {};
    unsigned jobs = 0;
    for (int i = 0; i < shape.layers; i++) {
        const float *weights = net->theta.at + shape.weight_at[i];
        const split_place place = split_at(shape, i);
        const int inputs = shape.width[i], units = shape.width[i + 1];
        float *mean = net->split.at + place.mean, *pull = net->split.at + place.pull;
        if (wide_mean(net, i, whole))
            a.job[jobs++] = {weights, units, inputs, 0, mean, mean + (int64_t)units * padded(inputs)};
        if (wide_pull(net, i, whole))
            a.job[jobs++] = {weights, inputs, units, 1, pull, pull + (int64_t)inputs * padded(units)};
    }
    if (jobs == 0) return;
    begin(net, a, {split_weights, dim3((unsigned)net->facts.multiprocessors, jobs), SPLIT_THREADS});
}

/* The product of layer i: its mean, or the pull on it. */
static void launch_layer(const sn_cuda_net *net, layer_arguments a, int i, bool pull, const chunk &c)
{
    const sn_cuda_shape &shape = net->shape;
    const int upper = pull ? i + 1 : i; /* whose weights they are */
    const int rows = c.most;
    const split_place split = split_at(shape, upper);
    a.weights = net->theta.at + shape.weight_at[upper];
    a.inputs = shape.width[pull ? i + 2 : i];
    a.units = shape.width[i + 1];
    a.state = state_of(net, i);
    if (pull ? wide_pull(net, upper, c.whole) : wide_mean(net, upper, c.whole)) {
        a.high = net->split.at + (pull ? split.pull : split.mean);
        a.low = a.high + (int64_t)a.units * padded(a.inputs);
        return begin(net, a,
                     {pull ? wide_product<ACROSS> : wide_product<ALONG>,
                      dim3(tiles_of(rows, WIDE_ROWS), tiles_of(a.units, WIDE_UNITS)), WIDE_THREADS,
                      WIDE_FLOATS * sizeof(float)});
    }
    const layer_tile *tile = choose_layer_tile(net->facts, rows, a.units);
    begin(net, a,
          {pull ? tile->pull : tile->mean, dim3(tiles_of(rows, tile->rows), tiles_of(a.units, tile->units)),
           tile->threads, (size_t)(pull ? tile->pull_floats : tile->mean_floats) * sizeof(float)});
}

/* mu of layer i; settles: the forward pass. */
static void launch_layer_mean(const sn_cuda_net *net, layer_arguments a, int i, bool settles, const chunk &c)
{
    const sn_cuda_shape &shape = net->shape;
    a.in = i > 0 ? net->psi[i - 1].at : c.data->x.at;
    a.in_pitch = i > 0 ? padded(shape.width[i]) : shape.width[0];
    a.gathers = i == 0;
    a.in_psi = i > 0 ? (int)SN_PSI_IDENTITY : shape.input_activation;
    a.bias = net->theta.at + shape.bias_at[i];
    a.settles = settles;
    launch_layer(net, a, i, false, c);
}

/* ---- sweeps, layer by layer -------------------------------------------------------------------------- */

/* The move of layer i, or its step to the mode (sweep -1). */
static void launch_layer_pull(const sn_cuda_net *net, layer_arguments a, int i, int sweep, const chunk &c)
{
    a.in = net->residual[i + 1].at;
    a.in_pitch = padded(net->shape.width[i + 2]);
    a.layer = i;
    a.sweep = sweep;
    launch_layer(net, a, i, true, c);
}

static row_arrays arrays_of(const sn_cuda_data *data)
{
    return {data->x.at, data->y.at, data->weight.at, data->label.at};
}

static void launch_layer_output(const sn_cuda_net *net, const chunk &c, bool with_loss, bool weighs)
{
    const sn_cuda_shape &shape = net->shape;
    const int top = shape.layers - 1, outputs = shape.width[shape.layers];
    const int lanes = lanes_of(outputs);
    const output_arguments a = {rows_of(net, c),
                                arrays_of(c.data),
                                net->mean[top].at,
                                net->residual[top].at,
                                with_loss ? net->loss.at : nullptr,
                                outputs,
                                lanes,
                                top,
                                shape.classes,
                                shape.spread,
                                weighs};
    begin(net, a, {layer_output, dim3(tiles_of((int64_t)c.most << lanes, LAYER_THREADS)), LAYER_THREADS});
}

static void launch_layer_residual(const sn_cuda_net *net, const chunk &c)
{
    residual_arguments a = {};
    a.rows = rows_of(net, c);
    a.weight = c.data->weight.at;
    const unsigned hidden = (unsigned)net->shape.layers - 1,
                   blocks = 2 * (unsigned)net->facts.multiprocessors;
    for (unsigned i = 0; i < hidden; i++) a.state[i] = state_of(net, (int)i);
    begin(net, a, {layer_residual, dim3(blocks, hidden), LAYER_THREADS});
}

/* Everything of a chunk but the update. */
static void launch_layers(const sn_cuda_net *net, const chunk &c, const sn_cuda_dynamics &dynamics)
{
    const layer_arguments a = layer_of(net, c);
    const int top = net->shape.layers - 1;
    for (int i = 0; i <= top; i++) launch_layer_mean(net, a, i, i < top, c);
    launch_layer_output(net, c, true, false);
    for (int sweep = dynamics.mode_start ? -1 : 0; sweep < dynamics.sweeps; sweep++) {
        if (sweep > 0 || (sweep == 0 && dynamics.mode_start)) launch_layer_output(net, c, false, false);
        for (int i = top - 1; i >= 0; i--) launch_layer_pull(net, a, i, sweep, c);
        for (int i = 1; i <= top; i++) launch_layer_mean(net, a, i, false, c);
    }
    launch_layer_output(net, c, false, true);
    launch_layer_residual(net, c);
}

/* ---- sweeps by warps --------------------------------------------------------------------------------- */

static sweep_arguments sweep_of(const sn_cuda_net *net, const chunk &c, const sweep_job &job)
{
    const sn_cuda_shape &shape = net->shape;
    sweep_arguments a = {};
    (sn_cuda_shape &)a = shape;
    (sweep_job &)a = job;
    a.rows = rows_of(net, c);
    a.theta = net->theta.at;
    a.data = arrays_of(c.data);
    a.first_mean = net->mean[0].at;
    for (int i = 0; i < shape.layers; i++) {
        a.psi[i] = net->psi[i].at;
        a.residual[i] = net->residual[i].at;
        a.layer[i].width = shape.width[i + 1];
    }
    a.loss = net->loss.at;
    a.out = net->out.at;
    a.outputs = shape.width[shape.layers];
    a.output_lanes = lanes_of(a.outputs);
    return a;
}

typedef void (*sweep_kernel)(sweep_arguments);

struct warp_plan {
    sweep_kernel kernel; /* NULL: the network is not of that kind */
    int lanes, threads;
    size_t shared;
};

struct warp_kind {
    int lanes, upper, middle, threads;
    sweep_kernel kernel;
};
#define WARP_KINDS(lanes, upper)                                                                             \
    {lanes, upper, 0, warp_threads<upper>::value, warp_rows<lanes, upper, false>},                           \
    {                                                                                                        \
        lanes, upper, 1, warp_threads<upper>::value, warp_rows<lanes, upper, true>                           \
    }
/* Those that serve more come later. */
enum { WARP_KINDS_COUNT = 14 };
static const warp_kind warp_kinds[WARP_KINDS_COUNT] = {
    WARP_KINDS(4, 4),  WARP_KINDS(16, 4),  WARP_KINDS(16, 10), WARP_KINDS(16, 16),
    WARP_KINDS(32, 4), WARP_KINDS(32, 10), WARP_KINDS(32, 16)};
/* Quartets of the first layer that so many lanes may have. */
static int most_quartets(int lanes)
{
    return lanes == 4 ? 24 : lanes == 16 ? 112 : 1 << 20;
}

enum { LEAST_WARPS = 6 }; /* of a multiprocessor, for it to be worth it */

static warp_plan choose_warps(const sn_cuda_net *net)
{
    const sn_cuda_shape &shape = net->shape;
    const int hidden = shape.layers - 1, units = shape.width[1], outputs = shape.width[shape.layers];
    warp_plan plan = {};
    if (hidden < 1 || hidden > 2 || shape.spread || outputs > WARP_NARROW) return plan;
    const int upper = shape.width[2];
    for (int k = 0; k < WARP_KINDS_COUNT && plan.kernel == nullptr; k++) {
        const warp_kind &kind = warp_kinds[k];
        if (kind.middle != hidden - 1 || upper > kind.upper || (hidden == 2 && outputs > kind.lanes))
            continue;
        if (padded(units) / 4 > most_quartets(kind.lanes)) continue;
        const warp_layout at = warp_places(units, kind.upper, kind.lanes);
        const int64_t all = (int64_t)(net->facts.shared_block / sizeof(float)) - at.state;
        const int64_t each = (int64_t)32 / kind.lanes * 3 * at.pitch, fit = all > 0 ? all / each : 0;
        const int warps = (int)(fit < kind.threads / 32 ? fit : kind.threads / 32);
        if (warps < LEAST_WARPS) continue;
        plan.kernel = kind.kernel;
        plan.lanes = kind.lanes;
        plan.threads = 32 * warps;
        plan.shared = (size_t)(at.state + warps * each) * sizeof(float);
    }
    return plan;
}

static void launch_warps(const sn_cuda_net *net, const warp_plan &plan, const sweep_arguments &a,
                         const chunk &c)
{
    const unsigned blocks = tiles_of(c.most, 32 / plan.lanes * (plan.threads / 32));
    const unsigned most = (unsigned)net->facts.multiprocessors;
    begin(net, a, {plan.kernel, dim3(blocks < most ? blocks : most), plan.threads, plan.shared});
}

/* ---- steps in one launch ----------------------------------------------------------------------------- */

typedef void (*narrow_kernel)(narrow_arguments);
/* By hidden layers, and for the usual activation and integrator or any. */
static const narrow_kernel narrow_kernels[2][2] = {{narrow_step<false, false>, narrow_step<false, true>},
                                                   {narrow_step<true, false>, narrow_step<true, true>}};

/* Shards `shard` .. shard + count - 1 of a batch. usual: tanh, symplectic. */
static void launch_narrow(const sn_cuda_net *net, int shard, int count, const chunk &c, bool usual)
{
    const sn_cuda_shape &shape = net->shape;
    narrow_arguments a = {};
    a.sweep = sweep_of(net, c, {TASK_STEP});
    a.partial = net->partial.at;
    a.loss = (double *)net->loss.at;
    a.parameters = shape.parameters;
    a.inputs = shape.width[0];
    a.first_shard = shard;
    a.slot = HELD_PARTS * shard;
    begin(net, a,
          {narrow_kernels[shape.layers - 2][usual ? 1 : 0], dim3((unsigned)(HELD_PARTS * count)),
           HELD_THREADS, (size_t)narrow_places(a.inputs).size * sizeof(float)});
}

/* Where the sums of shards are: after those of their parts. */
static float *joined_sums(const sn_cuda_net *net, int shards)
{
    return net->partial.at + HELD_PARTS * shards * net->shape.parameters;
}

static void launch_join(const sn_cuda_net *net, int k, int shards)
{
    const join_arguments a = {net->partial.at,
                              joined_sums(net, shards),
                              (const double *)net->loss.at,
                              net->now().report.at[k].loss,
                              net->shape.parameters,
                              shards};
    begin(net, a, {join_parts, dim3((unsigned)net->facts.multiprocessors), JOIN_THREADS});
}

/* Lets the kernels have the shared memory they take. */
static void ready_large(const device_facts &facts)
{
    const int most = (int)facts.shared_block;
    const auto allow = [&](auto kernel, size_t bytes) {
        if (bytes > facts.shared_block) return cudaSuccess; /* it is never used */
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    };
    for (int k = 0; k < LAYER_TILES; k++) {
        check(allow(layer_tiles[k].mean, (size_t)layer_tiles[k].mean_floats * sizeof(float)));
        check(allow(layer_tiles[k].pull, (size_t)layer_tiles[k].pull_floats * sizeof(float)));
    }
    if (facts.groups) {
        check(allow(wide_product<ALONG>, 0));
        check(allow(wide_product<ACROSS>, 0));
    }
    for (const update_tile &tile : update_kinds[1])
        check(allow(tile.kernel, (size_t)tile.floats * sizeof(float)));
    for (int k = 0; k < WARP_KINDS_COUNT; k++) check(allow(warp_kinds[k].kernel, 0));
    for (int k = 0; k < 4; k++) check(allow(narrow_kernels[k / 2][k % 2], 0));
}
