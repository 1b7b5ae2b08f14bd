/*
 * Sums over rows that the ranks of a team share out. The rows are cut into virtual shards, as many as n alone
 * says; the sum of each is made by one rank, and those of all are added by a fixed binary tree
 * (engine/sums.h): the same bits for any number of ranks.
 */
#pragma once

#include "base/team.h"

/* Adds what rows first .. first + count - 1 give to sum, which has `size` numbers. */
typedef stonet_status (*sn_add_rows)(const void *user, int64_t first, int64_t count, double *sum);

/* total (size) = the sum over rows 0 .. n - 1. team NULL: this process makes all of it. */
stonet_status sn_row_sums(stonet_team *team, int64_t n, int64_t size, sn_add_rows add, const void *user,
                          double *total);
