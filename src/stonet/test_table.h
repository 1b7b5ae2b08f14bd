/* For tests: rows of a source. The first feature may be missing in some of them. */
#pragma once

#include <string.h>

#include "data/test_source.h"
#include "math/noise.h"

typedef struct table_rows {
    sn_row_source base;
    const float *x;
    int64_t p, every; /* it is missing in every so many rows; 0: in none, but for ... */
    const bool *gap;  /* ... these; NULL: none */
    double mean, sd;  /* of what is drawn in its place */
    sn_gaps kind;
    int *times; /* how often each row was fetched; NULL: not counted */
} table_rows;

static inline sn_gaps gaps_of_table(const sn_row_source *self, int64_t row)
{
    const table_rows *t = (const table_rows *)self;
    const bool lacks = t->gap != NULL ? t->gap[row] : t->every > 0 && row % t->every == 0;
    return lacks ? t->kind : SN_GAPS_NONE;
}

static inline void fetch_table(const sn_row_source *self, const sn_rows *rows, uint32_t draw, float *x,
                               int64_t stride)
{
    const table_rows *t = (const table_rows *)self;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        if (t->times != NULL) t->times[row]++;
        memcpy(x + i * stride, t->x + row * t->p, (size_t)t->p * sizeof *x);
        if (gaps_of_table(self, row) == SN_GAPS_NONE) continue;
        const double e = sn_noise_normal(3, SN_STREAM_TEST, (uint32_t)row, 0, 0, draw, 0);
        x[i * stride] = (float)(t->mean + (draw > 0 ? t->sd * e : 0.0));
    }
}

static inline table_rows table_of_rows(const float *x, int64_t p, int64_t every)
{
    return (table_rows){.base = {.prepare = rows_are_ready, .fetch = fetch_table, .gaps = gaps_of_table},
                        .x = x,
                        .p = p,
                        .every = every,
                        .sd = 1.0,
                        .kind = SN_GAPS_GAUSSIAN};
}
