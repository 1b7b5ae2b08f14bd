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
    *out = (sn_batches){.rows = *rows, .seed = seed, .count = sn_batches_count(rows->n, size), .threads = 1};
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

/* The part of shard v in a batch: positions first .. last - 1 of it. */
static void part_of(const sn_batches *b, int v, int64_t index, int64_t *first, int64_t *last)
{
    const int64_t n = shard_rows(b, v);
    *first = index * n / b->count;
    *last = (index + 1) * n / b->count;
}

static void draw_part(sn_batches *b, int v, int64_t index, int64_t *drawn)
{
    const int64_t start = sn_shard_border(b->rows.n, b->shards.total, v);
    int64_t first, last;
    part_of(b, v, index, &first, &last);
    if (b->windows != NULL)
        sn_windows_rows(&b->windows[v], first, last - first, drawn);
    else
        sn_shuffle_rows(&b->order[v], first, last - first, drawn);
    for (int64_t i = 0; i < last - first; i++) drawn[i] = sn_rows_at(&b->rows, start + drawn[i]);
}

sn_rows sn_batches_draw(sn_batches *batches, int64_t index)
{
    sn_shards *shards = &batches->shards;
    int64_t *border = shards->border, first, last;
    batches->whole = border[0] = 0;
    for (int v = 0; v < shards->total; v++) {
        const int own = v - shards->first;
        part_of(batches, v, index, &first, &last);
        batches->whole += last - first;
        if (own >= 0 && own < shards->count) border[own + 1] = border[own] + last - first;
    }
#pragma omp parallel for num_threads(batches->threads) if (batches->windows != NULL && batches->threads > 1)
    for (int own = 0; own < shards->count; own++)
        draw_part(batches, shards->first + own, index, batches->drawn + border[own]);
    return sn_rows_list(batches->drawn, border[shards->count]);
}
