/* The order in which work is dealt out. */
#include "base/job_order.h"
#include "base/test_kit.h"

TEST(long_kinds_come_first)
{
    const char *const name[] = {"a", "b", "c"};
    const void *kind[9];
    for (int i = 0; i < 9; i++) kind[i] = name[i % 3];
    SN_AUTO(sn_job_order) *order = NULL;
    OK(sn_job_order_create(9, kind, NULL, &order));
    sn_job_order_skip(order, 0); /* was done before */
    /* One of each kind, in their order. */
    assert_int_equal(sn_job_order_next(order, 0.0), 3);
    assert_int_equal(sn_job_order_next(order, 0.0), 1);
    assert_int_equal(sn_job_order_next(order, 1.0), 2);
    sn_job_order_done(order, 3, 2.0);                   /* a: 2 seconds */
    assert_int_equal(sn_job_order_next(order, 4.0), 4); /* b takes 4 seconds so far, c 3 */
    sn_job_order_done(order, 1, 4.5);                   /* b: 4.5 */
    sn_job_order_done(order, 2, 7.0);                   /* c: 6 */
    assert_int_equal(sn_job_order_next(order, 7.0), 5);
    assert_int_equal(sn_job_order_next(order, 7.0), 8);
    assert_int_equal(sn_job_order_next(order, 7.0), 7);
    assert_int_equal(sn_job_order_next(order, 7.0), 6);
    assert_int_equal(sn_job_order_next(order, 7.0), -1);
}

/* Without kinds, or with too many, as they come; those that are done already in no case. */
TEST(few_or_many_kinds)
{
    enum { MANY = 1000 };
    static const void *kind[MANY];
    for (int i = 0; i < MANY; i++) kind[i] = &kind[i / 2];
    for (int named = 0; named < 2; named++) {
        SN_AUTO(sn_job_order) *order = NULL;
        OK(sn_job_order_create(MANY, named ? kind : NULL, NULL, &order));
        for (int i = 0; i < MANY; i += 3) sn_job_order_skip(order, i);
        for (int i = 0; i < MANY; i++)
            if (i % 3 != 0) assert_int_equal(sn_job_order_next(order, (double)(i % 7)), i);
        assert_int_equal(sn_job_order_next(order, 0.0), -1);
    }
    SN_AUTO(sn_job_order) *none = NULL;
    OK(sn_job_order_create(0, NULL, NULL, &none));
    assert_int_equal(sn_job_order_next(none, 0.0), -1);
    sn_job_order_free(NULL);
}

/* What is said of kinds counts until something is known of them. */
TEST(effort_comes_first)
{
    static const char a, b, c;
    const void *const kind[] = {&a, &a, &b, &b, &b, &c, &c};
    const double effort[] = {1, 1, 5, 5, 5, 0, 0};
    SN_AUTO(sn_job_order) *order = NULL;
    OK(sn_job_order_create(7, kind, effort, &order));
    assert_int_equal(sn_job_order_next(order, 0.0), 2); /* one of each kind, the greatest effort first */
    assert_int_equal(sn_job_order_next(order, 0.0), 0);
    assert_int_equal(sn_job_order_next(order, 0.0), 5);
    assert_int_equal(sn_job_order_next(order, 1.0), 3);
    sn_job_order_done(order, 0, 2.0);
    sn_job_order_done(order, 2, 2.5);
    sn_job_order_done(order, 5, 9.0); /* it took longer than was said of it */
    assert_int_equal(sn_job_order_next(order, 9.0), 6);
    assert_int_equal(sn_job_order_next(order, 9.0), 4);
    assert_int_equal(sn_job_order_next(order, 9.0), 1);
    assert_int_equal(sn_job_order_next(order, 9.0), -1);
}

RUN_TESTS(NULL, NULL)
