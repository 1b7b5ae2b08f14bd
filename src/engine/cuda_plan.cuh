/*
 * How the rows of a batch are laid out over the device: rows a block (or cluster) has at a time, blocks of a
 * cluster, where everything lies in shared memory. Chosen by a rough count of cycles.
 */
#pragma once

#include "engine/cuda_narrow.cuh"
#include "engine/cuda_sweep.cuh"
#include "engine/cuda_update.cuh"
#include "engine/cuda_warp.cuh"
#include "engine/cuda_wide.cuh"

struct device_facts {
    char name[128];
    int multiprocessors, most_ranks;            /* blocks of a cluster */
    int clusters[4];                            /* of 1, 2, 4, 8 large blocks, how many run at a time */
    bool tensors;                               /* it has tensor cores for floats */
    bool groups;                                /* with the instructions of cuda_group.cuh */
    size_t shared_block, shared_multiprocessor; /* most shared memory in bytes */
    size_t shared_whole; /* of a block, for kernels that want nearly all of a large device's */
};

struct sweep_plan {
    int rows, ranks, threads; /* of a cluster; blocks of it; of a block */
    bool staged;
    size_t shared; /* bytes of a block */
};

static int round_up(int value, int step)
{
    return (value + step - 1) / step * step;
}

/* log2 of the lanes that share so many outputs, at most 32. */
static int lanes_of(int outputs)
{
    int lanes = 0;
    while (lanes < 5 && 1 << lanes < outputs) lanes++;
    return lanes;
}

/* Fills in the places of `a` (whose shape is there already); returns the floats of shared memory. */
static int64_t lay_out(int rows, int ranks, bool staged, sweep_arguments *a)
{
    const int group = group_floats(rows), top = a->layers - 1;
    int64_t at = 0, force = 0;
    const auto units = [&](int count) {
        const int64_t begin = at;
        at += (int64_t)count / 4 * group;
        return (int)begin;
    };
    const auto floats = [&](int64_t count) {
        const int64_t begin = at;
        at += (count + 3) / 4 * 4;
        return (int)begin;
    };
    a->ranks = ranks;
    a->output_lanes = lanes_of(a->width[a->layers]);
    a->narrow = staged && top > 0 && !a->spread && a->width[a->layers] <= 16;
    for (int i = 0; i <= top; i++) {
        sweep_layer *me = &a->layer[i];
        me->width = a->width[i + 1];
        me->local = i == top ? round_up(me->width, 4) : round_up((me->width + ranks - 1) / ranks, 4);
        me->mean = units(me->local);
        me->pull = i > 0 || i == top ? units(me->local) : 0;
        if (i < top) {
            me->latent = units(me->local);
            me->speed = units(me->local);
            me->psi = units(me->local * ranks);
            const int64_t parts = (int64_t)(i == top - 1 ? 1 : ranks) * me->local / 4 * group;
            force = parts > force ? parts : force;
        }
        if (i > 0) {
            me->stride = me->local + 1;
            me->bias = floats(me->local);
            me->weights = staged ? floats((int64_t)a->layer[i - 1].local * ranks * me->stride) : 0;
        }
        if (at > (int64_t)1 << 28) return at; /* far too much: the places would not be numbers any more */
    }
    for (int i = 0; i < top; i++) {
        sweep_layer *me = &a->layer[i], *above = &a->layer[i + 1];
        const int inputs = me->local * ranks, team = i == top - 1 ? SWEEP_THREADS : SWEEP_THREADS / ranks;
        me->pull_large = is_large(me->local, above->local);
        me->pull_split = choose_split(me->pull_large ? me->local / 4 : me->local, above->local, team);
        above->mean_large = is_large(above->local, inputs);
        above->mean_split =
            choose_split(above->mean_large ? above->local / 4 : above->local, inputs, SWEEP_THREADS);
    }
    a->top_rows = a->narrow ? floats((int64_t)a->layer[top].local * a->layer[top - 1].local) : 0;
    a->response = a->classes ? 0 : units(a->layer[top].local);
    a->force = floats(force);
    a->number_at = floats(rows);
    a->label_at = floats(rows);
    a->weight_row = floats(rows);
    return at;
}

/* Cycles of one sweep over `batch` rows, about. */
static double cost_of(const device_facts &facts, const sweep_plan &plan, const sn_cuda_shape &shape,
                      int64_t batch)
{
    double units = 0.0, products = 0.0;
    for (int i = 1; i < shape.layers; i++) {
        units += shape.width[i];
        products += 2.0 * shape.width[i] * shape.width[i + 1];
    }
    const double barriers = (shape.layers - 1) * (plan.ranks > 1 ? 1600.0 : 1000.0);
    const double far = plan.staged ? 0.0 : products * 4.0 / 30.0;
    const double row = (units * 0.7 + products / 50.0) / plan.ranks;
    const double blocks = (double)((batch + plan.rows - 1) / plan.rows);
    if (plan.ranks > 1) {
        const int at_once = facts.clusters[plan.ranks == 2 ? 1 : plan.ranks == 4 ? 2 : 3];
        return ceil(blocks / at_once) * (barriers + far + plan.rows * row);
    }
    double beside = (double)(facts.shared_multiprocessor / (plan.shared + 1024));
    beside = fmin(fmax(beside, 1.0), 2048.0 / plan.threads);
    beside = fmin(beside, ceil(blocks / facts.multiprocessors));
    const double waves = ceil(blocks / (facts.multiprocessors * beside));
    return waves * (barriers + beside * (far + plan.rows * row));
}

/* limit: the most of a block. */
static int choose_threads(const sweep_arguments &a, int rows, int limit)
{
    const int top = a.layers - 1;
    if (a.ranks > 1) return SWEEP_THREADS; /* warps for every block of the cluster */
    int most = rows << a.output_lanes;
    const auto take = [&](int wanted) { most = wanted > most ? wanted : most; };
    for (int i = 0; i < top; i++) {
        const sweep_layer &me = a.layer[i], &above = a.layer[i + 1];
        take(me.local / 4 * rows);
        if (i < top - 1 || !a.narrow) take((me.pull_large ? me.local / 4 : me.local) << me.pull_split);
        take((above.mean_large ? above.local / 4 : above.local) << above.mean_split);
    }
    most = round_up(most, 32);
    return most < 64 ? 64 : most > limit ? limit : most;
}

/* How the network's weights are shared out, for batches of any size: over as few blocks as can have them with
   four rows, or with fewer; or they stay where they are. False: a row does not fit. */
static bool choose_ranks(const device_facts &facts, sweep_arguments *a, sweep_plan *plan)
{
    for (int far = 0; far < 2; far++)
        for (int rows = 4; rows >= 1; rows /= 2)
            for (int ranks = 1; ranks <= (far ? 1 : facts.most_ranks); ranks *= 2) {
                const int64_t floats = lay_out(rows, ranks, far == 0, a);
                if ((size_t)floats * sizeof(float) > facts.shared_block) continue;
                plan->ranks = ranks;
                plan->staged = far == 0;
                return true;
            }
    return false;
}

/* The cheapest number of rows for a batch. Leaves the places in `a`. */
static void choose_rows(const device_facts &facts, int64_t batch, sweep_arguments *a, sweep_plan *best)
{
    double least = 0.0;
    const sweep_plan given = *best;
    /* nine: a batch of 128 then needs 15 clusters of eight blocks, as many as some devices have room for */
    for (int rows = 1; rows <= 9; rows = rows < 8 ? 2 * rows : rows + 1) {
        if (rows == 9 && given.ranks == 1) break;
        sweep_plan plan = given;
        plan.rows = rows;
        plan.shared = (size_t)lay_out(rows, plan.ranks, plan.staged, a) * sizeof(float);
        if (plan.shared > facts.shared_block) break;
        /* one large block where there is one to a multiprocessor, several small ones where there are more */
        const bool few = (batch + rows - 1) / rows * plan.ranks <= facts.multiprocessors || plan.ranks > 1;
        plan.threads = choose_threads(*a, rows, few ? SWEEP_THREADS : SWEEP_THREADS / 2);
        const double cost = cost_of(facts, plan, *a, batch);
        if (rows > 1 && cost >= least) continue;
        least = cost;
        *best = plan;
    }
    lay_out(best->rows, best->ranks, best->staged, a);
}
