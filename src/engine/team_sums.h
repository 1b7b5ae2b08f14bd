/* Sums over a batch (engine/sums.h) whose shards are shared out over the ranks of a team (base/team.h). */
#pragma once

#include "base/team.h"
#include "engine/engine.h"

/* Rank r of R holds the shards of SN_MAX_SHARDS from r SN_MAX_SHARDS / R on, and of fewer shards those that
   begin there. first and count get what this rank holds of V; a team of one, and V = 1, which every rank
   computes by itself, give all. */
void sn_team_shards(const stonet_team *team, int shards, int *first, int *count);
/* Of a pass over all these rows in order: those in this rank's shards, and the shards. */
sn_rows sn_team_rows(const stonet_team *team, const sn_rows *rows, sn_shards *shards);
/* The sums of all ranks' shards, by the fixed tree, on every rank; user: the team. */
stonet_status sn_team_join_sums(void *user, sn_sums *sums);
