/* The page from C: what is in it for each kind of model, and calls that cannot be answered. What the browser
   makes of it is asked by cli/test_page.c. */
#include <math.h>

#include "base/json.h"
#include "base/test_kit.h"
#include "model/test_table.h"

enum { N = 60, P = 3 };

/* The object inside a page. */
static json_t *content_of(const char *page)
{
    const char *at = strstr(page, "<script type=\"application/json\"");
    assert_non_null(at);
    at = strchr(at, '>') + 1;
    const char *end = strstr(at, "</script>");
    assert_non_null(end);
    json_t *content = json_loadb(at, (size_t)(end - at), 0, NULL);
    assert_non_null(content);
    return content;
}

/* Of the page of a model and these rows. */
static json_t *reported(const stonet_model *model, const stonet_data *data)
{
    SN_BLOCK char *page = NULL;
    OK(stonet_report(model, data, NULL, NULL, &page));
    return content_of(page);
}

static bool has(const json_t *content, const char *key)
{
    return json_object_get(content, key) != NULL;
}

TEST(test_classes)
{
    SN_FREED_BY(sn_table_free) sn_table table = sn_table_classes(N, P, 3, 2);
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1", table.data, NULL);
    stonet_report_options how = STONET_REPORT_OPTIONS_INIT;
    how.model_name = "</script><b>";
    how.points = 10;
    SN_BLOCK char *page = NULL;
    OK(stonet_report(model, table.data, &how, NULL, &page));
    assert_null(strstr(page, "</script><b>"));
    SN_AUTO(json_t) *content = content_of(page);
    assert_string_equal(json_string_value(json_object_get(content, "model")), "</script><b>");
    assert_string_equal(json_string_value(json_object_get(content, "data")), "");
    assert_int_equal(json_integer_value(json_object_get(content, "shown")), 10);
    assert_int_equal(json_array_size(json_object_get(content, "confusion")), 3);
    assert_true(has(content, "importance") && has(content, "coef") && has(content, "calibration"));
    assert_false(has(content, "order") || has(content, "history"));
}

/* A model without predictions has Z to show, and nothing to be right about. */
TEST(test_z_alone)
{
    SN_FREED_BY(sn_table_free) sn_table table = sn_table_numbers(N, P, 1, 3);
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1 learner=none", table.data, NULL);
    SN_AUTO(json_t) *content = reported(model, table.data);
    assert_int_equal(json_array_size(json_object_get(json_object_get(content, "points"), "z")), 1);
    assert_false(has(content, "importance") || has(content, "calibration") || has(content, "histogram"));
}

/* Curves are shown as the model prepares them, over 1, 2, .. or names that are numbers in order. Columns of
   other tables are no curves. */
enum { CHANNELS = 12 };
static const char *const NAMES[] = {"10", "20", "30", "40",  "50",  "60",
                                    "70", "80", "90", "100", "110", "120"};

TEST(test_curves)
{
    SN_FREED_BY(sn_table_free) sn_table table = sn_table_numbers(N, CHANNELS, 1, 3);
    for (int k = 0; k < 4; k++) { /* k: curves, names */
        if (k == 2) OK(stonet_data_set_names(table.data, NAMES));
        SN_AUTO(stonet_model) *model =
            sn_testing_fit(k % 2 == 1 ? "pls 1 curves=snv" : "pls 1", table.data, NULL);
        SN_AUTO(json_t) *content = reported(model, table.data);
        const json_t *curves = json_object_get(content, "curves"), *one = json_array_get(curves, 0);
        assert_int_equal(json_array_size(curves), k == 0 ? 0 : 1);
        if (k == 0) continue;
        const json_t *lines = json_object_get(one, "lines"), *axis = json_object_get(one, "axis");
        assert_int_equal(json_array_size(lines), N);
        assert_true(json_number_value(json_array_get(axis, 1)) == (k == 1 ? 2.0 : 20.0));
        double mean = 0.0;
        for (size_t c = 0; c < CHANNELS; c++)
            mean += json_number_value(json_array_get(json_array_get(lines, 5), c)) / CHANNELS;
        assert_true((fabs(mean) < 1e-5) == (k != 2));
    }
}

/* A model knows its columns by their places too, where the rows have no names. */
TEST(test_curves_of_rows_without_names)
{
    SN_FREED_BY(sn_table_free)
    sn_table table = sn_table_numbers(N, CHANNELS, 1, 3), bare = sn_table_numbers(N, CHANNELS, 1, 3);
    OK(stonet_data_set_names(table.data, NAMES));
    SN_AUTO(stonet_model) *model = sn_testing_fit("pls 1", table.data, NULL);
    SN_AUTO(json_t) *content = reported(model, bare.data);
    const json_t *curves = json_object_get(content, "curves");
    const json_t *line = json_array_get(json_object_get(json_array_get(curves, 0), "lines"), 5);
    for (size_t k = 0; k < CHANNELS; k++)
        assert_true(fabs(json_number_value(json_array_get(line, k)) -
                         (double)bare.x[5 * CHANNELS + (int64_t)k]) < 1e-4);
}

/* Rows with other responses than those of the model: none is read where there is none. */
TEST(test_responses_of_another_table)
{
    SN_FREED_BY(sn_table_free)
    sn_table two = sn_table_numbers(N, P, 2, 3), one = sn_table_numbers(N, P, 1, 3),
             none = sn_table_features(N, P, 3);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pls 1", two.data, NULL),
                          *unasked = sn_testing_fit("pca 1", none.data, NULL);
    char *page = NULL;
    assert_says(stonet_report(model, one.data, NULL, NULL, &page), STONET_ERROR_DATA, "1 target column");
    SN_AUTO(json_t) *content = reported(unasked, one.data);
    assert_false(has(json_object_get(content, "points"), "y"));
}

RUN_TESTS(NULL, NULL)
