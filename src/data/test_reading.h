/* For tests: text read in one go and in parts. */
#pragma once

#include "base/test_kit.h"
#include "data/readers.h"
#include "data/text_rows.h"

static inline void check_same_words(const sn_dictionary *a, const sn_dictionary *b)
{
    assert_int_equal(a->count, b->count);
    for (int64_t c = 0; c < a->count; c++) assert_string_equal(a->text[c], b->text[c]);
}

static inline void check_same_bytes(const void *a, const void *b, size_t size)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL && size > 0) assert_memory_equal(a, b, size);
}

static inline void check_same_frame(const stonet_data *a, const stonet_data *b)
{
    const size_t n = (size_t)a->n;
    assert_true(a->n == b->n && a->n_columns == b->n_columns && a->has_header == b->has_header);
    assert_true(a->n_numeric == b->n_numeric && a->n_text == b->n_text && a->n_targets == b->n_targets);
    for (int64_t j = 0; j < a->n_columns; j++) {
        assert_string_equal(a->column[j].name, b->column[j].name);
        assert_true(a->column[j].kind == b->column[j].kind && a->column[j].slot == b->column[j].slot);
    }
    check_same_bytes(a->x, b->x, n * (size_t)a->n_numeric * sizeof *a->x);
    assert_int_equal(a->exact == NULL, b->exact == NULL);
    for (int64_t k = 0; a->exact != NULL && b->exact != NULL && k < a->n_numeric; k++)
        check_same_bytes(a->exact[k].at, b->exact[k].at, n * sizeof *a->exact[k].at);
    check_same_bytes(a->y, b->y, n * (size_t)a->n_targets * sizeof *a->y);
    check_same_bytes(a->label, b->label, n * sizeof *a->label);
    check_same_words(&a->labels, &b->labels);
    for (int64_t k = 0; k < a->n_text; k++) {
        check_same_bytes(a->text_code[k], b->text_code[k], n * sizeof **a->text_code);
        check_same_words(&a->text_values[k], &b->text_values[k]);
    }
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
