/*
 * Mean, variance and range of the columns of a table.
 *
 * Sums run over fixed blocks of rows and over the blocks by a fixed binary tree, in double: they depend on
 * the rows alone, not on who sums which blocks, and their rounding error grows with the logarithm of n.
 */
#pragma once

#include <stdbool.h>

#include "base/team.h"

typedef struct sn_moments {
    double *mean, *variance; /* population */
    double *low, *high;
} sn_moments;

typedef struct sn_numbers {
    const float *floats; /* n x m, row-major, n >= 1: these, or */
    const double *doubles;
    int64_t n, m;
    bool gaps;            /* NaN among them are passed over (all zero for a column that has nothing else) */
    const double *weight; /* what each row counts; NULL: 1 */
    stonet_team *team;    /* whose ranks share out the rows; NULL: none do */
    /* Is told that rows first .. first + count - 1 of a table are not needed for now; may be NULL. */
    void (*rest)(const stonet_data *table, int64_t first, int64_t count);
    const stonet_data *table;
} sn_numbers;

/* To be cleared also after a failure, here and below: `out` is empty before. */
stonet_status sn_moments_of(const sn_numbers *t, sn_moments *out);
/* Zeros for so many columns. */
stonet_status sn_moments_create(int64_t columns, sn_moments *out);
void sn_moments_clear(sn_moments *moments);
