#include "methods/row_sums.h"

#include <string.h>

#include "base/memory.h"

enum {
    MOST_SHARDS = 64,
    LEAST_ROWS = 8192,      /* of a shard; fewer are not worth a message */
    MOST_NUMBERS = 1 << 24, /* of the sums of all shards */
};

static int64_t shards_of(int64_t n, int64_t size)
{
    int64_t shards = n / LEAST_ROWS < MOST_SHARDS ? n / LEAST_ROWS : MOST_SHARDS;
    while (shards > 1 && shards > MOST_NUMBERS / size) shards /= 2;
    return shards > 1 ? shards : 1;
}

/* sum[0] = ((s0 + s1) + (s2 + s3)) + .. */
static void add_up(int64_t shards, int64_t size, double *sum)
{
    for (int64_t step = 1; step < shards; step *= 2)
        for (int64_t v = 0; v + step < shards; v += 2 * step)
            for (int64_t k = 0; k < size; k++) sum[v * size + k] += sum[(v + step) * size + k];
}

stonet_status sn_row_sums(stonet_team *team, int64_t n, int64_t size, sn_add_rows add, const void *user,
                          double *total)
{
    const int64_t shards = shards_of(n, size);
    memset(total, 0, (size_t)size * sizeof *total);
    if (shards == 1) return add(user, 0, n, total);
    double *sum;
    SN_TRY(SN_NEW(sum, shards * size));
    const int rank = stonet_team_rank(team);
    stonet_status status = STONET_OK;
    for (int64_t v = sn_team_border(team, shards, rank);
         v < sn_team_border(team, shards, rank + 1) && status == STONET_OK; v++) {
        const int64_t first = v * n / shards, last = (v + 1) * n / shards;
        status = add(user, first, last - first, sum + v * size);
    }
    if (status == STONET_OK) status = sn_team_gather(team, shards, (size_t)size * sizeof *sum, sum);
    if (status == STONET_OK) {
        add_up(shards, size, sum);
        memcpy(total, sum, (size_t)size * sizeof *total);
    }
    sn_free(sum);
    return status;
}
