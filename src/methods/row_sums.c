#include "methods/row_sums.h"

#include <string.h>

#include "base/memory.h"
#include "engine/team_sums.h"

enum { LEAST_ROWS = 8192 }; /* of a shard; fewer are not worth a message */

stonet_status sn_row_sums(stonet_team *team, int64_t n, int64_t size, sn_add_rows add, const void *user,
                          double *total)
{
    int shards = 1, first, count;
    while (shards < SN_MAX_SHARDS && 2 * (int64_t)shards * LEAST_ROWS <= n) shards *= 2;
    memset(total, 0, (size_t)size * sizeof *total);
    if (shards == 1) return add(user, 0, n, total);
    SN_FREED_BY(sn_sums_clear) sn_sums sums = sn_sums_empty(size, false);
    sn_sums_reset(&sums, shards);
    /* those of this rank, as far as they are complete subtrees */
    sn_team_shards(team, shards, &first, &count);
    for (int v = first; v < first + count; v++) {
        const int64_t begin = sn_shard_border(n, shards, v), end = sn_shard_border(n, shards, v + 1);
        SN_TRY(sn_sums_open(&sums, v));
        SN_TRY(add(user, begin, end - begin, sums.root[sums.roots - 1].gradient));
        sn_sums_close(&sums);
    }
    if (sn_team_shares(team)) SN_TRY(sn_team_join_sums(team, &sums));
    memcpy(total, sums.root[0].gradient, (size_t)size * sizeof *total);
    return STONET_OK;
}
