/* What "auto" is, by the rows, the columns and the task; and what the settings say of the network. */
#include "base/test_kit.h"
#include "stonet/test_settings.h"

static sn_problem rows_of(int64_t n, int64_t p, sn_task task)
{
    return (sn_problem){.n = n, .p = p, .task = task, .outputs = 2};
}

static void resolve(const sn_problem *problem, const sn_net_kind *kind, int64_t units, const char *pairs,
                    sn_shape *shape, sn_config *config)
{
    SN_AUTO(sn_settings) *settings = settings_with(pairs);
    OK(sn_config_shape(settings, kind, problem, units, shape));
    OK(sn_config_resolve(settings, kind, problem, shape, config));
}

static const sn_net_kind NETWORK = {.activation = SN_TANH}, LINEAR = {.activation = SN_IDENTITY},
                         KERNEL = {.front.kind = SN_FRONT_KERNEL, .activation = SN_TANH},
                         CONV = {.front.kind = SN_FRONT_CONV, .activation = SN_RELU};
static const char *const NOTHING = "";

static void assert_widths(const sn_shape *shape, int layers, const int64_t *width)
{
    assert_int_equal(shape->layers, layers);
    for (int i = 0; i <= layers; i++) assert_int_equal(shape->width[i], width[i]);
}

/* 1.5 sqrt n units in the first layer, 16 to 256 of them; one layer behind a kernel and in a linear model. */
TEST(widths)
{
    static const struct {
        int64_t n;
        const sn_net_kind *kind;
        int64_t width;
    } cases[] = {{2, &NETWORK, 16},      {113, &NETWORK, 16}, {400, &NETWORK, 30}, {29000, &NETWORK, 255},
                 {40000, &NETWORK, 256}, {40000, &CONV, 128}, {400, &CONV, 30}};
    sn_shape shape;
    sn_config config;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sn_problem problem = rows_of(cases[k].n, 5, SN_REGRESSION);
        resolve(&problem, cases[k].kind, 9, NOTHING, &shape, &config);
        assert_widths(&shape, 3, (const int64_t[]){5, cases[k].width, 9, 2});
    }
    const sn_problem problem = rows_of(400, 5, SN_REGRESSION), classes = rows_of(400, 5, SN_CLASSIFICATION);
    resolve(&problem, &NETWORK, 2, "hidden 7,6", &shape, &config);
    assert_widths(&shape, 4, (const int64_t[]){5, 7, 6, 2, 2});
    assert_int_equal(shape.activation, SN_TANH);
    resolve(&problem, &KERNEL, 2, "hidden 8", &shape, &config);
    assert_widths(&shape, 3, (const int64_t[]){5, 8, 2, 2});
    resolve(&problem, &NETWORK, 2, "hidden none", &shape, &config);
    assert_widths(&shape, 2, (const int64_t[]){5, 2, 2});
    resolve(&problem, &KERNEL, 2, NOTHING, &shape, &config);
    assert_widths(&shape, 2, (const int64_t[]){5, 2, 2});
    resolve(&problem, &LINEAR, 2, NOTHING, &shape, &config);
    assert_widths(&shape, 2, (const int64_t[]){5, 2, 2});
    assert_false(shape.spread);
    const char *const spread = "response location-scale";
    resolve(&problem, &NETWORK, 2, spread, &shape, &config);
    assert_true(shape.spread);
    resolve(&classes, &NETWORK, 2, spread, &shape, &config);
    assert_false(shape.spread);
    SN_AUTO(sn_settings) *deep =
        settings_with("hidden 2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2");
    assert_says(sn_config_shape(deep, &NETWORK, &problem, 2, &shape), STONET_ERROR_ARGUMENT,
                "layers; at most");
}

/* Ten units at least, so that none gets stuck; as many as columns where the layers were named. */
TEST(units_of_the_last_layer)
{
    static const struct {
        const char *pairs;
        int64_t q, units;
    } cases[] = {{"", 1, 10},
                 {"", 10, 10},
                 {"", 11, 11},
                 {"hidden 4", 2, 2},
                 {"hidden none", 12, 12},
                 {"hidden 4 response ensemble", 2, 10}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SN_AUTO(sn_settings) *settings = settings_with(cases[k].pairs);
        assert_int_equal(sn_config_units(settings, cases[k].q), cases[k].units);
    }
}

TEST(what_the_rows_decide)
{
    static const struct {
        int64_t n, p;
        const sn_net_kind *kind;
        int64_t batch, full;
        double lr, steady;
    } cases[] = {{5000, 200, &NETWORK, 64, 30, 0.05, 1000}, {5001, 201, &NETWORK, 128, 5, 0.02, 6000},
                 {5001, 201, &CONV, 64, 5, 0.01, 1000},     {40, 3, &NETWORK, 40, 30, 0.05, 1000},
                 {64, 201, &LINEAR, 64, 30, 0.02, 6000},    {65, 3, &LINEAR, 64, 30, 0.05, 1000},
                 {100, 300, &KERNEL, 64, 30, 0.2, 1000}};
    sn_shape shape;
    sn_config config;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sn_problem problem = rows_of(cases[k].n, cases[k].p, SN_REGRESSION);
        resolve(&problem, cases[k].kind, 1, NOTHING, &shape, &config);
        assert_int_equal(config.batch, cases[k].batch);
        assert_int_equal(config.sdr_iterations, cases[k].full);
        assert_true(config.lr == cases[k].lr && config.schedule.steady == cases[k].steady);
        assert_true(config.auto_epochs && config.auto_decay && config.auto_lr && !config.auto_batch);
    }
    const sn_net_kind decays = {.activation = SN_TANH, .weight_decay = 0.25};
    const sn_problem problem = rows_of(100, 3, SN_REGRESSION);
    resolve(&problem, &decays, 1, NOTHING, &shape, &config);
    assert_true(config.weight_decay == 0.25);
}

TEST(the_sampler)
{
    const sn_problem numbers = rows_of(100, 3, SN_REGRESSION), classes = rows_of(100, 3, SN_CLASSIFICATION);
    sn_shape shape;
    sn_config config;
    resolve(&numbers, &NETWORK, 1, "hidden 4", &shape, &config);
    assert_true(config.s_out == 1e-6 && config.sweeps == 5 && !config.absolute);
    resolve(&classes, &NETWORK, 1, "hidden 4 start forward", &shape, &config);
    assert_true(config.s_out == 1e-4 && config.sweeps == 25);
    resolve(&classes, &NETWORK, 1, "hidden 4 sweeps 7 s_out 0.5", &shape, &config);
    assert_true(config.s_out == 0.5 && config.sweeps == 7);
    resolve(&numbers, &NETWORK, 1, "hidden 4 sigma2 1,2,3 epsilon 0.25,0.5 eta 4 gamma 5,6,7", &shape,
            &config);
    assert_true(config.absolute && config.has_gamma && !config.auto_lr && !config.auto_batch);
    for (int i = 0; i < 3; i++) {
        assert_true(config.sigma2[i] == i + 1 && config.gamma[i] == i + 5);
        if (i < 2) assert_true(config.epsilon[i] == 0.25 * (i + 1));
    }
    assert_true(config.alpha == 1.0); /* eta epsilon_1, at its most */
    resolve(&numbers, &NETWORK, 1, "hidden 4 sigma2 2 epsilon 0.5", &shape, &config);
    for (int i = 0; i < 3; i++) assert_true(config.sigma2[i] == 2.0);
    static const struct {
        const char *pairs;
        const char *words;
    } wrong[] = {
        {"hidden 4 epsilon 0.5", "both 'sigma2' and 'epsilon'"},
        {"hidden 4 eta 0.5", "belongs to the absolute form"},
        {"hidden 4 gamma 1 lr 0.1", "not both"},
        {"hidden 4 gamma 1,2", "takes 1 or 3"},
        {"response location-scale output refit", "regression of the mean alone"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        SN_AUTO(sn_settings) *settings = settings_with(wrong[k].pairs);
        OK(sn_config_shape(settings, &NETWORK, &numbers, 1, &shape));
        assert_says(sn_config_resolve(settings, &NETWORK, &numbers, &shape, &config), STONET_ERROR_ARGUMENT,
                    wrong[k].words);
    }
    SN_AUTO(sn_settings) *settings = settings_with("hidden 4 sigma2 2 epsilon 0.5 eta 3");
    assert_says(sn_config_resolve(settings, &NETWORK, &numbers, &shape, &config), STONET_ERROR_ARGUMENT,
                "cannot exceed 1");
}

/* A batch is chosen where the length is given, and steps fall to their end there. */
TEST(what_a_given_length_changes)
{
    const sn_problem problem = rows_of(100, 3, SN_REGRESSION);
    static const struct {
        const char *pairs;
        const sn_net_kind *kind;
        bool batch;
        sn_schedule_kind schedule;
    } cases[] = {{"", &NETWORK, false, SN_AVERAGED},
                 {"epochs 3", &NETWORK, true, SN_LINEAR},
                 {"epochs 3 batch 9", &NETWORK, false, SN_LINEAR},
                 {"epochs 3 gamma 1", &NETWORK, false, SN_LINEAR},
                 {"epochs 3", &CONV, false, SN_LINEAR},
                 {"", &CONV, false, SN_LINEAR},
                 {"schedule averaged epochs 3", &NETWORK, true, SN_AVERAGED},
                 {"schedule constant", &NETWORK, false, SN_CONSTANT},
                 {"schedule power", &NETWORK, false, SN_POWER},
                 {"schedule linear", &NETWORK, false, SN_LINEAR}};
    sn_shape shape;
    sn_config config;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        resolve(&problem, cases[k].kind, 1, cases[k].pairs, &shape, &config);
        assert_int_equal(config.auto_batch, cases[k].batch);
        assert_int_equal(config.schedule.kind, cases[k].schedule);
    }
}

RUN_TESTS(NULL, NULL)
