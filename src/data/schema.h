/*
 * From a table to the numbers a method sees, and the same way again for new data. A schema knows the columns,
 * the one-hot codes of texts, the indicators of numbers that look like codes, and the centre and scale of
 * every feature. It also knows the classes or the scale of the response. It is fitted on the training rows
 * and lives in the model file.
 */
#pragma once

#include <stdbool.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/store.h"
#include "base/workspace.h"
#include "data/curves.h"
#include "data/frame.h"
#include "data/problem.h"

typedef enum sn_scale {
    SN_SCALE_AUTO,   /* common when all columns are visibly in one unit (images, counts), else column */
    SN_SCALE_COLUMN, /* each column to mean 0 and variance 1 (constant columns to 0) */
    SN_SCALE_COMMON, /* each column centred, all divided by one common scale */
    SN_SCALE_CENTRE, /* centred only */
    SN_SCALE_NONE
} sn_scale;
#define SN_SCALE_WORDS(between) "auto" between "column" between "common" between "centre" between "none"
extern const sn_words sn_scale_words;

typedef enum sn_task_wish {
    SN_TASK_AUTO,
    SN_TASK_WISH_REGRESSION,
    SN_TASK_WISH_CLASSIFICATION,
    SN_TASK_WISH_NONE, /* there is no response, and none is needed */
    SN_TASK_WISH_LAW   /* and on: SN_TASK_WISH_LAW + sn_law_kind, a response with this law */
} sn_task_wish;

/* The law that a wish asks for. */
static inline sn_law_kind sn_wish_law(sn_task_wish wish)
{
    return wish > SN_TASK_WISH_LAW ? (sn_law_kind)(wish - SN_TASK_WISH_LAW) : SN_LAW_NONE;
}

/* What becomes of missing cells. */
typedef enum sn_missing {
    SN_MISSING_ERROR,    /* they are refused */
    SN_MISSING_DROP,     /* rows that have some are left out of the fit; in use as for gaussian */
    SN_MISSING_MEAN,     /* the mean of the column over the training rows that have it */
    SN_MISSING_GAUSSIAN, /* expected or drawn, given the other cells (data/imputer.h) */
    SN_MISSING_JOINT     /* the same; the StoNet is trained on draws given the response too */
} sn_missing;
#define SN_MISSING_WORDS(between) "error" between "drop" between "mean" between "gaussian" between "joint"
extern const sn_words sn_missing_words;

typedef struct sn_schema sn_schema;

/* A numeric column may have this many levels at most. */
enum { SN_MOST_LEVELS = 100 };

/* What the caller wants of a schema. Zero: all is left to the data, and no levels. */
typedef struct sn_encoding {
    sn_scale scale;
    sn_task_wish task;
    /* A numeric column with 3 .. levels distinct values, each in 3 rows or more, keeps its own feature and
       gains an indicator for each value; 0: none does. */
    int64_t levels;
    sn_missing missing;
    /* A column of which more than 5 cells are missing, and more than 5 are there, gains a feature that says
       which. */
    bool indicators;
    sn_curve curves;
    int64_t curve_window;      /* 0: by the length of the curve */
    const char *curve_columns; /* "850-1048,a-z": ranges by name or number, each a curve; NULL: all numbers */
} sn_encoding;

/* Learns the encoding from all rows of `train`. Notes what it decided (task, one-hot, constant columns,
   missing cells) as messages. run may be NULL. */
stonet_status sn_schema_fit(const stonet_data *train, const sn_encoding *wanted, const stonet_run *run,
                            sn_schema **out);
/* Lets go of the responses by which missing cells of the training rows are drawn. */
void sn_schema_forget_response(sn_schema *schema);
void sn_schema_free(sn_schema *schema);
SN_DROP(sn_schema, sn_schema_free)

int64_t sn_schema_features(const sn_schema *schema); /* p after encoding */
int64_t sn_schema_inputs(const sn_schema *schema);   /* columns of the table */
int64_t sn_schema_used(const sn_schema *schema);     /* those that become features */
const char *sn_schema_feature_name(const sn_schema *schema, int64_t feature);
const char *sn_schema_input_name(const sn_schema *schema, int64_t input);
/* "number", "date", "text", "ordered", or "none" for one that is left out. */
const char *sn_schema_input_kind(const sn_schema *schema, int64_t input);
bool sn_schema_has_header(const sn_schema *schema);
sn_task sn_schema_task(const sn_schema *schema);
sn_law_kind sn_schema_law(const sn_schema *schema);
/* Whether the response is no plain numbers or classes: times and counts, but not ordered classes. */
bool sn_schema_has_law(const sn_schema *schema);
const char *sn_schema_task_word(const sn_schema *schema); /* as the setting `task` has it */
int64_t sn_schema_outputs(const sn_schema *schema);       /* C or m */
const char *sn_schema_class_label(const sn_schema *schema, int64_t code);
const char *sn_schema_target_name(const sn_schema *schema, int64_t target);
const char *sn_schema_id_name(const sn_schema *schema); /* the column that named the rows, or NULL */
int64_t sn_schema_targets(const sn_schema *schema);     /* columns of the response */
/* 0-based column of the training file, -1 when the target was elsewhere. */
int64_t sn_schema_target_place(const sn_schema *schema, int64_t target);
double sn_schema_target_mean(const sn_schema *schema, int64_t target);
double sn_schema_target_sd(const sn_schema *schema, int64_t target); /* population sd of the training rows */
/* How rough the curves of these training rows are: the sum of squared steps from channel to channel over
   twice the sum of squares about the row's mean, 1 for noise, near 0 for smooth curves; the mean over some
   rows. The schema has curves. */
stonet_status sn_schema_roughness(const sn_schema *schema, const stonet_data *train, double *out);
/* How curves are prepared; SN_CURVE_NONE: there are none. */
const sn_curves *sn_schema_curves(const sn_schema *schema);
sn_scale sn_schema_scale(const sn_schema *schema);       /* what AUTO became */
int64_t sn_schema_level_inputs(const sn_schema *schema); /* columns that have levels */
sn_missing sn_schema_missing(const sn_schema *schema);
int64_t
sn_schema_indicators(const sn_schema *schema); /* columns with a feature that says which are missing */
bool sn_schema_has_indicator(const sn_schema *schema, int64_t input);
int64_t sn_schema_missing_cells(const sn_schema *schema, int64_t input); /* in the training rows */
/* Whether missing cells have a law to draw them by. */
bool sn_schema_draws(const sn_schema *schema);
const char *sn_schema_na(const sn_schema *schema); /* words for them, or NULL */

/* The classes or the scale of the response alone; missing cells of features do not matter to it. */
stonet_status sn_schema_fit_response(const stonet_data *train, sn_task_wish task, sn_schema **out);

/* The columns that become features: group (used + 1) gets the first feature of each, and p (sn_problem). */
void sn_schema_groups(const sn_schema *schema, int64_t *group);

/* The image that the features together are; rank 0: none. */
sn_image sn_schema_image(const sn_schema *schema);

/* Whether it has a feature that must be centred before it is rounded to float (data/digits.h). */
bool sn_schema_needs_digits(const sn_schema *schema);
/* Whether two of its classes are whole numbers that are the same double: new labels must be texts. */
bool sn_schema_needs_text(const sn_schema *schema);

/* What the first line of a table says. */
typedef struct sn_header {
    const char *source; /* for messages */
    bool has_names;     /* else its columns go by position */
    int64_t n_columns;
    char **name;
    const bool *again;       /* whose name another column has: it has got a number, NAME.2 */
    const int64_t *position; /* where they stand in the file, */
    int64_t width;           /* and how many columns that has: some may not be here */
} sn_header;

/* Sets wanted[j] for the columns that rows need to go through the model, and ordered[j] for those that are
   text with an order; the others may hold anything. */
stonet_status sn_schema_wanted(const sn_schema *schema, const sn_header *header, bool *wanted, bool *ordered);

/* Encodes and scales the features: x n x p. Columns are matched by name when both tables have a header, else
   by position; the training target's own column, if it is still there, is passed over. */
stonet_status sn_schema_encode_x(const sn_schema *schema, const stonet_data *data, float *x);
/* The same for rows first .. first+count-1 alone: x count x p. */
stonet_status sn_schema_encode_rows(const sn_schema *schema, const stonet_data *data, int64_t first,
                                    int64_t count, float *x);
/* Whether a table has as many target columns as the model was fitted on. */
stonet_status sn_schema_check_targets(const sn_schema *schema, const stonet_data *data);
/* The response as the model takes it: label (classification) or y in its units (regression) must have room. A
   label never seen in training is an error that names it. */
stonet_status sn_schema_response(const sn_schema *schema, const stonet_data *data, int32_t *label, double *y);
/* The same with y scaled. */
stonet_status sn_schema_encode_y(const sn_schema *schema, const stonet_data *data, int32_t *label, double *y);
/* The same row by row, as long as table and schema are there; to be cleared. */
stonet_status sn_schema_raw_response(const sn_schema *schema, const stonet_data *data, bool scaled,
                                     sn_raw_response *out);
void sn_raw_response_clear(sn_raw_response *raw);
/* The response of a schema with a law, row by row checked: seen n x SN_LAW_SEEN, scaled, and y (n), a first
   guess at what the network is to see; y may be NULL. */
stonet_status sn_schema_encode_law(const sn_schema *schema, const stonet_data *data, double *seen, double *y);
/* Features and response (where the schema has one) of all rows as a problem in memory; its arrays live in
 * `keep`.
 */
stonet_status sn_schema_problem(const sn_schema *schema, const stonet_data *data, sn_workspace *keep,
                                sn_problem *out);

/* Messages about the texts of new rows that no training row had: how many rows of which column. */
stonet_status sn_schema_tell_unseen(const sn_schema *schema, const stonet_data *data, const stonet_run *run);

/* Under the prefix "schema." */
stonet_status sn_schema_save(const sn_schema *schema, sn_store *store);
stonet_status sn_schema_load(const sn_store *store, sn_schema **out);
