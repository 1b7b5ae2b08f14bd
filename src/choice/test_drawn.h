/* For tests: rows whose first feature is missing, in draws that know the response, and who has drawn them. */
#pragma once

#include <string.h>

#include "base/memory.h"
#include "data/test_source.h"
#include "math/noise.h"

typedef struct drawn_rows {
    sn_row_source base;
    int64_t p;
    const float *x;
    int *draws; /* batches drawn by what all rows say, and by what those of a fold say */
    bool of_fold;
} drawn_rows;

static void fetch_drawn(const sn_row_source *self, const sn_rows *rows, uint32_t draw, float *x,
                        int64_t stride)
{
    const drawn_rows *from = (const drawn_rows *)self;
    if (draw > 0) from->draws[from->of_fold]++;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        memcpy(x + i * stride, from->x + from->p * row, (size_t)from->p * sizeof *x);
        const double cell = sn_noise_normal(3, SN_STREAM_TEST, (uint32_t)row, 0, 0, draw, 0);
        x[i * stride] = (float)(draw > 0 ? cell : 0.0);
    }
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
    *out = &learned->base;
    return STONET_OK;
}

static drawn_rows drawn_rows_of(int64_t p, const float *x, int *draws)
{
    return (drawn_rows){.base = {.prepare = rows_are_ready,
                                 .fetch = fetch_drawn,
                                 .learned_from = learn_drawn,
                                 .free = free_drawn},
                        .p = p,
                        .x = x,
                        .draws = draws};
}

/* For a run: in time for a fit to be among its folds. */
static int stop_after_draws(void *user)
{
    const int *draws = user;
    return draws[0] + draws[1] > 20;
}
