/* Shards and their tree: what is added to what does not depend on who holds which shards. */
#include "base/test_kit.h"
#include "engine/sums.h"

enum { PARAMETERS = 5 };

TEST(test_counts)
{
    assert_int_equal(sn_shard_count(1), 1);
    assert_int_equal(sn_shard_count(2 * SN_SHARD_ROWS - 1), 1); /* the usual batches pay nothing */
    assert_int_equal(sn_shard_count(2 * SN_SHARD_ROWS), 2);
    assert_int_equal(sn_shard_count(1000), 4);
    assert_int_equal(sn_shard_count(100000000), SN_MAX_SHARDS);
}

/* Every border of few shards is a border of many, and no row is left out. */
TEST(test_borders_nest)
{
    const int64_t sizes[] = {64, 127, 1000003, 4294967295};
    for (int s = 0; s < 4; s++)
        for (int few = 1; few <= SN_MAX_SHARDS; few *= 2) {
            assert_int_equal(sn_shard_border(sizes[s], few, 0), 0);
            assert_int_equal(sn_shard_border(sizes[s], few, few), sizes[s]);
            for (int v = 0; v <= few; v++)
                assert_int_equal(sn_shard_border(sizes[s], few, v),
                                 sn_shard_border(sizes[s], SN_MAX_SHARDS, v * (SN_MAX_SHARDS / few)));
        }
    sn_shards shards;
    sn_shards_whole(1001, &shards);
    assert_int_equal(shards.total, 4);
    assert_int_equal(shards.count, 4);
    assert_int_equal(shards.border[1], 250);
    assert_int_equal(shards.border[4], 1001);
}

/* Numbers whose float sum depends on the order. */
static double number(int shard, int j)
{
    const uint32_t word = (uint32_t)(shard * 31 + j * 7 + 1) * 2654435761U;
    return (double)(float)((double)word / 4294967296.0 - 0.3 + (shard % 7 == 0 ? 1000.0 : 0.0));
}

static void sum_range(sn_sums *sums, int shards, int first, int last)
{
    sn_sums_reset(sums, shards);
    for (int v = first; v < last; v++) {
        OK(sn_sums_open(sums, v));
        sn_root *root = &sums->root[sums->roots - 1];
        root->loss = number(v, 100);
        root->weight = 1.0 + v;
        for (int j = 0; j < PARAMETERS; j++) {
            assert_true(root->gradient[j] == 0.0);
            root->gradient[j] = number(v, j);
        }
        sn_sums_close(sums);
    }
}

/* A node is the sum of its halves, and nothing else. */
static double by_halves(int first, int count, int j)
{
    if (count == 1) return number(first, j);
    return (double)(float)(by_halves(first, count / 2, j) + by_halves(first + count / 2, count / 2, j));
}

TEST(test_the_tree)
{
    for (int shards = 1; shards <= SN_MAX_SHARDS; shards *= 2) {
        SN_FREED_BY(sn_sums_clear) sn_sums sums = sn_sums_empty(PARAMETERS, true);
        sum_range(&sums, shards, 0, shards);
        OK(sn_sums_check(&sums));
        for (int j = 0; j < PARAMETERS; j++) assert_true(sums.root[0].gradient[j] == by_halves(0, shards, j));
    }
}

/* The planted mistake: the holders' sums added one after the other. It must not go unseen. */
TEST(test_another_order_is_another_sum)
{
    sn_sums whole = sn_sums_empty(PARAMETERS, true);
    sum_range(&whole, 64, 0, 64);
    int different = 0;
    for (int j = 0; j < PARAMETERS; j++) {
        float sum = 0.0F;
        for (int v = 0; v < 64; v++) sum += (float)number(v, j);
        different += (double)sum != whole.root[0].gradient[j];
    }
    assert_true(different > 0);
    sn_sums_clear(&whole);
}

TEST(test_mistakes)
{
    SN_FREED_BY(sn_sums_clear) sn_sums sums = sn_sums_empty(PARAMETERS, true);
    sum_range(&sums, 4, 1, 4);
    assert_int_equal(sums.roots, 2); /* [1,2) and [2,4) */
    assert_int_equal(sn_sums_check(&sums), STONET_ERROR_ARGUMENT);
    assert_int_equal(sn_sums_open(&sums, 0), STONET_ERROR_ARGUMENT); /* comes before, not after */
    assert_int_equal(sn_sums_open(&sums, 4), STONET_ERROR_ARGUMENT);
}

RUN_TESTS(NULL, NULL)
