/*
 * A table as read: feature columns (numbers or text) and targets. A feature cell may be missing: NaN, or the
 * code -1 of a text column. Infinite numbers and missing targets never get in.
 */
#pragma once

#include <stdbool.h>

#include "base/hash.h"
#include "base/status.h"
#include "data/cells.h"
#include "data/image.h"
#include "data/mapping.h"

/*
 * A column in double: at[row * step]. Features are floats by the time a method sees them, centred and scaled,
 * and so a table keeps floats, which loses nothing of a column whose values spread over a good part of their
 * size. It would lose the differences of 1000000.25, 1000000.5, ..: such columns are kept in double beside
 * the floats, so that they can be centred first and rounded after.
 */
typedef struct sn_exact {
    const double *at; /* NULL: floats are all there is */
    int64_t step;
    double *owned; /* the block behind it; NULL: somebody else's */
} sn_exact;

typedef enum sn_column_kind { SN_COLUMN_NUMBER, SN_COLUMN_TEXT } sn_column_kind;

/* Distinct strings, in order of first appearance or, when they are ordered, from low to high. */
typedef struct sn_dictionary {
    int64_t count;
    char **text;
    bool ordered; /* the order means something: small, medium, large; words may be there that no row has */
    bool told;    /* with the table, and not by the codes of a caller: task=auto takes classes as ordered */
} sn_dictionary;

typedef struct sn_column {
    char *name; /* from the header, or "x1", "x2", .. by position in the file */
    sn_column_kind kind;
    int64_t slot;     /* index among the columns of its kind */
    bool is_date;     /* numbers that are days since 1970-01-01, with the time of the day as a fraction */
    bool season;      /* a date whose time of the year counts too */
    bool unnamed;     /* the header of its file has no name for it */
    bool again;       /* another column has its name: it is called NAME.2 */
    int64_t position; /* 0-based in its file, where the frame has a width */
} sn_column;

struct stonet_data {
    char *source; /* file name for messages, or NULL */
    int64_t n;
    int64_t missing; /* cells of features */
    int64_t dropped; /* rows of the file that were left out, since their target was missing */
    char *na;        /* the words for missing cells it was read with, or NULL */
    bool has_header; /* names came from the file or the caller */
    int64_t n_columns;
    sn_column *column;
    int64_t width;      /* columns of the file, when some of them are not here (nor targets); else 0 */
    char *id_name;      /* the column that names the rows, or NULL; */
    int64_t id_slot;    /* its texts are among those of the text columns */
    char *group_name;   /* the column that says which rows belong together, or NULL; */
    int64_t group_slot; /* the same of its texts */
    int64_t *group;     /* instead of both: n numbers; NULL: none */

    sn_image image; /* that the columns together are, all of them and in their order */

    int64_t n_numeric;
    const float *x;       /* n x n_numeric, row-major */
    void *owned_x;        /* the block behind x, or */
    sn_mapping *mapped_x; /* the file behind x, which the frame lets go of in the end; both NULL: wrapped */
    sn_cells *sparse;     /* the numbers, most of them 0: x is NULL then */
    sn_exact *exact;      /* n_numeric columns in double, those that float is too coarse for; NULL: none is */

    int64_t n_text;
    int32_t **text_code;        /* n_text arrays of n codes */
    sn_dictionary *text_values; /* n_text dictionaries */

    /* The target: nothing, numbers, or categories (text labels, or codes from the caller). */
    int64_t n_targets;
    bool target_has_name; /* from the header of its file, not one made up here */
    char **target_name;
    int64_t *target_position; /* 0-based column in the file, -1 when from elsewhere */
    double *y;                /* n x n_targets when numeric */
    int32_t *label;           /* n codes when categorical (n_targets is 1) */
    sn_mapping *mapped_y;     /* the files behind y or label; NULL: the frame owns these */
    sn_dictionary labels;
    sn_dictionary
        spelled; /* the numbers of the one target as the file has them; empty: as they are printed */

    double *weight; /* what each row counts, n; NULL: 1 */

    int64_t n_truth; /* generators: known sufficient predictors */
    double *truth;   /* n x n_truth */
};

/* An empty frame of n rows with everything else zero. */
stonet_status sn_frame_create(int64_t n, stonet_data **out);
/* Its columns: `count` of numbers, called x1, x2, .. or (base 0) x0, x1, .. */
stonet_status sn_frame_name_numbers(stonet_data *data, int64_t count, int base);
/* A table of sparse numbers, which it takes over on success; its columns are x1, x2, .. or (base 0) x0, x1,
 * .. */
stonet_status sn_frame_of_sparse(sn_cells **sparse, int base, stonet_data **out);
/* From now on there is no target. */
void sn_frame_free_target(stonet_data *data);
/* Replaces the target of `data` by that of `from`, which loses it; the rows must be as many. */
stonet_status sn_frame_move_target(stonet_data *data, stonet_data *from);
/* A copy of all rows without one of the feature columns. */
stonet_status sn_frame_without(const stonet_data *data, int64_t column, stonet_data **out);
/* Whether the file behind x, if there is one, is still the same. Called before a pass over x. */
stonet_status sn_frame_check(const stonet_data *data);
/* These rows are not needed for now: if they are mapped, they need not stay in memory. */
void sn_frame_rest(const stonet_data *data, int64_t first, int64_t count);
/* The same of the features, and of the response, alone. */
void sn_frame_rest_features(const stonet_data *data, int64_t first, int64_t count);
void sn_frame_rest_response(const stonet_data *data, int64_t first, int64_t count);
/* The features of these rows are needed soon: if they are mapped, they are read ahead. */
void sn_frame_ahead(const stonet_data *data, int64_t first, int64_t count);
/* Row `row` of a pass over all rows in their order is done: from time to time, those behind it may rest. */
static inline void sn_frame_passed(const stonet_data *data, int64_t row)
{
    enum { STEP = 1 << 14 };
    if (row % STEP == STEP - 1 || row == data->n - 1) sn_frame_rest(data, row / STEP * STEP, row % STEP + 1);
}
/* The same of a pass over the response alone, of which a page has many rows. */
static inline void sn_frame_passed_response(const stonet_data *data, int64_t row)
{
    enum { STEP = 1 << 18 };
    if (row % STEP == STEP - 1 || row == data->n - 1)
        sn_frame_rest_response(data, row / STEP * STEP, row % STEP + 1);
}
/* Adds all that a fit can see of a table. */
void sn_frame_hash(const stonet_data *data, sn_hash *hash);
/* The same, but of a table on disk some rows alone: all ranks of a team ask, and each reads a part of it. */
void sn_frame_hash_some(const stonet_data *data, sn_hash *hash);
bool sn_all_finite(const float *x, int64_t count);
/* Whether the cell of a feature column is missing. */
bool sn_frame_is_missing(const stonet_data *data, int64_t row, int64_t column);
bool sn_frame_row_is_complete(const stonet_data *data, int64_t row);
/* The rows without a missing cell as a table of their own; NULL: that is all of them. None is an error. */
stonet_status sn_frame_complete_rows(const stonet_data *data, stonet_data **part);
/* The same of the rows that count, whose weight is not 0. */
stonet_status sn_frame_counted_rows(const stonet_data *data, stonet_data **part);
/* Weights that are all 1 are none: the fit takes the same way. */
void sn_frame_settle_weights(stonet_data *data);
/* How many cells of a column are missing; all columns: -1. */
int64_t sn_frame_count_missing(const stonet_data *data, int64_t column);
/* Replaces *data by its rows whose targets are there; notes how many were not. */
stonet_status sn_frame_drop_missing_targets(stonet_data **data);
void sn_dictionary_free(sn_dictionary *dictionary);

static inline bool sn_frame_has_text(const stonet_data *data)
{
    for (int64_t j = 0; j < data->n_columns; j++)
        if (data->column[j].kind == SN_COLUMN_TEXT) return true;
    return false;
}

/* The number of a row in a column of numbers, with all the digits that are kept of it. */
static inline double sn_frame_number(const stonet_data *data, int64_t row, int64_t slot)
{
    const sn_exact *exact = data->exact != NULL ? &data->exact[slot] : NULL;
    if (exact != NULL && exact->at != NULL) return exact->at[row * exact->step];
    if (data->sparse != NULL) return (double)sn_cells_at(data->sparse, row, slot);
    return (double)data->x[row * data->n_numeric + slot];
}

/* Whether it is said which rows belong together, and a number that those of row `row` have in common. */
static inline bool sn_frame_has_groups(const stonet_data *data)
{
    return data->group != NULL || data->group_name != NULL;
}

static inline int64_t sn_frame_group(const stonet_data *data, int64_t row)
{
    return data->group != NULL ? data->group[row] : data->text_code[data->group_slot][row];
}

/* What messages call a table. */
static inline const char *sn_table_name(const stonet_data *data)
{
    return data->source != NULL ? data->source : "the table";
}
