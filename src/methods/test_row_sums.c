/* Sums over rows: the same bits for any number of ranks, which is not so for sums that run through. */
#include "base/test_kit.h"
#include "base/test_wire.h"
#include "math/noise.h"
#include "methods/row_sums.h"

enum { N = 100003, SIZE = 3 };

static double x[N * SIZE];

static stonet_status add(const void *user, int64_t first, int64_t count, double *sum)
{
    const double *from = user;
    for (int64_t i = first; i < first + count; i++)
        for (int64_t k = 0; k < SIZE; k++) sum[k] += from[i * SIZE + k];
    return STONET_OK;
}

static stonet_status add_nothing(const void *user, int64_t first, int64_t count, double *sum)
{
    (void)user;
    (void)sum;
    return first + count < N ? STONET_OK : sn_fail(STONET_ERROR_NUMERIC, "the last rows cannot be summed");
}

static int fill(void **state)
{
    (void)state;
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < N * SIZE; i++) x[i] = sn_random_normal(&random);
    return 0;
}

static void sum_on_rank(test_rank *self)
{
    double *total = self->user;
    if (sn_row_sums(self->team, N, SIZE, add, x, total) != STONET_OK) abort();
}

TEST(test_ranks)
{
    double alone[SIZE], through[SIZE] = {0};
    OK(sn_row_sums(NULL, N, SIZE, add, x, alone));
    OK(add(x, 0, N, through));
    int different = 0;
    for (int k = 0; k < SIZE; k++) {
        assert_float_equal(alone[k], through[k], 1e-8);
        different += alone[k] != through[k];
    }
    assert_true(different > 0);
    static const int ranks[] = {2, 3, 4, 7, 16};
    for (int r = 0; r < 5; r++) {
        double total[TEST_RANKS][SIZE];
        memset(total, 0, sizeof total);
        test_run_ranks(ranks[r], sum_on_rank, total, sizeof total[0]);
        for (int k = 0; k < ranks[r]; k++) assert_memory_equal(total[k], alone, sizeof alone);
    }
}

/* Few rows are summed as they come. */
TEST(test_few_rows)
{
    double total[SIZE], through[SIZE] = {0};
    OK(sn_row_sums(NULL, 16000, SIZE, add, x, total));
    OK(add(x, 0, 16000, through));
    assert_memory_equal(total, through, sizeof through);
}

TEST(test_a_failure_is_passed_on)
{
    double total[SIZE];
    assert_int_equal(sn_row_sums(NULL, N, SIZE, add_nothing, x, total), STONET_ERROR_NUMERIC);
}

RUN_TESTS(fill, NULL)
