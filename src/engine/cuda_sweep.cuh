/*
 * Step 1 of an iteration (engine.h) for R rows, by one block or one cluster of blocks: forward pass from the
 * first layer's mean on, start, all sweeps of all layers, residuals. Everything of the rows stays in shared
 * memory from beginning to end, and so do the weights above the first layer (STAGED), unless they are too
 * many for a cluster: then they are read from the second-level cache. With LAYERS given, not 0, every place
 * in shared memory is a constant of the code.
 *
 * Arrays [unit][row] lie in groups of four units, the units of one call of the noise: group g, row r at
 * g GROUP + 4 r, so that a thread that moves four units of a row reads and writes them at once; the padding
 * after each group keeps threads on different banks. Units are shared out over the blocks of a cluster,
 * `local` to each, those past the width being zeros that nothing reads. psi is kept whole in every block. The
 * output layer is computed by all of them.
 *
 *     mean:   mu_i[local] = b_i + w_i psi_{i-1}              needs psi whole
 *     pull:   force = w_{i+1}' r_{i+1}                       each block over its own units of layer i + 1,
 * a part for each block's units; the move of layer i reads its parts from all blocks and adds them in order
 * of rank
 *
 * A sweep is a chain of short phases with barriers between them, so what counts is the length of each: a
 * layer costs two barriers, the mean of one layer is computed beside the pull of another, noise is drawn
 * before the barrier that its move waits for, and where the outputs are few the threads that move the last
 * hidden layer compute their residual each for itself.
 */
#pragma once

#include "engine/cuda_sweep_move.cuh"
#include "engine/cuda_sweep_product.cuh"

/* Y_i = mu_i from the first layer's mean up to layer `last`. */
template <int R, bool STAGED>
static __device__ void forward_pass(const sweep_arguments &a, const sweep_block &s, int last)
{
    for (int i = 0; i <= last; i++) {
        if (i > 0) {
            mean_layer<R, STAGED>(a, s, i);
            sync_block();
        }
        if (i == a.layers - 1) break;
        settle_layer<R>(a, s, i);
        sync_all(a);
    }
}

/* The mode start, and the means above the moved latents. */
template <int R, bool STAGED>
static __device__ void start_at_mode(const sweep_arguments &a, const sweep_block &s)
{
    const int top = a.layers - 1;
    const float none[4] = {0.0F, 0.0F, 0.0F, 0.0F};
    for (int i = top - 1; i >= 0; i--) {
        pull_layer<R, STAGED>(a, s, i, i == top - 1);
        sync_all(a);
        move_layer<R, true>(a, s, {i, -1, {}, false, 0.0F}, none);
        sync_all(a);
    }
    for (int i = 1; i <= top; i++) mean_layer<R, STAGED>(a, s, i);
    sync_all(a); /* the first move writes psi that other blocks still read here */
}

/* One sweep. early: the noise of the first task of the last hidden layer, and after it that of the next
 * sweep. */
template <int R, int LAYERS, bool STAGED>
static __device__ __forceinline__ void one_sweep(const sweep_arguments &a, const sweep_block &s, int sweep,
                                                 float early[4])
{
    const int top = (LAYERS > 0 ? LAYERS : a.layers) - 1;
    const float top_over_s = a.rows.head->dynamics.over_s[top];
    const bool narrow = STAGED && a.narrow;
    if (!narrow) {
        output_pull<R>(a, s, false);
        sync_block();
    }
#pragma unroll
    for (int i = top - 1; i >= 0; i--) {
        const layer_move turn = {i, sweep, mover_of(a.rows.head->dynamics, i), narrow && i == top - 1,
                                 top_over_s};
        if (i < top - 1) draw_noise<R>(a, s, i, sweep, (int)threadIdx.x, early);
        if (i < top - 1 || !narrow) pull_layer<R, STAGED>(a, s, i, i == top - 1);
        if (i + 2 <= top) mean_layer<R, STAGED>(a, s, i + 2);
        if (i < top - 1 || !narrow) sync_all(a);
        move_layer<R, false>(a, s, turn, early);
        sync_all(a);
    }
    mean_layer<R, STAGED>(a, s, 1);
    draw_noise<R>(a, s, top - 1, sweep + 1, (int)threadIdx.x, early);
    if (top == 1)
        sync_all(a); /* the next move writes what others may still read */
    else
        sync_block();
}

template <int R, int LAYERS, bool STAGED>
__global__ void __launch_bounds__(SWEEP_THREADS) sweep_rows(const __grid_constant__ sweep_arguments a)
{
    sweep_block s;
    s.memory = shared_memory();
    s.rank = a.ranks > 1 ? cluster_rank() : 0;
    s.first = (int)(blockIdx.x / (unsigned)a.ranks) * R;
    s.rows = a.rows.count();
    if (s.first >= s.rows) return; /* the whole cluster */
    const int top = a.layers - 1;
    stage_weights(a, s, STAGED);
    gather_rows<R>(a, s);
    sync_all(a);
    forward_pass<R, STAGED>(a, s, a.task == TASK_FORWARD ? a.layer_out : top);
    if (a.task != TASK_FORWARD) {
        output_pull<R>(a, s, true);
        sync_all(a); /* the first move writes psi that other blocks still read in the forward pass */
        if (a.rows.head->dynamics.mode_start) start_at_mode<R, STAGED>(a, s);
        float early[4] = {0.0F, 0.0F, 0.0F, 0.0F};
        const int sweeps = top > 0 ? a.rows.head->dynamics.sweeps : 0;
        if (sweeps > 0) draw_noise<R>(a, s, top - 1, 0, (int)threadIdx.x, early);
        for (int sweep = 0; sweep < sweeps; sweep++) one_sweep<R, LAYERS, STAGED>(a, s, sweep, early);
        if (a.task == TASK_STEP) {
            output_pull<R>(a, s, false);
            sync_block();
            leave_rows<R>(a, s);
        }
    }
    if (a.task != TASK_STEP) leave_out<R>(a, s);
    if (a.ranks > 1) sync_cluster(); /* nobody leaves while others read what it has */
}
