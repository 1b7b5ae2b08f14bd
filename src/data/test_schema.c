#include "base/test_messages.h"
#include "base/test_store.h"
#include "data/test_tables.h"

static sn_schema *fit(const stonet_data *data, sn_scale scale, sn_task_wish task)
{
    return FITTED(data, .scale = scale, .task = task);
}

static void refuse_fit(const char *text, const char *target, sn_task_wish task, const char *words)
{
    SN_AUTO(stonet_data) *data = table_with(text, target);
    sn_schema *schema = (sn_schema *)data;
    assert_says(sn_schema_fit(data, &(sn_encoding){.scale = SN_SCALE_AUTO, .task = task}, NULL, &schema),
                STONET_ERROR_DATA, words);
    assert_null(schema);
}

/* Rows of `text` go through the schema as these numbers; or (NULL) are refused with these words. */
static void check_rows(const sn_schema *schema, const char *text, const float *numbers, const char *words)
{
    SN_AUTO(stonet_data) *data = table_with(text, NULL);
    SN_BLOCK float *x = test_zeros(data->n * schema->p, sizeof *x);
    const stonet_status status = sn_schema_encode_x(schema, data, x);
    if (numbers == NULL)
        assert_says(status, STONET_ERROR_DATA, words);
    else
        assert_memory_equal(x, numbers, (size_t)(data->n * schema->p) * sizeof *x);
}

static void check_labels(const sn_schema *schema, const stonet_data *data, const int32_t *wanted)
{
    int32_t label[8];
    OK(sn_schema_encode_y(schema, data, label, NULL));
    assert_memory_equal(label, wanted, (size_t)data->n * sizeof *label);
}

static const char *const mixed = "a,colour,b,y\n"
                                 "1,red,7,10\n"
                                 "2,blue,7,20\n"
                                 "3,red,7,30\n"
                                 "6,green,7,41.5\n";

/* 38 of 40 rows have one of two texts, two have a third: its indicator is bounded, that of the others has
   variance 1. */
TEST(rare_texts_are_bounded)
{
    char text[2000] = "a,make,y\n";
    for (int i = 0; i < 40; i++) {
        const char *make = i < 2 ? "rare" : i % 2 == 0 ? "one" : "other";
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%s,%d.5\n", i, make, i * i % 7);
    }
    SN_AUTO(stonet_data) *data = table_with(text, "y");
    SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_AUTO, SN_TASK_WISH_REGRESSION);
    enum { P = 4 };
    assert_int_equal(schema->p, P);
    float x[40 * P];
    OK(sn_schema_encode_x(schema, data, x));
    for (int64_t f = 1; f < P; f++) {
        const bool rare = strstr(schema->feature_name[f], "rare") != NULL;
        assert_near(mean_square(x + f, 40, P, 0.0), rare ? 0.05 * 0.95 / 0.1 : 1.0, 1e-5);
        /* 1 / sqrt(.1) at most; 4.4 by its own variance */
        for (int i = 0; i < 40; i++) assert_true(fabsf(x[i * P + f]) < 3.2F);
    }
}

/* An order is one feature, however many its words, and those after it have a scale of their own. */
TEST(ordered_texts_are_one_number)
{
    enum { N = 40, P = 3 };
    char text[2000] = "grade,a,b,y\n";
    const char *const word[] = {"none", "low", "middling", "high", "top"};
    for (int i = 0; i < N; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s,%d,%g,%d.5\n", word[i % 5], i * i % 11,
                 (double)i / 100, i * i % 7);
    const char *const order[] = {"grade=none,low,middling,high,top"};
    const stonet_read_options how = {.size = sizeof how, .target = "y", .ordinal = order, .n_ordinal = 1};
    SN_AUTO(stonet_data) *data = table_of(text, &how);
    SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_AUTO, SN_TASK_WISH_REGRESSION);
    assert_int_equal(schema->p, P);
    float x[N * P];
    OK(sn_schema_encode_x(schema, data, x));
    for (int64_t f = 0; f < P; f++) assert_near(mean_square(x + f, N, P, 0.0), 1.0, 1e-5);
}

TEST(test_features)
{
    SN_AUTO(stonet_data) *data = table_with(mixed, "y");
    stonet_run run = STONET_RUN_INIT;
    run.on_message = sn_hear;
    sn_heard[0] = '\0';
    SN_AUTO(sn_schema) *schema = NULL;
    OK(sn_schema_fit(data, &(sn_encoding){.scale = SN_SCALE_AUTO, .task = SN_TASK_AUTO}, &run, &schema));
    assert_non_null(strstr(sn_heard, "1 constant feature is without effect: b"));
    assert_non_null(strstr(sn_heard, "column 'colour' is text"));
    assert_int_equal(schema->scale, SN_SCALE_COLUMN);
    assert_int_equal(schema->p, 5);
    assert_int_equal(schema->n_inputs, 3);
    assert_true(schema->has_header);
    const char *const names[] = {"a", "colour=blue", "colour=green", "colour=red", "b"};
    for (int f = 0; f < 5; f++) assert_string_equal(schema->feature_name[f], names[f]);
    float x[20];
    OK(sn_schema_encode_x(schema, data, x));
    double sd = sqrt((4 + 1 + 0 + 9) / 4.0);
    for (int i = 0; i < 4; i++) {
        assert_near((double)x[5 * i], ((double)data->x[2 * i] - 3) / sd, 1e-6);
        assert_true(x[5 * i + 4] == 0);
    }
    assert_near((double)x[1], -0.25 / sqrt(0.25 * 0.75), 1e-6);
    assert_near((double)x[3], 0.5 / 0.5, 1e-6);
    for (int f = 0; f < 4; f++) {
        assert_near(mean_of(x + f, 4, 5), 0, 1e-6);
        assert_near(mean_square(x + f, 4, 5, 0.0), 1, 1e-6);
    }
    assert_int_equal(schema->task, SN_REGRESSION);
    assert_near(sn_schema_target_mean(schema, 0), 25.375, 1e-12);
    double y[4];
    OK(sn_schema_encode_y(schema, data, NULL, y));
    assert_near(y[0] + y[1] + y[2] + y[3], 0, 1e-12);
    assert_near(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3], 4, 1e-12);
    assert_near(y[0] * sn_schema_target_sd(schema, 0) + 25.375, 10, 1e-12);
}

TEST(test_scales)
{
    SN_AUTO(stonet_data) *data = table_with("1,10,0.5\n3,30,0.25\n5,20,0.125\n", "3");
    float x[6];
    SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_COMMON, SN_TASK_AUTO);
    OK(sn_schema_encode_x(schema, data, x));
    double common = sqrt((8.0 / 3 + 200.0 / 3) / 2);
    assert_near((double)x[0], -2 / common, 1e-6);
    assert_near((double)x[1], -10 / common, 1e-6);
    sn_schema_free(schema);
    schema = fit(data, SN_SCALE_CENTRE, SN_TASK_AUTO);
    OK(sn_schema_encode_x(schema, data, x));
    assert_true(x[0] == -2 && x[3] == 10);
    sn_schema_free(schema);
    schema = fit(data, SN_SCALE_NONE, SN_TASK_AUTO);
    OK(sn_schema_encode_x(schema, data, x));
    assert_memory_equal(x, data->x, sizeof x);
}

/* Columns by name in any order, with more of them, or by position with and without the target. A colour never
   seen counts as the training average. */
TEST(test_new_tables)
{
    SN_AUTO(stonet_data) *train = table_with(mixed, "y"), *bare = table_with("1,10,2\n2,20,3\n3,35,5\n", "2");
    SN_AUTO(sn_schema) *schema = fit(train, SN_SCALE_NONE, SN_TASK_AUTO),
                       *by_place = fit(bare, SN_SCALE_NONE, SN_TASK_AUTO);
    static const struct {
        const char *rows;
        float x[10];
    } same[] = {{"extra,b,colour,y,a\n0,7,green,5,1\n0,9,red,6,2\n", {1, 0, 1, 0, 7, 2, 0, 0, 1, 9}},
                {"a,colour,b\n1,black,7\n1,blue,7\n", {1, 0.25F, 0.25F, 0.5F, 7, 1, 1, 0, 0, 7}},
                {"1,red,7\n2,red,7\n", {1, 0, 0, 1, 7, 2, 0, 0, 1, 7}}};
    for (int k = 0; k < 3; k++) check_rows(schema, same[k].rows, same[k].x, NULL);
    check_rows(schema, "a,colour\n1,black\n2,black\n", NULL, "no column 'b'");
    check_rows(schema, "a,colour,b\n1,black,7\n2,red,x\n3,red,y\n", NULL,
               "column 'b' has text and was numbers");
    check_rows(schema, "1,red\n2,red\n", NULL, "has 2 columns and the model was fitted on 3");
    check_rows(by_place, "1,5,2\n3,6,4\n", (const float[]){1, 2, 3, 4}, NULL);
}

/* Codes that are numbers here and were numbers and words in training. */
TEST(test_numbers_as_categories)
{
    SN_AUTO(stonet_data) *train = table_with("1,0.5\n2,1.5\nA,2.5\n2,3.5\n", "2");
    SN_AUTO(sn_schema) *schema = fit(train, SN_SCALE_NONE, SN_TASK_AUTO);
    assert_int_equal(schema->p, 3);
    check_rows(schema, "2\n1\n", (const float[]){0, 1, 0, 1, 0, 0}, NULL);
}

static void expect_task(const double *y, int64_t n, sn_task task, int64_t outputs)
{
    SN_BLOCK float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = (float)i;
    SN_AUTO(stonet_data) *data = wrapped(x, n, 1, y);
    SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_AUTO, SN_TASK_AUTO);
    assert_int_equal(schema->task, task);
    assert_int_equal(sn_schema_outputs(schema), outputs);
}

TEST(test_task)
{
    double y[400];
    expect_task((double[]){-1, 1, 1}, 3, SN_CLASSIFICATION, 2);
    expect_task((double[]){0.5, 1, 1}, 3, SN_REGRESSION, 1);
    expect_task((double[]){1, 2, 3}, 3, SN_REGRESSION, 1);
    for (int i = 0; i < 400; i++) y[i] = i % 20;
    expect_task(y, 400, SN_CLASSIFICATION, 20);
    expect_task(y, 199, SN_REGRESSION, 1);
    for (int i = 0; i < 400; i++) y[i] = i % 21;
    expect_task(y, 400, SN_REGRESSION, 1);
}

TEST(test_classes)
{
    SN_AUTO(stonet_data) *data = table_with("1,10\n2,9\n3,-1\n4,10\n", "2"),
                         *other = table_with("1,10\n2,8\n", "2"), *none = table_with("1,10\n2,nine\n", NULL);
    SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_AUTO, SN_TASK_WISH_CLASSIFICATION);
    const char *const labels[] = {"-1", "9", "10"};
    int32_t label[4];
    for (int c = 0; c < 3; c++) assert_string_equal(schema->classes.text[c], labels[c]);
    check_labels(schema, data, (const int32_t[]){2, 1, 0, 2});
    assert_says(sn_schema_encode_y(schema, other, label, NULL), STONET_ERROR_DATA,
                "row 2 has the label '8', and the model knows -1, 9, 10");
    assert_says(sn_schema_encode_y(schema, none, label, NULL), STONET_ERROR_DATA, "has no target");

    SN_AUTO(stonet_data) *pets = table_with("1,dog\n2,cat\n3,dog\n", "2");
    SN_AUTO(sn_schema) *of_pets = fit(pets, SN_SCALE_AUTO, SN_TASK_AUTO);
    assert_int_equal(of_pets->task, SN_CLASSIFICATION);
    assert_string_equal(of_pets->classes.text[0], "cat");
    check_labels(of_pets, pets, (const int32_t[]){1, 0, 1});

    /* The caller's own order stays; a class without rows goes. */
    SN_AUTO(stonet_data) *levels = wrapped((float[]){1, 2, 3}, 3, 1, NULL);
    OK(stonet_data_set_classes(levels, (int32_t[]){2, 0, 2}, (const char *[]){"low", "mid", "high"}, 3));
    SN_AUTO(sn_schema) *of_levels = fit(levels, SN_SCALE_AUTO, SN_TASK_AUTO);
    assert_int_equal(sn_schema_outputs(of_levels), 2);
    assert_string_equal(of_levels->classes.text[1], "high");
    check_labels(of_levels, levels, (const int32_t[]){1, 0, 1});
}

TEST(test_refusals)
{
    refuse_fit("1,5\n2,5\n3,5\n", "2", SN_TASK_AUTO, "the target 'y' is the same in all 3 rows");
    refuse_fit("1,5\n2,5\n3,5\n", "2", SN_TASK_WISH_CLASSIFICATION, "same in all 3 rows");
    refuse_fit("1,5\n2,5\n3,5\n", "2", SN_TASK_WISH_REGRESSION, "same in all 3 rows");
    refuse_fit("x,y\n1,a\n2,a\n3,a\n", "y", SN_TASK_AUTO, "the target 'y' is the same");
    refuse_fit("1,a\n2,b\n3,a\n", "2", SN_TASK_WISH_REGRESSION, "holds labels, and regression needs numbers");
    refuse_fit("1,2,3\n2,3,4\n", "2,3", SN_TASK_WISH_CLASSIFICATION, "takes one target");
    refuse_fit("1,2\n2,3\n", NULL, SN_TASK_AUTO, "has no target");
    refuse_fit("1,2\n1,3\n", "2", SN_TASK_AUTO, "every column is constant");
    refuse_fit("1,2\n", "2", SN_TASK_AUTO, "one row");
    char text[4000];
    size_t used = 0;
    for (int i = 0; i < 100; i++) used += (size_t)sprintf(text + used, "%d,n%d,%d\n", i, i, i % 2);
    refuse_fit(text, "2", SN_TASK_AUTO, "too many for classes");
    /* As a feature, such a column is left out. */
    SN_AUTO(stonet_data) *data = table_with(text, "3");
    SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_AUTO, SN_TASK_AUTO);
    assert_int_equal(schema->n_inputs, 2);
    assert_int_equal(schema->p, 1);
    float x[100];
    OK(sn_schema_encode_x(schema, data, x));
}

/* 10 x 10 pixels, dark at the edge: bytes, or bytes / 255; and tables that are not images. */
TEST(test_image_rule)
{
    enum { N = 50, P = 100 };
    SN_BLOCK float *x = malloc(N * P * sizeof *x);
    double y[N];
    for (int kind = 0; kind < 6; kind++) {
        for (int i = 0; i < N; i++) {
            y[i] = i;
            for (int j = 0; j < P; j++) {
                int byte = j < 10 ? 0 : (i * 37 + j * 101 + i * j) % 256;
                float value = (float)byte;
                if (kind == 1) value = (float)byte / 255;
                if (kind == 2) value = (float)(byte % 2);                  /* flags */
                if (kind == 3) value = (float)byte / 200;                  /* no grey levels */
                if (kind == 4) value = (float)(byte % (j < 40 ? 256 : 8)); /* different units */
                if (kind == 5) value = (float)byte - 1;
                x[i * P + j] = value;
            }
        }
        SN_AUTO(stonet_data) *data = wrapped(x, N, P, y);
        SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_AUTO, SN_TASK_AUTO);
        assert_int_equal(schema->scale, kind < 2 ? SN_SCALE_COMMON : SN_SCALE_COLUMN);
        if (kind == 0) {
            SN_BLOCK float *z = malloc(N * P * sizeof *z);
            OK(sn_schema_encode_x(schema, data, z));
            assert_near(mean_square(z, N * P, 1, 0.0), 1, 1e-5);
        }
    }
}

static void check_same(const sn_schema *a, const sn_schema *b, const stonet_data *data)
{
    int64_t p = a->p;
    assert_int_equal(b->p, p);
    assert_int_equal(b->scale, a->scale);
    assert_int_equal(b->has_header, a->has_header);
    assert_int_equal(b->task, a->task);
    assert_int_equal(sn_schema_outputs(b), sn_schema_outputs(a));
    assert_string_equal(b->target_name[0], a->target_name[0]);
    for (int64_t f = 0; f < p; f++) assert_string_equal(b->feature_name[f], a->feature_name[f]);
    SN_BLOCK float *x = test_zeros(data->n * p, sizeof *x), *z = test_zeros(data->n * p, sizeof *z);
    OK(sn_schema_encode_x(a, data, x));
    OK(sn_schema_encode_x(b, data, z));
    assert_memory_equal(x, z, (size_t)(data->n * p) * sizeof *x);
}

TEST(test_store)
{
    for (int way = 0; way < 2; way++) {
        SN_AUTO(stonet_data) *data = table_with(mixed, way == 0 ? "y" : "colour");
        SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_COLUMN, SN_TASK_AUTO), *back = loaded_again(schema);
        SN_AUTO(sn_store) *store = stored(schema);
        check_same(schema, back, data);
        if (way == 0) assert_true(sn_schema_target_sd(back, 0) == sn_schema_target_sd(schema, 0));
        if (way == 1) assert_string_equal(back->classes.text[2], "red");
        sn_schema_free(back);
        /* Every entry left out in turn is missed. */
        for (size_t skip = 0; skip < sn_store_texts(store) + sn_store_tensors(store); skip++) {
            const char *key, *value;
            if (skip < sn_store_texts(store))
                sn_store_text(store, skip, &key, &value);
            else
                key = sn_store_tensor(store, skip - sn_store_texts(store))->name;
            if (strcmp(key, "schema.missing") == 0) continue; /* not in files of 0.1 */
            SN_AUTO(sn_store) *less = sn_store_without(store, key);
            assert_int_equal(sn_schema_load(less, &back), STONET_ERROR_FORMAT);
            assert_null(back);
        }
    }
}

TEST(test_damaged_store)
{
    static const struct {
        const char *key, *value;
    } bad[] = {{"schema.scale", "auto"},
               {"schema.scale", "huge"},
               {"schema.header", "7"},
               {"schema.task", "art"},
               {"schema.inputs", "{"},
               {"schema.inputs", "[]"},
               {"schema.inputs", "[1,2,3]"},
               {"schema.inputs", "[{\"name\":\"a\"}]"},
               {"schema.inputs", "[{\"name\":\"a\",\"categories\":4}]"},
               {"schema.inputs", "[{\"name\":\"a\",\"categories\":[]}]"},
               {"schema.targets", "[{\"name\":3,\"position\":0}]"},
               {"schema.targets", "[{\"name\":\"y\",\"position\":-5}]"},
               {"schema.targets", "[{\"name\":\"y\",\"position\":0},{\"name\":\"z\",\"position\":0}]"}};
    SN_AUTO(stonet_data) *data = table_with(mixed, "y");
    SN_AUTO(sn_schema) *schema = fit(data, SN_SCALE_COLUMN, SN_TASK_AUTO), *back = NULL;
    SN_AUTO(sn_store) *whole = stored(schema);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        SN_AUTO(sn_store) *store = sn_store_without(whole, bad[k].key);
        OK(sn_store_put_text(store, bad[k].key, bad[k].value));
        if (sn_schema_load(store, &back) != STONET_ERROR_FORMAT) fail_msg("%s loads", bad[k].value);
    }
}

/* The response must not come in a second time as a feature. Under another name, and as a target without a
   name, there is nothing to say. */
TEST(test_response_as_a_feature)
{
    static const char *const targets[] = {"y\n2.5\n4.5\n7.5\n", "resp\n2.5\n4.5\n7.5\n", "2.5\n4.5\n7.5\n"};
    const char *x = "a,y\n1,2\n2,4\n3,7\n";
    for (int way = 0; way < 3; way++) {
        char path[64];
        strcpy(path, file_of(targets[way], strlen(targets[way])));
        const stonet_read_options how = {.size = sizeof how, .target_file = path};
        SN_AUTO(stonet_data) *data = table_of(x, &how), *rows = NULL;
        SN_AUTO(sn_schema) *schema = NULL;
        unlink(path);
        OK(stonet_data_subset(data, (int64_t[]){0, 1, 2}, 3, &rows));
        for (int some = 0; some < 2; some++) {
            const stonet_status status =
                sn_schema_fit(some == 0 ? data : rows, &(sn_encoding){0}, NULL, &schema);
            if (way == 0)
                assert_says(status, STONET_ERROR_DATA,
                            "has a column 'y', which is also the name of the target");
            else
                assert_int_equal(status, STONET_OK);
            sn_schema_free(schema);
            schema = NULL;
        }
    }
}

RUN_TESTS(NULL, NULL)
