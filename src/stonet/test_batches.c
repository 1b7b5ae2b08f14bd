#include "base/test_kit.h"
#include "engine/sums.h"
#include "stonet/batches.h"

/* Every row once an epoch; shard after shard, each from its own part of the rows; sizes nearly equal. */
static void check_epoch(const sn_rows *rows, int64_t size, uint32_t epoch)
{
    sn_batches b;
    OK(sn_batches_create(rows, size, 9, &b));
    int *met = test_zeros(rows->n, sizeof *met);
    sn_batches_shuffle(&b, epoch);
    int64_t visited = 0;
    for (int64_t k = 0; k < b.count; k++) {
        const sn_rows batch = sn_batches_draw(&b, k);
        const int shards = b.shards.total;
        assert_int_equal(shards, sn_shard_count(rows->n / b.count));
        assert_int_equal(b.shards.count, shards);
        assert_int_equal(b.shards.border[shards], batch.n);
        assert_true(batch.n >= (rows->n < size ? rows->n : size) - shards);
        assert_true(batch.n <= rows->n / b.count + shards);
        for (int v = 0; v < shards; v++)
            for (int64_t i = b.shards.border[v]; i < b.shards.border[v + 1]; i++) {
                const int64_t position = sn_rows_at(&batch, i) - sn_rows_at(rows, 0);
                assert_true(position >= sn_shard_border(rows->n, shards, v));
                assert_true(position < sn_shard_border(rows->n, shards, v + 1));
                assert_int_equal(met[position]++, 0);
            }
        visited += batch.n;
    }
    assert_int_equal(visited, rows->n);
    free(met);
    sn_batches_clear(&b);
}

TEST(test_epochs)
{
    const int64_t sizes[][2] = {{1, 1},      {7, 64},       {64, 64},    {1000, 64},
                                {1001, 300}, {20000, 4096}, {9001, 9001}};
    for (int k = 0; k < 7; k++)
        for (uint32_t epoch = 0; epoch < 3; epoch++) {
            const sn_rows rows = sn_rows_range(5, sizes[k][0]);
            check_epoch(&rows, sizes[k][1], epoch);
        }
}

/* Each shard has its part of the shuffle of its rows, keyed by seed, epoch and shard; a batch of the usual
   size is one shard, drawn by the plain shuffle of all rows. */
TEST(test_the_order_of_shards)
{
    enum { N = 8192, SEED = 21 };
    static int64_t list[N];
    for (int64_t i = 0; i < N; i++) list[i] = 3 * i;
    const sn_rows rows = sn_rows_list(list, N);
    for (int k = 0; k < 4; k++) {
        const uint32_t epoch = (uint32_t)k / 2;
        const int shards = k % 2 == 0 ? 1 : 8;
        sn_shuffle order[8];
        int64_t at[8] = {0};
        sn_batches b;
        OK(sn_batches_create(&rows, shards == 1 ? 64 : 1024, SEED, &b));
        assert_int_equal(b.shards.total, shards);
        for (uint32_t v = 0; v < (uint32_t)shards; v++) {
            if (shards == 1)
                sn_shuffle_init(&order[v], N, SEED, epoch);
            else
                sn_shuffle_init_shard(&order[v], N / 8, SEED, epoch, v);
        }
        sn_batches_shuffle(&b, epoch);
        for (int64_t index = 0; index < b.count; index++) {
            const sn_rows batch = sn_batches_draw(&b, index);
            for (int v = 0; v < shards; v++)
                for (int64_t i = b.shards.border[v]; i < b.shards.border[v + 1]; i++)
                    assert_int_equal(sn_rows_at(&batch, i),
                                     list[N / shards * v + (int)sn_shuffle_at(&order[v], (uint64_t)at[v]++)]);
        }
        for (int v = 0; v < shards; v++) assert_int_equal(at[v], N / shards);
        sn_batches_clear(&b);
    }
}

/* A source that knows which of its rows it may be asked for. */
typedef struct watched_source {
    sn_row_source base;
    int *wanted; /* of each row: asked for and not given back */
    int64_t most, now;
} watched_source;

static void note(const sn_row_source *source, int64_t first, int64_t count, sn_outlook outlook)
{
    watched_source *self = (watched_source *)source;
    const bool soon = outlook == SN_SOON;
    if (outlook == SN_RESPONSE_RESTS) return;
    for (int64_t i = first; i < first + count; i++) {
        self->now += (soon ? 1 : 0) - self->wanted[i];
        self->wanted[i] = soon;
    }
    if (self->now > self->most) self->most = self->now;
}

/* By windows too every row comes once an epoch, from its shard; batches drawn from the middle of an epoch on
   are the same; rows are asked for before they are drawn, and no more than two windows of them at a time. */
TEST(test_windows)
{
    enum { N = 30011, P = 3 };
    const sn_windowing small = {.whole = 1000, .block = 40 * P, .blocks = 64};
    static int wanted[N + 7], met[N];
    int64_t list[N];
    for (int64_t i = 0; i < N; i++) list[i] = i + (i > 500 ? 7 : 0);
    const sn_rows sets[] = {sn_rows_range(7, N), sn_rows_list(list, N)};
    for (int k = 0; k < 4; k++) {
        watched_source source = {.base = {.expect = note}, .wanted = wanted};
        const sn_problem problem = {.n = N + 7, .p = P, .source = &source.base};
        const sn_rows *rows = &sets[k % 2];
        const int64_t size = k < 2 ? 1000 : 100;
        sn_batches b, again;
        memset(met, 0, sizeof met);
        memset(wanted, 0, sizeof wanted);
        OK(sn_batches_create(rows, size, 3, &b));
        OK(sn_batches_create(rows, size, 3, &again));
        OK(sn_batches_window(&b, &problem, &small));
        const sn_problem quiet = {.n = N + 7, .p = P};
        OK(sn_batches_window(&again, &quiet, &small));
        again.threads = 3;
        assert_non_null(b.windows);
        for (uint32_t epoch = 0; epoch < 2; epoch++) {
            sn_batches_shuffle(&b, epoch);
            sn_batches_shuffle(&again, epoch);
            int64_t near = 0;
            for (int64_t at = 0; at < b.count; at++) {
                const sn_rows batch = sn_batches_draw(&b, at);
                for (int64_t i = 0; i < batch.n; i++) {
                    const int64_t row = sn_rows_at(&batch, i),
                                  place = k % 2 == 0 ? row - 7 : row - 7 * (row > 500);
                    assert_int_equal(wanted[row], 1);
                    assert_int_equal(met[place]++, (int)epoch);
                    near += i > 0 && llabs(row - sn_rows_at(&batch, i - 1)) < 2;
                }
                if (at % 7 != 3) continue;
                const sn_rows other = sn_batches_draw(&again, at);
                assert_int_equal(other.n, batch.n);
                assert_memory_equal(other.list, batch.list, (size_t)batch.n * sizeof *batch.list);
            }
            assert_true(near < N / 20); /* rows that lie side by side come apart */
        }
        for (int64_t i = 0; i < N; i++) assert_int_equal(met[i], 2);
        const int64_t shards = b.shards.total, window = 64 / shards * 41 * shards;
        assert_true(source.most <= 2 * window + 64);
        sn_batches_clear(&b);
        sn_batches_clear(&again);
    }
}

/* The definition: block b has the rows from b n / blocks on; blocks in the order of the shuffle of shard
   SN_MAX_SHARDS + shard; the rows of window w in that of shard (2 + w) SN_MAX_SHARDS + shard. In pieces, from
   anywhere, and no further than asked for. */
TEST(test_the_order_of_windows)
{
    enum { N = 1003, BLOCK = 10, BLOCKS = 101, MOST = 20, SHARD = 3 };
    int64_t wanted[N], rows[N + 1], list[N], at = 0;
    sn_shuffle blocks, order;
    sn_shuffle_init_shard(&blocks, BLOCKS, 9, 4, SN_MAX_SHARDS + SHARD);
    for (int window = 0; window * MOST < BLOCKS; window++) {
        int64_t count = 0;
        for (int k = window * MOST; k < BLOCKS && k < (window + 1) * MOST; k++) {
            const int64_t block = (int64_t)sn_shuffle_at(&blocks, (uint64_t)k);
            for (int64_t r = block * N / BLOCKS; r < (block + 1) * N / BLOCKS; r++) list[count++] = r;
        }
        sn_shuffle_init_shard(&order, (uint64_t)count, 9, 4, (uint32_t)(2 + window) * SN_MAX_SHARDS + SHARD);
        for (int64_t i = 0; i < count; i++) wanted[at++] = list[sn_shuffle_at(&order, (uint64_t)i)];
    }
    assert_int_equal(at, N);
    sn_windows windows;
    OK(sn_windows_create(N, BLOCK, MOST, &windows));
    assert_int_equal(windows.blocks, BLOCKS);
    assert_int_equal(windows.most, MOST);
    sn_windows_shuffle(&windows, 9, 4, SHARD);
    for (int pass = 0; pass < 3; pass++) {
        const int64_t step = pass == 0 ? N : 37;
        for (int64_t first = 0; first < N; first += step) {
            const int64_t from = pass == 2 ? (N / step - first / step) * step : first; /* backwards */
            const int64_t count = N - from < step ? N - from : step;
            rows[count] = -5;
            sn_windows_rows(&windows, from, count, rows);
            assert_memory_equal(rows, wanted + from, (size_t)count * sizeof *rows);
            assert_int_equal(rows[count], -5);
        }
    }
    sn_windows_clear(&windows);
    OK(sn_windows_create(25, BLOCK, MOST, &windows));
    assert_true(windows.blocks == 3 && windows.most == 3);
    sn_windows_clear(&windows);
}

/* Windows where there are more numbers than `whole`; blocks of so many numbers, one row at least; so many in
   all shards together. */
TEST(test_sizes_of_windows)
{
    static const struct {
        int64_t n, p, size;
        sn_windowing how;
        int64_t blocks, most; /* 0: no windows */
    } cases[] = {
        {1000, 4, 100, {.whole = 4000, .block = 40, .blocks = 8}, 0, 0},
        {1000, 4, 100, {.whole = 3996, .block = 40, .blocks = 8}, 100, 8},
        {1000, 4, 100, {.whole = 3996, .block = 3, .blocks = 8}, 1000, 8},
        {1000, 4, 100, {.whole = 3996, .block = 8, .blocks = 1}, 500, 1},
        {8000, 2, 4000, {.whole = 100, .block = 40, .blocks = 64}, -1, -1},
        {8000, 2, 4000, {.whole = 100, .block = 40, .blocks = 3}, -1, -1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sn_rows rows = sn_rows_range(0, cases[k].n);
        const sn_problem problem = {.n = cases[k].n, .p = cases[k].p};
        sn_batches b;
        OK(sn_batches_create(&rows, cases[k].size, 3, &b));
        OK(sn_batches_window(&b, &problem, &cases[k].how));
        assert_int_equal(b.windows != NULL, cases[k].blocks != 0);
        if (cases[k].blocks > 0) {
            assert_int_equal(b.windows[0].blocks, cases[k].blocks);
            assert_int_equal(b.windows[0].most, cases[k].most);
        }
        if (cases[k].blocks < 0) {
            const int64_t shards = b.shards.total, most = cases[k].how.blocks / shards;
            assert_true(shards > 1);
            for (int v = 0; v < shards; v++) {
                assert_int_equal(b.windows[v].most, most > 1 ? most : 1);
                assert_int_equal(b.windows[v].blocks, (b.windows[v].n + 19) / 20);
            }
        }
        sn_batches_clear(&b);
    }
}

/* What several draw, a part of the shards each, is together what one draws, with or without windows. */
TEST(test_shares)
{
    enum { N = 9000, SIZE = 3000 };
    const sn_rows rows = sn_rows_range(11, N);
    const sn_problem problem = {.n = N + 11, .p = 2};
    const sn_windowing small = {.whole = 100, .block = 40, .blocks = 64};
    for (int windows = 0; windows < 2; windows++) {
        sn_batches whole, part;
        OK(sn_batches_create(&rows, SIZE, 3, &whole));
        if (windows) OK(sn_batches_window(&whole, &problem, &small));
        const int total = whole.shards.total, cut[] = {0, 1, total - 1, total};
        assert_true(total > 3);
        for (int k = 0; k < 3; k++) {
            OK(sn_batches_create(&rows, SIZE, 3, &part));
            if (windows) OK(sn_batches_window(&part, &problem, &small));
            sn_batches_share(&part, cut[k], cut[k + 1] - cut[k]);
            for (uint32_t epoch = 0; epoch < 2; epoch++) {
                sn_batches_shuffle(&whole, epoch);
                sn_batches_shuffle(&part, epoch);
                for (int64_t at = 0; at < whole.count; at++) {
                    const sn_rows all = sn_batches_draw(&whole, at), own = sn_batches_draw(&part, at);
                    const int64_t *border = whole.shards.border, first = border[cut[k]];
                    assert_int_equal(part.whole, all.n);
                    assert_int_equal(whole.whole, all.n);
                    assert_int_equal(own.n, border[cut[k + 1]] - first);
                    assert_memory_equal(own.list, all.list + first, (size_t)own.n * sizeof *own.list);
                    for (int v = cut[k]; v <= cut[k + 1]; v++)
                        assert_int_equal(part.shards.border[v - cut[k]], border[v] - first);
                }
            }
            sn_batches_clear(&part);
        }
        sn_batches_clear(&whole);
    }
}

/* Tables that are no larger than usual are shuffled as a whole. */
TEST(test_small_tables_have_no_windows)
{
    const sn_rows rows = sn_rows_range(0, 60000);
    const sn_problem problem = {.n = 60000, .p = 784};
    sn_batches b;
    OK(sn_batches_create(&rows, 1000, 3, &b));
    OK(sn_batches_window(&b, &problem, &sn_windowing_usual));
    assert_null(b.windows);
    sn_batches_clear(&b);
}

RUN_TESTS(NULL, NULL)
