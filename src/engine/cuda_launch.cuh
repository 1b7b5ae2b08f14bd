/* The launches of a step, one after the other. */
#pragma once

#include "engine/cuda_large.cuh"

enum { SWEEP_SIZES = 5, SWEEP_KINDS = 5 };
/* By rows of a block: for one, two or three hidden layers, for any number, and for weights that stay far. */
#define SWEEPS(rows)                                                                                         \
    {                                                                                                        \
        sweep_rows<rows, 2, true>, sweep_rows<rows, 3, true>, sweep_rows<rows, 4, true>,                     \
            sweep_rows<rows, 0, true>, sweep_rows<rows, 0, false>                                            \
    }
static const sweep_kernel sweep_kernels[SWEEP_SIZES][SWEEP_KINDS] = {SWEEPS(1), SWEEPS(2), SWEEPS(4),
                                                                     SWEEPS(8), SWEEPS(9)};

static sweep_kernel kernel_of(const sweep_plan &plan, int layers)
{
    const int size = plan.rows == 1 ? 0 : plan.rows == 2 ? 1 : plan.rows == 4 ? 2 : plan.rows == 8 ? 3 : 4;
    return sweep_kernels[size][!plan.staged ? 4 : layers >= 2 && layers <= 4 ? layers - 2 : 3];
}

static void ready_kernels(const device_facts &facts)
{
    for (int size = 0; size < SWEEP_SIZES; size++)
        for (int kind = 0; kind < SWEEP_KINDS; kind++)
            check(cudaFuncSetAttribute(sweep_kernels[size][kind], cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       (int)facts.shared_block));
    ready_large(facts);
}

/* How many clusters of blocks that have a multiprocessor each run at a time. */
static void count_clusters(device_facts *facts)
{
    for (int k = 0; k < 4; k++) {
        const launch<sweep_arguments> what = {sweep_kernels[3][3], dim3(1U << k), SWEEP_THREADS,
                                              facts->shared_block, 1 << k};
        facts->clusters[k] = facts->multiprocessors;
        if (k > 0 && 1 << k <= facts->most_ranks) check(clusters_of(what, &facts->clusters[k]));
        if (facts->clusters[k] < 1) facts->clusters[k] = 1;
    }
}

template <int BM, int BN, int TM, int TN, int SPLIT, int DEPTH>
static void start_mean(const sn_cuda_net *net, const mean_arguments &a, int rows)
{
    typedef mean_size<BM, BN, TM, TN, SPLIT, DEPTH> size;
    begin(net, a,
          {first_mean<BM, BN, TM, TN, SPLIT, DEPTH>, dim3(tiles_of(rows, BM), tiles_of(a.units, BN)),
           size::THREADS, (size::FLOATS + BM) * sizeof(float)});
}

/* Large tiles where they fill the device with a batch of `whole` rows. */
static void launch_mean(const sn_cuda_net *net, const mean_arguments &a, int rows, int64_t whole)
{
    const int64_t fill = net->facts.multiprocessors / 2;
    if (a.units <= 64 && tiles_of(whole, 128) >= fill) return start_mean<128, 64, 8, 4, 1, 16>(net, a, rows);
    if (a.units > 64 && (int64_t)tiles_of(whole, 128) * tiles_of(a.units, 128) >= fill)
        return start_mean<128, 128, 8, 8, 1, 16>(net, a, rows);
    start_mean<16, 32, 4, 4, 8, 16>(net, a, rows);
}

static void launch_first_mean(const sn_cuda_net *net, const chunk &c, bool gathers)
{
    const sn_cuda_shape &shape = net->shape;
    if (is_large_batch(net, c.whole)) return launch_layer_mean(net, layer_of(net, c), 0, false, c);
    const mean_arguments a = {rows_of(net, c),
                              c.data->x.at,
                              net->theta.at + shape.weight_at[0],
                              net->theta.at + shape.bias_at[0],
                              net->mean[0].at,
                              gathers ? net->gathered.at : nullptr,
                              shape.width[0],
                              shape.width[1],
                              shape.input_activation};
    launch_mean(net, a, c.most, c.whole);
}

static void launch_sweep(sn_cuda_net *net, sweep_arguments *a, const chunk &c)
{
    sweep_plan plan = net->plan;
    choose_rows(net->facts, c.most, a, &plan);
    begin(net, *a,
          {kernel_of(plan, a->layers), dim3(tiles_of(c.most, plan.rows) * (unsigned)plan.ranks), plan.threads,
           plan.shared, plan.ranks});
}

static void launch_update(sn_cuda_net *net, const batch_plan &plan, int shard, const chunk &c, bool apart,
                          bool gathers)
{
    const sn_cuda_shape &shape = net->shape;
    const int each = shard + plan.each < plan.shards ? plan.each : plan.shards - shard;
    const int subtrees = apart ? each : plan.subtrees;
    update_arguments a = {};
    step_report *report = &net->now().report.at[c.k];
    a.rows = rows_of(net, c);
    a.in_order = !gathers;
    a.gathers = plan.large;
    a.in_psi = shape.input_activation;
    a.layers = shape.layers;
    count_tiles(shape, plan.tile, !plan.large, &a);
    for (int i = 0; i < shape.layers; i++) {
        update_layer *layer = &a.layer[i];
        layer->inputs = shape.width[i];
        layer->units = shape.width[i + 1];
        layer->in = i > 0 ? net->psi[i - 1].at : gathers ? net->gathered.at : c.data->x.at;
        layer->in_pitch = i > 0 ? padded(shape.width[i]) : shape.width[i];
        layer->residual = net->residual[i].at;
        layer->weight_at = shape.weight_at[i];
        layer->bias_at = shape.bias_at[i];
    }
    a.theta = net->theta.at;
    a.velocity = net->velocity.at;
    a.partial = apart || plan.subtrees > 1 || plan.each < plan.shards ? net->partial.at : nullptr;
    a.parameters = shape.parameters;
    a.loss = net->loss.at;
    a.loss_sums = shard + each == plan.shards ? report->loss : nullptr;
    a.flag = &report->flag;
    a.first_shard = shard;
    a.subtree = each / subtrees;
    a.slot = shard / plan.each * plan.subtrees;
    const update_tile &tile = update_kinds[plan.large][plan.tile == 128];
    begin(net, a,
          {tile.kernel, dim3((unsigned)a.tiles + 1, (unsigned)subtrees), tile.threads,
           (size_t)tile.floats * sizeof(float)});
}

/* halves: the losses are there for the two halves of every shard. */
static void launch_apply(sn_cuda_net *net, int k, int roots, bool halves)
{
    apply_arguments a = {};
    (sn_cuda_shape &)a = net->shape;
    a.head = net->now().head.at + k;
    a.theta = net->theta.at;
    a.velocity = net->velocity.at;
    a.partial = net->partial.at;
    a.roots = roots;
    a.flag = &net->now().report.at[k].flag;
    a.loss = halves ? (const double *)net->loss.at : nullptr;
    a.loss_sums = net->now().report.at[k].loss;
    a.slices = 1;
    while (a.slices < 8 && roots / (2 * a.slices) >= AT_ONCE) a.slices *= 2;
    const int64_t blocks = tiles_of(a.parameters, APPLY_THREADS / a.slices);
    const int64_t most = (int64_t)net->facts.multiprocessors * 8;
    begin(net, a,
          {apply_sums, dim3((unsigned)(blocks < most ? blocks : most)), APPLY_THREADS,
           APPLY_THREADS * sizeof(float)});
}

static void launch_groups(sn_cuda_net *net, int k)
{
    const sn_cuda_shape &shape = net->shape;
    const group_arguments a = {net->now().head.at + k, net->theta.at + shape.weight_at[0],
                               net->border.at,         net->has_factor ? net->factor.at : nullptr,
                               shape.width[0],         shape.width[1]};
    begin(net, a,
          {shrink_groups, dim3((unsigned)shape.groups), GROUP_THREADS, GROUP_THREADS / 32 * sizeof(double)});
}

/* Everything of step k but the update of what is summed in parts. step: where the shards of a batch of
   several chunks lie; a batch of one chunk is as large as its head says, at most plan.most. */
static void launch_chunks(sn_cuda_net *net, const queue_place &at, const batch_plan &plan,
                          const sn_cuda_step &step, bool apart)
{
    const bool whole = plan.each == plan.shards, gathers = gathers_rows(net, step);
    launch_split(net, (int64_t)step.total * SHARD_ROWS);
    for (int v = 0; v < plan.shards; v += plan.each) {
        const int end = v + plan.each < plan.shards ? v + plan.each : plan.shards;
        const int rows = (int)(step.border[end] - step.border[v]);
        const chunk c = {at, whole ? 0 : (int)step.border[v], whole ? 0 : rows, whole ? (int)plan.most : rows,
                         (int64_t)step.total * SHARD_ROWS};
        if (plan.narrow) {
            const bool usual = net->shape.activation == SN_PSI_TANH && !step.dynamics.euler;
            launch_narrow(net, v, end - v, c, usual);
            continue;
        }
        if (c.most > 0 && plan.large && by_layers(net))
            launch_layers(net, c, step.dynamics);
        else if (c.most > 0) {
            launch_first_mean(net, c, gathers);
            sweep_arguments a = sweep_of(net, c, {TASK_STEP});
            const warp_plan warps = choose_warps(net);
            if (plan.large && warps.kernel != nullptr)
                launch_warps(net, warps, a, c);
            else
                launch_sweep(net, &a, c);
        }
        launch_update(net, plan, v, c, apart, gathers);
    }
    if (plan.narrow && apart) launch_join(net, at.k, plan.shards);
}

static void launch_step(sn_cuda_net *net, const queue_place &at, const batch_plan &plan,
                        const sn_cuda_step &step, bool grouped)
{
    launch_chunks(net, at, plan, step, false);
    const int roots = plan.shards / plan.each * plan.subtrees;
    if (roots > 1) launch_apply(net, at.k, roots, plan.narrow);
    if (grouped) launch_groups(net, at.k);
}
