/*
 * Processes (ranks) that do one job together, each with all of the program and the same arguments. They go
 * through the same calls in the same order; where work is shared out they exchange what they found, and go on
 * with the same bits. Every function may be called with NULL, a team of one.
 */
#pragma once

#include <stdbool.h>

#include "base/hash.h"
#include "base/pack.h"
#include "base/wire.h"

/* What messages are about. */
enum { SN_TAG_SHARE = 1, SN_TAG_SUMS, SN_TAG_WISH, SN_TAG_ANSWER };

/* A team on a wire that is there already; the wire is copied. */
stonet_status sn_team_create(const sn_wire *wire, stonet_team **out);
void sn_team_free(stonet_team *team);

static inline bool sn_team_shares(const stonet_team *team)
{
    return stonet_team_ranks(team) > 1;
}

stonet_status sn_team_send(stonet_team *team, int to, int tag, const void *bytes, size_t size);
stonet_status sn_team_receive(stonet_team *team, int from, int tag, void *bytes, size_t size);
stonet_status sn_team_look(stonet_team *team, int tag, bool *waits, int *from);

/* These are called by all ranks together. */

/* The bytes of rank `from` to all. */
stonet_status sn_team_spread(stonet_team *team, int from, void *bytes, size_t size);
/* The same of a record, which on the other ranks takes the place of what they have in `pack`. */
stonet_status sn_team_spread_pack(stonet_team *team, int from, sn_pack *pack);
/* Where the share of a rank in `count` things begins (rank = ranks: where the last one ends). */
static inline int64_t sn_team_border(const stonet_team *team, int64_t count, int rank)
{
    return count / stonet_team_ranks(team) * rank +
           count % stonet_team_ranks(team) * rank / stonet_team_ranks(team);
}
/* Whether all ranks have the same job, by a hash of its data, settings and seed: an error of all if not. */
stonet_status sn_team_agree(stonet_team *team, const sn_hash *hash);
/* An array of `count` things of `size` bytes of which each rank has made its share: all get the whole. */
stonet_status sn_team_gather(stonet_team *team, int64_t count, size_t size, void *things);
