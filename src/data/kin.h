/*
 * Rows that belong together: those of one group, as the caller says, and exact copies of each other. A model
 * that has seen one of them knows the others, so no split may part them.
 */
#pragma once

#include "base/run.h"
#include "base/workspace.h"
#include "data/frame.h"

/* *kin: a number for each row, the same for rows that belong together; NULL: every row is alone. Says what
   was found through run (NULL: to nobody). */
stonet_status sn_kin_find(const stonet_data *data, const stonet_run *run, sn_workspace *keep,
                          const int64_t **kin);
/* first[i]: the first row with the same number as row i. Gives how many different numbers there are. */
stonet_status sn_kin_first(const int64_t *kin, int64_t n, int64_t *first, int64_t *count);
