#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/test_kit.h"
#include "model/safetensors.h"
#include "model/test_table.h"

static sn_store *sample_store(void)
{
    sn_store *store = NULL;
    const unsigned char bytes[3] = {1, 2, 255};
    const double reals[6] = {1.5, -2.0, 1e-300, 3.0, 4.0, 0.1};
    const float floats[4] = {1.0f, 2.0f, 0.25f, -0.0f};
    const int64_t wide[1] = {INT64_MIN};
    const int32_t narrow[2] = {-7, 7};
    OK(sn_store_create(&store));
    OK(sn_store_put_vector(store, "bytes", SN_U8, 3, bytes));
    OK(sn_store_put_matrix(store, "reals", SN_F64, 2, 3, reals));
    OK(sn_store_put(store, "floats", SN_F32, 4, (int64_t[]){1, 2, 1, 2}, floats));
    OK(sn_store_put(store, "scalar", SN_I64, 0, NULL, wide));
    OK(sn_store_put_vector(store, "narrow", SN_I32, 2, narrow));
    OK(sn_store_put_matrix(store, "nothing", SN_F32, 0, 5, NULL));
    OK(sn_store_put_text(store, "words", "a \"quoted\" text\nwith two lines, \xc3\xa9"));
    OK(sn_store_put_text(store, "empty", ""));
    return store;
}

static void assert_same_store(const sn_store *a, const sn_store *b)
{
    assert_int_equal(sn_store_tensors(a), sn_store_tensors(b));
    assert_int_equal(sn_store_texts(a), sn_store_texts(b));
    for (size_t i = 0; i < sn_store_tensors(a); i++) {
        const sn_tensor *x = sn_store_tensor(a, i);
        const sn_tensor *y = sn_store_find(b, x->name);
        assert_non_null(y);
        assert_int_equal(x->dtype, y->dtype);
        assert_int_equal(x->rank, y->rank);
        for (int k = 0; k < x->rank; k++) assert_int_equal(x->shape[k], y->shape[k]);
        assert_memory_equal(x->data, y->data, (size_t)sn_tensor_count(x) * sn_dtype_size(x->dtype));
    }
    for (size_t i = 0; i < sn_store_texts(a); i++) {
        const char *key, *value;
        sn_store_text(a, i, &key, &value);
        assert_string_equal(sn_store_find_text(b, key), value);
    }
}

TEST(round_trips_exactly)
{
    SN_AUTO(sn_store) *store = sample_store(), *back = NULL;
    SN_BLOCK unsigned char *bytes = NULL;
    size_t size = 0;
    OK(sn_safetensors_encode(store, &bytes, &size));
    OK(sn_safetensors_decode(bytes, size, &back));
    assert_same_store(store, back);
    sn_store_free(back);

    char path[256];
    sn_testing_path(path, sizeof path, "roundtrip.model");
    OK(sn_safetensors_write(store, path));
    back = NULL;
    OK(sn_safetensors_read(path, &back));
    assert_same_store(store, back);
    FILE *file = fopen(path, "rb");
    SN_BLOCK unsigned char *copy = malloc(size + 1);
    assert_int_equal(fread(copy, 1, size + 1, file), size);
    assert_memory_equal(copy, bytes, size);
    fclose(file);
    remove(path);
}

/* The layout other readers rely on: length, '{', padded header, aligned tensors. */
TEST(follows_the_safetensors_layout)
{
    SN_AUTO(sn_store) *store = sample_store();
    SN_BLOCK unsigned char *bytes = NULL;
    size_t size = 0;
    OK(sn_safetensors_encode(store, &bytes, &size));
    uint64_t length;
    memcpy(&length, bytes, 8);
    assert_int_equal(length % 8, 0);
    assert_int_equal(bytes[8], '{');
    SN_BLOCK char *header = calloc(length + 1, 1);
    memcpy(header, bytes + 8, length);
    assert_non_null(strstr(header, "\"reals\":{\"dtype\":\"F64\",\"shape\":[2,3],\"data_offsets\":[0,48]}"));
    assert_non_null(strstr(header, "\"scalar\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[48,56]}"));
    assert_non_null(strstr(header, "\"bytes\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[80,83]}"));
    assert_int_equal(size, 8 + length + 83);
}

/* A file with the given header text and payload size. */
static stonet_status decode_header(const char *header, size_t payload)
{
    uint64_t length = strlen(header);
    SN_BLOCK unsigned char *bytes = calloc(8 + length + payload, 1);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    sn_store *store = NULL;
    stonet_status status = sn_safetensors_decode(bytes, 8 + length + payload, &store);
    if (status == STONET_OK)
        sn_store_free(store);
    else
        assert_null(store);
    return status;
}

#define T(dtype, shape, offsets) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

TEST(hostile_headers_are_refused)
{
    static const struct {
        const char *header;
        size_t payload;
    } BAD[] = {
        {"{\"a\":" T("F32", "[4]", "[0,16]") "}", 15},
        {"{\"a\":" T("F32", "[4]", "[0,16]") "}", 17},
        {"{\"a\":" T("F32", "[4]", "[4,20]") "}", 20},
        {"{\"a\":" T("F32", "[3]", "[0,16]") "}", 16},
        {"{\"a\":" T("F32", "[-4]", "[0,16]") "}", 16},
        {"{\"a\":" T("F32", "[4]", "[16,0]") "}", 16},
        {"{\"a\":" T("F32", "[4]", "[-16,0]") "}", 16},
        {"{\"a\":" T("F32", "[4]", "[0]") "}", 16},
        {"{\"a\":" T("F32", "[4]", "[0,16,16]") "}", 16},
        {"{\"a\":" T("F32", "[4.0]", "[0,16]") "}", 16},
        {"{\"a\":" T("F32", "4", "[0,16]") "}", 16},
        {"{\"a\":" T("F32", "[1,1,1,1,4]", "[0,16]") "}", 16},
        {"{\"a\":" T("F32", "[4611686018427387904,4]", "[0,0]") "}", 0},
        {"{\"a\":" T("F32", "[9223372036854775807]", "[0,9223372036854775807]") "}", 16},
        {"{\"a\":" T("F32", "[99999999999999999999]", "[0,16]") "}", 16},
        {"{\"a\":" T("BF16", "[8]", "[0,16]") "}", 16},
        {"{\"a\":" T("F32", "[4]", "[0,16]") ",\"a\":" T("F32", "[4]", "[0,16]") "}", 16},
        {"{\"a\":" T("F32", "[4]", "[0,16]") ",\"b\":" T("F32", "[4]", "[0,16]") "}", 16},
        {"{\"a\":" T("F32", "[4]", "[0,16]") ",\"b\":" T("F32", "[4]", "[8,24]") "}", 24},
        {"{\"a\":[]}", 0},
        {"{\"a\":null}", 0},
        {"{\"__metadata__\":[]}", 0},
        {"{\"__metadata__\":{\"a\":1}}", 0},
        {"{\"__metadata__\":{\"a\":\"\xff\xfe\"}}", 0},
        {"{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0},
        {"{\"a\":", 0},
        {"{} {}", 0},
        {"[]", 0},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        if (decode_header(BAD[i].header, BAD[i].payload) != STONET_ERROR_FORMAT)
            fail_msg("case %zu: %s", i, BAD[i].header);
        assert_true(strlen(stonet_last_error()) > 10);
    }
    OK(decode_header("{\"a\":" T("F32", "[4]", "[0,16]") "}", 16));
    OK(decode_header("{}", 0));
}

TEST(deep_json_and_absurd_lengths_are_refused)
{
    enum { DEPTH = 100000 };
    SN_BLOCK char *deep = malloc(DEPTH + 8);
    memcpy(deep, "{\"a\":", 5);
    memset(deep + 5, '[', DEPTH);
    deep[DEPTH + 5] = '\0';
    assert_int_equal(decode_header(deep, 0), STONET_ERROR_FORMAT);
    static const uint64_t LENGTHS[] = {0, 1, 3, 1000, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 40};
    for (size_t i = 0; i < sizeof LENGTHS / sizeof *LENGTHS; i++) {
        unsigned char bytes[16] = "12345678{}      ";
        memcpy(bytes, &LENGTHS[i], 8);
        sn_store *store = NULL;
        assert_int_equal(sn_safetensors_decode(bytes, sizeof bytes, &store), STONET_ERROR_FORMAT);
        assert_null(store);
    }
}

/* Truncated or damaged anywhere: an error or a store, never a crash or a leak (the sanitizers watch). */
TEST(damage_never_crashes)
{
    sn_store *store = sample_store(), *back = NULL;
    SN_BLOCK unsigned char *bytes = NULL;
    size_t size = 0;
    OK(sn_safetensors_encode(store, &bytes, &size));
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *copy = malloc(cut > 0 ? cut : 1); /* exact size, so that reading past it is seen */
        memcpy(copy, bytes, cut);
        assert_int_equal(sn_safetensors_decode(copy, cut, &back), STONET_ERROR_FORMAT);
        free(copy);
    }
    sn_random random = sn_random_from(1, SN_STREAM_TEST, 0);
    int survived = 0;
    for (int trial = 0; trial < 20000; trial++) {
        SN_BLOCK unsigned char *copy = malloc(size);
        memcpy(copy, bytes, size);
        uint64_t flips = 1 + sn_random_below(&random, 3);
        for (uint64_t k = 0; k < flips; k++)
            copy[sn_random_below(&random, size)] ^= (unsigned char)(1u << sn_random_below(&random, 8));
        back = NULL;
        if (sn_safetensors_decode(copy, size, &back) == STONET_OK) survived++;
        sn_store_free(back);
    }
    assert_true(survived > 0 && survived < 20000);
    sn_store_free(store);
}

TEST(other_files_are_named_for_what_they_are)
{
    char path[256];
    sn_store *store = NULL;
    sn_testing_path(path, sizeof path, "other");
    assert_says(sn_safetensors_read(path, &store), STONET_ERROR_IO, path);

    static const char TABLE[] = "x1,x2,y\n1,2,a\n3,4,b\n";
    OK(stonet_bytes_write(path, TABLE, 0));
    assert_says(sn_safetensors_read(path, &store), STONET_ERROR_FORMAT, "empty");
    assert_non_null(strstr(stonet_last_error(), path));

    OK(stonet_bytes_write(path, TABLE, sizeof TABLE - 1));
    assert_says(sn_safetensors_read(path, &store), STONET_ERROR_FORMAT, "not a stonet model");
    remove(path);

    assert_int_equal(mkdir(path, 0700), 0);
    assert_says(sn_safetensors_read(path, &store), STONET_ERROR_IO, "folder");
    rmdir(path);
    assert_null(store);
}

TEST(text_that_is_not_utf8_is_refused_on_writing)
{
    SN_AUTO(sn_store) *store = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    OK(sn_store_create(&store));
    OK(sn_store_put_text(store, "label", "caf\xe9"));
    assert_says(sn_safetensors_encode(store, &bytes, &size), STONET_ERROR_FORMAT, "label");
    assert_int_equal(sn_safetensors_write(store, "/tmp/stonet_never_written"), STONET_ERROR_FORMAT);
    assert_int_equal(access("/tmp/stonet_never_written", F_OK), -1);
}

/* As much as is written can be read. */
TEST(what_is_written_can_be_read)
{
    const size_t length = (size_t)65 << 20; /* the names of 400,000 columns and more */
    char *text = malloc(length + 1), path[256];
    assert_non_null(text);
    memset(text, 'n', length);
    text[length] = '\0';
    sn_store *store = NULL, *back = NULL;
    OK(sn_store_create(&store));
    OK(sn_store_put_text(store, "names", text));
    sn_testing_path(path, sizeof path, "large.model");
    OK(sn_safetensors_write(store, path));
    OK(sn_safetensors_read(path, &back));
    assert_string_equal(sn_store_find_text(back, "names"), text);
    unlink(path);
    free(text);
    sn_store_free(store);
    sn_store_free(back);

    OK(sn_store_create(&store));
    for (int i = 0; i < 10000; i++) {
        char name[32];
        snprintf(name, sizeof name, "tensor %d", i);
        OK(sn_store_put_vector(store, name, SN_F64, 0, NULL));
    }
    assert_int_equal(sn_safetensors_write(store, path), STONET_ERROR_UNSUPPORTED);
    assert_int_equal(access(path, F_OK), -1);
    sn_store_free(store);
}

RUN_TESTS(NULL, NULL)
