/* What the files that fit, apply and store a schema share. */
#pragma once

#include "data/schema.h"

/* Nearly a text of its own for every row: a name or a number of something, and no category. */
static inline bool sn_is_identifier(int64_t distinct, int64_t n)
{
    return distinct > 20 && 2 * distinct > n;
}

/* Marks the inputs that are curves. */
stonet_status sn_schema_find_curves(sn_schema *schema, const stonet_data *train, const sn_encoding *wanted);
/* Counts the curves, checks that they are long enough, and sets the window where none is given. */
stonet_status sn_schema_check_curves(sn_schema *schema);
/* Means and variances of the features that are curves. */
stonet_status sn_schema_curve_moments(sn_schema *schema, const stonet_data *train, double *variance);
/* A curve of a row of the table, prepared; slot (m): where its channels are. False: it is missing. */
bool sn_curve_fetch(const sn_curves *curves, const stonet_data *data, int64_t row, int64_t m,
                    const int64_t *slot, double *out);
/* Names the inputs after the columns of the table and finds their categories, levels and indicators; says
   which columns are left out, which rare categories are put together. */
stonet_status sn_schema_fit_inputs(sn_schema *schema, const stonet_data *train, const sn_encoding *wanted,
                                   const stonet_run *run);
/* Task, classes or scale of the response. */
stonet_status sn_schema_fit_targets(sn_schema *schema, const stonet_data *train, sn_task_wish wish,
                                    const stonet_run *run);
/* Only a time between two bounds may be open at an end. */
stonet_status sn_schema_refuse_open(const stonet_data *train);
/* Whether all numbers of a column are whole and no two rows have the same. */
stonet_status sn_column_counts_rows(const stonet_data *data, int64_t slot, bool *counts);
/* Warns of columns that number the rows, and of those that are nearly the response itself. */
stonet_status sn_schema_warn_of_leaks(const sn_schema *schema, const stonet_data *train,
                                      const stonet_run *run);
/* part[0], part[1]: sine and cosine of the time of the year. */
void sn_season(double days, double part[2]);

/* column[j]: which column of the table is input j, -1 for one the model leaves out and the table does not
   have. */
stonet_status sn_schema_match(const sn_schema *schema, const stonet_data *data, int64_t *column);
/* Which level of the input a number is, -1: none of them. */
int64_t sn_input_level(const sn_input *input, float value);
/* Sets first_feature, features, p and the feature names from the inputs, their categories and levels. */
stonet_status sn_schema_lay_out(sn_schema *schema);
