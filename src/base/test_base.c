/* Settings, memory, sentences and steps: the unpleasant cases first. */
#include "base/failure.h"
#include "base/memory.h"
#include "base/params.h"
#include "base/run.h"
#include "base/test_kit.h"

static const sn_param table[] = {
    {"epochs", SN_INTEGER, "auto", 1, 1000, "auto", "passes"},
    {"lr", SN_REAL, "0.1", 0, 1, NULL, "step"},
    {"kind", SN_CHOICE, "tanh", 0, 0, "tanh|relu", "activation"},
    {"hidden", SN_INTEGERS, "none", 1, 99, "none", "widths"},
    {"sigma2", SN_REALS, "0.5,0.25", 1e-9, 10, NULL, "variances"},
};
enum { TABLE = sizeof table / sizeof *table };

TEST(test_defaults_and_values)
{
    SN_AUTO(sn_settings) *s = NULL, *copy = NULL;
    size_t count;
    OK(sn_settings_create(table, TABLE, &s));
    assert_true(sn_is(s, "epochs", "auto"));
    assert_false(sn_was_set(s, "epochs"));
    assert_true(sn_real(s, "lr") == 0.1);
    assert_true(sn_list(s, "sigma2", &count)[1] == 0.25 && count == 2);
    sn_list(s, "hidden", &count);
    assert_int_equal(count, 0);
    OK(sn_settings_set(s, "epochs", "12"));
    OK(sn_settings_set(s, "hidden", "4,8,99"));
    assert_int_equal(sn_int(s, "epochs"), 12);
    assert_true(sn_was_set(s, "epochs"));
    OK(sn_settings_copy(s, &copy));
    assert_true(sn_list(copy, "hidden", &count)[2] == 99.0 && count == 3);
    assert_string_equal(sn_text(copy, "hidden"), "4,8,99");
}

TEST(test_bad_values_are_refused_and_change_nothing)
{
    const char *const bad[][3] = {
        {"epochs", "0", "from 1 to 1000"},
        {"epochs", "1.5", "whole number"},
        {"epochs", "", "cannot be ''"},
        {"epochs", "auto2", "auto"},
        {"epochs", "1,2", "whole number"},
        {"lr", "nan", "cannot be 'nan'"},
        {"lr", "inf", "from 0 to 1"},
        {"lr", "0.1x", "a number"},
        {"lr", "-1", "from 0 to 1"},
        {"kind", "tan", "tanh|relu"},
        {"kind", "tanh|relu", "tanh|relu"},
        {"kind", "", "one of"},
        {"hidden", "4,,8", "whole numbers"},
        {"hidden", "4,", "whole numbers"},
        {"hidden", ",4", "whole numbers"},
        {"hidden", "4,200", "from 1 to 99"},
        {"sigma2", "1e-10", "each from 1e-09"},
        {"sgima2", "1", "did you mean 'sigma2'"},
        {"xyzzy", "1", "no setting 'xyzzy'"},
    };
    SN_AUTO(sn_settings) *s = NULL;
    OK(sn_settings_create(table, TABLE, &s));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sn_settings_set(s, bad[i][0], bad[i][1]), STONET_ERROR_ARGUMENT);
        if (strstr(stonet_last_error(), bad[i][2]) == NULL)
            fail_msg("'%s' does not say '%s'", stonet_last_error(), bad[i][2]);
    }
    assert_true(sn_is(s, "epochs", "auto") && sn_real(s, "lr") == 0.1 && sn_is(s, "kind", "tanh"));
}

TEST(test_memory_says_what_is_missing)
{
    assert_null(sn_calloc(SIZE_MAX / 2, 4));
    assert_non_null(strstr(stonet_last_error(), "more than this machine can address"));
    assert_null(sn_calloc((size_t)1 << 60, 1));
    assert_non_null(strstr(stonet_last_error(), "memory ran out"));
    assert_says(sn_memory_require(UINT64_MAX, "this test", "use less"), STONET_ERROR_MEMORY, "use less");
    OK(sn_memory_require(1, "this test", "use less"));
    SN_BLOCK double *block = sn_calloc(3, sizeof *block);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    assert_true(block[0] == 0.0 && block[2] == 0.0);
}

TEST(test_sentences_can_build_on_the_last_one)
{
    assert_int_equal(sn_fail(STONET_ERROR_IO, "no %s", "room"), STONET_ERROR_IO);
    assert_int_equal(sn_fail_prefix(STONET_ERROR_IO, "file %d", 3), STONET_ERROR_IO);
    assert_string_equal(stonet_last_error(), "file 3: no room");
    for (int i = 0; i <= STONET_ERROR_INTERRUPTED; i++)
        assert_string_not_equal(stonet_status_name((stonet_status)i), "unknown status");
}

/* The sentence of a worker comes to the caller, and of several that of the first piece. */
TEST(failures_of_workers_keep_their_sentence)
{
    enum { PIECES = 16 };
    sn_failure failure = {.status = STONET_OK};
    sn_fail(STONET_ERROR_DATA, "something older");
    OK(sn_failure_raise(&failure));
#pragma omp parallel for num_threads(4) schedule(static, 1)
    for (int64_t k = 0; k < PIECES; k++) {
        const bool fails = k % 4 == 3 && k > 3; /* never on the thread of the caller */
        sn_failure_note(&failure, k,
                        fails ? sn_fail(STONET_ERROR_NUMERIC, "piece %d is bad", (int)k) : STONET_OK);
    }
    assert_int_equal(sn_failure_raise(&failure), STONET_ERROR_NUMERIC);
    assert_string_equal(stonet_last_error(), "piece 7 is bad");
}

TEST(steps_that_are_left_are_guessed)
{
    assert_true(sn_steps_left(0.0, 1.0, 1e-3) == 3.0);
    assert_true(sn_steps_left(100.0, 1.0, 1e-4) == 2.0);
    assert_true(sn_steps_left(1.0, 2.0, 1.0) > 1.0); /* what grows is taken to fall slowly */
    assert_true(sn_steps_left(1.0, 0.5, 0.5) == 0.0);
}

RUN_TESTS(NULL, NULL)
