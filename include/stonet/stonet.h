/*
 * stonet: nonlinear sufficient dimension reduction.
 *
 * From many variables X and a response Y to the few numbers Z that keep what X says about Y. This is
 * the one header to include. It has the core: data, spec, fit, use, save; the headers at its end have more.
 * Every call that can fail returns a stonet_status; stonet_last_error() then has one sentence for the user
 * (per thread, valid until the next failing call on that thread). Handles are opaque; their _free functions
 * accept NULL. Other NULL arguments are errors unless it is said that they may be NULL; a getter then gives 0
 * or NULL. Nothing here prints, exits or keeps global state, and different handles may be used from different
 * threads at the same time. After fork() without exec, the child may use what it has inherited with threads =
 * 1; with more it waits for ever if the parent has computed with several, since those threads are not in the
 * child (so it is with every OpenMP program built by GCC).
 *
 *     stonet_data *train = NULL;
 *     stonet_spec *spec = NULL;
 *     stonet_model *model = NULL;
 *     stonet_read_options how = STONET_READ_OPTIONS_INIT;
 *     how.target = "y";
 *     if (stonet_data_read("train.csv", &how, &train) == STONET_OK &&
 *         stonet_spec_create("stonet", &spec) == STONET_OK &&
 *         stonet_spec_set(spec, "dim", "2") == STONET_OK &&
 *         stonet_fit(spec, train, NULL, &model) == STONET_OK) { ... }
 *
 * All matrices are row-major. n is rows (observations), p input columns, q the reduced dimension.
 *
 * Options. A struct of options begins with `size`, its sizeof; start from its STONET_.._INIT, or write
 * {.size = sizeof how, ..}. New members come at the end, so that a program built against an older header goes
 * on working: members it does not know take their defaults. A size of 0, and a larger struct with something
 * set that this library does not know, are errors. Where options may be NULL, NULL is STONET_.._INIT.
 */
#ifndef STONET_STONET_H
#define STONET_STONET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version is said here and nowhere else: CMake, the packages and Python read these three lines. */
#define STONET_VERSION_MAJOR 0
#define STONET_VERSION_MINOR 2
#define STONET_VERSION_PATCH 0
#define STONET_VERSION                                                                                       \
    STONET_TEXT(STONET_VERSION_MAJOR)                                                                        \
    "." STONET_TEXT(STONET_VERSION_MINOR) "." STONET_TEXT(STONET_VERSION_PATCH)
#define STONET_TEXT(number)  STONET_TEXT_(number)
#define STONET_TEXT_(number) #number

#if defined(__GNUC__)
#define STONET_API __attribute__((visibility("default")))
#else
#define STONET_API
#endif

/* ---- status ------------------------------------------------------------------------------------ */

typedef enum stonet_status {
    STONET_OK = 0,
    STONET_ERROR_ARGUMENT,    /* the call, an option or a setting is wrong */
    STONET_ERROR_DATA,        /* the data cannot be used for what was asked */
    STONET_ERROR_IO,          /* a file could not be opened, read or written */
    STONET_ERROR_FORMAT,      /* a file is not what it claims to be */
    STONET_ERROR_MEMORY,      /* memory ran out, or the job would not fit in it */
    STONET_ERROR_NUMERIC,     /* the computation failed: it diverged, or a matrix was singular */
    STONET_ERROR_UNSUPPORTED, /* this method or model cannot do that */
    STONET_ERROR_INTERRUPTED  /* the caller asked to stop and there is no usable result */
} stonet_status;

STONET_API const char *stonet_version(void);
/* Which BLAS does the products, e.g. "OpenBLAS 0.3.21, kernels for SkylakeX"; good until the next call on
   this thread. */
STONET_API const char *stonet_blas(void);
/* The name of a status, e.g. "data error". */
STONET_API const char *stonet_status_name(stonet_status status);
/* One sentence about the last failure on this thread; "" if there was none. */
STONET_API const char *stonet_last_error(void);
/* Frees a string that a stonet call returned as char *. */
STONET_API void stonet_string_free(char *text);
/* Makes the sentence that of stonet_last_error() on this thread and returns the status: for programs that
   pass failures of their own on beside the library's. */
STONET_API stonet_status stonet_fail(stonet_status status, const char *sentence);

/* ---- how to run -------------------------------------------------------------------------------- */

typedef enum stonet_level { STONET_NOTE = 0, STONET_WARNING } stonet_level;

typedef struct stonet_progress {
    const char *stage;      /* what is going on, e.g. "training" */
    int64_t done, total;    /* units of work; total 0 when unknown */
    double loss;            /* training loss, NaN when there is none */
    double validation_loss; /* NaN when there is none */
    double seconds;         /* since the stage began */
} stonet_progress;

typedef struct stonet_run {
    size_t size;
    uint64_t seed; /* default 1 */
    int threads;   /* default 0: OMP_NUM_THREADS, or all cores */
    void (*on_progress)(const stonet_progress *progress, void *user);     /* may be NULL */
    void (*on_message)(stonet_level level, const char *text, void *user); /* may be NULL */
    int (*should_stop)(void *user); /* non-zero: stop soon and keep what is usable; may be NULL */
    void *user;
    struct stonet_checkpoint *checkpoint; /* of stonet_fit, stonet_tune and stonet_compare; NULL: none */
    struct stonet_team *team;             /* the same calls, by several processes; NULL: by this one alone */
} stonet_run;
#define STONET_RUN_INIT                                                                                      \
    {                                                                                                        \
        .size = sizeof(stonet_run), .seed = 1                                                                \
    }

/* ---- data -------------------------------------------------------------------------------------- */

typedef struct stonet_data stonet_data;

typedef enum stonet_header {
    STONET_HEADER_AUTO = 0, /* judged from the content: names of numbers alone (2019,2020) look like a row */
    STONET_HEADER_YES,
    STONET_HEADER_NO
} stonet_header;

typedef struct stonet_read_options {
    size_t size;
    const char *target;      /* target column(s): names or 1-based numbers, comma separated; NULL: none */
    const char *target_file; /* targets in a file of their own, one row a row; NULL: none */
    int threads;             /* 0: OMP_NUM_THREADS, or all cores; what is read does not depend on it */
    stonet_header header;    /* whether the first line of a text file has the names of the columns */
    const char *na;          /* more words for missing cells, comma separated: "unknown,-999"; NULL: none */
    int drop_missing_target; /* non-zero: rows without a target are left out; else they are an error */
    /* Which columns are features: lists as for the target, with ranges of numbers (3-7) too; NULL: all. */
    const char *features; /* these and no others, */
    const char *drop;     /* and not these */
    const char *id;       /* the column that names the rows, no feature: see stonet_data_id; NULL: none */
    const char *const
        *ordinal;        /* n_ordinal texts "COL=low,mid,high": columns of text whose values have this */
    int64_t n_ordinal;   /* order; each becomes one feature, the rank, and a target ordered classes */
    const char *season;  /* columns of dates whose time of the year counts too */
    int own_target;      /* non-zero, and `target` NULL: with a model, the target is the model's own */
    const char *weights; /* the column of weights (stonet_data_set_weights), by name or number; NULL: none */
    struct stonet_team *team; /* whose ranks all read this file now: of numbers that are mapped, each looks at
                                 a part for those that are infinite or missing; NULL: none */
    int64_t max_bytes; /* that a gzipped file, a member of an archive or a pipe may give; 0: gzipped files at
                          most 32 times their size, and 256 MiB in any case */
    int (*should_stop)(void *user); /* non-zero: stop soon, with STONET_ERROR_INTERRUPTED; may be NULL */
    void *user;
    const char *group; /* the column of groups (stonet_data_set_groups), by name or number, no feature; NULL:
                          none */
    int open_target;   /* non-zero: an empty target is a bound of a time that is open (task=interval) */
} stonet_read_options;
#define STONET_READ_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        .size = sizeof(stonet_read_options)                                                                  \
    }

/* Reads .csv .tsv .txt .asc .npy .npz, IDX or svmlight (libsvm), each also gzipped, or shards. A plain .npy
   of float32 in row order, all of it features, is not copied but mapped, and so is a target file that is a
   plain .npy of float64: such a file must not be written to
   while the handle is in use (to replace it under the same name is harmless). Calls that find it changed
   fail; a file cut short in the middle of a call ends the process. A feature cell is missing when it is
   empty, NA, N/A, NaN, null, ? or . (in capitals or not): what becomes of it is the setting "missing" of the
   spec. */
STONET_API stonet_status stonet_data_read(const char *path, const stonet_read_options *options,
                                          stonet_data **out);
/* Wraps x (n x p, row-major float32; NaN: missing) without copying: x must outlive the handle. */
STONET_API stonet_status stonet_data_wrap(const float *x, int64_t n, int64_t p, stonet_data **out);
/* The same for float64, which the library rounds to float32 as it always does, but after centring where a
   column is far from 0 for its spread (1000000.25, 1000000.5, ..); half as much memory again is taken. */
STONET_API stonet_status stonet_data_wrap_double(const double *x, int64_t n, int64_t p, stonet_data **out);
/* Names of the p columns; copied. */
STONET_API stonet_status stonet_data_set_names(stonet_data *data, const char *const *names);
/* Class codes 0..n_classes-1 for the n rows and the labels they stand for, all different; copied. For
   task=ordinal the labels go from low to high. */
STONET_API stonet_status stonet_data_set_classes(stonet_data *data, const int32_t *codes,
                                                 const char *const *labels, int64_t n_classes);
/* Numeric targets, n x m; copied. Of two columns the second may be infinite: for task=interval, a time
   without an upper bound. */
STONET_API stonet_status stonet_data_set_targets(stonet_data *data, const double *y, int64_t m);
/* What each of the n rows counts, from 0 on, in fits and scores: a whole number as so many rows the same.
   Copied. Methods without a weighted form refuse tables that have weights. */
STONET_API stonet_status stonet_data_set_weights(stonet_data *data, const double *weights);
STONET_API const double *stonet_data_weights(const stonet_data *data); /* NULL: every row counts 1 */
/* Rows that belong together, such as those of one patient: the n rows with the same number are never parted
   when rows are held out, in fits, tuning, comparing and calibrating. Copied. Rows that are exact copies of
   each other stay together without it. */
STONET_API stonet_status stonet_data_set_groups(stonet_data *data, const int64_t *groups);
STONET_API int64_t stonet_data_rows(const stonet_data *data);
/* The feature columns, 0 .. count - 1, each of numbers or of text; targets are not among them. */
STONET_API int64_t stonet_data_columns(const stonet_data *data);
STONET_API const char *stonet_data_column_name(const stonet_data *data, int64_t column);
/* How many cells of a column are missing; -1: of all columns. */
STONET_API int64_t stonet_data_missing(const stonet_data *data, int64_t column);
/* How many rows were left out as drop_missing_target says. */
STONET_API int64_t stonet_data_dropped(const stonet_data *data);
/* The n numbers of a column, NaN where they are missing; fails when it is text. */
STONET_API stonet_status stonet_data_column_numbers(const stonet_data *data, int64_t column, double *values);
/* The n codes of a text column (-1: missing) and how many texts they stand for; NULL when it is a column of
   numbers. */
STONET_API const int32_t *stonet_data_column_codes(const stonet_data *data, int64_t column, int64_t *n_texts);
STONET_API const char *stonet_data_column_text(const stonet_data *data, int64_t column, int64_t code);
/* What names the rows (stonet_read_options.id, or for a model the column that named its training rows, if it
   is there): its column's name, and the text of a row as it stands in the file; NULL: nothing does. */
STONET_API const char *stonet_data_id_name(const stonet_data *data);
STONET_API const char *stonet_data_id(const stonet_data *data, int64_t row);
/* The given rows (0-based, any order, repeats allowed) as data of their own; copied. */
STONET_API stonet_status stonet_data_subset(const stonet_data *data, const int64_t *rows, int64_t count,
                                            stonet_data **out);
STONET_API void stonet_data_free(stonet_data *data);

/* The features as one matrix, n x stonet_data_columns; NULL when a column is text or the table is sparse. */
STONET_API const float *stonet_data_x(const stonet_data *data);
/* Numeric targets, n x m; NULL when there are none. */
STONET_API const double *stonet_data_targets(const stonet_data *data, int64_t *m);
/* Class codes of the rows, NULL when the target is not categorical. */
STONET_API const int32_t *stonet_data_classes(const stonet_data *data, int64_t *n_classes);
STONET_API const char *stonet_data_class_label(const stonet_data *data, int64_t code);
/* Writes features and target as .csv or .npy (by the ending; .gz compresses). The truth is not written: as a
   column it would be taken for a feature. */
STONET_API stonet_status stonet_data_write(const stonet_data *data, const char *path);

/* ---- what to fit ------------------------------------------------------------------------------- */

typedef struct stonet_spec stonet_spec;

STONET_API stonet_status stonet_spec_create(const char *method, stonet_spec **out);
/* Settings by name: "dim", "scale", "task", "missing", "learner", "learner.NAME" and the method's own. */
STONET_API stonet_status stonet_spec_set(stonet_spec *spec, const char *name, const char *value);
/* Takes method and settings from a JSON config file; later stonet_spec_set calls override it. */
STONET_API stonet_status stonet_spec_read(const char *path, stonet_spec **out);
/* The same from the text itself. */
STONET_API stonet_status stonet_spec_parse(const char *json, stonet_spec **out);
/* The spec as JSON, as stonet_spec_parse takes it. Free with stonet_string_free. NULL on failure. */
STONET_API char *stonet_spec_json(const stonet_spec *spec);
/* Whether stonet_fit will want data with a response: 0 for methods that do not look at it (pca, autoencoder),
   unless a learner or a task is set. A model fitted without one gives Z and no predictions. */
STONET_API int stonet_spec_needs_response(const stonet_spec *spec);
STONET_API stonet_status stonet_spec_copy(const stonet_spec *spec, stonet_spec **out);
STONET_API void stonet_spec_free(stonet_spec *spec);
/* All methods, learners and common settings with types, defaults, ranges, help and tuning grids, as JSON. */
STONET_API char *stonet_methods_json(void);

/* ---- fit ------------------------------------------------------------------------------------- */

typedef struct stonet_model stonet_model;

typedef enum stonet_outcome {
    STONET_DONE = 0, /* ran to its end */
    STONET_STOPPED,  /* stopped early on request; the model so far is usable */
    STONET_DIVERGED  /* diverged; this is the last good model */
} stonet_outcome;

/* run may be NULL for the defaults. */
STONET_API stonet_status stonet_fit(const stonet_spec *spec, const stonet_data *train, const stonet_run *run,
                                    stonet_model **out);
/* Trains a model that is a network (method "stonet" without a learner) further, from where it stands, on rows
   that came later: `epochs` passes over them alone, at the lr and weight decay of the first fit, without the
   final full-data stage. If the first fit chose its epochs, the weights then go from where they were towards
   the new ones by twice the share that these rows are of all so far. Encoding, scaling and classes stay as
   they are. On failure the model is unchanged.
 */
STONET_API stonet_status stonet_fit_more(stonet_model *model, const stonet_data *more, const stonet_run *run);
STONET_API stonet_outcome stonet_model_outcome(const stonet_model *model);
STONET_API int64_t stonet_model_dim(const stonet_model *model);     /* columns of Z */
STONET_API int64_t stonet_model_outputs(const stonet_model *model); /* classes, or regression outputs */
STONET_API int64_t stonet_model_inputs(const stonet_model *model);  /* input columns it was fitted on */
/* Which of them the model looks at: used (inputs; may be NULL) gets 1 or 0, the number of ones is given back.
   Others than all after select=group, or when a column looked like an identifier. -1: memory ran out. */
STONET_API int64_t stonet_model_support(const stonet_model *model, unsigned char *used);
STONET_API int stonet_model_is_classifier(const stonet_model *model);
/* What the model was fitted on: the names of its input columns and of its targets. */
STONET_API const char *stonet_model_input_name(const stonet_model *model, int64_t input);
STONET_API int64_t stonet_model_targets(const stonet_model *model);
STONET_API const char *stonet_model_target_name(const stonet_model *model, int64_t target);
STONET_API const char *stonet_model_class_label(const stonet_model *model, int64_t code);

/* ---- use ------------------------------------------------------------------------------------- */

/* How to use a model. Draws, activated and impute are for stonet_transform; the others refuse them. Level and
   by_class are for stonet_predict_interval, stonet_predict_set and what stonet_score says of these. */
typedef struct stonet_use_options {
    size_t size;
    int threads;        /* 0: OMP_NUM_THREADS, or all cores; the numbers do not depend on it */
    uint64_t seed;      /* of draws and impute; default 1 */
    int64_t draws;      /* 0: the mean (noise-free pass); M > 0: M stochastic passes, stacked (M*n rows) */
    int activated;      /* non-zero: the units behind Z, after the activation; for fits with named layers */
    int impute;         /* non-zero: imputed Y_h given the data's own response */
    double level;       /* share of new rows whose response is to be in its interval or set; 0: 0.9 */
    int by_class;       /* non-zero: that share in every class, not over all rows */
    int64_t cell_draws; /* of missing cells, that answers are averaged over; 0: 20 */
    struct stonet_team *team; /* of stonet_transform, stonet_predict and stonet_score; NULL: none */
} stonet_use_options;
#define STONET_USE_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        .size = sizeof(stonet_use_options), .seed = 1                                                        \
    }

/* Reads rows that are to go through the model: its own columns, and the target if the options name one. What
   the model does not use may hold anything (blank responses, notes, huge numbers) and is not in the data. */
STONET_API stonet_status stonet_data_read_for(const stonet_model *model, const char *path,
                                              const stonet_read_options *options, stonet_data **out);
/* Tells by run->on_message what in these rows the model has not met: texts that no training row had, how many
   rows of which column. Fails when the rows cannot go through the model. */
STONET_API stonet_status stonet_check_rows(const stonet_model *model, const stonet_data *data,
                                           const stonet_run *run);
/* Whether these may be the rows that the model was fitted on: as many, and of the same means. Errors, tests
   and intervals from those are better than they would be from new rows. */
STONET_API stonet_status stonet_model_met(const stonet_model *model, const stonet_data *data, int *met);
/* z has n x q floats (draws M > 0: M*n x q). options may be NULL, here and below. */
STONET_API stonet_status stonet_transform(const stonet_model *model, const stonet_data *data,
                                          const stonet_use_options *options, float *z);
/* Regression: out n x m in units of y. Classification: n x C probabilities, those of a calibrated model
   corrected by its temperature. */
STONET_API stonet_status stonet_predict(const stonet_model *model, const stonet_data *data,
                                        const stonet_use_options *options, double *out);
/* Filled as far as `size` says; start from STONET_SCORES_INIT. NaN: not for this response, or not for this
   model. */
typedef struct stonet_scores {
    size_t size;
    int64_t n;
    int is_classifier;
    double error_rate, accuracy, log_loss;   /* classification */
    double mse, mse_scaled, r2, correlation; /* regression */
    double balanced_accuracy;                /* mean over the classes that have rows of the share found */
    double brier;                            /* mean over the rows of sum_c (p_c - 1{y = c})^2, from 0 to 2 */
    double calibration_error; /* sum over 15 bins of equal width of the largest probability, weighted by
                                 their rows, of |share that is right - mean largest probability|; of survival:
                                 at the quartiles of the seen times, the mean over fifths of the rows by their
                                 promised survival of |its mean - Kaplan-Meier's| */
    double auc;               /* area under the ROC curve; several classes: mean of each against the rest */
    double level;             /* of the intervals or sets of a calibrated model: what was asked for, */
    double coverage;          /* the share of rows whose response is in its interval (all of them) or set, */
    double width;             /* and the mean width, in units of y, or the mean number of classes in a set */
    /* Of the responses of responses.h; NaN for others. */
    double log_likelihood;               /* survival, interval, count: mean over the rows */
    double concordance, uno;             /* survival: Harrell's and Uno's C */
    double integrated_brier;             /* survival: to the last event, rows weighted for censoring */
    double deviance, deviance_explained; /* count: mean over the rows; part of that of one rate for all */
    double rank_error, kappa;            /* ordinal: mean |rank - rank predicted|, and quadratic kappa */
} stonet_scores;
#define STONET_SCORES_INIT                                                                                   \
    {                                                                                                        \
        .size = sizeof(stonet_scores)                                                                        \
    }

STONET_API stonet_status stonet_score(const stonet_model *model, const stonet_data *data,
                                      const stonet_use_options *options, stonet_scores *scores);

/* How many rows of class i (true) are given class j (most probable): table[i * C + j]. */
STONET_API stonet_status stonet_confusion(const stonet_model *model, const stonet_data *data,
                                          const stonet_use_options *options, int64_t *table);

/* ---- save ------------------------------------------------------------------------------------ */

STONET_API stonet_status stonet_model_save(const stonet_model *model, const char *path);
STONET_API stonet_status stonet_model_load(const char *path, stonet_model **out);
/* The hash in the file of a loaded model, which a load compares with all of its content; NULL: the model came
   from no file, or from one of a version before hashes, in which damage goes unnoticed. */
STONET_API const char *stonet_model_hash(const stonet_model *model);
/* A text of the program around the library that travels in the model's file, UTF-8: R keeps its formula
   there. It is copied, and replaces the one before; NULL: none. */
STONET_API stonet_status stonet_model_set_note(stonet_model *model, const char *text);
STONET_API const char *stonet_model_note(const stonet_model *model);
/* The model file as bytes in memory (for pickling). Free with stonet_bytes_free. */
STONET_API stonet_status stonet_model_save_bytes(const stonet_model *model, unsigned char **bytes,
                                                 size_t *size);
STONET_API stonet_status stonet_model_load_bytes(const unsigned char *bytes, size_t size, stonet_model **out);
STONET_API void stonet_bytes_free(unsigned char *bytes);

/* Everything about a model as JSON. Free with stonet_string_free. NULL on failure. */
STONET_API char *stonet_model_json(const stonet_model *model);
/* The training history as CSV text, one row an epoch; NULL when the method has none. */
STONET_API char *stonet_model_history_csv(const stonet_model *model);
STONET_API void stonet_model_free(stonet_model *model);

#ifdef __cplusplus
}
#endif

/* More, each part in a header of its own. */
#include <stonet/around.h>       /* numbers as text, random orders and the like */
#include <stonet/calibrate.h>    /* intervals, sets, spreads, standard errors */
#include <stonet/compare.h>      /* tune and compare */
#include <stonet/export.h>       /* other formats, the numbers inside a model */
#include <stonet/importance.h>   /* which variables, and what the columns of Z mean */
#include <stonet/independence.h> /* tests of independence and of sufficiency */
#include <stonet/jobs.h>         /* checkpoints, several processes */
#include <stonet/order.h>        /* how many dimensions */
#include <stonet/report.h>       /* the page */
#include <stonet/responses.h>    /* censored times, counts, ordered classes */
#include <stonet/tables.h>       /* tables column by column, sparse rows, shards, generators */
#endif
