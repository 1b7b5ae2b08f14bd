/*
 * What a built-in model consists of. Row i is a function of (seed, i) alone, so more rows never change the
 * first ones; and a column of x does not depend on how many follow it, so that noise columns can be added.
 */
#pragma once

#include <stdint.h>

#include "base/status.h"

/* Where the random numbers of a row come from. */
typedef struct sn_row_key {
    uint64_t seed;
    uint32_t row, generator;
} sn_row_key;

/* What a number is for: uses never share numbers. */
enum {
    SN_USE_FEATURES = 0,
    SN_USE_UNIFORM_FEATURES = 1,
    SN_USE_RESPONSE = 2,
    SN_USE_CHOICE = 3,
    SN_USE_COMMON = 4
};

double sn_row_normal(const sn_row_key *key, uint32_t use);                  /* one number a row and use */
double sn_row_noise(const sn_row_key *key);                                 /* of the response */
double sn_row_uniform(const sn_row_key *key, int64_t number, uint32_t use); /* in (0, 1) */
void sn_row_normals(const sn_row_key *key, int64_t p, float *x);            /* x_1..x_p independent N(0, 1) */

enum { SN_MAX_TRUTHS = 2 };

/* The response (a number, or the class 0 or 1) and the known sufficient predictors T(x): given T, it depends
   on x no more. */
typedef struct sn_row_values {
    double y, truth[SN_MAX_TRUTHS];
} sn_row_values;

/* Fills x_1..x_p and *out. */
typedef void sn_row_function(const sn_row_key *key, int64_t p, float *x, sn_row_values *out);

/* generators_classic.c */
sn_row_function sn_waveform_row, sn_m1_row, sn_ratio_row, sn_radial_row, sn_sigmoid_row, sn_friedman_row,
    sn_ring_row;
/* generators_spread.c: the mean, the spread or both depend on x */
sn_row_function sn_mean_ratio_row, sn_mean_ratio_poisson_row, sn_mean_ratio_t_row, sn_mean_square_row,
    sn_mean_square_poisson_row, sn_mean_square_t_row, sn_mean_log_row, sn_mean_log_poisson_row,
    sn_mean_log_t_row, sn_location_scale_row, sn_scale_row, sn_location_scale_ratio_row,
    sn_location_scale_linear_row;
/* generators_selection.c: few of many columns matter */
sn_row_function sn_select_regression_row, sn_select_classes_row, sn_wide_row;

/* A whole table instead, with text, dates and missing cells; the row of the key is not looked at. */
typedef stonet_status sn_table_function(const sn_row_key *key, int64_t rows, stonet_data **out);
/* generators_tables.c */
sn_table_function sn_passengers_table, sn_air_table;
