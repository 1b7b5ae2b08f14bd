/*
 * Settings and methods by the error on rows that were held out.
 */
#ifndef STONET_COMPARE_H
#define STONET_COMPARE_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tune and compare -------------------------------------------------------------------------- */

/* What is minimised on held-out rows. */
typedef enum stonet_criterion {
    STONET_CRITERION_AUTO = 0, /* error rate for classes, mse for numbers, log loss for times, counts and
                                  ordered classes */
    STONET_CRITERION_ERROR_RATE,
    STONET_CRITERION_LOG_LOSS,    /* minus the log likelihood of a row */
    STONET_CRITERION_MSE,         /* in units of y */
    STONET_CRITERION_DISCORDANCE, /* of times: 1 - Harrell's C */
    STONET_CRITERION_DEVIANCE     /* of counts */
} stonet_criterion;

/* A grid is an array of "NAME=a,b,c" with any setting stonet_spec_set takes (dim and learner.NAME too);
   values that are lists themselves are separated by ';' instead: "hidden=100;200,50". Settings that change
   together share an entry, "NAME/NAME=a/b,c/d". In stonet_compare an entry may be for one method only,
   "METHOD:NAME=a,b,c", and one without a method is for all methods that have its settings. A NULL grid is the
   built-in one of the method (stonet_methods_json has it). */
typedef struct stonet_tune_options {
    size_t size;
    int folds;               /* 0: 5 */
    const char *const *grid; /* NULL: the method's built-in grid */
    int64_t n_grid;
    int64_t trials; /* 0: every point of the grid; N: N of its points drawn at random */
    stonet_criterion criterion;
} stonet_tune_options;
#define STONET_TUNE_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        .size = sizeof(stonet_tune_options)                                                                  \
    }

typedef struct stonet_compare_options {
    size_t size;
    int folds;                         /* 0: 5; not used with `test` */
    const stonet_data *test;           /* one given test set instead of folds; NULL: folds */
    const stonet_tune_options *tuning; /* how to tune each spec inside each training part (its criterion is
                                          not used); NULL: not at all */
    stonet_criterion criterion;
    /* Chooses the dimension of a spec anew inside each training part, so that no test row has a say in it:
       stonet_order_dim, or the caller's own (several threads call it at a time). NULL: as the specs say. Not
       together with tuning. */
    stonet_status (*choose_dim)(const stonet_spec *spec, const stonet_data *train, const stonet_run *run,
                                int64_t *dim);
    const int *open_dims; /* n_specs: non-zero where choose_dim is asked; NULL: for all specs */
} stonet_compare_options;
#define STONET_COMPARE_OPTIONS_INIT                                                                          \
    {                                                                                                        \
        .size = sizeof(stonet_compare_options)                                                               \
    }

typedef struct stonet_results stonet_results;

typedef struct stonet_result_row {
    const char *method;
    int64_t dim;          /* as asked for; 0: chosen inside each training part */
    const char *settings; /* JSON object: the settings that make this row, without method and dim */
    double mean, se;      /* of the criterion over the splits that finished; se NaN with fewer than two */
    double seconds;       /* fit and prediction, summed over the splits */
    double p_value;       /* paired t-test against the best row, corrected for folds sharing rows (Nadeau and
                             Bengio); NaN for the best, in stonet_tune, and where nothing varies */
    int64_t n_values;     /* splits */
    const double *values; /* the criterion on each split; NaN where it failed or was not reached */
    const char *failure;  /* why a split failed; NULL when none did */
} stonet_result_row;

/* Fits spec with each point of the grid on each of k folds (stratified by class), in parallel over the jobs,
   each job on one thread; the same numbers for any run->threads. A point that fails becomes a row with a
   failure. When the caller stops it, what is finished is kept (stonet_results_outcome says so). */
STONET_API stonet_status stonet_tune(const stonet_spec *spec, const stonet_data *data,
                                     const stonet_tune_options *options, const stonet_run *run,
                                     stonet_results **out);
/* Fits each of the specs (methods, dimensions) on the same splits. With tuning, the best settings are sought
   anew inside each training part, so no test row has a say in them. A spec that fails becomes a row with a
   failure, even when all do. */
STONET_API stonet_status stonet_compare(const stonet_spec *const *specs, int64_t n_specs,
                                        const stonet_data *data, const stonet_compare_options *options,
                                        const stonet_run *run, stonet_results **out);
/* Whether stonet_compare can start: fails as it would for a wrong grid, criterion, response or number of
   folds, without fitting anything. */
STONET_API stonet_status stonet_compare_check(const stonet_spec *const *specs, int64_t n_specs,
                                              const stonet_data *data, const stonet_compare_options *options);
STONET_API int64_t stonet_results_rows(const stonet_results *results);
/* Fills *row; its pointers live as long as results. */
STONET_API stonet_status stonet_results_row(const stonet_results *results, int64_t index,
                                            stonet_result_row *row);
STONET_API int64_t stonet_results_best(const stonet_results *results); /* row of the smallest mean, or -1 */
/* The first row whose mean exceeds the best one's by at most so many standard errors of their difference over
   the splits, or -1. With a grid in the order from simple to flexible: the simplest settings that are as
   good. */
STONET_API int64_t stonet_results_simplest(const stonet_results *results, double standard_errors);
STONET_API stonet_outcome stonet_results_outcome(const stonet_results *results);
STONET_API const char *stonet_results_criterion(const stonet_results *results); /* e.g. "error_rate" */
/* The spec of a row, for stonet_fit or stonet_spec_json. Free with stonet_spec_free. */
STONET_API stonet_status stonet_results_spec(const stonet_results *results, int64_t index, stonet_spec **out);
/* What predicted from Z in this row, "kernel" or, where the splits chose differently, "kernel 4, linear 1";
   NULL: the method itself. It lives as long as results. */
STONET_API const char *stonet_results_learner(const stonet_results *results, int64_t index);
/* All rows: a JSON array with one object a row (method, dim, settings, learner, mean, se, seconds, p_value,
   values, failure; chosen: the tuned settings, or the chosen dim, of each split), or CSV. Free with
   stonet_string_free. */
STONET_API char *stonet_results_json(const stonet_results *results);
STONET_API char *stonet_results_csv(const stonet_results *results);
STONET_API void stonet_results_free(stonet_results *results);

#ifdef __cplusplus
}
#endif
#endif
