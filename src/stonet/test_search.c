/* What the search over settings leaves out: points that fall behind, and folds after which a point is
 * dropped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "engine/oracle.h"
#include "stonet/search.h"
#include "stonet/start.h"

enum { ROWS = 40 };

/* A constant has a loss of 1; points are given theirs, with a little noise that is not the same in all. */
typedef struct table {
    sn_searcher s;
    double loss[SN_SEARCH_DECAYS][SN_SEARCH_LENGTHS][ROWS];
} table;

static void put(table *t, int decay, int length, double loss, int64_t rows)
{
    for (int i = 0; i < ROWS; i++)
        t->loss[decay][length][i] = loss + 0.004 * (double)((i * (decay + 2) + length) % 5 - 2);
    t->s.cost[0][decay][length] = (sn_held_out){.loss = t->loss[decay][length], .mean = loss};
    t->s.scored[0][decay][length] = rows;
}

static table *make_table(void)
{
    static table t;
    t = (table){.s = {.at = {0, 2, 2}}};
    t.s.baseline.constant.mean = 1.0;
    for (int length = 0; length <= 2; length++) put(&t, 2, length, 0.3 - 0.05 * length, ROWS);
    return &t;
}

static void what_was_far_behind_is_left_out(void **state)
{
    (void)state;
    table *t = make_table();
    const sn_point to = {0, 3, 2};
    assert_false(sn_falls_behind(&t->s, to)); /* nothing is known of it */
    put(t, 3, 1, 0.25 * 1.10, ROWS);
    assert_false(sn_falls_behind(&t->s, to)); /* by 10 %, and no way to tell where it goes */
    put(t, 3, 1, 0.25 * 1.20, ROWS);
    assert_true(sn_falls_behind(&t->s, to));
    put(t, 3, 1, 0.25 * 1.20, 10);
    assert_false(sn_falls_behind(&t->s, to)); /* too few rows say so */
    put(t, 3, 1, 0.25 * 0.8, ROWS);
    assert_false(sn_falls_behind(&t->s, to)); /* it was ahead */
}

static void what_falls_behind_is_left_out(void **state)
{
    (void)state;
    table *t = make_table();
    const sn_point to = {0, 3, 2};
    put(t, 3, 0, 0.30 * 1.02, ROWS);
    put(t, 3, 1, 0.25 * 1.08, ROWS);
    assert_true(sn_falls_behind(&t->s, to));
    put(t, 3, 0, 0.30 * 1.12, ROWS); /* it comes nearer */
    assert_false(sn_falls_behind(&t->s, to));
    put(t, 3, 0, 0.30 * 0.99, ROWS);
    put(t, 3, 1, 0.25 * 1.0005, ROWS); /* within noise */
    assert_false(sn_falls_behind(&t->s, to));
}

/* The last length that both have is asked, not one that only one of them has. */
static void lengths_that_were_left_out_are_passed_over(void **state)
{
    (void)state;
    table *t = make_table();
    t->s.at.length = 3;
    put(t, 2, 3, 0.19, ROWS);
    put(t, 3, 0, 0.30 * 1.4, ROWS);
    assert_true(sn_falls_behind(&t->s, (sn_point){0, 3, 3}));
}

/* Where the second activation is no better on the first two folds it is scored no further; the first is. */
static void one_activation_goes_on_after_two_folds(void **state)
{
    (void)state;
    const int64_t width[] = {3, 8, 2, 1}, n = 200;
    oracle o = oracle_make(3, width, SN_TANH, SN_REGRESSION, n, 5);
    for (int64_t r = 0; r < n; r++) o.y[r] = tanh(2.0 * (double)o.x[3 * r]);
    sn_config config;
    assert_int_equal(sn_config_default(&sn_engine_cpu, &o.problem, &o.shape, &config), STONET_OK);
    config.auto_epochs = config.auto_decay = config.auto_activation = true;
    config.schedule.kind = SN_AVERAGED;
    stonet_run run = STONET_RUN_INIT;
    const sn_stage_job job = {.problem = &o.problem,
                              .shape = &o.shape,
                              .config = &config,
                              .rows = sn_rows_range(0, n),
                              .seed = 3,
                              .threads = 1,
                              .run = &run};
    sn_searcher s;
    assert_int_equal(sn_search_begin(&job, &o.shape, &config, &s), STONET_OK);
    s.at = (sn_point){0, 3, 0};
    assert_int_equal(sn_consider_both(&s, (sn_lead){1.0, 0.02, 1.0}), STONET_OK);
    const int kept = isfinite(s.cost[0][3][0].mean) ? 0 : 1;
    assert_true(isfinite(s.cost[kept][3][0].mean));
    assert_true(isinf(s.cost[1 - kept][3][0].mean));
    assert_int_equal(s.scored[kept][3][0], n);
    assert_int_equal(s.scored[1 - kept][3][0], s.holdout.fold[2].first);
    for (int k = 0; k < 5; k++) { /* and is not raced for the folds that nobody asks for */
        assert_non_null(s.start[kept][k]);
        assert_true((s.start[1 - kept][k] == NULL) == (k >= 2));
    }
    sn_search_free(&s);
    oracle_free(&o);
}

/* Many features: a smaller step that falls later. */
static void the_step_depends_on_the_features(void **state)
{
    (void)state;
    for (int64_t p = 200; p <= 201; p++) {
        const int64_t width[] = {p, 8, 2, 1};
        oracle o = oracle_make(3, width, SN_TANH, SN_REGRESSION, 10, 5);
        sn_config config;
        assert_int_equal(sn_config_default(&sn_engine_cpu, &o.problem, &o.shape, &config), STONET_OK);
        assert_true(config.lr == (p > 200 ? 0.02 : 0.05));
        assert_true(config.schedule.steady == (p > 200 ? 6000.0 : 1000.0));
        oracle_free(&o);
    }
}

/* Lengths that the rows are too few or too many for, at the limits: 400 passes, 1.3 million rows looked at in
   all, and 30 passes that are allowed whatever they cost. */
static void lengths_have_their_limits(void **state)
{
    (void)state;
    static const struct {
        int length;
        int64_t n, batch;
        bool worth;
    } limits[] = {{3, 2500, 100, true},   {3, 2400, 100, false},  {3, 3250, 130, true}, {3, 3251, 130, false},
                  {4, 100000, 100, true}, {4, 99900, 100, false}, {2, 10, 10, true},    {3, 10, 10, false},
                  {0, 1, 1, true},        {-1, 2500, 100, false}, {5, 2500, 100, false}};
    sn_config config = {.auto_epochs = true, .auto_decay = true};
    sn_stage_job job = {0};
    table *t = make_table();
    t->s.config = &config;
    t->s.job = &job;
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        config.batch = limits[k].batch;
        job.rows = sn_rows_range(0, limits[k].n);
        for (int decay = -1; decay <= SN_SEARCH_DECAYS; decay++) {
            const bool inside = decay >= 0 && decay < SN_SEARCH_DECAYS;
            assert_int_equal(sn_worth_trying(&t->s, (sn_point){0, decay, limits[k].length}),
                             limits[k].worth && inside);
        }
    }
    config.auto_epochs = config.auto_decay = false; /* told: one of each */
    for (int decay = 0; decay < 2; decay++)
        for (int length = 0; length < 2; length++)
            assert_int_equal(sn_worth_trying(&t->s, (sn_point){0, decay, length}), decay + length == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_far_behind_is_left_out),
        cmocka_unit_test(what_falls_behind_is_left_out),
        cmocka_unit_test(lengths_that_were_left_out_are_passed_over),
        cmocka_unit_test(one_activation_goes_on_after_two_folds),
        cmocka_unit_test(the_step_depends_on_the_features),
        cmocka_unit_test(lengths_have_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
