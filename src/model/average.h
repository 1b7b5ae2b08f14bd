/*
 * What a model says about rows with missing cells. A model that was trained on draws of such cells gives the
 * mean over draws of these cells given the others. Any other model answers once, at the expected values of
 * the cells. Complete rows are not touched.
 */
#pragma once

#include "model/model.h"

enum { SN_CELL_DRAWS = 20 }; /* unless the caller wants another number */

typedef struct sn_average {
    const stonet_model *model;
    const stonet_data *data;
    int64_t draws;
    uint64_t seed;
    int64_t width; /* numbers of a row's answer */
    /* The answers to n encoded rows, which are the rows `row` of the table: out n x width. */
    stonet_status (*ask)(const struct sn_average *average, const float *x, int64_t n, const int64_t *row,
                         double *out);
    const void *user;
} sn_average;

/* Whether answers to rows of this table are averages. */
bool sn_average_wanted(const stonet_model *model, const stonet_data *data);
/* Replaces the answers of the incomplete ones among rows first .. first + count - 1; out and sd (standard
   deviations over the draws; 0 for complete rows) count x width, either may be NULL. */
stonet_status sn_average_rows(const sn_average *average, int64_t first, int64_t count, double *out,
                              double *sd);
/* Encodes all rows first .. first + count - 1 with one draw of their missing cells: x count x p. */
stonet_status sn_average_encode(const sn_average *average, int64_t first, int64_t count, uint32_t draw,
                                float *x);
