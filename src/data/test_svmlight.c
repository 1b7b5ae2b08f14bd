/* Sparse tables: read from text and wrapped, the same to a model as the dense ones. */
#include "data/test_tables.h"

static stonet_status read_text(const char *text, const stonet_read_options *how, const sn_schema *schema,
                               stonet_data **out)
{
    return read_bytes(text, strlen(text), how, schema, out);
}

TEST(rows_are_read)
{
    SN_AUTO(stonet_data) *data = NULL;
    OK(read_text("# made by hand\n+1 2:0.5 4:-3e0 # so\n\n-1\n1 1:7\r\n-1 3:2.5#end", NULL, NULL, &data));
    assert_int_equal(stonet_data_rows(data), 4);
    assert_int_equal(stonet_data_columns(data), 4);
    assert_null(stonet_data_x(data));
    const double expected[4][4] = {{0, 0.5, 0, -3}, {0}, {7, 0, 0, 0}, {0, 0, 2.5, 0}}, y[] = {1, -1, 1, -1};
    for (int64_t j = 0; j < 4; j++) {
        double column[4];
        OK(stonet_data_column_numbers(data, j, column));
        for (int i = 0; i < 4; i++) assert_true(column[i] == expected[i][j]);
    }
    int64_t m;
    assert_memory_equal(stonet_data_targets(data, &m), y, sizeof y);
    const int64_t rows[] = {2, 0, 2};
    SN_AUTO(stonet_data) *some = NULL;
    OK(stonet_data_subset(data, rows, 3, &some));
    double first[3];
    OK(stonet_data_column_numbers(some, 0, first));
    assert_true(first[0] == 7 && first[1] == 0 && first[2] == 7);
}

/* Some numbers, most of them 0; as text, as a dense table and as a sparse one. */
enum { N = 50, P = 12 };

static void make(double *x, double *y)
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) x[i * P + j] = (i * 7 + j * 5) % 6 == 0 ? 0.25 * (i % 5) + j : 0;
        x[i * P] += 1000.0 + i; /* one column that is never 0 */
        y[i] = sin(i);
    }
}

TEST(a_model_sees_the_same_numbers)
{
    double x[N * P], y[N];
    float values[N * P], a[N * P], b[N * P];
    int64_t start[N + 1] = {0};
    int32_t column[N * P];
    make(x, y);
    int64_t cells = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) {
            if (x[i * P + j] == 0) continue;
            column[cells] = j;
            values[cells++] = (float)x[i * P + j];
        }
        start[i + 1] = cells;
    }
    SN_AUTO(stonet_data) *dense = NULL, *sparse = NULL;
    OK(stonet_data_wrap_double(x, N, P, &dense));
    OK(stonet_data_wrap_sparse(start, column, values, N, P, &sparse));
    OK(stonet_data_set_targets(dense, y, 1));
    OK(stonet_data_set_targets(sparse, y, 1));
    SN_AUTO(sn_schema) *of_dense = FITTED(dense, 0), *of_sparse = FITTED(sparse, 0);
    OK(sn_schema_encode_x(of_dense, dense, a));
    OK(sn_schema_encode_x(of_sparse, sparse, b));
    for (int k = 0; k < N * P; k++) assert_true(fabs((double)a[k] - (double)b[k]) < 1e-5);
    OK(sn_schema_encode_x(of_dense, sparse, b)); /* and across */
    for (int k = 0; k < N * P; k++) assert_true(fabs((double)a[k] - (double)b[k]) < 1e-5);
}

/* A file for a model may have fewer columns, or more, than that; columns count as in training. */
TEST(columns_are_those_of_the_model)
{
    stonet_data *data;
    SN_AUTO(stonet_data) *train = table_of("1 1:1 3:2\n2 2:1\n3 1:4 2:5\n", NULL),
                         *train0 = table_of("1 0:1 3:2\n2 2:1\n3 1:4 2:5\n", NULL);
    SN_AUTO(sn_schema) *schema = FITTED(train, .task = SN_TASK_WISH_REGRESSION),
                       *from0 = FITTED(train0, .task = SN_TASK_WISH_REGRESSION);
    OK(read_text("0 2:1\n0 9:4 88888870:1\n", NULL, schema, &data));
    assert_int_equal(stonet_data_columns(data), 3);
    assert_null(stonet_data_targets(data, NULL)); /* rows for a model need no response */
    float x[2 * 3];
    OK(sn_schema_encode_x(schema, data, x));
    assert_true(x[1] != x[4] && x[0] == x[3] && x[2] == x[5]);
    stonet_data_free(data);
    const stonet_read_options own = {.size = sizeof own, .own_target = 1};
    OK(read_text("5 2:1\n6 9:4\n", &own, schema, &data));
    assert_true(stonet_data_targets(data, NULL)[1] == 6);
    stonet_data_free(data);
    assert_says(read_text("0 0:1\n", NULL, schema, &data), STONET_ERROR_DATA, "counts its columns from 0");
    assert_string_equal(from0->input[0].name, "x0");
    OK(read_text("0 1:4\n", NULL, from0, &data)); /* no 0 here, and still from 0 */
    double second;
    OK(stonet_data_column_numbers(data, 1, &second));
    assert_true(second == 4);
    stonet_data_free(data);
}

TEST(faults_are_named)
{
    static const struct {
        const char *text, *says;
    } faults[] = {
        {"1 1:2\n1 2:x\n", "line 2 has something that is not COLUMN:NUMBER"},
        {"1 1:2\nx 2:1\n", "line 2 does not begin with a number"},
        {"1 1:2 1:3\n", "line 1 has columns that do not rise, or one of them twice"},
        {"1 3:2 2:3\n", "line 1 has columns that do not rise"},
        {"1 1:1\n1 1:1e99\n", "line 2 has a number that is missing, infinite or too large"},
        {"1 1:1\n1,2 1:1\n", "line 2 has several labels"},
        {"1 qid:3 1:1\n", "line 1 has a query (qid)"},
        {"1 1:1\n1 88888870:1\n", "line 2 names column 88888870, and 4194304 is the highest"},
        {"1 1:1\n1 1:1 99999999999999999999:1\n", "line 2 has something that is not COLUMN:NUMBER"},
        {"1 1:2\n1 2:\n", "COLUMN:NUMBER"},
        {"1 1:2\n1 2:3x\n", "COLUMN:NUMBER"},
        {"1 1:2\n1 x:3\n", "COLUMN:NUMBER"},
        {"1 1:2\n1 2:nan\n", "COLUMN:NUMBER"},
        {"1 1:2\n1x 2:1\n", "line 2 does not begin with a number"},
        {"1 1:2\n1e999 2:1\n", "missing or infinite"},
        {"1 1:2\n1 4294967296:1\n", "line 2"},
    };
    stonet_data *data;
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        const stonet_status status = read_text(faults[k].text, NULL, NULL, &data);
        if (status == STONET_OK || strstr(stonet_last_error(), faults[k].says) == NULL)
            fail_msg("'%s': %s", faults[k].text, status == STONET_OK ? "read" : stonet_last_error());
    }
    static const char cut[] = "1 1:2\n1 1:3\0 2:4\n";
    assert_says(read_bytes(cut, sizeof cut - 1, NULL, NULL, &data), STONET_ERROR_FORMAT,
                "line 2 has a null byte");
    static const char *const order[] = {"a=low,high"};
    const stonet_read_options price = {.size = sizeof price, .target = "price"},
                              named[] = {{.size = sizeof *named, .features = "1"},
                                         {.size = sizeof *named, .drop = "3"},
                                         {.size = sizeof *named, .id = "1"},
                                         {.size = sizeof *named, .season = "1"},
                                         {.size = sizeof *named, .weights = "1"},
                                         {.size = sizeof *named, .ordinal = order, .n_ordinal = 1}};
    assert_says(read_text("1 1:1\n", &price, NULL, &data), STONET_ERROR_ARGUMENT,
                "it is called y, not 'price'");
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        assert_says(read_text("1 1:1\n", &named[k], NULL, &data), STONET_ERROR_ARGUMENT, "no named columns");
    assert_null(data);
}

/* Rows of a sparse table lack no cell: a number that stands for a missing one is refused, and not taken. */
TEST(words_for_missing_cells_count)
{
    const stonet_read_options how = {.size = sizeof how, .na = "unknown,-9"};
    SN_AUTO(stonet_data) *data = NULL;
    assert_says(read_text("1 1:1\n2 1:-9\n", &how, NULL, &data), STONET_ERROR_FORMAT,
                "line 2 has a number that is missing");
    assert_says(read_text("1 1:1\n-9 1:2\n", &how, NULL, &data), STONET_ERROR_FORMAT,
                "line 2 has a response that is missing");
    OK(read_text("1 1:1\n2 1:9\n", &how, NULL, &data));
}

TEST(lines_may_be_longer_than_any_buffer)
{
    const size_t room = 1 << 20;
    SN_BLOCK char *text = test_zeros((int64_t)room, 1);
    size_t used = (size_t)snprintf(text, room, "1 1:2\n-1");
    for (int j = 1; j < 60000; j++) used += (size_t)snprintf(text + used, room - used, " %d:1", j);
    SN_AUTO(stonet_data) *data = NULL;
    OK(read_text(text, NULL, NULL, &data));
    assert_int_equal(stonet_data_rows(data), 2);
}

RUN_TESTS(NULL, NULL)
