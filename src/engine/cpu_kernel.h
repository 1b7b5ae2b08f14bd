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
#ifndef SN_ENGINE_CPU_KERNEL_H
#define SN_ENGINE_CPU_KERNEL_H

#include <stdbool.h>

#include "engine/engine.h"

enum {
    SN_UNIT_STEP = 16,    /* panels are multiples of this many units, row blocks of this many rows */
    SN_PANEL_UNITS = 64,  /* the widest panel, and the most rows in a block */
    SN_SUM_ROWS = 256,    /* rows summed in one chain of the gradient; longer batches add such sums */
    SN_UPDATE_INPUTS = 48 /* inputs (rows of a panel) of one piece of the update */
};

/* Units of the panel that starts at `unit` when the layer has `padded` units. */
static inline int64_t sn_panel_width(int64_t padded, int64_t unit)
{
    const int64_t left = padded - unit;
    return left >= 64 ? 64 : left >= 32 ? 32 : 16;
}

typedef struct sn_cpu_layer { /* layer i, stored at index i - 1 */
    int64_t inputs, outputs, padded;
    float *weights;  /* panels; the one that starts at unit j begins at (inputs + 1) * j */
    float *momentum; /* the same form */
    float *sum;      /* the same form: gradient of the chunks so far; NULL until a batch has many chunks */
    float *psi;      /* psi(Y_i) of the chunk: [block][unit][row]; NULL for the output layer */
    float *residual; /* r_i of the chunk, in panels: the one that starts at unit j begins at rows * j */
} sn_cpu_layer;

/* A thread's own memory for the block it works on; arrays [unit][row]. */
typedef struct sn_cpu_scratch {
    float *latent[SN_MAX_LAYERS];
    float *speed[SN_MAX_LAYERS];
    float *mean[SN_MAX_LAYERS]; /* the output layer's too */
    float *pull[2];             /* r_{i+1} and r_i in turn, as wide as the widest layer */
    float *response;            /* regression: [output][row] */
    float *force;               /* w' r of a few units */
    float *corner;              /* [64][64], for turning [row][unit] into [unit][row] and back */
    float *memory;              /* what all of them point into */
} sn_cpu_scratch;

/* One chunk of one step. */
typedef struct sn_cpu_job {
    const sn_shape *shape;
    const sn_problem *problem;
    sn_cpu_layer *layer;
    uint64_t seed;
    const sn_iteration *iteration;
    int64_t first, rows; /* the chunk's place in the batch */
    int64_t block_rows;  /* rows (lanes) of a block, a multiple of SN_UNIT_STEP */
    int64_t capacity;    /* rows the chunk arrays are laid out for */
    const float *x;      /* psi_0 of the chunk's rows: [row][x_stride] */
    float *x_copy;       /* where blocks gather them; NULL when x points into the data */
    int64_t x_stride;
    float *loss; /* per row of the chunk, at the forward pass */
    bool first_chunk, last_chunk;
    int threads;   /* that take blocks, in turn */
    int out_layer; /* impute: which latent to hand out; 0 in a step */
    float *out;
} sn_cpu_job;

/* A piece of the update: inputs [first, last) of one panel of one layer; `last` past the inputs: the bias. */
typedef struct sn_cpu_piece {
    int layer; /* index */
    int64_t unit, first, last;
} sn_cpu_piece;

typedef struct sn_cpu_kernels {
    const char *name;
    /* Step 1 for the rows of one block; leaves psi, residuals and losses in the chunk's arrays. */
    void (*impute)(const sn_cpu_job *job, sn_cpu_scratch *scratch, int64_t block);
    /* Step 2 for one piece; returns whether everything stayed finite. */
    bool (*update)(const sn_cpu_job *job, const sn_cpu_piece *piece);
} sn_cpu_kernels;

extern const sn_cpu_kernels sn_cpu_portable;
#if defined(__x86_64__)
extern const sn_cpu_kernels sn_cpu_avx2;
extern const sn_cpu_kernels sn_cpu_avx512;
#endif

/* The data row of batch position k. */
static inline int64_t sn_cpu_row(const sn_iteration *iteration, int64_t k)
{
    return iteration->rows != NULL ? iteration->rows[k] : k;
}

#endif
