/*
 * What the cpu engine's driver (cpu.c, built once) and its kernels (built once per instruction set) share.
 *
 * Rows are worked on in blocks. Inside a block the numbers of a layer lie as [unit][row], the rows side by
 * side in the vector lanes, so that any width fills them. Between blocks and the update lie two arrays per
 * layer for a whole chunk of the batch: psi as the blocks left it, and the residuals r_i as [row][unit].
 *
 * Parameters of layer i, and momentum alike, lie in panels of 64, 32 or 16 output units (the last ones padded
 * with zeros): in a panel, row k holds w[unit, k] of its units side by side, and one more row the biases. All
 * four products of the engine read this one form, and the update writes it, so nothing is ever repacked.
 */
#pragma once

#include <stdbool.h>

#include "engine/engine.h"

enum {
    SN_UNIT_STEP = 16,     /* panels are multiples of this many units, row blocks of this many rows */
    SN_PANEL_UNITS = 64,   /* the widest panel, and the most rows in a block */
    SN_SUM_ROWS = 256,     /* rows summed in one chain of the gradient; longer batches add such sums */
    SN_UPDATE_INPUTS = 48, /* inputs (rows of a panel) of one piece of the update, */
    SN_UPDATE_LEAST = 12   /* and the fewest */
};

/* Units of the panel that starts at `unit` when the layer has `padded` units. */
static inline int64_t sn_panel_width(int64_t padded, int64_t unit)
{
    const int64_t left = padded - unit;
    return left >= 64 ? 64 : left >= 32 ? 32 : 16;
}

typedef struct sn_cpu_layer { /* layer i, stored at index i - 1 */
    int64_t inputs, outputs, padded;
    float *weights;           /* panels; the one that starts at unit j begins at (inputs + 1) * j */
    float *momentum;          /* the same form */
    float *sum[SN_MAX_ROOTS]; /* the same form: gradients of the roots (engine/sums.h) between chunks, or when
                                 they are to be handed out; NULL until that is needed */
    float *psi;               /* psi(Y_i) of the chunk: [block][unit][row], the last block's rows no more than
                                 vectors round them up to; NULL for the output layer */
    float *residual; /* r_i of the chunk, in panels: the one that starts at unit j begins at rows * j */
} sn_cpu_layer;

/* A thread's own memory for the block it works on; arrays [unit][row]. */
typedef struct sn_cpu_scratch {
    int64_t number[SN_PANEL_UNITS]; /* the rows as they are fetched */
    int32_t label[SN_PANEL_UNITS];
    float weight[SN_PANEL_UNITS];
    double *y; /* [row][output] */
    float *latent[SN_MAX_LAYERS];
    float *speed[SN_MAX_LAYERS];
    float *mean[SN_MAX_LAYERS]; /* the output layer's too */
    float *pull[2];             /* r_{i+1} and r_i in turn, as wide as the widest layer */
    float *response;            /* regression: [output][row] */
    float *force;               /* w' r of a few units */
    float *corner;              /* [64][64], for turning [row][unit] into [unit][row] and back */
    float *memory;              /* what all of them point into */
} sn_cpu_scratch;

/* A stretch of a chunk's rows that belong to one shard. */
typedef struct sn_cpu_segment {
    int64_t begin, end;
    int root;   /* whose gradient they are added to */
    bool opens; /* they are the shard's first */
    int merges; /* after them: how many times the last root is added to the one before it */
} sn_cpu_segment;

/* What is to be done with the rows of a batch. */
typedef enum sn_cpu_task {
    SN_CPU_STEP,       /* impute, sum, and after the last chunk update */
    SN_CPU_ACCUMULATE, /* impute and sum */
    SN_CPU_APPLY,      /* update from the sums that are there */
    SN_CPU_IMPUTE,     /* impute and hand out latents */
    SN_CPU_FORWARD     /* a pass, and hand out what it gives */
} sn_cpu_task;

/* One chunk of one task. */
typedef struct sn_cpu_job {
    sn_cpu_task task;
    const sn_shape *shape;
    const sn_problem *problem;
    sn_cpu_layer *layer;
    uint64_t seed;
    const sn_iteration *iteration; /* NULL in a forward pass, */
    const sn_pass *pass;           /* and this one elsewhere */
    const sn_rows *batch;
    int64_t first, rows; /* the chunk's place in the batch */
    int64_t block_rows;  /* rows (lanes) of a block, a multiple of SN_UNIT_STEP */
    int64_t capacity;    /* rows the chunk arrays are laid out for */
    const float *x;      /* psi_0 of the chunk's rows: [row][x_stride] */
    float *x_copy;       /* where blocks gather them; NULL when x points into the data */
    int64_t x_stride;
    float *loss;                   /* per row of the chunk, at the forward pass, times its weight */
    const sn_cpu_segment *segment; /* the chunk's rows by shard */
    int segments;
    int roots_before, roots_after; /* roots kept from the chunks before, and for those after */
    bool last_chunk;
    double weight; /* of the whole batch */
    int threads;   /* that take blocks, in turn */
    int layer_out; /* impute: which latent to hand out */
    float *out;
} sn_cpu_job;

/* A piece of the update: inputs [first, last) of one panel of one layer; `last` past the inputs: the bias. */
typedef struct sn_cpu_piece {
    int layer; /* index */
    int64_t unit, first, last;
} sn_cpu_piece;

typedef struct sn_cpu_kernels {
    const char *name;
    /* Step 1 for the rows of one block; leaves psi, residuals and losses in the chunk's arrays, or latents in
       `out`. */
    void (*impute)(const sn_cpu_job *job, sn_cpu_scratch *scratch, int64_t block);
    /* A pass for the rows of one block, into `out`. */
    void (*forward)(const sn_cpu_job *job, sn_cpu_scratch *scratch, int64_t block);
    /* Step 2, or its part that the task asks for, for one piece; returns whether everything stayed finite. */
    bool (*update)(const sn_cpu_job *job, const sn_cpu_piece *piece);
} sn_cpu_kernels;

extern const sn_cpu_kernels sn_cpu_portable;
#if defined(__x86_64__)
extern const sn_cpu_kernels sn_cpu_avx2;
extern const sn_cpu_kernels sn_cpu_avx512;
#endif
