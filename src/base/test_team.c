/* Ranks with each other: what one has comes to all, shares make a whole, pieces are dealt out once. */
#include "base/test_kit.h"
#include "base/test_wire.h"
#include "base/work_queue.h"

enum { THINGS = 37, PIECES = 50 };

typedef struct share {
    int64_t things[THINGS];
    int64_t word[TEST_RANKS];
    int64_t found[PIECES]; /* what each piece has found */
    int worked[PIECES];
    int rank;
    sn_pack record;
} share;

static void spread_and_gather(test_rank *self)
{
    share *s = self->user;
    const int ranks = stonet_team_ranks(self->team);
    for (int from = 0; from < ranks; from++) {
        s->word[from] = 100 * self->rank + from;
        OK(sn_team_spread(self->team, from, &s->word[from], sizeof *s->word));
    }
    const int64_t first = sn_team_border(self->team, THINGS, self->rank),
                  last = sn_team_border(self->team, THINGS, self->rank + 1);
    for (int64_t i = first; i < last; i++) s->things[i] = 1000 + i;
    OK(sn_team_gather(self->team, THINGS, sizeof *s->things, s->things));
    if (self->rank == 1) OK(sn_pack_int(&s->record, 77));
    if (ranks > 1) OK(sn_team_spread_pack(self->team, 1, &s->record));
}

TEST(all_get_what_one_has)
{
    for (int ranks = 1; ranks <= 9; ranks++) {
        static share shares[TEST_RANKS];
        memset(shares, 0, sizeof shares);
        test_run_ranks(ranks, spread_and_gather, shares, sizeof *shares);
        for (int r = 0; r < ranks; r++) {
            for (int from = 0; from < ranks; from++) assert_int_equal(shares[r].word[from], 101 * from);
            for (int i = 0; i < THINGS; i++) assert_int_equal(shares[r].things[i], 1000 + i);
            assert_int_equal(shares[r].record.size, ranks > 1 ? sizeof(int64_t) : 0);
            sn_pack_clear(&shares[r].record);
        }
    }
}

/* One rank with another job is found by all. */
static void agree(test_rank *self)
{
    share *s = self->user;
    for (int odd = -1; odd < stonet_team_ranks(self->team); odd++) {
        sn_hash hash;
        sn_hash_begin(&hash);
        sn_hash_text(&hash, self->rank == odd ? "another job" : "the job");
        const stonet_status status = sn_team_agree(self->team, &hash);
        s->worked[odd + 1] =
            status == STONET_ERROR_ARGUMENT && strstr(stonet_last_error(), "has other data") != NULL;
        if (odd < 0) OK(status);
    }
}

TEST(all_hear_of_one_with_another_job)
{
    for (int ranks = 1; ranks <= 5; ranks++) {
        static share shares[TEST_RANKS];
        memset(shares, 0, sizeof shares);
        test_run_ranks(ranks, agree, shares, sizeof *shares);
        for (int r = 0; r < ranks; r++)
            for (int odd = 0; odd < ranks; odd++) assert_int_equal(shares[r].worked[odd + 1], ranks > 1);
    }
}

static stonet_status work(void *user, int64_t piece, sn_pack *record)
{
    share *s = user;
#pragma omp atomic
    s->worked[piece]++;
    s->found[piece] = 7 * piece;
    return record != NULL ? sn_pack_int(record, 7 * piece) : STONET_OK;
}

static stonet_status take(void *user, int64_t piece, sn_unpack *record)
{
    share *s = user;
    return sn_unpack_int(record, &s->found[piece]);
}

static void deal(test_rank *self)
{
    share *s = self->user;
    const sn_work_set pieces = {
        .key = "set", .count = PIECES, .team = self->team, .work = work, .take = take, .user = s};
    OK(sn_work_queue_run(&pieces, 1 + self->rank % 2, NULL));
}

TEST(every_piece_is_done_once)
{
    for (int ranks = 1; ranks <= 7; ranks += 2) {
        static share shares[TEST_RANKS];
        memset(shares, 0, sizeof shares);
        test_run_ranks(ranks, deal, shares, sizeof *shares);
        for (int k = 0; k < PIECES; k++) {
            int done = 0;
            for (int r = 0; r < ranks; r++) {
                done += shares[r].worked[k];
                assert_int_equal(shares[r].found[k], 7 * k);
            }
            assert_int_equal(done, 1);
        }
    }
}

TEST(a_process_alone_is_no_team)
{
    stonet_team *team = (stonet_team *)(void *)&team;
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("PMIX_RANK");
    unsetenv("PMI_SIZE");
    unsetenv("PMI_RANK");
    OK(stonet_team_join(&team));
    assert_null(team);
    setenv("PMI_RANK", "0", 1); /* one task of srun */
    setenv("PMI_SIZE", "1", 1);
    OK(stonet_team_join(&team));
    assert_null(team);
    assert_int_equal(stonet_team_rank(NULL), 0);
    assert_int_equal(stonet_team_ranks(NULL), 1);
    assert_int_equal(stonet_team_meet(NULL, 0.0), 1);
    stonet_team_leave(NULL, 1);
    assert_int_equal(stonet_team_join(NULL), STONET_ERROR_ARGUMENT);
}

RUN_TESTS(NULL, NULL)
