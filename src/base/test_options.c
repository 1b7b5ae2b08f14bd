/* Structs of options from callers that are older, newer, or forgot to say. */
#include "base/take_options.h"
#include "base/test_kit.h"

TEST(no_options_are_the_defaults)
{
    stonet_run run;
    OK(sn_take_run(NULL, &run));
    assert_int_equal(run.seed, 1);
    assert_int_equal(run.size, sizeof run);
    stonet_independence_options test;
    OK(SN_TAKE_OPTIONS(stonet_independence_options, STONET_INDEPENDENCE_OPTIONS_INIT, NULL, &test));
    assert_int_equal(test.permutations, 1000);
}

TEST(what_is_given_is_taken)
{
    stonet_use_options given = {.size = sizeof given, .threads = 3, .seed = 7, .draws = 9, .impute = 1},
                       taken;
    OK(sn_take_use_options(&given, &taken));
    assert_memory_equal(&given, &taken, sizeof given);
}

/* A caller built when the struct ended before `permutations`. */
TEST(an_older_struct_keeps_the_defaults_of_what_it_lacks)
{
    stonet_independence_options given = STONET_INDEPENDENCE_OPTIONS_INIT, taken;
    given.size = offsetof(stonet_independence_options, permutations);
    given.repeats = 4;
    given.permutations = -5; /* what lies behind an older struct is not the library's to read */
    OK(SN_TAKE_OPTIONS(stonet_independence_options, STONET_INDEPENDENCE_OPTIONS_INIT, &given, &taken));
    assert_int_equal(taken.repeats, 4);
    assert_int_equal(taken.permutations, 1000);
    assert_int_equal(taken.size, sizeof taken);
}

TEST(a_newer_struct_may_only_leave_its_own_members_at_zero)
{
    struct {
        stonet_tune_options known;
        int64_t later;
    } given = {.known = {.size = sizeof given, .folds = 3}};
    stonet_tune_options taken;
    OK(sn_take_tune_options(&given.known, &taken));
    assert_int_equal(taken.folds, 3);
    given.later = 1;
    assert_says(sn_take_tune_options(&given.known, &taken), STONET_ERROR_ARGUMENT, "does not know");
}

TEST(a_size_that_was_never_set_is_an_error)
{
    stonet_read_options forgotten = {.target = "y"}, taken;
    assert_says(sn_take_read_options(&forgotten, &taken), STONET_ERROR_ARGUMENT,
                "sizeof(stonet_read_options)");
    assert_null(taken.target);
    const size_t wild[] = {1, sizeof(size_t) - 1, SIZE_MAX, (size_t)1 << 40};
    for (size_t k = 0; k < sizeof wild / sizeof *wild; k++) {
        forgotten.size = wild[k];
        assert_int_equal(sn_take_read_options(&forgotten, &taken), STONET_ERROR_ARGUMENT);
    }
    stonet_compare_options none = {0}, compare;
    assert_int_equal(SN_TAKE_OPTIONS(stonet_compare_options, STONET_COMPARE_OPTIONS_INIT, &none, &compare),
                     STONET_ERROR_ARGUMENT);
}

TEST(negative_threads_are_an_error)
{
    stonet_run run = STONET_RUN_INIT, taken;
    run.threads = -1;
    assert_says(sn_take_run(&run, &taken), STONET_ERROR_ARGUMENT, "threads");
}

/* OpenMP ends the process that asks for more threads than the system gives. */
TEST(threads_without_end_are_bounded)
{
    stonet_run run = STONET_RUN_INIT, taken;
    run.threads = 99999;
    OK(sn_take_run(&run, &taken));
    assert_in_range(taken.threads, 256, 99998);
    run.threads = 3;
    OK(sn_take_run(&run, &taken));
    assert_int_equal(taken.threads, 3);
}

/* Arrays of texts that are not there, or have a hole. */
TEST(texts_that_are_not_there_are_an_error)
{
    const char *const hole[] = {"a=1,2", NULL};
    stonet_read_options read = {.size = sizeof read, .n_ordinal = 1}, read_taken;
    assert_says(sn_take_read_options(&read, &read_taken), STONET_ERROR_ARGUMENT, "ordinal");
    read.ordinal = hole;
    OK(sn_take_read_options(&read, &read_taken));
    read.n_ordinal = 2;
    assert_says(sn_take_read_options(&read, &read_taken), STONET_ERROR_ARGUMENT, "text 2 of 2");
    stonet_tune_options tune = {.size = sizeof tune, .n_grid = 1}, tune_taken;
    OK(sn_take_tune_options(&tune, &tune_taken)); /* the built-in grid */
    tune.grid = hole;
    OK(sn_take_tune_options(&tune, &tune_taken));
    tune.n_grid = 2;
    assert_says(sn_take_tune_options(&tune, &tune_taken), STONET_ERROR_ARGUMENT, "text 2 of 2");
    tune.n_grid = -1;
    assert_says(sn_take_tune_options(&tune, &tune_taken), STONET_ERROR_ARGUMENT, "grid");
}

RUN_TESTS(NULL, NULL)
