/*
 * An order of n rows in which a file can be read. The rows are cut into blocks side by side, and the blocks
 * are shuffled. A window is a number of blocks that follow each other in that order; its rows are shuffled
 * too. An epoch goes from window to window. Blocks are requested a window ahead and released a batch after
 * their window. All of it is a function of (n, sizes, seed, epoch, shard): where the rows lie does not
 * matter.
 */
#pragma once

#include "data/problem.h"
#include "math/noise.h"

/* The blocks of a window. */
typedef struct sn_window {
    int64_t number; /* 0, 1, ..; -1: none */
    int64_t first;  /* positions of all windows before it */
    int64_t blocks;
    int64_t *begin;  /* of each block, its first row, */
    int64_t *border; /* and (blocks + 1) where it begins within the window */
    sn_shuffle order;
} sn_window;

typedef struct sn_windows {
    int64_t n, blocks, most; /* rows; blocks, and those of a window */
    uint64_t seed;
    uint32_t epoch, shard;
    sn_shuffle order; /* of the blocks */
    sn_window now, past;
    int64_t ahead; /* the window that was requested last */
    /* Who is told which rows are wanted; NULL: nobody. Row r is at position start + r of `rows`. */
    const sn_problem *problem;
    const sn_rows *rows;
    int64_t start;
} sn_windows;

/* Blocks of about `block` rows, `most` a window. Clear also after a failure. */
stonet_status sn_windows_create(int64_t n, int64_t block, int64_t most, sn_windows *out);
void sn_windows_clear(sn_windows *windows);
/* Begins an epoch. */
void sn_windows_shuffle(sn_windows *windows, uint64_t seed, uint32_t epoch, uint32_t shard);
/* The rows at `count` positions from `first` on; quickest in ascending order. */
void sn_windows_rows(sn_windows *windows, int64_t first, int64_t count, int64_t *row);
