/*
 * Sums over a batch that do not depend on who computes them.
 *
 * The training rows are cut into V virtual shards, contiguous and of equal size within one row. A batch has
 * its rows shard after shard. The sum of a shard runs over its rows in order; sums of shards are added by the
 * binary tree over 0 .. V-1, V a power of two: a node is the sum of its two halves,
 *
 *     [0,1) [1,2) [2,3) [3,4)  ->  [0,2) [2,4)  ->  [0,4)
 *
 * and nothing else. So whoever holds a range of the shards can sum them up to the roots of the complete
 * subtrees in his range, at most two a level, and the roots of all joined give the one root of all shards,
 * with the same bits however the shards were shared out.
 *
 * V follows from the number of rows of the batch alone: one shard for every SN_SHARD_ROWS rows, rounded down
 * to a power of two, at most SN_MAX_SHARDS. A batch smaller than 2 SN_SHARD_ROWS is one shard and pays
 * nothing for the tree; one that is to be shared out over R holders needs at least R SN_SHARD_ROWS rows.
 * Borders of few shards are borders of many too, so who holds shards of one V holds shards of the others.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"

enum {
    SN_MAX_SHARDS = 64,
    SN_SHARD_ROWS = 128,
    SN_MAX_ROOTS = 14 /* of any range of shards, and one more while a shard is summed */
};

/* The shards of a batch that are there: all V, or the range of V that someone holds. */
typedef struct sn_shards {
    int total;                         /* V */
    int first, count;                  /* the range */
    int64_t border[SN_MAX_SHARDS + 1]; /* shard first + k has the batch's rows border[k] .. border[k+1]-1 */
} sn_shards;

/* V of a batch of so many rows. */
int sn_shard_count(int64_t rows);
/* Where shard v of V begins among n rows (v = V: where the last one ends). */
static inline int64_t sn_shard_border(int64_t n, int shards, int v)
{
    return (int64_t)v * n / shards; /* n is at most 2^32 */
}
/* A batch that is all n rows in order. */
void sn_shards_whole(int64_t n, sn_shards *shards);

/* The sum of a complete subtree: shards first .. first + count - 1, count a power of two, first a multiple of
   it. */
typedef struct sn_root {
    int first, count;
    double loss, weight; /* sums over the rows of weight times loss, and of the weights */
    double *gradient;    /* sums->parameters numbers in the order of the shape's flat array; kept for the next
                            use when the root is gone */
} sn_root;

typedef struct sn_sums {
    int64_t parameters; /* 0: no gradients, only the rest */
    bool single;        /* the gradients are floats, and are added as such */
    int shards;         /* V */
    int roots;
    sn_root root[SN_MAX_ROOTS]; /* in the order of their shards */
} sn_sums;

/* Empty sums; takes no memory yet. sn_sums_clear frees what they come to hold. */
static inline sn_sums sn_sums_empty(int64_t parameters, bool single)
{
    return (sn_sums){.parameters = parameters, .single = single};
}
void sn_sums_clear(sn_sums *sums);
/* Without roots, for V shards. */
void sn_sums_reset(sn_sums *sums, int shards);
/* A new last root with room for its gradient, its numbers not set yet. */
stonet_status sn_sums_add(sn_sums *sums, int first, int count);
/* A new last root for one shard, all 0, to be summed into; shards come in rising order. */
stonet_status sn_sums_open(sn_sums *sums, int shard);
/* The last root is complete: adds it to its other half if that is there, and that to its own, and so on.
   Returns how many times. */
int sn_sums_close(sn_sums *sums);
/* An error unless the sum of all shards is there, one root, and something counts in it. */
stonet_status sn_sums_check(const sn_sums *sums);
