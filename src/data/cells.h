/*
 * The numbers of a table of which most are 0, row by row: the others, with their columns in ascending order.
 */
#pragma once

#include "base/memory.h"
#include "base/status.h"
#include "data/moments.h"

typedef struct sn_cells {
    int64_t n, columns;
    const int64_t *start;  /* n + 1: the cells of row i are start[i] .. start[i + 1] - 1 */
    const int32_t *column; /* of each cell, ascending within a row */
    const float *value;
    void *owned[3]; /* the blocks behind them; NULL: somebody else's */
} sn_cells;

void sn_cells_free(sn_cells *sparse);
SN_DROP(sn_cells, sn_cells_free)
/* The number in a row and column, 0 where none is kept. */
float sn_cells_at(const sn_cells *sparse, int64_t row, int64_t column);
/* Mean, variance and range of the columns, the zeros among them. On failure nothing is left to free. */
stonet_status sn_cells_moments(const sn_cells *sparse, sn_moments *out);
/* Rows of it as one of its own. */
stonet_status sn_cells_rows(const sn_cells *from, const int64_t *rows, int64_t count, sn_cells **out);
