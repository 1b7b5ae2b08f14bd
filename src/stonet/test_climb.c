/* Where the search goes when all points have their costs already: no network is trained. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "stonet/climb.h"

enum { ROWS = 40 };

typedef struct table {
    sn_searcher s;
    sn_stage_job job;
    sn_config config;
    double loss[SN_SEARCH_DECAYS][SN_SEARCH_LENGTHS][ROWS], other[SN_SEARCH_LENGTHS][ROWS], constant[ROWS],
        linear[ROWS];
} table;

/* Around a mean, with noise that no two have in common. */
static sn_held_out cost_of(double *loss, double mean, double noise, int which)
{
    for (int i = 0; i < ROWS; i++) loss[i] = mean + noise * (double)((i * (which + 2)) % 5 - 2);
    return (sn_held_out){.loss = loss, .mean = mean};
}

static void put(table *t, int decay, int length, double mean)
{
    t->s.cost[0][decay][length] = cost_of(t->loss[decay][length], mean, 0.001, 3 * decay + length);
    t->s.scored[0][decay][length] = ROWS;
}

/* A constant has a loss of 1, all points .5; the search is at decay .003 and 300 updates, which have .4. */
static table *make_table(void)
{
    static table t;
    t = (table){.s = {.at = {0, 2, 0}, .activations = 1, .holdout = {.folds = 1, .rows = ROWS}},
                .job = {.rows = sn_rows_range(0, 2000)},
                .config = {.auto_decay = true, .auto_epochs = true, .batch = 64}};
    t.s.job = &t.job;
    t.s.config = &t.config;
    t.s.baseline.constant = cost_of(t.constant, 1.0, 0.001, 0);
    for (int decay = 0; decay < SN_SEARCH_DECAYS; decay++)
        for (int length = 0; length < SN_SEARCH_LENGTHS; length++) put(&t, decay, length, 0.5);
    put(&t, 2, 0, 0.4);
    return &t;
}

static void assert_at(const table *t, int decay, int length)
{
    assert_int_equal(t->s.at.decay, decay);
    assert_int_equal(t->s.at.length, length);
}

static void it_stays_where_nothing_is_better(void **state)
{
    (void)state;
    table *t = make_table();
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 2, 0);
}

/* More decay is no better at this length, nor a longer training at this decay; both together are. */
static void it_goes_aslant(void **state)
{
    (void)state;
    table *t = make_table();
    put(t, 3, 0, 0.41);
    put(t, 3, 1, 0.3);
    put(t, 3, 2, 0.2);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 3, 2);

    t = make_table(); /* but not to what was far behind */
    put(t, 3, 0, 0.6);
    put(t, 3, 1, 0.3);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 2, 0);

    t = make_table(); /* nor for a gain of 1 % */
    put(t, 3, 0, 0.41);
    put(t, 3, 1, 0.396);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 2, 0);

    t = make_table(); /* nor with a decay that was given, or a length */
    put(t, 3, 0, 0.41);
    put(t, 3, 1, 0.3);
    t->config.auto_decay = false;
    t->s.at.decay = 0;
    put(t, 0, 0, 0.4);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 0, 0);

    t = make_table();
    put(t, 3, 0, 0.41);
    put(t, 3, 1, 0.3);
    t->config.auto_epochs = false;
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 2, 0);

    t = make_table(); /* nor from decay .01 on */
    t->s.at.decay = 3;
    put(t, 2, 0, 0.5);
    put(t, 3, 0, 0.4);
    put(t, 4, 0, 0.41);
    put(t, 4, 1, 0.3);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 3, 0);
}

/* A longer training for 1 % of the loss, where it is short and one part of the rows is held out. */
static void short_trainings_are_lengthened_for_less(void **state)
{
    (void)state;
    table *t = make_table();
    t->s.shape[0].parameters = 1000;
    put(t, 2, 1, 0.396);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 2, 1);

    t = make_table(); /* but not for .3 % */
    t->s.shape[0].parameters = 1000;
    put(t, 2, 1, 0.3988);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 2, 0);

    t = make_table(); /* nor where it is long */
    t->s.shape[0].parameters = 1000000;
    put(t, 2, 1, 0.396);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 2, 0);

    t = make_table(); /* nor in folds */
    t->s.shape[0].parameters = 1000;
    t->s.holdout.folds = 5;
    put(t, 2, 1, 0.396);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 2, 0);
}

/* At .06 and .03 a short training is as good as at the other; a longer one learns at .03 alone. Folds. */
static table *make_back(void)
{
    table *t = make_table();
    t->s.holdout.folds = 5;
    t->s.at.decay = 5;
    t->s.baseline.linear = cost_of(t->linear, 0.9, 0.001, 7);
    put(t, 5, 0, 0.4);
    put(t, 4, 0, 0.4002);
    put(t, 4, 1, 0.2);
    return t;
}

static void it_goes_back_where_decay_is_level(void **state)
{
    (void)state;
    table *t = make_back();
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 4, 1);

    t = make_back(); /* the weaker decay is clearly behind */
    put(t, 4, 0, 0.42);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 5, 0);

    t = make_back(); /* the linear model finds most of it */
    t->s.baseline.linear = cost_of(t->linear, 0.69, 0.001, 7);
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 5, 0);

    t = make_back(); /* there are many rows */
    t->s.holdout.folds = 1;
    t->s.shape[0].parameters = 1000000;
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 5, 0);

    t = make_back(); /* it was dropped */
    t->s.cost[0][4][0].mean = (double)INFINITY;
    assert_int_equal(sn_climb(&t->s), STONET_OK);
    assert_at(t, 5, 0);
}

/* Points of the other activation that are not put would be trained, which cannot be here. */
static void put_other(table *t, int length, double mean)
{
    t->s.cost[1][2][length] = cost_of(t->other[length], mean, 0.001, 40 + length);
    t->s.scored[1][2][length] = ROWS;
}

static table *make_long(void)
{
    table *t = make_table();
    t->s.activations = 2;
    t->s.at.length = 3;
    put(t, 2, 1, 0.3);
    put(t, 2, 2, 0.2);
    put(t, 2, 3, 0.1);
    return t;
}

static void an_activation_far_behind_is_left_early(void **state)
{
    (void)state;
    table *t = make_long(); /* at 1,000 updates; it is not asked at 3,000 */
    put_other(t, 1, 0.5);
    assert_int_equal(sn_leap(&t->s), STONET_OK);
    assert_int_equal(t->s.at.activation, 0);

    t = make_long(); /* at 3,000; it is not asked at 10,000 */
    put_other(t, 1, 0.31);
    put_other(t, 2, 0.5);
    assert_int_equal(sn_leap(&t->s), STONET_OK);
    assert_int_equal(t->s.at.activation, 0);

    t = make_long(); /* nor where it is behind there by a little, but clearly */
    put_other(t, 1, 0.31);
    put_other(t, 2, 0.201);
    assert_int_equal(sn_leap(&t->s), STONET_OK);
    assert_int_equal(t->s.at.activation, 0);

    t = make_long();
    put_other(t, 1, 0.31);
    put_other(t, 2, 0.195);
    put_other(t, 3, 0.05);
    for (int length = 0; length < SN_SEARCH_LENGTHS; length++) /* the climb from there finds nothing */
        for (int decay = 1; decay <= 3; decay += 2) {
            t->s.cost[1][decay][length] = t->s.cost[0][decay][length];
            t->s.scored[1][decay][length] = ROWS;
        }
    put_other(t, 4, 0.5);
    assert_int_equal(sn_leap(&t->s), STONET_OK);
    assert_int_equal(t->s.at.activation, 1);
    assert_at(t, 2, 3);
}

/* The other activation is better at .03, and not at .06 where the search is. */
static void another_activation_is_asked_at_less_decay(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) { /* than a linear model finds, or not */
        table *t = make_back();
        t->s.activations = 2;
        put(t, 4, 0, 0.42);
        t->s.baseline.linear = cost_of(t->linear, more == 1 ? 0.9 : 0.6, 0.001, 7);
        for (int decay = 0; decay < SN_SEARCH_DECAYS; decay++)
            for (int length = 0; length < SN_SEARCH_LENGTHS; length++) {
                const bool best = decay == 4 && length == 0;
                t->s.cost[1][decay][length] =
                    best ? cost_of(t->other[0], 0.3, 0.001, 60) : t->s.cost[0][0][1];
                t->s.scored[1][decay][length] = ROWS;
            }
        assert_int_equal(sn_leap(&t->s), STONET_OK);
        assert_int_equal(t->s.at.activation, more);
        assert_at(t, more == 1 ? 4 : 5, 0);
    }
}

/* Something is found that is not clearly better than the constant, if it is most of what the linear model
   clearly finds. */
static void what_the_linear_model_finds_counts(void **state)
{
    (void)state;
    table *t = make_table();
    assert_true(sn_found_something(&t->s));
    t->s.cost[0][2][0] =
        cost_of(t->loss[2][0], 0.94, 0.4, 5); /* a gain of .06 with a standard error of .09 */
    t->s.baseline.linear = (sn_held_out){.mean = (double)NAN};
    assert_false(sn_found_something(&t->s));
    t->s.baseline.linear = cost_of(t->linear, 0.9, 0.001, 7);
    assert_true(sn_found_something(&t->s));
    t->s.baseline.linear = cost_of(t->linear, 0.8, 0.001, 7); /* there is more */
    assert_false(sn_found_something(&t->s));
    t->s.baseline.linear = cost_of(t->linear, 0.9, 0.4, 7); /* not clearly */
    assert_false(sn_found_something(&t->s));
    t->s.cost[0][2][0].mean = (double)INFINITY;
    assert_false(sn_found_something(&t->s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stays_where_nothing_is_better),
        cmocka_unit_test(it_goes_aslant),
        cmocka_unit_test(short_trainings_are_lengthened_for_less),
        cmocka_unit_test(it_goes_back_where_decay_is_level),
        cmocka_unit_test(an_activation_far_behind_is_left_early),
        cmocka_unit_test(another_activation_is_asked_at_less_decay),
        cmocka_unit_test(what_the_linear_model_finds_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
