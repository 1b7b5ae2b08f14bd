#include "stonet/batches.h"

#include "base/memory.h"

static int64_t shard_rows(const sn_batches *b, int v)
{
    const int shards = b->shards.total;
    return sn_shard_border(b->rows.n, shards, v + 1) - sn_shard_border(b->rows.n, shards, v);
}

const sn_windowing sn_windowing_usual = {.whole = 1 << 26, .block = 1 << 15, .blocks = 1024};

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

stonet_status sn_batches_window(sn_batches *batches, const sn_problem *problem, const sn_windowing *how)
{
    if (batches->rows.n <= how->whole / problem->p) return STONET_OK;
    const int shards = batches->shards.total;
    const int64_t block = how->block / problem->p > 1 ? how->block / problem->p : 1;
    const int64_t most = how->blocks / shards > 1 ? how->blocks / shards : 1;
    SN_TRY(SN_NEW(batches->windows, shards));
    for (int v = 0; v < shards; v++) {
        sn_windows *windows = &batches->windows[v];
        SN_TRY(sn_windows_create(shard_rows(batches, v), block, most, windows));
        windows->problem = problem;
        windows->rows = &batches->rows;
        windows->start = sn_shard_border(batches->rows.n, shards, v);
    }
    return STONET_OK;
}

void sn_batches_share(sn_batches *batches, int first, int count)
{
    batches->shards.first = first;
    batches->shards.count = count;
}

void sn_batches_clear(sn_batches *batches)
{
    for (int v = 0; batches->windows != NULL && v < batches->shards.total; v++)
        sn_windows_clear(&batches->windows[v]);
    sn_free(batches->windows);
    sn_free(batches->drawn);
    *batches = (sn_batches){0};
}

void sn_batches_shuffle(sn_batches *batches, uint32_t epoch)
{
    const int first = batches->shards.first;
    for (int v = first; v < first + batches->shards.count; v++)
        if (batches->windows != NULL)
            sn_windows_shuffle(&batches->windows[v], batches->seed, epoch, (uint32_t)v);
        else
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
        if (batches->windows != NULL)
            sn_windows_rows(&batches->windows[v], first, last - first, batches->drawn + drawn);
        else
            sn_shuffle_rows(&batches->order[v], first, last - first, batches->drawn + drawn);
        for (const int64_t end = drawn + last - first; drawn < end; drawn++)
            batches->drawn[drawn] = sn_rows_at(&batches->rows, start + batches->drawn[drawn]);
    }
    shards->border[shards->count] = drawn;
    return sn_rows_list(batches->drawn, drawn);
}
