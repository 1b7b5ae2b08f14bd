/*
 * How many dimensions are enough: a table over k = 0, 1, .., the k that a rule chooses from it, and why. The
 * public calls stonet_order_* live in this room; each rule is one file.
 */
#pragma once

#include "methods/spectral.h"
#include "select/jobs.h"

enum { SN_ORDER_COLUMNS = 6 };

struct stonet_order_result {
    const char *rule;   /* its word */
    const char *method; /* name of the method */
    int64_t rows, columns, chosen;
    const char *name[SN_ORDER_COLUMNS]; /* of the columns; the first is "k" */
    double *value;                      /* rows x columns; NaN where there is nothing to say */
    char reason[512];                   /* one sentence */
};

/* What a rule works on. The problem is NULL for rules that fit whole models. */
typedef struct sn_order_job {
    const stonet_spec *spec;
    const stonet_data *data;
    const sn_problem *problem;
    const stonet_run *run;
    int64_t max;       /* the largest k to look at; 0: as the rule has it */
    double level;      /* of tests */
    int64_t resamples; /* 0: as the rule has it */
    int folds;
} sn_order_job;

/* A table of `rows` rows for k = first, first + 1, .., of NaN, with these names of the columns after k. */
stonet_status sn_order_table(stonet_order_result *result, int64_t first, int64_t rows, int64_t columns,
                             const char *const *names);
/* The cell of a row and a column. */
double *sn_order_cell(stonet_order_result *result, int64_t row, int64_t column);

/* Eigenvalue k of a solved candidate, from 0, as the rules want it: (value - noise) / scale, 0 where that is
   negative or cannot differ from 0. */
double sn_order_eigenvalue(const sn_solved *solved, int64_t k);

/* The rules; each fills the table, the choice and the reason. */
stonet_status sn_order_criteria(const sn_order_job *job, stonet_order_result *result);
stonet_status sn_order_ladle(const sn_order_job *job, stonet_order_result *result);
stonet_status sn_order_augmentation(const sn_order_job *job, stonet_order_result *result);
stonet_status sn_order_tests(const sn_order_job *job, stonet_order_result *result);
stonet_status sn_order_folds(const sn_order_job *job, stonet_order_result *result);
stonet_status sn_order_independence(const sn_order_job *job, stonet_order_result *result);

/* Fits each of the dimensions on the training rows of each split: model[split * count + i], zeroed before,
   the caller's to free. */
stonet_status sn_order_fit(const sn_order_job *job, const sn_splits *splits, const int64_t *k, int64_t count,
                           stonet_model **model);

/* p-value of "no direction at all" by the best test there is for the method; NaN when there is none. */
stonet_status sn_order_none(const sn_order_job *job, double *p_value);
