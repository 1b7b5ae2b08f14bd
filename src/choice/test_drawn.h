/* For tests: rows whose first feature is missing, in draws that know the response, and who has drawn them. */
#pragma once

#include "base/memory.h"
#include "stonet/test_table.h"

typedef struct drawn_rows {
    table_rows of;
    int *draws; /* batches drawn by what all rows say, and by what those of a fold say */
    bool of_fold;
} drawn_rows;

static void fetch_drawn(const sn_row_source *self, const sn_rows *rows, uint32_t draw, float *x,
                        int64_t stride)
{
    const drawn_rows *from = (const drawn_rows *)self;
    if (draw > 0) from->draws[from->of_fold]++;
    fetch_table(self, rows, draw, x, stride);
}

static void free_drawn(sn_row_source *self)
{
    sn_free(self);
}

static stonet_status learn_drawn(const sn_row_source *self, const sn_rows *rows, sn_row_source **out)
{
    drawn_rows *learned;
    (void)rows;
    SN_TRY(SN_NEW(learned, 1));
    *learned = *(const drawn_rows *)self;
    learned->of_fold = true;
    *out = &learned->of.base;
    return STONET_OK;
}

static drawn_rows drawn_rows_of(int64_t p, const float *x, int *draws)
{
    drawn_rows rows = {.of = table_of_rows(x, p, 1), .draws = draws};
    rows.of.base.fetch = fetch_drawn;
    rows.of.base.gaps = NULL; /* a front would draw them once, before there are folds */
    rows.of.base.learned_from = learn_drawn;
    rows.of.base.free = free_drawn;
    return rows;
}

/* For a run: in time for a fit to be among its folds. */
static int stop_after_draws(void *user)
{
    const int *draws = user;
    return draws[0] + draws[1] > 20;
}
