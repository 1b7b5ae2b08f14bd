/* Tables from columns in memory: what is put in comes out, and goes through a schema as a file would. */
#include "data/test_tables.h"

enum { N = 6 };
static const double AREA[N] = {50, 60.5, 70, 80, 90, 100};
static const double DAY[N] = {19844.25, 19845, 19846, 19847.5, 19848, 19849};
static const double PRICE[N] = {1.5, 2, 2.5, 3, 3.25, 4};
static const char *const TOWN[N] = {"Ulm", "K\xc3\xb6ln", "Ulm", "Jena", "Ulm", "Jena"};
static const char *const SIZES[] = {"small", "medium", "large", "huge"};
static const int32_t SIZE[N] = {2, 0, 1, 0, 2, 2};

static stonet_columns *all_columns(void)
{
    stonet_columns *columns = NULL;
    OK(stonet_data_begin(N, &columns));
    OK(stonet_data_add_numbers(columns, "area", AREA));
    OK(stonet_data_add_texts(columns, "town", TOWN));
    OK(stonet_data_add_numbers(columns, "price", PRICE));
    OK(stonet_data_add_codes(columns, "size", SIZE, SIZES, 4, 1));
    OK(stonet_data_add_codes(columns, "kind", SIZE, SIZES, 4, 0));
    OK(stonet_data_add_dates(columns, "sold", DAY));
    return columns;
}

static stonet_data *finish(stonet_columns *columns, const char *target)
{
    const stonet_read_options how = {.size = sizeof how, .target = target};
    stonet_data *data = NULL;
    OK(stonet_data_end(columns, &how, &data));
    stonet_columns_free(columns);
    return data;
}

TEST(columns_come_out_as_they_were_put_in)
{
    SN_AUTO(stonet_data) *data = finish(all_columns(), "price");
    assert_int_equal(stonet_data_rows(data), N);
    assert_int_equal(stonet_data_columns(data), 5);
    static const char *const names[] = {"area", "town", "size", "kind", "sold"};
    for (int64_t j = 0; j < 5; j++) assert_string_equal(stonet_data_column_name(data, j), names[j]);
    double got[N];
    OK(stonet_data_column_numbers(data, 0, got));
    assert_memory_equal(got, AREA, sizeof got);
    OK(stonet_data_column_numbers(data, 4, got));
    assert_memory_equal(got, DAY, sizeof got);
    for (int64_t j = 1; j < 4; j++) {
        const int32_t *code = stonet_data_column_codes(data, j, NULL);
        for (int64_t i = 0; i < N; i++)
            assert_string_equal(stonet_data_column_text(data, j, code[i]), j == 1 ? TOWN[i] : SIZES[SIZE[i]]);
    }
    int64_t texts;
    (void)stonet_data_column_codes(data, 2, &texts);
    assert_int_equal(texts, 4); /* an order is kept whole, */
    (void)stonet_data_column_codes(data, 3, &texts);
    assert_int_equal(texts, 3); /* and of other texts those that rows have */
    int64_t m;
    assert_memory_equal(stonet_data_targets(data, &m), PRICE, sizeof PRICE);
}

/* The rank of an ordered column, standardised; the same through a store and for plain texts. */
TEST(an_order_becomes_one_feature)
{
    SN_AUTO(stonet_data) *data = finish(all_columns(), "price");
    SN_AUTO(sn_schema) *learned = FITTED(data, 0), *schema = loaded_again(learned);
    assert_int_equal(schema->p, 1 + 3 + 1 + 3 + 1);
    assert_string_equal(schema->feature_name[4], "size");
    float x[N * 9], again[N * 9];
    OK(sn_schema_encode_x(schema, data, x));
    double mean = 0, variance = 0;
    for (int i = 0; i < N; i++) mean += (1.0 + SIZE[i]) / N;
    for (int i = 0; i < N; i++) variance += (1.0 + SIZE[i] - mean) * (1.0 + SIZE[i] - mean) / N;
    for (int i = 0; i < N; i++)
        assert_true(fabs(x[i * 9 + 4] - (1.0 + SIZE[i] - mean) / sqrt(variance)) < 1e-6);

    /* Some rows, in another order of appearance, keep the ranks. */
    const int64_t rows[] = {1, 4};
    SN_AUTO(stonet_data) *some = NULL;
    OK(stonet_data_subset(data, rows, 2, &some));
    OK(sn_schema_encode_x(schema, some, again));
    assert_memory_equal(again, x + 9, 9 * sizeof *x);
    assert_memory_equal(again + 9, x + 4 * 9, 9 * sizeof *x);

    /* Plain texts find their ranks; what was never met is the average. */
    static const char *const said[N] = {"large", "small", "medium", "small", "no idea", "large"};
    stonet_columns *columns = NULL;
    OK(stonet_data_begin(N, &columns));
    OK(stonet_data_add_dates(columns, "sold", DAY));
    OK(stonet_data_add_texts(columns, "size", said));
    OK(stonet_data_add_texts(columns, "kind", said));
    OK(stonet_data_add_texts(columns, "town", TOWN));
    OK(stonet_data_add_numbers(columns, "area", AREA));
    SN_AUTO(stonet_data) *others = finish(columns, NULL);
    OK(sn_schema_encode_x(schema, others, again));
    assert_memory_equal(again, x, 4 * 9 * sizeof *x);
    assert_true(again[4 * 9 + 4] == 0.0F);
}

/* Numbers where there were dates, and the other way round, are in different units. */
TEST(dates_and_numbers_are_kept_apart)
{
    SN_AUTO(stonet_data) *dates = finish(all_columns(), "price");
    SN_AUTO(sn_schema) *schema = FITTED(dates, 0);
    stonet_columns *columns = NULL;
    OK(stonet_data_begin(N, &columns));
    OK(stonet_data_add_dates(columns, "area", AREA));
    OK(stonet_data_add_texts(columns, "town", TOWN));
    OK(stonet_data_add_texts(columns, "size", TOWN));
    OK(stonet_data_add_texts(columns, "kind", TOWN));
    OK(stonet_data_add_numbers(columns, "sold", DAY));
    SN_AUTO(stonet_data) *data = finish(columns, NULL);
    float x[N * 9];
    assert_says(sn_schema_encode_x(schema, data, x), STONET_ERROR_DATA,
                "column 'area' has dates and was numbers when");
}

TEST(what_a_model_does_not_use_may_hold_anything)
{
    SN_AUTO(stonet_data) *train = finish(all_columns(), "price"), *data = NULL;
    SN_AUTO(sn_schema) *schema = FITTED(train, 0);
    const double nothing[N] = {(double)NAN, (double)INFINITY, 1e300, 0, 0, 0};
    static const char *const blank[N] = {NULL};
    SN_AUTO(stonet_columns) *columns = all_columns();
    OK(stonet_data_add_numbers(columns, "notes", nothing));
    OK(stonet_data_add_texts(columns, "more", blank));
    OK(sn_columns_read(columns, NULL, schema, &data));
    assert_int_equal(stonet_data_columns(data), 5);
}

TEST(columns_without_names_go_by_position)
{
    stonet_columns *columns = NULL;
    OK(stonet_data_begin(N, &columns));
    OK(stonet_data_add_numbers(columns, NULL, AREA));
    OK(stonet_data_add_texts(columns, NULL, TOWN));
    SN_AUTO(stonet_data) *data = finish(columns, "2");
    assert_string_equal(stonet_data_column_name(data, 0), "x1");
    int64_t classes;
    const int32_t *code = stonet_data_classes(data, &classes);
    assert_int_equal(classes, 3);
    assert_string_equal(stonet_data_class_label(data, code[3]), "Jena");
}

TEST(mistakes_are_named)
{
    stonet_columns *columns = NULL;
    stonet_data *data = NULL;
    const double y[2] = {1, (double)INFINITY};
    const int32_t beyond[2] = {0, 2}, fine[2] = {1, 0};
    static const char *const two[2] = {"a", "b"}, *const twice[2] = {"a", "a"},
                             *const latin[2] = {"a", "\xe4"};
    assert_says(stonet_data_begin(0, &columns), STONET_ERROR_ARGUMENT, "at least one row");
    assert_null(columns);
    OK(stonet_data_begin(2, &columns));
    assert_says(stonet_data_end(columns, NULL, &data), STONET_ERROR_ARGUMENT, "at least one column");
    assert_says(stonet_data_add_numbers(columns, "x", NULL), STONET_ERROR_ARGUMENT, "column 1 has no values");
    assert_says(stonet_data_add_numbers(columns, "\xe4", y), STONET_ERROR_DATA, "not valid UTF-8");
    assert_says(stonet_data_add_codes(columns, "x", fine, two, 0, 0), STONET_ERROR_ARGUMENT,
                "need the texts");
    assert_says(stonet_data_add_numbers(NULL, "x", y), STONET_ERROR_ARGUMENT, "no table");
    OK(stonet_data_add_codes(columns, "x", beyond, two, 2, 0));
    assert_says(stonet_data_end(columns, NULL, &data), STONET_ERROR_DATA,
                "the table: row 2, column 1 ('x'): the code is 2, and there are texts for 0 to 1");
    stonet_columns_free(columns);
    OK(stonet_data_begin(2, &columns));
    OK(stonet_data_add_codes(columns, "x", fine, twice, 2, 1));
    assert_says(stonet_data_end(columns, NULL, &data), STONET_ERROR_ARGUMENT, "'a' is twice among");
    stonet_columns_free(columns);
    OK(stonet_data_begin(2, &columns));
    OK(stonet_data_add_texts(columns, "x", latin));
    assert_says(stonet_data_end(columns, NULL, &data), STONET_ERROR_DATA,
                "row 2, column 1 ('x'): the text is");
    const stonet_read_options file = {.size = sizeof file, .target_file = "y.csv"};
    assert_says(stonet_data_end(columns, &file, &data), STONET_ERROR_ARGUMENT, "no target file");
    stonet_columns_free(columns);
    OK(stonet_data_begin(2, &columns));
    OK(stonet_data_add_numbers(columns, NULL, y));
    assert_says(stonet_data_end(columns, NULL, &data), STONET_ERROR_DATA,
                "row 2, column 1: the value is inf");
    stonet_columns_free(columns);
    assert_null(data);
    stonet_columns_free(NULL);
}

RUN_TESTS(NULL, NULL)
