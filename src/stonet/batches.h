/*
 * The mini-batches of training. The n training rows are cut into V virtual shards (engine/sums.h). In every
 * epoch each shard is shuffled by a permutation of its own, keyed by (seed, epoch, shard), and cut into one
 * part for each batch. Batch b is part b of every shard. An epoch has every row once, and what a batch holds
 * of a shard does not depend on the other shards. Shards of large tables are shuffled by windows
 * (stonet/windows.h), so that they need not be in memory as a whole. What is large depends on the rows and
 * columns alone, and so does the order.
 */
#pragma once

#include "data/rows.h"
#include "engine/sums.h"
#include "math/noise.h"
#include "stonet/windows.h"

/* Which tables are shuffled by windows: those of more than `whole` numbers, in blocks of `block` numbers; the
   windows of all shards together have `blocks` blocks. */
typedef struct sn_windowing {
    int64_t whole, block, blocks;
} sn_windowing;
extern const sn_windowing sn_windowing_usual; /* 256 MB, 128 kB, and 128 MB in all */

typedef struct sn_batches {
    sn_rows rows; /* those to train on */
    uint64_t seed;
    int64_t count; /* batches an epoch */
    int threads;   /* that draw from windows, shard by shard; 1 until it is set */
    int64_t whole; /* rows of the batch drawn last, with the shards that are not drawn here */
    sn_shuffle order[SN_MAX_SHARDS];
    sn_windows *windows; /* instead of the order; NULL: shards are shuffled as a whole */
    sn_shards shards;    /* of the batch drawn last */
    int64_t *drawn;      /* its rows */
} sn_batches;

/* Batches an epoch over n rows. */
int64_t sn_batches_count(int64_t n, int64_t size);
/* Batches of about `size` rows, at least size, with all their shards. */
stonet_status sn_batches_create(const sn_rows *rows, int64_t size, uint64_t seed, sn_batches *out);
/* Shuffles by windows if the rows of the problem are that many; its source is told which of them are wanted.
   To be called before anything is drawn. The batches must not be moved afterwards. */
stonet_status sn_batches_window(sn_batches *batches, const sn_problem *problem, const sn_windowing *how);
/* From now on shards first .. first + count - 1 alone are drawn. */
void sn_batches_share(sn_batches *batches, int first, int count);
void sn_batches_clear(sn_batches *batches);
/* Shuffles for an epoch. */
void sn_batches_shuffle(sn_batches *batches, uint32_t epoch);
/* Batch `index` (0 .. count-1) of the present epoch; its shards are batches->shards. */
sn_rows sn_batches_draw(sn_batches *batches, int64_t index);
