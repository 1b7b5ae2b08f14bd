/* A response that is read row by row as it lies in its table, and settings chosen by a part of the rows. */
#include "base/test_kit.h"
#include "choice/halving.h"
#include "choice/test_fit.h"
#include "engine/test_oracle.h"
#include "stonet/test_table.h"

enum { ROWS = 500, COLUMNS = 4 };

static oracle make(sn_task task)
{
    const int64_t width[] = {COLUMNS, 3, task == SN_CLASSIFICATION ? 2 : 1};
    oracle o = oracle_make(2, width, SN_TANH, task, ROWS, 23);
    for (int64_t r = 0; r < ROWS; r++) {
        const double mean = 2.0 * (double)o.x[COLUMNS * r] - (double)o.x[COLUMNS * r + 1];
        o.y[r * width[2]] = (mean + 0.5 * o.y[r * width[2]]) / sqrt(5.25);
        o.label[r] = mean > 0.0;
    }
    return o;
}

/* The same network to the bit, whether the response is in memory or read through `raw`. */
static void check_fit(const sn_problem *plain, const sn_raw_response *raw, const char *pairs)
{
    sn_problem from_raw = *plain;
    from_raw.y = NULL;
    from_raw.label = NULL;
    from_raw.raw = raw;
    SN_AUTO(sn_stonet) *a = fit_with(plain, 1, pairs, NULL, NULL),
                       *b = fit_with(&from_raw, 1, pairs, NULL, NULL);
    assert_int_equal(a->network.shape.parameters, b->network.shape.parameters);
    assert_memory_equal(a->network.theta, b->network.theta,
                        (size_t)a->network.shape.parameters * sizeof *a->network.theta);
    assert_true(a->training_loss == b->training_loss);
    assert_memory_equal(&a->held_out.loss, &b->held_out.loss, sizeof a->held_out.loss); /* or both NaN */
}

static const char *const CHOSEN = "epochs 3 front none sdr_iterations 2";
static const char *const REFITTED = "epochs 1 sdr_iterations 0 weight_decay 0 output refit";

TEST(numbers_are_scaled_on_the_way)
{
    SN_FREED_BY(oracle_free) oracle o = make(SN_REGRESSION);
    const double mean = 3.0, sd = 0.25;
    SN_BLOCK double *units = malloc(ROWS * sizeof *units);
    assert_non_null(units);
    for (int64_t r = 0; r < ROWS; r++) {
        units[r] = o.y[r] * sd + mean;
        o.y[r] = (units[r] - mean) / sd;
    }
    const sn_raw_response raw = {.number = units, .columns = 1, .mean = &mean, .sd = &sd};
    check_fit(&o.problem, &raw, CHOSEN);
    check_fit(&o.problem, &raw, REFITTED);
    const char *const spread = "response location-scale epochs 1 hidden none weight_decay 0";
    check_fit(&o.problem, &raw, spread);
}

TEST(classes_are_looked_up_on_the_way)
{
    SN_FREED_BY(oracle_free) oracle o = make(SN_CLASSIFICATION);
    int32_t *code = malloc(ROWS * sizeof *code), class_of[] = {1, -1, 0};
    double *number = malloc(ROWS * sizeof *number), value[] = {-7.0, 2.5};
    assert_true(code != NULL && number != NULL);
    for (int64_t r = 0; r < ROWS; r++) {
        code[r] = o.label[r] == 1 ? 0 : 2;
        number[r] = value[o.label[r]];
    }
    const sn_raw_response codes = {.code = code, .columns = 1, .classes = 2, .class_of = class_of},
                          numbers = {.number = number, .columns = 1, .classes = 2, .value = value};
    check_fit(&o.problem, &codes, CHOSEN);
    check_fit(&o.problem, &numbers, REFITTED);
    number[3] = 9.0;
    assert_int_equal(sn_raw_label(&numbers, 3), -1);
    free(code);
    free(number);
}

/* ---- a part of the rows -------------------------------------------------------------------------- */

TEST(many_rows_are_not_all_asked)
{
    SN_FREED_BY(oracle_free) oracle o = make(SN_REGRESSION);
    int times[ROWS] = {0};
    table_rows from = table_of_rows(o.x, COLUMNS, 0);
    from.times = times;
    sn_problem problem = o.problem;
    problem.x = NULL;
    problem.source = &from.base;
    stonet_run run = STONET_RUN_INIT;
    SN_AUTO(sn_settings) *settings = settings_with("");
    const sn_line line = {SN_FAMILY_LINEAR, {{.kind = SN_FRONT_NONE}, SN_IDENTITY, 0.01}};
    const sn_choice_job job = {.settings = settings,
                               .problem = &problem,
                               .rows = sn_rows_range(0, ROWS),
                               .units = 1,
                               .step = 1.0,
                               .seed = 1,
                               .threads = 1,
                               .run = &run};
    const sn_windowing by_a_part = {.whole = ROWS * COLUMNS - 1, .block = 20 * COLUMNS, .blocks = 10},
                       by_all = {.whole = ROWS * COLUMNS, .block = 20 * COLUMNS, .blocks = 10};
    SN_FREED_BY(sn_choice_free) sn_choice choice = {0};
    OK(sn_choose_for(&job, &by_a_part, &line, 1, &choice));
    assert_int_equal(choice.held_out, 100);               /* of 100 rows, each once */
    for (int64_t stretch = 0; stretch < 100; stretch++) { /* one row of every five, and no other */
        int met = 0;
        for (int64_t r = 5 * stretch; r < 5 * stretch + 5; r++) met += times[r];
        assert_int_equal(met, 1);
    }
    sn_choice_free(&choice);
    OK(sn_choose_for(&job, &by_all, &line, 1, &choice));
    assert_int_equal(choice.held_out, ROWS);
}

RUN_TESTS(NULL, NULL)
