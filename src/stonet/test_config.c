/* What "auto" is, by the rows, the columns and the task; and what the settings say of the network. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/testing.h"
#include "engine/registry.h"
#include "stonet/config.h"

static sn_settings *with(const char *const *pairs)
{
    sn_settings *settings = NULL;
    assert_int_equal(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings), STONET_OK);
    for (; pairs[0] != NULL; pairs += 2)
        if (sn_settings_set(settings, pairs[0], pairs[1]) != STONET_OK) fail_msg("%s", stonet_last_error());
    return settings;
}

static sn_problem rows_of(int64_t n, int64_t p, sn_task task)
{
    return (sn_problem){.n = n, .p = p, .task = task, .outputs = 2};
}

static void resolve(const sn_problem *problem, int64_t units, const char *const *pairs, sn_shape *shape,
                    sn_config *config)
{
    sn_settings *settings = with(pairs);
    assert_int_equal(sn_config_shape(settings, problem, units, shape), STONET_OK);
    if (sn_config_resolve(settings, problem, shape, config) != STONET_OK) fail_msg("%s", stonet_last_error());
    sn_settings_free(settings);
}

/* 1.5 sqrt n units in the first layer, 16 to 256 of them, 10 before fewer than 10. */
static void widths(void **state)
{
    (void)state;
    static const struct {
        int64_t n, conv, width;
    } cases[] = {{2, 0, 16},      {113, 0, 16},    {400, 0, 30}, {29000, 0, 255},
                 {40000, 0, 256}, {40000, 1, 128}, {400, 1, 30}};
    sn_shape shape;
    sn_config config;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sn_problem problem = rows_of(cases[k].n, 5, SN_REGRESSION);
        resolve(&problem, 9,
                cases[k].conv ? (const char *const[]){"front", "conv", NULL}
                              : (const char *const[]){"front", "none", NULL},
                &shape, &config);
        assert_int_equal(shape.layers, 4);
        assert_int_equal(shape.width[0], 5);
        assert_int_equal(shape.width[1], cases[k].width);
        assert_int_equal(shape.width[2], 10);
        assert_int_equal(shape.width[3], 9);
        assert_int_equal(shape.width[4], 2);
    }
    const sn_problem problem = rows_of(400, 5, SN_REGRESSION);
    resolve(&problem, 10, (const char *const[]){"front", "none", NULL}, &shape, &config);
    assert_int_equal(shape.layers, 3);
    assert_int_equal(shape.width[2], 10);
    resolve(&problem, 2, (const char *const[]){"hidden", "7,6", NULL}, &shape, &config);
    assert_int_equal(shape.layers, 4);
    assert_int_equal(shape.width[1], 7);
    assert_int_equal(shape.width[2], 6);
    assert_int_equal(shape.width[3], 2);
    assert_int_equal(shape.activation, SN_TANH);
    resolve(&problem, 2, (const char *const[]){"hidden", "none", NULL}, &shape, &config);
    assert_int_equal(shape.layers, 2);
    assert_int_equal(shape.activation, SN_RELU);
    resolve(&problem, 2, (const char *const[]){"front", "kernel", NULL}, &shape, &config);
    assert_int_equal(shape.layers, 2);
    assert_int_equal(shape.activation, SN_TANH);
    resolve(&problem, 2, (const char *const[]){"front", "kernel", "hidden", "8", NULL}, &shape, &config);
    assert_int_equal(shape.layers, 3);
    assert_false(shape.spread);
    resolve(&problem, 2, (const char *const[]){"response", "location-scale", NULL}, &shape, &config);
    assert_true(shape.spread);
    const sn_problem classes = rows_of(400, 5, SN_CLASSIFICATION);
    resolve(&classes, 2, (const char *const[]){"response", "location-scale", NULL}, &shape, &config);
    assert_false(shape.spread);
    sn_settings *deep = with((const char *const[]){
        "hidden", "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2", NULL});
    assert_says(sn_config_shape(deep, &problem, 2, &shape), STONET_ERROR_ARGUMENT, "layers; at most");
    sn_settings_free(deep);
}

static void what_the_rows_decide(void **state)
{
    (void)state;
    static const struct {
        int64_t n, p, conv, batch, full;
        double lr, steady;
    } cases[] = {{5000, 200, 0, 64, 30, 0.05, 1000}, {5001, 201, 0, 128, 5, 0.02, 6000},
                 {5001, 201, 1, 64, 5, 0.01, 1000},  {40, 3, 0, 40, 30, 0.05, 1000},
                 {64, 201, 0, 64, 30, 0.02, 6000},   {65, 3, 0, 64, 30, 0.05, 1000}};
    sn_shape shape;
    sn_config config;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sn_problem problem = rows_of(cases[k].n, cases[k].p, SN_REGRESSION);
        resolve(&problem, 1,
                cases[k].conv ? (const char *const[]){"front", "conv", NULL}
                              : (const char *const[]){"front", "none", NULL},
                &shape, &config);
        assert_int_equal(config.batch, cases[k].batch);
        assert_int_equal(config.sdr_iterations, cases[k].full);
        assert_true(config.lr == cases[k].lr && config.schedule.steady == cases[k].steady);
        assert_int_equal(config.schedule.kind, cases[k].conv ? SN_LINEAR : SN_AVERAGED);
        assert_int_equal(config.restarts, cases[k].conv ? 1 : 8);
        assert_true(config.auto_epochs && config.auto_decay && config.auto_lr && !config.auto_batch);
    }
    const sn_problem problem = rows_of(100, 300, SN_REGRESSION);
    for (int64_t q = 1; q <= 4; q++) {
        resolve(&problem, q, (const char *const[]){"front", "kernel", NULL}, &shape, &config);
        assert_int_equal(config.restarts, q == 1 ? 8 : q == 2 ? 5 : 3);
        assert_true(config.lr == 0.5 && config.schedule.steady == 1000.0);
    }
}

static void the_sampler(void **state)
{
    (void)state;
    const sn_problem numbers = rows_of(100, 3, SN_REGRESSION), classes = rows_of(100, 3, SN_CLASSIFICATION);
    sn_shape shape;
    sn_config config;
    resolve(&numbers, 1, (const char *const[]){"hidden", "4", NULL}, &shape, &config);
    assert_true(config.s_out == 1e-6 && config.sweeps == 5 && !config.absolute);
    resolve(&classes, 1, (const char *const[]){"hidden", "4", "start", "forward", NULL}, &shape, &config);
    assert_true(config.s_out == 1e-4 && config.sweeps == 25);
    resolve(&classes, 1, (const char *const[]){"hidden", "4", "sweeps", "7", "s_out", "0.5", NULL}, &shape,
            &config);
    assert_true(config.s_out == 0.5 && config.sweeps == 7);
    resolve(&numbers, 1,
            (const char *const[]){"hidden", "4", "sigma2", "1,2,3", "epsilon", "0.25,0.5", "eta", "4",
                                  "gamma", "5,6,7", NULL},
            &shape, &config);
    assert_true(config.absolute && config.has_gamma && !config.auto_lr && !config.auto_batch);
    for (int i = 0; i < 3; i++) {
        assert_true(config.sigma2[i] == i + 1 && config.gamma[i] == i + 5);
        if (i < 2) assert_true(config.epsilon[i] == 0.25 * (i + 1));
    }
    assert_true(config.alpha == 1.0); /* eta epsilon_1, at its most */
    resolve(&numbers, 1, (const char *const[]){"hidden", "4", "sigma2", "2", "epsilon", "0.5", NULL}, &shape,
            &config);
    for (int i = 0; i < 3; i++) assert_true(config.sigma2[i] == 2.0);
    static const struct {
        const char *const pairs[7];
        const char *words;
    } wrong[] = {
        {{"hidden", "4", "epsilon", "0.5", NULL}, "both 'sigma2' and 'epsilon'"},
        {{"hidden", "4", "eta", "0.5", NULL}, "belongs to the absolute form"},
        {{"hidden", "4", "gamma", "1", "lr", "0.1", NULL}, "not both"},
        {{"hidden", "4", "gamma", "1,2", NULL}, "takes 1 or 3"},
        {{"response", "location-scale", "output", "refit", NULL}, "regression of the mean alone"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        sn_settings *settings = with(wrong[k].pairs);
        assert_int_equal(sn_config_shape(settings, &numbers, 1, &shape), STONET_OK);
        assert_says(sn_config_resolve(settings, &numbers, &shape, &config), STONET_ERROR_ARGUMENT,
                    wrong[k].words);
        sn_settings_free(settings);
    }
    sn_settings *settings =
        with((const char *const[]){"hidden", "4", "sigma2", "2", "epsilon", "0.5", "eta", "3", NULL});
    assert_says(sn_config_resolve(settings, &numbers, &shape, &config), STONET_ERROR_ARGUMENT,
                "cannot exceed 1");
    sn_settings_free(settings);
}

/* Whether batch sizes, starts, the linear model, other shapes and fronts are open to be chosen. */
static void what_is_open(void **state)
{
    (void)state;
    const sn_problem problem = rows_of(100, 3, SN_REGRESSION);
    static const struct {
        const char *const pairs[7];
        bool batch, gives_way, linear_may, shape, front;
        int restarts;
    } cases[] = {
        {{NULL}, false, true, true, true, true, 5},
        {{"epochs", "3", NULL}, true, true, true, false, false, 5},
        {{"epochs", "3", "batch", "9", NULL}, false, true, true, false, false, 5},
        {{"epochs", "3", "gamma", "1", NULL}, false, true, false, false, false, 5},
        {{"epochs", "3", "weight_decay", "1", NULL}, true, true, true, false, false, 1},
        {{"weight_decay", "1", NULL}, false, true, true, false, false, 5},
        {{"restarts", "4", NULL}, false, true, true, true, true, 4},
        {{"hidden", "none", NULL}, false, true, true, true, false, 5},
        {{"hidden", "1", NULL}, false, false, false, false, false, 5},
        {{"hidden", "4", NULL}, false, true, false, false, false, 5},
        {{"activation", "relu", NULL}, false, true, false, false, false, 5},
        {{"input_activation", "tanh", NULL}, false, false, false, false, false, 5},
        {{"front", "none", NULL}, false, true, true, true, false, 5},
        {{"select", "group", NULL}, false, true, true, true, false, 5},
        {{"sigma2", "1", "epsilon", "1", NULL}, false, true, false, false, false, 5},
        {{"response", "location-scale", NULL}, false, false, false, false, false, 5},
    };
    sn_shape shape;
    sn_config config;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        resolve(&problem, 2, cases[k].pairs, &shape, &config);
        if (config.auto_batch != cases[k].batch || config.linear_may != cases[k].linear_may ||
            config.auto_shape != cases[k].shape || config.auto_front != cases[k].front ||
            config.restarts != cases[k].restarts || config.gives_way != cases[k].gives_way)
            fail_msg("case %zu: %d %d %d %d %d", k, config.auto_batch, config.linear_may, config.auto_shape,
                     config.auto_front, config.restarts);
    }
}

static void schedules(void **state)
{
    (void)state;
    const sn_problem problem = rows_of(100, 3, SN_REGRESSION);
    static const struct {
        const char *const pairs[5];
        sn_schedule_kind kind;
    } cases[] = {{{NULL}, SN_AVERAGED},
                 {{"epochs", "3", NULL}, SN_LINEAR},
                 {{"front", "conv", NULL}, SN_LINEAR},
                 {{"schedule", "averaged", "epochs", "3", NULL}, SN_AVERAGED},
                 {{"schedule", "constant", NULL}, SN_CONSTANT},
                 {{"schedule", "power", NULL}, SN_POWER},
                 {{"schedule", "linear", NULL}, SN_LINEAR}};
    sn_shape shape;
    sn_config config;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        resolve(&problem, 1, cases[k].pairs, &shape, &config);
        assert_int_equal(config.schedule.kind, cases[k].kind);
    }
}

/* Landmarks: a tenth of the rows, 200 to 2,000. */
static void fronts(void **state)
{
    (void)state;
    const int64_t landmarks[][2] = {{100, 200}, {2000, 200}, {5000, 500}, {30000, 2000}};
    sn_settings *open = with((const char *const[]){"front", "kernel", NULL}),
                *plain = with((const char *const[]){"front", "none", NULL});
    sn_settings *given = with((const char *const[]){"front", "kernel", "front_complexity", "3",
                                                    "front_linear", "0.25", "front_landmarks", "17", NULL});
    sn_kernel_setting kernel;
    for (int k = 0; k < 4; k++) {
        const sn_problem problem = rows_of(landmarks[k][0], 3, SN_REGRESSION);
        assert_true(sn_config_kernel(open, &problem, &kernel));
        assert_true(isnan(kernel.complexity) && isnan(kernel.linear));
        assert_int_equal(kernel.landmarks, landmarks[k][1]);
        assert_true(sn_config_kernel(given, &problem, &kernel));
        assert_true(kernel.complexity == 3.0 && kernel.linear == 0.25 && kernel.landmarks == 17);
        assert_false(sn_config_kernel(plain, &problem, &kernel));
    }
    sn_settings_free(open);
    sn_settings_free(given);
    sn_settings_free(plain);
}

/* More than 200 columns and more than twice the rows, where something is open; or as asked for. */
static void wide_tables(void **state)
{
    (void)state;
    const int64_t sizes[][3] = {{100, 200, 0}, {100, 201, 1}, {101, 202, 0}, {5, 20, 0}, {300, 300, 0}};
    static const struct {
        const char *const pairs[5];
        bool always, maybe;
        sn_wide_kind kind;
    } cases[] = {{{NULL}, false, true, SN_WIDE_NOT},
                 {{"epochs", "3", NULL}, false, true, SN_WIDE_NOT},
                 {{"weight_decay", "3", NULL}, false, true, SN_WIDE_NOT},
                 {{"epochs", "3", "weight_decay", "3", NULL}, false, false, SN_WIDE_NOT},
                 {{"front", "none", NULL}, false, false, SN_WIDE_NOT},
                 {{"front", "columns", NULL}, true, true, SN_WIDE_COLUMNS},
                 {{"front", "components", NULL}, true, true, SN_WIDE_COMPONENTS}};
    for (int k = 0; k < 5; k++) {
        const sn_problem problem = rows_of(sizes[k][0], sizes[k][1], SN_REGRESSION);
        assert_int_equal(sn_wide_applies(&problem), sizes[k][2]);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            sn_settings *settings = with(cases[c].pairs);
            sn_wide wide;
            const bool wanted = cases[c].always || (cases[c].maybe && sizes[k][2] != 0);
            assert_int_equal(sn_config_wide(settings, &problem, &wide), wanted);
            assert_int_equal(wide.kind, cases[c].kind);
            sn_settings_free(settings);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths),      cmocka_unit_test(what_the_rows_decide),
        cmocka_unit_test(the_sampler), cmocka_unit_test(what_is_open),
        cmocka_unit_test(schedules),   cmocka_unit_test(fronts),
        cmocka_unit_test(wide_tables),
    };
    return cmocka_run_group_tests_name("stonet_config", tests, NULL, NULL);
}
