/* Sets of rows and batches: encoded on the way gives the bits of encoded before. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "data/encoder.h"
#include "data/problem.h"
#include "data/test_tables.h"
#include "math/noise.h"

TEST(test_sets)
{
    const int64_t list[] = {9, 2, 2, 7};
    const sn_rows range = sn_rows_range(3, 5), some = sn_rows_list(list, 4);
    assert_int_equal(range.n, 5);
    assert_int_equal(sn_rows_at(&range, 0), 3);
    assert_int_equal(sn_rows_at(&range, 4), 7);
    assert_int_equal(sn_rows_at(&some, 0), 9);
    const sn_rows part = sn_rows_part(&range, 2, 2), fewer = sn_rows_part(&some, 1, 3);
    assert_int_equal(part.n, 2);
    assert_int_equal(sn_rows_at(&part, 1), 6);
    assert_int_equal(fewer.n, 3);
    assert_int_equal(sn_rows_at(&fewer, 2), 7);
}

enum { N = 90, MOST = 257 };

/* A table with columns of very different sizes; with_text: two of them and words. */
static stonet_data *make_table(int64_t p, bool with_text)
{
    static float x[N * MOST];
    static double y[N];
    static const char *const words[] = {"red", "green", "blue"};
    char text[N * 64] = "colour,a,b,y\n";
    sn_random random = sn_random_from(3, SN_STREAM_TEST, (uint32_t)p);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < p; j++)
            x[i * p + j] =
                (float)(sn_random_normal(&random) * (j % 3 == 0 ? 1e-3 : 40.0) + (double)j * 100.0);
        y[i] = sn_random_normal(&random);
        if (with_text)
            sprintf(text + strlen(text), "%s,%.9g,%.9g,%.17g\n", words[i * i % 7 % 3], (double)x[i * p],
                    (double)x[i * p + 1], y[i]);
    }
    return with_text ? table_with(text, "y") : wrapped(x, N, p, y);
}

/* Every row, at any stride, in any company, has the bits of the table encoded as a whole. */
static void check_fetching(stonet_data *data)
{
    SN_AUTO(sn_schema) *schema = FITTED(data, .scale = SN_SCALE_AUTO, .task = SN_TASK_AUTO);
    SN_AUTO(sn_encoder) *encoder = NULL;
    const int64_t n = stonet_data_rows(data), p = schema->p;
    SN_BLOCK float *whole = test_zeros(n * p, sizeof *whole);
    SN_BLOCK double *y = test_zeros(n, sizeof *y);
    OK(sn_schema_encode_x(schema, data, whole));
    OK(sn_schema_encode_y(schema, data, NULL, y));
    OK(sn_encoder_create(schema, data, &encoder));
    sn_problem dense = {.n = n, .p = p, .x = whole, .task = SN_REGRESSION, .outputs = 1, .y = y};
    sn_problem fetched = dense;
    fetched.x = NULL;
    fetched.source = sn_encoder_source(encoder);
    sn_random random = sn_random_from(8, SN_STREAM_TEST, 1);
    for (int trial = 0; trial < 20; trial++) {
        int64_t list[50], number[2][50];
        float x[2][50 * 300], weight[2][50];
        double response[2][50];
        const int64_t count = 1 + (int64_t)sn_random_below(&random, 50), stride = p + trial % 3;
        for (int64_t i = 0; i < count; i++) list[i] = (int64_t)sn_random_below(&random, (uint64_t)n);
        const sn_rows rows = trial % 4 == 0 ? sn_rows_range(n - count, count) : sn_rows_list(list, count);
        memset(x, 0, sizeof x);
        for (int k = 0; k < 2; k++) {
            sn_batch batch = {
                .x = x[k], .x_stride = stride, .y = response[k], .weight = weight[k], .row = number[k]};
            const sn_problem *problem = k == 0 ? &dense : &fetched;
            OK(sn_batch_prepare(problem, &rows));
            sn_batch_fetch(problem, &rows, &batch);
            assert_int_equal(batch.n, count);
        }
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        for (int64_t i = 0; i < count; i++) {
            const int64_t row = sn_rows_at(&rows, i);
            assert_memory_equal(x[0] + i * stride, whole + row * p, (size_t)p * sizeof(float));
            assert_int_equal(number[1][i], row);
            assert_true(response[1][i] == y[row] && weight[1][i] == 1.0F);
        }
    }
    stonet_data_free(data);
}

TEST(test_scaling_on_the_way)
{
    const int64_t columns[] = {1, 3, 4, 17, 64, MOST};
    for (int k = 0; k < 6; k++) check_fetching(make_table(columns[k], false));
    check_fetching(make_table(2, true));
}

TEST(test_what_a_batch_holds)
{
    const float x[] = {1, 2, 3, 4, 5, 6}, weight[] = {0.5F, 2, 0};
    const int32_t label[] = {2, 0, 1};
    const sn_problem problem = {.n = 3,
                                .p = 2,
                                .x = x,
                                .task = SN_CLASSIFICATION,
                                .outputs = 3,
                                .label = label,
                                .weight = weight,
                                .first_row = 1000};
    const int64_t list[] = {2, 0};
    const sn_rows rows = sn_rows_list(list, 2);
    float got[4], counts[2];
    int32_t classes[2];
    int64_t number[2];
    sn_batch batch = {.x = got, .x_stride = 2, .label = classes, .weight = counts, .row = number};
    sn_batch_fetch(&problem, &rows, &batch);
    assert_memory_equal(got, ((float[]){5, 6, 1, 2}), sizeof got);
    assert_true(classes[0] == 1 && classes[1] == 2 && counts[0] == 0.0F && counts[1] == 0.5F);
    assert_true(number[0] == 1002 && number[1] == 1000);
}

RUN_TESTS(NULL, NULL)
