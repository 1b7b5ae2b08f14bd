/* The hash of a table, by which a checkpoint knows its data: the same for the same table, another one when
   anything in it is other. */
#include "data/test_reading.h"

enum { ROWS = 4, WAYS = 17 };

/* The same table but for the one thing that `way` says; 0: nothing. */
static stonet_data *make(int way)
{
    double number[ROWS] = {1, 2, 3, 4}, large[ROWS] = {1e6 + 0.25, 1e6 + 0.5, 1e6, 1e6},
           y[ROWS] = {1, 0, 1, 0}, weight[ROWS] = {1, 1, 2, 1};
    const char *text[ROWS] = {"a", "b", "a", "b"}, *word[ROWS] = {"a", "b", "a", "b"};
    int32_t code[ROWS] = {0, 1, 0, 1};
    const char *labels[] = {"no", "yes"};
    static const char *const order[] = {"w=a,b"};
    const stonet_read_options how = {.size = sizeof how,
                                     .season = way == 14 ? "d" : NULL,
                                     .ordinal = order,
                                     .n_ordinal = way == 16}; /* the words are in this order anyway */
    if (way == 1) number[3] = 5;
    if (way == 2) large[0] = 1e6 + 0.26; /* the same float */
    if (way == 3) text[3] = "a";
    if (way == 4) text[1] = text[3] = "c";
    if (way == 5) y[2] = 2;
    if (way == 6) weight[0] = 3;
    if (way == 7) text[3] = NULL;
    if (way == 12) code[3] = 0;
    if (way == 13) labels[0] = "maybe";
    SN_AUTO(stonet_columns) *columns = NULL;
    stonet_data *data = NULL;
    OK(stonet_data_begin(ROWS, &columns));
    OK(stonet_data_add_numbers(columns, way == 8 ? "other" : "n", number));
    OK(stonet_data_add_numbers(columns, "l", large));
    OK(stonet_data_add_texts(columns, "t", text));
    OK(way == 9 ? stonet_data_add_numbers(columns, "w", number) : stonet_data_add_texts(columns, "w", word));
    OK(way == 15 ? stonet_data_add_numbers(columns, "d", number)
                 : stonet_data_add_dates(columns, "d", number));
    OK(stonet_data_end(columns, &how, &data));
    if (way >= 11 && way <= 13)
        OK(stonet_data_set_classes(data, code, labels, 2));
    else
        OK(stonet_data_set_targets(data, y, 1));
    if (way != 10) OK(stonet_data_set_weights(data, weight));
    return data;
}

static uint64_t hash_of(int way)
{
    SN_AUTO(stonet_data) *data = make(way);
    return table_hash(data);
}

TEST(everything_counts)
{
    uint64_t hash[WAYS];
    for (int way = 0; way < WAYS; way++) {
        hash[way] = hash_of(way);
        assert_true(hash_of(way) == hash[way]);
        for (int other = 0; other < way; other++)
            if (hash[way] == hash[other]) fail_msg("%d and %d", way, other);
    }
}

TEST(sparse_tables_count_too)
{
    const int64_t start[][3] = {{0, 1, 2}, {0, 0, 2}};
    const int32_t column[][2] = {{0, 1}, {1, 2}};
    const float value[][2] = {{1, 2}, {1, 3}};
    uint64_t found[4];
    for (int way = 0; way < 4; way++) {
        SN_AUTO(stonet_data) *data = NULL;
        OK(stonet_data_wrap_sparse(start[way == 1], column[way == 2], value[way == 3], 2, 3, &data));
        found[way] = table_hash(data);
        for (int other = 0; other < way; other++) assert_true(found[other] != found[way]);
    }
}

RUN_TESTS(NULL, NULL)
