/* Columns far from 0 for their spread keep their digits: as read, as encoded, alone and among other rows. */
#include "data/test_one_file.h"
#include "data/test_reading.h"
#include "data/test_tables.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "data/schema.h"
#include "math/noise.h"

enum { N = 400, P = 4 };

/* near 0; 10^6 + U(0,1); 10^9 + U(0,100); 0.3 and a little */
static const double from[P] = {-1.0, 1e6, 1e9, 0.3};
static const double spread[P] = {2.0, 1.0, 100.0, 1e-9};

static double table[N * P], unit[N * P];

static void fill_table(void)
{
    sn_random random = sn_random_from(7, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < (int64_t)N * P; i++) {
        unit[i] = sn_random_uniform(&random);
        table[i] = from[i % P] + spread[i % P] * unit[i];
    }
}

static int set_up(void **state)
{
    fill_table();
    return make_file(state);
}

static void write_rows(const double *x, int64_t n)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "a,b,c,d,y\n");
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < P; j++) fprintf(file, "%.17g,", x[i * P + j]);
        fprintf(file, "%.17g\n", unit[i * P]);
    }
    assert_int_equal(fclose(file), 0);
}

static stonet_data *read_rows(const sn_schema *schema)
{
    const stonet_read_options how = {.size = sizeof how, .target = "y"};
    stonet_data *data = NULL;
    OK(sn_read_for(path, &how, schema, &data));
    return data;
}

/* The first n rows as an array of doubles. */
static stonet_data *wrap(int64_t n)
{
    stonet_data *data = NULL;
    OK(stonet_data_wrap_double(table, n, P, &data));
    OK(stonet_data_set_targets(data, unit, 1));
    return data;
}

#define LEARN(data) FITTED(data, .scale = SN_SCALE_COLUMN, .task = SN_TASK_WISH_REGRESSION)

static void check_features(const sn_schema *schema, const stonet_data *data, int64_t first, int64_t n)
{
    static float x[(N + 1) * P];
    OK(sn_schema_encode_x(schema, data, x));
    double mean[P] = {0}, square[P] = {0};
    for (int64_t i = 0; i < (int64_t)N * P; i++) mean[i % P] += unit[i] / N;
    for (int64_t i = 0; i < (int64_t)N * P; i++)
        square[i % P] += (unit[i] - mean[i % P]) * (unit[i] - mean[i % P]) / N;
    for (int64_t i = 0; i < n * P; i++) {
        const double expected = (unit[i] - mean[i % P]) / sqrt(square[i % P]);
        assert_true(fabs((double)x[first * P + i] - expected) < 1e-6);
    }
}

TEST(only_what_needs_them_keeps_digits)
{
    write_rows(table, N);
    SN_AUTO(stonet_data) *data = read_rows(NULL);
    static double column[N];
    assert_non_null(data->exact);
    for (int64_t j = 0; j < P; j++) {
        assert_int_equal(data->exact[j].at != NULL, j > 0);
        OK(stonet_data_column_numbers(data, j, column));
        for (int64_t i = 0; i < N; i++)
            assert_true(column[i] == (j > 0 ? table[i * P + j] : (double)(float)table[i * P + j]));
    }
}

TEST(features_are_those_of_the_column_without_its_offset)
{
    write_rows(table, N);
    SN_AUTO(stonet_data) *read = read_rows(NULL), *wrapped = wrap(N);
    SN_AUTO(sn_schema) *schema = LEARN(read), *same = LEARN(wrapped);
    check_features(schema, read, 0, N);
    check_features(schema, wrapped, 0, N);
    check_features(same, read, 0, N);
    const int64_t rows[] = {0, 1, 2};
    SN_AUTO(stonet_data) *few = NULL;
    OK(stonet_data_subset(read, rows, 3, &few));
    check_features(schema, few, 0, 3);
}

/* A row that is far from all others does not take the digits of the others with it. */
TEST(a_stray_row_leaves_the_others_their_digits)
{
    static double rows[4 * P];
    write_rows(table, N);
    SN_AUTO(stonet_data) *train = read_rows(NULL);
    SN_AUTO(sn_schema) *schema = LEARN(train);
    assert_true(sn_schema_needs_digits(schema));
    memset(rows, 0, (size_t)P * sizeof *rows);
    memcpy(rows + P, table, (size_t)3 * P * sizeof *rows);
    write_rows(rows, 4);
    SN_AUTO(stonet_data) *data = read_rows(schema);
    check_features(schema, data, 1, 3);
}

/* A row is encoded to the same bits alone, among others, as doubles, and as text. */
TEST(a_row_does_not_depend_on_its_company)
{
    static float all[N * P], alone[P], text[P];
    SN_AUTO(stonet_data) *many = wrap(N), *one = wrap(1);
    SN_AUTO(sn_schema) *schema = LEARN(many);
    write_rows(table, 1);
    SN_AUTO(stonet_data) *read = read_rows(schema);
    OK(sn_schema_encode_x(schema, many, all));
    OK(sn_schema_encode_x(schema, one, alone));
    OK(sn_schema_encode_x(schema, read, text));
    assert_memory_equal(alone, all, sizeof alone);
    assert_memory_equal(text, all, sizeof alone);
}

/* Columns that floats are good enough for: the bits do not depend on whether doubles are there. */
TEST(ordinary_columns_are_rounded_first)
{
    static float floats[N], a[N], b[N];
    for (int64_t i = 0; i < N; i++) floats[i] = (float)table[i];
    SN_AUTO(stonet_data) *wide = NULL, *narrow = NULL;
    for (int64_t i = 0; i < N; i++) table[i] = 5.0 + unit[i];
    for (int64_t i = 0; i < N; i++) floats[i] = (float)table[i];
    OK(stonet_data_wrap_double(table, N, 1, &wide));
    OK(stonet_data_wrap(floats, N, 1, &narrow));
    OK(stonet_data_set_targets(wide, unit, 1));
    SN_AUTO(sn_schema) *schema = LEARN(wide);
    assert_false(sn_schema_needs_digits(schema));
    OK(sn_schema_encode_x(schema, wide, a));
    OK(sn_schema_encode_x(schema, narrow, b));
    assert_memory_equal(a, b, sizeof a);
    fill_table();
}

/* However a file is cut into parts, the same columns are kept. */
TEST(parts_agree_on_the_digits)
{
    stonet_data *whole = NULL, *parts = NULL;
    for (int late = 0; late < 3; late++) { /* 1: near 0 at the end; 2: the first half are floats */
        fill_table();
        if (late == 1) table[(N - 1) * P + 1] = 0.0;
        for (int64_t i = 0; late == 2 && i < (int64_t)N / 2 * P; i++) table[i] = (double)(float)table[i];
        write_rows(table, N);
        OK(read_in_parts(path, "y", 1, 0, &whole));
        assert_non_null(whole->exact);
        assert_int_equal(whole->exact[1].at == NULL, late == 1);
        for (int64_t size = 50; size < 30000; size *= 5) {
            OK(read_in_parts(path, "y", 2, size, &parts));
            check_same_frame(whole, parts);
            stonet_data_free(parts);
        }
        stonet_data_free(whole);
    }
    fill_table();
}

TEST(numbers_that_are_no_floats_are_refused)
{
    const double bad[] = {1.0, (double)INFINITY, 1.0, 1e39};
    const char *const why[] = {"infinite", "too large"};
    for (int k = 0; k < 2; k++) {
        stonet_data *data = NULL;
        assert_int_equal(stonet_data_wrap_double(bad + (ptrdiff_t)2 * k, 1, 2, &data), STONET_ERROR_DATA);
        assert_null(data);
        assert_non_null(strstr(stonet_last_error(), "row 1, column 2"));
        assert_non_null(strstr(stonet_last_error(), why[k]));
    }
}

RUN_TESTS(set_up, remove_file)
