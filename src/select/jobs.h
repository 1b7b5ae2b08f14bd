/* Fit-and-score jobs on splits of the rows, many at a time. */
#pragma once

#include <stdatomic.h>

#include "data/folds.h"
#include "model/model.h"

/* Rows to fit on and rows to score on. */
typedef struct sn_split {
    const stonet_data *data;
    sn_rows train, held_out; /* rows of data, lists; or */
    const stonet_data *test; /* all rows of data to fit on, and these instead of held_out; NULL: held_out */
} sn_split;

typedef struct sn_splits {
    sn_split *split;
    int64_t count;
    sn_folds folds; /* behind them */
} sn_splits;

/* The classes of the rows, for stratified folds; label NULL for numeric targets. */
typedef struct sn_strata {
    int32_t *label;
    int64_t n_classes;
    bool is_classifier;
    sn_law_kind law;
} sn_strata;

/* To be freed, here and below, also after a failure. */
stonet_status sn_strata_create(const stonet_spec *spec, const stonet_data *data, sn_strata *out);
void sn_strata_free(sn_strata *strata);
unsigned sn_strata_task(const sn_strata *strata); /* SN_TASK_* */

/* k folds (data/folds.h) of `rows` (NULL: all rows), by the classes. */
stonet_status sn_splits_fold(const stonet_data *data, const sn_rows *rows, const sn_strata *strata, int folds,
                             uint64_t seed, sn_splits *out);
/* One split: all rows of data, scored on test. */
stonet_status sn_splits_test(const stonet_data *data, const stonet_data *test, sn_splits *out);
void sn_splits_free(sn_splits *splits);

/* What a job has found, as it stands in a checkpoint and goes to other ranks: numbers of 8 bytes alone. */
typedef struct sn_found {
    int64_t dim;     /* with open_dim: the one that was chosen */
    int64_t done;    /* value is there; 0 after a failure or when it was not reached */
    int64_t status;  /* of the fit and the score; OK when it was not reached */
    int64_t failed;  /* there is a sentence that says why */
    int64_t learner; /* on Z, as fitted: its place among all learners; past the last: the method predicts */
    double value;    /* the criterion */
    double tie;      /* decides between equal values: log loss, or 0 */
    double seconds;  /* of the fit and the predictions */
} sn_found;

typedef struct sn_job {
    const stonet_spec *spec;
    const sn_split *split;
    bool open_dim; /* the dimension is chosen on the training rows, by choose_dim of the runner */
    sn_found found;
    char *failure; /* NULL: none */
} sn_job;

typedef struct sn_jobs {
    sn_job *job;
    int64_t count;
} sn_jobs;
void sn_jobs_free(sn_jobs *jobs);

/* The dimension for a spec on the rows it is to be fitted on. */
typedef stonet_status sn_choose_dim(const stonet_spec *spec, const stonet_data *train, const stonet_run *run,
                                    int64_t *dim);

/* What the jobs of one call share. */
typedef struct sn_runner {
    const stonet_run *run;
    sn_choose_dim *choose_dim;  /* NULL: no job has an open dimension */
    stonet_criterion criterion; /* never AUTO */
    const char *stage;
    int64_t total; /* jobs of the whole call */
    double start;
    atomic_llong done;
    atomic_bool stop;
    int sets; /* of jobs that were run, so far */
} sn_runner;

/* Runs the jobs in parallel, each on one thread. The caller's functions in run are only called from the
   thread that calls this, so they need not be thread-safe. Jobs that fail for want of memory get a second
   chance alone. The status is about the whole: failures of the jobs are in them. Jobs whose results are in
   the checkpoint of the run are not run again. */
stonet_status sn_jobs_run(sn_runner *runner, const sn_jobs *list);
