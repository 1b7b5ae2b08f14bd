#include "stonet/windows.h"

#include "base/memory.h"
#include "engine/sums.h"

static int64_t block_border(const sn_windows *w, int64_t block)
{
    return (int64_t)((__int128)block * w->n / w->blocks);
}

static stonet_status create_window(int64_t most, sn_window *window)
{
    window->number = -1;
    SN_TRY(SN_NEW(window->begin, most));
    return SN_NEW(window->border, most + 1);
}

stonet_status sn_windows_create(int64_t n, int64_t block, int64_t most, sn_windows *out)
{
    *out = (sn_windows){.n = n, .blocks = (n + block - 1) / block};
    out->most = most < out->blocks ? most : out->blocks;
    SN_TRY(create_window(out->most, &out->now));
    return create_window(out->most, &out->past);
}

static void clear_window(sn_window *window)
{
    sn_free(window->begin);
    sn_free(window->border);
}

void sn_windows_clear(sn_windows *windows)
{
    clear_window(&windows->now);
    clear_window(&windows->past);
    *windows = (sn_windows){0};
}

/* Tells the source of a window's features. */
/* no test: a hint to the system, on which no number depends. */
static void expect(const sn_windows *w, const sn_window *window, sn_outlook outlook)
{
    for (int64_t k = 0; k < window->blocks && w->problem != NULL; k++)
        sn_batch_expect(w->problem, w->rows, w->start + window->begin[k],
                        window->border[k + 1] - window->border[k], outlook);
}

/* The response of a block is a part of a page: that of all rows rests at once. */
static void rest(const sn_windows *w, sn_window *window)
{
    if (window->number >= 0) expect(w, window, SN_FEATURES_REST);
    if (window->number >= 0 && w->problem != NULL)
        sn_batch_expect(w->problem, w->rows, w->start, w->n, SN_RESPONSE_RESTS);
    window->number = -1;
}

void sn_windows_shuffle(sn_windows *windows, uint64_t seed, uint32_t epoch, uint32_t shard)
{
    rest(windows, &windows->past);
    rest(windows, &windows->now);
    windows->seed = seed;
    windows->epoch = epoch;
    windows->shard = shard;
    windows->ahead = 0;
    sn_shuffle_init_shard(&windows->order, (uint64_t)windows->blocks, seed, epoch, SN_MAX_SHARDS + shard);
}

/* The blocks of window `number`, whose rows are at positions from `first` on. */
static void fill(const sn_windows *w, int64_t number, int64_t first, sn_window *to)
{
    const int64_t before = number * w->most, left = w->blocks - before;
    to->number = number;
    to->first = first;
    to->blocks = left < w->most ? left : w->most;
    sn_shuffle_rows(&w->order, before, to->blocks, to->begin);
    to->border[0] = 0;
    for (int64_t k = 0; k < to->blocks; k++) {
        const int64_t block = to->begin[k];
        to->begin[k] = block_border(w, block);
        to->border[k + 1] = to->border[k] + block_border(w, block + 1) - to->begin[k];
    }
    sn_shuffle_init_shard(&to->order, (uint64_t)to->border[to->blocks], w->seed, w->epoch,
                          (uint32_t)(2 + number) * SN_MAX_SHARDS + w->shard);
}

/* Has the window after `now` read meanwhile; the place of the one before is free for its blocks. */
/* no test: reads earlier what is read again when it is used. */
static void read_ahead(sn_windows *w)
{
    const sn_window *now = &w->now;
    if (now->number < w->ahead) return;
    w->ahead = now->number + 1;
    if (w->problem == NULL || w->ahead * w->most >= w->blocks) return;
    fill(w, now->number + 1, now->first + now->border[now->blocks], &w->past);
    expect(w, &w->past, SN_SOON);
    w->past.number = -1;
}

/* Goes to the window that has a position, from window to window: each takes the place in memory of the one
   before the last. */
static void find(sn_windows *w, int64_t position)
{
    if (w->now.number >= 0 && position < w->now.first) {
        rest(w, &w->past);
        rest(w, &w->now);
    }
    while (w->now.number < 0 || position >= w->now.first + w->now.border[w->now.blocks]) {
        const sn_window held = w->past;
        rest(w, &w->past);
        w->past = w->now;
        w->now = held;
        const bool is_first = w->past.number < 0;
        fill(w, w->past.number + 1, is_first ? 0 : w->past.first + w->past.border[w->past.blocks], &w->now);
        if (is_first) expect(w, &w->now, SN_SOON);
    }
}

/* The row at a place of a window. */
static int64_t row_at(const sn_window *window, int64_t place)
{
    int64_t low = 0, high = window->blocks;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (window->border[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return window->begin[low] + place - window->border[low];
}

void sn_windows_rows(sn_windows *windows, int64_t first, int64_t count, int64_t *row)
{
    rest(windows, &windows->past); /* the rows of the batch before have been fetched by now */
    read_ahead(windows);
    while (count > 0) {
        find(windows, first);
        const sn_window *now = &windows->now;
        const int64_t left = now->first + now->border[now->blocks] - first;
        const int64_t part = count < left ? count : left;
        sn_shuffle_rows(&now->order, first - now->first, part, row);
        for (int64_t i = 0; i < part; i++) row[i] = row_at(now, row[i]);
        row += part;
        first += part;
        count -= part;
    }
}
