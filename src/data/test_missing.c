/* Missing cells: how they are written, where they are kept, what the mean puts in their place. */
#include <unistd.h>

#include "base/memory.h"
#include "base/test_kit.h"
#include "data/test_reading.h"
#include "data/test_tables.h"

static stonet_status read_with(const char *text, const stonet_read_options *how, stonet_data **data)
{
    return read_bytes(text, strlen(text), how, NULL, data);
}

static stonet_data *table(const char *text, const char *target, const char *na)
{
    const stonet_read_options how = {.size = sizeof how, .target = target, .na = na};
    const char *file = file_of(text, strlen(text));
    if (na == NULL) check_parts(file, target);
    unlink(file);
    return table_of(text, &how);
}

TEST(every_word_for_nothing_is_known)
{
    static const char *const words[] = {"", "NA", "na", "N/A", "NaN", "nan", "null", "NULL", "?", "."};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        char text[200];
        snprintf(text, sizeof text, "a,b,y\n1,u,1\n%s,v,2\n3,%s,3\n4,u,5\n", words[k], words[k]);
        SN_AUTO(stonet_data) *data = table(text, "y", NULL);
        assert_int_equal(stonet_data_missing(data, -1), 2);
        assert_int_equal(stonet_data_missing(data, 0), 1);
        assert_int_equal(stonet_data_missing(data, 1), 1);
        assert_true(isnan(data->x[1]) && data->x[2] == 3);
        assert_int_equal(data->text_code[0][2], -1);
        assert_int_equal(data->text_values[0].count, 2);
        assert_true(sn_frame_row_is_complete(data, 0) && !sn_frame_row_is_complete(data, 1));
    }
}

TEST(words_of_the_user_are_taken_too)
{
    const char *text = "a,b,y\n-999,u,1\n2,unknown,2\n-999.0,v,3\n999,u,4\n";
    SN_AUTO(stonet_data) *data = table(text, "y", "unknown, -999"), *none = NULL,
                         *numbers = table("a,y\n1.5,1\nunknown,2\n2.5,3\n", "y", "unknown");
    assert_int_equal(stonet_data_missing(data, 0), 2);
    assert_int_equal(stonet_data_missing(data, 1), 1);
    assert_true(data->x[3] == 999);
    assert_int_equal(numbers->n_text, 0); /* a column of numbers stays one */
    const stonet_read_options bad = {.size = sizeof bad, .na = "a,,b"};
    assert_int_equal(read_with("1,2\n", &bad, &none), STONET_ERROR_ARGUMENT);
}

TEST(rows_without_a_target_go_when_asked)
{
    const stonet_read_options how = {.size = sizeof how, .target = "y", .drop_missing_target = 1};
    stonet_data *data;
    OK(read_with("a,y\n1,1\n2,\n,3\n4,NA\n", &how, &data));
    assert_int_equal(stonet_data_rows(data), 2);
    assert_int_equal(stonet_data_dropped(data), 2);
    assert_int_equal(stonet_data_missing(data, -1), 1);
    assert_true(data->x[0] == 1 && isnan(data->x[1]) && data->y[1] == 3);
    stonet_data_free(data);
    OK(read_with("a,y\n1,red\n2,\n3,blue\n", &how, &data));
    assert_int_equal(stonet_data_rows(data), 2);
    assert_string_equal(stonet_data_class_label(data, data->label[1]), "blue");
    stonet_data_free(data);
    assert_says(read_with("a,y\n1,\n2,\n", &how, &data), STONET_ERROR_DATA, "in every row");
    assert_null(data);
}

TEST(subsets_and_files_keep_them)
{
    SN_AUTO(stonet_data) *data = table("a,b,y\n1,u,1\n,v,2\n3,,3\n1000000.25,u,5\n", "y", NULL), *part = NULL,
                         *back = NULL;
    const int64_t rows[] = {2, 0, 1, 1};
    OK(stonet_data_subset(data, rows, 4, &part));
    assert_int_equal(stonet_data_missing(part, -1), 3);
    assert_int_equal(part->text_code[0][0], -1);
    char copy[80];
    snprintf(copy, sizeof copy, "/tmp/stonet_missing_%d.csv", (int)getpid());
    OK(stonet_data_write(data, copy));
    const stonet_read_options how = {.size = sizeof how, .target = "y"};
    OK(stonet_data_read(copy, &how, &back));
    check_same_frame(data, back);
    unlink(copy);
}

TEST(weights_are_a_column_and_no_feature)
{
    const stonet_read_options how = {.size = sizeof how, .target = "y", .weights = "w"};
    stonet_data *data, *part;
    OK(read_with("a,w,y\n1,2,1\n2,0.5,2\n3,0,3\n", &how, &data));
    assert_int_equal(stonet_data_columns(data), 1);
    assert_true(stonet_data_weights(data)[0] == 2 && stonet_data_weights(data)[1] == 0.5);
    const int64_t rows[] = {2, 0};
    OK(stonet_data_subset(data, rows, 2, &part));
    assert_true(stonet_data_weights(part)[0] == 0 && stonet_data_weights(part)[1] == 2);
    stonet_data_free(part);
    stonet_data_free(data);
    static const struct {
        const char *text, *says;
    } bad[] = {{"a,w,y\n1,-2,1\n2,1,2\n", "a weight is a number from 0 on"},
               {"a,w,y\n1,,1\n2,1,2\n", "the weight is missing"},
               {"a,w,y\n1,much,1\n2,little,2\n", "are text"},
               {"a,v,y\n1,1,1\n2,1,2\n", "has no column 'w'"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_not_equal(read_with(bad[k].text, &how, &data), STONET_OK);
        assert_non_null(strstr(stonet_last_error(), bad[k].says));
    }
    const stonet_read_options both = {.size = sizeof both, .target = "y", .weights = "y"};
    assert_int_equal(read_with("a,y\n1,1\n2,2\n", &both, &data), STONET_ERROR_ARGUMENT);
}

static sn_schema *schema_of(const stonet_data *data, sn_missing missing)
{
    return FITTED(data, .missing = missing, .scale = SN_SCALE_COLUMN);
}

/* Centre and scale are those of the cells that are there, and a missing one is at the centre. */
TEST(the_mean_stands_for_them)
{
    SN_AUTO(stonet_data) *data = table("a,b,y\n1,u,1\n,v,2\n3,,3\n5,u,5.5\n", "y", NULL);
    SN_AUTO(stonet_data) *numbers = table("a,y\n1,1\n3,2\n5,3.5\n", "y", NULL);
    SN_AUTO(sn_schema) *schema = schema_of(data, SN_MISSING_MEAN),
                       *complete = schema_of(numbers, SN_MISSING_ERROR);
    float x[4 * 3], alone[3];
    assert_int_equal(schema->p, 3);
    OK(sn_schema_encode_x(schema, data, x));
    OK(sn_schema_encode_x(complete, numbers, alone));
    assert_true(x[0] == alone[0] && x[6] == alone[1] && x[9] == alone[2]);
    assert_true(x[3] == 0.0F && x[7] == 0.0F && x[8] == 0.0F);
    assert_true(x[1] > 0 && x[4] < 0);
    assert_int_equal(schema->input[0].missing, 1);
}

TEST(they_are_refused_when_asked)
{
    SN_AUTO(stonet_data) *data = table("a,b,y\n1,u,1\n,v,2\n3,,3\n5,u,5.5\n", "y", NULL);
    SN_AUTO(stonet_data) *whole = table("a,b,y\n1,u,1\n2,v,2\n3,u,3\n5,u,5.5\n", "y", NULL);
    SN_AUTO(sn_schema) *schema = NULL;
    float x[12];
    assert_says(sn_schema_fit(data, &(sn_encoding){0}, NULL, &schema), STONET_ERROR_DATA,
                "2 cells are missing, in 2 of 4 rows (a 1, b 1)");
    schema = schema_of(whole, SN_MISSING_ERROR);
    assert_says(sn_schema_encode_x(schema, data, x), STONET_ERROR_DATA, "row 2: the value of 'a' is missing");
}

TEST(a_column_of_nothing_has_no_effect)
{
    SN_AUTO(stonet_data) *data = table("a,b,c,y\n1,,,1\n2,NA,,2\n3,,,3\n", "y", NULL);
    SN_AUTO(sn_schema) *schema = schema_of(data, SN_MISSING_MEAN);
    float x[9] = {0};
    OK(sn_schema_encode_x(schema, data, x));
    for (int i = 0; i < 3; i++) assert_true(x[3 * i + 1] == 0.0F && x[3 * i + 2] == 0.0F);
}

/* Columns a (6 gaps of 14), b (5: too few), c (text, 6) and d (ordered by none, complete). */
static stonet_data *gappy(void)
{
    char text[400] = "a,b,c,d,y\n";
    for (int i = 0; i < 14; i++) {
        char a[12], b[12], line[48];
        snprintf(a, sizeof a, "%d", i * i);
        snprintf(b, sizeof b, "%d", i % 3);
        snprintf(line, sizeof line, "%s,%s,%s,%d,%d.5\n", i < 6 ? "" : a, i < 5 ? "" : b,
                 i >= 8  ? ""
                 : i % 2 ? "u"
                         : "v",
                 i % 5, i);
        strcat(text, line);
    }
    return table(text, "y", NULL);
}

/* a | a is missing | b | c=u c=v | c is missing | d */
TEST(indicators_say_which_are_missing)
{
    static const char *const names[] = {"a", "a is missing", "b", "c=u", "c=v", "c is missing", "d"};
    enum { P = 7 };
    SN_AUTO(stonet_data) *data = gappy();
    for (int way = 0; way < 2; way++) {
        const sn_missing how = way == 0 ? SN_MISSING_MEAN : SN_MISSING_GAUSSIAN;
        SN_AUTO(sn_schema) *without = schema_of(data, how);
        SN_AUTO(sn_schema) *schema = FITTED(data, .missing = how, .scale = SN_SCALE_COLUMN, .indicators = 1);
        assert_int_equal(schema->p, P);
        for (int f = 0; f < P; f++) assert_string_equal(schema->feature_name[f], names[f]);
        int64_t group[5];
        sn_schema_groups(schema, group);
        assert_true(group[1] == 2 && group[2] == 3 && group[3] == 6 && group[4] == P);
        float x[14 * P], plain[14 * (P - 2)], again[14 * P];
        OK(sn_schema_encode_x(schema, data, x));
        OK(sn_schema_encode_x(without, data, plain));
        const float there = (float)-sqrt(6.0 / 8.0), missing = (float)sqrt(8.0 / 6.0);
        for (int i = 0; i < 14; i++) {
            assert_float_equal(x[i * P + 1], i < 6 ? missing : there, 1e-6);
            assert_float_equal(x[i * P + 5], i >= 8 ? missing : there, 1e-6);
            for (int f = 0; f < 5; f++) /* the others are what they are without indicators */
                assert_true(x[i * P + f + (f > 0) + (f > 3)] == plain[i * 5 + f]);
        }
        SN_AUTO(sn_schema) *back = loaded_again(schema);
        OK(sn_schema_encode_x(back, data, again));
        assert_memory_equal(x, again, sizeof x);
    }
}

RUN_TESTS(NULL, NULL)
