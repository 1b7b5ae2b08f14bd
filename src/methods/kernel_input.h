/*
 * What kernel methods are given: their common settings, the features with the points at which the kernel
 * functions lie, the bandwidth, and the limits that all this implies.
 */
#pragma once

#include <stdbool.h>

#include "base/workspace.h"
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

#define SN_PARAMS_OF_KERNEL SN_PARAM_COMPLEXITY, SN_PARAM_BANDWIDTH, SN_PARAM_LANDMARKS

/* The features of a problem as kernel methods take them. */
typedef struct sn_kernel_input {
    int64_t n, p, m; /* rows, columns, kernel functions */
    bool exact;      /* m = n: one kernel function a row */
    double gamma;
    double *x;       /* n x p */
    double *centres; /* m x p; x itself when exact */
} sn_kernel_input;

/* How far rows are from each other: the mean over pairs, or the median (the mean where ties make that 0). */
typedef enum sn_distance_kind { SN_MEAN_DISTANCE, SN_MEDIAN_DISTANCE } sn_distance_kind;

/* Widens x and picks `landmarks` rows (0: exact) as centres; leaves gamma 0. Fails on fewer than two rows.
   The arrays lie in `keep`, here and below. */
stonet_status sn_kernel_rows(const sn_problem *problem, int64_t landmarks, uint64_t seed, sn_workspace *keep,
                             sn_kernel_input *input);
/* Puts `count` of the centres in the place of all, chosen by the seed. */
stonet_status sn_kernel_thin(sn_kernel_input *input, int64_t count, uint64_t seed, uint32_t substream,
                             sn_workspace *keep);
/* The setting "landmarks", 0 for none. */
int64_t sn_landmarks_setting(const sn_settings *settings);
/* The distance between the rows of the input. Fails on rows that are all equal. */
stonet_status sn_kernel_distance(const sn_kernel_input *input, sn_distance_kind kind, uint64_t seed,
                                 double *distance);
/* Rows and centres by the setting "landmarks", gamma from "complexity" and "bandwidth", the distance of this
   kind where that is auto. */
stonet_status sn_kernel_input_create(const sn_problem *problem, const sn_settings *settings,
                                     sn_distance_kind kind, uint64_t seed, sn_workspace *keep,
                                     sn_kernel_input *input);
/* Refuses a fit that has no memory for so many matrices of doubles: n x n (exact), or n x m (landmarks). */
stonet_status sn_kernel_memory(const sn_problem *problem, const sn_settings *settings, const char *method,
                               double exact, double landmarks);
/* The work of a kernel matrix of n x m in p columns: products, and an exponential each. */
static inline double sn_gram_work(int64_t n, int64_t m, int64_t p)
{
    enum { OF_EXPONENTIAL = 20 };
    return (double)n * (double)m * (double)(p + OF_EXPONENTIAL);
}
/* The dimension a fit delivers: dim, or the number of the singular values (descending) that are not rounding
   of the largest, with a warning that says why. Fails when there is none. */
stonet_status sn_kernel_limit(const stonet_run *run, const char *method, int64_t dim, int64_t count,
                              const double *singular, const char *why, int64_t *allowed);
