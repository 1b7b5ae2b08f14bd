/* The workspace: aligned blocks that do not overlap, many of them, failure, and the end of a scope. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/workspace.h"

static void blocks_are_aligned_and_their_own(void **unused)
{
    (void)unused;
    SN_WORKSPACE(scratch);
    enum { MANY = 300 }; /* more than the list has room for at first, several times over */
    unsigned char *block[MANY];
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(SN_TAKE(&scratch, block[i], 1 + 7 * i), STONET_OK);
        assert_int_equal((uintptr_t)block[i] % 64, 0);
        memset(block[i], (int)(i % 251), 1 + 7 * i);
    }
    for (size_t i = 0; i < MANY; i++)
        for (size_t k = 0; k < 1 + 7 * i; k++) assert_int_equal(block[i][k], i % 251);
    assert_int_equal(scratch.count, MANY);
}

static void zeroed_blocks_are_zero(void **unused)
{
    (void)unused;
    for (int round = 0; round < 3; round++) { /* memory that was used before */
        SN_WORKSPACE(scratch);
        double *a = NULL, *b = NULL;
        assert_int_equal(SN_TAKE_ZERO(&scratch, a, 1000), STONET_OK);
        for (int i = 0; i < 1000; i++) assert_true(a[i] == 0.0);
        assert_int_equal(SN_TAKE(&scratch, b, 1000), STONET_OK);
        memset(a, 1, 1000 * sizeof *a);
        memset(b, 1, 1000 * sizeof *b);
    }
}

static void nothing_is_a_block_too(void **unused)
{
    (void)unused;
    SN_WORKSPACE(scratch);
    int64_t *none = NULL;
    assert_int_equal(SN_TAKE(&scratch, none, 0), STONET_OK);
    assert_non_null(none);
}

static void failure_leaves_what_was_taken(void **unused)
{
    (void)unused;
    SN_WORKSPACE(scratch);
    double *kept = NULL, *lost = NULL;
    assert_int_equal(SN_TAKE_ZERO(&scratch, kept, 10), STONET_OK);
    assert_int_equal(SN_TAKE(&scratch, lost, SIZE_MAX / 4), STONET_ERROR_MEMORY);
    assert_null(lost);
    assert_true(strlen(stonet_last_error()) > 20);
    assert_int_equal(SN_TAKE(&scratch, lost, SIZE_MAX / sizeof(double) - 64), STONET_ERROR_MEMORY);
    assert_int_equal(scratch.count, 1);
    assert_true(kept[9] == 0.0);
    assert_int_equal(SN_TAKE(&scratch, lost, 10), STONET_OK);
}

static void an_emptied_workspace_can_be_used_again(void **unused)
{
    (void)unused;
    SN_WORKSPACE(scratch);
    int *a = NULL;
    assert_int_equal(SN_TAKE(&scratch, a, 100), STONET_OK);
    sn_workspace_free(&scratch);
    assert_int_equal(scratch.count, 0);
    assert_null(scratch.block);
    sn_workspace_free(&scratch);
    assert_int_equal(SN_TAKE(&scratch, a, 100), STONET_OK);
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
static void what_is_kept_outlives_the_scope(void **unused)
{
    (void)unused;
    SN_WORKSPACE(keep);
    double *kept = NULL;
    assert_int_equal(leave_early(&keep, true, &kept), STONET_ERROR_DATA);
    assert_int_equal(keep.count, 0);
    assert_int_equal(leave_early(&keep, false, &kept), STONET_OK);
    assert_int_equal(keep.count, 1);
    for (int i = 0; i < 5; i++) assert_true(kept[i] == i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_their_own),
        cmocka_unit_test(zeroed_blocks_are_zero),
        cmocka_unit_test(nothing_is_a_block_too),
        cmocka_unit_test(failure_leaves_what_was_taken),
        cmocka_unit_test(an_emptied_workspace_can_be_used_again),
        cmocka_unit_test(what_is_kept_outlives_the_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
