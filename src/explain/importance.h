/*
 * Which variables matter to a fitted model, by the model alone or by fits without them. Public calls
 * stonet_importance_* live in this room; each kind is one file. A text column is one variable: its indicator
 * features go together.
 */
#pragma once

#include "base/workspace.h"
#include "math/noise.h"
#include "model/model.h"

struct stonet_importance_result {
    int64_t variables, dim; /* dim 0: nothing is said of the single columns of Z */
    char **name;
    double *value, *error; /* variables each: importance for the prediction and its standard error */
    double *z;             /* variables x dim */
    double *p_value;       /* p-values and, after them, q-values, variables each; NULL: the kind has none */
};

/* A model with rows to ask it about. The arrays live in a workspace of the caller. */
typedef struct sn_asked {
    const stonet_model *model;
    const stonet_run *run;
    int64_t n, p, outputs, dim;
    float *x;       /* n x p, encoded */
    int32_t *label; /* classification */
    double *y;      /* regression: n x outputs, in units of y; or */
    double *seen;   /* what the law of times or counts knows (stats/law.h), n x SN_LAW_SEEN */
    int64_t variables;
    const sn_input **variable; /* the inputs of the schema that have features */
    int64_t repeats;           /* 0: as the kind has it */
    const stonet_data *data;   /* the rows, */
    const stonet_data *train;  /* and those that refits are of */
    /* What each row counts, 1 on average, and the sums up to and with each over n; NULL: all the same. */
    double *weight, *share;
} sn_asked;

/* The rows of a table for a model; the arrays live in `keep`. */
stonet_status sn_asked_create(const stonet_model *model, const stonet_data *data, sn_workspace *keep,
                              sn_asked *out);

/* Loss of each row (log loss, minus the log likelihood of times and counts, or squared error over the
   training variance of y, averaged over the outputs) at the encoded features x (n x p). rows: the numbers of
   these rows in `asked`; NULL: all, in order. z (n x dim) gets their Z; NULL: not wanted. */
stonet_status sn_asked_losses(const sn_asked *asked, const float *x, const int64_t *rows, int64_t n, float *z,
                              double *loss);

/* The weighted mean of a number of each row, and with its standard error over the rows as they are. */
double sn_asked_average(const sn_asked *asked, const double *values);
/* The weighted variance of a column of numbers that lie so far apart. */
double sn_asked_variance(const sn_asked *asked, const float *values, int64_t apart);
void sn_asked_mean(const sn_asked *asked, const double *values, double *mean, double *error);
static inline double sn_asked_weight(const sn_asked *asked, int64_t row)
{
    return asked->weight != NULL ? asked->weight[row] : 1.0;
}
/* n rows in random order; of weighted ones, each place one drawn by the weights. */
void sn_asked_shuffle(const sn_asked *asked, sn_random *random, int64_t *order);
/* A row, drawn by the weights. */
int64_t sn_asked_draw(const sn_asked *asked, sn_random *random);

/* The memory of a worker that tries one variable after the other. */
typedef struct sn_tries {
    float *x;               /* n x p: the rows as they are, and so again after each try */
    double *after, *growth; /* n */
    float *moved;           /* n x dim */
    int64_t *order;         /* n */
} sn_tries;

/* Tries variable j; stopped: for sn_should_stop_shared. */
typedef stonet_status (*sn_try)(const void *job, int64_t j, sn_tries *at, int *stopped);
/* Each variable that the model looks at, on workers side by side. stage: what the progress is called; NULL:
   none is told. */
stonet_status sn_asked_try_each(const sn_asked *asked, const char *stage, sn_try try, const void *job);

/* Fills an empty result by the kind that the options name. */
stonet_status sn_importance_measure(const stonet_model *model, const stonet_data *all,
                                    const stonet_importance_options *how, const stonet_run *run,
                                    stonet_importance_result *result);
/* Adds to the errors of a result what fits on other rows than those of `how->train` would change. */
stonet_status sn_importance_add_fit_error(const stonet_model *model, const stonet_data *data,
                                          const stonet_importance_options *how, const stonet_run *run,
                                          stonet_importance_result *result);

/* The kinds: value and error, and z where dim is not 0. */
stonet_status sn_importance_permutation(const sn_asked *asked, stonet_importance_result *result);
stonet_status sn_importance_gradient(const sn_asked *asked, stonet_importance_result *result);
stonet_status sn_importance_shapley(const sn_asked *asked, stonet_importance_result *result);
stonet_status sn_importance_refit(const sn_asked *asked, stonet_importance_result *result);
stonet_status sn_importance_stability(const sn_asked *asked, stonet_importance_result *result);
stonet_status sn_importance_conditional(const sn_asked *asked, stonet_importance_result *result);
stonet_status sn_importance_vip(const sn_asked *asked, stonet_importance_result *result);
