/* The ends of what small helpers are given: cells of CSV, the nearest word, records cut short, stores,
   checkpoints. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/pack.h"
#include "base/store.h"
#include "base/test_kit.h"

/* ---- CSV ---- */

typedef struct sink {
    char text[64];
    size_t used;
    int left; /* pieces that are taken before one is refused */
} sink;

static int take(const char *bytes, size_t count, void *user)
{
    sink *to = user;
    if (to->left-- == 0) return 7;
    memcpy(to->text + to->used, bytes, count);
    to->used += count;
    return 0;
}

TEST(cells)
{
    static const struct {
        const char *text, *cell;
    } cases[] = {{"a", "a"},         {"", "\"\""},       {" a", "\" a\""},
                 {"a ", "\"a \""},   {"a,b", "\"a,b\""}, {"a\"b", "\"a\"\"b\""},
                 {"\"", "\"\"\"\""}, {"a;b", "\"a;b\""}, {"a\nb", "\"a\nb\""}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sink whole = {.left = 100};
        assert_int_equal(stonet_csv_cell(cases[k].text, take, &whole), 0);
        assert_string_equal(whole.text, cases[k].cell);
        for (int left = 0; left < 100 - whole.left; left++) {
            sink part = {.left = left};
            assert_int_equal(stonet_csv_cell(cases[k].text, take, &part), 7);
            assert_memory_equal(part.text, cases[k].cell, part.used);
        }
    }
}

/* As far off as a third of the letters, and one letter at least. */
TEST(nearest_words)
{
    char long_word[80];
    memset(long_word, 'a', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    const char *const words[] = {NULL, "lr", "method", long_word, "methods", "weight_decay", "hiddenxx"};
    const char *const cases[][2] = {{"mehtod", "method"},
                                    {long_word, NULL},
                                    {"quite another", NULL},
                                    {"wieght_decay", "weight_decay"},
                                    {"zzz", NULL},
                                    {"hidden", "hiddenxx"},
                                    {"hiddenxxyyy", "hiddenxx"},
                                    {"hiddenxxyyyyy", NULL}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *found = stonet_nearest(cases[k][0], words, sizeof words / sizeof *words);
        if (cases[k][1] == NULL ? found != NULL : found == NULL || strcmp(found, cases[k][1]) != 0)
            fail_msg("%s: %s", cases[k][0], found);
    }
    assert_null(stonet_nearest("hidde", words, 7)); /* three letters too many for five */
}

/* ---- records and stores ---- */

TEST(records)
{
    SN_FREED_BY(sn_pack_clear) sn_pack pack = {0};
    OK(sn_pack_int(&pack, 5));
    OK(sn_pack_block(&pack, "abc", 3));
    OK(sn_pack_block(&pack, NULL, 0));
    OK(sn_pack_bytes(&pack, NULL, 0));
    for (size_t size = 0; size <= pack.size; size++) {
        sn_unpack from = {pack.bytes, size};
        const unsigned char *text;
        int64_t number = 0;
        size_t length = 0;
        stonet_status status = sn_unpack_int(&from, &number);
        if (status == STONET_OK) status = sn_unpack_block(&from, &text, &length);
        if (status == STONET_OK) assert_memory_equal(text, "abc", 3);
        if (status == STONET_OK) status = sn_unpack_block(&from, &text, &length);
        if (status == STONET_OK) status = sn_unpack_bytes(&from, &number, 0);
        assert_int_equal(status == STONET_OK, size == pack.size);
    }
    sn_unpack from = {pack.bytes, pack.size};
    assert_int_not_equal(sn_unpack_end(&from), STONET_OK);
    int64_t number;
    OK(sn_unpack_int(&from, &number));
    memset(pack.bytes + 8, 0xff, 8); /* a length below 0 */
    const unsigned char *text;
    size_t length;
    assert_int_not_equal(sn_unpack_block(&from, &text, &length), STONET_OK);
}

TEST(stores)
{
    SN_AUTO(sn_store) *store = NULL;
    const sn_tensor *found;
    const int64_t shape[] = {2, 1, 1, 1, 1}, wrong[] = {-1}, huge[] = {(int64_t)1 << 62, 4};
    const double numbers[] = {1, 2};
    int64_t whole;
    double real;
    OK(sn_store_create(&store));
    OK(sn_store_put(store, "a", SN_F64, 1, shape, numbers));
    assert_says(sn_store_put(store, "a", SN_F64, 1, shape, numbers), STONET_ERROR_FORMAT, "'a'");
    assert_says(sn_store_put(store, "b", SN_F64, 5, shape, numbers), STONET_ERROR_FORMAT, "5 dimensions");
    assert_says(sn_store_put(store, "b", SN_F64, -1, shape, numbers), STONET_ERROR_FORMAT, "dimensions");
    assert_says(sn_store_put(store, "b", SN_F64, 1, wrong, NULL), STONET_ERROR_FORMAT, "shape");
    assert_says(sn_store_put(store, "b", SN_F64, 2, huge, NULL), STONET_ERROR_FORMAT, "shape");
    assert_says(sn_store_put(store, "b", SN_F64, 1, &(int64_t){INT64_MAX}, NULL), STONET_ERROR_MEMORY, "");
    assert_int_equal(sn_store_tensors(store), 1);
    OK(sn_store_get(store, "a", SN_F64, 1, (const int64_t[]){-1}, &found));
    assert_memory_equal(found->data, numbers, sizeof numbers);
    assert_int_not_equal(sn_store_get(store, "a", SN_F32, 1, (const int64_t[]){-1}, &found), STONET_OK);
    assert_int_not_equal(sn_store_get(store, "a", SN_F64, 2, (const int64_t[]){-1, -1}, &found), STONET_OK);
    assert_int_not_equal(sn_store_get(store, "a", SN_F64, 1, (const int64_t[]){3}, &found), STONET_OK);
    assert_int_not_equal(sn_store_get(store, "c", SN_F64, 1, (const int64_t[]){-1}, &found), STONET_OK);
    static const struct {
        const char *text;
        bool whole, real;
    } cases[] = {{"5", true, true},       {"", false, false},    {"x", false, false},
                 {"5x", false, false},    {"11", false, true},   {"-1", false, true},
                 {"1e999", false, false}, {"nan", false, false}, {"99999999999999999999", false, true},
                 {"2.5", false, true}};
    OK(sn_store_put_real(store, "pi", 3.14159265358979312));
    OK(sn_store_get_real(store, "pi", &real));
    assert_true(real == 3.14159265358979312);
    OK(sn_store_put_text(store, "t", "1"));
    assert_says(sn_store_put_text(store, "t", "2"), STONET_ERROR_FORMAT, "twice");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char name[16];
        snprintf(name, sizeof name, "n%zu", k);
        OK(sn_store_put_text(store, name, cases[k].text));
        if ((sn_store_get_int(store, name, 0, 10, &whole) == STONET_OK) != cases[k].whole ||
            (sn_store_get_real(store, name, &real) == STONET_OK) != cases[k].real)
            fail_msg("'%s'", cases[k].text);
    }
}

TEST(checkpoints)
{
    SN_AUTO(stonet_checkpoint) *made = NULL;
    char path[64];
    snprintf(path, sizeof path, "/tmp/stonet_edges_%ld", (long)getpid());
    assert_says(stonet_checkpoint_open(NULL, 1, NULL), STONET_ERROR_ARGUMENT, "a place");
    assert_says(stonet_checkpoint_open(path, 1, NULL), STONET_ERROR_ARGUMENT, "a place");
    assert_says(stonet_checkpoint_open("a.gz", 1, &made), STONET_ERROR_ARGUMENT, ".gz");
    assert_says(stonet_checkpoint_open(path, NAN, &made), STONET_ERROR_ARGUMENT, "a number");
    assert_says(stonet_checkpoint_open(path, INFINITY, &made), STONET_ERROR_ARGUMENT, "a number");
    assert_says(stonet_checkpoint_remove(NULL), STONET_ERROR_ARGUMENT, "handle");
    assert_null(made);
    OK(stonet_checkpoint_open(path, -1, &made));
    OK(stonet_checkpoint_remove(made));     /* there is none yet */
    assert_int_equal(mkdir(path, 0777), 0); /* that cannot be removed */
    assert_int_equal(stonet_checkpoint_remove(made), STONET_ERROR_IO);
    assert_int_equal(rmdir(path), 0);
    stonet_checkpoint_free(made);
    stonet_checkpoint_free(NULL);
    OK(stonet_checkpoint_open("a", 1, &made)); /* a short name */
}

RUN_TESTS(NULL, NULL)
