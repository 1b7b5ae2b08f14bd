/*
 * The state of every linear method: Z = (x - centre) B, with the spectrum and the dimension tests that led to
 * B. transform, save, load, free and sizes have the signatures of sn_method and can be used there as they
 * are.
 */
#ifndef SN_METHODS_LINEAR_MAP_H
#define SN_METHODS_LINEAR_MAP_H

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

/* Copies centre (NULL: the origin) and direction (p x dim). */
stonet_status sn_linear_map_create(int64_t p, int64_t dim, const double *centre, const double *direction,
                                   sn_linear_map **out);
stonet_status sn_linear_map_set_values(sn_linear_map *map, int64_t n_values, const double *value);
stonet_status sn_linear_map_set_tests(sn_linear_map *map, int64_t n_tests, const double *test);

stonet_status sn_linear_map_transform(const void *state, const float *x, int64_t n,
                                      const sn_transform_request *request, float *z);
stonet_status sn_linear_map_save(const void *state, sn_store *store);
stonet_status sn_linear_map_load(const sn_store *store, void **state);
void sn_linear_map_free(void *state);
sn_sizes sn_linear_map_sizes(const void *state);

/* Hands the map over as the result of a fit. */
void sn_linear_map_finish(sn_linear_map *map, sn_fit_result *result);

/* The smaller of the wanted and the available number of directions; warns, with the reason `why`, when fewer
   exist than were wanted. */
int64_t sn_limit_dim(const stonet_run *run, const char *method, int64_t wanted, int64_t available,
                     const char *why);

/* Rows of x (n x p) as doubles less the centre: out[i] = x[row[i]] - centre; row NULL means rows first,
   first+1,
   ... */
void sn_centred_rows(const float *x, int64_t p, const double *centre, const int64_t *row, int64_t first,
                     int64_t count, double *out);
/* How many rows of p doubles make a block of a few megabytes: large enough for BLAS, small beside the data.
 */
int64_t sn_block_rows(int64_t n, int64_t p);

#endif
