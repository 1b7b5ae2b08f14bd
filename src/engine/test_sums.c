/* Shards and their tree: what is added to what does not depend on who holds which shards, of one process or
   of any number of ranks. */
#include "base/test_kit.h"
#include "base/test_wire.h"
#include "engine/team_sums.h"

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

/* Numbers whose sum depends on the order, of doubles and of floats. */
static double number(int shard, int j)
{
    const uint32_t word = (uint32_t)(shard * 31 + j * 7 + 1) * 2654435761U;
    return (double)word / 3e9 - 0.3 + (shard % 7 == 0 ? 1000.0 : 0.0);
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
            root->gradient[j] = sums->single ? (double)(float)number(v, j) : number(v, j);
        }
        sn_sums_close(sums);
    }
}

/* A node is the sum of its halves, and nothing else. */
static double by_halves(int first, int count, int j)
{
    if (count == 1) return (double)(float)number(first, j);
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

TEST(test_mistakes)
{
    SN_FREED_BY(sn_sums_clear) sn_sums sums = sn_sums_empty(PARAMETERS, true);
    sum_range(&sums, 4, 1, 4);
    assert_int_equal(sums.roots, 2); /* [1,2) and [2,4) */
    assert_int_equal(sn_sums_check(&sums), STONET_ERROR_ARGUMENT);
    assert_int_equal(sn_sums_open(&sums, 0), STONET_ERROR_ARGUMENT); /* comes before, not after */
    assert_int_equal(sn_sums_open(&sums, 4), STONET_ERROR_ARGUMENT);
}

typedef struct job {
    int shards;
    bool single;
    int held; /* shards of this rank */
    double loss, weight, gradient[PARAMETERS];
} job;

static void join(test_rank *self)
{
    job *of = self->user;
    int first;
    SN_FREED_BY(sn_sums_clear) sn_sums sums = sn_sums_empty(PARAMETERS, of->single);
    sn_team_shards(self->team, of->shards, &first, &of->held);
    for (int again = 0; again < 2; again++) { /* the room of the first time serves the second */
        sum_range(&sums, of->shards, first, first + of->held);
        OK(sn_team_join_sums(self->team, &sums));
    }
    OK(sn_sums_check(&sums));
    of->loss = sums.root[0].loss;
    of->weight = sums.root[0].weight;
    memcpy(of->gradient, sums.root[0].gradient, sizeof of->gradient);
}

/* All numbers on all ranks are those of one process. */
static void check_ranks(int ranks, int shards, bool single)
{
    static job jobs[TEST_RANKS];
    int held = 0;
    SN_FREED_BY(sn_sums_clear) sn_sums alone = sn_sums_empty(PARAMETERS, single);
    for (int r = 0; r < ranks; r++) jobs[r] = (job){.shards = shards, .single = single};
    sum_range(&alone, shards, 0, shards);
    test_run_ranks(ranks, join, jobs, sizeof *jobs);
    for (int r = 0; r < ranks; r++) {
        held += jobs[r].held;
        assert_true(jobs[r].loss == alone.root[0].loss && jobs[r].weight == alone.root[0].weight);
        assert_memory_equal(jobs[r].gradient, alone.root[0].gradient, sizeof jobs[r].gradient);
    }
    assert_int_equal(held, shards);
}

TEST(ranks_change_nothing)
{
    for (int ranks = 2; ranks <= 11; ranks++)
        for (int shards = 2; shards <= SN_MAX_SHARDS; shards *= 2)
            for (int single = 0; single < 2; single++) check_ranks(ranks, shards, single != 0);
}

/* Rows of a pass over all, shared out: every row once, in shards that know where they are. */
TEST(whole_passes_are_shared_out)
{
    const int64_t n = 5003;
    const sn_rows rows = sn_rows_range(10, n);
    for (int ranks = 1; ranks <= 7; ranks++) {
        int64_t next = 10;
        for (int r = 0; r < ranks; r++) {
            stonet_team *team;
            sn_shards shards;
            OK(sn_team_create(&(sn_wire){.rank = r, .ranks = ranks}, &team));
            const sn_rows own = sn_team_rows(team, &rows, &shards);
            assert_int_equal(own.first, next);
            assert_int_equal(shards.border[shards.count], own.n);
            next += own.n;
            sn_team_free(team);
        }
        assert_int_equal(next, 10 + n);
    }
}

RUN_TESTS(NULL, NULL)
