/*
 * stonet: nonlinear sufficient dimension reduction.
 *
 * From many variables X and a response Y to the few numbers Z that keep what X says about Y. This is
 * the only public header. Every call that can fail returns a stonet_status; stonet_last_error() then
 * has one sentence for the user (per thread, valid until the next failing call on that thread).
 * Handles are opaque; their _free functions accept NULL. Other NULL arguments are errors unless it is said
 * that they may be NULL; a getter then gives 0 or NULL. Nothing here prints, exits or keeps global state, and
 * different handles may be used from different threads at the same time. After fork() without exec, the child
 * may use what it has inherited with threads = 1; with more it waits for ever if the parent has computed with
 * several, since those threads are not in the child (so it is with every OpenMP program built by GCC).
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
/* Which BLAS does the products, e.g. "OpenBLAS 0.3.21, kernels for SkylakeX"; good until the next call on this
   thread. */
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

/* ---- options: see above ------------------------------------------------------------------------ */

/* clang-format off */
#define STONET_RUN_INIT             {.size = sizeof(stonet_run), .seed = 1}
#define STONET_READ_OPTIONS_INIT    {.size = sizeof(stonet_read_options)}
#define STONET_USE_OPTIONS_INIT     {.size = sizeof(stonet_use_options), .seed = 1}
#define STONET_SCORES_INIT          {.size = sizeof(stonet_scores)}
#define STONET_TUNE_OPTIONS_INIT    {.size = sizeof(stonet_tune_options)}
#define STONET_COMPARE_OPTIONS_INIT {.size = sizeof(stonet_compare_options)}
#define STONET_INDEPENDENCE_OPTIONS_INIT \
    {.size = sizeof(stonet_independence_options), .features = 5, .repeats = 1, .permutations = 1000}
#define STONET_ORDER_OPTIONS_INIT   {.size = sizeof(stonet_order_options), .level = 0.05}
#define STONET_IMPORTANCE_OPTIONS_INIT {.size = sizeof(stonet_importance_options)}
#define STONET_COEF_OPTIONS_INIT    {.size = sizeof(stonet_coef_options)}
#define STONET_CALIBRATE_OPTIONS_INIT  {.size = sizeof(stonet_calibrate_options)}
#define STONET_REPORT_OPTIONS_INIT  {.size = sizeof(stonet_report_options)}
/* clang-format on */

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

/*
 * A file with the work that is done so far. The same call with the same data, options and seed goes on from
 * it, on any number of threads, to the same bits as one that was never ended; a call with others fails. (A
 * fit may have another dim, and takes what it has in common with the one before.) The file is replaced as a
 * whole, and synced. It is not removed at the end of the call: do that when the model or the table is where
 * it should be.
 */
typedef struct stonet_checkpoint stonet_checkpoint;

/* Reads the file if it is there. every: seconds after which it is written anew; less than 0: 60. path NULL:
   no file, for fits in a row that differ in dim alone, which then share one training. */
STONET_API stonet_status stonet_checkpoint_open(const char *path, double every, stonet_checkpoint **out);
/* Removes the file; the handle is still to be freed. */
STONET_API stonet_status stonet_checkpoint_remove(stonet_checkpoint *checkpoint);
STONET_API void stonet_checkpoint_free(stonet_checkpoint *checkpoint);

/*
 * Several processes (ranks 0 .. R-1, started by mpirun of Open MPI) that do one job together. Each makes the
 * same calls with the same arguments, and gets the same result, to the bit what one process alone would get.
 * What MPI needs is in a shared object of its own, libstonet-mpi.so, which is loaded by stonet_team_join. A
 * rank on which a call fails must leave with stop_all, since the others wait for it.
 */
typedef struct stonet_team stonet_team;

/* *out is NULL for a process that was started alone. */
STONET_API stonet_status stonet_team_join(stonet_team **out);
STONET_API int stonet_team_rank(const stonet_team *team);  /* NULL: 0 */
STONET_API int stonet_team_ranks(const stonet_team *team); /* NULL: 1 */
/* Waits until all ranks have called it, but no longer than so many seconds (less than 0: for ever); non-zero:
   all have. */
STONET_API int stonet_team_meet(stonet_team *team, double seconds);
/* The last call of a process; stop_all: ends all ranks at once, this one too. */
STONET_API void stonet_team_leave(stonet_team *team, int stop_all);

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
    int64_t n_ordinal;   /* order; each becomes one feature, the rank */
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
} stonet_read_options;

/* Reads .csv .tsv .txt .asc .npy .npz, IDX or svmlight (libsvm), each also gzipped, or shards. A plain .npy
   of float32 in row order, all of it features, is not copied but mapped, and so is a target file that is a
   plain .npy of float64: such a file must not be written to
   while the handle is in use (to replace it under the same name is harmless). Calls that find it changed
   fail; a file cut short in the middle of a call ends the process. A feature cell is missing when it is
   empty, NA, N/A, NaN, null, ? or . (in capitals or not): what becomes of it is the setting "missing" of the
   spec. */
STONET_API stonet_status stonet_data_read(const char *path, const stonet_read_options *options,
                                          stonet_data **out);
/* Cuts a table into shards while reading it, with room for `rows` rows (rounded up to a multiple of 1024) in
   memory: .npy files in a new folder, with an index of names, texts and the response, target of the options.
   stonet_data_read takes the folder, or its index.json, for the table; the numbers and the response are
   mapped, as if they were one .npy (see there), and what becomes of which column has been settled. rows and
   files that were written in *total and *shards; both may be NULL. */
STONET_API stonet_status stonet_shards_write(const char *path, const stonet_read_options *options,
                                             int64_t rows, const char *folder, int64_t *total,
                                             int64_t *shards);
/* Wraps x (n x p, row-major float32; NaN: missing) without copying: x must outlive the handle. */
STONET_API stonet_status stonet_data_wrap(const float *x, int64_t n, int64_t p, stonet_data **out);
/* The same for float64, which the library rounds to float32 as it always does, but after centring where a
   column is far from 0 for its spread (1000000.25, 1000000.5, ..); half as much memory again is taken. */
STONET_API stonet_status stonet_data_wrap_double(const double *x, int64_t n, int64_t p, stonet_data **out);
/* Wraps a sparse table, of which most numbers are 0, without copying: the cells that are kept of row i are
   start[i] .. start[i + 1] - 1 (start has n + 1 numbers and begins with 0), with the 0-based column,
   ascending within the row, and the value of each, finite. Method stonet takes such rows batch by batch; the
   others need a copy of all numbers. */
STONET_API stonet_status stonet_data_wrap_sparse(const int64_t *start, const int32_t *column,
                                                 const float *value, int64_t n, int64_t p, stonet_data **out);
/* A table from columns of any kinds, one after the other. The arrays, texts and names are read by
   stonet_data_end and must live until then; the data has copies. Columns have names, all different, or none
   of them has (NULL) and they go by position.

       stonet_columns *columns = NULL;
       stonet_data *train = NULL;
       stonet_read_options how = {.size = sizeof how, .target = "price"};
       if (stonet_data_begin(n, &columns) == STONET_OK &&
           stonet_data_add_numbers(columns, "area", area) == STONET_OK &&
           stonet_data_add_texts(columns, "town", town) == STONET_OK &&
           stonet_data_add_numbers(columns, "price", price) == STONET_OK)
           stonet_data_end(columns, &how, &train);
       stonet_columns_free(columns); */
typedef struct stonet_columns stonet_columns;
STONET_API stonet_status stonet_data_begin(int64_t rows, stonet_columns **out);
/* n numbers; NaN is a missing cell. Flags are 0 and 1. */
STONET_API stonet_status stonet_data_add_numbers(stonet_columns *columns, const char *name,
                                                 const double *values);
/* n dates: days since 1970-01-01, the time of the day as a fraction; NaN is a missing cell. */
STONET_API stonet_status stonet_data_add_dates(stonet_columns *columns, const char *name, const double *days);
/* n texts, categories as a rule; NULL is a missing cell. */
STONET_API stonet_status stonet_data_add_texts(stonet_columns *columns, const char *name,
                                               const char *const *texts);
/* The same as codes 0 .. n_texts - 1 and what they stand for; -1 is a missing cell. ordered: the texts go
   from low to high, and the column becomes one feature, the rank, instead of one for each text. */
STONET_API stonet_status stonet_data_add_codes(stonet_columns *columns, const char *name,
                                               const int32_t *codes, const char *const *texts,
                                               int64_t n_texts, int ordered);
/* Makes the table. options as for stonet_data_read, as far as they are not about files: the target is among
   the columns, by name or 1-based number, or is set afterwards (stonet_data_set_targets, _set_classes). */
STONET_API stonet_status stonet_data_end(const stonet_columns *columns, const stonet_read_options *options,
                                         stonet_data **out);
STONET_API void stonet_columns_free(stonet_columns *columns);
/* Names of the p columns; copied. */
STONET_API stonet_status stonet_data_set_names(stonet_data *data, const char *const *names);
/* Class codes 0..n_classes-1 for the n rows and the labels they stand for, all different; copied. */
STONET_API stonet_status stonet_data_set_classes(stonet_data *data, const int32_t *codes,
                                                 const char *const *labels, int64_t n_classes);
/* Numeric targets, n x m; copied. */
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

/* A built-in generator, "NAME", or "NAME:P" for P columns instead of its usual number; truth
   (n x *truth_columns, owned by the data) is the known sufficient predictor. */
STONET_API stonet_status stonet_generate(const char *name, int64_t rows, uint64_t seed, stonet_data **out);
STONET_API const double *stonet_data_truth(const stonet_data *data, int64_t *truth_columns);
/* The features as one matrix, n x stonet_data_columns; NULL when a column is text or the table is sparse. */
STONET_API const float *stonet_data_x(const stonet_data *data);
/* Numeric targets, n x m; NULL when there are none. */
STONET_API const double *stonet_data_targets(const stonet_data *data, int64_t *m);
/* Class codes of the rows, NULL when the target is not categorical. */
STONET_API const int32_t *stonet_data_classes(const stonet_data *data, int64_t *n_classes);
STONET_API const char *stonet_data_class_label(const stonet_data *data, int64_t code);
/* The generators as a JSON array: name, help, task, columns, least_columns, truth (columns of it). */
STONET_API char *stonet_generators_json(void);
/* Writes features and target as .csv or .npy (by the ending; .gz compresses). The truth is not written: as a
   column it would be taken for a feature. */
STONET_API stonet_status stonet_data_write(const stonet_data *data, const char *path);
/* Writes an n x m matrix as .csv (with the given column names) or .npy, atomically. */
STONET_API stonet_status stonet_matrix_write(const char *path, const double *values, int64_t n, int64_t m,
                                             const char *const *names);
/* Writes bytes as a file, atomically (a path ending in .gz compresses). */
STONET_API stonet_status stonet_bytes_write(const char *path, const void *bytes, size_t size);
/* Whether a file could be written there now: fails as the writing would, and leaves nothing behind. */
STONET_API stonet_status stonet_path_check(const char *path);

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

/* ---- fit and use ------------------------------------------------------------------------------- */

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

/* Reads rows that are to go through the model: its own columns, and the target if the options name one. What
   the model does not use may hold anything (blank responses, notes, huge numbers) and is not in the data. */
STONET_API stonet_status stonet_data_read_for(const stonet_model *model, const char *path,
                                              const stonet_read_options *options, stonet_data **out);
/* The same for columns in memory (stonet_data_begin). */
STONET_API stonet_status stonet_data_end_for(const stonet_model *model, const stonet_columns *columns,
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
                                 their rows, of |share that is right - mean largest probability| */
    double auc;               /* area under the ROC curve; several classes: mean of each against the rest */
    double level;             /* of the intervals or sets of a calibrated model: what was asked for, */
    double coverage;          /* the share of rows whose response is in its interval (all of them) or set, */
    double width;             /* and the mean width, in units of y, or the mean number of classes in a set */
} stonet_scores;

STONET_API stonet_status stonet_score(const stonet_model *model, const stonet_data *data,
                                      const stonet_use_options *options, stonet_scores *scores);

/* How many rows of class i (true) are given class j (most probable): table[i * C + j]. */
STONET_API stonet_status stonet_confusion(const stonet_model *model, const stonet_data *data,
                                          const stonet_use_options *options, int64_t *table);

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

/* Models for programs that do not have this library. */
typedef enum stonet_export_format {
    STONET_EXPORT_ONNX = 0,   /* a graph with the columns as inputs by name; outputs z, and prediction, or
                                 probabilities and label */
    STONET_EXPORT_C,          /* a file of C99 that needs nothing else */
    STONET_EXPORT_JSON,       /* for people: the columns, and every step with its numbers */
    STONET_EXPORT_ONNX_MATRIX /* as ONNX, with one matrix of float32 as input; of numbers alone */
} stonet_export_format;
STONET_API stonet_status stonet_export_format_find(const char *name, stonet_export_format *format);
/* The model as a file of another format, encoding of columns and scaling included; what comes out is Z and
   the prediction of stonet_transform and stonet_predict without options, to about 1e-6. `name` (NULL:
   "model") begins the names of a C file. Free with stonet_bytes_free. STONET_ERROR_UNSUPPORTED when the model
   is no closed formula, or has a part that the format has no place for. */
STONET_API stonet_status stonet_model_export(const stonet_model *model, stonet_export_format format,
                                             const char *name, unsigned char **bytes, size_t *size);

/* Everything about a model as JSON. Free with stonet_string_free. NULL on failure. */
STONET_API char *stonet_model_json(const stonet_model *model);
/* The training history as CSV text, one row an epoch; NULL when the method has none. */
STONET_API char *stonet_model_history_csv(const stonet_model *model);
STONET_API void stonet_model_free(stonet_model *model);

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

/* Standard errors of Z, n x q for the rows of data: the spread of the Z of `refits` (0: 50) fits of the model
   on halves of its training rows, each turned onto the model's own Z (Z is determined up to a rotation and a
   shift at best). *stability, which may be NULL, is the mean canonical correlation of these Z with the
   model's: near 1 when the same Z is found again. */
STONET_API stonet_status stonet_transform_se(const stonet_model *model, const stonet_data *train,
                                             const stonet_data *data, int64_t refits, const stonet_run *run,
                                             double *se, double *stability);
/* What was fitted, to be fitted again. Free with stonet_spec_free. */
STONET_API stonet_status stonet_model_spec(const stonet_model *model, stonet_spec **out);

/* ---- the numbers inside a model ----------------------------------------------------------------- */

/* The columns as the method sees them: numbers, and one for each text of a text column. */
STONET_API int64_t stonet_model_features(const stonet_model *model);
STONET_API const char *stonet_model_feature_name(const stonet_model *model, int64_t feature);
/* The directions b of a linear reduction, features x dim, for the features in their own units:
   Z_ik = constant_k + sum_j x_ij b_jk. STONET_ERROR_UNSUPPORTED when Z is no linear function of them. */
STONET_API stonet_status stonet_model_directions(const stonet_model *model, double *directions);

/* All tensors of a model by the names they have in its file: "schema.*" (centre, factor, ..), "method.*",
   "learner.*". A copy, which lives on without the model. */
typedef struct stonet_tensors stonet_tensors;
enum { STONET_MAX_RANK = 4 };

STONET_API stonet_status stonet_model_tensors(const stonet_model *model, stonet_tensors **out);
STONET_API int64_t stonet_tensors_count(const stonet_tensors *tensors);
STONET_API const char *stonet_tensors_name(const stonet_tensors *tensors, int64_t index);
/* The extents, row-major, and how many of them there are. */
STONET_API stonet_status stonet_tensors_shape(const stonet_tensors *tensors, const char *name,
                                              int64_t shape[STONET_MAX_RANK], int *rank);
/* All `count` values as doubles (count must be the product of the extents), and others in their place, which
   must be finite and, where the tensor holds whole numbers, whole. */
STONET_API stonet_status stonet_tensors_get(const stonet_tensors *tensors, const char *name, double *values,
                                            int64_t count);
STONET_API stonet_status stonet_tensors_set(stonet_tensors *tensors, const char *name, const double *values,
                                            int64_t count);
/* The model that has these numbers; checked as one from a file is. */
STONET_API stonet_status stonet_tensors_model(const stonet_tensors *tensors, stonet_model **out);
STONET_API void stonet_tensors_free(stonet_tensors *tensors);

/* ---- tune and compare -------------------------------------------------------------------------- */

/* What is minimised on held-out rows. */
typedef enum stonet_criterion {
    STONET_CRITERION_AUTO = 0, /* error rate for classes, mse for numbers */
    STONET_CRITERION_ERROR_RATE,
    STONET_CRITERION_LOG_LOSS,
    STONET_CRITERION_MSE /* in units of y */
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
/* All rows: a JSON array with one object a row (method, dim, settings, mean, se, seconds, p_value, values,
   failure; chosen: the tuned settings, or the chosen dim, of each split), or CSV. Free with
   stonet_string_free. */
STONET_API char *stonet_results_json(const stonet_results *results);
STONET_API char *stonet_results_csv(const stonet_results *results);
STONET_API void stonet_results_free(stonet_results *results);

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

/* ---- which variables --------------------------------------------------------------------------- */

/* How the importance of a variable is measured; nothing is fitted again but for the last two. */
typedef enum stonet_importance_kind {
    STONET_IMPORTANCE_PERMUTATION = 0, /* growth of the loss when the variable comes from another row */
    STONET_IMPORTANCE_GRADIENT,        /* mean |derivative| of the prediction, for one deviation of it */
    STONET_IMPORTANCE_SHAPLEY,         /* what it takes off the loss, over random orders of the variables */
    STONET_IMPORTANCE_REFIT,           /* growth of the loss when the model is fitted without it */
    STONET_IMPORTANCE_STABILITY /* share of the halves of the rows in which it is selected, see below */
} stonet_importance_kind;

typedef struct stonet_importance_options {
    size_t size;
    stonet_importance_kind kind;
    int64_t repeats; /* permutations (10), pairs of orders (until they settle, 256 at the most), or pairs of
                        halves (50); 0: those */
    const stonet_data *train; /* REFIT: the rows the model was fitted on, with the response; else not used */
} stonet_importance_options;

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
/* An array of variable, importance, se, z1, .. Free with stonet_string_free; NULL on failure. */
STONET_API char *stonet_importance_json(const stonet_importance_result *result);
STONET_API void stonet_importance_free(stonet_importance_result *result);

/* ---- what the columns of Z mean ------------------------------------------------------------------ */

typedef struct stonet_coef_options {
    size_t size;
    int64_t pairs; /* of halves of the rows behind the standard errors of directions; 0: no such errors */
} stonet_coef_options;

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

/* ---- a page to look at -------------------------------------------------------------------------- */

typedef struct stonet_report_options {
    size_t size;
    const char *model_name, *data_name; /* for the heading; NULL: none */
    const char *importance;             /* a kind of importance, or "none"; NULL: permutation */
    const char *order;                  /* what stonet_order_json gave, to be shown; NULL: nothing */
    int64_t points; /* rows that are shown one by one, at the most; 0: 20000. Tables and scores are of all */
} stonet_report_options;

/* One HTML page with everything in it, to be opened from disk without a network: Z by response, predictions,
   scores, importance (asked of at most 2000 rows), coefficients, the training curve, the settings. The rows
   should be such as the model was not fitted on. No text of the data can become markup. *html: free with
   stonet_string_free. */
STONET_API stonet_status stonet_report(const stonet_model *model, const stonet_data *data,
                                       const stonet_report_options *options, const stonet_run *run,
                                       char **html);

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

/* ---- for programs around the library ------------------------------------------------------------ */

/* Random numbers that depend on seed and stream alone (streams keep uses apart; at most 2^48 - 1): a random
   order of 0 .. n-1, and standard normals. */
STONET_API stonet_status stonet_permutation(uint64_t seed, uint64_t stream, int64_t n, int64_t *order);
STONET_API stonet_status stonet_normals(uint64_t seed, uint64_t stream, int64_t count, double *values);
/* The shortest text that reads back as the same number, with a decimal point in every locale; the length. */
enum { STONET_NUMBER_SIZE = 32 };
STONET_API size_t stonet_number_text(double value, char text[STONET_NUMBER_SIZE]);
/* A text as a cell of a CSV file, in quotes where it would not come back as it is: handed to `put` in pieces,
   until that answers something else than 0, which is then the result. */
STONET_API int stonet_csv_cell(const char *text, int (*put)(const char *bytes, size_t count, void *user),
                               void *user);
/* The one of the words that is most like a mistyped one; NULL when none is near. */
STONET_API const char *stonet_nearest(const char *word, const char *const *words, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
