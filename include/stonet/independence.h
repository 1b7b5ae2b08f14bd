/*
 * Tests: whether x says anything about y, and whether Z keeps all of it.
 */
#ifndef STONET_INDEPENDENCE_H
#define STONET_INDEPENDENCE_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tests ------------------------------------------------------------------------------------- */

typedef enum stonet_test {
    STONET_TEST_AUTO = 0, /* RIT, or GCM when there is a z */
    STONET_TEST_RIT,      /* x independent of y, by random Fourier features */
    STONET_TEST_RCIT,     /* x independent of (y, z) given z */
    STONET_TEST_RCOT, /* x independent of y given z: the same on y alone, with less power and less noise */
    STONET_TEST_DCOR, /* x independent of y, by distance correlation and permutations */
    STONET_TEST_GCM   /* x independent of y given z: covariances of residuals of ridge regressions on z */
} stonet_test;

/* The law of the statistic under independence. Where few rows decide (rare values, few rows) permutations
   replace the other laws. Given z, only rows with similar z are permuted. */
typedef enum stonet_null_law {
    STONET_NULL_LPB4 = 0,   /* Lindsay-Pilla-Basak, four gammas */
    STONET_NULL_HBE,        /* Hall-Buckley-Eagleson */
    STONET_NULL_GAMMA,      /* Satterthwaite-Welch */
    STONET_NULL_CHI2,       /* standardised statistic against a chi-square; good power, for large n */
    STONET_NULL_PERMUTATION /* no p-value is below 1 / (permutations + 1) */
} stonet_null_law;

typedef struct stonet_independence_options {
    size_t size;
    stonet_test test;
    stonet_null_law null_law;   /* not used by STONET_TEST_DCOR */
    int64_t features;           /* of RIT, RCIT, RCoT: Fourier features of x and of y: 5 */
    int64_t condition_features; /* of z; 0: 100, or 50 a column of z up to 500. Never more than n / 4 */
    int64_t repeats;            /* with fresh features, combined by the Cauchy combination: 1 */
    int64_t permutations;       /* wherever a test permutes: 1000 */
} stonet_independence_options;
#define STONET_INDEPENDENCE_OPTIONS_INIT                                                                     \
    {                                                                                                        \
        .size = sizeof(stonet_independence_options), .features = 5, .repeats = 1, .permutations = 1000       \
    }

typedef struct stonet_independence_result {
    stonet_test test;         /* the one carried out: RIT when z was constant */
    stonet_null_law null_law; /* STONET_NULL_PERMUTATION where rows were permuted, whatever was wished */
    double statistic;         /* mean over the repeats; the distance correlation for STONET_TEST_DCOR */
    double p_value;
    int64_t n;
} stonet_independence_result;

/* Three matrices with the same rows, row by row: x (n x dx), y (n x dy) and z (n x dz), or NULL for no z. */
typedef struct stonet_sides {
    int64_t n, dx, dy, dz;
    const double *x, *y, *z;
} stonet_sides;

/* Tests x independent of y, given z when there is one. A constant x or y gives p = 1. options and run may be
   NULL. The same seed gives the same p-value for any number of threads. */
STONET_API stonet_status stonet_independence(const stonet_sides *sides,
                                             const stonet_independence_options *options,
                                             const stonet_run *run, stonet_independence_result *result);
/* What x adds to a prediction of y from z on rows that were held out. */
typedef struct stonet_prediction_gain {
    double p_value;      /* of (z, x) predicting no better than z, one-sided, paired over ten folds */
    double explained_z;  /* share of the variation of y that z explains; */
    double explained_zx; /* that z and x explain together */
    int64_t n;           /* rows looked at: at most 10,000, drawn by the seed */
} stonet_prediction_gain;

/* Compares a ridge regression on features of z with one on features of z and x, by ten-fold cross-validation.
   y counts with its location, spread and skewness (a column of two values by itself). run may be NULL. */
STONET_API stonet_status stonet_prediction_compare(const stonet_sides *sides, const stonet_run *run,
                                                   stonet_prediction_gain *gain);

typedef struct stonet_sufficiency_result {
    stonet_test test;
    double statistic, p_value;   /* of the response being independent of x given Z */
    stonet_prediction_gain gain; /* of x over Z: a second look, and how much is lost */
} stonet_sufficiency_result;

/* Whether Z = R(X) keeps all that the encoded features say about the response: a small p-value says that it
   does not, gain says how much is lost. Classes are looked at as indicators. The data must have the response,
   should not be the rows the model was fitted on, and need 40 + 10 q rows. options NULL: STONET_TEST_GCM. */
STONET_API stonet_status stonet_sufficiency(const stonet_model *model, const stonet_data *data,
                                            const stonet_independence_options *options, const stonet_run *run,
                                            stonet_sufficiency_result *result);

/* Two-sided p-value of the paired t-test that a and b (n values each) have equal means; 1 when n < 2. */
STONET_API double stonet_paired_t_test(int64_t n, const double *a, const double *b);

#ifdef __cplusplus
}
#endif
#endif
