#include "engine/sums.h"

#include <string.h>

#include "base/memory.h"

int sn_shard_count(int64_t rows)
{
    int shards = 1;
    while (shards < SN_MAX_SHARDS && 2 * (int64_t)shards * SN_SHARD_ROWS <= rows) shards *= 2;
    return shards;
}

void sn_shards_whole(int64_t n, sn_shards *shards)
{
    shards->total = shards->count = sn_shard_count(n);
    shards->first = 0;
    for (int v = 0; v <= shards->total; v++) shards->border[v] = sn_shard_border(n, shards->total, v);
}

void sn_sums_clear(sn_sums *sums)
{
    for (int k = 0; k < SN_MAX_ROOTS; k++) sn_free(sums->root[k].gradient);
    *sums = (sn_sums){0};
}

void sn_sums_reset(sn_sums *sums, int shards)
{
    sums->shards = shards;
    sums->roots = 0;
}

stonet_status sn_sums_add(sn_sums *sums, int first, int count)
{
    const sn_root *last = sums->roots > 0 ? &sums->root[sums->roots - 1] : NULL;
    if (sums->roots == SN_MAX_ROOTS || first < 0 || first + count > sums->shards ||
        (last != NULL && first < last->first + last->count))
        return sn_fail(STONET_ERROR_ARGUMENT, "shard %d of %d is not the next one to be summed", first,
                       sums->shards);
    sn_root *root = &sums->root[sums->roots];
    if (root->gradient == NULL && sums->parameters > 0) SN_TRY(SN_NEW(root->gradient, sums->parameters));
    root->first = first;
    root->count = count;
    sums->roots++;
    return STONET_OK;
}

stonet_status sn_sums_open(sn_sums *sums, int shard)
{
    SN_TRY(sn_sums_add(sums, shard, 1));
    sn_root *root = &sums->root[sums->roots - 1];
    root->loss = root->weight = 0.0;
    if (sums->parameters > 0) memset(root->gradient, 0, (size_t)sums->parameters * sizeof *root->gradient);
    return STONET_OK;
}

/* Whether two neighbours are the two halves of a node. */
static bool are_halves(const sn_root *left, const sn_root *right)
{
    return left->count == right->count && left->first + left->count == right->first &&
           left->first % (2 * left->count) == 0;
}

int sn_sums_close(sn_sums *sums)
{
    int times = 0;
    for (; sums->roots > 1; times++) {
        sn_root *left = &sums->root[sums->roots - 2];
        const sn_root *right = left + 1;
        if (!are_halves(left, right)) break;
        left->count *= 2;
        left->loss += right->loss;
        left->weight += right->weight;
        for (int64_t j = 0; j < sums->parameters; j++) {
            const double sum = left->gradient[j] + right->gradient[j];
            left->gradient[j] = sums->single ? (double)(float)sum : sum; /* rounded as a float sum is */
        }
        sums->roots--;
    }
    return times;
}

stonet_status sn_sums_check(const sn_sums *sums)
{
    if (sums->roots != 1 || sums->root[0].count != sums->shards)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "an update needs the sums of all %d shards, and some are missing", sums->shards);
    if (!(sums->root[0].weight > 0.0))
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "a batch needs rows that count: there is none, or all their weights are 0");
    return STONET_OK;
}
