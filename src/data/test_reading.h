/* For tests: text read in one go and in parts. */
#pragma once

#include "base/test_kit.h"
#include "data/readers.h"
#include "data/text_rows.h"

static inline uint64_t table_hash(const stonet_data *data)
{
    sn_hash hash;
    sn_hash_begin(&hash);
    sn_frame_hash(data, &hash);
    return sn_hash_value(&hash);
}

/* The same in all that a fit can see, from the same places. */
static inline void check_same_frame(const stonet_data *a, const stonet_data *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->has_header, b->has_header);
    assert_true(table_hash(a) == table_hash(b));
    for (int64_t j = 0; j < a->n_columns; j++) assert_int_equal(a->column[j].slot, b->column[j].slot);
}

static inline stonet_status read_in_parts(const char *file, const char *target, int threads,
                                          int64_t part_size, stonet_data **out)
{
    const sn_read_wish wish = {.columns = target};
    sn_source *source = NULL;
    *out = NULL;
    stonet_status status = sn_source_open(file, NULL, &source);
    if (status == STONET_OK) status = sn_read_text(source, &wish, threads, part_size, out);
    sn_source_close(source);
    return status;
}

/* The file as text: the same table, or the same sentence about it, however it is cut into parts. */
static inline void check_parts(const char *file, const char *target)
{
    static const struct {
        int threads;
        int64_t part_size;
    } ways[] = {{1, 1}, {1, 19}, {2, 100}, {3, SN_TEXT_PART_SIZE}};
    stonet_data *whole, *other;
    stonet_status status = read_in_parts(file, target, 1, 0, &whole);
    SN_BLOCK char *sentence = strdup(status != STONET_OK ? stonet_last_error() : "");
    /* Parts of a few bytes go through a large file too slowly. */
    bool large = whole != NULL && whole->n > 2000;
    for (size_t k = large ? 3 : 0; k < sizeof ways / sizeof *ways; k++) {
        assert_int_equal(read_in_parts(file, target, ways[k].threads, ways[k].part_size, &other), status);
        if (status != STONET_OK)
            assert_string_equal(stonet_last_error(), sentence);
        else
            check_same_frame(whole, other);
        stonet_data_free(other);
    }
    stonet_data_free(whole);
}
