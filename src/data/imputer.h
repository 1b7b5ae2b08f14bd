/*
 * What stands for the missing cells of encoded rows: a Gaussian (math/gaussian.h) of the scores of their
 * features (data/margin.h). The texts of a column without order are drawn by their conditional means, one
 * column after the other, then the numbers all together. It is a part of the schema, and lives in the model
 * file with it.
 *
 * EM sees the scores of the response beside those of the features. Where gaps depend on the response, rows
 * with gaps are then missing at random, and the law of the features is that of all rows. New rows get draws
 * from this law, without a response. Training rows can get draws given their response too: a cell drawn
 * without it says less of y than the true cell, and flattens what is learned from it.
 */
#pragma once

#include "base/memory.h"
#include "base/store.h"
#include "data/margin.h"
#include "data/schema.h"
#include "math/gaussian.h"

typedef struct sn_imputer {
    sn_gaussian gaussian;
    sn_margin *margin; /* gaussian.d, features ascending */
    /* Of plain scores, so that a row costs a product each: z = (x - centre) inverse; inverse 0: see the
     * margin. */
    double *centre, *inverse;
    /* While a model is fitted to rows with gaps; not in the file. */
    sn_gaussian with_response; /* the scores of the features, then those of the response; d = 0: none */
    float *response;           /* its scores, one row a training row */
} sn_imputer;

/* Which draw: of what a cell's noise is a function besides the cell. */
typedef struct sn_cell_draw {
    uint64_t seed;
    uint32_t row;
    uint32_t draw;         /* 0: no draw, what is expected */
    const float *response; /* its scores, to draw given them too; or NULL */
} sn_cell_draw;

/* From these rows of the table (NULL: all); a row may be there twice. NULL where the means of the columns
   will do: the rows are complete, and too wide for a covariance that may never be needed. shrink:
   correlations are shrunk as by d further rows, which is good for what is expected of a cell; else as by one,
   so that draws have the law of the rows. */
stonet_status sn_imputer_fit(const sn_schema *schema, const stonet_data *train, const sn_rows *rows,
                             bool shrink, sn_imputer **out);
/* Fills in the NaN of an encoded row. On any thread; cannot fail. */
void sn_imputer_fill(const sn_imputer *m, const sn_schema *schema, const sn_cell_draw *which, float *x);
/* Whether the feature of a number is a score itself, and has no indicators beside it. */
bool sn_imputer_is_plain(const sn_imputer *imputer, int64_t feature);
/* The scores of the response of a training row, for sn_cell_draw; NULL: there are none. */
const float *sn_imputer_response(const sn_imputer *imputer, int64_t row);
/* Lets go of what only the fit needs. */
void sn_imputer_forget_response(sn_imputer *imputer);
void sn_imputer_free(sn_imputer *imputer);
SN_DROP(sn_imputer, sn_imputer_free)

/* "schema.cells.": NULL is saved as nothing, and loaded so. */
stonet_status sn_imputer_save(const sn_imputer *m, sn_store *store);
stonet_status sn_imputer_load(const sn_store *store, const sn_schema *schema, sn_imputer **out);
