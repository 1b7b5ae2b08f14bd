/* What columns are called, which of them are used, and that a stored schema finds them again. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "base/test_messages.h"
#include "data/readers.h"
#include "data/schema_parts.h"
#include "data/test_tables.h"

enum { N = 30 };

static double numbers[8][N];
static char words[N][16];
static const char *texts[N];

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < 8; j++) numbers[j][i] = sin(1.0 + i * (j + 1));
        numbers[7][i] = 19723 + 11 * i;
        snprintf(words[i], sizeof words[i], "w%d", i % 4);
        texts[i] = words[i];
    }
    return 0;
}

/* A table of these names (NULL: none); the last column is dates. */
static stonet_status build(const char *const *names, int count, const stonet_read_options *how,
                           const sn_schema *schema, stonet_data **out)
{
    SN_AUTO(stonet_columns) *columns = NULL;
    OK(stonet_data_begin(N, &columns));
    for (int j = 0; j < count; j++) {
        const char *name = names != NULL ? names[j] : NULL;
        if (j == 1)
            OK(stonet_data_add_texts(columns, name, texts));
        else if (j == count - 1)
            OK(stonet_data_add_dates(columns, name, numbers[7]));
        else
            OK(stonet_data_add_numbers(columns, name, numbers[j]));
    }
    stonet_status status = sn_columns_read(columns, how, schema, out);
    return status;
}

static void check_names(const char *const *given, int count, const char *const *wanted)
{
    SN_AUTO(stonet_data) *data = NULL;
    OK(build(given, count, NULL, NULL, &data));
    for (int j = 0; j < count; j++) assert_string_equal(stonet_data_column_name(data, j), wanted[j]);
}

/* A name that stands in the header is never given to another column. */
TEST(names_are_not_stolen)
{
    check_names((const char *const[]){"", "x1", "x2"}, 3, (const char *const[]){"x1.2", "x1", "x2"});
    check_names((const char *const[]){"a", "a", "a.2"}, 3, (const char *const[]){"a", "a.3", "a.2"});
    check_names((const char *const[]){"a", "", "x2"}, 3, (const char *const[]){"a", "x2.2", "x2"});
    check_names(NULL, 3, (const char *const[]){"x1", "x2", "x3"});
}

/* Columns without names that were left out in training: found by their places, or passed over. */
TEST(places_are_remembered)
{
    const stonet_read_options how = {.size = sizeof how, .target = "3", .drop = "1,5", .season = "6"},
                              nothing = {.size = sizeof nothing};
    SN_AUTO(stonet_data) *train = NULL, *all = NULL;
    stonet_data *used = NULL;
    OK(build(NULL, 6, &how, NULL, &train));
    assert_int_equal(stonet_data_columns(train), 3); /* 2 (text), 4 and 6 */
    SN_AUTO(sn_schema) *learned = FITTED(train, 0), *schema = loaded_again(learned);
    assert_int_equal(schema->p, 4 + 1 + 3);
    assert_string_equal(schema->feature_name[7], "x6=season cosine");
    float x[N * 8], again[N * 8];
    OK(sn_schema_encode_x(schema, train, x));
    for (int i = 0; i < N; i++) { /* the season has its own scale */
        double part[2];
        sn_season(numbers[7][i], part);
        const double a = (double)x[i * 8 + 6], b = (double)x[6];
        double first[2];
        sn_season(numbers[7][0], first);
        if (i > 0 && fabs(part[0] - first[0]) > 0.1) assert_true((a - b) * (part[0] - first[0]) > 0);
    }
    OK(build(NULL, 6, &nothing, schema, &all));
    OK(sn_schema_encode_x(schema, all, again));
    assert_memory_equal(x, again, sizeof x);
    stonet_data_free(all);
    OK(build(NULL, 6, &nothing, NULL, &all)); /* nothing left out before */
    OK(sn_schema_encode_x(schema, all, again));
    assert_memory_equal(x, again, sizeof x);
    /* Without the target it cannot be known which columns are there. */
    assert_says(build(NULL, 5, &nothing, schema, &used), STONET_ERROR_DATA,
                "has 5 columns and the model was fitted on 3");
}

/* A row of weight 2 counts as two rows, for the scale of the season too. */
TEST(seasons_are_weighed)
{
    const stonet_read_options how = {.size = sizeof how, .target = "3", .season = "6"};
    SN_AUTO(stonet_data) *data = NULL, *copies = NULL;
    double weight[N];
    int64_t rows[2 * N], count = 0;
    OK(build(NULL, 6, &how, NULL, &data));
    for (int64_t i = 0; i < N; i++) {
        weight[i] = i < N / 3 ? 2.0 : 1.0;
        rows[count++] = i;
        if (weight[i] > 1.0) rows[count++] = i;
    }
    OK(stonet_data_subset(data, rows, count, &copies));
    OK(stonet_data_set_weights(data, weight));
    SN_AUTO(sn_schema) *weighted = FITTED(data, 0), *copied = FITTED(copies, 0);
    for (int64_t f = 0; f < weighted->p; f++) {
        assert_near(weighted->centre[f], copied->centre[f], 1e-9);
        assert_near(weighted->factor[f], copied->factor[f], 1e-9);
    }
}

TEST(the_model_knows_its_response)
{
    static const char *const names[] = {"a", "b", "c", "d"}, *const others[] = {"d", "b", "a", "c"};
    const stonet_read_options how = {.size = sizeof how, .target = "c"},
                              own = {.size = sizeof own, .own_target = 1};
    SN_AUTO(stonet_data) *train = NULL, *data = NULL;
    OK(build(names, 4, &how, NULL, &train));
    SN_AUTO(sn_schema) *schema = FITTED(train, 0);
    OK(build(names, 4, &own, schema, &data));
    int64_t m;
    assert_memory_equal(stonet_data_targets(data, &m), numbers[2], sizeof numbers[2]);
    stonet_data_free(data);
    OK(build(names, 3, &own, NULL, &data)); /* without a model there is none */
    assert_null(stonet_data_targets(data, &m));
    stonet_data_free(data);
    data = NULL;
    assert_says(build(others, 3, &own, schema, &data), STONET_ERROR_ARGUMENT,
                "no column 'c', the response of the model");
}

/* Of very many categories the frequent ones have a feature each; the others, and new ones, share one. */
TEST(rare_categories_share_a_feature)
{
    enum { ROWS = 1400, VALUES = 400 };
    static char text[ROWS][12];
    static const char *column[ROWS];
    static double y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        /* c0 .. c49 have 21 rows each, the others one or none */
        snprintf(text[i], sizeof text[i], "c%03d", i < 1050 ? i % 50 : 50 + i % (VALUES - 50));
        column[i] = text[i];
        y[i] = sin(i);
    }
    SN_AUTO(stonet_columns) *columns = NULL;
    SN_AUTO(stonet_data) *data = NULL, *fresh = NULL;
    OK(stonet_data_begin(ROWS, &columns));
    OK(stonet_data_add_texts(columns, "zip", column));
    OK(stonet_data_end(columns, NULL, &data));
    OK(stonet_data_set_targets(data, y, 1));
    const stonet_run run = {.size = sizeof run, .on_message = sn_hear};
    SN_AUTO(sn_schema) *schema = NULL;
    OK(sn_schema_fit(data, &(sn_encoding){.scale = SN_SCALE_NONE}, &run, &schema));
    assert_non_null(strstr(sn_heard,
                           "column 'zip' is text with 400 values: one feature for each of the 50 most "
                           "frequent, and one for all others together, which 350 of the 1400 rows "
                           "have\n"));
    assert_int_equal(schema->p, 51);
    assert_string_equal(schema->feature_name[50], "zip=(other)");
    static float x[ROWS * 51];
    OK(sn_schema_encode_x(schema, data, x));
    for (int i = 0; i < ROWS; i++)
        for (int f = 0; f < 51; f++)
            assert_true(x[i * 51 + f] == (f == (i < 1050 ? i % 50 : 50) ? 1.0F : 0.0F));
    snprintf(text[0], sizeof text[0], "new");
    OK(stonet_data_end(columns, NULL, &fresh));
    OK(sn_schema_encode_x(schema, fresh, x));
    assert_true(x[0] == 0.0F && x[50] == 1.0F);
}

RUN_TESTS(set_up, NULL)
