/* Intervals and sets cover what they promise, whatever the order of the rows, and stay so in a file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/test_says.h"
#include "model/calibration.h"
#include "model/test_table.h"
#include "stats/conformal.h"

enum { COLUMNS = 4, TEST_ROWS = 1000 };

/* How a data set is made. */
typedef enum flavour { PLAIN, SORTED, TIES, FAN } flavour;

static int by_response(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* y = x1 + x2 / 2 + noise; SORTED: rows by y; TIES: y in whole numbers; FAN: more noise away from 0. */
static sn_table make_numbers(int64_t n, flavour how, uint32_t seed)
{
    enum { ROW = COLUMNS + 1 };
    sn_random random;
    sn_random_init(&random, seed, SN_STREAM_TEST, 9);
    double *row = sn_calloc((size_t)(n * ROW), sizeof *row);
    for (int64_t i = 0; i < n; i++) {
        double *x = row + i * ROW + 1;
        for (int j = 0; j < COLUMNS; j++) x[j] = sn_random_normal(&random);
        const double spread = how == FAN ? 0.1 + fabs(x[0]) : 1.0;
        row[i * ROW] = x[0] + 0.5 * x[1] + spread * sn_random_normal(&random);
        if (how == TIES) row[i * ROW] = round(row[i * ROW]);
    }
    if (how == SORTED) qsort(row, (size_t)n, ROW * sizeof *row, by_response);
    sn_table table = {.x = sn_calloc((size_t)(n * COLUMNS), sizeof(float))};
    double *y = sn_calloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        y[i] = row[i * ROW];
        for (int j = 0; j < COLUMNS; j++) table.x[i * COLUMNS + j] = (float)row[i * ROW + 1 + j];
    }
    assert_int_equal(stonet_data_wrap(table.x, n, COLUMNS, &table.data), STONET_OK);
    assert_int_equal(stonet_data_set_targets(table.data, y, 1), STONET_OK);
    sn_free(row);
    sn_free(y);
    return table;
}

/* Three overlapping classes, the last one rare. */
static sn_table make_classes(int64_t n, uint32_t seed)
{
    static const char *const LABELS[] = {"ant", "bee", "fly"};
    sn_random random;
    sn_random_init(&random, seed, SN_STREAM_TEST, 10);
    sn_table table = {.x = sn_calloc((size_t)(n * COLUMNS), sizeof(float))};
    int32_t *code = sn_calloc((size_t)n, sizeof *code);
    for (int64_t i = 0; i < n; i++) {
        const double u = sn_random_uniform(&random);
        code[i] = u < 0.08 ? 2 : u < 0.5 ? 1 : 0;
        for (int j = 0; j < COLUMNS; j++)
            table.x[i * COLUMNS + j] = (float)(sn_random_normal(&random) + (j == 0 ? 1.2 * code[i] : 0.0));
    }
    assert_int_equal(stonet_data_wrap(table.x, n, COLUMNS, &table.data), STONET_OK);
    assert_int_equal(stonet_data_set_classes(table.data, code, LABELS, 3), STONET_OK);
    sn_free(code);
    return table;
}

/* The cheapest model: a regression on the features themselves. */
static stonet_model *fit_plain(const stonet_data *data, const char *task)
{
    stonet_spec *spec = sn_testing_spec("none", "4");
    stonet_model *model = NULL;
    assert_int_equal(stonet_spec_set(spec, "task", task), STONET_OK);
    stonet_run run = {.size = sizeof run, .seed = 1, .threads = 1};
    if (stonet_fit(spec, data, &run, &model) != STONET_OK) fail_msg("%s", stonet_last_error());
    stonet_spec_free(spec);
    return model;
}

static void calibrate(stonet_model *model, const stonet_data *data, stonet_calibration kind,
                      stonet_set_score sets, int threads)
{
    stonet_calibrate_options how = STONET_CALIBRATE_OPTIONS_INIT;
    how.kind = kind;
    how.sets = sets;
    stonet_run run = {.size = sizeof run, .seed = 1, .threads = threads};
    if (stonet_calibrate(model, data, &how, &run) != STONET_OK) fail_msg("%s", stonet_last_error());
}

static stonet_scores score(const stonet_model *model, const stonet_data *data, double level, int by_class)
{
    stonet_use_options how = {.size = sizeof how, .threads = 1, .level = level, .by_class = by_class};
    stonet_scores scores = STONET_SCORES_INIT;
    if (stonet_score(model, data, &how, &scores) != STONET_OK) fail_msg("%s", stonet_last_error());
    return scores;
}

/* ---- coverage: bench/intervals.py has the same on 200 data sets each ---- */

/* Mean coverage of new rows over data sets of n rows. FRESH: the model has n rows, the calibration 100. */
static double coverage(int data_sets, int64_t n, flavour how, stonet_calibration kind, double level)
{
    double sum = 0.0;
    for (uint32_t d = 0; d < (uint32_t)data_sets; d++) {
        sn_table train = make_numbers(n, how, 3 * d), test = make_numbers(TEST_ROWS, how, 3 * d + 1);
        sn_table fresh = make_numbers(100, how, 3 * d + 2);
        stonet_model *model = fit_plain(train.data, "regression");
        calibrate(model, kind == STONET_CALIBRATION_FRESH ? fresh.data : train.data, kind, 0, 1);
        sum += score(model, test.data, level, 0).coverage;
        stonet_model_free(model);
        sn_table_free(&train);
        sn_table_free(&test);
        sn_table_free(&fresh);
    }
    return sum / data_sets;
}

static void assert_between(double value, double low, double high)
{
    if (!(value >= low && value <= high)) fail_msg("%g is not between %g and %g", value, low, high);
}

/* Split: level .. level + 1 / (m + 1), less and more three standard errors of the mean over the data sets. */
static void intervals_cover(void **state)
{
    (void)state;
    const double split = 3.0 * sqrt(0.09 / 62 / 40), fresh = 3.0 * sqrt(0.09 / 102 / 40);
    assert_between(coverage(40, 300, PLAIN, STONET_CALIBRATION_SPLIT, 0.9), 0.9 - split, 0.917 + split);
    assert_between(coverage(40, 100, PLAIN, STONET_CALIBRATION_FRESH, 0.9), 0.9 - fresh, 0.91 + fresh);
    assert_between(coverage(40, 100, FAN, STONET_CALIBRATION_FRESH, 0.9), 0.9 - fresh, 0.91 + fresh);
    assert_between(coverage(20, 300, PLAIN, STONET_CALIBRATION_CV, 0.9), 0.885, 0.92);
    assert_between(coverage(10, 300, FAN, STONET_CALIBRATION_CV, 0.9), 0.88, 0.93);
    assert_between(coverage(10, 300, PLAIN, STONET_CALIBRATION_CV, 0.5), 0.45, 0.55);
    assert_between(coverage(10, 300, PLAIN, STONET_CALIBRATION_CV, 0.99), 0.98, 1.0);
    assert_true(coverage(10, 300, TIES, STONET_CALIBRATION_CV, 0.9) >= 0.89);
}

/* Rows that come sorted by the response: parts that are not drawn at random hold out the largest. */
static void order_of_the_rows_does_not_matter(void **state)
{
    (void)state;
    assert_between(coverage(40, 300, SORTED, STONET_CALIBRATION_SPLIT, 0.9), 0.882, 0.935);
    assert_between(coverage(20, 300, SORTED, STONET_CALIBRATION_CV, 0.9), 0.885, 0.92);
}

static double set_coverage(int data_sets, stonet_calibration kind, stonet_set_score sets, double *width)
{
    double sum = 0.0;
    *width = 0.0;
    for (uint32_t d = 0; d < (uint32_t)data_sets; d++) {
        sn_table train = make_classes(300, 3 * d), test = make_classes(TEST_ROWS, 3 * d + 1);
        sn_table fresh = make_classes(100, 3 * d + 2);
        stonet_model *model = fit_plain(train.data, "classification");
        calibrate(model, kind == STONET_CALIBRATION_FRESH ? fresh.data : train.data, kind, sets, 1);
        stonet_scores found = score(model, test.data, 0.9, 0);
        sum += found.coverage / data_sets;
        *width += found.width / data_sets;
        stonet_model_free(model);
        sn_table_free(&train);
        sn_table_free(&test);
        sn_table_free(&fresh);
    }
    return sum;
}

static void sets_cover(void **state)
{
    (void)state;
    double aps, lac;
    const double error = 3.0 * sqrt(0.09 / 102 / 20);
    /* Sets that would be empty are given the most probable class: coverage can only grow. */
    assert_between(set_coverage(20, STONET_CALIBRATION_FRESH, STONET_SETS_LAC, &lac), 0.9 - error, 0.93);
    assert_between(set_coverage(20, STONET_CALIBRATION_FRESH, STONET_SETS_APS, &aps), 0.9 - error, 0.93);
    assert_true(lac <= aps && aps < 2.5);
    double folds;
    assert_between(set_coverage(20, STONET_CALIBRATION_CV, STONET_SETS_LAC, &folds), 0.885, 0.92);
    assert_between(folds, lac - 0.1, lac + 0.1);
    assert_between(set_coverage(20, STONET_CALIBRATION_CV, STONET_SETS_APS, &folds), 0.885, 0.92);
    assert_between(folds, aps - 0.07, aps + 0.07);
}

/* Share of the rows of a class whose set has it. */
static double class_coverage(const stonet_model *model, const stonet_data *data, int32_t code, int by_class)
{
    const int64_t n = stonet_data_rows(data);
    const int32_t *label = stonet_data_classes(data, NULL);
    unsigned char *inside = sn_calloc((size_t)(3 * n), 1);
    stonet_use_options how = {.size = sizeof how, .threads = 1, .level = 0.9, .by_class = by_class};
    assert_int_equal(stonet_predict_set(model, data, &how, inside), STONET_OK);
    double rows = 0.0, covered = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (label[i] != code) continue;
        rows += 1.0;
        covered += inside[3 * i + code];
    }
    sn_free(inside);
    return covered / rows;
}

/* A rare class pays for the others unless each is asked for on its own. */
static void every_class_is_covered_on_request(void **state)
{
    (void)state;
    double pooled = 0.0, own = 0.0;
    enum { DATA_SETS = 20 };
    for (uint32_t d = 0; d < DATA_SETS; d++) {
        sn_table train = make_classes(600, 2 * d + 100), test = make_classes(3 * TEST_ROWS, 2 * d + 101);
        stonet_model *model = fit_plain(train.data, "classification");
        calibrate(model, train.data, STONET_CALIBRATION_CV, STONET_SETS_LAC, 1);
        pooled += class_coverage(model, test.data, 2, 0) / DATA_SETS;
        own += class_coverage(model, test.data, 2, 1) / DATA_SETS;
        stonet_model_free(model);
        sn_table_free(&train);
        sn_table_free(&test);
    }
    assert_true(pooled < 0.8);
    assert_between(own, 0.87, 0.95);
}

static stonet_model *fit_network(const stonet_data *data, const char *response)
{
    stonet_spec *spec = sn_testing_spec("stonet", "2");
    stonet_model *model = NULL;
    assert_int_equal(stonet_spec_set(spec, "task", "regression"), STONET_OK);
    assert_int_equal(stonet_spec_set(spec, "response", response), STONET_OK);
    if (stonet_fit(spec, data, NULL, &model) != STONET_OK) fail_msg("%s", stonet_last_error());
    stonet_spec_free(spec);
    return model;
}

/* Correlation of the width of the intervals with |x1|; 0 when all have the same. */
static double width_follows(const stonet_model *model, const sn_table *test)
{
    double low[TEST_ROWS], high[TEST_ROWS], sum[5] = {0};
    assert_int_equal(stonet_predict_interval(model, test->data, NULL, low, high), STONET_OK);
    for (int i = 0; i < TEST_ROWS; i++) {
        const double w = high[i] - low[i], x = fabs((double)test->x[i * COLUMNS]);
        const double part[] = {w, x, w * w, x * x, w * x};
        for (int k = 0; k < 5; k++) sum[k] += part[k] / TEST_ROWS;
    }
    const double variance = sum[2] - sum[0] * sum[0];
    if (variance < 1e-12 * sum[2]) return 0.0;
    return (sum[4] - sum[0] * sum[1]) / sqrt(variance * (sum[3] - sum[1] * sum[1]));
}

/* A model that knows where y spreads has wide intervals there; the others have one width everywhere. */
static void intervals_follow_the_spread(void **state)
{
    (void)state;
    sn_table train = make_numbers(1000, FAN, 1), fresh = make_numbers(300, FAN, 2);
    sn_table test = make_numbers(TEST_ROWS, FAN, 3);
    stonet_model *plain = fit_network(train.data, "mean");
    stonet_model *knows = fit_network(train.data, "location-scale");
    calibrate(plain, fresh.data, STONET_CALIBRATION_FRESH, 0, 1);
    calibrate(knows, fresh.data, STONET_CALIBRATION_FRESH, 0, 1);
    assert_int_equal(plain->calibration->score_kind, SN_SCORE_RESIDUAL);
    assert_int_equal(knows->calibration->score_kind, SN_SCORE_NORMALISED);
    assert_true(width_follows(plain, &test) == 0.0);
    assert_true(width_follows(knows, &test) > 0.6);
    const stonet_scores of_plain = score(plain, test.data, 0.9, 0),
                        of_knows = score(knows, test.data, 0.9, 0);
    assert_between(of_plain.coverage, 0.85, 0.95);
    assert_between(of_knows.coverage, 0.85, 0.95);
    assert_true(of_knows.width < of_plain.width);
    calibrate(knows, train.data, STONET_CALIBRATION_SPLIT, 0, 1); /* by a refit, which knows too */
    assert_true(width_follows(knows, &test) > 0.5);
    stonet_model_free(plain);
    stonet_model_free(knows);
    sn_table_free(&train);
    sn_table_free(&fresh);
    sn_table_free(&test);
}

/* ---- the unpleasant cases ---- */

/* A class that is in one fold alone: its rows are scored by a member that has never met it. */
static void class_with_one_row(void **state)
{
    (void)state;
    static const char *const LABELS[] = {"ant", "bee", "fly"};
    sn_table table = make_classes(60, 5);
    int32_t code[60];
    for (int i = 0; i < 60; i++) code[i] = table.x[i * COLUMNS] > 0.8F;
    code[17] = 2;
    assert_int_equal(stonet_data_set_classes(table.data, code, LABELS, 3), STONET_OK);
    stonet_model *model = fit_plain(table.data, "classification");
    calibrate(model, table.data, STONET_CALIBRATION_CV, STONET_SETS_APS, 1);
    assert_int_equal(stonet_model_calibration_rows(model, 2), 1);
    assert_int_equal(stonet_model_calibration_rows(model, -1), 60);
    /* By class it has too few rows of its own and is ranked with all others, not shut out. */
    stonet_scores all = score(model, table.data, 0.9, 0), each = score(model, table.data, 0.9, 1);
    assert_true(all.coverage >= 0.85 && each.coverage >= 0.85);
    assert_true(isfinite(all.log_loss));
    stonet_model_free(model);
    sn_table_free(&table);
}

static void too_few_rows_give_no_bound(void **state)
{
    (void)state;
    sn_table train = make_numbers(100, PLAIN, 1), fresh = make_numbers(8, PLAIN, 2);
    stonet_model *model = fit_plain(train.data, "regression");
    double low[8], high[8];
    stonet_use_options how = {.size = sizeof how, .threads = 1, .level = 0.9};
    calibrate(model, fresh.data, STONET_CALIBRATION_FRESH, 0, 1);
    assert_int_equal(stonet_predict_interval(model, fresh.data, &how, low, high), STONET_OK);
    assert_true(low[3] == -INFINITY && high[3] == INFINITY);
    how.level = 0.8; /* 8 = .8 * 9 + .8: enough */
    assert_int_equal(stonet_predict_interval(model, fresh.data, &how, low, high), STONET_OK);
    assert_true(isfinite(low[3]) && isfinite(high[3]));
    assert_int_equal(stonet_calibrate(model, fresh.data, NULL, NULL), STONET_ERROR_DATA);
    assert_true(stonet_model_is_calibrated(model)); /* as it was */
    stonet_model_free(model);
    sn_table_free(&train);
    sn_table_free(&fresh);
}

static void several_outputs_share_the_level(void **state)
{
    (void)state;
    sn_table train = sn_table_numbers(200, 3, 2, 1), fresh = sn_table_numbers(200, 3, 2, 2);
    stonet_spec *spec = sn_testing_spec("none", "3");
    stonet_model *model = NULL;
    assert_int_equal(stonet_fit(spec, train.data, NULL, &model), STONET_OK);
    calibrate(model, fresh.data, STONET_CALIBRATION_FRESH, 0, 1);
    double low[400], high[400], one_low[400], one_high[400];
    stonet_use_options how = {.size = sizeof how, .level = 0.9};
    assert_int_equal(stonet_predict_interval(model, fresh.data, &how, low, high), STONET_OK);
    how.level = 0.8; /* each output then has the .9 quantile */
    assert_int_equal(stonet_predict_interval(model, fresh.data, &how, one_low, one_high), STONET_OK);
    assert_true(one_high[1] - one_low[1] < high[1] - low[1]);
    const double *score_1 = model->calibration->score + 200, reach = (one_high[1] - one_low[1]) / 2.0;
    int below = 0;
    for (int i = 0; i < 200; i++) below += score_1[i] <= reach * (1.0 + 1e-9);
    assert_int_equal(below, sn_conformal_rank(200, 0.9));
    assert_true(score(model, fresh.data, 0.9, 0).coverage >= 0.9);
    stonet_spec_free(spec);
    stonet_model_free(model);
    sn_table_free(&train);
    sn_table_free(&fresh);
}

static void assert_same_intervals(const stonet_model *a, const stonet_model *b, const stonet_data *data)
{
    const int64_t n = stonet_data_rows(data);
    double *end[4];
    for (int k = 0; k < 4; k++) end[k] = sn_calloc((size_t)n, sizeof **end);
    assert_int_equal(stonet_predict_interval(a, data, NULL, end[0], end[1]), STONET_OK);
    assert_int_equal(stonet_predict_interval(b, data, NULL, end[2], end[3]), STONET_OK);
    assert_memory_equal(end[0], end[2], (size_t)n * sizeof **end);
    assert_memory_equal(end[1], end[3], (size_t)n * sizeof **end);
    for (int k = 0; k < 4; k++) sn_free(end[k]);
}

/* The same bits for any number of threads, and whatever the order of fresh rows. */
static void same_bits(void **state)
{
    (void)state;
    sn_table train = make_numbers(120, PLAIN, 1), fresh = make_numbers(50, PLAIN, 2);
    stonet_model *one = fit_plain(train.data, "regression"), *two = fit_plain(train.data, "regression");
    calibrate(one, train.data, STONET_CALIBRATION_CV, 0, 1);
    calibrate(two, train.data, STONET_CALIBRATION_CV, 0, 3);
    assert_same_intervals(one, two, fresh.data);
    int64_t back[50];
    for (int i = 0; i < 50; i++) back[i] = 49 - i;
    stonet_data *reversed = NULL;
    assert_int_equal(stonet_data_subset(fresh.data, back, 50, &reversed), STONET_OK);
    calibrate(one, fresh.data, STONET_CALIBRATION_FRESH, 0, 1);
    calibrate(two, reversed, STONET_CALIBRATION_FRESH, 0, 1);
    assert_same_intervals(one, two, train.data);
    stonet_data_free(reversed);
    stonet_model_free(one);
    stonet_model_free(two);
    sn_table_free(&train);
    sn_table_free(&fresh);
}

/* A row has the same set wherever it stands, for every score and kind. */
static void sets_do_not_depend_on_the_place(void **state)
{
    (void)state;
    sn_table train = make_classes(120, 1), test = make_classes(40, 2);
    stonet_model *model = fit_plain(train.data, "classification");
    int64_t back[40];
    for (int i = 0; i < 40; i++) back[i] = 39 - i;
    stonet_data *reversed = NULL;
    assert_int_equal(stonet_data_subset(test.data, back, 40, &reversed), STONET_OK);
    calibrate(model, train.data, STONET_CALIBRATION_CV, STONET_SETS_APS, 2);
    unsigned char there[120], here[120];
    assert_int_equal(stonet_predict_set(model, test.data, NULL, there), STONET_OK);
    assert_int_equal(stonet_predict_set(model, reversed, NULL, here), STONET_OK);
    for (int i = 0; i < 40; i++) {
        assert_memory_equal(there + 3 * i, here + 3 * (39 - i), 3);
        assert_true(there[3 * i] + there[3 * i + 1] + there[3 * i + 2] > 0);
    }
    stonet_data_free(reversed);
    stonet_model_free(model);
    sn_table_free(&train);
    sn_table_free(&test);
}

/* Probabilities are corrected by the temperature, and classes stay what they were. */
static void temperature_is_applied(void **state)
{
    (void)state;
    sn_table train = make_classes(80, 1), test = make_classes(2000, 2);
    stonet_spec *spec = sn_testing_spec("none", "4"); /* a network that has learned its rows by heart */
    stonet_model *model = NULL;
    const char *const settings[][2] = {
        {"learner", "mlp"}, {"learner.epochs", "400"}, {"learner.rate", "0.1"}};
    for (int k = 0; k < 3; k++)
        assert_int_equal(stonet_spec_set(spec, settings[k][0], settings[k][1]), STONET_OK);
    assert_int_equal(stonet_fit(spec, train.data, NULL, &model), STONET_OK);
    const stonet_scores before = score(model, test.data, 0, 0);
    assert_true(isnan(before.coverage) && isnan(before.level));
    calibrate(model, train.data, STONET_CALIBRATION_CV, STONET_SETS_APS, 2);
    const stonet_scores after = score(model, test.data, 0, 0);
    assert_true(model->calibration->temperature > 1.2);
    assert_true(after.log_loss < before.log_loss - 0.05);
    assert_true(after.calibration_error < before.calibration_error);
    assert_true(after.error_rate == before.error_rate && after.level == 0.9);
    stonet_spec_free(spec);
    stonet_model_free(model);
    sn_table_free(&train);
    sn_table_free(&test);
}

/* ---- in a file ---- */

/* Whole weights are rows that come so many times; sets are those of the rows as they are. */
static void temperature_is_weighted(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    sn_table train = make_classes(ROWS, 41), table = make_classes(ROWS, 42);
    double weight[ROWS];
    int64_t row[3 * ROWS], rows = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        weight[i] = (double)(i % 4);
        for (int k = 0; k < i % 4; k++) row[rows++] = i;
    }
    stonet_data *repeated = NULL;
    assert_int_equal(stonet_data_subset(table.data, row, rows, &repeated), STONET_OK);
    double found[3];
    for (int k = 0; k < 3; k++) {
        stonet_spec *spec = sn_testing_spec("none", "1");
        stonet_model *model = NULL;
        assert_int_equal(stonet_fit(spec, train.data, NULL, &model), STONET_OK);
        if (k == 1) assert_int_equal(stonet_data_set_weights(table.data, weight), STONET_OK);
        stonet_calibrate_options how = STONET_CALIBRATE_OPTIONS_INIT;
        how.kind = STONET_CALIBRATION_FRESH;
        if (stonet_calibrate(model, k == 2 ? repeated : table.data, &how, NULL) != STONET_OK)
            fail_msg("%s", stonet_last_error());
        found[k] = model->calibration->temperature;
        stonet_model_free(model);
        stonet_spec_free(spec);
    }
    assert_true(fabs(found[1] - found[2]) < 1e-4 && fabs(found[0] - found[1]) > 1e-3);
    stonet_data_free(repeated);
    sn_table_free(&train);
    sn_table_free(&table);
}

static void survives_a_file(void **state)
{
    (void)state;
    char path[256];
    sn_testing_path(path, sizeof path, "calibrated");
    sn_table numbers = make_numbers(100, PLAIN, 1), classes = make_classes(100, 2);
    stonet_model *model = fit_plain(numbers.data, "regression"), *loaded = NULL;
    calibrate(model, numbers.data, STONET_CALIBRATION_CV, 0, 1);
    assert_int_equal(stonet_model_save(model, path), STONET_OK);
    assert_int_equal(stonet_model_load(path, &loaded), STONET_OK);
    assert_same_intervals(model, loaded, numbers.data);
    assert_true(loaded->calibration->residual_variance[0] == model->calibration->residual_variance[0]);
    stonet_model_free(model);
    stonet_model_free(loaded);
    model = fit_plain(classes.data, "classification");
    calibrate(model, classes.data, STONET_CALIBRATION_SPLIT, STONET_SETS_LAC, 1);
    assert_int_equal(stonet_model_save(model, path), STONET_OK);
    assert_int_equal(stonet_model_load(path, &loaded), STONET_OK);
    unsigned char before[300], after[300];
    double p_before[300], p_after[300];
    assert_int_equal(stonet_predict_set(model, classes.data, NULL, before), STONET_OK);
    assert_int_equal(stonet_predict_set(loaded, classes.data, NULL, after), STONET_OK);
    assert_memory_equal(before, after, 300);
    assert_int_equal(stonet_predict(model, classes.data, NULL, p_before), STONET_OK);
    assert_int_equal(stonet_predict(loaded, classes.data, NULL, p_after), STONET_OK);
    assert_memory_equal(p_before, p_after, sizeof p_before);
    stonet_model_free(model);
    stonet_model_free(loaded);
    remove(path);
    sn_table_free(&numbers);
    sn_table_free(&classes);
}

/* A copy of the store with one text or tensor other than it was. */
static stonet_status load_changed(const stonet_model *model, const char *key, const char *text,
                                  const char *tensor, int32_t code)
{
    sn_store *store = NULL, *changed = NULL;
    stonet_model *loaded = NULL;
    assert_int_equal(sn_store_create(&store), STONET_OK);
    assert_int_equal(sn_store_create(&changed), STONET_OK);
    assert_int_equal(sn_model_to_store(model, store), STONET_OK);
    for (size_t i = 0; i < sn_store_texts(store); i++) {
        const char *name, *value;
        sn_store_text(store, i, &name, &value);
        const bool here = key != NULL && strcmp(name, key) == 0;
        if (!here || text != NULL)
            assert_int_equal(sn_store_put_text(changed, name, here ? text : value), STONET_OK);
    }
    if (key != NULL && text != NULL && sn_store_find_text(changed, key) == NULL)
        assert_int_equal(sn_store_put_text(changed, key, text), STONET_OK);
    for (size_t i = 0; i < sn_store_tensors(store); i++) {
        const sn_tensor *from = sn_store_tensor(store, i);
        assert_int_equal(sn_store_put(changed, from->name, from->dtype, from->rank, from->shape, from->data),
                         STONET_OK);
        if (tensor != NULL && strcmp(from->name, tensor) == 0)
            *(int32_t *)sn_store_find(changed, tensor)->data = code;
    }
    stonet_status status = sn_model_from_store(changed, &loaded);
    stonet_model_free(loaded);
    sn_store_free(store);
    sn_store_free(changed);
    return status;
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    sn_table classes = make_classes(60, 2);
    stonet_model *model = fit_plain(classes.data, "classification");
    calibrate(model, classes.data, STONET_CALIBRATION_CV, STONET_SETS_APS, 1);
    assert_int_equal(load_changed(model, NULL, NULL, NULL, 0), STONET_OK);
    const char *const texts[][2] = {{"calibration.kind", "jackknife"},
                                    {"calibration.kind", "split"},
                                    {"calibration.score", "residual"},
                                    {"calibration.score", NULL},
                                    {"calibration.models", "11"},
                                    {"calibration.models", "0"},
                                    {"calibration.temperature", "0"},
                                    {"calibration.temperature", "nan"},
                                    {"calibration.temperature", NULL},
                                    {"calibration.model3.schema.task", NULL},
                                    {"calibration.model2.schema.classes", "[\"ant\",\"wasp\",\"fly\"]"},
                                    {"calibration.model1.calibration.kind", "fresh"}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (load_changed(model, texts[k][0], texts[k][1], NULL, 0) != STONET_ERROR_FORMAT)
            fail_msg("%s = %s was taken", texts[k][0], texts[k][1]);
    assert_int_equal(load_changed(model, NULL, NULL, "calibration.label", 3), STONET_ERROR_FORMAT);
    assert_int_equal(load_changed(model, NULL, NULL, "calibration.label", -1), STONET_ERROR_FORMAT);
    assert_int_equal(load_changed(model, NULL, NULL, "calibration.model_of", 10), STONET_ERROR_FORMAT);
    stonet_model_free(model);
    sn_table_free(&classes);
}

static void count_warnings(stonet_level level, const char *text, void *user)
{
    if (level == STONET_WARNING && strstr(text, "fresh rows look like") != NULL) ++*(int *)user;
}

/* As many fresh rows as training rows, for a method that also chooses how columns are encoded. */
static void training_rows_are_not_fresh(void **state)
{
    (void)state;
    sn_table train = make_numbers(60, TIES, 1), fresh = make_numbers(60, TIES, 2);
    stonet_model *model = fit_network(train.data, "mean");
    int warnings = 0;
    stonet_calibrate_options how = {.size = sizeof how, .kind = STONET_CALIBRATION_FRESH};
    stonet_run run = {.size = sizeof run, .seed = 1, .on_message = count_warnings, .user = &warnings};
    assert_int_equal(stonet_calibrate(model, fresh.data, &how, &run), STONET_OK);
    assert_int_equal(warnings, 0);
    assert_int_equal(stonet_calibrate(model, train.data, &how, &run), STONET_OK);
    assert_int_equal(warnings, 1);
    stonet_model_free(model);
    sn_table_free(&train);
    sn_table_free(&fresh);
}

/* ---- calls that make no sense ---- */

static int stop_at_once(void *user)
{
    (void)user;
    return 1;
}

static void refusals(void **state)
{
    (void)state;
    sn_table numbers = make_numbers(60, PLAIN, 1), classes = make_classes(60, 2);
    stonet_model *model = fit_plain(numbers.data, "regression");
    double low[60], high[60];
    unsigned char inside[180];
    assert_int_equal(stonet_predict_interval(model, numbers.data, NULL, low, high), STONET_ERROR_UNSUPPORTED);
    assert_non_null(strstr(stonet_last_error(), "was not calibrated"));
    stonet_run stopped = {.size = sizeof stopped, .seed = 1, .should_stop = stop_at_once};
    assert_int_equal(stonet_calibrate(model, numbers.data, NULL, &stopped), STONET_ERROR_INTERRUPTED);
    assert_false(stonet_model_is_calibrated(model));
    calibrate(model, numbers.data, STONET_CALIBRATION_CV, 0, 1);
    assert_int_equal(stonet_predict_set(model, numbers.data, NULL, inside), STONET_ERROR_UNSUPPORTED);
    stonet_use_options how = {.size = sizeof how, .level = 1.0};
    assert_int_equal(stonet_predict_interval(model, numbers.data, &how, low, high), STONET_ERROR_ARGUMENT);
    how.level = 0.5;
    assert_int_equal(stonet_predict(model, numbers.data, &how, low), STONET_ERROR_ARGUMENT);
    stonet_scores unset = {0};
    assert_int_equal(stonet_score(model, numbers.data, NULL, &unset), STONET_ERROR_ARGUMENT);
    int64_t table[9];
    assert_int_equal(stonet_confusion(model, numbers.data, NULL, table), STONET_ERROR_UNSUPPORTED);
    stonet_model_free(model);
    model = fit_plain(classes.data, "classification");
    assert_int_equal(stonet_confusion(model, classes.data, NULL, table), STONET_OK);
    int64_t rows = 0;
    for (int k = 0; k < 9; k++) rows += table[k];
    assert_int_equal(rows, 60);
    stonet_model_free(model);
    stonet_spec *spec = sn_testing_spec("pca", "2"); /* Z alone */
    assert_int_equal(stonet_spec_set(spec, "learner", "none"), STONET_OK);
    assert_int_equal(stonet_fit(spec, numbers.data, NULL, &model), STONET_OK);
    assert_int_equal(stonet_calibrate(model, numbers.data, NULL, NULL), STONET_ERROR_UNSUPPORTED);
    stonet_spec_free(spec);
    stonet_model_free(model);
    sn_table_free(&numbers);
    sn_table_free(&classes);
}

/* Every method that predicts can be calibrated; a refit is the fit that it was. */
static void spec_of_a_model_fits_it_again(void **state)
{
    (void)state;
    sn_table classes = make_classes(80, 3);
    stonet_spec *spec = sn_testing_spec("sir", "1"), *again = NULL;
    stonet_model *model = NULL, *second = NULL;
    assert_int_equal(stonet_spec_set(spec, "slices", "3"), STONET_OK);
    assert_int_equal(stonet_spec_set(spec, "scale", "centre"), STONET_OK);
    assert_int_equal(stonet_spec_set(spec, "learner", "logistic"), STONET_OK);
    assert_int_equal(stonet_spec_set(spec, "learner.l2", "0.5"), STONET_OK);
    assert_int_equal(stonet_fit(spec, classes.data, NULL, &model), STONET_OK);
    assert_int_equal(stonet_model_spec(model, &again), STONET_OK);
    assert_int_equal(stonet_fit(again, classes.data, NULL, &second), STONET_OK);
    double p[240], q[240];
    assert_int_equal(stonet_predict(model, classes.data, NULL, p), STONET_OK);
    assert_int_equal(stonet_predict(second, classes.data, NULL, q), STONET_OK);
    assert_memory_equal(p, q, sizeof p);
    calibrate(model, classes.data, STONET_CALIBRATION_CV, STONET_SETS_APS, 2);
    assert_true(score(model, classes.data, 0.9, 0).coverage > 0.8);
    stonet_spec_free(spec);
    stonet_spec_free(again);
    stonet_model_free(model);
    stonet_model_free(second);
    sn_table_free(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_cover),
        cmocka_unit_test(order_of_the_rows_does_not_matter),
        cmocka_unit_test(sets_cover),
        cmocka_unit_test(every_class_is_covered_on_request),
        cmocka_unit_test(intervals_follow_the_spread),
        cmocka_unit_test(class_with_one_row),
        cmocka_unit_test(too_few_rows_give_no_bound),
        cmocka_unit_test(several_outputs_share_the_level),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(sets_do_not_depend_on_the_place),
        cmocka_unit_test(temperature_is_applied),
        cmocka_unit_test(temperature_is_weighted),
        cmocka_unit_test(survives_a_file),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(training_rows_are_not_fresh),
        cmocka_unit_test(refusals),
        cmocka_unit_test(spec_of_a_model_fits_it_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
