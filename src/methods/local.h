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

/* A weight this small changes nothing that double precision keeps. */
#define SN_NO_WEIGHT 1e-12

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

/* w (n): exp(-D_i / max(2 h^2, D_(2m))) with D the squared distances to row `at` in v (n x m), D_(2m) the
   2m-th smallest and h = bandwidth n^(-1/(m+4)); at least 2m rows so keep a weight. scratch for n. */
void sn_local_weights(const sn_local *local, int64_t m, const double *v, int64_t at, double *w,
                      double *scratch);
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
