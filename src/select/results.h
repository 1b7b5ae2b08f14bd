/* Rows of scores: what tune and compare return. */
#pragma once

#include <jansson.h>

#include "select/jobs.h"

typedef struct sn_row {
    stonet_spec *spec;
    bool open_dim;   /* its dimension is chosen in each split */
    char *settings;  /* JSON object */
    sn_found *found; /* n_splits */
    double *value;   /* n_splits: those found, NaN where there is none */
    char *learners;  /* the names of those on Z, with how many splits each where they differ; NULL: none */
    double seconds;
    char *failure;   /* the first one, or NULL */
    json_t **chosen; /* n_splits: tuned settings or chosen dim of each split, or NULL without either */
    double mean, se, p_value;
    int64_t n_done;
} sn_row;

struct stonet_results {
    sn_row *row;
    int64_t n_rows, n_splits, best;
    stonet_criterion criterion;
    stonet_outcome outcome;
    bool compares; /* p-values mean something */
};

/* Rows for the specs (copied), all values NaN. */
stonet_status sn_results_create(const stonet_spec *const *specs, int64_t n_specs, int64_t n_splits,
                                stonet_criterion criterion, stonet_results **out);
/* The dimension of a row for the reader; 0 when it is open. */
int64_t sn_row_dim(const sn_row *row);
/* Takes over what a job found for a row and a split. */
stonet_status sn_results_take(stonet_results *results, int64_t row, int64_t split, sn_job *job);
/* Means, standard errors, the best row and, when it compares, p-values. When no job of any row is done it
   fails, with the first failure as the sentence; a comparison then has rows that say why each one failed. */
stonet_status sn_results_finish(stonet_results *results, bool stopped);
/* The index of the best of n candidates with `splits` jobs each (job[i * splits + k]); -1 when none is done.
   Complete candidates go before others, then the smaller mean, then the smaller tie-breaker, then the first.
 */
int64_t sn_best_of_jobs(const sn_job *job, int64_t n, int64_t splits);
/* The settings that a user or a grid has set, by the names stonet_spec_set takes, without dim. */
json_t *sn_spec_settings_json(const stonet_spec *spec);
/* AUTO becomes the criterion of the task; one that does not fit the task is an error. */
stonet_status sn_criterion_resolve(stonet_criterion wish, const sn_strata *strata, stonet_criterion *out);
