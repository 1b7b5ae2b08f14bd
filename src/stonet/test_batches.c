#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "stonet/batches.h"

/* Every row once an epoch; shard after shard, each from its own part of the rows; sizes nearly equal. */
static void check_epoch(const sn_rows *rows, int64_t size, uint32_t epoch)
{
    sn_batches b;
    assert_int_equal(sn_batches_create(rows, size, 9, &b), STONET_OK);
    int *met = calloc((size_t)rows->n, sizeof *met);
    assert_non_null(met);
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

static void test_epochs(void **state)
{
    (void)state;
    const int64_t sizes[][2] = {{1, 1},      {7, 64},       {64, 64},    {1000, 64},
                                {1001, 300}, {20000, 4096}, {9001, 9001}};
    for (int k = 0; k < 7; k++)
        for (uint32_t epoch = 0; epoch < 3; epoch++) {
            const sn_rows rows = sn_rows_range(5, sizes[k][0]);
            check_epoch(&rows, sizes[k][1], epoch);
        }
}

/* A batch of the usual size is one shard, drawn by the plain shuffle of all rows. */
static void test_small_batches_are_one_shard(void **state)
{
    (void)state;
    enum { N = 1000 };
    int64_t list[N];
    for (int64_t i = 0; i < N; i++) list[i] = 3 * i;
    const sn_rows rows = sn_rows_list(list, N);
    sn_batches b;
    assert_int_equal(sn_batches_create(&rows, 64, 21, &b), STONET_OK);
    sn_batches_shuffle(&b, 4);
    sn_shuffle plain;
    sn_shuffle_init(&plain, N, 21, 4);
    int64_t at = 0;
    for (int64_t k = 0; k < b.count; k++) {
        const sn_rows batch = sn_batches_draw(&b, k);
        assert_int_equal(b.shards.total, 1);
        for (int64_t i = 0; i < batch.n; i++)
            assert_int_equal(sn_rows_at(&batch, i), list[sn_shuffle_at(&plain, (uint64_t)at++)]);
    }
    assert_int_equal(at, N);
    sn_batches_clear(&b);
}

/* Shards and epochs have orders of their own. */
static void test_orders_differ(void **state)
{
    (void)state;
    const sn_rows rows = sn_rows_range(0, 8192);
    sn_batches b;
    assert_int_equal(sn_batches_create(&rows, 1024, 2, &b), STONET_OK);
    assert_int_equal(b.shards.total, 8);
    int64_t first[1024];
    sn_batches_shuffle(&b, 0);
    sn_batches_draw(&b, 0);
    memcpy(first, b.drawn, sizeof first);
    int same = 0;
    for (int i = 0; i < 128; i++) same += first[128 + i] - 1024 == first[i];
    assert_true(same < 10);
    sn_batches_shuffle(&b, 1);
    sn_batches_draw(&b, 0);
    assert_memory_not_equal(b.drawn, first, sizeof first);
    sn_batches_shuffle(&b, 0);
    sn_batches_draw(&b, 0);
    assert_memory_equal(b.drawn, first, sizeof first);
    sn_batches_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_epochs),
                                       cmocka_unit_test(test_small_batches_are_one_shard),
                                       cmocka_unit_test(test_orders_differ)};
    return cmocka_run_group_tests_name("stonet_batches", tests, NULL, NULL);
}
