/* The workspace: aligned blocks that do not overlap, many of them, failure, and the end of a scope. */
#include "base/test_kit.h"
#include "base/workspace.h"

TEST(blocks_are_aligned_and_their_own)
{
    SN_WORKSPACE(scratch);
    enum { MANY = 300 }; /* more than the list has room for at first, several times over */
    unsigned char *block[MANY];
    for (size_t i = 0; i < MANY; i++) {
        OK(SN_TAKE(&scratch, block[i], 1 + 7 * i));
        assert_int_equal((uintptr_t)block[i] % 64, 0);
        memset(block[i], (int)(i % 251), 1 + 7 * i);
    }
    for (size_t i = 0; i < MANY; i++)
        for (size_t k = 0; k < 1 + 7 * i; k++) assert_int_equal(block[i][k], i % 251);
    assert_int_equal(scratch.count, MANY);
}

TEST(zeroed_blocks_are_zero)
{
    for (int round = 0; round < 3; round++) { /* memory that was used before */
        SN_WORKSPACE(scratch);
        double *a = NULL, *b = NULL;
        OK(SN_TAKE_ZERO(&scratch, a, 1000));
        for (int i = 0; i < 1000; i++) assert_true(a[i] == 0.0);
        OK(SN_TAKE(&scratch, b, 1000));
        memset(a, 1, 1000 * sizeof *a);
        memset(b, 1, 1000 * sizeof *b);
    }
}

TEST(failure_leaves_what_was_taken)
{
    SN_WORKSPACE(scratch);
    double *kept = NULL, *lost = NULL;
    OK(SN_TAKE_ZERO(&scratch, kept, 10));
    assert_int_equal(SN_TAKE(&scratch, lost, SIZE_MAX / 4), STONET_ERROR_MEMORY);
    assert_null(lost);
    assert_true(strlen(stonet_last_error()) > 20);
    assert_int_equal(SN_TAKE(&scratch, lost, SIZE_MAX / sizeof(double) - 64), STONET_ERROR_MEMORY);
    assert_int_equal(scratch.count, 1);
    assert_true(kept[9] == 0.0);
    OK(SN_TAKE(&scratch, lost, 0)); /* nothing is a block too */
    assert_non_null(lost);
}

TEST(an_emptied_workspace_can_be_used_again)
{
    SN_WORKSPACE(scratch);
    int *a = NULL;
    OK(SN_TAKE(&scratch, a, 100));
    sn_workspace_free(&scratch);
    assert_int_equal(scratch.count, 0);
    assert_null(scratch.block);
    sn_workspace_free(&scratch);
    OK(SN_TAKE(&scratch, a, 100));
    a[99] = 1;
}

static stonet_status leave_early(sn_workspace *keep, bool early, double **out)
{
    SN_WORKSPACE(scratch);
    double *a = NULL;
    SN_TRY(SN_TAKE(&scratch, a, 1 << 10));
    if (early) return sn_fail(STONET_ERROR_DATA, "left early");
    SN_TRY(SN_TAKE(keep, *out, 5));
    for (int i = 0; i < 5; i++) (*out)[i] = a[i] = i;
    return STONET_OK;
}

/* Leaks of the inner scope are what the address sanitizer would report here. */
TEST(what_is_kept_outlives_the_scope)
{
    SN_WORKSPACE(keep);
    double *kept = NULL;
    assert_int_equal(leave_early(&keep, true, &kept), STONET_ERROR_DATA);
    assert_int_equal(keep.count, 0);
    OK(leave_early(&keep, false, &kept));
    assert_int_equal(keep.count, 1);
    for (int i = 0; i < 5; i++) assert_true(kept[i] == i);
}

RUN_TESTS(NULL, NULL)
