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

/* A call without each of the arguments that it needs in turn, NEED(argument): refused. */
static int left_out, met;
static bool is_left_out(void)
{
    return met++ == left_out;
}
#define NEED(argument) (is_left_out() ? NULL : (argument))
#define EACH_NEEDED(call)                                                                                    \
    do {                                                                                                     \
        left_out = 0;                                                                                        \
        do {                                                                                                 \
            met = 0;                                                                                         \
            if ((call) != STONET_ERROR_ARGUMENT) fail_msg("%s without argument %d", #call, left_out + 1);    \
        } while (++left_out < met);                                                                          \
    } while (0)

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
    EACH_NEEDED(stonet_data_wrap_double(NEED(wide), ROWS, COLUMNS, NEED(&made)));
    REFUSED(stonet_data_set_names(plain, NULL));
    REFUSED(stonet_data_set_names(plain, hole));
    EACH_NEEDED(stonet_data_set_classes(labels, NEED(code), NEED(two), 2));
    REFUSED(stonet_data_set_classes(labels, code, two, 0));
    REFUSED(stonet_data_set_classes(labels, code, two, (int64_t)1 << 40));
    assert_int_not_equal(stonet_data_set_classes(labels, high, two, 2), STONET_OK);
    assert_int_not_equal(stonet_data_set_classes(labels, low, two, 2), STONET_OK);
    REFUSED(stonet_data_set_targets(data, NULL, 1));
    REFUSED(stonet_data_set_targets(data, y, 0));
    assert_says(stonet_data_set_targets(data, infinite, 1), STONET_ERROR_DATA, "row 1");
    EACH_NEEDED(stonet_data_set_weights(NEED(data), NEED(y)));
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
    EACH_NEEDED(stonet_data_subset(data, NEED((const int64_t[]){0}), 1, NEED(&made)));
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
    EACH_NEEDED(stonet_shards_write(NEED("none.csv"), NULL, 1024, NEED("none"), NULL, NULL));
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
    EACH_NEEDED(stonet_data_wrap_sparse(NEED(start), NEED(column), NEED(value), 2, 2, NEED(&made)));
    REFUSED(stonet_data_wrap_sparse(start, column, value, 0, 2, &made));
    REFUSED(stonet_data_wrap_sparse(start, column, value, 2, 0, &made));
    REFUSED(stonet_data_wrap_sparse(start, column, value, 2, (int64_t)1 << 40, &made));
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
    EACH_NEEDED(stonet_data_add_numbers(NEED(made), "a", NEED(number)));
    REFUSED(stonet_data_add_dates(made, "a", NULL));
    REFUSED(stonet_data_add_texts(made, "a", NULL));
    EACH_NEEDED(stonet_data_add_codes(made, "a", NEED(code), NEED(words), 1, 0));
    REFUSED(stonet_data_add_codes(made, "a", code, words, 0, 0));
    REFUSED(stonet_data_add_codes(made, "a", code, hole, 1, 0));
    OK(stonet_data_add_numbers(made, "n", number));
    OK(stonet_data_add_texts(made, "t", texts));
    OK(stonet_data_add_codes(made, "c", code, words, 1, 1));
    EACH_NEEDED(stonet_data_end(NEED(made), NULL, NEED(&table)));
    REFUSED(stonet_data_end(
        made, &(const stonet_read_options){.size = sizeof(stonet_read_options), .target = "z"}, &table));
    EACH_NEEDED(stonet_data_end_for(NEED(model), NEED(made), NULL, &table));
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
    EACH_NEEDED(stonet_spec_create(NEED("sir"), NEED(&made)));
    EACH_NEEDED(stonet_spec_set(NEED(spec), NEED("dim"), NEED("1")));
    REFUSED(stonet_spec_read("none.json", NULL));
    REFUSED(stonet_spec_parse("{}", NULL));
    EACH_NEEDED(stonet_spec_copy(NEED(spec), NEED(&made)));
    assert_int_equal(stonet_spec_needs_response(NULL), 0);
    EACH_NEEDED(stonet_fit(NEED(spec), NEED(data), NULL, NEED(&fitted)));
    EACH_NEEDED(stonet_fit_more(NEED(model), NEED(data), NULL));
    assert_says(stonet_fit_more(model, data, NULL), STONET_ERROR_UNSUPPORTED, "sir");
    EACH_NEEDED(stonet_model_spec(NEED(model), NEED(&made)));
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
    EACH_NEEDED(stonet_data_read_for(NEED(model), NEED("none.csv"), NULL, NEED(&read)));
    REFUSED(stonet_check_rows(model, NULL, NULL));
    EACH_NEEDED(stonet_transform(NEED(model), NEED(data), NULL, NEED(z)));
    REFUSED(stonet_transform(model, data, &how, z));
    REFUSED(stonet_transform(model, data, &level, z));
    REFUSED(stonet_transform(model, data, &each, z));
    EACH_NEEDED(stonet_predict(NEED(model), NEED(data), NULL, NEED(out)));
    REFUSED(stonet_predict(model, data, &level, out));
    REFUSED(stonet_predict(model, data, &each, out));
    const stonet_use_options drawn = {.size = sizeof drawn, .draws = 2}, unsized = {0},
                             imputed = {.size = sizeof imputed, .impute = 1};
    assert_says(stonet_predict(model, data, &drawn, out), STONET_ERROR_ARGUMENT, "stonet_predict");
    assert_says(stonet_score(model, data, &imputed, &scores), STONET_ERROR_ARGUMENT, "stonet_score");
    assert_says(stonet_predict(model, data, &unsized, out), STONET_ERROR_ARGUMENT, "size");
    EACH_NEEDED(stonet_predict_spread(NEED(model), NEED(data), NULL, NEED(out)));
    assert_says(stonet_predict_spread(model, data, NULL, out), STONET_ERROR_UNSUPPORTED, "location-scale");
    EACH_NEEDED(stonet_missing_spread(NEED(model), NEED(data), NULL, out, out));
    assert_int_not_equal(stonet_missing_spread(unasked, data, NULL, NULL, out), STONET_OK);
    OK(stonet_missing_spread(model, data, NULL, NULL, NULL));
    EACH_NEEDED(stonet_score(NEED(model), NEED(data), NULL, NEED(&scores)));
    EACH_NEEDED(stonet_confusion(NEED(classifier), NEED(labels), NULL, NEED(table)));
    EACH_NEEDED(stonet_predict_interval(NEED(model), NEED(data), NULL, NEED(out), NEED(out)));
    REFUSED(stonet_predict_interval(model, data, &far, out, out));
    EACH_NEEDED(stonet_predict_set(NEED(classifier), NEED(labels), NULL, NEED(inside)));
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
    EACH_NEEDED(stonet_model_directions(NEED(model), NEED(out)));
    assert_null(read);
}

TEST(calibrations_and_refits)
{
    stonet_calibrate_options how = STONET_CALIBRATE_OPTIONS_INIT;
    EACH_NEEDED(stonet_calibrate(NEED(model), NEED(data), NULL, NULL));
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
    EACH_NEEDED(stonet_transform_se(NEED(model), NEED(data), NEED(data), 2, NULL, NEED(out), NULL));
    REFUSED(stonet_transform_se(model, data, data, -1, NULL, out, NULL));
}

TEST(files)
{
    stonet_model *loaded = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    stonet_export_format format;
    EACH_NEEDED(stonet_model_save(NEED(model), NEED("none")));
    EACH_NEEDED(stonet_model_load(NEED("none"), NEED(&loaded)));
    EACH_NEEDED(stonet_model_save_bytes(NEED(model), NEED(&bytes), NEED(&size)));
    EACH_NEEDED(stonet_model_load_bytes(NEED((const unsigned char *)"12345678"), 8, NEED(&loaded)));
    EACH_NEEDED(stonet_export_format_find(NEED("onnx"), NEED(&format)));
    REFUSED(stonet_export_format_find("pdf", &format));
    EACH_NEEDED(stonet_model_export(NEED(model), STONET_EXPORT_C, NULL, NEED(&bytes), NEED(&size)));
    REFUSED(stonet_model_export(model, (stonet_export_format)9, NULL, &bytes, &size));
    REFUSED(stonet_model_export(model, STONET_EXPORT_C, "1 x", &bytes, &size));
    assert_null(loaded);
    assert_null(bytes);
}

TEST(tensors)
{
    SN_AUTO(stonet_tensors) *made = NULL;
    stonet_model *back = NULL;
    int64_t shape[STONET_MAX_RANK];
    int rank = 0;
    EACH_NEEDED(stonet_model_tensors(NEED(model), NEED(&made)));
    OK(stonet_model_tensors(model, &made));
    assert_int_equal(stonet_tensors_count(NULL), 0);
    assert_null(stonet_tensors_name(made, -1));
    assert_null(stonet_tensors_name(made, stonet_tensors_count(made)));
    const char *name = stonet_tensors_name(made, 0);
    assert_non_null(name);
    EACH_NEEDED(stonet_tensors_shape(NEED(made), NEED(name), NEED(shape), NEED(&rank)));
    REFUSED(stonet_tensors_shape(made, "qqqqqqqqqqqqqqqqqqqqqq", shape, &rank));
    EACH_NEEDED(stonet_tensors_get(NEED(made), name, NEED(out), 1));
    REFUSED(stonet_tensors_set(made, name, NULL, 1));
    REFUSED(stonet_tensors_get(made, name, out, -1));
    EACH_NEEDED(stonet_tensors_model(NEED(made), NEED(&back)));
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
    EACH_NEEDED(stonet_tune(NEED(spec), NEED(data), NULL, NULL, NEED(&made)));
    REFUSED(stonet_tune(spec, data, &folds, NULL, &made));
    EACH_NEEDED(stonet_compare(NEED(specs), 1, NEED(data), NULL, NULL, NEED(&made)));
    REFUSED(stonet_compare(specs, 0, data, NULL, NULL, &made));
    REFUSED(stonet_compare(specs, 1, data, &wrong, NULL, &made));
    EACH_NEEDED(stonet_compare_check(NEED(specs), 1, NEED(data), NULL));
    REFUSED(stonet_compare(specs, 2, data, NULL, NULL, &made));
    REFUSED(stonet_compare_check(specs, 0, data, NULL));
    REFUSED(stonet_compare_check(specs, 2, data, NULL));
    OK(stonet_compare(specs, 1, data, &right, NULL, &made));
    EACH_NEEDED(stonet_results_row(NEED(made), 0, NEED(&row)));
    REFUSED(stonet_results_row(made, -1, &row));
    REFUSED(stonet_results_row(made, 1, &row));
    EACH_NEEDED(stonet_results_spec(NEED(made), 0, NEED(&best)));
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
    EACH_NEEDED(stonet_order(NEED(spec), NEED(data), NULL, NULL, NEED(&made)));
    EACH_NEEDED(stonet_order_dim(NEED(spec), data, NULL, NEED(&dim)));
    EACH_NEEDED(stonet_order_rule_find(NEED("cv"), NEED(&rule)));
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
    EACH_NEEDED(stonet_importance(NEED(model), NEED(data), NULL, NULL, NEED(&made)));
    REFUSED(stonet_importance(model, data, &wrong, NULL, &made));
    REFUSED(stonet_importance(model, data, &minus, NULL, &made));
    assert_says(stonet_importance(model, data, &refit, NULL, &made), STONET_ERROR_DATA, "by refits needs");
    assert_says(stonet_importance(model, plain, NULL, NULL, &made), STONET_ERROR_DATA, "no target");
    EACH_NEEDED(stonet_importance_kind_find(NEED("refit"), NEED(&kind)));
    REFUSED(stonet_importance_kind_find("guess", &kind));
    OK(stonet_importance(model, data, NULL, NULL, &made));
    assert_int_equal(stonet_importance_rows(NULL), 0);
    EACH_NEEDED(stonet_importance_row(NEED(made), 0, NEED(&row)));
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
    EACH_NEEDED(stonet_coef(NEED(model), data, NULL, NULL, NEED(&coef)));
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
    EACH_NEEDED(stonet_report(NEED(model), NEED(data), NULL, NULL, NEED(&html)));
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
    EACH_NEEDED(stonet_independence(NEED(&right), NULL, NULL, NEED(&result)));
    EACH_NEEDED(stonet_prediction_compare(NEED(&right), NULL, NEED(&gain)));
    EACH_NEEDED(stonet_sufficiency(NEED(model), NEED(data), NULL, NULL, NEED(&found)));
    REFUSED(stonet_permutation(1, 1, -1, (int64_t[1]){0}));
    REFUSED(stonet_permutation(1, UINT64_MAX, 1, (int64_t[1]){0}));
    REFUSED(stonet_normals(1, 1, 3, NULL));
    REFUSED(stonet_normals(1, 1, -1, out));
    assert_true(stonet_paired_t_test(1, y, y) == 1.0);
}

RUN_TESTS(begin, end)
