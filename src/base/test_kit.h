/*
 * What every test needs: cmocka, tests that list themselves, and calls that must succeed or say why not.
 *
 *     TEST(sums_are_right)
 *     {
 *         assert_int_equal(1 + 1, 2);
 *     }
 *
 *     RUN_TESTS(NULL, NULL)
 *
 * runs all tests of the file in their order, between a setup and a teardown of the whole.
 */
#pragma once

#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after those that it needs */

#include "base/memory.h"

enum { SN_MOST_TESTS = 100 };
typedef struct sn_test_list {
    size_t count;
    int line[SN_MOST_TESTS];
    struct CMUnitTest test[SN_MOST_TESTS];
} sn_test_list;

static inline sn_test_list *sn_test_all(void)
{
    static sn_test_list all;
    return &all;
}

/* Before main; compilers may change the order, lines do not. */
static inline void sn_test_add(struct CMUnitTest test, int line)
{
    sn_test_list *all = sn_test_all();
    size_t k = all->count++;
    if (k == SN_MOST_TESTS) abort();
    for (; k > 0 && all->line[k - 1] > line; k--) {
        all->line[k] = all->line[k - 1];
        all->test[k] = all->test[k - 1];
    }
    all->line[k] = line;
    all->test[k] = test;
}

#define TEST_WITH(function, setup, teardown)                                                                 \
    static void function(void **);                                                                           \
    __attribute__((constructor)) static void add_##function(void)                                            \
    {                                                                                                        \
        sn_test_add((struct CMUnitTest)cmocka_unit_test_setup_teardown(function, setup, teardown),           \
                    __LINE__);                                                                               \
    }                                                                                                        \
    static void function(__attribute__((unused)) void **cmocka_state)
#define TEST(function) TEST_WITH(function, NULL, NULL)
static inline int sn_test_run(int (*setup)(void **state), int (*teardown)(void **state))
{
    return _cmocka_run_group_tests("tests", sn_test_all()->test, sn_test_all()->count, setup, teardown);
}
#define RUN_TESTS(setup, teardown)                                                                           \
    int main(void)                                                                                           \
    {                                                                                                        \
        return sn_test_run(setup, teardown);                                                                 \
    }

/* At the head of a test that judges numbers over many fits or draws. The sanitizers look at memory, would
   take ten times as long, and see the same code in other tests. */
static inline void not_for_sanitizers(void)
{
#ifdef SN_SANITIZED
    skip();
#endif
}

/* A call that must succeed; the sentence is told where it does not. */
static inline void sn_test_ok(stonet_status got, const char *call, const char *file, int line)
{
    if (got == STONET_OK) return;
    print_error("%s: status %d, '%s'\n", call, (int)got, stonet_last_error());
    _fail(file, line);
}
#define OK(call) sn_test_ok(call, #call, __FILE__, __LINE__)

/* Zeros, in a block that sn_free takes back. */
static inline void *test_zeros(int64_t count, size_t size)
{
    void *block = sn_calloc((size_t)count, size);
    assert_non_null(block);
    return block;
}

/* One that must fail, and say these words. */
static inline void assert_says(stonet_status got, stonet_status wanted, const char *words)
{
    if (got != wanted || strstr(stonet_last_error(), words) == NULL)
        print_error("got %d '%s', wanted %d '%s'\n", got, stonet_last_error(), wanted, words);
    assert_int_equal(got, wanted);
    assert_non_null(strstr(stonet_last_error(), words));
}
