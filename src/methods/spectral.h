/*
 * The methods that are an eigenproblem (pca, sir, save, dr, phd): each gives the candidate matrix of some
 * rows in the coordinates of whitened x, and the driver does the rest. Rules that choose a dimension call
 * sn_candidate_solve again and again, on resampled or augmented rows, and never make a model.
 */
#pragma once

#include <stdbool.h>

#include "methods/slicing.h"
#include "methods/whitening.h"

/* The settings a sample reads. */
#define SN_PARAM_SLICES                                                                                      \
    {                                                                                                        \
        "slices", SN_INTEGER, "10", 2, 10000, NULL,                                                          \
            "slices of a numeric target (a class target has one slice a class)"                              \
    }
#define SN_PARAM_RIDGE                                                                                       \
    {                                                                                                        \
        "ridge", SN_REAL, "0", 0, 1e6, NULL,                                                                 \
            "added to the diagonal of the correlation matrix of x; needed when p > n"                        \
    }

/* Some rows as a candidate matrix sees them. */
typedef struct sn_sample {
    const sn_problem *problem;
    stonet_team *team; /* whose ranks share out the passes over the rows; NULL: none do */
    double rows;       /* what they count together: n, or the sum of their weights */
    sn_whitening whitening;
    sn_slices slices; /* none (count 0) unless the candidate is sliced */
    double *weight;   /* slices.count: share of the rows */
    double *mean;     /* slices.count x rank: slice means of z */
} sn_sample;

/* E[Z Z' | slice h] (rank x rank, divisor n_h). */
stonet_status sn_sample_second(const sn_sample *sample, int64_t h, double *second);

/* In which form a candidate matrix M (rank x rank) is given. */
typedef enum sn_form {
    SN_FORM_MATRIX,   /* m is M, rank x rank, symmetric */
    SN_FORM_ROOT,     /* m is rows x rank, M = m'm */
    SN_FORM_STACK,    /* m is rows x rank, symmetric blocks on top of each other; M = (m'm)^(1/2) */
    SN_FORM_DIAGONAL, /* m is the diagonal of M (rank), descending */
} sn_form;

typedef struct sn_matrix {
    sn_form form;
    int64_t rows; /* of m, where the form has them */
    double *m;
    int64_t most; /* eigenvalues that can differ from 0; 0: all */
    /* Eigenvalues of all methods are of one kind after (value - noise) / scale: what sir has in [0, 1]. */
    double noise, scale;
} sn_matrix;

/* The eigenvalues of a candidate matrix, descending, and its eigenvectors in the sample's coordinates. */
typedef struct sn_eigen {
    int64_t count;     /* of the values that can differ from 0 */
    int64_t available; /* of those that do */
    double *value;     /* count */
    int64_t columns;   /* of vector, count at least */
    double *vector;    /* rank x columns, orthonormal columns */
} sn_eigen;

/* What a spectral method is, beside its settings. */
typedef struct sn_candidate {
    bool sliced;       /* compares slices of the response; reads the setting "slices" */
    bool as_it_is;     /* x is centred and turned only; else it is whitened and "ridge" is read */
    const char *limit; /* why there are no more directions than there are; NULL: the rank of x */
    /* The matrix of a sample, in arrays of `keep`; noise 0, scale 1 unless set. */
    stonet_status (*matrix)(const sn_sample *sample, const sn_settings *settings, sn_workspace *keep,
                            sn_matrix *out);
    /* The tests for normal x and no ridge; NULL when their law is not known. */
    stonet_status (*tests)(const sn_sample *sample, const sn_matrix *matrix, const sn_eigen *eigen,
                           sn_tests *tests);
    /* The same statistics for x of any law. Their law is a mixture of chi-squares with weights w_j; statistic
       and degrees of freedom are given for the chi-square with its mean and variance (Satterthwaite):
       T sum w / sum w^2 and (sum w)^2 / sum w^2. count stays 0 where that cannot be had. NULL: not known. */
    stonet_status (*general)(const sn_sample *sample, const sn_settings *settings, const sn_matrix *matrix,
                             const sn_eigen *eigen, sn_tests *tests);
} sn_candidate;

/* The entries of an sn_method that is an eigenproblem, shared out by ranks, of any response; and of those
   that slice it. */
#define SN_SPECTRAL_METHOD                                                                                   \
    .multi_output = true, .weighted = true, .shares = true, .candidate = &candidate, SN_LINEAR_MAP_STATE
#define SN_SLICING_METHOD .tasks = SN_TASK_BOTH | SN_TASK_SLICES, SN_PARAMS_OF(params), SN_SPECTRAL_METHOD

/* A candidate matrix of some rows, solved. Arrays live in the workspace it was made with; matrix.m is used
   up. */
typedef struct sn_solved {
    sn_sample sample;
    sn_matrix matrix;
    sn_eigen eigen;
} sn_solved;

/*
 * Everything from the rows to the eigenvectors: centring, whitening, slicing, the candidate matrix, its
 * spectrum, of a method that has one. `settings` are its own; run may be NULL (no warnings). Depends on the
 * problem and the settings alone. STONET_ERROR_DATA when the rows have no direction (constant x, a single
 * slice, equal slice means).
 */
stonet_status sn_candidate_solve(const sn_method *method, const sn_problem *problem,
                                 const sn_settings *settings, const stonet_run *run, sn_workspace *keep,
                                 sn_solved *out);
/* The first `count` eigenvectors (p x count) in coordinates that can be compared between samples of the same
   columns: those of the symmetric whitening. */
stonet_status sn_solved_vectors(const sn_solved *solved, int64_t count, double *vector);
