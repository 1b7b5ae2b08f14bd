#include "stonet/batches.h"

#include "base/memory.h"

static int64_t shard_rows(const sn_batches *b, int v)
{
    const int shards = b->shards.total;
    return sn_shard_border(b->rows.n, shards, v + 1) - sn_shard_border(b->rows.n, shards, v);
}

int64_t sn_batches_count(int64_t n, int64_t size)
{
    return n / size > 0 ? n / size : 1;
}

stonet_status sn_batches_create(const sn_rows *rows, int64_t size, uint64_t seed, sn_batches *out)
{
    *out = (sn_batches){.rows = *rows, .seed = seed, .count = sn_batches_count(rows->n, size)};
    out->shards.total = out->shards.count = sn_shard_count(rows->n / out->count);
    return SN_NEW(out->drawn, rows->n / out->count + (int64_t)2 * SN_MAX_SHARDS);
}

void sn_batches_share(sn_batches *batches, int first, int count)
{
    batches->shards.first = first;
    batches->shards.count = count;
}

void sn_batches_clear(sn_batches *batches)
{
    sn_free(batches->drawn);
    *batches = (sn_batches){0};
}

void sn_batches_shuffle(sn_batches *batches, uint32_t epoch)
{
    const int first = batches->shards.first;
    for (int v = first; v < first + batches->shards.count; v++)
        sn_shuffle_init_shard(&batches->order[v], (uint64_t)shard_rows(batches, v), batches->seed, epoch,
                              (uint32_t)v);
}

sn_rows sn_batches_draw(sn_batches *batches, int64_t index)
{
    sn_shards *shards = &batches->shards;
    int64_t drawn = 0;
    batches->whole = 0;
    for (int v = 0; v < shards->total; v++) {
        const int64_t start = sn_shard_border(batches->rows.n, shards->total, v), n = shard_rows(batches, v);
        const int64_t first = index * n / batches->count, last = (index + 1) * n / batches->count;
        batches->whole += last - first;
        if (v < shards->first || v >= shards->first + shards->count) continue;
        shards->border[v - shards->first] = drawn;
        sn_shuffle_rows(&batches->order[v], first, last - first, batches->drawn + drawn);
        for (const int64_t end = drawn + last - first; drawn < end; drawn++)
            batches->drawn[drawn] = sn_rows_at(&batches->rows, start + batches->drawn[drawn]);
    }
    shards->border[shards->count] = drawn;
    return sn_rows_list(batches->drawn, drawn);
}
