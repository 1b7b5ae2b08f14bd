/* The choice of threads from the times of steps, which are made up here. */
#include "base/test_kit.h"
#include "base/thread_tuner.h"

static const double MUCH = 1e6; /* nanoseconds */

/* Plays `steps` steps on a machine where a unit of work takes `alone` or `together`; returns how many of them
   ran on several threads. */
static int play(sn_thread_tuner *tuner, int steps, double alone, double together)
{
    int shared = 0;
    for (int i = 0; i < steps; i++) {
        int threads = sn_thread_tuner_threads(tuner, MUCH, 4);
        assert_true(threads == 1 || threads == 4);
        sn_thread_tuner_note(tuner, threads, threads == 1 ? alone : together);
        shared += threads > 1;
    }
    return shared;
}

TEST(little_work_gets_few_threads)
{
    sn_thread_tuner tuner = {0};
    assert_int_equal(sn_thread_tuner_threads(&tuner, 1e3, 8), 1);
    assert_int_equal(sn_thread_tuner_threads(&tuner, 79e3, 8), 1);
    assert_int_equal(sn_thread_tuner_threads(&tuner, 130e3, 8), 3);
    assert_int_equal(sn_thread_tuner_threads(&(sn_thread_tuner){0}, MUCH, 1), 1);
    assert_int_equal(sn_thread_tuner_threads(&(sn_thread_tuner){0}, MUCH, 0), 1);
}

TEST(threads_that_pay_are_used)
{
    sn_thread_tuner tuner = {0};
    assert_int_equal(play(&tuner, 1000, 1.0, 0.3), 999); /* but one step, to compare with */
}

TEST(threads_that_do_not_pay_are_tried_less_and_less)
{
    sn_thread_tuner tuner = {0};
    int first = play(&tuner, 1000, 1.0, 5.0), later = play(&tuner, 10000, 1.0, 5.0);
    assert_true(first <= 8 && later <= 8 && later >= 1);
    /* The others have gone away: threads come back. */
    assert_true(play(&tuner, 10000, 1.0, 0.3) > 7000);
}

TEST(held_threads_stay)
{
    sn_thread_tuner tuner = {.held = true};
    assert_int_equal(play(&tuner, 200, 1.0, 5.0), 200);
}

RUN_TESTS(NULL, NULL)
