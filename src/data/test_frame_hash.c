/* The hash of a table, by which a checkpoint knows its data: the same for the same table, another one when
   anything in it is other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "data/frame.h"

enum { ROWS = 4, WAYS = 14 };

/* The same table but for the one thing that `way` says; 0: nothing. */
static stonet_data *make(int way)
{
    double number[ROWS] = {1, 2, 3, 4}, large[ROWS] = {1e6 + 0.25, 1e6 + 0.5, 1e6, 1e6},
           y[ROWS] = {1, 0, 1, 0}, weight[ROWS] = {1, 1, 2, 1};
    const char *text[ROWS] = {"a", "b", "a", "b"}, *word[ROWS] = {"a", "b", "a", "b"};
    int32_t code[ROWS] = {0, 1, 0, 1};
    const char *labels[] = {"no", "yes"};
    if (way == 1) number[3] = 5;
    if (way == 2) large[0] = 1e6 + 0.26; /* the same float */
    if (way == 3) text[3] = "a";
    if (way == 4) text[1] = text[3] = "c";
    if (way == 5) y[2] = 2;
    if (way == 6) weight[0] = 3;
    if (way == 7) text[3] = NULL;
    if (way == 12) code[3] = 0;
    if (way == 13) labels[0] = "maybe";
    stonet_columns *columns = NULL;
    stonet_data *data = NULL;
    assert_int_equal(stonet_data_begin(ROWS, &columns), STONET_OK);
    assert_int_equal(stonet_data_add_numbers(columns, way == 8 ? "other" : "n", number), STONET_OK);
    assert_int_equal(stonet_data_add_numbers(columns, "l", large), STONET_OK);
    assert_int_equal(stonet_data_add_texts(columns, "t", text), STONET_OK);
    assert_int_equal(way == 9 ? stonet_data_add_numbers(columns, "w", number)
                              : stonet_data_add_texts(columns, "w", word),
                     STONET_OK);
    assert_int_equal(stonet_data_end(columns, NULL, &data), STONET_OK);
    stonet_columns_free(columns);
    if (way >= 11)
        assert_int_equal(stonet_data_set_classes(data, code, labels, 2), STONET_OK);
    else
        assert_int_equal(stonet_data_set_targets(data, y, 1), STONET_OK);
    if (way != 10) assert_int_equal(stonet_data_set_weights(data, weight), STONET_OK);
    return data;
}

static uint64_t hash_of(int way)
{
    sn_hash hash;
    sn_hash_begin(&hash);
    stonet_data *data = make(way);
    sn_frame_hash(data, &hash);
    stonet_data_free(data);
    return sn_hash_value(&hash);
}

static void everything_counts(void **state)
{
    (void)state;
    uint64_t hash[WAYS];
    for (int way = 0; way < WAYS; way++) {
        hash[way] = hash_of(way);
        assert_true(hash_of(way) == hash[way]);
        for (int other = 0; other < way; other++)
            if (hash[way] == hash[other]) fail_msg("%d and %d", way, other);
    }
}

static void sparse_tables_count_too(void **state)
{
    (void)state;
    const int64_t start[][3] = {{0, 1, 2}, {0, 0, 2}};
    const int32_t column[][2] = {{0, 1}, {1, 2}};
    const float value[][2] = {{1, 2}, {1, 3}};
    uint64_t found[4];
    for (int way = 0; way < 4; way++) {
        stonet_data *data = NULL;
        sn_hash hash;
        sn_hash_begin(&hash);
        assert_int_equal(
            stonet_data_wrap_sparse(start[way == 1], column[way == 2], value[way == 3], 2, 3, &data),
            STONET_OK);
        sn_frame_hash(data, &hash);
        found[way] = sn_hash_value(&hash);
        for (int other = 0; other < way; other++) assert_true(found[other] != found[way]);
        stonet_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_counts),
                                       cmocka_unit_test(sparse_tables_count_too)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
