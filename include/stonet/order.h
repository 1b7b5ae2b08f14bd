/*
 * How many columns Z needs.
 */
#ifndef STONET_ORDER_H
#define STONET_ORDER_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- how many dimensions ----------------------------------------------------------------------- */

/* Rules that choose a dimension. Those marked * read the eigenvalues of a candidate matrix and are for the
   methods pca, sir, save, dr and phd alone. */
typedef enum stonet_order_rule {
    STONET_ORDER_AUTO = 0,     /* ladle for those methods (augmentation for wide data), cv for the others */
    STONET_ORDER_CV,           /* held-out loss with a paired rule of one standard error */
    STONET_ORDER_LADLE,        /* * eigenvalues and the movement of eigenvectors in resamples */
    STONET_ORDER_AUGMENTATION, /* * eigenvalues and the weight of eigenvectors on added noise columns */
    STONET_ORDER_TESTS,        /* * sequential tests; by permutation where their law is not known (dr) */
    STONET_ORDER_BIC,          /* * penalised sums of eigenvalues: lal chooses, zmp and zzf are shown */
    STONET_ORDER_INDEPENDENCE  /* tests of sufficiency on the other half of the rows, for k = 1, 2, .. */
} stonet_order_rule;

typedef struct stonet_order_options {
    size_t size;
    stonet_order_rule rule;
    int64_t max;       /* the largest dimension to look at; 0: as many as the rule and the data allow */
    double level;      /* of the tests: 0.05 */
    int64_t resamples; /* of ladle (200), augmentation (10), permutation tests (199); 0: those */
    int folds;         /* of cv; 0: 5 */
} stonet_order_options;
#define STONET_ORDER_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        .size = sizeof(stonet_order_options), .level = 0.05                                                  \
    }

typedef struct stonet_order_result stonet_order_result;

/* Chooses the dimension for the spec (its own "dim" is not looked at): a table over k = 0, 1, .., the k that
   is chosen and one sentence why. 0 says that nothing in x was found to tell about the response. For a
   flexible network one number can hold the mean and C - 1 numbers the classes: its order is a matter of the
   sample at hand. The same seed gives the same table for any number of threads. */
STONET_API stonet_status stonet_order(const stonet_spec *spec, const stonet_data *data,
                                      const stonet_order_options *options, const stonet_run *run,
                                      stonet_order_result **out);
/* The dimension alone, by the rule that suits the method, and 1 where it says 0: for stonet_compare. */
STONET_API stonet_status stonet_order_dim(const stonet_spec *spec, const stonet_data *data,
                                          const stonet_run *run, int64_t *dim);
STONET_API stonet_status stonet_order_rule_find(const char *name, stonet_order_rule *rule); /* by its word */
STONET_API int64_t stonet_order_chosen(const stonet_order_result *result);
STONET_API const char *stonet_order_rule_name(const stonet_order_result *result); /* that was applied */
STONET_API const char *stonet_order_reason(const stonet_order_result *result);
/* The table; the first column is k, the others depend on the rule. NaN where there is nothing to say. */
STONET_API int64_t stonet_order_rows(const stonet_order_result *result);
STONET_API int64_t stonet_order_columns(const stonet_order_result *result);
STONET_API const char *stonet_order_column_name(const stonet_order_result *result, int64_t column);
STONET_API double stonet_order_value(const stonet_order_result *result, int64_t row, int64_t column);
/* method, rule, chosen, reason and rows (one object a k). Free with stonet_string_free; NULL on failure. */
STONET_API char *stonet_order_json(const stonet_order_result *result);
STONET_API void stonet_order_free(stonet_order_result *result);

#ifdef __cplusplus
}
#endif
#endif
