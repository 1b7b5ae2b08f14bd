/*
 * Sets of rows, batches of rows, and where they come from.
 *
 * A set of rows is a range or a list of row numbers; which of the two it is never matters to who reads it. A
 * batch is some rows side by side, encoded and scaled, with their response and weight. Rows get into a batch
 * by sn_batch_fetch alone, from a problem (data/problem.h): copied when its features lie in memory as a
 * whole, or encoded and scaled on the way when they come from a source. The numbers are the same either way.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"

typedef struct sn_rows {
    int64_t n;
    const int64_t *list; /* row numbers in any order, or */
    int64_t first;       /* without a list: first .. first + n - 1 */
} sn_rows;

static inline sn_rows sn_rows_range(int64_t first, int64_t n)
{
    return (sn_rows){.n = n, .first = first};
}

static inline sn_rows sn_rows_list(const int64_t *list, int64_t n)
{
    return (sn_rows){.n = n, .list = list};
}

/* The row at a position 0 .. n-1. */
static inline int64_t sn_rows_at(const sn_rows *rows, int64_t position)
{
    return rows->list != NULL ? rows->list[position] : rows->first + position;
}

/* Positions first .. first + n - 1 of a set. */
static inline sn_rows sn_rows_part(const sn_rows *rows, int64_t first, int64_t n)
{
    return rows->list != NULL ? sn_rows_list(rows->list + first, n) : sn_rows_range(rows->first + first, n);
}

/* At most `most` rows of them, evenly. list has room for as many. */
sn_rows sn_rows_evenly(const sn_rows *rows, int64_t most, int64_t *list);

/* Rows of which most numbers are 0 before they are scaled: feature[j] of column j (-1: none) is
   (value - centre) factor, value 0 where no cell is kept. */
typedef struct sn_scaled_cells {
    const struct sn_cells *cells;
    const int64_t *feature;
    const double *centre, *factor; /* of the features */
} sn_scaled_cells;

/* What a row has of missing cells. */
typedef enum sn_gaps {
    SN_GAPS_NONE,
    SN_GAPS_GAUSSIAN, /* some, and their features are Gaussian given the others */
    SN_GAPS_OTHER
} sn_gaps;

/*
 * Where encoded rows come from when they do not lie in memory as a whole: a table in memory, a mapped file,
 * later a stream of shards.
 */
typedef struct sn_row_source sn_row_source;

/* What becomes of some rows, a hint to a source on disk: that their features are read soon, and that
   features, response or both are not needed for a while. */
typedef enum sn_outlook { SN_SOON, SN_FEATURES_REST, SN_RESPONSE_RESTS, SN_ROWS_REST } sn_outlook;

struct sn_row_source {
    /* Before rows are fetched, on the thread that leads: whether they can be. */
    stonet_status (*prepare)(const sn_row_source *source, const sn_rows *rows);
    /* The features of these rows, `stride` floats from one row to the next; of missing cells what `draw` of
       an sn_batch says. On any thread; cannot fail. */
    void (*fetch)(const sn_row_source *source, const sn_rows *rows, uint32_t draw, float *x, int64_t stride);
    /* Of rows first .. first + count - 1; NULL: it has no use for it. */
    void (*expect)(const sn_row_source *source, int64_t first, int64_t count, sn_outlook outlook);
    sn_gaps (*gaps)(const sn_row_source *source, int64_t row); /* of a source that draws missing cells */
    /* The same rows, with their missing cells drawn by the law of `rows` alone: held-out rows must have no
       part in draws that know the response. NULL: the draws do not know it. To be freed by `free`. */
    stonet_status (*learned_from)(const sn_row_source *source, const sn_rows *rows, sn_row_source **out);
    void (*free)(sn_row_source *source);
    const float *raw;              /* for a prefetch: the numbers of row r begin at raw + r * raw_width, */
    int64_t raw_width;             /* raw NULL: there is nothing to prefetch */
    const sn_scaled_cells *sparse; /* the same rows as they are kept, when they are sparse; else NULL */
};

/* Some rows side by side. The arrays belong to whoever fetches; NULL: not wanted. */
typedef struct sn_batch {
    int64_t n;
    float *x; /* n rows, scaled */
    int64_t x_stride;
    uint32_t draw; /* of the missing cells, which nobody who fetches rows ever sees: 0: what is expected
                      there, d = 1, 2, ..: draw d of their law given the row's other cells */
    int32_t *label;
    double *y;     /* n x outputs */
    float *weight; /* what a row counts in sums of losses and gradients */
    int64_t *row;  /* the row's number in the whole data: keys its noise */
} sn_batch;

struct sn_problem;
/* Whether the rows can be fetched. Called once before a pass over them. */
stonet_status sn_batch_prepare(const struct sn_problem *problem, const sn_rows *rows);
/* Tells the source of the features, if there is one that wants to know, what becomes of the rows from that at
   position first to that at first + count - 1 of an ascending set. */
void sn_batch_expect(const struct sn_problem *problem, const sn_rows *rows, int64_t first, int64_t count,
                     sn_outlook outlook);
/* Fills the arrays of the batch that are there. Any thread. */
void sn_batch_fetch(const struct sn_problem *problem, const sn_rows *rows, sn_batch *batch);
/* The same for an ascending set of rows that may lie far apart, on the thread that leads: those of a file are
   let go of as soon as they are in the batch. */
void sn_batch_look(const struct sn_problem *problem, const sn_rows *rows, const sn_batch *batch);
/* Their features alone, x (n x p), prepared here. */
stonet_status sn_batch_features(const struct sn_problem *problem, const sn_rows *rows, float *x);
