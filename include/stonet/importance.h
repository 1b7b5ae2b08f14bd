/*
 * Which variables a model uses, and how Z depends on them.
 */
#ifndef STONET_IMPORTANCE_H
#define STONET_IMPORTANCE_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- which variables --------------------------------------------------------------------------- */

/* How the importance of a variable is measured; nothing is fitted again but for refit, stability and the
 * errors of vip. */
typedef enum stonet_importance_kind {
    STONET_IMPORTANCE_PERMUTATION = 0, /* growth of the loss when the variable comes from another row */
    STONET_IMPORTANCE_GRADIENT,        /* mean |derivative| of the prediction, for one deviation of it */
    STONET_IMPORTANCE_SHAPLEY,         /* what it takes off the loss, over random orders of the variables */
    STONET_IMPORTANCE_REFIT,           /* growth of the loss when the model is fitted without it */
    STONET_IMPORTANCE_STABILITY,   /* share of the halves of the rows in which it is selected, see below */
    STONET_IMPORTANCE_CONDITIONAL, /* growth of the loss when it is drawn given the others, with p-values */
    STONET_IMPORTANCE_VIP /* of method pls: its part in the components, by what they explain; 1 on average */
} stonet_importance_kind;

typedef struct stonet_importance_options {
    size_t size;
    stonet_importance_kind kind;
    int64_t repeats; /* permutations (10), pairs of orders (until they settle, 256 at the most), pairs of
                        halves (50), or draws (1,000 at the most); 0: those */
    const stonet_data *train; /* the rows the model was fitted on, with the response. REFIT needs them. With
                                 them se of PERMUTATION, GRADIENT and SHAPLEY has also what another fit would
                                 change, by 20 fits on halves of them; NULL: se is that over the rows alone */
} stonet_importance_options;
#define STONET_IMPORTANCE_OPTIONS_INIT                                                                       \
    {                                                                                                        \
        .size = sizeof(stonet_importance_options)                                                            \
    }

typedef struct stonet_importance_result stonet_importance_result;

typedef struct stonet_importance_row_values {
    const char *variable; /* column of the table; a text column is one variable */
    double importance, se;
    int64_t n_z;     /* columns of Z; 0 for shapley and refit */
    const double *z; /* n_z: for each of them the share of its variance (permutation), or the derivative */
} stonet_importance_row_values;

/* Loss is the log loss, or the squared error over the training variance of y. The data must have the
   response, and should not be the rows the model was fitted on. Stability selection cuts these rows in halves
   again and again, and notes the variables that a group lasso on a network's inputs keeps longest; those with
   a share of 0.75 and more are selected, of which one on the average is there by chance. It asks nothing of
   the model but how columns become numbers. One row for each variable, in the order of the table. The same
   seed gives the same numbers for any number of threads. */
STONET_API stonet_status stonet_importance(const stonet_model *model, const stonet_data *data,
                                           const stonet_importance_options *options, const stonet_run *run,
                                           stonet_importance_result **out);
STONET_API stonet_status stonet_importance_kind_find(const char *name, stonet_importance_kind *kind);
STONET_API int64_t stonet_importance_rows(const stonet_importance_result *result);
/* Fills *row; its pointers live as long as the result. */
STONET_API stonet_status stonet_importance_row(const stonet_importance_result *result, int64_t index,
                                               stonet_importance_row_values *row);
/* Of kind conditional, NaN of the others: the p-value of the response being independent of the variable given
   the other variables, and its q-value. Variables with q-values of a and less have a share of false ones of a
   at most, on the average (Benjamini and Hochberg). They hold whatever the model is, on rows it was not
   fitted on, as far as a Gaussian of normal scores has the law of x. */
STONET_API double stonet_importance_p_value(const stonet_importance_result *result, int64_t index);
STONET_API double stonet_importance_q_value(const stonet_importance_result *result, int64_t index);
/* An array of variable, importance, se, p_value and q_value (conditional), z1, .. Free with
 * stonet_string_free; NULL on failure. */
STONET_API char *stonet_importance_json(const stonet_importance_result *result);
STONET_API void stonet_importance_free(stonet_importance_result *result);

/* ---- what the columns of Z mean ------------------------------------------------------------------ */

typedef struct stonet_coef_options {
    size_t size;
    int64_t pairs; /* of halves of the rows behind the standard errors of directions; 0: no such errors */
} stonet_coef_options;
#define STONET_COEF_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        .size = sizeof(stonet_coef_options)                                                                  \
    }

typedef struct stonet_coef_result stonet_coef_result;

/* A table with a row for each feature, in units of x. Z a linear function of x: its directions (columns
   z1, z2, ..), which need no data; with pairs > 0 also their standard errors (z1_se, ..), by fits on
   complementary halves of the rows, for which data must be the training rows with the response (a warning
   says so when they are not). Any other Z: the mean over the rows of data of its derivatives (z1,
   ..), and the leading directions of E[J'J], J = dZ/dx for features as the model scales them (direction1,
   ..). Of more than 2000 rows that many, drawn by the seed, are looked at. data, options and run may be
   NULL. */
STONET_API stonet_status stonet_coef(const stonet_model *model, const stonet_data *data,
                                     const stonet_coef_options *options, const stonet_run *run,
                                     stonet_coef_result **out);
STONET_API int stonet_coef_is_linear(const stonet_coef_result *result); /* directions, no gradients */
STONET_API int64_t stonet_coef_rows(const stonet_coef_result *result);
STONET_API int64_t stonet_coef_columns(const stonet_coef_result *result);
STONET_API const char *stonet_coef_feature(const stonet_coef_result *result, int64_t row);
STONET_API const char *stonet_coef_column_name(const stonet_coef_result *result, int64_t column);
STONET_API double stonet_coef_value(const stonet_coef_result *result, int64_t row, int64_t column);
/* The part of the trace of E[J'J] that direction k = 1, 2, .. has; NaN where there is none. */
STONET_API double stonet_coef_share(const stonet_coef_result *result, int64_t k);
/* kind ("directions" or "gradients"), pairs, shares and rows (one object a feature). Free with
   stonet_string_free; NULL on failure. */
STONET_API char *stonet_coef_json(const stonet_coef_result *result);
STONET_API void stonet_coef_free(stonet_coef_result *result);

#ifdef __cplusplus
}
#endif
#endif
