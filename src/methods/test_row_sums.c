/* Sums over rows: the same bits for any number of ranks, which is not so for sums that run through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

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
    sn_random random;
    sn_random_init(&random, 5, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < N * SIZE; i++) x[i] = sn_random_normal(&random);
    return 0;
}

static void sum_on_rank(test_rank *self)
{
    double *total = self->user;
    if (sn_row_sums(self->team, N, SIZE, add, x, total) != STONET_OK) abort();
}

static void test_ranks(void **state)
{
    (void)state;
    double alone[SIZE], through[SIZE] = {0};
    assert_int_equal(sn_row_sums(NULL, N, SIZE, add, x, alone), STONET_OK);
    assert_int_equal(add(x, 0, N, through), STONET_OK);
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
static void test_few_rows(void **state)
{
    (void)state;
    double total[SIZE], through[SIZE] = {0};
    assert_int_equal(sn_row_sums(NULL, 16000, SIZE, add, x, total), STONET_OK);
    assert_int_equal(add(x, 0, 16000, through), STONET_OK);
    assert_memory_equal(total, through, sizeof through);
}

static void test_a_failure_is_passed_on(void **state)
{
    (void)state;
    double total[SIZE];
    assert_int_equal(sn_row_sums(NULL, N, SIZE, add_nothing, x, total), STONET_ERROR_NUMERIC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks), cmocka_unit_test(test_few_rows),
                                       cmocka_unit_test(test_a_failure_is_passed_on)};
    return cmocka_run_group_tests_name("methods_row_sums", tests, fill, NULL);
}
