/*
 * The state of every linear method: Z = (x - centre) B, with the spectrum and the dimension tests that led to
 * B.
 */
#pragma once

#include "base/memory.h"
#include "base/workspace.h"
#include "methods/method.h"

typedef struct sn_linear_map {
    int64_t p, dim;
    double *centre;    /* p */
    double *direction; /* B, p x dim */
    int64_t n_values;
    double *value; /* eigenvalues (or the like) behind the directions, largest first; may be none */
    int64_t n_tests;
    /* Row k: statistic and degrees of freedom of the chi-square test that k directions are enough. */
    double *test; /* n_tests x 2; may be none */
} sn_linear_map;

/* Hands a copy of the map over as the result of a fit, with the signs of its directions fixed. */
stonet_status sn_linear_map_result(const sn_linear_map *map, sn_fit_result *result);

stonet_status sn_linear_map_transform(const void *state, const float *x, int64_t n,
                                      const sn_transform_request *request, float *z);
stonet_status sn_linear_map_save(const void *state, sn_store *store);
stonet_status sn_linear_map_load(const sn_store *store, void **state);
void sn_linear_map_free(void *state);
SN_DROP(sn_linear_map, sn_linear_map_free)
sn_sizes sn_linear_map_sizes(const void *state);

/* The entries of an sn_method whose state is a linear map; and of one that is fitted to any response by
 * `fit`. */
#define SN_LINEAR_MAP_STATE                                                                                  \
    .transform = sn_linear_map_transform, .save = sn_linear_map_save, .load = sn_linear_map_load,            \
    .free = sn_linear_map_free, .sizes = sn_linear_map_sizes
#define SN_LINEAR_METHOD .tasks = SN_TASK_BOTH, .multi_output = true, .fit = fit, SN_LINEAR_MAP_STATE

/* The smaller of the wanted and the available number of directions; warns, with the reason `why`, when fewer
   exist than were wanted. */
int64_t sn_limit_dim(const stonet_run *run, const char *method, int64_t wanted, int64_t available,
                     const char *why);

/* Where a search for directions starts: b (p x d) is random, with orthonormal columns. */
stonet_status sn_random_directions(int64_t p, int64_t d, uint64_t seed, uint32_t restart, double *b);
/* What of a gradient (p x d) changes the span of b: gradient -= b b'gradient; inner is scratch for d x d. */
void sn_make_tangent(int64_t p, int64_t d, const double *b, double *inner, double *gradient);

/* Rows of x (n x p) as doubles less the centre: out[i] = x[row[i]] - centre; row NULL means rows first,
   first+1,
   ... */
void sn_centred_rows(const float *x, int64_t p, const double *centre, const int64_t *row, int64_t first,
                     int64_t count, double *out);
/* Rows of p doubles that make a block of a few megabytes: large enough for BLAS, small beside the data. */
int64_t sn_block_rows(int64_t n, int64_t p);

/*
 * z = (x - centre) map of many rows, block by block. With the first five members filled in:
 *
 *     SN_TRY(sn_blocks_open(&rows, first, count, &scratch));
 *     while (sn_blocks_next(&rows)) use(rows.z, rows.at, rows.count);
 */
typedef struct sn_blocks {
    const float *x;             /* rows of p columns */
    const double *centre, *map; /* p; p x dim */
    int64_t p, dim;
    const int64_t *row;      /* which rows, one after the other; NULL: all, in their order */
    int64_t at, count, most; /* the block begins at this one, of so many, and no block has more */
    int64_t end;
    double *z, *centred; /* count x dim, count x p */
} sn_blocks;

/* For `count` rows from `first` on; room for a block is taken from `keep`. */
stonet_status sn_blocks_open(sn_blocks *blocks, int64_t first, int64_t count, sn_workspace *keep);
/* Fills in the next block; false: there is none. */
bool sn_blocks_next(sn_blocks *blocks);
