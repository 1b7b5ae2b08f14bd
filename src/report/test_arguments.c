/* Every public call without one of its arguments, or with one out of its range, in turn: refused with a
   sentence, or nothing where a value is asked for; the other arguments are right. */
#include "base/json.h"
#include "base/test_kit.h"
#include "base/test_nodes.h"
#include "model/test_table.h"

enum { ROWS = 12, COLUMNS = 2 };

static float x[ROWS * COLUMNS];
static double y[ROWS], out[ROWS * COLUMNS];
static stonet_data *data, *labels, *plain;
static stonet_spec *spec;
static stonet_model *model, *classifier, *unasked;

#define REFUSED(call) assert_says((call), STONET_ERROR_ARGUMENT, "")

static int begin(void **state)
{
    (void)state;
    static const char *const LABELS[] = {"no", "yes"};
    int32_t code[ROWS];
    for (int i = 0; i < ROWS; i++) {
        x[i * COLUMNS] = (float)i;
        x[i * COLUMNS + 1] = (float)(i * 7 % 5);
        y[i] = i + 0.1 * (i * 5 % 7);
        code[i] = i % 3 == 0;
    }
    OK(stonet_data_wrap(x, ROWS, COLUMNS, &data));
    OK(stonet_data_set_targets(data, y, 1));
    OK(stonet_data_wrap(x, ROWS, COLUMNS, &labels));
    OK(stonet_data_set_classes(labels, code, LABELS, 2));
    OK(stonet_data_wrap(x, ROWS, COLUMNS, &plain));
    model = sn_testing_fit("sir 1", data, NULL);
    classifier = sn_testing_fit("sir 1 task=classification", labels, NULL);
    unasked = sn_testing_fit("pca 1", plain, NULL);
    spec = sn_testing_spec_of("sir");
    return 0;
}

static int end(void **state)
{
    (void)state;
    stonet_spec_free(spec);
    stonet_model_free(model);
    stonet_model_free(classifier);
    stonet_model_free(unasked);
    stonet_data_free(data);
    stonet_data_free(labels);
    stonet_data_free(plain);
    return 0;
}

TEST(tables)
{
    stonet_data *made = NULL;
    const double wide[ROWS * COLUMNS] = {0}, minus[ROWS] = {-1}, infinite[ROWS] = {INFINITY},
                             unknown[ROWS] = {NAN}, none[ROWS] = {0};
    const int32_t code[ROWS] = {0}, high[ROWS] = {2}, low[ROWS] = {-1};
    const char *const two[] = {"a", "b"}, *const hole[] = {"a", NULL};
    REFUSED(stonet_data_wrap(x, 0, COLUMNS, &made));
    REFUSED(stonet_data_wrap(x, ROWS, 0, &made));
    REFUSED(stonet_data_wrap(x, ROWS, COLUMNS, NULL));
    REFUSED(stonet_data_wrap_double(NULL, ROWS, COLUMNS, &made));
    REFUSED(stonet_data_wrap_double(wide, ROWS, COLUMNS, NULL));
    REFUSED(stonet_data_set_names(plain, NULL));
    REFUSED(stonet_data_set_names(plain, hole));
    REFUSED(stonet_data_set_classes(labels, NULL, two, 2));
    REFUSED(stonet_data_set_classes(labels, code, NULL, 2));
    REFUSED(stonet_data_set_classes(labels, code, two, 0));
    REFUSED(stonet_data_set_classes(labels, code, two, (int64_t)1 << 40));
    assert_int_not_equal(stonet_data_set_classes(labels, high, two, 2), STONET_OK);
    assert_int_not_equal(stonet_data_set_classes(labels, low, two, 2), STONET_OK);
    REFUSED(stonet_data_set_targets(data, NULL, 1));
    REFUSED(stonet_data_set_targets(data, y, 0));
    assert_says(stonet_data_set_targets(data, infinite, 1), STONET_ERROR_DATA, "row 1");
    REFUSED(stonet_data_set_weights(NULL, y));
    REFUSED(stonet_data_set_weights(data, NULL));
    assert_says(stonet_data_set_weights(data, minus), STONET_ERROR_DATA, "row 1");
    assert_says(stonet_data_set_weights(data, infinite), STONET_ERROR_DATA, "row 1");
    assert_says(stonet_data_set_weights(data, unknown), STONET_ERROR_DATA, "row 1");
    assert_says(stonet_data_set_weights(data, none), STONET_ERROR_DATA, "all weights are 0");
    assert_null(stonet_data_weights(NULL));
    assert_null(stonet_data_weights(data));
    assert_null(stonet_data_truth(data, NULL));
    assert_non_null(stonet_data_targets(data, NULL));
    assert_non_null(stonet_data_classes(labels, NULL));
    assert_null(stonet_data_class_label(labels, -1));
    assert_null(stonet_data_class_label(labels, 2));
    assert_null(stonet_data_column_name(data, COLUMNS));
    assert_null(stonet_data_column_name(data, -1));
    assert_int_equal(stonet_data_missing(NULL, -1), 0);
    assert_int_equal(stonet_data_missing(data, COLUMNS), 0);
    assert_int_equal(stonet_data_dropped(NULL), 0);
    REFUSED(stonet_data_column_numbers(data, 0, NULL));
    REFUSED(stonet_data_column_numbers(data, COLUMNS, out));
    assert_null(stonet_data_id(data, 0));
    REFUSED(stonet_data_subset(data, NULL, 1, &made));
    REFUSED(stonet_data_subset(data, (const int64_t[]){0}, 1, NULL));
    REFUSED(stonet_data_subset(data, (const int64_t[]){0}, 0, &made));
    REFUSED(stonet_data_subset(data, (const int64_t[]){ROWS}, 1, &made));
    REFUSED(stonet_data_subset(data, (const int64_t[]){-1}, 1, &made));
    REFUSED(stonet_generate("m1", 0, 1, &made));
    REFUSED(stonet_generate("m1", 5, 1, NULL));
    REFUSED(stonet_matrix_write("none.csv", NULL, 1, 1, NULL));
    REFUSED(stonet_data_write(data, NULL));
    REFUSED(stonet_path_check(""));
    REFUSED(stonet_bytes_write("", "x", 1));
    REFUSED(stonet_bytes_write("none", NULL, 1));
    REFUSED(stonet_shards_write(NULL, NULL, 1024, "none", NULL, NULL));
    REFUSED(stonet_shards_write("none.csv", NULL, 1024, NULL, NULL, NULL));
    REFUSED(stonet_shards_write("none.csv", NULL, 1024, "", NULL, NULL));
    assert_null(made);
}

TEST(sparse_tables)
{
    stonet_data *made = NULL;
    const int64_t start[] = {0, 1, 2}, late[] = {1, 1, 2}, back[] = {0, 2, 1};
    const int32_t column[] = {0, 1}, high[] = {0, 2}, low[] = {-1, 0}, twice[] = {0, 0};
    const float value[] = {1, 2}, infinite[] = {1, INFINITY}, missing[] = {NAN, 1};
    const int64_t one[] = {0, 2, 2};
    REFUSED(stonet_data_wrap_sparse(NULL, column, value, 2, 2, &made));
    REFUSED(stonet_data_wrap_sparse(start, NULL, value, 2, 2, &made));
    REFUSED(stonet_data_wrap_sparse(start, column, NULL, 2, 2, &made));
    REFUSED(stonet_data_wrap_sparse(start, column, value, 0, 2, &made));
    REFUSED(stonet_data_wrap_sparse(start, column, value, 2, 0, &made));
    REFUSED(stonet_data_wrap_sparse(start, column, value, 2, (int64_t)1 << 40, &made));
    REFUSED(stonet_data_wrap_sparse(start, column, value, 2, 2, NULL));
    REFUSED(stonet_data_wrap_sparse(late, column, value, 2, 2, &made));
    REFUSED(stonet_data_wrap_sparse(back, column, value, 2, 2, &made));
    assert_int_equal(stonet_data_wrap_sparse(start, high, value, 2, 2, &made), STONET_ERROR_DATA);
    assert_int_equal(stonet_data_wrap_sparse(start, low, value, 2, 2, &made), STONET_ERROR_DATA);
    assert_int_equal(stonet_data_wrap_sparse(one, twice, value, 2, 2, &made), STONET_ERROR_DATA);
    assert_says(stonet_data_wrap_sparse(start, column, infinite, 2, 2, &made), STONET_ERROR_DATA, "infinite");
    assert_says(stonet_data_wrap_sparse(start, column, missing, 2, 2, &made), STONET_ERROR_DATA, "row 1");
    assert_null(made);
}

TEST(columns)
{
    stonet_columns *made = NULL;
    stonet_data *table = NULL;
    const double number[] = {1, 2};
    const char *const texts[] = {"a", NULL}, *const hole[] = {NULL}, *const words[] = {"a"};
    const int32_t code[] = {0, -1}, high[] = {0, 1}, low[] = {-2, 0};
    REFUSED(stonet_data_begin(2, NULL));
    REFUSED(stonet_data_begin(0, &made));
    OK(stonet_data_begin(2, &made));
    REFUSED(stonet_data_end(made, NULL, &table)); /* no column yet */
    REFUSED(stonet_data_add_numbers(NULL, "a", number));
    REFUSED(stonet_data_add_numbers(made, "a", NULL));
    REFUSED(stonet_data_add_dates(made, "a", NULL));
    REFUSED(stonet_data_add_texts(made, "a", NULL));
    REFUSED(stonet_data_add_codes(made, "a", NULL, words, 1, 0));
    REFUSED(stonet_data_add_codes(made, "a", code, NULL, 1, 0));
    REFUSED(stonet_data_add_codes(made, "a", code, words, 0, 0));
    REFUSED(stonet_data_add_codes(made, "a", code, hole, 1, 0));
    OK(stonet_data_add_numbers(made, "n", number));
    OK(stonet_data_add_texts(made, "t", texts));
    OK(stonet_data_add_codes(made, "c", code, words, 1, 1));
    REFUSED(stonet_data_end(made, NULL, NULL));
    REFUSED(stonet_data_end(NULL, NULL, &table));
    REFUSED(stonet_data_end(
        made, &(const stonet_read_options){.size = sizeof(stonet_read_options), .target = "z"}, &table));
    REFUSED(stonet_data_end_for(NULL, made, NULL, &table));
    REFUSED(stonet_data_end_for(model, NULL, NULL, &table));
    OK(stonet_data_end(made, NULL, &table));
    assert_int_equal(stonet_data_missing(table, -1), 2);
    stonet_data_free(table);
    table = NULL;
    stonet_columns_free(made);
    for (int k = 0; k < 2; k++) { /* codes of no text */
        OK(stonet_data_begin(2, &made));
        OK(stonet_data_add_codes(made, NULL, k == 0 ? high : low, words, 1, 0));
        assert_int_not_equal(stonet_data_end(made, NULL, &table), STONET_OK);
        stonet_columns_free(made);
    }
    assert_null(table);
}

TEST(specs_and_fits)
{
    SN_AUTO(stonet_spec) *made = NULL;
    stonet_model *fitted = NULL;
    REFUSED(stonet_spec_create(NULL, &made));
    REFUSED(stonet_spec_create("sir", NULL));
    REFUSED(stonet_spec_set(NULL, "dim", "1"));
    REFUSED(stonet_spec_set(spec, NULL, "1"));
    REFUSED(stonet_spec_set(spec, "dim", NULL));
    REFUSED(stonet_spec_read("none.json", NULL));
    REFUSED(stonet_spec_parse("{}", NULL));
    REFUSED(stonet_spec_copy(NULL, &made));
    REFUSED(stonet_spec_copy(spec, NULL));
    assert_int_equal(stonet_spec_needs_response(NULL), 0);
    REFUSED(stonet_fit(NULL, data, NULL, &fitted));
    REFUSED(stonet_fit(spec, NULL, NULL, &fitted));
    REFUSED(stonet_fit(spec, data, NULL, NULL));
    REFUSED(stonet_fit_more(model, NULL, NULL));
    REFUSED(stonet_fit_more(NULL, data, NULL));
    assert_says(stonet_fit_more(model, data, NULL), STONET_ERROR_UNSUPPORTED, "sir");
    REFUSED(stonet_model_spec(NULL, &made));
    REFUSED(stonet_model_spec(model, NULL));
    OK(stonet_model_spec(unasked, &made));
    assert_int_equal(stonet_spec_needs_response(made), 0);
    assert_null(fitted);
}

TEST(use)
{
    float z[ROWS];
    stonet_use_options how = {.size = sizeof how, .draws = -1}, level = {.size = sizeof level, .level = 0.5};
    stonet_use_options each = {.size = sizeof each, .by_class = 1}, far = {.size = sizeof far, .level = 1.5};
    stonet_scores scores = STONET_SCORES_INIT;
    stonet_data *read = NULL;
    int64_t table[4];
    unsigned char inside[2 * ROWS];
    REFUSED(stonet_data_read_for(NULL, "none.csv", NULL, &read));
    REFUSED(stonet_data_read_for(model, NULL, NULL, &read));
    REFUSED(stonet_data_read_for(model, "none.csv", NULL, NULL));
    REFUSED(stonet_check_rows(model, NULL, NULL));
    REFUSED(stonet_transform(NULL, data, NULL, z));
    REFUSED(stonet_transform(model, NULL, NULL, z));
    REFUSED(stonet_transform(model, data, NULL, NULL));
    REFUSED(stonet_transform(model, data, &how, z));
    REFUSED(stonet_transform(model, data, &level, z));
    REFUSED(stonet_transform(model, data, &each, z));
    REFUSED(stonet_predict(NULL, data, NULL, out));
    REFUSED(stonet_predict(model, NULL, NULL, out));
    REFUSED(stonet_predict(model, data, NULL, NULL));
    REFUSED(stonet_predict(model, data, &level, out));
    REFUSED(stonet_predict(model, data, &each, out));
    const stonet_use_options drawn = {.size = sizeof drawn, .draws = 2}, unsized = {0},
                             imputed = {.size = sizeof imputed, .impute = 1};
    assert_says(stonet_predict(model, data, &drawn, out), STONET_ERROR_ARGUMENT, "stonet_predict");
    assert_says(stonet_score(model, data, &imputed, &scores), STONET_ERROR_ARGUMENT, "stonet_score");
    assert_says(stonet_predict(model, data, &unsized, out), STONET_ERROR_ARGUMENT, "size");
    REFUSED(stonet_predict_spread(NULL, data, NULL, out));
    REFUSED(stonet_predict_spread(model, NULL, NULL, out));
    REFUSED(stonet_predict_spread(model, data, NULL, NULL));
    assert_says(stonet_predict_spread(model, data, NULL, out), STONET_ERROR_UNSUPPORTED, "location-scale");
    REFUSED(stonet_missing_spread(NULL, data, NULL, out, out));
    REFUSED(stonet_missing_spread(model, NULL, NULL, out, out));
    assert_int_not_equal(stonet_missing_spread(unasked, data, NULL, NULL, out), STONET_OK);
    OK(stonet_missing_spread(model, data, NULL, NULL, NULL));
    REFUSED(stonet_score(NULL, data, NULL, &scores));
    REFUSED(stonet_score(model, NULL, NULL, &scores));
    REFUSED(stonet_score(model, data, NULL, NULL));
    REFUSED(stonet_confusion(NULL, labels, NULL, table));
    REFUSED(stonet_confusion(classifier, NULL, NULL, table));
    REFUSED(stonet_confusion(classifier, labels, NULL, NULL));
    REFUSED(stonet_predict_interval(NULL, data, NULL, out, out));
    REFUSED(stonet_predict_interval(model, NULL, NULL, out, out));
    REFUSED(stonet_predict_interval(model, data, NULL, NULL, out));
    REFUSED(stonet_predict_interval(model, data, NULL, out, NULL));
    REFUSED(stonet_predict_interval(model, data, &far, out, out));
    REFUSED(stonet_predict_set(NULL, labels, NULL, inside));
    REFUSED(stonet_predict_set(classifier, NULL, NULL, inside));
    REFUSED(stonet_predict_set(classifier, labels, NULL, NULL));
    assert_int_equal(stonet_model_is_calibrated(NULL), 0);
    assert_int_equal(stonet_model_is_calibrated(model), 0);
    assert_int_equal(stonet_model_calibration_rows(NULL, -1), 0);
    assert_int_equal(stonet_model_calibration_rows(model, -1), 0);
    assert_null(stonet_model_input_name(model, -1));
    assert_null(stonet_model_input_name(model, COLUMNS));
    assert_null(stonet_model_feature_name(model, -1));
    assert_null(stonet_model_feature_name(model, COLUMNS));
    assert_null(stonet_model_target_name(model, -1));
    assert_null(stonet_model_target_name(model, 1));
    assert_null(stonet_model_class_label(classifier, -1));
    assert_null(stonet_model_class_label(classifier, 2));
    assert_int_equal(stonet_model_support(NULL, NULL), 0);
    assert_int_equal(stonet_model_features(NULL), 0);
    REFUSED(stonet_model_directions(NULL, out));
    REFUSED(stonet_model_directions(model, NULL));
    assert_null(read);
}

TEST(calibrations_and_refits)
{
    stonet_calibrate_options how = STONET_CALIBRATE_OPTIONS_INIT;
    REFUSED(stonet_calibrate(NULL, data, NULL, NULL));
    REFUSED(stonet_calibrate(model, NULL, NULL, NULL));
    how.kind = (stonet_calibration)9;
    REFUSED(stonet_calibrate(model, data, &how, NULL));
    how = (stonet_calibrate_options){.size = sizeof how, .sets = (stonet_set_score)9};
    REFUSED(stonet_calibrate(model, data, &how, NULL));
    how = (stonet_calibrate_options){.size = sizeof how, .folds = -1};
    REFUSED(stonet_calibrate(model, data, &how, NULL));
    how.folds = 1;
    REFUSED(stonet_calibrate(model, data, &how, NULL));
    assert_int_not_equal(stonet_calibrate(unasked, data, NULL, NULL), STONET_OK);
    static const char *const THREE[] = {"no", "yes", "perhaps"};
    how.folds = 2;
    for (int k = 0; k < ROWS; k++) { /* a class that the model has not met, held out or not */
        SN_AUTO(stonet_data) *more = NULL;
        int32_t code[ROWS];
        memcpy(code, stonet_data_classes(labels, NULL), sizeof code);
        code[k] = code[(k + 1) % ROWS] = 2;
        OK(stonet_data_wrap(x, ROWS, COLUMNS, &more));
        OK(stonet_data_set_classes(more, code, THREE, 3));
        assert_says(stonet_calibrate(classifier, more, &how, NULL), STONET_ERROR_DATA, "'perhaps'");
    }
    REFUSED(stonet_transform_se(NULL, data, data, 2, NULL, out, NULL));
    REFUSED(stonet_transform_se(model, NULL, data, 2, NULL, out, NULL));
    REFUSED(stonet_transform_se(model, data, NULL, 2, NULL, out, NULL));
    REFUSED(stonet_transform_se(model, data, data, 2, NULL, NULL, NULL));
    REFUSED(stonet_transform_se(model, data, data, -1, NULL, out, NULL));
}

TEST(files)
{
    stonet_model *loaded = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    stonet_export_format format;
    REFUSED(stonet_model_save(NULL, "none"));
    REFUSED(stonet_model_save(model, NULL));
    REFUSED(stonet_model_load(NULL, &loaded));
    REFUSED(stonet_model_load("none", NULL));
    REFUSED(stonet_model_save_bytes(NULL, &bytes, &size));
    REFUSED(stonet_model_save_bytes(model, NULL, &size));
    REFUSED(stonet_model_save_bytes(model, &bytes, NULL));
    REFUSED(stonet_model_load_bytes(NULL, 8, &loaded));
    REFUSED(stonet_model_load_bytes((const unsigned char *)"12345678", 8, NULL));
    REFUSED(stonet_export_format_find(NULL, &format));
    REFUSED(stonet_export_format_find("onnx", NULL));
    REFUSED(stonet_export_format_find("pdf", &format));
    REFUSED(stonet_model_export(NULL, STONET_EXPORT_C, NULL, &bytes, &size));
    REFUSED(stonet_model_export(model, (stonet_export_format)9, NULL, &bytes, &size));
    REFUSED(stonet_model_export(model, STONET_EXPORT_C, "1 x", &bytes, &size));
    REFUSED(stonet_model_export(model, STONET_EXPORT_C, NULL, NULL, &size));
    REFUSED(stonet_model_export(model, STONET_EXPORT_C, NULL, &bytes, NULL));
    assert_null(loaded);
    assert_null(bytes);
}

TEST(tensors)
{
    SN_AUTO(stonet_tensors) *made = NULL;
    stonet_model *back = NULL;
    int64_t shape[STONET_MAX_RANK];
    int rank = 0;
    REFUSED(stonet_tensors_get(NULL, "x", out, 1));
    REFUSED(stonet_model_tensors(NULL, &made));
    REFUSED(stonet_model_tensors(model, NULL));
    OK(stonet_model_tensors(model, &made));
    assert_int_equal(stonet_tensors_count(NULL), 0);
    assert_null(stonet_tensors_name(made, -1));
    assert_null(stonet_tensors_name(made, stonet_tensors_count(made)));
    const char *name = stonet_tensors_name(made, 0);
    assert_non_null(name);
    REFUSED(stonet_tensors_shape(NULL, name, shape, &rank));
    REFUSED(stonet_tensors_shape(made, NULL, shape, &rank));
    REFUSED(stonet_tensors_shape(made, "qqqqqqqqqqqqqqqqqqqqqq", shape, &rank));
    REFUSED(stonet_tensors_shape(made, name, NULL, &rank));
    REFUSED(stonet_tensors_shape(made, name, shape, NULL));
    REFUSED(stonet_tensors_get(made, name, NULL, 1));
    REFUSED(stonet_tensors_set(made, name, NULL, 1));
    REFUSED(stonet_tensors_get(made, name, out, -1));
    REFUSED(stonet_tensors_model(NULL, &back));
    REFUSED(stonet_tensors_model(made, NULL));
    assert_null(back);
}

TEST(searches)
{
    SN_AUTO(stonet_results) *made = NULL;
    stonet_spec *best = NULL;
    stonet_result_row row;
    const stonet_spec *const specs[] = {spec, NULL};
    stonet_tune_options folds = {.size = sizeof folds, .folds = -1};
    stonet_compare_options wrong = {.size = sizeof wrong, .folds = 2, .criterion = (stonet_criterion)9},
                           right = {.size = sizeof right, .folds = 2};
    REFUSED(stonet_tune(NULL, data, NULL, NULL, &made));
    REFUSED(stonet_tune(spec, NULL, NULL, NULL, &made));
    REFUSED(stonet_tune(spec, data, NULL, NULL, NULL));
    REFUSED(stonet_tune(spec, data, &folds, NULL, &made));
    REFUSED(stonet_compare(NULL, 1, data, NULL, NULL, &made));
    REFUSED(stonet_compare(specs, 0, data, NULL, NULL, &made));
    REFUSED(stonet_compare(specs, 1, NULL, NULL, NULL, &made));
    REFUSED(stonet_compare(specs, 1, data, NULL, NULL, NULL));
    REFUSED(stonet_compare(specs, 1, data, &wrong, NULL, &made));
    REFUSED(stonet_compare_check(NULL, 1, data, NULL));
    REFUSED(stonet_compare(specs, 2, data, NULL, NULL, &made));
    REFUSED(stonet_compare_check(specs, 0, data, NULL));
    REFUSED(stonet_compare_check(specs, 2, data, NULL));
    REFUSED(stonet_compare_check(specs, 1, NULL, NULL));
    OK(stonet_compare(specs, 1, data, &right, NULL, &made));
    REFUSED(stonet_results_row(NULL, 0, &row));
    REFUSED(stonet_results_row(made, 0, NULL));
    REFUSED(stonet_results_row(made, -1, &row));
    REFUSED(stonet_results_row(made, 1, &row));
    REFUSED(stonet_results_spec(NULL, 0, &best));
    REFUSED(stonet_results_spec(made, 0, NULL));
    REFUSED(stonet_results_spec(made, -1, &best));
    REFUSED(stonet_results_spec(made, 1, &best));
    assert_int_equal(stonet_results_outcome(NULL), STONET_DONE);
    assert_int_equal(stonet_results_outcome(made), STONET_DONE);
    assert_null(best);
}

TEST(orders)
{
    SN_AUTO(stonet_order_result) *made = NULL;
    stonet_order_rule rule;
    int64_t dim = 0;
    stonet_order_options right = {.size = sizeof right, .rule = STONET_ORDER_BIC, .level = 0.05};
    const struct {
        stonet_order_rule rule;
        int64_t max, resamples;
        int folds;
        double level;
    } wrong[] = {{(stonet_order_rule)99, 0, 0, 0, 0.05}, {STONET_ORDER_CV, -1, 0, 0, 0.05},
                 {STONET_ORDER_CV, 0, -1, 0, 0.05},      {STONET_ORDER_CV, 0, 0, -1, 0.05},
                 {STONET_ORDER_CV, 0, 0, 1, 0.05},       {STONET_ORDER_CV, 0, 0, 0, -0.1},
                 {STONET_ORDER_CV, 0, 0, 0, 1.0},        {STONET_ORDER_CV, 0, 0, 0, NAN}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const stonet_order_options how = {.size = sizeof how,
                                          .rule = wrong[k].rule,
                                          .max = wrong[k].max,
                                          .resamples = wrong[k].resamples,
                                          .folds = wrong[k].folds,
                                          .level = wrong[k].level};
        REFUSED(stonet_order(spec, data, &how, NULL, &made));
    }
    REFUSED(stonet_order(NULL, data, NULL, NULL, &made));
    REFUSED(stonet_order(spec, NULL, NULL, NULL, &made));
    REFUSED(stonet_order(spec, data, NULL, NULL, NULL));
    REFUSED(stonet_order_dim(spec, data, NULL, NULL));
    REFUSED(stonet_order_dim(NULL, data, NULL, &dim));
    REFUSED(stonet_order_rule_find(NULL, &rule));
    REFUSED(stonet_order_rule_find("cv", NULL));
    REFUSED(stonet_order_rule_find("guess", &rule));
    OK(stonet_order(spec, data, &right, NULL, &made));
    assert_int_equal(stonet_order_chosen(NULL), -1);
    assert_string_equal(stonet_order_rule_name(NULL), "");
    assert_string_equal(stonet_order_reason(NULL), "");
    assert_int_equal(stonet_order_rows(NULL) + stonet_order_columns(NULL), 0);
    assert_null(stonet_order_column_name(NULL, 0));
    assert_null(stonet_order_column_name(made, -1));
    assert_null(stonet_order_column_name(made, stonet_order_columns(made)));
    assert_true(isnan(stonet_order_value(NULL, 0, 0)));
    assert_true(isnan(stonet_order_value(made, -1, 0)));
    assert_true(isnan(stonet_order_value(made, stonet_order_rows(made), 0)));
    assert_true(isnan(stonet_order_value(made, 0, -1)));
    assert_true(isnan(stonet_order_value(made, 0, stonet_order_columns(made))));
    assert_null(stonet_order_json(NULL));
    stonet_order_free(NULL);
}

TEST(explanations)
{
    SN_AUTO(stonet_importance_result) *made = NULL;
    stonet_importance_row_values row;
    stonet_importance_kind kind;
    SN_AUTO(stonet_coef_result) *coef = NULL;
    char *html = NULL;
    const stonet_importance_options wrong = {.size = sizeof wrong, .kind = (stonet_importance_kind)9},
                                    minus = {.size = sizeof minus, .repeats = -1},
                                    refit = {.size = sizeof refit, .kind = STONET_IMPORTANCE_REFIT};
    const stonet_report_options unknown = {.size = sizeof unknown, .importance = "guess"},
                                order = {.size = sizeof order, .importance = "none", .order = "{}"},
                                few = {.size = sizeof few, .importance = "none", .points = -1};
    REFUSED(stonet_importance(NULL, data, NULL, NULL, &made));
    REFUSED(stonet_importance(model, NULL, NULL, NULL, &made));
    REFUSED(stonet_importance(model, data, NULL, NULL, NULL));
    REFUSED(stonet_importance(model, data, &wrong, NULL, &made));
    REFUSED(stonet_importance(model, data, &minus, NULL, &made));
    assert_says(stonet_importance(model, data, &refit, NULL, &made), STONET_ERROR_DATA, "by refits needs");
    REFUSED(stonet_importance_kind_find(NULL, &kind));
    REFUSED(stonet_importance_kind_find("refit", NULL));
    REFUSED(stonet_importance_kind_find("guess", &kind));
    OK(stonet_importance(model, data, NULL, NULL, &made));
    assert_int_equal(stonet_importance_rows(NULL), 0);
    REFUSED(stonet_importance_row(NULL, 0, &row));
    REFUSED(stonet_importance_row(made, 0, NULL));
    for (int k = STONET_IMPORTANCE_PERMUTATION; k <= STONET_IMPORTANCE_VIP; k++) {
        const stonet_importance_options any = {
            .size = sizeof any, .kind = (stonet_importance_kind)k, .train = data};
        stonet_importance_result *never = NULL;
        assert_says(stonet_importance(unasked, k % 2 == 0 ? data : plain, &any, NULL, &never),
                    STONET_ERROR_UNSUPPORTED, "without a response");
    }
    REFUSED(stonet_importance_row(made, -1, &row));
    REFUSED(stonet_importance_row(made, COLUMNS, &row));
    assert_null(stonet_importance_json(NULL));
    REFUSED(stonet_coef(NULL, data, NULL, NULL, &coef));
    REFUSED(stonet_coef(model, data, NULL, NULL, NULL));
    OK(stonet_coef(model, NULL, NULL, NULL, &coef));
    assert_int_equal(
        stonet_coef_is_linear(NULL) + (int)stonet_coef_rows(NULL) + (int)stonet_coef_columns(NULL), 0);
    assert_null(stonet_coef_feature(coef, -1));
    assert_null(stonet_coef_feature(coef, stonet_coef_rows(coef)));
    assert_null(stonet_coef_column_name(coef, -1));
    assert_null(stonet_coef_column_name(coef, stonet_coef_columns(coef)));
    assert_true(isnan(stonet_coef_value(NULL, 0, 0)));
    assert_true(isnan(stonet_coef_value(coef, -1, 0)));
    assert_true(isnan(stonet_coef_value(coef, 0, -1)));
    assert_true(isnan(stonet_coef_value(coef, stonet_coef_rows(coef), 0)));
    assert_true(isnan(stonet_coef_value(coef, 0, stonet_coef_columns(coef))));
    assert_true(isnan(stonet_coef_share(NULL, 1)));
    assert_true(isnan(stonet_coef_share(coef, 0)));
    assert_true(isnan(stonet_coef_share(coef, 99)));
    assert_null(stonet_coef_json(NULL));
    REFUSED(stonet_report(NULL, data, NULL, NULL, &html));
    REFUSED(stonet_report(model, NULL, NULL, NULL, &html));
    REFUSED(stonet_report(model, data, NULL, NULL, NULL));
    REFUSED(stonet_report(model, data, &unknown, NULL, &html));
    assert_int_not_equal(stonet_report(model, data, &order, NULL, &html), STONET_OK);
    REFUSED(stonet_report(model, data, &few, NULL, &html));
    assert_null(html);
}

/* ---- the order on a page ---- */

static long shown;

static void show_order(const json_t *whole, void *user)
{
    (void)user;
    SN_BLOCK char *text = json_dumps(whole, 0), *html = NULL;
    const stonet_report_options how = {.size = sizeof how, .importance = "none", .order = text};
    const stonet_status status = stonet_report(model, data, &how, NULL, &html);
    if (status != STONET_OK) assert_says(status, STONET_ERROR_FORMAT, "the table of dimensions");
    shown += status == STONET_OK;
}

TEST(pages)
{
    SN_AUTO(stonet_order_result) *made = NULL;
    stonet_order_options bic = {.size = sizeof bic, .rule = STONET_ORDER_BIC, .level = 0.05};
    OK(stonet_order(spec, data, &bic, NULL, &made));
    char *text = stonet_order_json(made), *html = NULL;
    SN_AUTO(json_t) *whole = json_loads(text, 0, NULL);
    assert_non_null(whole);
    show_order(whole, NULL);
    assert_int_equal(shown, 1);
    test_each_node(&(test_nodes){.whole = whole, .look = show_order}, whole);
    static const char *const wrong[] = {"", "{", "[]", "{\"rows\": []}"};
    for (int k = 0; k < 4; k++) {
        const stonet_report_options broken = {.size = sizeof broken, .importance = "none", .order = wrong[k]};
        assert_says(stonet_report(model, data, &broken, NULL, &html), STONET_ERROR_FORMAT, "dimensions");
    }
    stonet_string_free(text);
    /* Rows without a response, and a model that has none. */
    const stonet_report_options how = {.size = sizeof how, .importance = "none"};
    OK(stonet_report(unasked, plain, &how, NULL, &html));
    assert_non_null(strstr(html, "\"task\":\"none\""));
    stonet_string_free(html);
    html = NULL;
    assert_says(stonet_report(model, plain, &how, NULL, &html), STONET_ERROR_DATA, "no target");
    assert_null(html);
}

TEST(statistics)
{
    stonet_independence_result result;
    stonet_prediction_gain gain;
    stonet_sufficiency_result found;
    const stonet_sides right = {.n = ROWS, .dx = 1, .dy = 1, .dz = 1, .x = y, .y = y, .z = y};
    stonet_sides wrong[6] = {right, right, right, right, right, right};
    wrong[0].n = 0;
    wrong[1].dx = 0;
    wrong[2].dy = 0;
    wrong[3].dz = 0;
    wrong[4].x = NULL;
    wrong[5].y = NULL;
    for (size_t k = 0; k < 6; k++) {
        REFUSED(stonet_independence(&wrong[k], NULL, NULL, &result));
        REFUSED(stonet_prediction_compare(&wrong[k], NULL, &gain));
    }
    REFUSED(stonet_independence(NULL, NULL, NULL, &result));
    REFUSED(stonet_independence(&right, NULL, NULL, NULL));
    REFUSED(stonet_prediction_compare(NULL, NULL, &gain));
    REFUSED(stonet_prediction_compare(&right, NULL, NULL));
    REFUSED(stonet_sufficiency(NULL, data, NULL, NULL, &found));
    REFUSED(stonet_sufficiency(model, NULL, NULL, NULL, &found));
    REFUSED(stonet_sufficiency(model, data, NULL, NULL, NULL));
    REFUSED(stonet_permutation(1, 1, -1, (int64_t[1]){0}));
    REFUSED(stonet_permutation(1, UINT64_MAX, 1, (int64_t[1]){0}));
    REFUSED(stonet_normals(1, 1, 3, NULL));
    REFUSED(stonet_normals(1, 1, -1, out));
    assert_true(stonet_paired_t_test(1, y, y) == 1.0);
}

RUN_TESTS(begin, end)
