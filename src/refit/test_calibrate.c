/* Intervals and sets cover what they promise, whatever the order of the rows, and stay so in a file. */
#include "base/test_kit.h"
#include "base/test_messages.h"
#include "base/test_store.h"
#include "math/smallest.h"
#include "model/calibration.h"
#include "model/test_table.h"
#include "stats/conformal.h"

enum { COLUMNS = 4, TEST_ROWS = 1000 };

/* How a data set is made: numbers, or classes whose sets have this score. */
typedef enum flavour { PLAIN, SORTED, TIES, FAN, APS, LAC } flavour;

/* y = x1 + x2 / 2 + noise; SORTED: rows by y; TIES: y in whole numbers; FAN: more noise away from 0. */
static sn_table make_numbers(int64_t n, flavour how, uint32_t seed)
{
    enum { ROW = COLUMNS + 1 };
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 9);
    SN_BLOCK double *row = sn_calloc((size_t)(n * ROW), sizeof *row);
    for (int64_t i = 0; i < n; i++) {
        double *x = row + i * ROW + 1;
        for (int j = 0; j < COLUMNS; j++) x[j] = sn_random_normal(&random);
        const double spread = how == FAN ? 0.1 + fabs(x[0]) : 1.0;
        row[i * ROW] = x[0] + 0.5 * x[1] + spread * sn_random_normal(&random);
        if (how == TIES) row[i * ROW] = round(row[i * ROW]);
    }
    if (how == SORTED) qsort(row, (size_t)n, ROW * sizeof *row, sn_by_double);
    sn_table table = {.x = sn_calloc((size_t)(n * COLUMNS), sizeof(float))};
    SN_BLOCK double *y = sn_calloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        y[i] = row[i * ROW];
        for (int j = 0; j < COLUMNS; j++) table.x[i * COLUMNS + j] = (float)row[i * ROW + 1 + j];
    }
    table.data = sn_testing_data(table.x, n, COLUMNS, y);
    return table;
}

/* Three overlapping classes, the last one rare. */
static sn_table make_classes(int64_t n, uint32_t seed)
{
    static const char *const LABELS[] = {"ant", "bee", "fly"};
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 10);
    sn_table table = {.x = sn_calloc((size_t)(n * COLUMNS), sizeof(float))};
    SN_BLOCK int32_t *code = sn_calloc((size_t)n, sizeof *code);
    for (int64_t i = 0; i < n; i++) {
        const double u = sn_random_uniform(&random);
        code[i] = u < 0.08 ? 2 : u < 0.5 ? 1 : 0;
        for (int j = 0; j < COLUMNS; j++)
            table.x[i * COLUMNS + j] = (float)(sn_random_normal(&random) + (j == 0 ? 1.2 * code[i] : 0.0));
    }
    table.data = sn_testing_data(table.x, n, COLUMNS, NULL);
    OK(stonet_data_set_classes(table.data, code, LABELS, 3));
    return table;
}

static const stonet_run ALONE = {.size = sizeof ALONE, .seed = 1, .threads = 1};

/* The cheapest model: a regression on the features themselves. */
static stonet_model *fit_plain(const stonet_data *data)
{
    const bool classes = stonet_data_classes(data, NULL) != NULL;
    return sn_testing_fit(classes ? "none 4 task=classification" : "none 4 task=regression", data, &ALONE);
}

static void calibrate(stonet_model *model, const stonet_data *data, stonet_calibration kind,
                      stonet_set_score sets, int threads)
{
    stonet_calibrate_options how = STONET_CALIBRATE_OPTIONS_INIT;
    how.kind = kind;
    how.sets = sets;
    stonet_run run = {.size = sizeof run, .seed = 1, .threads = threads};
    OK(stonet_calibrate(model, data, &how, &run));
}

static stonet_scores score(const stonet_model *model, const stonet_data *data, double level, int by_class)
{
    stonet_use_options how = {.size = sizeof how, .threads = 1, .level = level, .by_class = by_class};
    return sn_testing_scores(model, data, &how);
}

/* ---- coverage: bench/intervals.py has the same on 200 data sets each ---- */

static sn_table make(int64_t n, flavour how, uint32_t seed)
{
    return how < APS ? make_numbers(n, how, seed) : make_classes(n, seed);
}

/* Mean coverage, and width (may be NULL), of new rows over data sets of n rows. FRESH: the model has n rows,
   the calibration 100. */
static double coverage(int data_sets, int64_t n, flavour how, stonet_calibration kind, double level,
                       double *width)
{
    double covered = 0.0, wide = 0.0;
    for (uint32_t d = 0; d < (uint32_t)data_sets; d++) {
        SN_TABLE train = make(n, how, 3 * d), test = make(TEST_ROWS, how, 3 * d + 1);
        SN_TABLE fresh = make(100, how, 3 * d + 2);
        SN_AUTO(stonet_model) *model = fit_plain(train.data);
        calibrate(model, kind == STONET_CALIBRATION_FRESH ? fresh.data : train.data, kind,
                  how == LAC ? STONET_SETS_LAC : STONET_SETS_APS, 1);
        const stonet_scores found = score(model, test.data, level, 0);
        covered += found.coverage / data_sets;
        wide += found.width / data_sets;
    }
    if (width != NULL) *width = wide;
    return covered;
}

static void assert_between(double value, double low, double high)
{
    if (!(value >= low && value <= high)) fail_msg("%g is not between %g and %g", value, low, high);
}

/* Split: level .. level + 1 / (m + 1), less and more three standard errors of the mean over the data sets. */
TEST(intervals_cover)
{
    const double split = 3.0 * sqrt(0.09 / 62 / 40), fresh = 3.0 * sqrt(0.09 / 102 / 40);
    assert_between(coverage(40, 300, PLAIN, STONET_CALIBRATION_SPLIT, 0.9, NULL), 0.9 - split, 0.917 + split);
    assert_between(coverage(40, 100, PLAIN, STONET_CALIBRATION_FRESH, 0.9, NULL), 0.9 - fresh, 0.91 + fresh);
    assert_between(coverage(40, 100, FAN, STONET_CALIBRATION_FRESH, 0.9, NULL), 0.9 - fresh, 0.91 + fresh);
    assert_between(coverage(20, 300, PLAIN, STONET_CALIBRATION_CV, 0.9, NULL), 0.885, 0.92);
    assert_between(coverage(10, 300, FAN, STONET_CALIBRATION_CV, 0.9, NULL), 0.88, 0.93);
    assert_between(coverage(10, 300, PLAIN, STONET_CALIBRATION_CV, 0.5, NULL), 0.45, 0.55);
    assert_between(coverage(10, 300, PLAIN, STONET_CALIBRATION_CV, 0.99, NULL), 0.98, 1.0);
    assert_true(coverage(10, 300, TIES, STONET_CALIBRATION_CV, 0.9, NULL) >= 0.89);
}

/* Rows that come sorted by the response: parts that are not drawn at random hold out the largest. */
TEST(order_of_the_rows_does_not_matter)
{
    assert_between(coverage(40, 300, SORTED, STONET_CALIBRATION_SPLIT, 0.9, NULL), 0.882, 0.935);
    assert_between(coverage(20, 300, SORTED, STONET_CALIBRATION_CV, 0.9, NULL), 0.885, 0.92);
}

TEST(sets_cover)
{
    double aps, lac;
    const double error = 3.0 * sqrt(0.09 / 102 / 20);
    /* Sets that would be empty are given the most probable class: coverage can only grow. */
    assert_between(coverage(20, 300, LAC, STONET_CALIBRATION_FRESH, 0.9, &lac), 0.9 - error, 0.93);
    assert_between(coverage(20, 300, APS, STONET_CALIBRATION_FRESH, 0.9, &aps), 0.9 - error, 0.93);
    assert_true(lac <= aps && aps < 2.5);
    double folds;
    assert_between(coverage(20, 300, LAC, STONET_CALIBRATION_CV, 0.9, &folds), 0.885, 0.92);
    assert_between(folds, lac - 0.1, lac + 0.1);
    assert_between(coverage(20, 300, APS, STONET_CALIBRATION_CV, 0.9, &folds), 0.885, 0.92);
    assert_between(folds, aps - 0.07, aps + 0.07);
}

/* Share of the rows of a class whose set has it. */
static double class_coverage(const stonet_model *model, const stonet_data *data, int32_t code, int by_class)
{
    const int64_t n = stonet_data_rows(data);
    const int32_t *label = stonet_data_classes(data, NULL);
    SN_BLOCK unsigned char *inside = test_zeros(3 * n, 1);
    stonet_use_options how = {.size = sizeof how, .threads = 1, .level = 0.9, .by_class = by_class};
    OK(stonet_predict_set(model, data, &how, inside));
    double rows = 0.0, covered = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (label[i] != code) continue;
        rows += 1.0;
        covered += inside[3 * i + code];
    }
    return covered / rows;
}

/* A rare class pays for the others unless each is asked for on its own. */
TEST(every_class_is_covered_on_request)
{
    double pooled = 0.0, own = 0.0, told = 0.0;
    enum { DATA_SETS = 20 };
    for (uint32_t d = 0; d < DATA_SETS; d++) {
        SN_TABLE train = make_classes(600, 2 * d + 100), test = make_classes(3 * TEST_ROWS, 2 * d + 101);
        SN_AUTO(stonet_model) *model = fit_plain(train.data);
        calibrate(model, train.data, STONET_CALIBRATION_CV, STONET_SETS_LAC, 1);
        pooled += class_coverage(model, test.data, 2, 0) / DATA_SETS;
        own += class_coverage(model, test.data, 2, 1) / DATA_SETS;
        told += stonet_model_class_coverage(model, 0.9, 2) / DATA_SETS;
    }
    assert_true(pooled < 0.8);
    assert_between(own, 0.87, 0.95);
    assert_between(told, pooled - 0.04, pooled + 0.04); /* held-out rows know it beforehand */
}

#define NETWORK "stonet 2 task=regression response="

/* Correlation of the width of the intervals with |x1|; 0 when all have the same. */
static double width_follows(const stonet_model *model, const sn_table *test)
{
    double low[TEST_ROWS], high[TEST_ROWS], sum[5] = {0};
    OK(stonet_predict_interval(model, test->data, NULL, low, high));
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
TEST(intervals_follow_the_spread)
{
    SN_TABLE train = make_numbers(1000, FAN, 1), fresh = make_numbers(300, FAN, 2);
    SN_TABLE test = make_numbers(TEST_ROWS, FAN, 3);
    SN_AUTO(stonet_model) *plain = sn_testing_fit(NETWORK "mean", train.data, NULL);
    SN_AUTO(stonet_model) *knows = sn_testing_fit(NETWORK "location-scale", train.data, NULL);
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
}

static void assert_same_intervals(const stonet_model *a, const stonet_model *b, const stonet_data *data)
{
    static double end[4][TEST_ROWS];
    const size_t size = (size_t)stonet_data_rows(data) * sizeof **end;
    OK(stonet_predict_interval(a, data, NULL, end[0], end[1]));
    OK(stonet_predict_interval(b, data, NULL, end[2], end[3]));
    assert_memory_equal(end[0], end[2], size);
    assert_memory_equal(end[1], end[3], size);
}

/* CV+ learns from held-out rows where errors are large, whatever the method, and keeps it in the file. */
TEST(held_out_rows_show_the_spread)
{
    SN_TABLE train = make_numbers(300, FAN, 4), test = make_numbers(TEST_ROWS, FAN, 5);
    SN_AUTO(stonet_model) *model = fit_plain(train.data);
    calibrate(model, train.data, STONET_CALIBRATION_CV, 0, 1);
    assert_non_null(model->calibration->spread);
    assert_true(width_follows(model, &test) > 0.6);
    assert_between(score(model, test.data, 0.9, 0).coverage, 0.85, 0.95);
    double low[TEST_ROWS], high[TEST_ROWS];
    int inside[2] = {0}, rows[2] = {0};
    OK(stonet_predict_interval(model, test.data, NULL, low, high));
    for (int i = 0; i < TEST_ROWS; i++) {
        const int far = fabs((double)test.x[i * COLUMNS]) > 0.67; /* half of the rows */
        const double y = stonet_data_targets(test.data, NULL)[i];
        rows[far]++;
        inside[far] += low[i] <= y && y <= high[i];
    }
    for (int far = 0; far < 2; far++) assert_between((double)inside[far] / rows[far], 0.85, 0.95);
    SN_AUTO(stonet_model) *loaded = sn_testing_again(model);
    assert_same_intervals(model, loaded, test.data);
}

/* ---- the unpleasant cases ---- */

/* A class that is in one fold alone: its rows are scored by a member that has never met it. */
TEST(class_with_one_row)
{
    SN_TABLE table = make_classes(60, 5);
    int32_t code[60];
    for (int i = 0; i < 60; i++) code[i] = table.x[i * COLUMNS] > 0.8F;
    code[17] = 2;
    OK(stonet_data_set_classes(table.data, code, (const char *const[]){"ant", "bee", "fly"}, 3));
    SN_AUTO(stonet_model) *model = fit_plain(table.data);
    calibrate(model, table.data, STONET_CALIBRATION_CV, STONET_SETS_APS, 1);
    assert_int_equal(stonet_model_calibration_rows(model, 2), 1);
    assert_int_equal(stonet_model_calibration_rows(model, -1), 60);
    /* By class it has too few rows of its own and is ranked with all others, not shut out. */
    stonet_scores all = score(model, table.data, 0.9, 0), each = score(model, table.data, 0.9, 1);
    assert_true(all.coverage >= 0.85 && each.coverage >= 0.85);
    assert_true(isfinite(all.log_loss));
}

TEST(too_few_rows_give_no_bound)
{
    SN_TABLE train = make_numbers(100, PLAIN, 1), fresh = make_numbers(8, PLAIN, 2);
    SN_AUTO(stonet_model) *model = fit_plain(train.data);
    double low[8], high[8];
    stonet_use_options how = {.size = sizeof how, .threads = 1, .level = 0.9};
    calibrate(model, fresh.data, STONET_CALIBRATION_FRESH, 0, 1);
    OK(stonet_predict_interval(model, fresh.data, &how, low, high));
    assert_true(low[3] == -INFINITY && high[3] == INFINITY);
    how.level = 0.8; /* 8 = .8 * 9 + .8: enough */
    OK(stonet_predict_interval(model, fresh.data, &how, low, high));
    assert_true(isfinite(low[3]) && isfinite(high[3]));
    assert_int_equal(stonet_calibrate(model, fresh.data, NULL, NULL), STONET_ERROR_DATA);
    assert_true(stonet_model_is_calibrated(model)); /* as it was */
}

TEST(several_outputs_share_the_level)
{
    SN_TABLE train = sn_table_numbers(200, 3, 2, 1), fresh = sn_table_numbers(200, 3, 2, 2);
    SN_AUTO(stonet_model) *model = sn_testing_fit("none 3", train.data, NULL);
    calibrate(model, fresh.data, STONET_CALIBRATION_FRESH, 0, 1);
    double low[400], high[400], one_low[400], one_high[400];
    stonet_use_options how = {.size = sizeof how, .level = 0.9};
    OK(stonet_predict_interval(model, fresh.data, &how, low, high));
    how.level = 0.8; /* each output then has the .9 quantile */
    OK(stonet_predict_interval(model, fresh.data, &how, one_low, one_high));
    assert_true(one_high[1] - one_low[1] < high[1] - low[1]);
    const double *score_1 = model->calibration->score + 200, reach = (one_high[1] - one_low[1]) / 2.0;
    int below = 0;
    for (int i = 0; i < 200; i++) below += score_1[i] <= reach * (1.0 + 1e-9);
    assert_int_equal(below, sn_conformal_rank(200, 0.9));
    assert_true(score(model, fresh.data, 0.9, 0).coverage >= 0.9);
}

/* The same bits for any number of threads, and whatever the order of fresh rows. */
TEST(same_bits)
{
    SN_TABLE train = make_numbers(120, PLAIN, 1), fresh = make_numbers(50, PLAIN, 2);
    SN_AUTO(stonet_model) *one = fit_plain(train.data), *two = fit_plain(train.data);
    calibrate(one, train.data, STONET_CALIBRATION_CV, 0, 1);
    calibrate(two, train.data, STONET_CALIBRATION_CV, 0, 3);
    assert_same_intervals(one, two, fresh.data);
    SN_AUTO(stonet_data) *reversed = sn_testing_rows(fresh.data, 49, 50, -1);
    calibrate(one, fresh.data, STONET_CALIBRATION_FRESH, 0, 1);
    calibrate(two, reversed, STONET_CALIBRATION_FRESH, 0, 1);
    assert_same_intervals(one, two, train.data);
}

/* A row has the same set wherever it stands, for every score and kind. */
TEST(sets_do_not_depend_on_the_place)
{
    SN_TABLE train = make_classes(120, 1), test = make_classes(40, 2);
    SN_AUTO(stonet_model) *model = fit_plain(train.data);
    SN_AUTO(stonet_data) *reversed = sn_testing_rows(test.data, 39, 40, -1);
    calibrate(model, train.data, STONET_CALIBRATION_CV, STONET_SETS_APS, 2);
    unsigned char there[120], here[120];
    OK(stonet_predict_set(model, test.data, NULL, there));
    OK(stonet_predict_set(model, reversed, NULL, here));
    for (int i = 0; i < 40; i++) {
        assert_memory_equal(there + 3 * i, here + 3 * (39 - i), 3);
        assert_true(there[3 * i] + there[3 * i + 1] + there[3 * i + 2] > 0);
    }
}

/* Probabilities are corrected by the temperature, and classes stay what they were. */
TEST(temperature_is_applied)
{
    SN_TABLE train = make_classes(80, 1), test = make_classes(2000, 2);
    /* a network that has learned its rows by heart */
    SN_AUTO(stonet_model) *model =
        sn_testing_fit("none 4 learner=mlp learner.epochs=400 learner.rate=0.1", train.data, NULL);
    const stonet_scores before = score(model, test.data, 0, 0);
    assert_true(isnan(before.coverage) && isnan(before.level));
    calibrate(model, train.data, STONET_CALIBRATION_CV, STONET_SETS_APS, 2);
    const stonet_scores after = score(model, test.data, 0, 0);
    assert_true(model->calibration->temperature > 1.2);
    assert_true(after.log_loss < before.log_loss - 0.05);
    assert_true(after.calibration_error < before.calibration_error);
    assert_true(after.error_rate == before.error_rate && after.level == 0.9);
}

/* Whole weights are rows that come so many times; sets are those of the rows as they are. */
TEST(temperature_is_weighted)
{
    enum { ROWS = 300 };
    SN_TABLE train = make_classes(ROWS, 41), table = make_classes(ROWS, 42);
    double weight[ROWS];
    int64_t row[3 * ROWS], rows = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        weight[i] = (double)(i % 4);
        for (int k = 0; k < i % 4; k++) row[rows++] = i;
    }
    SN_AUTO(stonet_data) *repeated = NULL;
    OK(stonet_data_subset(table.data, row, rows, &repeated));
    double found[3];
    for (int k = 0; k < 3; k++) {
        SN_AUTO(stonet_model) *model = fit_plain(train.data);
        if (k == 1) OK(stonet_data_set_weights(table.data, weight));
        calibrate(model, k == 2 ? repeated : table.data, STONET_CALIBRATION_FRESH, 0, 1);
        found[k] = model->calibration->temperature;
    }
    assert_true(fabs(found[1] - found[2]) < 1e-4 && fabs(found[0] - found[1]) > 1e-3);
}

/* Rows of weight 0 are as good as not there: their responses, far off here, make no interval wider. */
TEST(rows_of_weight_0_do_not_count)
{
    enum { ROWS = 300 };
    SN_TABLE table = make_numbers(ROWS, PLAIN, 43);
    double y[ROWS], weight[ROWS];
    for (int64_t i = 0; i < ROWS; i++) {
        weight[i] = i % 2 == 0 ? 1.0 : 0.0;
        y[i] = (double)table.x[i * COLUMNS] + 100.0 * (1.0 - weight[i]) * (double)table.x[i * COLUMNS + 1];
    }
    SN_AUTO(stonet_data) *all = sn_testing_data(table.x, ROWS, COLUMNS, y);
    OK(stonet_data_set_weights(all, weight));
    SN_AUTO(stonet_data) *counted = sn_testing_rows(all, 0, ROWS / 2, 2);
    SN_AUTO(stonet_model) *with = fit_plain(all), *without = fit_plain(counted);
    calibrate(with, all, STONET_CALIBRATION_CV, 0, 1);
    calibrate(without, counted, STONET_CALIBRATION_CV, 0, 1);
    assert_same_intervals(with, without, table.data);
}

TEST(survives_a_file)
{
    SN_TABLE numbers = make_numbers(100, PLAIN, 1), classes = make_classes(100, 2);
    SN_AUTO(stonet_model) *model = fit_plain(numbers.data), *sorts = fit_plain(classes.data);
    calibrate(model, numbers.data, STONET_CALIBRATION_CV, 0, 1);
    calibrate(sorts, classes.data, STONET_CALIBRATION_SPLIT, STONET_SETS_LAC, 1);
    SN_AUTO(stonet_model) *loaded = sn_testing_again(model), *sorts_too = sn_testing_again(sorts);
    assert_same_intervals(model, loaded, numbers.data);
    assert_true(loaded->calibration->residual_variance[0] == model->calibration->residual_variance[0]);
    unsigned char before[300], after[300];
    OK(stonet_predict_set(sorts, classes.data, NULL, before));
    OK(stonet_predict_set(sorts_too, classes.data, NULL, after));
    assert_memory_equal(before, after, 300);
    assert_same_answers(sorts, sorts_too, classes.data);
}

/* What becomes of the model with one text (NULL: left out) or one number of a tensor other than it was. */
static stonet_status load_changed(const stonet_model *model, const char *key, const char *text,
                                  const char *tensor, int32_t code)
{
    SN_AUTO(sn_store) *store = sn_testing_store(model);
    SN_AUTO(sn_store) *changed = sn_store_without(store, key != NULL ? key : "");
    SN_AUTO(stonet_model) *loaded = NULL;
    if (text != NULL) OK(sn_store_put_text(changed, key, text));
    if (tensor != NULL) *(int32_t *)sn_store_find(changed, tensor)->data = code;
    return sn_model_from_store(changed, &loaded);
}

TEST(damaged_files_are_refused)
{
    SN_TABLE classes = make_classes(60, 2);
    SN_AUTO(stonet_model) *model = fit_plain(classes.data);
    calibrate(model, classes.data, STONET_CALIBRATION_CV, STONET_SETS_APS, 1);
    OK(load_changed(model, NULL, NULL, NULL, 0));
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
}

/* As many fresh rows as training rows, for a method that also chooses how columns are encoded. */
TEST(training_rows_are_not_fresh)
{
    SN_TABLE train = make_numbers(60, TIES, 1), fresh = make_numbers(60, TIES, 2);
    SN_AUTO(stonet_model) *model = sn_testing_fit(NETWORK "mean", train.data, NULL);
    stonet_calibrate_options how = {.size = sizeof how, .kind = STONET_CALIBRATION_FRESH};
    stonet_run run = {.size = sizeof run, .seed = 1, .on_message = sn_hear};
    OK(stonet_calibrate(model, fresh.data, &how, &run));
    assert_int_equal(sn_times_heard("warning: the fresh rows look like"), 0);
    OK(stonet_calibrate(model, train.data, &how, &run));
    assert_int_equal(sn_times_heard("warning: the fresh rows look like"), 1);
}

static int stop_at_once(void *user)
{
    (void)user;
    return 1;
}

TEST(refusals)
{
    SN_TABLE numbers = make_numbers(60, PLAIN, 1), classes = make_classes(60, 2);
    SN_AUTO(stonet_model) *model = fit_plain(numbers.data);
    double low[60], high[60];
    unsigned char inside[180];
    assert_says(stonet_predict_interval(model, numbers.data, NULL, low, high), STONET_ERROR_UNSUPPORTED,
                "was not calibrated");
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
    model = fit_plain(classes.data);
    OK(stonet_confusion(model, classes.data, NULL, table));
    int64_t rows = 0;
    for (int k = 0; k < 9; k++) rows += table[k];
    assert_int_equal(rows, 60);
    stonet_model_free(model);
    model = sn_testing_fit("pca 2 learner=none", numbers.data, NULL); /* Z alone */
    assert_int_equal(stonet_calibrate(model, numbers.data, NULL, NULL), STONET_ERROR_UNSUPPORTED);
}

/* Every method that predicts can be calibrated; a refit is the fit that it was. */
TEST(spec_of_a_model_fits_it_again)
{
    SN_TABLE classes = make_classes(80, 3);
    SN_AUTO(stonet_spec) *again = NULL;
    SN_AUTO(stonet_model) *model =
        sn_testing_fit("sir 1 slices=3 scale=centre learner=logistic learner.l2=0.5", classes.data, NULL),
                          *second = NULL;
    OK(stonet_model_spec(model, &again));
    OK(stonet_fit(again, classes.data, NULL, &second));
    assert_same_answers(model, second, classes.data);
    calibrate(model, classes.data, STONET_CALIBRATION_CV, STONET_SETS_APS, 2);
    assert_true(score(model, classes.data, 0.9, 0).coverage > 0.8);
}

RUN_TESTS(NULL, NULL)
