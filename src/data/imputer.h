/*
 * What stands for the missing cells of encoded rows: a Gaussian (math/gaussian.h) of the scores of their
 * features (data/margin.h), learned from the training rows without a look at the response. The texts of a
 * column without order are drawn by their conditional means, one column after the other, then the numbers all
 * together. It is a part of the schema, and lives in the model file with it.
 */
#pragma once

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
    bool texts; /* some scores are of categories */
} sn_imputer;

/* Which draw: of what a cell's noise is a function besides the cell. */
typedef struct sn_cell_draw {
    uint64_t seed;
    uint32_t row;
    uint32_t draw; /* 0: no draw, what is expected */
} sn_cell_draw;

/* NULL where the means of the columns will do: the rows are complete, and too wide for a covariance that may
   never be needed. shrink: correlations are shrunk as by d further rows, which is good for what is expected
   of a cell; else as by one, so that draws have the law of the rows. */
stonet_status sn_imputer_fit(const sn_schema *schema, const stonet_data *train, bool shrink,
                             sn_imputer **out);
/* Fills in the NaN of an encoded row. On any thread; cannot fail. */
void sn_imputer_fill(const sn_imputer *m, const sn_schema *schema, const sn_cell_draw *which, float *x);
/* Whether the feature of a number is a score itself, and has no indicators beside it. */
bool sn_imputer_is_plain(const sn_imputer *imputer, int64_t feature);
void sn_imputer_free(sn_imputer *imputer);

/* "schema.cells.": NULL is saved as nothing, and loaded so. */
stonet_status sn_imputer_save(const sn_imputer *m, sn_store *store);
stonet_status sn_imputer_load(const sn_store *store, const sn_schema *schema, sn_imputer **out);
/* Finds out which margins have indicators of levels beside them, and what plain ones come to; fails when
   margins and schema do not belong together. */
stonet_status sn_imputer_join(const sn_schema *schema, sn_imputer *m);
