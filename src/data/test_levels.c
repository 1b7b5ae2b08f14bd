/* Numbers that look like codes: which columns have levels, what they become, and the way to a store and back.
 */
#include "base/test_store.h"
#include "data/test_tables.h"

enum { ROWS = 12, COLUMNS = 5 };

/* grade has 4 values 3 times each; flag two; rare a value in two rows; real twelve; few one too many. */
static const float table[ROWS * COLUMNS] = {1,    0, 7, 0.1F, 1, 2,    1, 7, 0.2F, 2, 3,    0, 7, 0.3F, 3,
                                            4.5F, 1, 8, 0.4F, 4, 1,    0, 8, 0.5F, 5, 2,    1, 8, 0.6F, 1,
                                            3,    0, 8, 0.7F, 2, 4.5F, 1, 8, 0.8F, 3, 1,    0, 7, 0.9F, 4,
                                            2,    1, 7, 1.0F, 5, 3,    0, 9, 1.1F, 1, 4.5F, 1, 9, 1.2F, 2};

static const double y[ROWS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10.5, 11, 12};

static stonet_data *rows(const float *x, int64_t n)
{
    return wrapped(x, n, COLUMNS, n == ROWS ? y : NULL);
}

static sn_schema *fit(const stonet_data *data, sn_scale scale, int64_t levels)
{
    return FITTED(data, .scale = scale, .task = SN_TASK_WISH_REGRESSION, .levels = levels);
}

TEST(columns_of_few_numbers_gain_a_block)
{
    SN_AUTO(stonet_data) *data = rows(table, ROWS);
    SN_AUTO(sn_schema) *plain = fit(data, SN_SCALE_COLUMN, 0), *schema = fit(data, SN_SCALE_COLUMN, 4),
                       *few = fit(data, SN_SCALE_COLUMN, 3);
    assert_int_equal(plain->p, COLUMNS);
    assert_int_equal(sn_schema_level_inputs(plain), 0);
    assert_int_equal(sn_schema_level_inputs(schema), 1);
    const char *const names[] = {"x1", "x1=1", "x1=2", "x1=3", "x1=4.5", "x2", "x3", "x4", "x5"};
    enum { P = sizeof names / sizeof *names };
    assert_int_equal(schema->p, P);
    assert_int_equal(schema->n_inputs, COLUMNS);
    for (int f = 0; f < P; f++) assert_string_equal(schema->feature_name[f], names[f]);

    SN_AUTO(sn_schema) *back = loaded_again(schema);
    float x[ROWS * P], again[ROWS * P], before[ROWS * COLUMNS];
    OK(sn_schema_encode_x(schema, data, x));
    OK(sn_schema_encode_x(back, data, again));
    assert_memory_equal(x, again, sizeof x);
    OK(sn_schema_encode_x(plain, data, before));
    double total = 0.0;
    for (int f = 1; f <= 4; f++) {
        for (int i = 0; i < ROWS; i++)
            assert_true((x[i * P + f] > 0) == (table[i * COLUMNS] == (f == 4 ? 4.5F : (float)f)));
        assert_near(mean_of(x + f, ROWS, P), 0.0, 1e-6);
        total += mean_square(x + f, ROWS, P, 0.0);
    }
    assert_true(fabs(total - 0.5) < 1e-6);
    for (int i = 0; i < ROWS; i++) { /* the columns themselves are what they were */
        assert_true(x[i * P] == before[i * COLUMNS]);
        for (int j = 1; j < COLUMNS; j++) assert_true(x[i * P + 4 + j] == before[i * COLUMNS + j]);
    }
    assert_int_equal(sn_schema_level_inputs(few), 0);
}

TEST(a_block_follows_the_scale_of_its_column)
{
    SN_AUTO(stonet_data) *data = rows(table, ROWS);
    const sn_scale scales[] = {SN_SCALE_COMMON, SN_SCALE_CENTRE, SN_SCALE_NONE};
    for (int k = 0; k < 3; k++) {
        SN_AUTO(sn_schema) *schema = fit(data, scales[k], 4), *plain = fit(data, scales[k], 0);
        float x[ROWS * 9], before[ROWS * COLUMNS];
        OK(sn_schema_encode_x(schema, data, x));
        OK(sn_schema_encode_x(plain, data, before));
        double variance[5];
        for (int f = 0; f < 5; f++) variance[f] = mean_square(x + f, ROWS, 9, mean_of(x + f, ROWS, 9));
        const double block = variance[1] + variance[2] + variance[3] + variance[4];
        assert_true(fabs(block / variance[0] - 0.5) < 1e-6);
        assert_true(x[0] == before[0] && x[8] == before[4]);
    }
}

/* A number that training never saw keeps its own feature, and its block says nothing. */
TEST(unseen_numbers_have_an_empty_block)
{
    SN_AUTO(stonet_data) *data = rows(table, ROWS);
    const float fresh[COLUMNS] = {2.5F, 0, 7, 0.1F, 1};
    SN_AUTO(stonet_data) *other = rows(fresh, 1);
    SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_COLUMN, 8);
    float x[16];
    assert_int_equal(schema->p, 9);
    OK(sn_schema_encode_x(schema, other, x));
    assert_true(fabs((double)x[0]) > 1e-3);
    for (int f = 1; f <= 4; f++) assert_true(x[f] == 0.0F);
}

TEST(damaged_levels_are_refused)
{
    const char *const bad[] = {"[{\"name\":\"x1\",\"levels\":[2,1]}]",
                               "[{\"name\":\"x1\",\"levels\":[]}]",
                               "[{\"name\":\"x1\",\"levels\":3}]",
                               "[{\"name\":\"x1\",\"levels\":[1,\"2\"]}]",
                               "[{\"name\":\"x1\",\"levels\":[1,1e300]}]",
                               "[{\"name\":\"x1\",\"categories\":[\"a\"],\"levels\":[1,2,3]}]"};
    SN_AUTO(stonet_data) *data = rows(table, ROWS);
    SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_COLUMN, 8), *back = NULL;
    SN_AUTO(sn_store) *whole = stored(schema);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        SN_AUTO(sn_store) *store = sn_store_without(whole, "schema.inputs");
        OK(sn_store_put_text(store, "schema.inputs", bad[k]));
        assert_says(sn_schema_load(store, &back), STONET_ERROR_FORMAT, "schema.inputs");
    }
}

RUN_TESTS(NULL, NULL)
