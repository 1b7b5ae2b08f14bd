/* Arrow streams made by hand: every type comes out as it was put in, what makes no sense is named, and
   whatever becomes of the call, everything is released once. */
#include <errno.h>

#include "base/test_kit.h"
#include "data/arrow.h"

enum { N = 5, BATCHES = 2, MOST = 24 };

/* A stream of BATCHES batches, the same columns each time. */
typedef struct maker {
    struct ArrowSchema schema[MOST], *child[MOST], words;
    struct ArrowArray array[MOST], *cells[MOST], dictionary;
    int64_t columns, offset, length;
    int batches, fail_at;      /* fail_at: get_next fails at that call, from 1 */
    int schema_out, batch_out; /* handed out and not released yet */
    int streams_released;
} maker;

static void release_schema(struct ArrowSchema *schema)
{
    ((maker *)schema->private_data)->schema_out--;
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    ((maker *)array->private_data)->batch_out--;
    array->release = NULL;
}

static void part_of_another(__attribute__((unused)) struct ArrowArray *array)
{
    fail_msg("a column is released with its batch");
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    maker *m = stream->private_data;
    m->schema_out++;
    *out = (struct ArrowSchema){.format = "+s",
                                .n_children = m->columns,
                                .children = m->child,
                                .release = release_schema,
                                .private_data = m};
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    maker *m = stream->private_data;
    *out = (struct ArrowArray){0};
    if (++m->batches == m->fail_at) {
        out->release = release_array; /* of a failure nothing may be used */
        return EIO;
    }
    if (m->batches > BATCHES) return 0;
    static const void *none[1] = {NULL};
    m->batch_out++;
    *out = (struct ArrowArray){.length = m->length,
                               .offset = m->offset,
                               .n_buffers = 1,
                               .buffers = none,
                               .n_children = m->columns,
                               .children = m->cells,
                               .release = release_array,
                               .private_data = m};
    return 0;
}

static const char *last_error(__attribute__((unused)) struct ArrowArrayStream *stream)
{
    return "the disk is gone";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    ((maker *)stream->private_data)->streams_released++;
    stream->release = NULL;
}

static maker *fresh(void)
{
    static maker m;
    m = (maker){.length = N};
    for (int j = 0; j < MOST; j++) {
        m.child[j] = &m.schema[j];
        m.cells[j] = &m.array[j];
    }
    return &m;
}

static struct ArrowArrayStream stream_of(maker *m)
{
    return (struct ArrowArrayStream){get_schema, get_next, last_error, release_stream, m};
}

static struct ArrowArray *add(maker *m, const char *name, const char *format, const void **buffers,
                              int64_t n_buffers)
{
    m->schema[m->columns] = (struct ArrowSchema){.format = format, .name = name};
    struct ArrowArray *array = &m->array[m->columns++];
    *array = (struct ArrowArray){
        .length = N, .n_buffers = n_buffers, .buffers = buffers, .release = part_of_another};
    return array;
}

#define ADD(m, name, format, ...)                                                                            \
    add(m, name, format, (const void *[]){__VA_ARGS__},                                                      \
        sizeof((const void *[]){__VA_ARGS__}) / sizeof(void *))

static stonet_status read_it(maker *m, const char *target, stonet_data **data)
{
    struct ArrowArrayStream stream = stream_of(m);
    const stonet_read_options how = {.size = sizeof how, .target = target};
    const stonet_status status = stonet_data_from_arrow(&stream, &how, data);
    assert_null(stream.release);
    assert_int_equal(m->streams_released, 1);
    assert_int_equal(m->schema_out, 0);
    assert_int_equal(m->batch_out, 0);
    return status;
}

static const double REAL[N] = {1.5, -2, 1e6 + 0.25, 0, 7};

TEST(numbers_of_all_types)
{
    const struct {
        const char *format;
        const void *cells;
        double wanted[N];
    } types[] = {
        {"c", (const int8_t[N]){-128, 0, 1, 2, 127}, {-128, 0, 1, 2, 127}},
        {"C", (const uint8_t[N]){0, 255, 1, 2, 3}, {0, 255, 1, 2, 3}},
        {"b", (const uint8_t[1]){0x15}, {1, 0, 1, 0, 1}},
        {"s", (const int16_t[N]){-32768, 5, 0, 1, 2}, {-32768, 5, 0, 1, 2}},
        {"S", (const uint16_t[N]){65535, 5, 0, 1, 2}, {65535, 5, 0, 1, 2}},
        {"i", (const int32_t[N]){-70000, 5, 0, 1, 2}, {-70000, 5, 0, 1, 2}},
        {"I", (const uint32_t[N]){4000000000U, 5, 0, 1, 2}, {4000000000, 5, 0, 1, 2}},
        {"l", (const int64_t[N]){-5000000000, 5, 0, 1, 2}, {-5000000000, 5, 0, 1, 2}},
        {"L", (const uint64_t[N]){5000000000U, 5, 0, 1, 2}, {5000000000, 5, 0, 1, 2}},
        {"f", (const float[N]){0.5F, 1, 2, 3, 4}, {0.5, 1, 2, 3, 4}},
        {"g", REAL, {1.5, -2, 1e6 + 0.25, 0, 7}},
        {"d:10,2",
         (const int64_t[2 * N]){12345, 0, -250, -1, 0, 0, 100, 0, 0, 1}, /* low, high; the last 2^64 */
         {123.45, -2.5, 0, 1, 18446744073709551616.0 / 100}},
        {"tss:UTC", (const int64_t[N]){86400, 129600, 0, -86400, 43200}, {1, 1.5, 0, -1, 0.5}},
        {"tdD", (const int32_t[N]){1, 2, 3, 4, -5}, {1, 2, 3, 4, -5}},
        {"tDs", (const int64_t[N]){86400, 129600, 0, -86400, 43200}, {1, 1.5, 0, -1, 0.5}},
    };
    enum { TYPES = sizeof types / sizeof *types };
    maker *m = fresh();
    const void *buffers[TYPES][2] = {{NULL}};
    for (int j = 0; j < TYPES; j++) {
        buffers[j][1] = types[j].cells;
        (void)add(m, types[j].format, types[j].format, buffers[j], 2);
    }
    SN_AUTO(stonet_data) *data = NULL;
    OK(read_it(m, NULL, &data));
    assert_int_equal(stonet_data_rows(data), BATCHES * N);
    assert_int_equal(stonet_data_columns(data), TYPES);
    for (int64_t j = 0; j < TYPES; j++) {
        double got[BATCHES * N];
        OK(stonet_data_column_numbers(data, j, got));
        for (int i = 0; i < BATCHES * N; i++)
            if (!(fabs(got[i] - types[j].wanted[i % N]) <= 1e-7 * fabs(types[j].wanted[i % N])))
                fail_msg("%s: %.17g", types[j].format, got[i]);
    }
}

static void assert_texts(const stonet_data *data, int64_t j, const char *const *wanted)
{
    const int32_t *code = stonet_data_column_codes(data, j, NULL);
    assert_non_null(code);
    for (int i = 0; i < BATCHES * N; i++) {
        if (wanted[i % N] == NULL)
            assert_int_equal(code[i], -1);
        else
            assert_string_equal(stonet_data_column_text(data, j, code[i]), wanted[i % N]);
    }
}

static const char LETTERS[] = "redgreenabluerather a long text";
static const int32_t OFFSET[N + 1] = {0, 3, 8, 8, 9, 13};
static const char *const WORDS[N] = {"red", "green", NULL, "a", "blue"};
static const uint8_t THIRD_IS_NULL = 0x1B;

TEST(texts_dictionaries_and_nulls)
{
    maker *m = fresh();
    const int64_t large[N + 1] = {0, 3, 8, 8, 9, 13};
    struct {
        int32_t size;
        char text[12];
    } view[N] = {{3, "red"}, {5, "green"}, {0, ""}, {1, "a"}, {18, ""}};
    const int32_t place[2] = {0, 13}; /* block 0, from 13 on */
    memcpy(view[4].text + 4, place, sizeof place);
    const int64_t sizes[1] = {(int64_t)sizeof LETTERS - 1};
    const int8_t index[N] = {3, 1, 2, 0, 3};
    static const char *const picked[N] = {"a", "green", NULL, "red", "a"};
    static const char *const viewed[N] = {"red", "green", NULL, "a", "rather a long text"};
    ADD(m, "text", "u", &THIRD_IS_NULL, OFFSET, LETTERS)->null_count = 1;
    ADD(m, "large", "U", &THIRD_IS_NULL, large, LETTERS)->null_count = -1; /* not counted yet */
    ADD(m, "view", "vu", &THIRD_IS_NULL, view, LETTERS, sizes)->null_count = 1;
    ADD(m, "number", "g", &THIRD_IS_NULL, REAL)->null_count = 1;
    struct ArrowArray *kind = ADD(m, "kind", "c", NULL, index);
    m->words = (struct ArrowSchema){.format = "u"};
    m->dictionary = (struct ArrowArray){.length = 4,
                                        .null_count = 1,
                                        .n_buffers = 3,
                                        .buffers = (const void *[]){&THIRD_IS_NULL, OFFSET, LETTERS},
                                        .release = part_of_another};
    m->schema[4].dictionary = &m->words;
    kind->dictionary = &m->dictionary;
    SN_AUTO(stonet_data) *data = NULL;
    OK(read_it(m, NULL, &data));
    assert_texts(data, 0, WORDS);
    assert_texts(data, 1, WORDS);
    assert_texts(data, 2, viewed);
    assert_texts(data, 4, picked);
    double got[BATCHES * N];
    OK(stonet_data_column_numbers(data, 3, got));
    assert_true(isnan(got[2]) && isnan(got[N + 2]) && got[4] == 7 && got[N + 1] == -2);
    stonet_data_free(data);

    /* The same words in order: no null may be among them, and they keep their ranks. */
    m->batches = m->streams_released = 0;
    m->schema[4].flags = ARROW_FLAG_DICTIONARY_ORDERED;
    assert_says(read_it(m, NULL, &data), STONET_ERROR_DATA, "value 3 of its order is missing");
    m->batches = m->streams_released = 0;
    m->dictionary.length = 2;
    m->dictionary.null_count = 0;
    kind->buffers = (const void *[]){NULL, (const int8_t[N]){1, 1, 0, 1, 1}};
    OK(read_it(m, NULL, &data));
    int64_t texts;
    (void)stonet_data_column_codes(data, 4, &texts);
    assert_int_equal(texts, 2);
    assert_string_equal(stonet_data_column_text(data, 4, 0), "red");
}

TEST(offsets_of_batch_and_column_and_a_target)
{
    maker *m = fresh();
    const int64_t label[N] = {9007199254740993, 9007199254740992, 9007199254740993, 9007199254740992,
                              9007199254740993};
    ADD(m, "x", "g", NULL, REAL);
    struct ArrowArray *behind = ADD(m, "w", "g", NULL, REAL);
    behind->offset = 1;
    behind->length = N - 1;
    ADD(m, "y", "l", NULL, label);
    m->offset = 1;
    m->length = 2;
    SN_AUTO(stonet_data) *data = NULL;
    OK(read_it(m, "y", &data));
    assert_int_equal(stonet_data_rows(data), 2 * BATCHES);
    assert_int_equal(stonet_data_columns(data), 2);
    double got[2 * BATCHES];
    OK(stonet_data_column_numbers(data, 0, got));
    assert_true(got[0] == -2 && got[1] == 1e6 + 0.25);
    OK(stonet_data_column_numbers(data, 1, got));
    assert_true(got[0] == 1e6 + 0.25 && got[1] == 0);
}

/* The next stream begins anew. */
static void refused(maker *m, stonet_status status, const char *words)
{
    stonet_data *data = NULL;
    assert_says(read_it(m, NULL, &data), status, words);
    assert_null(data);
    fresh();
}

TEST(what_makes_no_sense_is_named_and_released)
{
    maker *m = fresh();
    ADD(m, "list", "+l", NULL, REAL);
    refused(m, STONET_ERROR_DATA, "column 'list' has the Arrow type '+l'");
    ADD(m, "wide", "d:70,2,256", NULL, REAL);
    refused(m, STONET_ERROR_DATA, "the Arrow type 'd:70,2,256'");
    refused(m, STONET_ERROR_DATA, "at least one column");
    ADD(m, "x", NULL, NULL, REAL);
    refused(m, STONET_ERROR_DATA, "what column 1 is");
    ADD(m, "\xe4", "g", NULL, REAL);
    refused(m, STONET_ERROR_DATA, "not valid UTF-8");
    ADD(m, "x", "g", NULL, NULL);
    refused(m, STONET_ERROR_DATA, "no values for x");
    ADD(m, "x", "g", NULL);
    refused(m, STONET_ERROR_DATA, "1 buffers for x");
    ADD(m, "x", "g", NULL, REAL)->buffers = NULL;
    refused(m, STONET_ERROR_DATA, "buffers for x");
    ADD(m, "x", "g", NULL, REAL)->offset = INT64_MAX - 2;
    refused(m, STONET_ERROR_DATA, "cells from 9223372036854775805 on");
    ADD(m, "x", "g", NULL, REAL);
    m->length = INT64_MAX;
    refused(m, STONET_ERROR_DATA, "9223372036854775807 rows");
    ADD(m, "x", "g", NULL, REAL);
    m->length = -1;
    refused(m, STONET_ERROR_DATA, "-1 rows");
    ADD(m, "x", "g", NULL, REAL)->length = N - 1;
    refused(m, STONET_ERROR_DATA, "too few cells of 'x'");
    ADD(m, "x", "g", NULL, REAL);
    m->offset = 1;
    refused(m, STONET_ERROR_DATA, "5 cells of x for 5 rows");
    ADD(m, "x", "g", NULL, REAL);
    m->cells[0] = NULL;
    refused(m, STONET_ERROR_DATA, "too few cells of 'x'");
    ADD(m, "x", "g", NULL, ((const double[N]){1, 2, (double)INFINITY, 3, 4}));
    refused(m, STONET_ERROR_DATA, "row 3, column 1 ('x'): the value is inf");
    ADD(m, "x", "g", NULL, REAL);
    m->length = 0;
    refused(m, STONET_ERROR_DATA, "no rows");
}

TEST(texts_that_make_no_sense)
{
    static const int32_t back[N + 1] = {0, 3, 2, 4, 5, 6}, before[N + 1] = {-1, 3, 4, 5, 6, 7};
    maker *m = fresh();
    ADD(m, "t", "u", NULL, back, LETTERS);
    refused(m, STONET_ERROR_DATA, "row 2, column 1 ('t'): the text has no place");
    ADD(m, "t", "u", NULL, before, LETTERS);
    refused(m, STONET_ERROR_DATA, "no place");
    ADD(m, "t", "u", NULL, OFFSET, NULL);
    refused(m, STONET_ERROR_DATA, "no place");
    ADD(m, "t", "u", NULL, OFFSET, "red\xe4reen.blue");
    refused(m, STONET_ERROR_DATA, "not valid UTF-8");
    ADD(m, "t", "u", NULL, OFFSET, "r\0dgreen.blue");
    refused(m, STONET_ERROR_DATA, "null character");
    const int32_t view[4 * N] = {100, 0, 3, 0};
    const int64_t sizes[1] = {10};
    ADD(m, "t", "vu", NULL, view, LETTERS, sizes);
    refused(m, STONET_ERROR_DATA, "no place");
    const int8_t index[N] = {0, 1, 4, 0, 0};
    ADD(m, "t", "c", NULL, index);
    m->words = (struct ArrowSchema){.format = "u"};
    m->schema[0].dictionary = &m->words;
    stonet_data *data = NULL;
    assert_says(read_it(m, NULL, &data), STONET_ERROR_DATA, "no cells for t"); /* no dictionary */
    m->batches = m->streams_released = 0;
    m->dictionary = (struct ArrowArray){.length = 2,
                                        .n_buffers = 3,
                                        .buffers = (const void *[]){NULL, OFFSET, LETTERS},
                                        .release = part_of_another};
    m->array[0].dictionary = &m->dictionary;
    refused(m, STONET_ERROR_DATA, "row 3, column 1 ('t'): the code is 4, and there are texts for 0 to 1");
}

TEST(streams_that_fail)
{
    maker *m = fresh();
    ADD(m, "x", "g", NULL, REAL);
    m->fail_at = 2;
    refused(m, STONET_ERROR_IO, "gave no rows: the disk is gone");
    stonet_data *data = NULL;
    assert_says(stonet_data_from_arrow(NULL, NULL, &data), STONET_ERROR_ARGUMENT, "needs a stream");
    struct ArrowArrayStream used = {0};
    assert_says(stonet_data_from_arrow(&used, NULL, &data), STONET_ERROR_ARGUMENT, "used up before");
    m = fresh();
    struct ArrowArrayStream mute = {.release = release_stream, .private_data = m};
    assert_says(stonet_data_from_arrow(&mute, NULL, &data), STONET_ERROR_ARGUMENT, "has no functions");
    assert_int_equal(m->streams_released, 1);
    m = fresh();
    ADD(m, "x", "g", NULL, REAL);
    struct ArrowArrayStream lost = stream_of(m);
    assert_says(stonet_data_from_arrow_for(NULL, &lost, NULL, &data), STONET_ERROR_ARGUMENT,
                "needs the model");
    assert_int_equal(m->streams_released, 1);
}

RUN_TESTS(NULL, NULL)
