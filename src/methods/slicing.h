/* Rows grouped by the response: classes, or ranges of the targets. */
#pragma once

#include "base/workspace.h"
#include "data/problem.h"

/* The arrays live in the workspace given to sn_slices_make. */
typedef struct sn_slices {
    int64_t count;
    int64_t *start; /* count + 1: slice h is row[start[h]] .. row[start[h + 1] - 1] */
    int64_t *row;   /* the n row numbers, slice by slice */
} sn_slices;

/*
 * Classification: one slice a class that occurs. One target: `wanted` slices of as equal counts as the ties
 * allow, rows of the same y always together; one slice a value when y has no more than `wanted` values.
 * Several targets: each slice of the targets so far is cut by the next one, ceil(wanted^(1/m)) pieces a
 * target. Censored times are two targets, whether the end was seen and when (Li, Wang and Chen 1999): Z is
 * then also of the columns that the censoring depends on, if it does.
 */
stonet_status sn_slices_make(const sn_problem *problem, int64_t wanted, sn_workspace *keep, sn_slices *out);
/* The same for a method that compares slices: STONET_ERROR_DATA when there is a single one. */
stonet_status sn_slices_to_compare(const sn_problem *problem, const char *method, int64_t wanted,
                                   sn_workspace *keep, sn_slices *out);
