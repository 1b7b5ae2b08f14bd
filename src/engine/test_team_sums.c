/*
 * Sums over ranks: the same bits as in one process, for any number of ranks and shards. A mutant that adds
 * the ranks' sums one after the other, as MPI_Allreduce may, does not give them.
 */
#include "base/test_kit.h"
#include "base/test_wire.h"
#include "engine/team_sums.h"
#include "math/noise.h"

enum { NUMBERS = 5 };

typedef struct job {
    int shards;
    bool single, mutant;
    double loss, weight, gradient[NUMBERS];
    int held; /* shards of this rank */
} job;

/* The sums of shards first .. first + count - 1, which are numbers of their own. */
static void sum_shards(sn_sums *sums, int shards, int first, int count)
{
    sn_sums_reset(sums, shards);
    for (int v = first; v < first + count; v++) {
        OK(sn_sums_open(sums, v));
        sn_root *root = &sums->root[sums->roots - 1];
        sn_random random = sn_random_from(5, SN_STREAM_TEST, (uint32_t)v);
        root->loss = sn_random_normal(&random);
        root->weight = 1.0 + v;
        for (int j = 0; j < NUMBERS; j++) {
            const double number = 100.0 * sn_random_normal(&random);
            root->gradient[j] = sums->single ? (double)(float)number : number;
        }
        sn_sums_close(sums);
    }
}

/* Every rank adds what all of them have in the order of the ranks. */
static void join_in_order(stonet_team *team, sn_sums *sums)
{
    double all[TEST_RANKS][NUMBERS + 2] = {{0}};
    double *own = all[stonet_team_rank(team)];
    for (int k = 0; k < sums->roots; k++) {
        own[0] += sums->root[k].loss;
        own[1] += sums->root[k].weight;
        for (int j = 0; j < NUMBERS; j++) own[2 + j] += sums->root[k].gradient[j];
    }
    OK(sn_team_gather(team, stonet_team_ranks(team), sizeof *all, all));
    sn_sums_reset(sums, sums->shards);
    OK(sn_sums_open(sums, 0));
    sn_root *root = &sums->root[0];
    root->count = sums->shards;
    for (int r = 0; r < stonet_team_ranks(team); r++) {
        root->loss += all[r][0];
        root->weight += all[r][1];
        for (int j = 0; j < NUMBERS; j++) {
            const double sum = root->gradient[j] + all[r][2 + j];
            root->gradient[j] = sums->single ? (double)(float)sum : sum;
        }
    }
}

static void join(test_rank *self)
{
    job *of = self->user;
    int first, count;
    sn_sums sums = sn_sums_empty(NUMBERS, of->single);
    sn_team_shards(self->team, of->shards, &first, &count);
    sum_shards(&sums, of->shards, first, count);
    of->held = count;
    for (int again = 0; again < 2; again++) { /* the room of the first time serves the second */
        if (again == 1) sum_shards(&sums, of->shards, first, count);
        if (of->mutant)
            join_in_order(self->team, &sums);
        else
            OK(sn_team_join_sums(self->team, &sums));
    }
    OK(sn_sums_check(&sums));
    of->loss = sums.root[0].loss;
    of->weight = sums.root[0].weight;
    memcpy(of->gradient, sums.root[0].gradient, sizeof of->gradient);
    sn_sums_clear(&sums);
}

/* How many of all numbers on all ranks differ from those of one process. */
static int count_differences(int ranks, int shards, bool single, bool mutant)
{
    static job jobs[TEST_RANKS];
    sn_sums alone = sn_sums_empty(NUMBERS, single);
    int different = 0, held = 0;
    for (int r = 0; r < ranks; r++) jobs[r] = (job){.shards = shards, .single = single, .mutant = mutant};
    sum_shards(&alone, shards, 0, shards);
    test_run_ranks(ranks, join, jobs, sizeof *jobs);
    for (int r = 0; r < ranks; r++) {
        held += jobs[r].held;
        different += jobs[r].loss != alone.root[0].loss;
        different += jobs[r].weight != alone.root[0].weight;
        for (int j = 0; j < NUMBERS; j++) different += jobs[r].gradient[j] != alone.root[0].gradient[j];
    }
    assert_int_equal(held, shards);
    sn_sums_clear(&alone);
    return different;
}

TEST(ranks_change_nothing)
{
    for (int ranks = 2; ranks <= 11; ranks++)
        for (int shards = 2; shards <= SN_MAX_SHARDS; shards *= 2)
            for (int single = 0; single < 2; single++)
                assert_int_equal(count_differences(ranks, shards, single != 0, false), 0);
}

TEST(adding_in_order_is_noticed)
{
    assert_true(count_differences(3, SN_MAX_SHARDS, true, true) > 0);
    assert_true(count_differences(7, SN_MAX_SHARDS, false, true) > 0);
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
