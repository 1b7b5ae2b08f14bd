/* Many more columns than rows: which columns, how many, components, and estimates that do not flatter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/testing.h"
#include "engine/oracle.h"
#include "stonet/fitted.h"

enum { N = 120, P = 700 };

static oracle normals(sn_task task, uint64_t seed)
{
    const int64_t width[] = {P, 2, task == SN_CLASSIFICATION ? 2 : 1};
    return oracle_make(2, width, SN_TANH, task, N, seed);
}

/* y, or the class, by columns 7, 300 and the square of 555. */
static oracle sparse(sn_task task)
{
    oracle o = normals(task, 3);
    for (int64_t r = 0; r < N; r++) {
        const float *x = o.x + r * P;
        const double square = (double)x[555] * (double)x[555] - 1.0;
        const double mean = (double)x[7] - (double)x[300] + square;
        o.label[r] = mean > 0.0;
        if (task == SN_REGRESSION) o.y[r] = (mean + 0.2 * o.y[r]) / 2.0;
    }
    return o;
}

/* All columns together: rows lie near a plane, and y is where. */
static oracle dense(void)
{
    oracle o = normals(SN_REGRESSION, 4);
    for (int64_t r = 0; r < N; r++) {
        const double a = (double)o.x[r * P], b = (double)o.x[r * P + 1];
        o.x[r * P] = o.x[r * P + 2]; /* no column is one of them */
        o.x[r * P + 1] = o.x[r * P + 3];
        for (int64_t j = 0; j < P; j++)
            o.x[r * P + j] += (float)(0.4 * a * sin((double)j) + 0.4 * b * cos(2.0 * (double)j));
        o.y[r] = a + b + 0.3 * o.y[r];
    }
    return o;
}

static sn_stage_job job_on(const oracle *o)
{
    return (sn_stage_job){.problem = &o->problem, .rows = sn_rows_range(0, N), .seed = 1, .threads = 1};
}

static void the_columns_that_matter_come_first(void **state)
{
    (void)state;
    const sn_rows all = sn_rows_range(0, N);
    for (int task = 0; task < 2; task++) {
        oracle o = sparse((sn_task)task);
        int64_t columns[3], found = 0;
        assert_int_equal(sn_wide_order(&o.problem, &all, 3, columns), STONET_OK);
        for (int k = 0; k < 3; k++) found += columns[k] == 7 || columns[k] == 300 || columns[k] == 555;
        assert_int_equal(found, 3);
        oracle_free(&o);
    }
}

static void held_out_rows_choose_the_front(void **state)
{
    (void)state;
    oracle few = sparse(SN_REGRESSION), many = dense();
    sn_stage_job job = job_on(&few);
    sn_wide wide = {0};
    assert_true(sn_wide_applies(&few.problem));
    assert_int_equal(sn_wide_choose(&job, &wide), STONET_OK);
    assert_int_equal(wide.kind, SN_WIDE_COLUMNS);
    assert_in_range(wide.features, 3, 5);
    wide = (sn_wide){.kind = SN_WIDE_COMPONENTS};
    assert_int_equal(sn_wide_choose(&job, &wide), STONET_OK);
    assert_int_equal(wide.kind, SN_WIDE_COMPONENTS);
    job = job_on(&many);
    wide = (sn_wide){0};
    assert_int_equal(sn_wide_choose(&job, &wide), STONET_OK);
    assert_int_equal(wide.kind, SN_WIDE_COMPONENTS);
    sn_problem narrow = few.problem;
    narrow.p = 200;
    assert_false(sn_wide_applies(&narrow));
    oracle_free(&few);
    oracle_free(&many);
}

static void no_more_columns_are_chosen_than_there_are(void **state)
{
    (void)state;
    const int64_t width[] = {2, 2, 1};
    oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, N, 5);
    const sn_stage_job job = job_on(&o);
    const sn_rows all = sn_rows_range(0, N);
    sn_wide wide = {.kind = SN_WIDE_COLUMNS};
    sn_front *front;
    assert_int_equal(sn_wide_choose(&job, &wide), STONET_OK);
    assert_int_equal(wide.kind, SN_WIDE_COLUMNS);
    assert_in_range(wide.features, 1, 2);
    assert_int_equal(sn_wide_front(&wide, &o.problem, &all, 1, &front), STONET_OK);
    sn_front_free(front);
    oracle_free(&o);
}

static void fronts_come_back_from_a_store(void **state)
{
    (void)state;
    oracle o = dense();
    const sn_rows all = sn_rows_range(0, N);
    const sn_wide wide[2] = {{SN_WIDE_COLUMNS, 4}, {SN_WIDE_COMPONENTS, 6}};
    for (int k = 0; k < 2; k++) {
        sn_front *front, *back;
        sn_store *store;
        sn_problem seen[2];
        assert_int_equal(sn_wide_front(&wide[k], &o.problem, &all, 1, &front), STONET_OK);
        assert_int_equal(front->outputs, wide[k].features);
        assert_int_equal(sn_store_create(&store), STONET_OK);
        assert_int_equal(sn_front_put(front, store), STONET_OK);
        assert_int_equal(sn_front_get(store, &back), STONET_OK);
        assert_int_equal(sn_front_problem(front, &o.problem, &seen[0]), STONET_OK);
        assert_int_equal(sn_front_problem(back, &o.problem, &seen[1]), STONET_OK);
        assert_memory_equal(seen[0].x, seen[1].x, (size_t)(N * front->outputs) * sizeof(float));
        if (k == 1) { /* scores: uncorrelated, the first of variance 1, falling */
            double square[2] = {0, 0}, product = 0.0;
            for (int64_t r = 0; r < N; r++) {
                const float *u = seen[0].x + r * 6;
                square[0] += (double)u[0] * (double)u[0] / N;
                square[1] += (double)u[1] * (double)u[1] / N;
                product += (double)u[0] * (double)u[1] / N;
            }
            assert_true(fabs(square[0] - 1.0) < 1e-4 && square[1] < 1.0 && fabs(product) < 1e-4);
        }
        sn_front_problem_free(&o.problem, &seen[0]);
        sn_front_problem_free(&o.problem, &seen[1]);
        sn_front_free(front);
        sn_front_free(back);
        sn_store_free(store);
    }
    sn_store *store;
    sn_front *front;
    const int64_t beyond[1] = {P};
    assert_int_equal(sn_store_create(&store), STONET_OK);
    assert_int_equal(sn_store_put_text(store, "front", "columns"), STONET_OK);
    assert_int_equal(sn_store_put_int(store, "front_inputs", P), STONET_OK);
    assert_int_equal(sn_store_put_vector(store, "front_columns", SN_I64, 1, beyond), STONET_OK);
    assert_says(sn_front_get(store, &front), STONET_ERROR_FORMAT, "front_columns");
    sn_store_free(store);
    oracle_free(&o);
}

static char said[4096];

static void listen(stonet_level level, const char *text, void *user)
{
    (void)level;
    (void)user;
    strncat(said, text, sizeof said - strlen(said) - 1);
}

static int stop_now(void *user)
{
    (void)user;
    return 1;
}

static sn_stonet *fit(const sn_problem *problem, bool stopped)
{
    sn_settings *settings = NULL;
    assert_int_equal(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings), STONET_OK);
    stonet_run run = STONET_RUN_INIT;
    run.threads = 1;
    run.on_message = listen;
    if (stopped) run.should_stop = stop_now;
    sn_stonet *net = NULL;
    stonet_outcome outcome;
    if (sn_stonet_fit(problem, 1, settings, &run, &net, &outcome) != STONET_OK)
        fail_msg("%s", stonet_last_error());
    assert_int_equal(outcome, stopped ? STONET_STOPPED : STONET_DONE);
    sn_settings_free(settings);
    return net;
}

/* Of columns that say nothing, the best of 700 look as if they did: the held-out rows must not be fooled. */
static void noise_is_not_flattered(void **state)
{
    (void)state;
    oracle noise = normals(SN_REGRESSION, 9), few = sparse(SN_REGRESSION);
    said[0] = '\0';
    sn_stonet *net = fit(&noise.problem, false);
    assert_true(net->held_out.loss > 0.9 * net->held_out_constant.loss);
    sn_stonet_free(net);
    net = fit(&few.problem, false);
    assert_non_null(net->front);
    assert_string_equal(net->front->ops->name, "columns");
    assert_true(net->held_out.loss < 0.3 * net->held_out_constant.loss);
    assert_non_null(strstr(said, "They are number "));
    assert_non_null(strstr(said, "556"));
    sn_stonet_free(net);
    oracle_free(&noise);
    oracle_free(&few);
}

/* A search that is stopped keeps a network of one fold, behind the front of that fold. */
static void a_stopped_search_keeps_what_fits_together(void **state)
{
    (void)state;
    oracle o = sparse(SN_REGRESSION);
    sn_stonet *net = fit(&o.problem, true);
    float z[N];
    assert_non_null(net->front);
    assert_int_equal(net->front->outputs, net->network.shape.width[0]);
    assert_int_equal(sn_stonet_forward(net, &o.problem, net->network.shape.layers - 1, false, 1, z),
                     STONET_OK);
    for (int i = 0; i < N; i++) assert_true(isfinite(z[i]));
    sn_stonet_free(net);
    oracle_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_columns_that_matter_come_first),
        cmocka_unit_test(held_out_rows_choose_the_front),
        cmocka_unit_test(no_more_columns_are_chosen_than_there_are),
        cmocka_unit_test(fronts_come_back_from_a_store),
        cmocka_unit_test(noise_is_not_flattered),
        cmocka_unit_test(a_stopped_search_keeps_what_fits_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
