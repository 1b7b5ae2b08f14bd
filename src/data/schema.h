/*
 * From a table to the numbers a method sees, and the same way again for new data. A schema knows the columns,
 * the one-hot codes of texts, the indicators of numbers that look like codes, and the centre and scale of
 * every feature. It also knows the classes or the scale of the response. It is fitted on the training rows
 * and lives in the model file.
 */
#pragma once

#include <math.h>
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

/* One column of the table. A number becomes one feature, and one more for each of its levels; a text column
   one feature for each category, or, when these are ordered, one feature that is the rank, 1, 2, .. A text
   column without categories is left out (it looked like an identifier). Of many categories the frequent ones
   have a feature each, and the others one together. Behind these one may say whether the cell is missing. */
typedef struct sn_input {
    char *name;
    sn_column_kind kind;
    bool is_date;             /* numbers that are dates, */
    bool season;              /* and have two more features, sine and cosine of the time of the year */
    bool left_out;            /* numbers that are no feature: they count the rows */
    bool indicator;           /* the last feature is 1 where the cell is missing, else 0 */
    bool has_other;           /* the last category is all that are too rare for a feature of their own */
    int64_t position;         /* 0-based column of the training file */
    sn_dictionary categories; /* sorted bytewise, or ordered */
    int64_t levels;
    float *level; /* ascending */
    int64_t first_feature, features;
    int64_t missing; /* cells of the training rows */
    int64_t curve;   /* number of the curve that it is a channel of, from 1; 0: none */
} sn_input;

typedef struct sn_schema {
    sn_scale scale; /* never AUTO */
    bool has_header;
    sn_missing missing;
    struct sn_imputer *imputer; /* NULL: missing cells get the mean, or are refused */
    char *na;       /* words for missing cells in the training file, beside the usual ones; NULL: none */
    char *id_name;  /* the column that named the training rows, or NULL */
    int64_t width;  /* columns of the training file, when some were neither inputs nor targets; else 0 */
    sn_image image; /* that the features together are */
    sn_curves curves;
    int64_t n_curves;
    int64_t n_inputs;
    sn_input *input;

    /* feature = (raw - centre) * factor, where raw is the number, or 1 and 0 for a category or a level. */
    int64_t p;
    char **feature_name;
    double *mean; /* of raw over the training rows: what an unknown category or level counts as */
    double *centre, *factor;

    sn_task task;
    sn_law_kind law;
    int64_t n_targets;
    char **target_name;
    int64_t *target_position; /* 0-based column of the training file, -1 when it was elsewhere */
    double *target_mean, *target_sd;
    sn_dictionary classes;
} sn_schema;

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

int64_t sn_schema_used(const sn_schema *schema); /* columns that become features */
/* "number", "date", "text", "ordered", or "none" for one that is left out. */
const char *sn_schema_input_kind(const sn_schema *schema, int64_t input);
/* Whether the response is no plain numbers or classes: times and counts, but not ordered classes. */
bool sn_schema_has_law(const sn_schema *schema);
const char *sn_schema_task_word(const sn_schema *schema); /* as the setting `task` has it */
int64_t sn_schema_outputs(const sn_schema *schema);       /* C or m */
/* What a numeric target is scaled by; classes: 0 and 1. */
double sn_schema_target_mean(const sn_schema *schema, int64_t target);
double sn_schema_target_sd(const sn_schema *schema, int64_t target);
/* How rough the curves of these training rows are: the sum of squared steps from channel to channel over
   twice the sum of squares about the row's mean, 1 for noise, near 0 for smooth curves; the mean over some
   rows. The schema has curves. */
stonet_status sn_schema_roughness(const sn_schema *schema, const stonet_data *train, double *out);
int64_t sn_schema_level_inputs(const sn_schema *schema); /* columns that have levels */

/* The classes or the scale of the response alone; missing cells of features do not matter to it. */
stonet_status sn_schema_fit_response(const stonet_data *train, sn_task_wish task, sn_schema **out);

/* The columns that become features: group (used + 1) gets the first feature of each, and p (sn_problem). */
void sn_schema_groups(const sn_schema *schema, int64_t *group);

/* Whether float would be too coarse for a number this many spreads from 0 (the spread: standard deviation or
   common scale, 1 / factor): it would lose 2^-17 of the spread and more. */
static inline bool sn_far_from_zero(double centre, double factor)
{
    return fabs(centre * factor) > 256.0;
}
/* Whether it has a feature that must be centred before it is rounded to float (data/frame.h: sn_exact). */
bool sn_schema_needs_digits(const sn_schema *schema);
/* The channels of a curve, in the order of the table: their number, and (NULL: no need) which inputs they
   are. */
int64_t sn_curve_channels(const sn_schema *schema, int64_t curve, int64_t *input);
/* a (m x m): the linear part of what is done to a curve of m channels, row k makes channel k. */
stonet_status sn_curve_matrix(const sn_curves *curves, int64_t m, double *a);
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
/* The same row by row, as long as table and schema are there; to be cleared, also after a failure. */
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
