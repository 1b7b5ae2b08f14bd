/*
 * How sure a model is: intervals and sets that hold what they promise, spreads, standard errors of Z.
 */
#ifndef STONET_CALIBRATE_H
#define STONET_CALIBRATE_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- how sure ---------------------------------------------------------------------------------- */

/* From which rows a model learns how far its predictions are from the truth. */
typedef enum stonet_calibration {
    STONET_CALIBRATION_AUTO = 0, /* CV for fewer than 5000 rows, else SPLIT */
    STONET_CALIBRATION_CV,       /* its training rows, by refits without each fold (CV+) */
    STONET_CALIBRATION_SPLIT,    /* its training rows, by one refit without a fifth of them */
    STONET_CALIBRATION_FRESH     /* rows that it was not fitted on; nothing is fitted */
} stonet_calibration;

/* What is ranked of a class with probability p: the sets are those classes that are not ranked too high. */
typedef enum stonet_set_score {
    STONET_SETS_APS = 0, /* sum of the larger probabilities and a part of p, drawn by the features */
    STONET_SETS_LAC      /* 1 - p: the smallest sets, which take from the hard rows to give to the easy */
} stonet_set_score;

typedef struct stonet_calibrate_options {
    size_t size;
    stonet_calibration kind;
    int folds; /* of CV; 0: 10 */
    stonet_set_score sets;
} stonet_calibrate_options;
#define STONET_CALIBRATE_OPTIONS_INIT                                                                        \
    {                                                                                                        \
        .size = sizeof(stonet_calibrate_options)                                                             \
    }

/* Gives a model that predicts its intervals (numbers) or sets and the temperature of its probabilities
   (classes), which it keeps in its file. The data must have the response, and must be what the kind says:
   training rows taken for fresh ones make intervals that are too narrow. Refits choose, encode and scale
   anew from the rows they are given; settings that were chosen before, with these rows, are not. With the
   same rows and seed the same bits, for any number of threads. On failure, and when the caller stops it
   (STONET_ERROR_INTERRUPTED), the model is unchanged. What it had before is replaced. */
STONET_API stonet_status stonet_calibrate(stonet_model *model, const stonet_data *data,
                                          const stonet_calibrate_options *options, const stonet_run *run);
STONET_API int stonet_model_is_calibrated(const stonet_model *model);
/* low and high, n x m in units of y: conformal intervals at options->level. The share of new rows, drawn as
   those of the calibration were, whose response is in its interval is at least the level (SPLIT, FRESH), or
   in the worst case 1 - 2 (1 - level) - sqrt(2 / rows) (CV; about the level as a rule). Several outputs share
   the level: all of a row's numbers are in theirs. Infinite when the calibration had too few rows for the
   level: 1 / (1 - level) - 1 are needed. */
STONET_API stonet_status stonet_predict_interval(const stonet_model *model, const stonet_data *data,
                                                 const stonet_use_options *options, double *low,
                                                 double *high);
/* inside, n x C: 1 for the classes in the set of the row, else 0. The same guarantee, in every class with
   by_class (a class with too few rows in the calibration for that is ranked among all rows). No set is empty:
   the most probable class is then in it. */
STONET_API stonet_status stonet_predict_set(const stonet_model *model, const stonet_data *data,
                                            const stonet_use_options *options, unsigned char *inside);
/* The rows of the calibration: those of a class, or all (code -1). 0 when there was none. */
STONET_API int64_t stonet_model_calibration_rows(const stonet_model *model, int64_t code);

/* The share of the calibration's rows of a class, held out when their scores were made, whose set at the
   level has the class, when sets are not made by class; NaN: it has no rows, or the model no sets. */
STONET_API double stonet_model_class_coverage(const stonet_model *model, double level, int64_t code);

/* The standard deviation of y around its prediction, by a model that knows it (method stonet with
   response=location-scale; else STONET_ERROR_UNSUPPORTED): out n x m in units of y. */
STONET_API stonet_status stonet_predict_spread(const stonet_model *model, const stonet_data *data,
                                               const stonet_use_options *options, double *out);

/* Rows with missing cells. A model of method stonet with missing=gaussian gives the mean of Z, and of
   predictions, over draws of these cells given the row's others; here are their standard deviations over the
   draws, z n x q and prediction n x m (or C), either may be NULL. 0 for complete rows, and for models of
   other methods, which are asked once, at what is expected of the cells. */
STONET_API stonet_status stonet_missing_spread(const stonet_model *model, const stonet_data *data,
                                               const stonet_use_options *options, double *z,
                                               double *prediction);

/* Standard errors of Z, n x q for the rows of data: the spread of the Z of `refits` (0: 50) fits of the model
   on halves of its training rows, each turned onto the model's own Z (Z is determined up to a rotation and a
   shift at best). *stability, which may be NULL, is the mean canonical correlation of these Z with the
   model's: near 1 when the same Z is found again. */
STONET_API stonet_status stonet_transform_se(const stonet_model *model, const stonet_data *train,
                                             const stonet_data *data, int64_t refits, const stonet_run *run,
                                             double *se, double *stability);
/* Whether Z comes back: r (q numbers) gets, for every column of Z, the mean over `refits` (0: 2) fits by
   other seeds of the absolute correlation with the column that belongs to it, on the training rows. Near 1:
   the column is one of the data. A column without effect on the output may well be another one next time. */
STONET_API stonet_status stonet_stability(const stonet_model *model, const stonet_data *train, int64_t refits,
                                          const stonet_run *run, double *r);
/* What was fitted, to be fitted again. Free with stonet_spec_free. */
STONET_API stonet_status stonet_model_spec(const stonet_model *model, stonet_spec **out);

#ifdef __cplusplus
}
#endif
#endif
