/*
 * Many more columns than rows: which front (stonet/front_wide.h) the network gets.
 *
 * Columns are taken one after the other: the next is the one that, or whose square, has the largest
 * correlation with what those before have left unexplained of the response. How many, or principal components
 * instead, is chosen by the loss of ridge or logistic regression on held-out rows, the columns being taken
 * anew from the training rows of every fold.
 */
#ifndef SN_STONET_WIDE_H
#define SN_STONET_WIDE_H

#include "stonet/front_wide.h"

struct sn_stage_job;

typedef enum sn_wide_kind { SN_WIDE_NOT, SN_WIDE_COLUMNS, SN_WIDE_COMPONENTS } sn_wide_kind;

typedef struct sn_wide {
    sn_wide_kind kind;
    int64_t features; /* columns or components */
} sn_wide;

/* Whether there are so many columns that one of the fronts is needed: more than 200, and than twice the rows.
 */
bool sn_wide_applies(const sn_problem *problem);
/* Chooses by the training rows of the job; among the columns alone, or the components, if kind is so. */
stonet_status sn_wide_choose(const struct sn_stage_job *job, sn_wide *wide);
/* The front of a choice, made from these rows alone. */
stonet_status sn_wide_front(const sn_wide *wide, const sn_problem *problem, const sn_rows *rows,
                            uint64_t seed, sn_front **out);

/* The first `count` columns in the order of their choice. */
stonet_status sn_wide_order(const sn_problem *problem, const sn_rows *rows, int64_t count, int64_t *columns);

#endif
