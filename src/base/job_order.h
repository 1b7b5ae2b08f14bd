/*
 * In which order pieces of work are dealt out so that nobody is left with a long one when the others are
 * done: one of each kind first, then those of the kind that has taken longest, as far as is known by then.
 * Where nothing is known yet, kinds that are said to take an effort come before others. What a piece finds
 * does not depend on it. Not for several threads at once.
 */
#pragma once

#include <stdbool.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct sn_job_order sn_job_order;

/* kind[i]: of piece i, any pointer; NULL: all are of one kind. More kinds than are worth telling apart are
   dealt out in their order. effort[i]: of its kind, roughly, beside that of others; NULL: not known. */
stonet_status sn_job_order_create(int64_t count, const void *const *kind, const double *effort,
                                  sn_job_order **out);
void sn_job_order_free(sn_job_order *order);
SN_DROP(sn_job_order, sn_job_order_free)
/* A piece that is not to be dealt out. */
void sn_job_order_skip(sn_job_order *order, int64_t piece);
/* The next piece at this time (seconds, rising); -1: there is none. */
int64_t sn_job_order_next(sn_job_order *order, double now);
/* A piece that was dealt out is done. */
void sn_job_order_done(sn_job_order *order, int64_t piece, double now);
