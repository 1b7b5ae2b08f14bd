/*
 * Local linear regression in whitened x, for opg and mave: at each anchor row j, weights fall off with the
 * distance in a reduced space v, and y ~ a_j + b_j'(u - u_j) is fitted by weighted least squares.
 */
#pragma once

#include "methods/whitening.h"

/* The settings that sn_local_opg reads, and the entries of an sn_method that has these. */
enum { SN_LOCAL_PARAMS = 4 };
extern const sn_param sn_local_params[SN_LOCAL_PARAMS];
#define SN_LOCAL_METHOD                                                                                      \
    .params = sn_local_params, .n_params = SN_LOCAL_PARAMS,                                                  \
    .grid = {{"bandwidth=0.6,1.2,2.4", SN_TASK_BOTH}, {"subspace=mean,central", SN_TASK_REGRESSION}},        \
    SN_LINEAR_METHOD

typedef struct sn_local {
    sn_whitening whitening;
    int64_t n, rank, responses, anchors;
    double *z;       /* n x rank: whitened x */
    double *y;       /* n x responses, centred */
    int64_t *anchor; /* anchors: row numbers */
    double bandwidth;
    int threads;
    double *value;  /* rank: eigenvalues of the gradients' second moment, and */
    double *vector; /* rank x rank: its eigenvectors as columns */
} sn_local;

/* Sums about one anchor row, d_i = u_i - u_at, or (1, u_i - u_at) where there is no intercept to take off. */
typedef struct sn_local_bench {
    int64_t width, block; /* of d; rows that are multiplied at a time */
    double ridge;
    double *second;      /* width x width: sum_i w_i d_i d_i' + ridge I */
    double *cross;       /* width x responses: sum_i w_i d_i (y_i - intercept)' */
    double *w, *scratch; /* n: the weights */
    double *row, *left;  /* block x width, block x responses */
} sn_local_bench;

/* Its arrays, with width, block and ridge filled in. */
stonet_status sn_local_bench_create(const sn_local *local, sn_workspace *keep, sn_local_bench *bench);
/* With weights by the distance from row `at` in v (n x m). */
void sn_local_sums(const sn_local *local, int64_t m, const double *v, const double *u, int64_t at,
                   const double *intercept, sn_local_bench *bench);
/* Coefficients (anchors x (q + 1) x responses; intercept first) of the local fits on u (n x q), weighted in
   v (n x m), with the ridge I/n. */
stonet_status sn_local_fit(const sn_local *local, int64_t m, const double *v, int64_t q, const double *u,
                           double *coefficient);
/* sum over anchors and responses of b b' (q x q) from such coefficients. */
void sn_local_outer(const sn_local *local, int64_t q, const double *coefficient, double *outer);

/* All of it: x whitened, of which n / log n principal components are kept at the most (that is said), and the
   outer product of gradients, after weights in spaces that shrink from rank to *dim, which is limited to the
   rank. The arrays live in `keep`. */
stonet_status sn_local_opg(const sn_problem *problem, const char *method, const sn_settings *settings,
                           const stonet_run *run, sn_workspace *keep, sn_local *local, int64_t *dim);
