/*
 * The one interface of every dimension-reduction method. A method is one file with one `const sn_method` and
 * one line in methods/registry.c.
 *
 * fit gets scaled data and returns an opaque state; transform maps scaled rows to Z; predict is only for
 * methods with an output of their own (others get a learner on Z from the model room).
 */
#pragma once

#include <stdbool.h>

#include "base/params.h"
#include "base/run.h"
#include "base/store.h"
#include "data/problem.h"

typedef struct sn_fit_result {
    void *state; /* freed with the method's own free */
    int64_t dim; /* columns of Z: at most as many as wanted (a method says so when it is less) */
    stonet_outcome outcome;
} sn_fit_result;

typedef struct sn_transform_request {
    int64_t draws;      /* 0: the mean */
    int64_t first_draw; /* the number of the first of them, from 0 */
    bool activated;
    bool impute; /* with label or y */
    const int32_t *label;
    const double *y; /* scaled as in sn_problem */
    uint64_t seed;
    int threads;
    int64_t first_row; /* the number of the first row in the whole table: keys the noise */
    int64_t table;     /* rows of the whole table: those of one draw in z */
} sn_transform_request;

/* One entry of a method's tuning grid, "NAME=a,b,c" as the user would write it (select/grid.h). */
typedef struct sn_grid_entry {
    const char *text;
    unsigned tasks; /* SN_TASK_* where it matters */
} sn_grid_entry;

enum { SN_MAX_GRID_ENTRIES = 6 };

struct sn_candidate; /* methods/spectral.h */

typedef struct sn_method {
    const char *name;
    const char *title;  /* long name with the source, e.g. "Sliced inverse regression (Li 1991)" */
    const char *python; /* its class in Python, "A|B" for one of each task; NULL: it has none */
    unsigned tasks;     /* SN_TASK_* */
    bool multi_output;  /* takes several numeric targets */
    bool weighted;      /* rows may count differently (problem->weight) */
    bool unsupervised;  /* does not look at the response, which may be missing (problem->outputs is then 0) */
    bool by_rows; /* fetches its rows batch by batch (data/rows.h): problem->x may be NULL in fit and fit_more
                   */
    bool redraws; /* is trained on draws of missing cells (sn_batch.draw), so its answers are averaged over
                     them */
    /* Whether missing=auto is missing=joint for such a problem; NULL: never. */
    bool (*joins)(const sn_settings *settings, const sn_problem *problem);
    bool shares;           /* the ranks of the run's team fit it together */
    bool shares_landmarks; /* the same with the setting "landmarks" */
    bool keeps;            /* puts what it has done so far into the checkpoint of the run */
    bool nested;           /* Z of k columns is the first k of more, and linear in x: every k costs little */
    bool chooses_levels;   /* levels=default is levels=auto: it chooses what it can on held-out rows anyway */
    double effort;         /* of a fit to a middling table, beside other methods; 0: little */
    const sn_param *params;
    size_t n_params;
    sn_grid_entry grid[SN_MAX_GRID_ENTRIES]; /* what is worth tuning; none where nothing is */
    /* NULL with a candidate matrix. Runs with the OpenMP threads of the calling thread set to those of the
     * run (the model room does it), which is not NULL. */
    stonet_status (*fit)(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result);
    /* Trains the state further on other rows, `share` of all so far; NULL when the method cannot. */
    stonet_status (*fit_more)(void *state, const sn_problem *problem, double share,
                              const sn_settings *settings, const stonet_run *run, stonet_outcome *outcome);
    /* x n x p, z n x dim. request is NULL unless has_draws. */
    stonet_status (*transform)(const void *state, const float *x, int64_t n,
                               const sn_transform_request *request, float *z);
    bool has_draws; /* understands a non-NULL request */
    /* Own output, or NULL: out n x C probabilities, or n x m scaled targets. z: n x dim, what transform gives
     * without a request; NULL: not wanted. */
    stonet_status (*predict)(const void *state, const float *x, int64_t n, float *z, double *out);
    /* Standard deviations of Y given x, n x m in units of the scaled targets, or NULL; a state that has none
       of its own says so with STONET_ERROR_UNSUPPORTED. */
    stonet_status (*spread)(const void *state, const float *x, int64_t n, double *out);
    stonet_status (*save)(const void *state, sn_store *store);
    stonet_status (*load)(const sn_store *store, void **state);
    void (*free)(void *state);
    sn_sizes (*sizes)(const void *state);
    /* The candidate matrix of a method that is an eigenproblem, for rules that choose the dimension; else
       NULL. */
    const struct sn_candidate *candidate;
    /* Sets used[j] for the features that the state looks at; NULL: all. */
    void (*features)(const void *state, bool *used);
    /* Training history as CSV text, one row an epoch, or NULL. */
    const char *(*history)(const void *state);
} sn_method;

/* The method's own fit, or that of its candidate matrix (methods/spectral.h). run may be NULL. */
stonet_status sn_method_fit(const sn_method *method, const sn_problem *problem, int64_t dim,
                            const sn_settings *settings, const stonet_run *run, sn_fit_result *result);

/* NULL when there is none of that name. */
const sn_method *sn_method_find(const char *name);
size_t sn_method_count(void);
const sn_method *sn_method_at(size_t index);
