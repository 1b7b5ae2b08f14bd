/*
 * What the kernel methods that end in functions of the form z(x) = A'(k(x) - mean k) share: their common
 * settings, the kernel on the features, and the fitted map with its transform, save and load.
 */
#ifndef SN_METHODS_KERNEL_MAP_H
#define SN_METHODS_KERNEL_MAP_H

#include <stdbool.h>

#include "math/kernel_lowrank.h"
#include "methods/method.h"

/* Rows of every kernel method's parameter table. */
#define SN_PARAM_LANDMARKS                                                                                   \
    {                                                                                                        \
        "landmarks", SN_INTEGER, "none", 2, 1e6, "none",                                                     \
            "rows, chosen by the seed, that span the kernel functions; none: all rows, n x n memory"         \
    }
#define SN_PARAM_COMPLEXITY                                                                                  \
    {                                                                                                        \
        "complexity", SN_REAL, "1", 1e-6, 1e6, NULL,                                                         \
            "c in the kernel exp(-c |x - x'|^2 / (2 s^2)) with s the bandwidth"                              \
    }
#define SN_PARAM_BANDWIDTH                                                                                   \
    {                                                                                                        \
        "bandwidth", SN_REAL, "auto", 1e-12, 1e12, "auto",                                                   \
            "s, a distance between rows of scaled x; auto: the mean over pairs (of 2000 rows at most)"       \
    }

/* A problem of `count` of the rows (all, where there are no more), chosen by the seed: a copy of its own. */
stonet_status sn_problem_part_create(const sn_problem *problem, int64_t count, uint64_t seed,
                                     sn_problem *part);
void sn_problem_part_free(sn_problem *part);

/* The features of a problem as kernel methods take them. */
typedef struct sn_kernel_input {
    int64_t n, p, m; /* rows, columns, kernel functions */
    bool exact;      /* m = n: one kernel function a row */
    double gamma;
    double *x;       /* n x p */
    double *centres; /* m x p; x itself when exact */
} sn_kernel_input;

/* Widens x and picks `landmarks` rows (0: exact) as centres; leaves gamma 0. Fails on fewer than two rows. */
stonet_status sn_kernel_rows_create(const sn_problem *problem, int64_t landmarks, const stonet_run *run,
                                    sn_kernel_input *input);
/* The setting "landmarks", 0 for none. */
int64_t sn_landmarks_setting(const sn_settings *settings);
/* Both with gamma from complexity and bandwidth. Fails on rows that are all equal. */
stonet_status sn_kernel_input_create(const sn_problem *problem, const sn_settings *settings,
                                     const stonet_run *run, sn_kernel_input *input);
/* s from the setting "bandwidth", or the median distance of x (the mean where ties make that 0). */
stonet_status sn_median_bandwidth(const sn_kernel_input *input, const sn_settings *settings, uint64_t seed,
                                  double *s);
void sn_kernel_input_free(sn_kernel_input *input);
/* Refuses a fit that needs more than `matrices` doubles matrices of n x n (exact) or n x m (landmarks). */
stonet_status sn_kernel_memory(const sn_problem *problem, const sn_settings *settings, const char *method,
                               double matrices);

/* Reports that a fit begins its stage `done` of `total`; STONET_ERROR_INTERRUPTED when the caller wants to
 * stop. */
stonet_status sn_kernel_stage(const stonet_run *run, const char *stage, int64_t done, int64_t total);

/* Centred landmark features of the training rows. */
typedef struct sn_features {
    sn_landmarks landmarks;
    double *phi;  /* n x landmarks.rank, columns with mean 0 */
    double *mean; /* landmarks.rank: what was subtracted */
} sn_features;

stonet_status sn_features_create(const sn_kernel_input *input, sn_features *features);
void sn_features_free(sn_features *features);

typedef enum sn_distance_kind { SN_MEAN_DISTANCE, SN_MEDIAN_DISTANCE } sn_distance_kind;

/*
 * The response kernel as K_Y = F F', F n x *rank, freed with sn_free: class indicators of the classes
 * present, or an incomplete Cholesky to 1e-12 of the Gaussian kernel exp(-|y - y'|^2 / (2 s^2)). s is the
 * mean or the median distance of y (the mean also where ties make the median 0). Fails on a response that
 * does not vary.
 */
stonet_status sn_response_factor(const sn_problem *problem, sn_distance_kind scale, uint64_t seed,
                                 double **factor, int64_t *rank);
/* The number of classes that have rows. */
stonet_status sn_classes_present(const sn_problem *problem, int64_t *count);

typedef struct sn_kernel_map {
    int64_t m, p, d;
    double gamma;
    double *centres;      /* m x p */
    double *coefficients; /* m x d */
    double *offset;       /* d */
} sn_kernel_map;

/*
 * z(x) = a'(k(x) - mean), a m x d, mean (m) the training mean of k. `scores` (n x d) are z of the training
 * rows: each column of z is scaled to variance 1 on them and its sign makes the largest score positive.
 */
stonet_status sn_kernel_map_create(int64_t m, int64_t p, const double *centres, double gamma, int64_t d,
                                   const double *a, const double *mean, int64_t n, const double *scores,
                                   sn_kernel_map **out);
/* The same from coefficients a (rank x d, destroyed) of centred features. */
stonet_status sn_features_map(const sn_features *features, int64_t d, double *a, int64_t n,
                              const double *scores, sn_kernel_map **out);
/* z (n x d) of the rows of x (n x p). */
stonet_status sn_kernel_map_scores(const sn_kernel_map *map, int64_t n, const double *x, double *z);

stonet_status sn_kernel_map_transform(const void *state, const float *x, int64_t n,
                                      const sn_transform_request *request, float *z);
stonet_status sn_kernel_map_save(const void *state, sn_store *store);
stonet_status sn_kernel_map_load(const sn_store *store, void **state);
void sn_kernel_map_free(void *state);
sn_sizes sn_kernel_map_sizes(const void *state);

/* The entries of an sn_method whose state is a kernel map. */
#define SN_KERNEL_MAP_STATE                                                                                  \
    .transform = sn_kernel_map_transform, .save = sn_kernel_map_save, .load = sn_kernel_map_load,            \
    .free = sn_kernel_map_free, .sizes = sn_kernel_map_sizes

/* The dimension a fit delivers: dim, or the number of the singular values (descending) that are not rounding
   of the largest, with a warning that says why. Fails when there is none. */
stonet_status sn_kernel_limit(const stonet_run *run, const char *method, int64_t dim, int64_t count,
                              const double *singular, const char *why, int64_t *allowed);

#endif
