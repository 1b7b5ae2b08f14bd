/*
 * What the kernels of a step are told: the step (in device memory, since it changes from step to step), the
 * rows, where everything lies. Arrays of a chunk, [row][unit], have rows of padded() floats.
 */
#pragma once

#include "engine/cuda_base.cuh"
#include "engine/cuda_math.cuh"
#include "engine/cuda_module.h"

enum { SWEEP_THREADS = 512, STREAM_IMPUTE = 0, STREAM_DRAWS = 4 /* sn_stream */ };
enum sweep_task { TASK_STEP, TASK_IMPUTE, TASK_FORWARD };

/* What differs from step to step: in device memory, written before the step. */
struct step_head {
    int rows, shards;
    uint32_t first, offset, iteration;
    int listed, numbered; /* places and numbers of the rows follow */
    int border[SN_CUDA_SHARDS + 1];
    sn_cuda_dynamics dynamics;
    sn_cuda_update update;
};

struct row_arrays { /* of a data */
    const float *x, *y, *weight;
    const int32_t *label;
};

/* The rows of a launch: a chunk of a step's batch. */
struct chunk_rows {
    const step_head *head;
    const uint32_t *places, *numbers; /* lists of the batch; used if the head says so */
    int first, given;                 /* where it begins in the batch; its rows, 0: all of the batch */
    __device__ __forceinline__ int count() const
    {
        return given > 0 ? given : head->rows;
    }
    /* Of a row of the batch: where its data lie, and what keys its noise. */
    __device__ __forceinline__ uint32_t place(int row) const
    {
        return head->listed ? places[row] : head->first + (uint32_t)row;
    }
    __device__ __forceinline__ uint32_t number(int row) const
    {
        return head->numbered ? numbers[row] : place(row) + head->offset;
    }
};

/* A layer in shared memory: places in floats. */
struct sweep_layer {
    int width, local;
    int latent, speed, mean, pull, psi; /* psi whole, the rest local */
    int weights, bias, stride;          /* [input][local unit], padded to an odd stride */
    int mean_split, pull_split; /* log2 of the threads that share a sum of its mean, or of the force on it */
    int mean_large, pull_large; /* whether these products are */
};

/* What a sweep is for. Other than a step: the layer that is handed out (0-based), as psi or not, with noise
   or without. */
struct sweep_job {
    sweep_task task;
    int layer_out = 0, activated = 0, noisy = 0;
};

struct sweep_arguments : sn_cuda_shape, sweep_job {
    chunk_rows rows;
    const float *theta;
    row_arrays data;
    const float *first_mean;         /* [row of the chunk][unit] */
    float *psi[SN_CUDA_LAYERS];      /* out, [row of the chunk][unit] */
    float *residual[SN_CUDA_LAYERS]; /* the same */
    float *loss, *out;
    int outputs;
    int ranks;        /* blocks of a cluster */
    int output_lanes; /* log2 of the threads that share the output layer of a row */
    int narrow;       /* few outputs: no threads share them in a sweep */
    int top_rows;     /* their weights again, [output][local unit] */
    sweep_layer layer[SN_CUDA_LAYERS];
    int force, response, number_at, label_at, weight_row; /* more places */
};

/* Floats of a row of `width` units: whole quartets, the units of one call of the noise. */
static __host__ __device__ __forceinline__ int padded(int width)
{
    return (width + 3) / 4 * 4;
}
