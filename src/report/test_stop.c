/* Whatever takes long can be stopped, from its first look at the caller on: it says so, or gives what it has
   so far and says that. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { ROWS = 120, COLUMNS = 3 };

static float x[ROWS * COLUMNS];
static double y[ROWS], out[ROWS];
static stonet_data *data, *labels;
static stonet_spec *sir, *net;
static stonet_model *model, *trained;

/* The caller wants to stop when it has been asked so many times. */
static int asked, stop_after;

static int wants_to_stop(void *user)
{
    (void)user;
    return ++asked > stop_after;
}

static stonet_run stopped_run(void)
{
    return (stonet_run){.size = sizeof(stonet_run), .seed = 1, .threads = 1, .should_stop = wants_to_stop};
}

static int begin(void **state)
{
    (void)state;
    static const char *const LABELS[] = {"no", "yes"};
    int32_t code[ROWS];
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = (float)((i + 1) * sqrt(2 + 3 * j) - floor((i + 1) * sqrt(2 + 3 * j)));
        y[i] = (double)x[i * COLUMNS] + 0.3 * sin(9.0 * i);
        code[i] = y[i] > 0.5;
    }
    OK(stonet_data_wrap(x, ROWS, COLUMNS, &data));
    OK(stonet_data_set_targets(data, y, 1));
    OK(stonet_data_wrap(x, ROWS, COLUMNS, &labels));
    OK(stonet_data_set_classes(labels, code, LABELS, 2));
    sir = sn_testing_spec_of("sir 1");
    net = sn_testing_spec_of("stonet 1 hidden=2 epochs=2 activation=tanh weight_decay=0 front=none");
    OK(stonet_fit(sir, data, NULL, &model));
    OK(stonet_fit(net, data, NULL, &trained));
    return 0;
}

static int end(void **state)
{
    (void)state;
    stonet_model_free(model);
    stonet_model_free(trained);
    stonet_spec_free(sir);
    stonet_spec_free(net);
    stonet_data_free(data);
    stonet_data_free(labels);
    return 0;
}

/* ---- calls that have nothing to give before their end ---- */

typedef stonet_status (*call)(int kind, const stonet_run *run);

static stonet_status order(int kind, const stonet_run *run)
{
    SN_AUTO(stonet_order_result) *found = NULL;
    const stonet_order_options how = {
        .size = sizeof how, .rule = (stonet_order_rule)kind, .level = 0.05, .resamples = 3, .folds = 2};
    SN_AUTO(stonet_spec) *dr = sn_testing_spec_of(kind == STONET_ORDER_TESTS ? "dr" : "sir");
    return stonet_order(dr, data, &how, run, &found);
}

static stonet_status importance(int kind, const stonet_run *run)
{
    SN_AUTO(stonet_importance_result) *found = NULL;
    const stonet_importance_options how = {
        .size = sizeof how, .kind = (stonet_importance_kind)kind, .repeats = 2, .train = data};
    return stonet_importance(kind == STONET_IMPORTANCE_REFIT ? model : trained, data, &how, run, &found);
}

static stonet_status coef(int kind, const stonet_run *run)
{
    SN_AUTO(stonet_coef_result) *found = NULL;
    const stonet_coef_options how = {.size = sizeof how, .pairs = kind};
    return stonet_coef(kind != 0 ? model : trained, data, &how, run, &found);
}

static stonet_status independence(int kind, const stonet_run *run)
{
    stonet_independence_options how = STONET_INDEPENDENCE_OPTIONS_INIT;
    stonet_independence_result found;
    stonet_prediction_gain gain;
    double z[ROWS];
    for (int i = 0; i < ROWS; i++) z[i] = sin(7.0 * i);
    const stonet_sides sides = {.n = ROWS, .dx = 1, .dy = 1, .dz = 1, .x = y, .y = out, .z = z};
    for (int i = 0; i < ROWS; i++) out[i] = cos(5.0 * i);
    how.test = (stonet_test)kind;
    how.repeats = 3;
    how.permutations = 50;
    if (kind == STONET_TEST_AUTO) return stonet_prediction_compare(&sides, run, &gain);
    stonet_sides two = sides;
    if (kind == STONET_TEST_RIT || kind == STONET_TEST_DCOR) two.z = NULL, two.dz = 0;
    return stonet_independence(&two, &how, run, &found);
}

static stonet_status calibrate(int kind, const stonet_run *run)
{
    const stonet_calibrate_options how = {.size = sizeof how, .kind = (stonet_calibration)kind, .folds = 2};
    return stonet_calibrate(model, data, &how, run);
}

static stonet_status standard_errors(int kind, const stonet_run *run)
{
    (void)kind;
    return stonet_transform_se(model, data, data, 3, run, out, NULL);
}

static stonet_status report(int kind, const stonet_run *run)
{
    (void)kind;
    SN_BLOCK char *html = NULL;
    return stonet_report(model, data, NULL, run, &html);
}

TEST(nothing_is_given_before_the_end)
{
    static const struct {
        const char *name;
        call of;
        int kinds[6], count;
    } calls[] = {
        {"order",
         order,
         {STONET_ORDER_CV, STONET_ORDER_LADLE, STONET_ORDER_AUGMENTATION, STONET_ORDER_TESTS,
          STONET_ORDER_INDEPENDENCE},
         5},
        {"importance",
         importance,
         {STONET_IMPORTANCE_PERMUTATION, STONET_IMPORTANCE_GRADIENT, STONET_IMPORTANCE_SHAPLEY,
          STONET_IMPORTANCE_REFIT, STONET_IMPORTANCE_STABILITY},
         5},
        {"coef", coef, {0, 1}, 2},
        {"independence",
         independence,
         {STONET_TEST_AUTO, STONET_TEST_RIT, STONET_TEST_RCIT, STONET_TEST_RCOT, STONET_TEST_GCM},
         5},
        {"calibrate", calibrate, {STONET_CALIBRATION_CV, STONET_CALIBRATION_SPLIT}, 2},
        {"standard errors", standard_errors, {0}, 1},
        {"report", report, {0}, 1},
    };
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        for (int i = 0; i < calls[k].count; i++)
            for (stop_after = 0; stop_after < 3; stop_after++) {
                const stonet_run run = stopped_run();
                asked = 0;
                const stonet_status status = calls[k].of(calls[k].kinds[i], &run);
                if (asked <= stop_after) break; /* it was through before */
                if (status != STONET_ERROR_INTERRUPTED || strlen(stonet_last_error()) < 10)
                    fail_msg("%s %d, stopped when asked for the %d. time: status %d, %s", calls[k].name,
                             calls[k].kinds[i], stop_after + 1, (int)status,
                             status == STONET_OK ? "done" : stonet_last_error());
            }
}

/* ---- calls that give what they have ---- */

TEST(what_is_there_is_kept)
{
    stonet_run run = stopped_run();
    static const char *const WAYS[] = {"epochs=50",         "epochs=auto",  "weight_decay=auto",
                                       "front=kernel",      "select=group", "output=refit",
                                       "response=ensemble", "restarts=3",   "activation=auto"};
    for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS; k++)
        for (stop_after = 0; stop_after < 60; stop_after += 7) {
            SN_AUTO(stonet_spec) *spec = NULL;
            SN_AUTO(stonet_model) *so_far = NULL;
            OK(stonet_spec_copy(net, &spec));
            sn_testing_set(spec, WAYS[k]);
            asked = 0;
            const stonet_status status = stonet_fit(spec, data, &run, &so_far);
            if (status == STONET_OK && asked > stop_after) {
                assert_int_equal(stonet_model_outcome(so_far), STONET_STOPPED);
                float z[ROWS];
                OK(stonet_transform(so_far, data, NULL, z));
                for (int i = 0; i < ROWS; i++) assert_true(isfinite(z[i]));
            } else if (status != STONET_OK) {
                assert_int_equal(status, STONET_ERROR_INTERRUPTED);
            }
        }
    const stonet_spec *const specs[] = {sir, net};
    const stonet_compare_options folds = {.size = sizeof folds, .folds = 2};
    const stonet_tune_options grid = {.size = sizeof grid, .folds = 2};
    for (int k = 0; k < 6; k++) {
        SN_AUTO(stonet_results) *results = NULL;
        asked = 0;
        stop_after = k / 2;
        const stonet_status status = k % 2 == 0 ? stonet_compare(specs, 2, labels, &folds, &run, &results)
                                                : stonet_tune(sir, labels, &grid, &run, &results);
        assert_true(status == STONET_ERROR_INTERRUPTED ||
                    (status == STONET_OK && stonet_results_outcome(results) == STONET_STOPPED));
    }
}

RUN_TESTS(begin, end)
